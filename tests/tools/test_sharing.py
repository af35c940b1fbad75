"""Large databases are shared between instances; nobody can tell."""

import asyncio
import json
import os
import signal
import sqlite3
from collections.abc import AsyncIterator, Callable
from pathlib import Path

import pytest

from agent_world.schema import StateDiff
from agent_world.settings import LocalRuntime
from agent_world.tools.files import Files
from agent_world.tools.sandbox.aside import write_aside
from agent_world.tools.sandbox.launcher import NAMESPACED, Launcher
from agent_world.tools.sandbox.local import LocalBackend

World = Callable[..., Path]

TOOLS = """
import json, os, sqlite3
def names(): return sorted(os.listdir("."))
def owned():
    found = os.stat("big.json")
    return [found.st_uid == os.getuid(), found.st_mode, found.st_size, sorted(os.listdir("."))]
def edit():
    with open("big.json", "r+") as file: file.write('[{"id":7777')
def replace():
    with open("new", "w") as file: json.dump([{"id": 1}], file)
    os.replace("new", "big.json")
def swap():
    os.remove("small.json")
    os.mkdir("small.json")
    with open("small.json/x.json", "w") as file: file.write("[]")
    os.remove("small.json/x.json"); os.rmdir("small.json")
    os.mkdir("small.json")
    return os.listdir("small.json")
def touch():
    os.utime("big.json", (1, 1)); os.chmod("big.json", 0o600)
    return [os.stat("big.json").st_mtime, os.stat("big.json").st_mode & 0o777]
def link():
    os.symlink("/etc/passwd", "link"); os.rename("small.json", "moved.json")
def insert():
    base = sqlite3.connect("rows.sqlite")
    base.execute("INSERT INTO rows VALUES (2, 'new')"); base.commit(); base.close()
def count():
    base = sqlite3.connect("rows.sqlite")
    found = base.execute("SELECT count(*) FROM rows").fetchone()[0]; base.close()
    return found
def outside(): return [os.listdir(path) for path in ("/bases", "/.none")]
"""


@pytest.fixture
def large(world: World) -> Path:
    root = world(TOOLS, big__json=json.dumps([{"id": n} for n in range(20_000)]), small__json="[]")
    base = sqlite3.connect(root / "database" / "rows.sqlite")
    base.execute("CREATE TABLE rows (id INTEGER PRIMARY KEY, v TEXT)")
    base.execute("INSERT INTO rows VALUES (1, 'old')")
    base.commit()
    base.close()
    return root


@pytest.fixture
async def backend() -> AsyncIterator[LocalBackend]:
    made = LocalBackend(LocalRuntime(share_from_mb=0.2, ahead=0))
    await made.start()
    if made.launcher.rung not in NAMESPACED:
        pytest.skip("without namespaces databases are copied")
    yield made
    await made.stop()


@pytest.mark.parametrize("tool", ["edit", "replace", "swap", "touch", "link", "insert", "owned", "count"])
async def test_a_shared_database_behaves_as_a_copy_and_stays_as_it_was(
    backend: LocalBackend, large: Path, tool: str
) -> None:
    copying = LocalBackend(LocalRuntime(share_from_mb=1000, ahead=0))
    await copying.start()
    try:
        shared, sibling, copied = await backend.open(large), await backend.open(large), await copying.open(large)
        assert backend.pool.shared_bytes > 200_000
        assert copying.pool.shared_bytes == 0
        assert (await shared.call(tool, {})) == (await copied.call(tool, {}))
        assert (await shared.call("names", {})).value == (await copied.call("names", {})).value
        assert await shared.state_hash() == await copied.state_hash()
        assert await sibling.diff() == StateDiff()
        assert await (await backend.open(large)).diff() == StateDiff()
        await shared.reset()
        assert await shared.diff() == StateDiff()
    finally:
        await copying.stop()


async def test_what_was_changed_survives_snapshot_and_the_end_of_the_process(
    backend: LocalBackend, large: Path
) -> None:
    instance = await backend.open(large)
    await instance.call("edit", {})
    await instance.call("insert", {})
    changed, kept = await instance.state_hash(), await instance.snapshot()
    assert instance.process is not None
    instance.process.kill()
    assert (await instance.call("count", {})).value == 2
    assert await instance.state_hash() == changed
    await instance.reset()
    await instance.restore(kept)
    assert await instance.state_hash() == changed


async def test_no_path_leads_to_the_databases_of_others(backend: LocalBackend, large: Path) -> None:
    assert (await (await backend.open(large)).call("outside", {})).value == [[], []]


async def test_a_shared_database_goes_when_its_bundle_changes_and_nobody_uses_it(
    backend: LocalBackend, large: Path
) -> None:
    first = await backend.open(large)
    size = backend.pool.shared_bytes
    (large / "database" / "big.json").write_text(json.dumps([{"id": n} for n in range(30_000)]))
    second = await backend.open(large)
    assert backend.pool.shared_bytes > 2 * size  # the old one is in use
    assert await first.diff() == await second.diff() == StateDiff()
    await first.reset()
    await first.close()
    assert size < backend.pool.shared_bytes < 2 * size
    assert (await second.call("count", {})).value == 1


async def test_a_database_whose_bundle_changes_while_it_is_written_is_not_kept(
    backend: LocalBackend, large: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    go_on = asyncio.Event()

    async def slowly(directory: int, files: Files, owner: int | None) -> None:
        await go_on.wait()
        await write_aside(directory, files, owner)

    monkeypatch.setattr("agent_world.tools.sandbox.bases.write_aside", slowly)
    first = asyncio.create_task(backend.open(large))
    await asyncio.sleep(0.1)
    (large / "database" / "big.json").write_text(json.dumps([{"id": n} for n in range(30_000)]))
    second = asyncio.create_task(backend.open(large))
    await asyncio.sleep(0.1)
    go_on.set()
    opened = [await first, await second]
    assert [(await instance.call("count", {})).value for instance in opened] == [1, 1]
    assert 300_000 < backend.pool.shared_bytes < 500_000  # the second's


async def test_a_database_that_is_being_written_goes_with_the_backend(
    large: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def never(directory: int, files: Files, owner: int | None) -> None:
        await asyncio.Event().wait()

    monkeypatch.setattr("agent_world.tools.sandbox.bases.write_aside", never)
    kept = len(os.listdir("/proc/self/fd"))
    backend = LocalBackend(LocalRuntime(share_from_mb=0.2, ahead=0))
    await backend.start()
    opening = asyncio.create_task(backend.open(large))
    await asyncio.sleep(0.2)
    await backend.stop()
    await asyncio.gather(opening, return_exceptions=True)
    assert len(os.listdir("/proc/self/fd")) == kept


async def test_a_new_zygote_gets_the_database_again(backend: LocalBackend, large: Path) -> None:
    instance = await backend.open(large)
    os.killpg(backend.launcher.group, signal.SIGKILL)
    while instance.process and not instance.process.ended():
        await asyncio.sleep(0.01)
    assert (await instance.call("count", {})).error == "crashed"
    again = await backend.open(large)
    assert (await again.call("count", {})).value == 1
    assert await instance.diff() == StateDiff()


async def test_without_namespaces_a_large_database_is_copied(large: Path) -> None:
    backend = LocalBackend(LocalRuntime(share_from_mb=0), Launcher("confined"))
    await backend.start()
    try:
        first, second = await backend.open(large), await backend.open(large)
        await first.call("edit", {})
        assert backend.pool.shared_bytes == 0
        assert await second.diff() == StateDiff()
    finally:
        await backend.stop()
