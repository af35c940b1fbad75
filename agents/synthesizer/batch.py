"""Batches: proposals made into candidates, candidates into kept tasks; whatever falls out has its reason."""

from collections.abc import Awaitable, Callable, Sequence

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


async def realise_all(
    world: World,
    graph: nx.DiGraph,
    proposals: Sequence[Proposal],
    guidelines: Sequence[Guideline],
    origin: Origin,
    round: int,
    levels: Sequence[int],
    pool: Pool,
    composer: Composer | None = None,
) -> tuple[list[Task], list[Dropped]]:
    """Draft and run each proposal once; programs by the composer first, where there is one. With `levels`, only tasks
    measured at one of them are candidates."""
    candidates: list[Task] = []
    dropped: list[Dropped] = []
    for proposal in proposals:
        made: Realised | str = ""
        if composer is not None and proposal["strategy"] == "program":
            made = await composer(proposal["level"], origin, await pool.clean(0))
            if isinstance(made, str):
                dropped.append(Dropped(kind="task", id=f"{world.id}:{proposal['seed']}:model", reason=made))
        if isinstance(made, str):
            made = await _realised(world, graph, proposal, guidelines, origin, round, pool)
        fault = made if isinstance(made, str) else _level_fault(made.task, levels)
        if isinstance(made, Realised) and not fault:
            candidates.append(made.task)
        else:
            dropped.append(Dropped(kind="task", id=f"{world.id}:{proposal['seed']}", reason=fault))
    return candidates, dropped


async def _realised(
    world: World,
    graph: nx.DiGraph,
    proposal: Proposal,
    guidelines: Sequence[Guideline],
    origin: Origin,
    round: int,
    pool: Pool,
) -> Realised | str:
    draft = draft_of(world, graph, proposal, guidelines)
    if draft is None:
        return "no draft of this shape fits the data"
    asked = origin.model_copy(update={"guideline": proposal["guideline"] or None})
    made = await realise(draft, world.id, asked, round, await pool.clean(0))
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
