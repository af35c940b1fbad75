"""Verbs that check tasks and stored runs anew: `tasks validate`, `tasks replay`, `tasks rescore`."""

import asyncio
import json
from collections import Counter
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from agent_world.cli_options import DEFAULT, Config, Machine, Overrides, find_bundle, open_store, show
from agent_world.settings import load_settings

if TYPE_CHECKING:
    from agent_world.schema import Task


def add_task_verbs(app: typer.Typer) -> None:
    app.command()(validate)
    app.command()(replay)
    app.command()(rescore)


def validate(
    environment: str,
    overrides: Overrides = None,
    config: Config = DEFAULT,
    write: Annotated[
        bool, typer.Option("--write", help="Keep the verdicts with the tasks, for the card to show.")
    ] = False,
    machine: Machine = False,
) -> None:
    """Run every task of the environment through the gate again; the validator's model, where it has one, attempts those
    that pass. Exit code 1 if a task fails. --json gives all receipts."""
    from agent_world.graphs.deps import open_deps
    from agent_world.graphs.validate import validate_all

    settings = load_settings(config, overrides or [])
    bundle = find_bundle(environment, settings)

    async def run() -> "list[Task]":
        async with open_deps(settings) as deps:
            return await validate_all(bundle, deps)

    tasks = asyncio.run(run())
    if write:
        bundle.write_tasks(tasks)
    if machine:
        print(json.dumps([_receipts(task) for task in tasks], ensure_ascii=False, indent=1))
    else:
        _show_receipts(tasks)
    if any(task.validation.status == "rejected" for task in tasks):
        raise typer.Exit(1)


def replay(environment: str, overrides: Overrides = None, config: Config = DEFAULT, machine: Machine = False) -> None:
    """Replay the gold solution of every task on clean copies, twice, at two times; exit code 1 if one fails."""
    from agent_world.graphs.deps import open_deps
    from agent_world.graphs.validate import replay_all

    settings = load_settings(config, overrides or [])
    bundle = find_bundle(environment, settings)

    async def run() -> dict[str, str]:
        async with open_deps(settings) as deps:
            return await replay_all(bundle, deps)

    faults = asyncio.run(run())
    failed = {task: fault for task, fault in faults.items() if fault}
    if machine:
        rows = [{"id": task, "replays": not fault, "reason": fault} for task, fault in faults.items()]
        print(json.dumps(rows, ensure_ascii=False, indent=1))
    else:
        print(f"{len(faults) - len(failed)} of {len(faults)} gold solutions of {environment} replay.")
        for task, fault in failed.items():
            print(f"{task}: {fault}")
    if failed:
        raise typer.Exit(1)


def rescore(
    file: Annotated[
        Path, typer.Argument(help="Stored runs, one trajectory a line (arena/*.jsonl, validation/*.jsonl).")
    ],
    overrides: Overrides = None,
    config: Config = DEFAULT,
    out: Annotated[Path | None, typer.Option(help="Where to write the runs with their new scores.")] = None,
    machine: Machine = False,
) -> None:
    """Grade stored runs again, without inference, and show where the score is another than it was."""
    from agent_world.errors import UsageError
    from agent_world.evals.rescore import rescore_file
    from agent_world.evals.stats import show_rate
    from agent_world.graphs.deps import open_deps
    from agent_world.memory.store import write_records

    settings = load_settings(config, overrides or [])
    open_store(settings)
    if not file.is_file():
        raise UsageError(
            f"There is no file {file}; runs are kept in the folders arena and validation of {settings.workspace}."
        )

    async def run() -> None:
        async with open_deps(settings) as deps:
            found = await rescore_file(file, deps)
        if out:
            write_records(out, found.runs)
        if machine:
            print(found.summary().model_dump_json(indent=1))
            return
        print(f"Before: {show_rate(found.before)}. Now: {show_rate(found.after)}.")
        if found.changes:
            show([change.model_dump() for change in found.changes], machine=False)

    asyncio.run(run())


def _receipts(task: "Task") -> dict[str, object]:
    found = task.validation
    record = found.model_dump(mode="json", include={"status", "attempts", "passes", "checks"})
    return {"id": task.id, "reason": found.reason or "", **record}


def _show_receipts(tasks: "list[Task]") -> None:
    from agent_world.evals.stats import pass_at, show_pass_at

    checks = [check for task in tasks for check in task.validation.checks]
    tried, passed = Counter(c.name for c in checks), Counter(c.name for c in checks if c.passed)
    show([{"check": name, "passed": f"{passed[name]} of {tried[name]}"} for name in tried], machine=False)
    kinds = Counter(task.validation.status for task in tasks)
    print(", ".join(f"{number} {status}" for status, number in sorted(kinds.items())) or "There are no tasks.")
    for found in pass_at((t.validation.attempts, t.validation.passes) for t in tasks if t.validation.attempts):
        print(show_pass_at(found))
    for task in tasks:
        if task.validation.reason:
            print(f"{task.id}: {task.validation.reason}")
