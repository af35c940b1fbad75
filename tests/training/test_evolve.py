"""The main job on three themes, small enough for a test: real browser, real sandbox, real gradient steps."""

import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from agent_world.evals.records import RunReport
from agent_world.memory.store import Store, read_record, read_records
from agent_world.schema import ArenaResult, Trajectory

ROOT = Path(__file__).parents[2]
CONFIG = ROOT / "configs" / "quickstart.yaml"
THEMES = [
    {"kind": "prd", "path": "../examples/themes/storm_watch.md"},
    {"kind": "tool_docs", "path": "../examples/themes/stock_quotes.json"},
    {
        "kind": "mcp",
        "command": ["{python}", "-m", "mcp_server_time"],
        "name": "World clock",
        "description": "Current local time in the large cities of the world, their time zones and countries.",
    },
]
SMALL = [
    f"themes={json.dumps(THEMES)}",
    "rounds=1",
    "mining.pages=4",
    "tools.max_tools=8",
    "tasks.graph=4",
    "tasks.program=2",
    "arena.graph=3",
    "arena.program=1",
    "arena.max_turns=4",
    "growth.environments=1",
    "growth.graph=2",
    "growth.program=1",
    "policy.threads=1",
    "sft.steps=6",
    "sft.trajectories=40",
    "grpo.steps=1",
    "grpo.tasks_per_step=2",
    "grpo.rollouts=4",
    "grpo.turn_tokens=48",
    "grpo.max_tokens=256",
]

pytestmark = [pytest.mark.slow, pytest.mark.browser, pytest.mark.timeout(900)]


def command(workspace: Path, port: int) -> list[str]:
    web = [f"web.port={port}", f"web.search=http://127.0.0.1:{port}/search?q={{query}}&format=json"]
    return [sys.executable, "-m", "agent_world", "evolve", "-c", str(CONFIG), f"workspace={workspace}", *SMALL, *web]


@pytest.fixture(scope="module")
def finished(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, str]:
    """A whole run's workspace and what it printed."""
    workspace = tmp_path_factory.mktemp("evolve") / "whole"
    done = subprocess.run(command(workspace, 8761), capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr[-2000:]
    assert done.stderr == ""
    return workspace, done.stdout


def test_the_loop_runs_through_and_reports_what_it_made(finished: tuple[Path, str]) -> None:
    workspace, printed = finished
    report = read_record(workspace / "report" / "report.json", RunReport)
    assert [row.id for row in report.environments if row.role != "grown"] == Store(workspace).ids()[:3]
    assert report.task_count == sum(len(bundle.tasks()) for bundle in Store(workspace).bundles()) >= 14
    assert [result.stage for result in report.arena] == ["before SFT", "after SFT", "round 1"]
    assert all(result.overall.scored > 0 and result.overall.high > result.overall.low for result in report.arena)
    assert (workspace / "report" / "report.html").stat().st_size > 50_000
    for stage in ("Themes", "Mining", "Tools", "Taxonomy", "Tasks", "SFT", "Arena", "Diagnosis", "GRPO", "Report"):
        assert f"\n{stage}" in printed


def test_every_task_that_was_kept_carries_its_receipts(finished: tuple[Path, str]) -> None:
    for bundle in Store(finished[0]).bundles():
        for task in bundle.tasks():
            assert task.validation.status == "gate only"
            assert task.validation.checks
            assert all(check.passed for check in task.validation.checks)


def test_training_took_gradient_steps_and_its_runs_were_graded(finished: tuple[Path, str]) -> None:
    workspace = finished[0]
    weights = {(workspace / "policies" / name / "model.safetensors").read_bytes() for name in ("initial", "sft")}
    assert len(weights) == 2
    steps = [json.loads(line) for line in (workspace / "policies/round_1/metrics.jsonl").read_text().splitlines()]
    assert any({"reward", "kl", "frac_reward_zero_std"} <= set(step) for step in steps)
    for path in (workspace / "arena").glob("*.json"):
        result = read_record(path, ArenaResult)
        runs = read_records(workspace / result.trajectories, Trajectory)
        assert len(runs) == result.overall.scored + result.overall.unscored


def test_a_finished_run_finishes_in_seconds_and_changes_nothing(finished: tuple[Path, str]) -> None:
    before = made(finished[0])
    started = time.monotonic()
    again = subprocess.run(command(finished[0], 8761), capture_output=True, text=True, check=True)
    assert "This run is finished" in again.stdout
    assert time.monotonic() - started < 30
    assert made(finished[0]) == before


def test_a_run_killed_again_and_again_makes_the_same_environments_and_tasks(
    finished: tuple[Path, str], tmp_path: Path
) -> None:
    """kill -9 in the middle of every long stage, then a run that is left alone."""
    workspace = tmp_path / "killed"
    stages = {
        "mining": "mined/*/raw/*", "tools": "done/tools/*", "tasks": "done/tasks/*", "SFT": "policies/initial/*",
        "arena": "policies/sft/complete", "diagnosis": "arena/after_sft.json", "growth": "diagnoses/round_1.json",
        "GRPO": "done/targeted_1/*", "last arena": "policies/round_1/complete",
    }  # fmt: skip
    for sign in stages.values():
        kill_when(command(workspace, 8761), workspace, sign)
    last = subprocess.run(command(workspace, 8761), capture_output=True, text=True, check=False)
    assert last.returncode == 0, last.stderr[-2000:]
    assert made(workspace) == made(finished[0])


def made(workspace: Path) -> dict[str, bytes]:
    """Every file of every environment."""
    root = workspace / "environments"
    files = sorted(p for p in root.rglob("*") if p.is_file() and p.name != "provenance.json")  # which tells the time
    return {p.relative_to(root).as_posix(): p.read_bytes() for p in files}


def kill_when(arguments: list[str], workspace: Path, sign: str) -> None:
    """Start, wait until a file like `sign` is there, and kill without warning."""
    process = subprocess.Popen(arguments, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True)
    deadline = time.monotonic() + 120
    while not list(workspace.glob(sign)):
        assert process.poll() is None, process.communicate()[1][-2000:]
        assert time.monotonic() < deadline, f"no {sign} in two minutes"
        time.sleep(0.05)
    os.kill(process.pid, signal.SIGKILL)
    process.communicate()
