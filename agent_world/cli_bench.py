"""The verbs of `agent-world bench`: certify a backend of the runtime, and measure."""

import asyncio
import json
from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

import typer
from rich.console import Console
from rich.table import Table

from agent_world.cli_options import Machine, show
from agent_world.errors import UsageError
from agent_world.progress import Progress
from agent_world.settings import Rung, load_settings

if TYPE_CHECKING:
    from agent_world.evals.bench.figures import Figure
    from agent_world.evals.bench.registry import CaseResult, ConformanceReport

bench_app = typer.Typer(no_args_is_help=True, help="Certify a runtime backend, and measure.")
_STATUS = {"passed": "[green]passed[/]", "failed": "[red]FAILED[/]", "not_applicable": "[dim]not applicable[/]"}


@bench_app.command("list")
def list_benchmarks(machine: Machine = False) -> None:
    """What can be run."""
    rows = {
        "conformance": "Does a backend keep the runtime's contract: behaviour and containment, case by case?",
        "runtime": "How fast and how small is the local runtime, against exec, subprocesses and MCP servers?",
        "tasks": "How many gated tasks, how fast, how long and how varied, of the environments of a workspace?",
        "tau2-gold": "Do tools written from tau2's retail data and specs accept its tasks' gold action lists?",
        "taxonomy": "Many servers as themes: how fast, and do the clusters agree with a catalogue's own categories?",
    }
    show([{"name": name, "question": question} for name, question in rows.items()], machine)


@bench_app.command()
def conformance(
    backend: Annotated[Literal["local", "e2b", "mcp"], typer.Option(help="Backend to certify.")] = "local",
    rung: Annotated[Rung | None, typer.Option(help="Force the local isolation down to this.")] = None,
    config: Annotated[Path | None, typer.Option("--config", "-c", help="YAML file whose `runtime` is used.")] = None,
    only: Annotated[str, typer.Option(help="Only cases whose group or name contains this.")] = "",
    jobs: Annotated[int, typer.Option(min=1, help="Cases at once; above 1 deadlines are not judged.")] = 1,
    machine: Machine = False,
) -> None:
    """Run every case against a backend; exit code 1 if one fails."""
    from agent_world.evals.bench.backends import subject
    from agent_world.evals.bench.conformance import DEADLINE_TOLERANCE_S

    runtime = load_settings(config).runtime if config else None
    chosen = subject(backend, rung, runtime)
    progress = Progress(Console(highlight=False, stderr=machine))
    done: Counter[str] = Counter()

    def note(result: "CaseResult") -> None:
        done[result.status] += 1
        if result.status == "failed":  # at once, so that a run that is broken off has named it
            progress.say(f"  failed: {result.group}: {result.name}: {result.reason}")
        progress.note(f"{done.total()} done, {done['failed']} failed; last: {result.name}")

    def start(protections: Sequence[str]) -> None:
        for line in protections:
            progress.say(f"  {line}")

    progress.say(f"Conformance of backend {chosen.name}. The protections that hold:")
    with progress.stage("cases"):
        report = asyncio.run(
            chosen.certify(
                only=only,
                jobs=jobs,
                tolerance_s=DEADLINE_TOLERANCE_S if jobs == 1 else None,
                on_start=start,
                on_result=note,
            )
        )
    if not report.results:
        raise UsageError(f"No case contains {only!r}; leave --only out to see them all.")
    _print(report, machine)
    if not report.passed:
        raise typer.Exit(1)


@bench_app.command()
def runtime(
    instances: Annotated[int, typer.Option(min=1, help="Instances held alive at once.")] = 1000,
    repeat: Annotated[int, typer.Option(min=1, help="How often starts are measured; calls ten times as often.")] = 5,
    machine: Machine = False,
) -> None:
    """Measure the local runtime against exec, subprocesses and MCP servers; exit code 1 if a target is missed."""
    from agent_world.evals.bench.runtime import bench_runtime

    progress = Progress(Console(highlight=False, stderr=machine))
    figures = asyncio.run(bench_runtime(instances, repeat, progress))
    show_figures(figures, machine)
    if any(figure.met is False for figure in figures):
        raise typer.Exit(1)


