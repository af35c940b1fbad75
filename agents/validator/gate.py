"""The gate: a task is kept only with a receipt for every check (section 3.1.1, and FAULTS on gold and checkers).

What can be decided without running comes first. The gold solution is then replayed on clean copies, in two processes
whose clocks and seeds differ, and the finished grader has to tell it, and what means the same, from everything that
comes close.
"""

from collections.abc import AsyncIterator, Iterator, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from datetime import datetime, timedelta

from agent_world.agents.synthesizer.cues import plan_cue
from agent_world.agents.synthesizer.world import World
from agent_world.agents.validator.asked import requests_in
from agent_world.agents.validator.battery import rewards
from agent_world.agents.validator.effects import answer_fault, effect_fault, question_fault, question_literals
from agent_world.agents.validator.form import answer_size, form_fault, given_away, leak, size_fault
from agent_world.agents.validator.literals import grounding_fault, own_arguments, reference_fault, scalars, states
from agent_world.agents.validator.pool import Pool, open_pool
from agent_world.agents.validator.random_runs import RandomRun, by_luck, known_runs
from agent_world.agents.validator.replay import Call, Run, replay
from agent_world.agents.validator.second import SECOND, second_fault
from agent_world.agents.validator.trials import trials
from agent_world.schema import GateCheck, StateDiff, Task, Validation
from agent_world.settings import Settings
from agent_world.tools.grading import Judge, grade
from agent_world.tools.grading.criteria import ignored_of, written
from agent_world.tools.runtime import Runtime

FIRST, OTHER, ELSEWHERE = 0, 1, 2
"""Instances of the pool: for the gold run; for random calls and verifiers; for the gold run at another time."""
HASH = 16
"""Figures of a state's hash on a receipt."""
LATER = timedelta(days=500, hours=7, minutes=13, seconds=21)
"""Another year, month, day of the week and hour."""
OTHER_SEED = 1009

CHECKS = (
    "no leak", "answer form", "criteria can be decided", "answer size", "answer not given away", "gold replays",
    "gold replays elsewhere", "arguments are known", "literals mean one thing", "question is used",
    "effects are asked for", "answer was shown", "gold scores 1", "no-op scores 0", "empty answer scores 0",
    "chance does not solve it", "luck does not solve it", "random calls score 0", "near misses score 0",
    "harmless variants score 1",
)  # fmt: skip
"""Receipts that every task must have; with `second.SECOND` where there is a second way to the answer."""
Check = tuple[str, str, str]
"""Name, what is wrong, and what was found where nothing is."""


@asynccontextmanager
async def open_gate(
    world: World, runtime: Runtime, settings: Settings, judge: Judge | None = None
) -> AsyncIterator["Gate"]:
    """A gate for tasks of one environment, with live instances for as long as it is open."""
    clock = settings.runtime.clock
    elsewhere = (OTHER_SEED, other_time(clock))
    async with open_pool(world.bundle, runtime, ELSEWHERE, elsewhere=elsewhere) as pool:
        yield Gate(world, pool, settings.tasks.max_answer_chars, clock, judge)


def other_time(clock: str) -> str:
    return (datetime.fromisoformat(clock) + LATER).isoformat()


@dataclass(frozen=True, slots=True)
class Seen:
    """One run of a gold solution: what it did, what it left, and the hash of that state."""

    run: Run
    diff: StateDiff
    state: str


