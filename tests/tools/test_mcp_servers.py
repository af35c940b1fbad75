"""Public servers, as their registries give them, without a credential: two of PyPI, two of npm."""

import shutil
import sqlite3
import subprocess
import tempfile
from pathlib import Path
from typing import Any

import pytest

from agent_world.schema import StateDiff
from agent_world.settings import McpRuntime
from agent_world.tools.runtime import Instance, open_runtime

NPM = ("server-filesystem@2026.8.31", "server-memory@2026.8.31")
pytestmark = pytest.mark.server


@pytest.fixture(scope="session")
def npm(request: pytest.FixtureRequest) -> Path:
    """A folder with the servers of npm in it, kept from one session to the next."""
    if not shutil.which("npm") or not shutil.which("node"):
        pytest.skip("npm is not installed")
    assert request.config.cache is not None
    folder = request.config.cache.mkdir("npm") / "-".join(NPM)
    if not folder.exists():
        made = Path(tempfile.mkdtemp(dir=folder.parent))
        try:
            _install(made)
            made.chmod(0o755)
            made.rename(folder)
        finally:
            shutil.rmtree(made, ignore_errors=True)
    return folder / "node_modules" / "@modelcontextprotocol"


def _install(folder: Path) -> None:
    command = ["npm", "install", "--silent", "--prefer-offline", "--no-audit", "--no-fund", "--prefix", str(folder)]
    try:
        done = subprocess.run(
            [*command, *(f"@modelcontextprotocol/{name}" for name in NPM)], capture_output=True, text=True, timeout=120
        )
    except subprocess.TimeoutExpired:
        pytest.skip("the npm registry does not answer")
    if done.returncode:
        pytest.skip(f"npm cannot install: {(done.stderr or done.stdout).strip()[-200:]}")


@pytest.fixture
def world(tmp_path: Path) -> Path:
    (tmp_path / "world" / "database").mkdir(parents=True)
    return tmp_path / "world"


def keys(diff: StateDiff) -> list[tuple[str, str, str]]:
    return [(change.table, change.key, change.kind) for change in diff.changes]


async def prove(instance: Instance, write: tuple[str, dict[str, Any]], changed: tuple[str, str, str]) -> None:
    """That a write shows in the diff, and that snapshot, reset and restore do what they say; what was written stays."""
    start = await instance.state_hash()
    assert (await instance.call(*write)).ok
    written, kept = await instance.state_hash(), await instance.snapshot()
    assert keys(await instance.diff()) == [changed]
    await instance.reset()
    assert (await instance.state_hash(), await instance.diff()) == (start, StateDiff())
    await instance.restore(kept)
    assert await instance.state_hash() == written


async def test_the_sqlite_server_of_pypi(world: Path) -> None:
    with sqlite3.connect(world / "database" / "shop.db") as shop:
        shop.execute("CREATE TABLE orders (id INTEGER PRIMARY KEY, zip TEXT)")
        shop.execute("INSERT INTO orders VALUES (1, '02138')")
    shop.close()
    start = ("{python}", "-c", "from mcp_server_sqlite import main; main()")
    async with open_runtime(McpRuntime(command=(*start, "--db-path", "{data}/shop.db"))) as runtime:
        instance = await runtime.open(world)
        assert "02138" in (await instance.call("read_query", {"query": "SELECT * FROM orders"})).text
        insert = {"query": "INSERT INTO orders VALUES (2, '10001')"}
        await prove(instance, ("write_query", insert), ("shop.db:orders", "2", "added"))
        result = await instance.run(
            "def count(tools): return tools.read_query(query='SELECT count(*) AS n FROM orders')", "count", {}
        )
        assert result.value == "[{'n': 2}]"


async def test_the_time_server_of_pypi(world: Path) -> None:
    async with open_runtime(McpRuntime(command=("{python}", "-m", "mcp_server_time"))) as runtime:
        instance = await runtime.open(world)
        arguments = {"source_timezone": "UTC", "time": "12:00", "target_timezone": "Asia/Tokyo"}
        seen = await instance.call("convert_time", arguments)
        assert seen.value["target"]["datetime"].endswith("T21:00:00+09:00")
        assert await instance.diff() == StateDiff()


async def test_the_filesystem_server_of_npm(world: Path, npm: Path) -> None:
    (world / "database" / "a.txt").write_text("hello")
    start = ("node", str(npm / "server-filesystem" / "dist" / "index.js"), "{data}")
    async with open_runtime(McpRuntime(command=start)) as runtime:
        one, other = await runtime.open(world), await runtime.open(world)
        assert (await one.call("read_text_file", {"path": "a.txt"})).value == {"content": "hello"}
        assert (await one.call("read_text_file", {"path": "/etc/passwd"})).error == "tool_error"
        await prove(one, ("write_file", {"path": "b.txt", "content": "x"}), ("files", "b.txt", "added"))
        await one.call("edit_file", {"path": "a.txt", "edits": [{"oldText": "hello", "newText": "bye"}]})
        assert keys(await one.diff()) == [("files", "b.txt", "added"), ("a.txt", "line 1", "changed")]
        assert (await other.call("read_text_file", {"path": "a.txt"})).value == {"content": "hello"}


async def test_the_memory_server_of_npm(world: Path, npm: Path) -> None:
    start = ("node", str(npm / "server-memory" / "dist" / "index.js"))
    config = McpRuntime(command=start, env={"MEMORY_FILE_PATH": "{data}/memory.jsonl"})
    async with open_runtime(config) as runtime:
        instance = await runtime.open(world)
        entity = {"name": "Ada", "entityType": "person", "observations": ["writes programs"]}
        assert (await instance.call("create_entities", {"entities": [entity]})).ok
        assert (await instance.call("read_graph", {})).value["entities"] == [entity]
        kept = await instance.snapshot()
        await instance.reset()
        assert (await instance.call("read_graph", {})).value == {"entities": [], "relations": []}
        await instance.restore(kept)
        assert (await instance.call("search_nodes", {"query": "Ada"})).value["entities"] == [entity]
        assert len((await instance.diff()).changes) == 1
