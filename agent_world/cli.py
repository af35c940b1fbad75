"""The command line `agent-world`. Exit codes: 0 done, 1 something failed, 2 wrong usage, 130 stopped by Ctrl-C.

A failure is one sentence that names the thing and the remedy; `--traceback` before the verb shows where it came from.
"""

import asyncio
import errno
import json
import sqlite3
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Annotated

import typer
from rich.console import Console
from typer.exceptions import TyperException

from agent_world.cli_bench import bench_app
from agent_world.cli_blind import blind_tasks
from agent_world.cli_factory import add_verbs
from agent_world.cli_graph import draw_tool_graph
from agent_world.cli_import import database as import_database
from agent_world.cli_options import DEFAULT, Config, Fresh, Machine, Overrides, find_bundle, open_store, show
from agent_world.cli_stats import stats
from agent_world.cli_tasks import add_task_verbs
from agent_world.cli_themes import app as themes_app
from agent_world.errors import AgentWorldError, UsageError
from agent_world.progress import Progress, quiet_libraries
from agent_world.settings import load_settings

app = typer.Typer(no_args_is_help=True, add_completion=False, help=__doc__, pretty_exceptions_enable=False)
tasks_app = typer.Typer(no_args_is_help=True, help="Verifiable tasks of an environment.")
import_app = typer.Typer(no_args_is_help=True, help="Environments made of what exists already.")
app.add_typer(themes_app, name="themes")
app.add_typer(tasks_app, name="tasks")
app.add_typer(import_app, name="import")
app.add_typer(bench_app, name="bench")
import_app.command("database")(import_database)
tasks_app.command("blind")(blind_tasks)
add_verbs(app)
app.command()(stats)
add_task_verbs(tasks_app)
tasks_app.command("graph")(draw_tool_graph)

STOPPED = 130


@app.callback()
def _root(
    traceback: Annotated[bool, typer.Option("--traceback", help="Show where an error came from.")] = False,
) -> None:
    """Handled in `main`: the flag must work even where parsing fails."""


@app.command()
def evolve(
    config: Config = DEFAULT,
    overrides: Overrides = None,
    fresh: Fresh = False,
    machine: Machine = False,
) -> None:
    """Run the whole loop, or go on with a run that was stopped."""
    from agent_world.evals.report import render_terminal
    from agent_world.training.evolve import evolve as run

    settings = load_settings(config, overrides or [])
    progress = Progress(Console(highlight=False, stderr=machine))
    report = asyncio.run(run(settings, fresh=fresh, progress=progress))
    if machine:
        print(report.model_dump_json(indent=1))
        return
    render_terminal(report, progress.console)
    progress.say(f"The same with pictures: {settings.workspace / 'report' / 'report.html'}")


@app.command()
def build(
    config: Config = DEFAULT,
    overrides: Overrides = None,
    fresh: Fresh = False,
    dry_run: Annotated[bool, typer.Option("--dry-run", help="Say what it would take, and make nothing.")] = False,
) -> None:
    """Themes, databases, tools, taxonomy and tasks: the factory alone, without training."""
    from agent_world.training.evolve import build as run
    from agent_world.training.stages.estimate import estimate

    settings = load_settings(config, overrides or [])
    if dry_run:
        for line in asyncio.run(estimate(settings)):
            print(line)
        return
    asyncio.run(run(settings, progress=Progress(), fresh=fresh))


@app.command("list")
def list_environments(config: Config = DEFAULT, overrides: Overrides = None, machine: Machine = False) -> None:
    """The environments of the workspace."""
    rows = []
    for bundle in open_store(load_settings(config, overrides or [])).bundles():
        head = bundle.environment()
        tables = head.database.tables
        row = {"id": head.id, "type": head.taxonomy[0] if head.taxonomy else "", "tables": len(tables)}
        counts = {"rows": sum(t.rows for t in tables), "tools": len(bundle.tools()), "tasks": len(bundle.tasks())}
        rows.append(row | counts | {"hash": head.content_hash[:12]})
    show(rows, machine)


@app.command()
def search(
    query: Annotated[str, typer.Argument(help='Plain words, for example "flights of an airline".')],
    overrides: Overrides = None,
    config: Config = DEFAULT,
    limit: int = 8,
    machine: Machine = False,
) -> None:
    """Find themes, environments and tools by meaning."""
    from agent_world.memory.index import search_workspace

    settings = load_settings(config, overrides or [])
    if not (settings.workspace / "themes.jsonl").exists():
        open_store(settings)
    hits = search_workspace(settings.workspace, query, limit, config=settings.index)
    rows = [{"score": f"{h.score:.2f}", "kind": h.kind, "id": h.id, "text": h.text[:90]} for h in hits]
    show(rows, machine)


@tasks_app.command("list")
def list_tasks(
    environment: str, overrides: Overrides = None, config: Config = DEFAULT, machine: Machine = False
) -> None:
    """Questions and reference answers of one environment."""
    rows = [
        {"id": t.id, "strategy": t.strategy, "level": t.difficulty.level, "question": t.question}
        | {"answer": json.dumps(t.reference_answer, ensure_ascii=False), "status": t.validation.status}
        for t in find_bundle(environment, load_settings(config, overrides or [])).tasks()
    ]
    show(rows, machine)


