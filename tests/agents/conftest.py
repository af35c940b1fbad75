"""A runtime, and the cinema with the tools of its service, written once for all tests that only read it."""

import asyncio
from collections.abc import AsyncIterator

import pytest

from agent_world.agents.importer import import_database
from agent_world.graphs.deps import open_deps
from agent_world.graphs.write_tools import write_tools
from agent_world.memory.store import Bundle
from agent_world.settings import LocalRuntime, Settings, ToolSettings
from agent_world.tools.runtime import Runtime, open_runtime
from tests.cinema import write_cinema


@pytest.fixture
async def runtime() -> AsyncIterator[Runtime]:
    async with open_runtime(LocalRuntime()) as opened:
        yield opened


@pytest.fixture(scope="session")
def cinema_service(tmp_path_factory: pytest.TempPathFactory) -> Bundle:
    root = tmp_path_factory.mktemp("cinema")
    folder = write_cinema(root / "cinema")
    bundle, _ = import_database(folder, root / "environments" / "cinema", name="cinema", specs=folder / "tools.json")

    async def write() -> None:
        async with open_deps(Settings(workspace=root, tools=ToolSettings(max_tools=30))) as deps:
            await write_tools(bundle, deps)

    asyncio.run(write())
    return bundle