@bench_app.command()
def tasks(
    workspace: Annotated[Path, typer.Argument(help="A workspace, or the folder of one environment.")] = Path(
        "runs/quickstart"
    ),
    each: Annotated[int | None, typer.Option(min=2, help="Tasks an environment; 60, or 220 of one alone.")] = None,
    jobs: Annotated[int, typer.Option(min=1, help="Environments at once.")] = 2,
    seed: Annotated[int, typer.Option(help="Of all that is drawn.")] = 0,
    machine: Machine = False,
) -> None:
    """Give copies of the environments new tasks and measure them; exit code 1 if a target is missed."""
    from agent_world.evals.bench.tasks import measure_tasks

    progress = Progress(Console(highlight=False, stderr=machine))
    with progress.stage("tasks"):
        report = measure_tasks(workspace, each, jobs, seed, progress.note)
    if machine:
        print(report.model_dump_json(indent=1))
    else:
        show_figures(report.figures, machine)
        show([row.model_dump() for row in report.environments], machine)
        show([{"not kept because of": reason, "candidates": n} for reason, n in report.rejections.items()], machine)
    if any(figure.met is False for figure in report.figures):
        raise typer.Exit(1)


@bench_app.command()
def taxonomy(
    data: Annotated[Path, typer.Option(help="Crawl of servers with labels.primary, as JSON Lines (.gz too).")],
    machine: Machine = False,
) -> None:
    """Themes and taxonomy of many servers, against TF-IDF with k-means."""
    from agent_world.evals.bench.taxonomy import measure_taxonomy

    progress = Progress(Console(highlight=False, stderr=machine))
    with progress.stage("taxonomy"):
        figures = asyncio.run(measure_taxonomy(data, progress.note))
    show_figures(figures, machine)


@bench_app.command("tau2-gold")
def tau2_gold(
    data: Annotated[Path, typer.Option(help="Folder of tau2-bench's retail domain: db, tools and tasks as JSON.")],
    machine: Machine = False,
) -> None:
    """Import tau2's retail data, write its tools, and replay the gold action lists of its tasks on them."""
    from agent_world.evals.bench.tau2_gold import replay_gold

    progress = Progress(Console(highlight=False, stderr=machine))
    with progress.stage("gold actions"):
        report = asyncio.run(replay_gold(data, progress.note))
    if machine:
        found = report.model_dump(mode="json") | {"summary": report.summary(), "reasons": report.reasons()}
        print(json.dumps(found, ensure_ascii=False, indent=1))
        return
    show([{"what": what, "number": number} for what, number in report.summary().items()], machine)
    show(report.reasons(), machine)


def _print(report: "ConformanceReport", machine: bool) -> None:
    if machine:
        print(report.model_dump_json(indent=1))
        return
    table = Table(box=None)
    for name in ("group", "case", "result", "reason"):
        table.add_column(name, overflow="fold")
    for result in report.results:
        said = result.reason or "; ".join(f"{f.name} {f.value:.1f} {f.unit}" for f in result.figures)
        table.add_row(result.group, result.name, _STATUS[result.status], said)
    console = Console(highlight=False)
    console.print(table)
    counts = Counter(result.status.replace("_", " ") for result in report.results)
    console.print(f"{report.backend}: " + ", ".join(f"{n} {status}" for status, n in sorted(counts.items())) + ".")


def show_figures(figures: "Sequence[Figure]", machine: bool) -> None:
    """A list of figures: JSON for machines, else a table with targets beside the values."""
    if machine:
        print(json.dumps([figure.model_dump(mode="json") for figure in figures], indent=1))
        return
    table = Table(box=None)
    for name in ("figure", "value", "against", "theirs", "ratio", "target", "met"):
        table.add_column(name, justify="left" if name in ("figure", "against") else "right")
    for figure in figures:
        table.add_row(*_cells(figure))
    console = Console(highlight=False)
    console.print(table)
    for note in dict.fromkeys(f"{figure.name}: {figure.note}" for figure in figures if figure.note):
        console.print(f"[dim]{note}[/]", soft_wrap=True)


def _cells(figure: "Figure") -> tuple[str, ...]:
    def number(value: float | None, unit: Any = "") -> str:
        return (
            ""
            if value is None
            else f"{value:,.4g} {unit}".rstrip()
            if value < 1000
            else f"{value:,.0f} {unit}".rstrip()
        )

    target = figure.target
    sign = "" if target is None else ("≥ " if target.kind == "at_least" else "≤ ") + number(target.bound)
    met = "" if figure.met is None else "[green]yes[/]" if figure.met else "[red]NO[/]"
    ratio = "" if figure.ratio is None else f"{number(figure.ratio)}x"
    theirs = number(figure.baseline, figure.unit)
    return figure.name, number(figure.value, figure.unit), figure.against or "", theirs, ratio, sign, met
