"""The library as the synthesizer sees it, and a live instance of it."""

from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from agent_world.agents.synthesizer.world import World
from agent_world.settings import LocalRuntime
from agent_world.tools.runtime import Instance, open_runtime
from tests.worlds import make_library


@pytest.fixture
def world(tmp_path: Path) -> World:
    return World(make_library(tmp_path / "library"))


@pytest.fixture
async def instance(world: World) -> AsyncIterator[Instance]:
    async with open_runtime(LocalRuntime()) as runtime:
        opened = await runtime.open(world.bundle.root)
        yield opened
        await opened.close()
