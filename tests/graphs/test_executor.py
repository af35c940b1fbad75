"""Units of work in this process and as tasks of a real Ray: the same files, the same refusals."""

import asyncio
import os
import signal
import socket
import subprocess
import sys
from functools import partial
from pathlib import Path

import pytest

from agent_world.errors import UsageError
from agent_world.graphs.deps import Deps, open_deps
from agent_world.memory.store import Store
from agent_world.memory.workspace import Outcome
from agent_world.settings import Settings
from agent_world.training.stages.factory import write_environment_tools
from agent_world.training.stages.units import each
from tests.graphs.test_resume import made
from tests.worlds import make_library


def settings(workspace: Path, executor: object) -> Settings:
    given = {"workspace": workspace, "executor": executor, "concurrency": 1, "tools": {"max_tools": 8}}
    return Settings.model_validate(given)


async def refuse(deps: Deps) -> Outcome:
    raise UsageError("Nobody may do this; do that.")


async def die_once(marker: Path, deps: Deps) -> Outcome:
    """kill -9 at the first attempt."""
    if await asyncio.to_thread(_is_first, marker):
        os.kill(os.getpid(), signal.SIGKILL)
    return Outcome(line=f"process {os.getpid()}")


def _is_first(marker: Path) -> bool:
    first = not marker.exists()
    marker.touch()
    return first


async def write_tools_of_two(workspace: Path, executor: object) -> dict[str, bytes]:
    """Also holds that what a task raises and a lost task come back as they should."""
    for name in ("library", "archive"):
        make_library(workspace / "environments" / name)
    async with open_deps(settings(workspace, executor), checkpoints=False) as deps:
        units = {name: partial(write_environment_tools, name) for name in ("library", "archive")}
        outcomes = await each("tools", units, deps)
        assert all("8 tools" in outcome.line for outcome in outcomes.values())
        if deps.settings.executor.kind == "ray":
            with pytest.raises(UsageError, match=r"^Nobody may do this; do that.$"):
                await each("refused", {"unit": refuse}, deps)
            lost = await each("lost", {"unit": partial(die_once, workspace / "died")}, deps)
            assert lost["unit"].line not in ("", f"process {os.getpid()}")
    return made(workspace)


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore")  # Ray's own
async def test_ray_writes_the_same_bundles_and_passes_on_what_goes_wrong(tmp_path: Path) -> None:
    here = await write_tools_of_two(tmp_path / "here", "local")
    there = await write_tools_of_two(tmp_path / "there", "ray")
    assert there == here
    assert Store(tmp_path / "there").bundle("archive").tools()


async def test_a_ray_that_nobody_answers_for_is_told_at_once(tmp_path: Path) -> None:
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))  # bound, not listening: nobody answers
        address = f"127.0.0.1:{taken.getsockname()[1]}"
        async with open_deps(settings(tmp_path, {"kind": "ray", "address": address})) as deps:
            with pytest.raises(UsageError, match=f"Ray at {address} cannot be reached .* set executor=local"):
                await deps.executor()


WITHOUT_RAY = """
import asyncio, sys
sys.modules["ray"] = None  # as where the extra is not installed
from pathlib import Path
from agent_world.errors import UsageError
from agent_world.graphs.deps import open_deps
from agent_world.settings import Settings
async def main():
    async with open_deps(Settings.model_validate({"workspace": sys.argv[1], "executor": "ray"})) as deps:
        await deps.executor()
try:
    asyncio.run(main())
except UsageError as error:
    print(error)
"""


def test_without_the_package_the_remedy_is_told(tmp_path: Path) -> None:
    command = [sys.executable, "-c", WITHOUT_RAY, str(tmp_path)]
    done = subprocess.run(command, capture_output=True, text=True, timeout=120, check=True)
    assert "pip install 'agent-world[ray]', or set executor=local." in done.stdout
