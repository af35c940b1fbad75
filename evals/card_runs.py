"""What a card has to see: the tasks of an environment played by nobody, by chance and by their own solutions."""

import asyncio

from agent_world.agents.episode import Limits, conversation, run_episodes
from agent_world.agents.policy import Policy, ReplayPolicy
from agent_world.agents.synthesizer.world import World
from agent_world.agents.validator.gate import open_gate
from agent_world.agents.validator.replay import replay
from agent_world.evals.floor import ChancePolicy, IdlePolicy
from agent_world.graphs.deps import Deps
from agent_world.memory.store import Bundle
from agent_world.schema import Rate, Record, Task, ToolSpec, Trajectory
from agent_world.tools.grading.rates import rate_of
from agent_world.tools.runtime import Instance

SPARE_TURNS = 4


class Measured(Record):
    """Seen by running, with the environment's own runtime."""

    idle: Rate
    """Of episodes that do nothing and answer blanks."""
    chance: Rate
    """Of episodes of random calls and a random answer of the right form."""
    oracle: Rate
    """Of episodes that repeat the reference solution call by call."""
    replayed: int
    """Reference solutions that give the same answer and state in two processes, at two times and seeds."""
    faults: dict[str, str]
    """Task -> why it does not replay."""
    untouched: bool | None
    """Whether an instance stayed as it was while another ran the solutions that write; None without such tasks."""
    isolation: tuple[str, ...]
    """What the runtime says of its walls."""


async def measure(bundle: Bundle, deps: Deps) -> Measured:
    tasks = bundle.tasks()
    gold, untouched = await _gold(bundle, tasks, deps)
    faults = await _faults(bundle, tasks, deps)
    return Measured(
        idle=await _rate(IdlePolicy(), bundle, tasks, deps),
        chance=await _rate(ChancePolicy(deps.settings.seed), bundle, tasks, deps),
        oracle=await _rate(ReplayPolicy(gold), bundle, tasks, deps),
        replayed=len(tasks) - len(faults),
        faults=faults,
        untouched=untouched,
        isolation=deps.runtime.describe(),
    )


async def _rate(policy: Policy, bundle: Bundle, tasks: list[Task], deps: Deps) -> Rate:
    """In instances opened with the run's own seed, graded as every episode."""
    turns = max((task.difficulty.calls for task in tasks), default=0) + SPARE_TURNS
    limits = Limits(max_turns=turns, batch=min(16, deps.settings.runtime.max_instances))
    items = [(task, bundle) for task in tasks]
    return rate_of(await run_episodes(policy, items, deps.runtime, limits, deps.settings.seed, judge=deps.judge()))


async def _faults(bundle: Bundle, tasks: list[Task], deps: Deps) -> dict[str, str]:
    world = await asyncio.to_thread(World, bundle)
    async with open_gate(world, deps.runtime, deps.settings, deps.judge()) as gate:
        found = {task.id: await gate.replay_fault(task) for task in tasks}
    return {task: fault for task, fault in found.items() if fault}


async def _gold(bundle: Bundle, tasks: list[Task], deps: Deps) -> tuple[list[Trajectory], bool | None]:
    """Conversations of the reference solutions; beside them lies an instance that must not notice."""
    acting = await deps.runtime.open(bundle.root, seed=deps.settings.seed)
    beside = await deps.runtime.open(bundle.root, seed=deps.settings.seed)
    try:
        before, hash_before = await beside.state_hash(), bundle.content_hash()
        tools = bundle.tools()
        found = [await _conversation(task, tools, acting) for task in tasks]
        same = await beside.state_hash() == before and bundle.content_hash() == hash_before
    finally:
        await acting.close()
        await beside.close()
    return found, same if any(task.state_change.changes for task in tasks) else None


async def _conversation(task: Task, tools: list[ToolSpec], instance: Instance) -> Trajectory:
    run = await replay(instance, task.solution)
    if task.state_change.changes:
        await instance.reset()
    messages = conversation(task, tools, run.calls, task.reference_answer)
    return Trajectory(
        task=task.id, environment=task.environment, policy="gold", messages=tuple(messages), calls=len(run.calls),
        status="done", answer=task.reference_answer,
    )  # fmt: skip
