"""The gate: a task is kept only with a receipt for every check (section 3.1.1, and FAULTS on gold and checkers).

What can be decided without running comes first. The gold solution is then replayed on clean copies, in two processes
whose clocks and seeds differ, and the finished grader has to tell it, and what means the same, from everything that
comes close.
"""

from collections.abc import AsyncIterator, Iterator, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass
from datetime import datetime, timedelta

from agent_world.agents.synthesizer.world import World
from agent_world.agents.validator.battery import Case, bystanders, rewards
from agent_world.agents.validator.effects import answer_fault, effect_fault, question_fault
from agent_world.agents.validator.form import blank_answer, form_fault, given_away, leak, size_fault
from agent_world.agents.validator.literals import grounding_fault, reference_fault
from agent_world.agents.validator.pool import Pool, open_pool
from agent_world.agents.validator.random_runs import random_case
from agent_world.agents.validator.replay import Call, Run, replay
from agent_world.agents.validator.second import SECOND, second_fault
from agent_world.schema import GateCheck, StateDiff, Task, Validation
from agent_world.settings import Settings
from agent_world.tools.grading import grade, harmless_variants, near_misses, state_misses
from agent_world.tools.runtime import Runtime

FIRST, OTHER, ELSEWHERE = 0, 1, 2
"""Instances of the pool: for the gold run; for random calls and verifiers; for the gold run at another time."""
RANDOM_RUNS = 3
LATER = timedelta(days=500, hours=7, minutes=13, seconds=21)
"""Another year, month, day of the week and hour."""
OTHER_SEED = 1009

CHECKS = (
    "no leak", "answer form", "answer size", "answer not given away", "gold replays", "gold replays elsewhere",
    "arguments are known", "literals mean one thing", "question is used", "effects are asked for", "answer was shown",
    "gold scores 1", "no-op scores 0", "empty answer scores 0", "random calls score 0", "near misses score 0",
    "harmless variants score 1",
)  # fmt: skip
"""Receipts that every task must have; with `second.SECOND` where there is a second way to the answer."""
Replayed = tuple[Run, StateDiff]


@asynccontextmanager
async def open_gate(world: World, runtime: Runtime, settings: Settings) -> AsyncIterator["Gate"]:
    """A gate for tasks of one environment, with live instances for as long as it is open."""
    clock = settings.runtime.clock
    elsewhere = (OTHER_SEED, other_time(clock))
    async with open_pool(world.bundle, runtime, ELSEWHERE, elsewhere=elsewhere) as pool:
        yield Gate(world, pool, settings.tasks.max_answer_chars, clock)


def other_time(clock: str) -> str:
    return (datetime.fromisoformat(clock) + LATER).isoformat()


