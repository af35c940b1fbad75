"""The arena of section 3.2.2: environments held out of training, and a policy measured on their tasks.

    OUT.jsonl   trajectories, written batch by batch
    OUT.json    the result, written last

A stage that is finished is read back; one that was stopped goes on after its last whole batch.
"""

import itertools
import random
from collections import Counter
from collections.abc import Sequence
from pathlib import Path

from agent_world.agents.episode import Limits, run_episodes
from agent_world.agents.policy import Policy
from agent_world.evals.stats import Difference, paired_difference
from agent_world.graphs.deps import Deps
from agent_world.memory.store import Bundle, read_record, read_records, write_record, write_records
from agent_world.schema import ArenaResult, Environment, Task, Trajectory
from agent_world.settings import Settings
from agent_world.tools.grading.rates import rate_of, rates_by

UNPLACED = "no type"


def first_tier(environment: Environment) -> str:
    return environment.taxonomy[0] if environment.taxonomy else UNPLACED


def choose_arena(environments: Sequence[Environment], settings: Settings) -> list[str]:
    """Ids of the environments to hold out, in order.

    Types take turns, the largest first, until each has given K or the arena holds `max_share` of all environments.
    A type keeps at least one environment for training, so a type of one gives none, unless every type is like that.
    One environment at least is held out of two or more. The same environments and seed give the same choice.
    """
    most = max(int(settings.arena.max_share * len(environments)), min(1, len(environments) - 1))
    types: dict[str, list[str]] = {}
    for environment in sorted(environments, key=lambda e: e.id):
        types.setdefault(first_tier(environment), []).append(environment.id)
    queues = {name: _shuffled(ids, f"{settings.seed}:arena:{name}") for name, ids in types.items()}
    spared = 1 if any(len(ids) > 1 for ids in types.values()) else 0
    offers = [
        (turn, -len(ids), name, ids[turn])
        for name, ids in queues.items()
        for turn in range(min(settings.arena.environments_per_type, len(ids) - spared))
    ]
    return sorted(environment for *_, environment in sorted(offers)[: max(most, 0)])


async def run_arena(
    stage: str, number: int, policy: Policy, items: Sequence[tuple[Task, Bundle]], deps: Deps, out: Path
) -> ArenaResult:
    """Run one episode an item and sum up as stage `stage` of round `number`.

    `out` is the path of the two files without their suffix, inside the workspace.
    """
    finished, log = out.with_suffix(".json"), out.with_suffix(".jsonl")
    if finished.exists():
        return read_record(finished, ArenaResult)
    settings = deps.settings
    batch = min(settings.arena.batch, settings.runtime.max_instances)
    limits = Limits(max_turns=settings.arena.max_turns, batch=batch)
    runs = _resumable(read_records(log, Trajectory), items, policy.name)
    while len(runs) < len(items):
        done = len(runs)

        def show(ended: int, _total: int, before: int = done) -> None:
            deps.progress.step(before + ended, len(items), "episodes")

        part = items[done : done + batch]
        runs += await run_episodes(policy, part, deps.runtime, limits, settings.seed, show, deps.judge())
        write_records(log, runs)
    result = summarise(stage, number, policy.name, runs, items, log.relative_to(settings.workspace))
    write_record(finished, result)
    return result


def summarise(
    stage: str, number: int, policy: str, runs: Sequence[Trajectory], items: Sequence[tuple[Task, Bundle]], log: Path
) -> ArenaResult:
    tasks = {(task.environment, task.id): task for task, _ in items}
    types = {bundle.id: first_tier(bundle.environment()) for bundle in {b.root: b for _, b in items}.values()}

    def task_of(run: Trajectory) -> Task:
        return tasks[run.environment, run.task]

    return ArenaResult(
        stage=stage,
        round=number,
        policy=policy,
        overall=rate_of(runs),
        by_environment=rates_by(runs, lambda run: run.environment),
        by_type=rates_by(runs, lambda run: types[run.environment]),
        by_strategy=rates_by(runs, lambda run: str(task_of(run).strategy)),
        by_level=rates_by(runs, lambda run: str(task_of(run).difficulty.level)),
        statuses=dict(sorted(Counter(str(run.status) for run in runs).items())),
        tool_errors=sum(run.tool_errors for run in runs),
        trajectories=log.as_posix(),
    )


def load_trajectories(workspace: Path, result: ArenaResult) -> list[Trajectory]:
    return read_records(workspace / result.trajectories, Trajectory)


def rewards(runs: Sequence[Trajectory]) -> dict[str, float | None]:
    """Reward by `environment/task`."""
    return {f"{run.environment}/{run.task}": run.score.reward for run in runs}


def compare_stages(workspace: Path, results: Sequence[ArenaResult]) -> list[Difference]:
    """Each stage against the one before it, and the last against the first, task by task.

    `results` are of one fixed set of tasks, in order of time.
    """
    scores = [(result.stage, rewards(load_trajectories(workspace, result))) for result in results]
    steps = list(itertools.pairwise(scores))
    if len(scores) > 2:
        steps.append((scores[0], scores[-1]))
    return [paired_difference(a, b, (first, second)) for (first, a), (second, b) in steps]


def _resumable(runs: list[Trajectory], items: Sequence[tuple[Task, Bundle]], policy: str) -> list[Trajectory]:
    """Runs of a stopped stage, if they are of the same policy and the first of the same items; else none."""
    wanted = [(task.environment, task.id, policy) for task, _ in items]
    same = [(run.environment, run.task, run.policy) for run in runs] == wanted[: len(runs)]
    return runs if same else []


def _shuffled(ids: Sequence[str], seed: str) -> list[str]:
    return random.Random(seed).sample(list(ids), len(ids))
