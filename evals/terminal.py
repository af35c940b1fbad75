"""The report as tables on a terminal, for widths from 80 columns."""

from collections.abc import Iterable, Sequence

from rich.console import Console
from rich.table import Table

from agent_world.evals.records import RunReport
from agent_world.evals.stats import show_difference, show_rate

REASONS = 6


def render_terminal(report: RunReport, console: Console) -> None:
    """Print what a run made and how the policy did: every rate with denominator and 95 % interval."""
    console.print()
    console.print(report.engines, style="dim", markup=False)
    for table in (
        _environments(report),
        _tasks(report),
        _arena(report),
        _weaknesses(report),
        _costs(report),
        _seconds(report),
    ):
        if table.row_count:
            console.print()
            console.print(table)


def _table(title: str, columns: Sequence[str], right: Iterable[str] = ()) -> Table:
    numbers = set(right)
    table = Table(title=title, title_justify="left", title_style="bold", box=None, pad_edge=False, padding=(0, 2, 0, 0))
    for column in columns:
        wraps = column not in numbers
        table.add_column(column, justify="left" if wraps else "right", overflow="fold", no_wrap=not wraps)
    return table


def _environments(report: RunReport) -> Table:
    title = (
        f"{len(report.environments)} environments, {report.tools_kept} tools kept and {report.tools_dropped} dropped, "
        f"{report.task_count} tasks"
    )
    numbers = ("tables", "rows", "tools", "graph", "program")
    table = _table(title, ("environment", "type", "use", *numbers), numbers)
    for row in report.environments:
        tools = f"{row.tools_kept} (-{row.tools_dropped})" if row.tools_dropped else str(row.tools_kept)
        tasks = (str(row.tasks.get(strategy, 0)) for strategy in ("graph", "program"))
        table.add_row(row.id, row.type, row.role, str(row.tables), str(row.rows), tools, *tasks)
    return table


def _tasks(report: RunReport) -> Table:
    table = _table("Not kept, and why", ("what", "number", "reason"), ("number",))
    for kind in ("theme", "environment", "tool", "task"):
        reasons = list(report.reasons(kind).items())
        for reason, number in reasons[:REASONS]:
            table.add_row(kind, str(number), reason)
        if len(reasons) > REASONS:
            table.add_row(kind, str(sum(n for _, n in reasons[REASONS:])), f"{len(reasons) - REASONS} other reasons")
    return table


def _arena(report: RunReport) -> Table:
    table = _table(
        "Arena: share of tasks passed [95 % Wilson interval]", ("stage", "passed", "tool errors"), ("tool errors",)
    )
    for result in (*report.arena, *report.fresh):
        table.add_row(result.stage, show_rate(result.overall), str(result.tool_errors))
    for change in report.differences:
        table.add_row(f"{change.first} → {change.second}", show_difference(change), "")
    return table


def _weaknesses(report: RunReport) -> Table:
    table = _table("Weaknesses found, weakest first", ("round", "environment", "passed", "guideline"), ("round",))
    for diagnosis in report.diagnoses:
        for weakness in diagnosis.weaknesses:
            rate = show_rate(weakness.rate)
            table.add_row(str(diagnosis.round), weakness.environment, rate, weakness.guideline.text)
    return table


def _costs(report: RunReport) -> Table:
    columns = ("role", "model", "calls", "tokens in", "tokens out")
    table = _table("Chat models", columns, columns[2:])
    for cost in report.costs:
        table.add_row(cost.role, cost.model, str(cost.calls), str(cost.input_tokens), str(cost.output_tokens))
    return table


def _seconds(report: RunReport) -> Table:
    table = _table(f"{report.seconds:,.0f} seconds in all", ("stage", "seconds", "what came of it"), ("seconds",))
    for stage in report.stages:
        table.add_row(stage.name, f"{stage.seconds:,.1f}", stage.line)
    return table
