"""What the run is reported as, gathered from the workspace."""

from collections.abc import Iterator, Sequence
from typing import Literal

from agent_world.evals.arena import compare_stages
from agent_world.evals.records import (
    Curve,
    EnvironmentRow,
    ModelCost,
    RunReport,
    StageSeconds,
    count_tasks,
    environment_row,
    read_curve,
    read_tool_graph,
)
from agent_world.graphs.deps import Deps
from agent_world.memory.store import read_record
from agent_world.memory.workspace import Workspace
from agent_world.schema import ArenaResult, Diagnosis, Dropped, Task
from agent_world.training.stages.factory import Split, split_of


def summarise(deps: Deps, engines: str, stages: Sequence[StageSeconds]) -> RunReport:
    """The report of what the workspace holds. Raises `StoreError` for a damaged file."""
    root, split = deps.settings.workspace, split_of(deps)
    results = arena_results(deps)
    fixed = [result for result in results if not result.stage.endswith("fresh")]
    training = [environment for environment in split.training if deps.store.bundle(environment).tasks()]
    return RunReport(
        workspace=str(root),
        engines=engines,
        seed=deps.settings.seed,
        environments=environment_rows(deps, split),
        dropped=(*Workspace(root).dropped(), *failed(deps)),
        tasks=count_tasks(all_tasks(deps)),
        arena=tuple(fixed),
        fresh=tuple(result for result in results if result.stage.endswith("fresh")),
        differences=tuple(compare_stages(root, fixed)),
        diagnoses=tuple(diagnoses(deps)),
        curves=tuple(curves(deps)),
        graph=read_tool_graph(deps.store.bundle(training[0])) if training else None,
        costs=costs(deps),
        stages=tuple(stages),
    )


def failed(deps: Deps) -> Iterator[Dropped]:
    """Units that broke and were not done again."""
    for place, failure in Workspace(deps.settings.workspace).failures().items():
        stage, _, unit = place.partition("/")
        kind: Literal["theme", "environment"] = "theme" if stage == "mine" else "environment"
        yield Dropped(kind=kind, id=unit, reason=f"{stage} failed: {failure.reason}")


def all_tasks(deps: Deps) -> list[Task]:
    return [task for bundle in deps.store.bundles() for task in bundle.tasks()]


def environment_rows(deps: Deps, split: Split) -> tuple[EnvironmentRow, ...]:
    def role(environment: str) -> Literal["training", "arena", "grown"]:
        return "arena" if environment in split.arena else "training" if environment in split.training else "grown"

    return tuple(environment_row(b.environment(), b.tasks(), role(b.id)) for b in deps.store.bundles())


def arena_results(deps: Deps) -> list[ArenaResult]:
    """Stages in order of time: by round, before SFT first."""
    found = [read_record(path, ArenaResult) for path in (deps.settings.workspace / "arena").glob("*.json")]
    return sorted(found, key=lambda result: (result.round, result.stage != "before SFT", result.stage))


def diagnoses(deps: Deps) -> list[Diagnosis]:
    found = [read_record(path, Diagnosis) for path in (deps.settings.workspace / "diagnoses").glob("*.json")]
    return sorted(found, key=lambda diagnosis: diagnosis.round)


def curves(deps: Deps) -> list[Curve]:
    policies = deps.settings.workspace / "policies"
    wanted = [("sft", "loss", "SFT: loss")]
    for number in range(1, deps.settings.rounds + 1):
        wanted += [(f"round_{number}", name, f"GRPO round {number}: {name}") for name in ("reward", "kl")]
    found = [read_curve(policies / folder / "metrics.jsonl", metric, title) for folder, metric, title in wanted]
    return [curve for curve in found if curve]


def costs(deps: Deps) -> tuple[ModelCost, ...]:
    """Calls and tokens of the chat models so far, in all runs."""
    return tuple(
        ModelCost(
            role=spent.role,
            model=spent.model,
            calls=spent.calls,
            input_tokens=spent.input_tokens,
            output_tokens=spent.output_tokens,
        )
        for spent in Workspace(deps.settings.workspace).spent()
    )
