"""The gate: a task is kept only with a receipt for every check (section 3.1.1, and FAULTS on gold and checkers).

What can be decided without running comes first. The gold solution is then replayed in two processes on clean copies,
and the finished grader has to tell it, and what means the same, from everything that comes close.
"""

import json
import random
import re
from collections.abc import AsyncIterator, Sequence
from dataclasses import dataclass
from typing import Any

from jsonschema import Draft202012Validator

from agent_world.agents.synthesizer.world import World
from agent_world.agents.validator.battery import Case, rewards
from agent_world.agents.validator.literals import grounding_fault, reference_fault, scalars, states
from agent_world.agents.validator.pool import Pool
from agent_world.agents.validator.replay import Run, replay
from agent_world.schema import GateCheck, StateDiff, Task, Validation
from agent_world.tools.grading import grade, harmless_variants, near_misses, state_misses
from agent_world.tools.runtime import Instance

FIRST, SECOND, OTHER = 0, 1, 2
"""Instances of the pool: two for the gold runs, one for random calls and verifiers."""
POOL = 3
RANDOM_RUNS, RANDOM_CALLS = 3, 3


@dataclass(frozen=True, slots=True)
class Gate:
    world: World
    pool: Pool
    max_answer_chars: int

    async def judge(self, task: Task) -> Validation:
        """All checks in order; the first that fails ends it."""
        checks: list[GateCheck] = []
        async for name, fault in self._checks(task):
            checks.append(GateCheck(name=name, passed=not fault, detail=fault))
            if fault:
                return Validation(status="rejected", checks=tuple(checks))
        return Validation(status="gate only", checks=tuple(checks))

    async def _checks(self, task: Task) -> AsyncIterator[tuple[str, str]]:
        yield "no leak", leak(self.world, task)
        yield "answer form", form_fault(task)
        yield "answer size", size_fault(task, self.max_answer_chars)
        yield "answer not given away", given_away(task)
        runs = [await self._replay(task, i) for i in (FIRST, SECOND)]
        yield "gold replays", replay_fault(task, runs)
        yield "arguments are known", grounding_fault(task, runs[0][0].calls)
        yield "literals mean one thing", reference_fault(self.world, task, runs[0][0].calls)
        yield "gold scores 1", await self._gold(task)
        yield "no-op scores 0", await self._noop(task)
        nothing = [Case("no answer", None, task.state_change), Case("empty answer", {}, task.state_change)]
        yield "empty answer scores 0", await self._refused(task, nothing)
        yield "random calls score 0", await self._random_calls(task)
        yield "near misses score 0", await self._near_misses(task)
        yield "harmless variants score 1", await self._harmless(task)

    async def _replay(self, task: Task, index: int) -> tuple[Run, StateDiff]:
        instance = await self.pool.clean(index)
        run = await replay(instance, task.solution)
        diff = await instance.diff()
        if diff.changes:
            self.pool.soil(index)
        return run, diff

    async def _gold(self, task: Task) -> str:
        """By the grader exactly as an episode has it, in an instance of its own."""
        score = await grade(
            task, task.reference_answer, task.state_change, runtime=self.pool.runtime, environment=self.pool.bundle.root
        )
        failed = [f"{r.id} {r.detail}" for r in score.results if not r.passed]
        return "" if score.reward == 1 else f"scores {score.reward}: {'; '.join(failed)}"

    async def _rewards(self, task: Task, cases: Sequence[Case]) -> list[float | None]:
        instance, root = self.pool.instances[OTHER], self.pool.bundle.root
        return await rewards(task, cases, runtime=self.pool.runtime, environment=root, instance=instance)

    async def _refused(self, task: Task, cases: Sequence[Case]) -> str:
        """Every one must score 0, and not be unscored."""
        found = await self._rewards(task, cases)
        return next((f"{c.name} scores {r}" for c, r in zip(cases, found, strict=True) if r != 0), "")

    async def _noop(self, task: Task) -> str:
        """The right answer without the change that was asked for."""
        if not task.state_change.changes:
            return ""
        return await self._refused(task, [Case("no-op", task.reference_answer, StateDiff())])

    async def _near_misses(self, task: Task) -> str:
        answers = [Case(v.name, v.answer, task.state_change) for v in near_misses(task.reference_answer)]
        states = [Case(v.name, task.reference_answer, v.diff) for v in state_misses(task.state_change)]
        return await self._refused(task, [*answers, *states])

    async def _harmless(self, task: Task) -> str:
        ordered = {c.path for c in task.rubric if c.kind == "equal" and isinstance(c.expected, list)}
        variants = harmless_variants(task.reference_answer, ordered=ordered)
        cases = [Case(v.name, v.answer, task.state_change) for v in variants]
        found = await self._rewards(task, cases)
        return next((f"{c.name} scores {r}" for c, r in zip(cases, found, strict=True) if r != 1), "")

    async def _random_calls(self, task: Task) -> str:
        """Answers put together from what random read calls show. One may be lucky; a task that is often hit is none."""
        instance = await self.pool.clean(OTHER)
        cases = [await self._random_case(task, instance, number) for number in range(RANDOM_RUNS)]
        lucky = sum(reward != 0 for reward in await self._rewards(task, cases))
        return f"{lucky} of {RANDOM_RUNS} random runs do not score 0" if lucky > 1 else ""

    async def _random_case(self, task: Task, instance: Instance, number: int) -> Case:
        rng = random.Random(f"random calls:{task.id}:{number}")
        shown: dict[str, Any] = {}
        for _ in range(RANDOM_CALLS):
            tool, arguments = random_call(self.world, rng)
            seen = await instance.call(tool, arguments)
            if seen.ok:
                shown.update(_fields(seen.value))
        answer = {key: shown.get(key, _any(shown, task, key, rng)) for key in task.reference_answer}
        return Case(f"random run {number + 1}", answer, StateDiff())


