"""The blind reader: a second, independent way to a task's answer and state change (FAULTS on gold answers).

Programs are read from their plan, chains from what each tool is known to do; both are computed by SQL over the raw
tables, without tools and without the task's own program. A task is determined when everything that its solution
knows is stated in the question, every phrase names exactly what is meant, and both ways end at the same answer and
state.
"""

import random
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

from pydantic import ValidationError

from agent_world.agents.synthesizer import plan as p
from agent_world.agents.synthesizer.answers import agrees, agrees_change, ordered_fields
from agent_world.agents.synthesizer.meaning import Group, Subject
from agent_world.agents.synthesizer.plan_database import Undetermined
from agent_world.agents.synthesizer.plan_sql import solve_plan
from agent_world.agents.synthesizer.program_frames import PARTS
from agent_world.agents.synthesizer.world import World
from agent_world.agents.validator.blind_chain import solve_chain
from agent_world.agents.validator.literals import SAYS_ONE, states
from agent_world.schema import Chain, StateDiff, Task


@dataclass(frozen=True, slots=True)
class BlindReport:
    """How many of a sample are determined; the others with the reason."""

    sampled: int
    failures: tuple[tuple[str, str], ...]
    """Task id and what is wrong."""

    @property
    def determined(self) -> int:
        return self.sampled - len(self.failures)


def blind_report(world: World, tasks: Sequence[Task], sample: int, seed: int = 0) -> BlindReport:
    """Read a sample of the tasks; all of them where there are no more."""
    chosen = random.Random(f"{seed}:blind").sample(list(tasks), min(sample, len(tasks)))
    found = ((task.id, blind_fault(world, task)) for task in chosen)
    return BlindReport(len(chosen), tuple((name, fault) for name, fault in found if fault))


def blind_fault(world: World, task: Task) -> str:
    """Why the task is not determined; empty when a blind reader comes to the same end."""
    try:
        if isinstance(task.solution, Chain):
            answer, change = solve_chain(world, task.solution, says_one=bool(SAYS_ONE.search(task.question)))
        elif task.plan is None:
            return "there is no plan to read"
        else:
            plan = p.Plan.model_validate(task.plan)
            unsaid = next((v for v in literals(plan) if not _said(task.question, v)), None)
            if unsaid is not None:
                return f"the question does not say {unsaid!r}"
            answer, change = solve_plan(world.sql, plan, world.operations)
    except Undetermined as problem:
        return str(problem)
    except ValidationError as error:
        return f"the plan cannot be read: {error.errors()[0]['msg']}"
    return difference(task, answer, change)


def difference(task: Task, answer: dict[str, Any], change: StateDiff) -> str:
    """Between what was read and what the task holds to be right."""
    ordered = ordered_fields(task) | {c.path for c in task.rubric if c.kind == "equal"}
    for key, wanted in task.reference_answer.items():
        found = answer.get(key)
        if isinstance(wanted, list) and isinstance(found, list) and key not in ordered:
            wanted, found = sorted(wanted, key=repr), sorted(found, key=repr)
        if key not in answer or not agrees(found, wanted):
            return f"the second way to {key} comes to {answer.get(key)!r}, not to {task.reference_answer[key]!r}"
    return "" if agrees_change(change, task.state_change) else "the second way leaves another state"


def literals(plan: p.Plan) -> Iterable[Any]:
    """Everything that the plan takes for known."""
    for test in p.parts(plan, p.Test):
        yield test.value
    for branch in p.parts(plan, p.Branch):
        yield from (side.value for side in (branch.left, branch.right) if isinstance(side, p.Constant))
    for put in p.parts(plan, p.Put):
        yield from (c.value for c in p.parts(put.value, p.Constant))
    for add in p.parts(plan, p.Add):
        yield from (c.value for c in p.parts(add.values, p.Constant))
    for act in p.parts(plan, p.Act):
        yield from (c.value for c in p.parts(act.values, p.Constant))
    for selection in p.parts(plan, p.Selection):
        yield from _of_group(selection.group)
    for one in p.parts(plan, p.One):
        yield from one.subject.literals()


def _of_group(group: Group) -> Iterable[Any]:
    for where in group.where:
        if where.among or where.subjects:
            yield from (*where.among, *(v for subject in where.subjects for v in subject.literals()))
        else:
            yield from where.subject.literals() if isinstance(where.subject, Subject) else (where.value,)


def _said(question: str, value: Any) -> bool:
    part = PARTS.get(value) if isinstance(value, int) else None
    return states(question, value) or (part is not None and part in question)
