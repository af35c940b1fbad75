import base64
import io
import json
import re
import xml.etree.ElementTree as ET
from pathlib import Path

import pytest
from playwright.async_api import async_playwright
from rich.console import Console

from agent_world.evals.records import (
    RunReport,
    count_tasks,
    environment_row,
    read_curve,
    read_tool_graph,
)
from agent_world.evals.report import render_terminal, write_report
from agent_world.graphs.deps import open_deps
from agent_world.memory.store import read_record
from agent_world.schema import Dropped
from agent_world.settings import Settings, WebSettings
from agent_world.tools.web.browser import _launch
from tests.evals.example_report import NAMES, example_report
from tests.library_tasks import library_tasks
from tests.worlds import make_library


@pytest.fixture(scope="module")
def written(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return write_report(example_report(), tmp_path_factory.mktemp("report"))


def terminal(report: RunReport, width: int = 100) -> str:
    shown = io.StringIO()
    console = Console(width=width, file=shown, highlight=False)
    render_terminal(report, console)
    return shown.getvalue()


def test_the_terminal_shows_every_rate_with_denominator_and_interval() -> None:
    text = terminal(example_report())
    assert "33 of 50, 66 % [52, 78]; 2 unscored" in text
    assert "before SFT → after SFT" in text
    assert "+44 points [+31, +58], 52 pairs (23 gained, 0 lost)" in text
    assert re.search(r"round 2 +33 of 50.*9 *$", text, re.MULTILINE), "tool errors are shown beside the rate"
    assert re.search(r"task +14 +trivial", text)
    assert "2 of 13, 15 % [4, 42]" in text
    assert "state not tracked" in text


@pytest.mark.parametrize("width", [80, 140])
def test_the_terminal_tables_fit_and_name_every_environment(width: int) -> None:
    lines = terminal(example_report(), width).splitlines()
    assert max(map(len, lines)) <= width
    squeezed = "".join("".join(line.split()) for line in lines)
    assert "285toolskeptand19dropped,235tasks" in squeezed


def test_an_empty_run_still_reports(tmp_path: Path) -> None:
    report = RunReport(workspace="runs/none", engines="All procedural.")
    assert "All procedural." in terminal(report)
    assert "<h2" not in write_report(report, tmp_path).read_text()


def test_the_json_is_the_whole_report(written: Path) -> None:
    assert read_record(written.parent / "report.json", RunReport) == example_report()


def test_the_page_needs_nothing_outside_itself(written: Path) -> None:
    page = written.read_text()
    assert re.findall(r"""(?:src|href)=["'](?!data:|#)""", page) == []
    assert "<script" not in page
    assert "url(" not in page
    assert "http://" not in page.split("</style>")[1]


def test_the_page_holds_every_picture_and_number(written: Path) -> None:
    page = written.read_text()
    pictures = re.findall(r'src="data:image/svg\+xml;base64,([^"]+)" alt="([^"]+)"', page)
    assert [alt for _, alt in pictures] == [
        "Pass rate by stage", "Tools by environment", "Tool graph of flights of new york", "Tasks kept by level",
        "Training curves", "Seconds by stage",
    ]  # fmt: skip
    for encoded, _ in pictures:
        assert ET.fromstring(base64.b64decode(encoded)).tag.endswith("svg")
    assert all(name in page for name in NAMES)
    assert "33 of 50, 66 % [52, 78]; 2 unscored" in page
    assert "arena/round_2.jsonl" in page
    assert page.count("state not tracked 7") == 2


def test_the_same_report_is_the_same_page(written: Path, tmp_path: Path) -> None:
    assert write_report(example_report(), tmp_path).read_bytes() == written.read_bytes()


def test_text_from_the_web_cannot_become_markup(tmp_path: Path) -> None:
    hostile = Dropped(kind="theme", id="x", reason="<img src=x onerror=alert(1)>")
    page = write_report(RunReport(workspace="w", engines="", dropped=(hostile,)), tmp_path).read_text()
    assert "<img src=x" not in page
    assert "&lt;img src=x" in page


@pytest.mark.browser
async def test_the_page_fits_wide_and_narrow_screens(written: Path) -> None:
    async with async_playwright() as driver:
        browser = await _launch(driver.chromium, WebSettings())
        try:
            for width in (1200, 400):
                page = await browser.new_page(viewport={"width": width, "height": 900})
                faults: list[str] = []
                page.on("console", lambda message, faults=faults: faults.append(message.text))
                await page.goto(written.as_uri())
                widths = await page.evaluate("[...document.images].map(image => image.naturalWidth)")
                assert len(widths) == 6
                assert min(widths) > 100
                assert await page.evaluate("document.documentElement.scrollWidth") == width
                assert faults == []
        finally:
            await browser.close()


def test_curves_and_tool_graphs_are_read_from_the_workspace(tmp_path: Path) -> None:
    metrics = tmp_path / "metrics.jsonl"
    metrics.write_text('{"step": 10, "loss": 2.5}\n{"step": 20, "loss": 1.5}\n{"step": 20, "train_runtime": 9}\n')
    curve = read_curve(metrics, "loss", "SFT: loss")
    assert curve
    assert curve.points == ((10.0, 2.5), (20.0, 1.5))
    assert read_curve(metrics, "reward", "r") is None
    assert read_curve(tmp_path / "none.jsonl", "loss", "r") is None

    bundle = make_library(tmp_path / "library")
    assert read_tool_graph(bundle) is None
    edges = [("a", "b", "weak"), ("b", "a", "weak"), ("a", "c", "strong"), ("b", "c", "independent")]
    shape = {
        "nodes": [{"tool": name} for name in "abc"],
        "edges": [{"source": s, "target": t, "kind": k, "weight": 1, "bindings": []} for s, t, k in edges],
    }
    (bundle.root / "tool_graph.json").write_text(json.dumps(shape))
    graph = read_tool_graph(bundle)
    assert graph
    assert [(e.source, e.target, e.kind) for e in graph.edges] == [("a", "b", "weak"), ("a", "c", "strong")]


async def test_rows_and_counts_come_from_the_bundle(tmp_path: Path) -> None:
    bundle = make_library(tmp_path / "environments" / "library")
    async with open_deps(Settings(workspace=tmp_path)) as deps:
        tasks = await library_tasks(bundle, deps.runtime)
    row = environment_row(bundle.environment(), tasks, "training")
    assert (row.type, row.cluster, row.tables, row.rows, row.tools_kept) == ("Culture", "Libraries", 3, 57, 10)
    assert row.tasks == {"graph": 10, "program": 1}
    assert count_tasks(tasks) == {"1": {"graph": 6}, "2": {"graph": 4}, "3": {"program": 1}}
