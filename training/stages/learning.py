"""The second half: cold start, arena, GRPO (sections 3.2.1 and 3.2.2)."""

import asyncio
import re
from functools import partial
from pathlib import Path

from agent_world.evals.arena import run_arena
from agent_world.graphs.demonstrate import demonstrate
from agent_world.graphs.deps import Deps
from agent_world.graphs.synthesize import SynthesisRequest
from agent_world.memory.store import Bundle, read_record, read_records, write_records
from agent_world.memory.workspace import Outcome
from agent_world.schema import ArenaResult, Task, Trajectory
from agent_world.training.grpo import train_grpo
from agent_world.training.policies import initial_policy, open_policy
from agent_world.training.sft import train_sft
from agent_world.training.stages.factory import split_of, synthesize_in
from agent_world.training.stages.units import each


async def demonstrate_all(deps: Deps) -> str:
    """Gold conversations of the training environments, each run in the runtime and scored 1."""
    training = split_of(deps).training
    share = -(-deps.settings.sft.trajectories // len(training))
    await each("demonstrations", {unit: partial(_demonstrate, unit, share) for unit in training}, deps)
    return f"{len(demonstrations(deps))} gold conversations from {len(training)} training environments"


async def _demonstrate(environment: str, share: int, deps: Deps) -> Outcome:
    settings = deps.settings
    made = await demonstrate(deps.store.bundle(environment), share, settings.seed, deps, settings.sft.max_calls)
    write_records(_demonstrations(deps, environment), made)
    return Outcome(line=f"{len(made)} gold conversations")


def demonstrations(deps: Deps) -> list[Trajectory]:
    found = (read_records(_demonstrations(deps, e), Trajectory) for e in split_of(deps).training)
    return [trajectory for records in found for trajectory in records]


def _demonstrations(deps: Deps, environment: str) -> Path:
    return deps.settings.workspace / "demonstrations" / f"{environment}.jsonl"


async def make_policy(deps: Deps) -> Path:
    """The untrained policy of the settings, made once."""
    out = deps.settings.workspace / "policies" / "initial"
    tools = [bundle.tools() for bundle in deps.store.bundles() if bundle.id in split_of(deps).training]
    return await asyncio.to_thread(initial_policy, deps.settings, demonstrations(deps), tools, out)


async def cold_start(deps: Deps, start: Path) -> Path:
    """SFT on the gold conversations."""
    out = deps.settings.workspace / "policies" / "sft"
    tools = {b.id: b.tools() for b in deps.store.bundles()}
    return await asyncio.to_thread(train_sft, demonstrations(deps), tools, deps.settings, start, out, deps.note)


async def reinforce(deps: Deps, number: int, start: Path) -> Path:
    """GRPO on all training tasks so far; those aimed at weaknesses in this round come first and twice."""
    out = deps.settings.workspace / "policies" / f"round_{number}"
    bundles = training_bundles(deps)
    tasks = [task for bundle in bundles.values() for task in bundle.tasks()]
    levels = deps.settings.grpo.levels
    tasks = [task for task in tasks if not levels or task.difficulty.level in levels]
    aimed = [task for task in tasks if task.round == number]
    return await asyncio.to_thread(train_grpo, [*aimed, *tasks], bundles, deps.settings, start, out, deps.note, number)


def training_bundles(deps: Deps) -> dict[str, Bundle]:
    """Training environments by id, those grown in later rounds included; one whose tools failed is none."""
    arena = split_of(deps).arena
    return {bundle.id: bundle for bundle in deps.store.bundles() if bundle.id not in arena and bundle.tools()}


async def measure(deps: Deps, stage: str, number: int, policy_path: Path) -> ArenaResult:
    """The fixed arena tasks, greedy decoding: the same tasks at every stage, so stages compare pairwise."""
    return await _arena(deps, stage, number, policy_path, fresh=False)


async def probe(deps: Deps, number: int, policy_path: Path) -> ArenaResult | None:
    """Fresh arena tasks of round `number`, for the diagnosis (section 3.2.2); None where the settings want none."""
    arena = deps.settings.arena
    if arena.fresh_graph + arena.fresh_program == 0:
        return None
    request = SynthesisRequest(
        graph=arena.fresh_graph,
        program=arena.fresh_program,
        seed=deps.settings.seed + 1000 * number,
        round=number,
        append=True,
    )
    units = {unit: partial(synthesize_in, unit, request) for unit in split_of(deps).arena}
    await each(f"fresh_{number}", units, deps)
    return await _arena(deps, f"round {number} fresh", number, policy_path, fresh=True)


async def _arena(deps: Deps, stage: str, number: int, policy_path: Path, *, fresh: bool) -> ArenaResult:
    out = deps.settings.workspace / "arena" / slug(stage)
    path = out.with_suffix(".json")
    if path.exists():
        return read_record(path, ArenaResult)
    policy = await asyncio.to_thread(open_policy, deps.settings, policy_path)
    items = arena_items(deps, number if fresh else 0)
    return await run_arena(stage, number, policy, items, deps, out)


def arena_items(deps: Deps, number: int) -> list[tuple[Task, Bundle]]:
    bundles = [deps.store.bundle(environment) for environment in split_of(deps).arena]
    return [(task, bundle) for bundle in bundles for task in bundle.tasks() if task.round == number]


def slug(stage: str) -> str:
    return re.sub(r"[^a-z0-9]+", "_", stage.lower())