def random_call(world: World, rng: random.Random) -> tuple[str, dict[str, Any]]:
    action = rng.choice([a for a in world.actions if not a.writes] or world.actions)
    rows = world.rows[action.table.name]
    row = rng.choice(rows) if rows else {}
    taken = {**({action.key: action.table.primary_key} if action.key else {}), **action.filters}
    return action.name, {a: row.get(c) for a, c in taken.items() if a in action.required and row.get(c) is not None}


def _fields(value: Any) -> dict[str, Any]:
    if not isinstance(value, dict):
        return {}
    items = value.get("items")
    first = items[0] if isinstance(items, list) and items and isinstance(items[0], dict) else {}
    return {**value, **first}


def _any(shown: dict[str, Any], task: Task, key: str, rng: random.Random) -> Any:
    kind = task.answer_schema["properties"][key]["type"]
    fit = [v for v in scalars(shown) if _is(v, kind)]
    return rng.choice(fit) if fit else None


def _is(value: Any, kind: str) -> bool:
    if isinstance(value, bool):
        return kind == "boolean"
    return isinstance(value, {"integer": int, "number": int | float, "string": str}.get(kind, list))


# --- Checks that need no run -----------------------------------------------------------------------------


def leak(world: World, task: Task) -> str:
    """A tool name, or an id of a table or column that is no word, in the question."""
    text = task.question.casefold()
    for tool in world.tools:
        if re.search(rf"(?<!\w){re.escape(tool.name.casefold())}(?!\w)", text):
            return f"the question names the tool {tool.name}"
    names = {c.name for t in world.tables.values() for c in t.columns} | set(world.tables)
    found = [n for n in sorted(names) if "_" in n and re.search(rf"(?<!\w){re.escape(n.casefold())}(?!\w)", text)]
    return f"the question uses the id {found[0]}" if found else ""


def form_fault(task: Task) -> str:
    """The answer schema is strict, and the reference answer is a value of it."""
    schema = task.answer_schema
    if schema.get("additionalProperties") is not False or set(schema["required"]) != set(schema["properties"]):
        return "the answer schema is not strict"
    error = next(iter(Draft202012Validator(schema).iter_errors(task.reference_answer)), None)
    return f"the reference answer does not fit its schema: {error.message}" if error else ""


def size_fault(task: Task, most: int) -> str:
    size = len(json.dumps(task.reference_answer, ensure_ascii=False))
    return f"the answer has {size} characters" if size > most else ""


def given_away(task: Task) -> str:
    """Unless the state changes, something of the answer must not be in the question."""
    if task.state_change.changes:
        return ""
    values = list(scalars(task.reference_answer))
    return "the question states the whole answer" if all(states(task.question, v) for v in values) else ""


def replay_fault(task: Task, runs: Sequence[tuple[Run, StateDiff]]) -> str:
    for run, diff in runs:
        if run.error or run.answer is None:
            return f"the gold solution fails: {run.error}"
        if run.answer != task.reference_answer:
            return "the gold solution gives another answer"
        if diff != task.state_change:
            return "the gold solution leaves another state"
    texts = [[seen.text for _, _, seen in run.calls] for run, _ in runs]
    return "" if all(t == texts[0] for t in texts) else "two runs saw different things"