@tasks_app.command("synthesize")
def synthesize_tasks(environment: str, config: Config = DEFAULT, overrides: Overrides = None) -> None:
    """Make the environment's tasks anew."""
    from agent_world.graphs.deps import open_deps
    from agent_world.graphs.synthesize import SynthesisRequest, synthesize

    settings = load_settings(config, overrides or [])
    bundle = find_bundle(environment, settings)

    async def run() -> None:
        async with open_deps(settings, Progress()) as deps:
            wanted = SynthesisRequest(graph=settings.tasks.graph, program=settings.tasks.program, seed=settings.seed)
            report = await synthesize(bundle, wanted, deps)
        print(f"{len(report.kept)} tasks kept, {len(report.dropped)} candidates rejected by the gate.")
        if report.reworded:
            print(f"{report.reworded} questions that read like another were put in other words.")
        if report.lowered:
            print(f"Levels that the data did not allow: {', '.join(f'{k} ({n})' for k, n in report.lowered.items())}.")

    asyncio.run(run())


@import_app.command("mcp")
def import_mcp(
    command: Annotated[list[str], typer.Argument(help="After --: the server's program and arguments.")],
    name: Annotated[str, typer.Option(help="Of the new environment.")],
    data: Annotated[Path | None, typer.Option(help="Folder or file that the server works on.")] = None,
    readable: Annotated[list[Path] | None, typer.Option(help="A folder that the server may read.")] = None,
    variables: Annotated[list[str] | None, typer.Option("--env", help="NAME=VALUE for the server.")] = None,
    learning: Annotated[bool, typer.Option("--learn", help="Learn by test calls what the schemas do not say.")] = False,
    config: Config = DEFAULT,
) -> None:
    """Make an environment of an MCP server: `{data}` in the command or in a value is its private copy of the data."""
    from agent_world.memory.import_server import import_server
    from agent_world.settings import McpRuntime
    from agent_world.tools.tables import snake_case

    pairs = [item.partition("=") for item in variables or ()]
    if wrong := [item for item in variables or () if "=" not in item]:
        raise UsageError(f"--env {wrong[0]!r} must have the form NAME=VALUE.")
    runtime = McpRuntime(command=tuple(command), env={k: v for k, _, v in pairs}, readable=tuple(readable or ()))
    root = load_settings(config).workspace / "environments" / (snake_case(name) or "_")
    bundle = asyncio.run(import_server(runtime, root, name=name, data=data, learning=learning))
    files = sum(path.is_file() for path in bundle.database.rglob("*"))
    print(f"{bundle.id}: {len(bundle.tools())} tools, {files} files in {bundle.root}. It runs with the setting")
    print("runtime=" + runtime.model_dump_json(exclude_defaults=False, include={"kind", "command", "env", "readable"}))


@app.command("specs")
def read_specs(
    file: Annotated[Path, typer.Argument(help="JSON, JSON lines or YAML (OpenAPI), also gzipped.")],
    machine: Machine = False,
) -> None:
    """Read tool specifications: how many load, what was changed in them, and why the others do not."""
    from agent_world.tools.specs import read_file

    found = read_file(file)
    summary = found.summary()
    if machine:
        print(json.dumps(summary | {"rejections": list(map(str, found.rejected))}, ensure_ascii=False, indent=1))
        return
    rows = [{"what": what, "number": summary[what]} for what in ("servers", "weak", "equivalent")]
    rows.insert(1, {"what": "tools loaded", "number": summary["tools"]})
    rows += [{"what": f"rejected: {reason}", "number": n} for reason, n in summary["rejected"].items()]
    rows += [{"what": f"changed: {what}", "number": n} for what, n in summary["changes"].items()]
    show(rows, machine)


@app.command()
def report(config: Config = DEFAULT, overrides: Overrides = None, machine: Machine = False) -> None:
    """Show the report of a finished run again."""
    from agent_world.evals.report import RunReport, render_terminal
    from agent_world.memory.store import read_record

    settings = load_settings(config, overrides or [])
    found = read_record(settings.workspace / "report" / "report.json", RunReport)
    if machine:
        print(found.model_dump_json(indent=1))
    else:
        render_terminal(found, Console(highlight=False))
        print(f"The same with pictures: {settings.workspace / 'report' / 'report.html'}")


def main(arguments: Sequence[str] | None = None) -> int:
    """Entry point: runs a verb and turns every failure into one sentence and an exit code."""
    quiet_libraries()
    words = list(sys.argv[1:] if arguments is None else arguments)
    if "--traceback" in words:
        words.remove("--traceback")
        return _run(words)
    try:
        return _run(words)
    except KeyboardInterrupt:
        return _fail("Stopped. What is finished is kept; run the same command again to go on.", STOPPED)
    except AgentWorldError as error:
        return _fail(str(error), error.exit_code)
    except OSError as error:
        return _fail(_machine_trouble(error), 1)
    except sqlite3.OperationalError as error:
        return _fail(f"A database could not be written ({error}); free some space, then run the same command again.", 1)
    # Broad, at the edge of the run: whatever is left is a fault of ours, and a person gets a sentence, not a trace.
    except Exception as error:
        where = "agent-world --traceback " + " ".join(words)
        return _fail(f"Unexpected {type(error).__name__}: {error}. This is a fault of ours; `{where}` shows where.", 1)


def _run(words: list[str]) -> int:
    try:
        code = app(words, standalone_mode=False)
    except TyperException as error:
        message = error.format_message().rstrip(".")
        return _fail(f"{message}. See agent-world --help.", 2) if message else 2  # no message: help was shown
    except typer.Abort as error:
        raise KeyboardInterrupt from error
    if code == STOPPED:  # what typer makes of Ctrl-C
        raise KeyboardInterrupt
    return code if isinstance(code, int) else 0


def _machine_trouble(error: OSError) -> str:
    what = f" ({error.filename})" if error.filename else ""
    if error.errno in (errno.ENOSPC, errno.EDQUOT):
        return f"The disk is full{what}; free some space, then run the same command again: it goes on."
    return f"{error.strerror or error}{what}; mend that, then run the same command again: it goes on."


def _fail(sentence: str, code: int) -> int:
    print(sentence, file=sys.stderr)
    return code
