"""Write a run's report: `report.json`, and one HTML page that needs nothing else (no network, no scripts)."""

import base64
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from agent_world.evals.pictures import draw_all
from agent_world.evals.records import RunReport, StageSeconds
from agent_world.evals.stats import percent, show_difference, show_rate
from agent_world.evals.terminal import render_terminal
from agent_world.memory.store import write_record, write_text
from agent_world.schema import ArenaResult, Rate

if TYPE_CHECKING:
    from jinja2 import Environment

__all__ = ["RunReport", "StageSeconds", "render_terminal", "write_report"]


def write_report(report: RunReport, out: Path) -> Path:
    """Write `report.json` and `report.html` into folder `out`; the path of the page. The same report, the same bytes.

    Raises `StoreError` when the folder cannot be written.
    """
    write_record(out / "report.json", report)
    page = out / "report.html"
    write_text(page, render_page(report))
    return page


def render_page(report: RunReport) -> str:
    environment = open_templates()
    pictures = {name: embedded(svg) for name, svg in draw_all(report).items()}
    splits = {
        "type": split(report.arena, "by_type"),
        "strategy": split(report.arena, "by_strategy"),
        "level": split(report.arena, "by_level"),
        "environment": split(report.arena, "by_environment"),
    }
    return environment.get_template("report.html.jinja").render(report=report, pictures=pictures, splits=splits)


def open_templates() -> "Environment":
    """The templates of all pages, with what they need to show rates."""
    from jinja2 import Environment, FileSystemLoader, StrictUndefined

    environment = Environment(
        loader=FileSystemLoader(Path(__file__).parent),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    environment.filters |= {"percent": percent, "rate": show_rate, "difference": show_difference, "plain": plain}
    return environment


def split(stages: Sequence[ArenaResult], by: str) -> list[tuple[str, list[Rate | None]]]:
    """A row for each group that any stage has: its rate in every stage."""
    tables: list[dict[str, Rate]] = [getattr(stage, by) for stage in stages]
    names = sorted({name for table in tables for name in table})
    return [(name, [table.get(name) for table in tables]) for name in names]


def plain(name: str) -> str:
    return name.replace("_", " ")


def embedded(svg: str) -> str:
    """A picture as an address that needs no file beside the page."""
    return "data:image/svg+xml;base64," + base64.b64encode(svg.encode()).decode()
