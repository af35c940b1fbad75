"""The whole conformance suite against the local backend: on each rung that can be forced, and as an ordinary user."""

import asyncio
import os
import subprocess
import sys
from functools import lru_cache
from pathlib import Path

import pytest

from agent_world.errors import SandboxError
from agent_world.evals.bench.backends import subject
from agent_world.evals.bench.registry import CaseResult, ConformanceReport, all_cases
from agent_world.settings import Rung

BEST: Rung = "own_uid" if os.getuid() == 0 else "user_namespace"
RUNGS: tuple[Rung, ...] = (BEST, "confined", "limits")
NOBODY = 65534


@lru_cache
def certified(rung: Rung) -> ConformanceReport | SandboxError:
    """Once a rung; speed is not judged here. A rung that this machine does not grant is no failure."""
    try:
        return asyncio.run(subject("local", rung).certify(jobs=6, tolerance_s=None))
    except SandboxError as error:
        return error


@lru_cache
def certified_as_user() -> ConformanceReport | str:
    script = Path(__file__).with_name("as_user.py")
    words = ["bench", "conformance", "--json", "--only", "containment", "--jobs", "6"]
    run = subprocess.run(
        [sys.executable, str(script), str(NOBODY), "agent_world", *words], capture_output=True, text=True, timeout=200
    )
    if run.returncode == 77:
        return run.stderr
    assert run.stdout, run.stderr
    return ConformanceReport.model_validate_json(run.stdout)


def holds(report: ConformanceReport, name: str) -> None:
    result: CaseResult = next(result for result in report.results if result.name == name)
    if result.status == "not_applicable":
        pytest.skip(result.reason)
    assert result.status == "passed", result.reason


@pytest.mark.parametrize("rung", RUNGS)
@pytest.mark.parametrize("name", [f"{case.group}: {case.name}" for case in all_cases()])
def test_the_local_backend_conforms(rung: Rung, name: str) -> None:
    report = certified(rung)
    if isinstance(report, SandboxError):
        pytest.skip(str(report))
    holds(report, name.partition(": ")[2])


@pytest.mark.skipif(os.getuid() != 0, reason="this is an ordinary user already")
@pytest.mark.parametrize("name", [case.name for case in all_cases() if case.group == "containment"])
def test_an_ordinary_user_is_as_safe(name: str) -> None:
    report = certified_as_user()
    if isinstance(report, str):
        pytest.skip(report)
    assert any("user namespace" in line or "caller's uid" in line for line in report.protections)
    holds(report, name)
