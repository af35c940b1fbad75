"""Batches: proposals made into candidates, candidates into kept tasks; whatever falls out has its reason."""

from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass, field

import networkx as nx

from agent_world.agents.synthesizer.proposals import Proposal, draft_of
from agent_world.agents.synthesizer.realise import Realised, realise
from agent_world.agents.synthesizer.world import World
from agent_world.agents.validator.duplicates import Seen, with_difference
from agent_world.agents.validator.gate import Gate
from agent_world.agents.validator.pool import Pool
from agent_world.schema import Dropped, Guideline, Origin, Task
from agent_world.tools.runtime import Instance

Versions = Callable[[Task], Awaitable[list[Task]]]
"""Wordings of a task, the preferred one first."""
Composer = Callable[[int, Origin, Instance], Awaitable[Realised | str]]
"""A model that writes a programmatic task of a level itself; a reason where it could not."""


@dataclass(slots=True)
class Batch:
    """What came of some proposals."""

    candidates: list[Task] = field(default_factory=list)
    dropped: list[Dropped] = field(default_factory=list)
    reworded: int = 0
    """Questions put in other words since they read like another task's."""
    lowered: list[str] = field(default_factory=list)
    """`graph 5 -> 4`: the data had nothing of the level proposed, and the task is of a lower one."""

    def add(self, made: Realised, proposal: Proposal) -> None:
        level = made.task.difficulty.level
        self.candidates.append(made.task)
        self.reworded += made.reworded
        if level < proposal["level"]:
            self.lowered.append(f"{proposal['strategy']} {proposal['level']} -> {level}")


async def realise_all(
    world: World,
    graph: nx.DiGraph,
    proposals: Sequence[Proposal],
    guidelines: Sequence[Guideline],
    origin: Origin,
    round: int,
    levels: Sequence[int],
    pool: Pool,
    seen: Seen,
    composer: Composer | None = None,
) -> Batch:
    """Draft and run each proposal once; programs by the composer first, where there is one. With `levels`, only tasks
    measured at one of them are candidates.

    A question that reads like one in `seen` (candidates are added to it) is put in other words where there are some.
    """
    batch = Batch()
    for proposal in proposals:
        made: Realised | str = ""
        if composer is not None and proposal["strategy"] == "program":
            made = await composer(proposal["level"], origin, await pool.clean(0))
            if isinstance(made, str):
                batch.dropped.append(Dropped(kind="task", id=f"{world.id}:{proposal['seed']}:model", reason=made))
        if isinstance(made, str):
            made = await _realised(world, graph, proposal, guidelines, origin, round, pool, seen)
        fault = made if isinstance(made, str) else _level_fault(made.task, levels)
        if isinstance(made, Realised) and not fault:
            batch.add(made, proposal)
            seen.add(made.task)
        else:
            batch.dropped.append(Dropped(kind="task", id=f"{world.id}:{proposal['seed']}", reason=fault))
    return batch


async def _realised(
    world: World,
    graph: nx.DiGraph,
    proposal: Proposal,
    guidelines: Sequence[Guideline],
    origin: Origin,
    round: int,
    pool: Pool,
    seen: Seen,
) -> Realised | str:
    draft = draft_of(world, graph, proposal, guidelines)
    if draft is None:
        return "no draft of this shape fits the data"
    asked = origin.model_copy(update={"guideline": proposal["guideline"] or None})
    instance = await pool.clean(0)
    made = await realise(draft, world.id, asked, round, instance, lambda question: not seen.worded_as(question))
    if draft.writes:
        pool.soil(0)
    return made


def _level_fault(task: Task, levels: Sequence[int]) -> str:
    level = task.difficulty.level
    return f"level {level} was not asked for" if levels and level not in levels else ""


async def judge_all(
    candidates: Sequence[Task], gate: Gate, seen: Seen, room: dict[str, int], versions: Versions
) -> tuple[list[Task], list[Dropped]]:
    """Tasks that pass, at most `room[strategy]` of each strategy; candidates beyond that are not looked at."""
    kept: list[Task] = []
    dropped: list[Dropped] = []
    left = dict(room)
    for candidate in candidates:
        if left[candidate.strategy] <= 0:
            continue
        verdict = await _judged(candidate, gate, seen, versions)
        if isinstance(verdict, Dropped):
            dropped.append(verdict)
            continue
        seen.add(verdict)
        kept.append(verdict)
        left[verdict.strategy] -= 1
    return kept, dropped


async def _judged(candidate: Task, gate: Gate, seen: Seen, versions: Versions) -> Task | Dropped:
    reason = ""
    for version in await versions(candidate):
        clash = seen.clash(version)
        if clash:
            reason = f"duplicate: {clash}"
            continue
        validation = await gate.judge(version)
        if validation.reason is None:
            return version.model_copy(update={"validation": with_difference(validation, "")})
        reason = validation.reason
    return Dropped(kind="task", id=candidate.id, reason=reason)
