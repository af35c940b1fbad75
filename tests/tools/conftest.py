"""A runtime, the library, and worlds of one hostile or odd tools.py."""

from collections.abc import AsyncIterator, Callable
from pathlib import Path

import pytest

from agent_world.memory.store import Bundle
from agent_world.settings import LocalRuntime
from agent_world.tools.runtime import Runtime, open_runtime
from tests.worlds import make_library

QUICK = LocalRuntime(call_timeout_s=1.0, run_timeout_s=2.0, memory_mb=256, disk_mb=8)


@pytest.fixture
async def runtime() -> AsyncIterator[Runtime]:
    async with open_runtime(QUICK) as opened:
        yield opened


@pytest.fixture
def library(tmp_path: Path) -> Bundle:
    return make_library(tmp_path / "library")


@pytest.fixture
def world(tmp_path: Path) -> Callable[..., Path]:
    """Makes a bundle of bare tools and files, without any schema: every function may be called."""

    def make(source: str, **files: str) -> Path:
        root = tmp_path / f"world{len(list(tmp_path.iterdir()))}"
        (root / "database").mkdir(parents=True)
        (root / "tools.py").write_text(source)
        for name, text in files.items():
            (root / "database" / name.replace("__", ".")).write_text(text)
        return root

    return make