@dataclass(frozen=True, slots=True)
class Gate:
    world: World
    pool: Pool
    max_answer_chars: int
    clock: str

    async def judge(self, task: Task) -> Validation:
        """All checks in order; the first that fails ends it. The record holds a receipt for each."""
        checks: list[GateCheck] = []
        async for name, fault in self._checks(task):
            checks.append(GateCheck(name=name, passed=not fault, detail=fault))
            if fault:
                return Validation(status="rejected", checks=tuple(checks))
        return Validation(status="gate only", checks=tuple(checks))

    async def replay_fault(self, task: Task) -> str:
        """Why the gold solution does not replay, here or at another time; empty when it does."""
        first = await self._replay(task, FIRST)
        return gold_fault(task, *first) or await self._elsewhere_fault(task, first)

    async def _checks(self, task: Task) -> AsyncIterator[tuple[str, str]]:
        yield "no leak", leak(self.world, task)
        yield "answer form", form_fault(task)
        yield "answer size", size_fault(task, self.max_answer_chars)
        yield "answer not given away", given_away(task)
        first = await self._replay(task, FIRST)
        yield "gold replays", gold_fault(task, *first)
        yield "gold replays elsewhere", await self._elsewhere_fault(task, first)
        for name, fault in self._known(task, first[0].calls):
            yield name, fault
        yield "gold scores 1", await self._gold(task)
        async for name, fault in self._graded(task):
            yield name, fault

    def _known(self, task: Task, calls: Sequence[Call]) -> Iterator[tuple[str, str]]:
        yield from (
            ("arguments are known", grounding_fault(task, calls)),
            ("literals mean one thing", reference_fault(self.world, task, calls)),
            ("question is used", question_fault(self.world, task, calls, days(self.clock))),
            ("effects are asked for", effect_fault(self.world, task, calls)),
            ("answer was shown", answer_fault(task, calls)),
        )
        second = second_fault(self.world, task)
        if second is not None:
            yield SECOND, second

    # --- Gold runs ---------------------------------------------------------------------------------------

    async def _replay(self, task: Task, index: int) -> Replayed:
        instance = await self.pool.clean(index)
        run = await replay(instance, task.solution)
        diff = await instance.diff()
        if diff.changes:
            self.pool.soil(index)
        return run, diff

    async def _elsewhere_fault(self, task: Task, first: Replayed) -> str:
        """In another process, at another time, with other random numbers: the same answer and state, or the question
        says for when it asks."""
        there = await self._replay(task, ELSEWHERE)
        if _shown(there) == _shown(first) and not gold_fault(task, *there):
            return ""
        for index in (FIRST, OTHER):  # once more, in two fresh processes, at the same time and seed
            self.pool.soil(index)
        first, again = [await self._replay(task, index) for index in (FIRST, OTHER)]
        if _shown(again) != _shown(first) or gold_fault(task, *again):
            return "two runs saw different things"
        fault = gold_fault(task, *there)
        return f"at another time and seed, {fault}" if fault and not says_when(task.question, self.clock) else ""

    async def _gold(self, task: Task) -> str:
        """By the grader exactly as an episode has it, in an instance of its own."""
        score = await grade(
            task, task.reference_answer, task.state_change, runtime=self.pool.runtime, environment=self.pool.bundle.root
        )
        failed = [f"{r.id} {r.detail}" for r in score.results if not r.passed]
        return "" if score.reward == 1 else f"scores {score.reward}: {'; '.join(failed)}"

    # --- The grader against everything that comes close --------------------------------------------------

    async def _graded(self, task: Task) -> AsyncIterator[tuple[str, str]]:
        refused = {
            "no-op scores 0": self._noops(task),
            "empty answer scores 0": [Case("no answer", None, task.state_change), Case("{}", {}, task.state_change)],
            "random calls score 0": [await self._random_case(task, number) for number in range(RANDOM_RUNS)],
            "near misses score 0": self._near_misses(task),
        }
        cases = [*(c for group in refused.values() for c in group), *self._harmless(task)]
        root, instance = self.pool.bundle.root, self.pool.instances[OTHER]
        found = await rewards(task, cases, runtime=self.pool.runtime, environment=root, instance=instance)
        scored = iter(zip(cases, found, strict=True))
        for name, group in refused.items():
            part = [next(scored) for _ in group]
            yield name, next((f"{case.name} scores {reward}" for case, reward in part if reward != 0), "")
        yield "harmless variants score 1", next((f"{c.name} scores {r}" for c, r in scored if r != 1), "")

    def _noops(self, task: Task) -> list[Case]:
        """Nothing done, and an answer of blanks; where a change is asked for, also the right answer without it."""
        idle = [Case("doing nothing", blank_answer(task.answer_schema), StateDiff())]
        return [*idle, Case("no-op", task.reference_answer, StateDiff())] if task.state_change.changes else idle

    def _near_misses(self, task: Task) -> list[Case]:
        """The right state with a wrong answer, and the right answer with a wrong state or an unauthorised write."""
        misses = near_misses(task.reference_answer, task.answer_schema, ordered=_ordered(task))
        answers = [Case(v.name, v.answer, task.state_change) for v in misses]
        wrong = state_misses(task.state_change, bystanders(self.world, task))
        return [*answers, *(Case(v.name, task.reference_answer, v.diff) for v in wrong)]

    def _harmless(self, task: Task) -> list[Case]:
        variants = harmless_variants(task.reference_answer, task.answer_schema, ordered=_ordered(task))
        return [Case(v.name, v.answer, task.state_change) for v in variants]

    async def _random_case(self, task: Task, number: int) -> Case:
        case, wrote = await random_case(self.world, task, await self.pool.clean(OTHER), number)
        if wrote:
            self.pool.soil(OTHER)
        return case


def gold_fault(task: Task, run: Run, diff: StateDiff) -> str:
    if run.error or run.answer is None:
        return f"the gold solution fails: {run.error}"
    if run.answer != task.reference_answer:
        return "the gold solution gives another answer"
    return "the gold solution leaves another state" if diff != task.state_change else ""


def says_when(question: str, clock: str) -> bool:
    """Whether the question states the day of `clock`."""
    return any(text in question for text in days(clock))


def days(clock: str) -> tuple[str, ...]:
    """The day as it may be written: `2026-01-15`, `15 January 2026`, `January 15, 2026`."""
    day = datetime.fromisoformat(clock)
    return f"{day:%Y-%m-%d}", f"{day.day} {day:%B %Y}", f"{day:%B} {day.day}, {day.year}"


def _shown(replayed: Replayed) -> list[str]:
    return [seen.text for _, _, seen in replayed[0].calls]


def _ordered(task: Task) -> set[str]:
    """Fields whose order counts, as far as a rubric tells."""
    return {c.path for c in task.rubric if c.kind == "equal" and isinstance(c.expected, list)}
