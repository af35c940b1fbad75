"""The factory alone, killed without warning at random moments and started again: it makes what it would have made."""

import json
import os
import random
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from agent_world.memory.store import read_record
from agent_world.training.stages.factory_report import FactoryReport
from tests.graphs.test_resume import ROOT, made
from tests.tools.web.sites import free_port

DOCS = [("prd", "storm_watch.md"), ("prd", "lift_maintenance.md"), ("tool_docs", "stock_quotes.json")]
THEMES = [{"kind": kind, "path": f"../examples/themes/{name}"} for kind, name in DOCS]
SMALL = [
    f"themes={json.dumps(THEMES)}", "mining.pages=3", "complexify.rounds=2", "complexify.pages=2", "tools.max_tools=6",
    "mining.meaning=false",  # no time goes into loading the model at every start
]  # fmt: skip
KILLS = 10
MOST_FILES = 10
"""New files between a start and its kill, at most."""


def start(workspace: Path, port: int) -> "subprocess.Popen[str]":
    web = [f"web.port={port}", f"web.search=http://127.0.0.1:{port}/search?q={{query}}&format=json"]
    command = [sys.executable, "-m", "agent_world", "build", "-c", str(ROOT / "configs" / "discovery.yaml")]
    command += [f"workspace={workspace}", *SMALL, *web]
    return subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)


def files(workspace: Path) -> set[str]:
    """All that is there now; what is renamed while we look is passed over."""
    return {str(Path(folder, name)) for folder, _, names in os.walk(workspace) for name in names}


def kill_after(process: "subprocess.Popen[str]", workspace: Path, new: int) -> None:
    """kill -9 once `new` more files have appeared, or the process has ended."""
    before, deadline = files(workspace), time.monotonic() + 300
    while len(files(workspace) - before) < new and process.poll() is None:
        assert time.monotonic() < deadline, "nothing new in five minutes"
        time.sleep(0.02)
    process.send_signal(signal.SIGKILL)
    process.communicate()


@pytest.mark.slow
@pytest.mark.browser
@pytest.mark.timeout(900)
def test_a_build_killed_at_ten_random_moments_makes_the_same_bundles(tmp_path: Path) -> None:
    whole, broken, port, rng = tmp_path / "whole", tmp_path / "broken", free_port(), random.Random("kills")
    process = start(whole, port)
    printed, errors = process.communicate()
    assert process.returncode == 0, errors[-2000:]
    for _ in range(KILLS):
        kill_after(start(broken, port), broken, rng.randint(1, MOST_FILES))
    process = start(broken, port)
    _, errors = process.communicate()
    assert process.returncode == 0, errors[-2000:]
    assert made(broken) == made(whole)

    report = read_record(whole / "report" / "factory.json", FactoryReport)
    assert {"storm_watch", "stock_quotes"} <= {row.id for row in report.environments}
    assert all(row.tools_kept and row.rounds == 2 and row.gained > 0 for row in report.environments)
    assert ("theme", "elevator_maintenance") in {(item.kind, item.id) for item in report.dropped}
    assert f"{len(report.environments)} environments, " in printed
    assert "theme elevator_maintenance: " in printed