@dataclass(frozen=True, slots=True)
class Gate:
    world: World
    pool: Pool
    max_answer_chars: int
    clock: str
    by_judge: Judge | None = None
    """Decides semantic criteria; without it a task that has some is refused."""
    _runs: list[RandomRun] = field(default_factory=list)
    _clean: dict[int, str] = field(default_factory=dict)
    """Hash of the state that an instance begins with."""

    async def judge(self, task: Task) -> Validation:
        """All checks in order; the first that fails ends it. The record holds a receipt for each."""
        checks: list[GateCheck] = []
        async for name, fault, note in self._checks(task):
            checks.append(GateCheck(name=name, passed=not fault, detail=fault or note))
            if fault:
                return Validation(status="rejected", checks=tuple(checks))
        return Validation(status="gate only", checks=tuple(checks))

    async def replay_fault(self, task: Task) -> str:
        """Why the gold solution does not replay, here or at another time; empty when it does."""
        first = await self._replay(task, FIRST)
        return gold_fault(task, first) or (await self._elsewhere(task, first))[0]

    async def _checks(self, task: Task) -> AsyncIterator[Check]:
        yield (
            "no leak",
            leak(self.world, task),
            f"none of {len(self.world.tools)} tool names, no id of a table or column",
        )
        yield "answer form", form_fault(task), f"{len(task.answer_schema['properties'])} fields, all required and typed"
        yield "criteria can be decided", *decided(self.world, task, self.by_judge is not None)
        yield (
            "answer size",
            size_fault(task, self.max_answer_chars),
            f"{answer_size(task)} of {self.max_answer_chars} chars",
        )
        yield "answer not given away", given_away(task), _given(task)
        first = await self._replay(task, FIRST)
        yield "gold replays", gold_fault(task, first), f"{len(first.run.calls)} calls, state {first.state[:HASH]}"
        fault, elsewhere = await self._elsewhere(task, first)
        yield "gold replays elsewhere", fault, f"at {other_time(self.clock)}, state {elsewhere.state[:HASH]}"
        for check in self._known(task, first.run.calls):
            yield check
        yield "gold scores 1", await self._gold(task), f"{len(task.rubric)} criteria" if task.rubric else "its verifier"
        async for check in self._graded(task, first.run.calls):
            yield check

    def _known(self, task: Task, calls: Sequence[Call]) -> Iterator[Check]:
        given = sum(len(arguments) for _, arguments, _ in calls)
        literals, asked = len(question_literals(task.question)), len(requests_in(self.world, task))
        aside = days(self.clock)
        unknown = grounding_fault(task, calls, own_arguments(self.world, task))
        yield "arguments are known", unknown, f"{given} arguments of {len(calls)} calls"
        yield "literals mean one thing", reference_fault(self.world, task, calls), f"{given} arguments looked up"
        said = question_fault(self.world, task, calls, aside) or plan_cue(task.question, task.plan)
        yield "question is used", said, f"{literals} literals, and all names"
        rows = len(task.state_change.changes)
        yield "effects are asked for", effect_fault(self.world, task, calls), f"{asked} requests, {rows} rows changed"
        yield "answer was shown", answer_fault(task, calls), f"{len(list(scalars(task.reference_answer)))} values"
        second = second_fault(self.world, task)
        if second is not None:
            yield SECOND, second, "by SQL over the raw tables"

    # --- Gold runs ---------------------------------------------------------------------------------------

    async def _replay(self, task: Task, index: int) -> Seen:
        instance = await self.pool.clean(index)
        if index not in self._clean:
            self._clean[index] = await instance.state_hash()
        run = await replay(instance, task.solution)
        diff = await instance.diff()
        if not diff.changes:
            return Seen(run, diff, self._clean[index])
        self.pool.soil(index)
        return Seen(run, diff, await instance.state_hash())

    async def _elsewhere(self, task: Task, first: Seen) -> tuple[str, Seen]:
        """In another process, at another time, with other random numbers: the same answer and state, or the question
        says for when it asks. What is wrong, if anything, and what was seen."""
        there = await self._replay(task, ELSEWHERE)
        if _shown(there) == _shown(first) and there.state == first.state and not gold_fault(task, there):
            return "", there
        for index in (FIRST, OTHER):  # once more, in two fresh processes, at the same time and seed
            self.pool.soil(index)
        first, again = [await self._replay(task, index) for index in (FIRST, OTHER)]
        if _shown(again) != _shown(first) or gold_fault(task, again):
            return "two runs saw different things", again
        fault = gold_fault(task, there)
        return f"at another time and seed, {fault}" if fault and not says_when(task.question, self.clock) else "", there

    async def _gold(self, task: Task) -> str:
        """By the grader exactly as an episode has it, in an instance of its own."""
        score = await grade(
            task, task.reference_answer, task.state_change,
            runtime=self.pool.runtime, environment=self.pool.bundle.root, judge=self.by_judge,
        )  # fmt: skip
        failed = [f"{r.id} {r.detail}" for r in score.results if not r.passed]
        return "" if score.reward == 1 else f"scores {score.reward}: {'; '.join(failed)}"

    # --- The grader against everything that comes close --------------------------------------------------

    async def _graded(self, task: Task, calls: Sequence[Call]) -> AsyncIterator[Check]:
        runs = await self._random()
        tried = trials(self.world, task, runs, by_luck(self.world, runs, calls))
        cases = [case for trial in tried for case in trial.cases]
        found = await rewards(task, cases, instance=await self.pool.clean(OTHER), judge=self.by_judge)
        scored = iter(found)
        for trial in tried:
            fault, note = trial.verdict([next(scored) for _ in trial.cases])
            yield trial.name, fault, note

    async def _random(self) -> list[RandomRun]:
        """Made at the first task that asks for them."""
        if not self._runs:
            self._runs.extend(await known_runs(self.world, self.pool, OTHER, self.clock))
        return self._runs


def decided(world: World, task: Task, by_judge: bool) -> tuple[str, str]:
    """Whether somebody can decide all criteria, and code those that it can; and how many are for whom."""
    semantic = sum(criterion.kind == "semantic" for criterion in task.rubric)
    if semantic and not by_judge:
        return f"{semantic} semantic criteria and no judge: set roles.validator.model.name", ""
    for column in sorted(ignored_of(task)):
        fault = _not_own(world, task, column)
        if fault:
            return f"{column} is left to the agent's own words, {fault}", ""
    code = len(task.rubric) - semantic
    return "", f"{f'{code} by code' if task.strategy == 'graph' else 'by its verifier'}, {semantic} by a judge"


def _not_own(world: World, task: Task, name: str) -> str:
    """Why code can decide a column that a rubric leaves out of the state."""
    table, _, column = name.partition(".")
    known = world.tables.get(table)
    if known is None or all(c.name != column or c.type != "string" for c in known.columns):
        return "and is no text of the database"
    stated = [text for text in written(task.state_change, name) if states(task.question, text)]
    return f"and the question says {stated[0]!r}" if stated else ""


def _given(task: Task) -> str:
    values = list(scalars(task.reference_answer))
    stated = sum(states(task.question, value) for value in values)
    return f"{stated} of {len(values)} values are in the question, {len(task.state_change.changes)} rows change"


def gold_fault(task: Task, seen: Seen) -> str:
    run = seen.run
    if run.error or run.answer is None:
        return f"the gold solution fails: {run.error}"
    if run.answer != task.reference_answer:
        return "the gold solution gives another answer"
    return "the gold solution leaves another state" if seen.diff != task.state_change else ""


def says_when(question: str, clock: str) -> bool:
    """Whether the question states the day of `clock`."""
    return any(text in question for text in days(clock))


def days(clock: str) -> tuple[str, ...]:
    """The day as it may be written: `2026-01-15`, `15 January 2026`, `January 15, 2026`."""
    day = datetime.fromisoformat(clock)
    return f"{day:%Y-%m-%d}", f"{day.day} {day:%B %Y}", f"{day:%B} {day.day}, {day.year}"


def _shown(seen: Seen) -> list[str]:
    return [observed.text for _, _, observed in seen.run.calls]
