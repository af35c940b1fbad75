"""Cheap gold conversations for the cold start: candidates as for tasks, run once, kept when the rubric gives 1.

No gate: what teaches a policy to call tools need not be proof against every wrong answer. Kept tasks are left out, so
nothing that is trained on or measured later is shown before.
"""

import asyncio
import random
from collections.abc import AsyncIterator, Mapping
from dataclasses import dataclass, field

from agent_world.agents.episode import conversation
from agent_world.agents.synthesizer.graph import build_tool_graph
from agent_world.agents.synthesizer.proposals import Proposal, Strategy, draft_of
from agent_world.agents.synthesizer.realise import Realised, realise
from agent_world.agents.synthesizer.world import World
from agent_world.agents.validator.duplicates import question_key, solution_key
from agent_world.agents.validator.pool import OneInstance, Pool, open_pool
from agent_world.graphs.deps import Deps
from agent_world.memory.store import Bundle
from agent_world.schema import Origin, Task, Trajectory
from agent_world.tools.grading import grade

LEVELS = {1: 0.5, 2: 0.35, 3: 0.15}
"""Shares of the levels proposed: most conversations have one to four calls."""
PROGRAMS = 1 / 3
"""Share of programmatic ones, as among tasks."""
LONGEST = 1500
"""Most characters of a conversation, tool list aside."""
TRIES = 8
"""Candidates a wanted conversation, at most."""


@dataclass(slots=True)
class _Known:
    questions: set[str] = field(default_factory=set)
    solutions: set[str] = field(default_factory=set)

    def add(self, task: Task) -> None:
        self.questions.add(question_key(task))

    def has(self, task: Task) -> bool:
        return question_key(task) in self.questions or solution_key(task) in self.solutions


async def demonstrate(
    bundle: Bundle, count: int, seed: int, deps: Deps, max_calls: int | None = None
) -> list[Trajectory]:
    """Up to `count` different conversations that score 1, of at most `max_calls` calls; fewer when the environment
    has no more to ask."""
    known = _Known()
    for task in bundle.tasks():
        known.add(task)
        known.solutions.add(solution_key(task))
    found: list[Trajectory] = []
    levels = {1: 1.0} if max_calls == 1 else LEVELS  # a longer walk is never one call
    async for task, trajectory in _candidates(bundle, count * TRIES, seed, deps, levels):
        if known.has(task) or (max_calls is not None and trajectory.calls > max_calls):
            continue
        known.add(task)
        found.append(trajectory)
        if len(found) == count:
            break
    return found


async def _candidates(
    bundle: Bundle, tries: int, seed: int, deps: Deps, levels: Mapping[int, float]
) -> AsyncIterator[tuple[Task, Trajectory]]:
    world = await asyncio.to_thread(World, bundle)
    graph = build_tool_graph(world)
    async with open_pool(bundle, deps.runtime, 2, seed) as pool:
        for number in range(tries):
            draft = draft_of(world, graph, _proposal(f"demonstration:{seed}:{world.id}:{number}", levels))
            if draft is None:
                continue
            made = await realise(draft, world.id, Origin(engine="procedural", seed=seed), 0, await pool.clean(0))
            if draft.writes:
                pool.soil(0)
            if isinstance(made, Realised):
                trajectory = await _trajectory(made, world, pool, seed)
                if trajectory is not None:
                    yield made.task, trajectory


def _proposal(mark: str, levels: Mapping[int, float]) -> Proposal:
    """A program may need one call at any level."""
    rng = random.Random(mark)
    strategy: Strategy = "program" if rng.random() < PROGRAMS else "graph"
    shares = levels if strategy == "graph" else LEVELS
    level = rng.choices(list(shares), list(shares.values()))[0]
    return Proposal(strategy=strategy, level=level, seed=mark, guideline="")


async def _trajectory(made: Realised, world: World, pool: Pool, seed: int) -> Trajectory | None:
    """None when it is too long, or the grader does not give 1."""
    task = made.task
    messages = conversation(task, world.tools, made.calls, task.reference_answer)
    if sum(len(str(m)) for m in messages) > LONGEST:
        return None
    runtime = OneInstance(pool.instances[1])
    score = await grade(task, task.reference_answer, task.state_change, runtime=runtime, environment=world.bundle.root)
    if score.reward != 1:
        return None
    return Trajectory(
        task=task.id,
        environment=world.id,
        policy="gold",
        seed=seed,
        messages=tuple(messages),
        calls=len(made.calls),
        status="done",
        answer=task.reference_answer,
        score=score,
        diff=task.state_change,
    )
