"""The finished grader against everything that comes close to the gold answer, and against what means the same."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from agent_world.agents.synthesizer.answers import ordered_fields
from agent_world.agents.synthesizer.world import World
from agent_world.agents.validator.battery import Case, bystanders
from agent_world.agents.validator.form import blank_answer
from agent_world.agents.validator.random_runs import LUCK, MOST, NONE, RandomRun, cases_of
from agent_world.schema import StateDiff, Task
from agent_world.tools.grading import harmless_variants, near_misses, parse_answer, state_misses, text_variants
from agent_world.tools.grading.criteria import STATE, ignored_of


@dataclass(frozen=True, slots=True)
class Trial:
    """Cases that must all score `reward`, or of which a share of at most `most` may not."""

    name: str
    reward: float
    cases: list[Case]
    most: float = 0.0

    def verdict(self, found: Sequence[float | None]) -> tuple[str, str]:
        """What is wrong, if anything, and how many were tried."""
        if not self.cases:
            return "nothing was tried", ""
        off = [(c.name, r) for c, r in zip(self.cases, found, strict=True) if r != self.reward]
        right = f"{len(found) - len(off)} of {len(found)} score {self.reward:g}"
        if len(off) <= self.most * len(found):
            return "", right
        if not self.most:
            return f"{off[0][0]} scores {off[0][1]}", ""
        return f"{right}; {len(off)} earn the reward, and at most {self.most:.0%} may", ""


def trials(world: World, task: Task, runs: list[RandomRun], lucky: Sequence[bool]) -> list[Trial]:
    """`lucky`: by run, whether it did by luck what the task asks for. Where nearly all did, none is left out."""
    random = cases_of(runs, task)
    apart = [case for case, luck in zip(random, lucky, strict=True) if not luck]
    few = len(apart) < NONE
    return [
        Trial("no-op scores 0", 0, _noops(task)),
        Trial(
            "empty answer scores 0", 0, [Case(n, a, task.state_change) for n, a in (("no answer", None), ("{}", {}))]
        ),
        Trial("chance does not solve it", 0, random if few else apart, LUCK if few else MOST),
        Trial("luck does not solve it", 0, random, LUCK),
        Trial("random calls score 0", 0, (random if few else apart)[-NONE:]),
        Trial("near misses score 0", 0, _near_misses(world, task)),
        Trial("harmless variants score 1", 1, list(_harmless(task))),
    ]


def _noops(task: Task) -> list[Case]:
    """Nothing done, and an answer of blanks; where a change is asked for, also the right answer without it."""
    idle = [Case("doing nothing", blank_answer(task.answer_schema), StateDiff())]
    return [*idle, Case("no-op", task.reference_answer, StateDiff())] if task.state_change.changes else idle


def _near_misses(world: World, task: Task) -> list[Case]:
    """The right state with a wrong answer, and the right answer with a wrong state or an unauthorised write."""
    misses = near_misses(task.reference_answer, task.answer_schema, ordered=_ordered(task), judged=judged(task))
    answers = [Case(v.name, v.answer, task.state_change) for v in misses]
    wrong = state_misses(task.state_change, bystanders(world, task), ignored_of(task))
    return [*answers, *(Case(v.name, task.reference_answer, v.diff) for v in wrong), *_unwritten(task)]


def _unwritten(task: Task) -> Iterator[Case]:
    """Nothing said where the agent's own words are for a judge."""
    for criterion in task.rubric:
        if criterion.kind == "semantic" and criterion.path.startswith(STATE):
            table, _, column = criterion.path.removeprefix(STATE).partition(".")
            changes = tuple(
                c.model_copy(update={"after": {**c.after, column: ""}}) if c.table == table and c.after else c
                for c in task.state_change.changes
            )
            yield Case(f"nothing written to {column}", task.reference_answer, StateDiff(changes=changes))


def _harmless(task: Task) -> Iterator[Case]:
    gold = task.reference_answer
    for variant in harmless_variants(gold, task.answer_schema, ordered=_ordered(task), judged=judged(task)):
        yield Case(variant.name, variant.answer, task.state_change)
    for number, text in enumerate(text_variants(gold)):
        yield Case(f"in form {number + 1} of a final response", parse_answer(text), task.state_change)


def judged(task: Task) -> set[str]:
    """Fields of the answer that a judge alone decides."""
    if task.strategy == "program" or not any(criterion.kind == "semantic" for criterion in task.rubric):
        return set()
    return set(task.reference_answer) - {c.path for c in task.rubric if c.kind in ("equal", "number", "set")}


def _ordered(task: Task) -> set[str]:
    """Fields whose order counts, as the schema or a rubric tells."""
    return ordered_fields(task) | {c.path for c in task.rubric if c.kind == "equal" and isinstance(c.expected, list)}
