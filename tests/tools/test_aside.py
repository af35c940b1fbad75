"""What instances hold is worked on beside the event loop, where the deadlines of all others are kept."""

import asyncio
import json
import os
import threading
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from agent_world.errors import SandboxError
from agent_world.schema import DatabaseSchema
from agent_world.settings import LocalRuntime
from agent_world.tools.files import MAX_FILES, Files
from agent_world.tools.runtime import Instance, Observation, Runtime, open_runtime
from agent_world.tools.sandbox.aside import read_aside, with_files, write_aside
from agent_world.tools.sandbox.exchange import judged
from agent_world.tools.sandbox.inside.serve import crowded
from agent_world.tools.sandbox.local import LocalBackend
from agent_world.tools.sandbox.marks import weight
from agent_world.tools.sandbox.once import Once
from agent_world.tools.sandbox.template import Template
from agent_world.tools.state import read_state

World = Callable[..., Path]
LARGE = 1_000_000

MANY_ROWS = """
def fill():
    rows = ", ".join('{"a": %d, "b": [1, 2], "c": "x"}' % number for number in range(40_000))
    with open("many.json", "w") as file:
        file.write(f"[{rows}]")
def ping(): return 1
def hang():
    while True: pass
def many(): return [1.5] * 150_000
def crowd(): return [[]] * 200_000
"""


SPEC_OF_PING = {"name": "ping", "description": "", "inputSchema": {"type": "object", "properties": {}}}
SPEC_OF_TAKE = {
    "name": "take",
    "description": "",
    "inputSchema": {
        "type": "object",
        "properties": {"numbers": {"type": "array", "items": {"type": "integer"}}},
        "required": ["numbers"],
    },
}


def descriptors() -> int:
    return len(os.listdir("/proc/self/fd"))


async def test_little_is_done_at_once_and_much_in_another_thread() -> None:
    here = threading.get_ident()
    assert await with_files(10, threading.get_ident) == here
    assert await with_files(LARGE, threading.get_ident) != here


def test_what_is_read_is_weighed_by_the_work_that_it_makes(tmp_path: Path) -> None:
    folder = os.open(tmp_path, os.O_RDONLY | os.O_DIRECTORY)
    assert weight(folder) == 0
    (tmp_path / "large").write_bytes(b"x" * 5000)
    (tmp_path / "inner").mkdir()
    (tmp_path / "inner" / "empty").touch()
    assert 7000 <= weight(folder) < 20_000  # what a folder itself weighs is the file system's
    for number in range(MAX_FILES):
        (tmp_path / f"{number}").touch()
    assert weight(folder) > 1_000_000_000  # not all were looked at
    os.close(folder)
    with pytest.raises(SandboxError, match="closed"):
        weight(-1)


async def test_what_was_begun_is_done_though_nobody_waits_any_more(tmp_path: Path) -> None:
    begun, go_on = threading.Event(), threading.Event()
    done: list[int] = []

    def work() -> None:
        begun.set()
        go_on.wait(10)
        done.append(1)

    task = asyncio.create_task(with_files(LARGE, work))
    while not begun.is_set():
        await asyncio.sleep(0.001)
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    assert not done
    go_on.set()
    await with_files(LARGE, lambda: None)  # of two threads one may be free at once
    while not done:
        await asyncio.sleep(0.001)


async def test_a_folder_may_be_closed_while_it_is_read_and_written(tmp_path: Path) -> None:
    """Its number may then be another folder's: nothing is read there, and nothing written."""
    kept = descriptors()
    files = Files({"large.txt": b"x" * 2 * LARGE})
    first, other = tmp_path / "first", tmp_path / "other"
    first.mkdir()
    other.mkdir()
    folder = os.open(first, os.O_RDONLY | os.O_DIRECTORY)
    writing = asyncio.create_task(write_aside(folder, files, None))
    await asyncio.sleep(0)
    os.close(folder)
    assert os.open(other, os.O_RDONLY | os.O_DIRECTORY) == folder
    await writing
    assert os.listdir(other) == []
    os.close(folder)
    folder = os.open(first, os.O_RDONLY | os.O_DIRECTORY)
    reading = asyncio.create_task(read_aside(folder, 4 * LARGE, lambda found: found.contents))
    await asyncio.sleep(0)
    os.close(folder)
    assert os.open(other, os.O_RDONLY | os.O_DIRECTORY) == folder
    assert await reading == files.contents
    os.close(folder)
    assert descriptors() == kept


async def compared_while_another_answers(hostile: Instance, sibling: Instance) -> None:
    comparing = asyncio.create_task(hostile.diff())
    answers = 0
    while not comparing.done():
        assert (await sibling.call("ping", {})).value == 1
        await asyncio.sleep(0)
        answers += 1
    assert len((await comparing).changes) == 40_000
    assert answers >= 5


async def test_others_go_on_while_all_that_a_hostile_tool_wrote_is_read(runtime: Runtime, world: World) -> None:
    root = world(MANY_ROWS)
    hostile, sibling = await runtime.open(root), await runtime.open(root)
    await hostile.call("fill", {})
    await compared_while_another_answers(hostile, sibling)


async def test_what_a_program_asks_for_is_judged_elsewhere_where_it_is_much(
    world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    root = world(MANY_ROWS + "def take(numbers): return len(numbers)\n")
    (root / "tools.json").write_text(json.dumps({"tools": [SPEC_OF_TAKE, SPEC_OF_PING]}))
    here, at_once = threading.get_ident(), dict[int, bool]()

    def noted(template: Template, tool: str, arguments: dict[str, Any]) -> tuple[Observation | None, dict[str, Any]]:
        at_once[len(arguments["numbers"])] = threading.get_ident() == here
        return judged(template, tool, arguments)

    monkeypatch.setattr("agent_world.tools.sandbox.exchange.judged", noted)
    source = "def solve(tools): return [tools.take(numbers=[1] * many) for many in (10, 10_000)]"
    async with open_runtime(LocalRuntime(run_timeout_s=60)) as runtime:
        assert (await (await runtime.open(root)).run(source, "solve", {})).value == [10, 10_000]
    assert at_once == {10: True, 10_000: False}


async def test_others_go_on_while_a_large_database_is_compared_with_the_little_that_is_left(
    runtime: Runtime, world: World
) -> None:
    rows = json.dumps([{"id": number, "name": "x"} for number in range(40_000)])
    root = world(MANY_ROWS + "import os\ndef drop(): os.remove('data.json')\n", data__json=rows)
    hostile, sibling = await runtime.open(root), await runtime.open(root)
    await hostile.call("drop", {})
    await compared_while_another_answers(hostile, sibling)


async def test_what_a_program_leaves_behind_has_ended_when_its_result_is_there(runtime: Runtime, world: World) -> None:
    instance = await runtime.open(world(MANY_ROWS))
    source = """
import os
def solve():
    if os.fork() == 0:
        os.setsid()
        while True:
            with open("left.txt", "a") as file: file.write("x")
    while not os.path.exists("left.txt"): pass
    return 1
"""
    for _ in range(5):
        assert (await instance.run(source, "solve", {})).value == 1
        state = await instance.state_hash()
        await asyncio.sleep(0.02)
        assert await instance.state_hash() == state


async def test_what_is_forgotten_while_it_is_made_is_given_away_when_it_is() -> None:
    made: asyncio.Future[int] = asyncio.get_running_loop().create_future()

    async def work(key: str) -> int:
        return await made

    once, given = Once(work, 4), list[int]()
    asking = asyncio.create_task(once.get("a"))
    await asyncio.sleep(0)
    once.forget("a", given.append)
    assert given == []
    made.set_result(7)
    assert await asking == 7
    assert given == [7]
    assert await once.get("b") == 7
    once.forget("b", given.append)
    assert given == [7, 7]
    assert once.known() == []


async def test_an_instance_closed_while_its_state_is_read_leaves_nothing_open(world: World) -> None:
    async with open_runtime(LocalRuntime(ahead=0, disk_mb=8)) as runtime:
        instance = await runtime.open(world(MANY_ROWS))
        kept = descriptors()
        await instance.call("fill", {})
        reading = asyncio.create_task(instance.state_hash())
        await asyncio.sleep(0)
        await instance.close()
        assert await reading
        with pytest.raises(SandboxError, match="closed"):
            await instance.state_hash()
        assert descriptors() < kept


async def test_a_restore_that_is_given_up_leaves_nothing_open(world: World) -> None:
    async with open_runtime(LocalRuntime(ahead=0, disk_mb=8)) as runtime:
        instance = await runtime.open(world(MANY_ROWS))
        await instance.call("fill", {})
        snapshot, state = await instance.snapshot(), await instance.state_hash()
        kept = descriptors()
        for pause in (0.0, 0.001, 0.003, 0.006):
            restoring = asyncio.create_task(instance.restore(snapshot))
            await asyncio.sleep(pause)
            restoring.cancel()
            await asyncio.gather(restoring, return_exceptions=True)
        await instance.restore(snapshot)
        await with_files(LARGE, lambda: None)
        assert await instance.state_hash() == state
        assert descriptors() == kept


async def test_a_kill_is_not_waited_for_but_by_who_reads_the_files(world: World) -> None:
    async with open_runtime(LocalRuntime(ahead=0, call_timeout_s=0.3)) as runtime:
        assert isinstance(runtime, LocalBackend)
        instance = await runtime.open(world(MANY_ROWS))
        process = instance.process
        assert process is not None
        assert (await instance.call("hang", {})).error == "timeout"
        assert process.ended()
        kept = descriptors()
        await asyncio.gather(process.gone(), process.gone(), instance.state_hash())
        assert descriptors() == kept - 1  # what it was killed by
        await process.gone()
        assert (await instance.call("ping", {})).value == 1


async def test_a_result_of_many_values_arrives_and_a_crowded_one_is_refused(runtime: Runtime, world: World) -> None:
    instance = await runtime.open(world(MANY_ROWS))
    assert (await instance.call("many", {})).value == [1.5] * 150_000
    refused = await instance.call("crowd", {})
    assert refused.error == "invalid_output"
    assert "too many values" in refused.text
    assert (await instance.call("ping", {})).value == 1


def test_what_is_crowded() -> None:
    assert not crowded(b"[" * 90_000)
    assert crowded(b"[" * 160_000)
    assert not crowded(b"1," * 500_000)
    assert not crowded(b'["' + b"1,[" * 700_000 + b'"]')  # text
    assert crowded(b'["' + b'",' * 700_000)  # of many strings
    assert crowded(b"[," * 700_000 + b'"' + b"\\x" * 1_000_000 + b"\\")  # with one that never ends
    assert crowded(b"1," * 601_000)


def test_what_would_hold_the_interpreter_has_no_rows() -> None:
    columns = ",".join(f"c{number}" for number in range(20_001))
    contents = {
        "a.json": b"[" + b"1," * 1_000_001 + b"1]",
        "b.csv": b"1," * 2_000_001,
        "c.csv": b"1\r" * 2_000_001,
        "d.csv": columns.encode(),
        "e.json": json.dumps([{name: 1 for name in columns.split(",")}]).encode(),
        "f.jsonl": b"1\n" * 100_002,
        "g.md": b"x\n" * 100_001,
    }
    rows = read_state(Files(contents), DatabaseSchema()).tables["files"]
    assert {path: row["problem"] for path, row in rows.items()} == {
        "a.json": "not JSON to be read: more than 1000000 values",
        "b.csv": "not CSV to be read: more than 2000000 cells",
        "c.csv": "not CSV to be read: more than 2000000 cells",
        "d.csv": "not CSV to be read: more than 20000 columns",
        "e.json": "not to be read by rows: more than 20000 columns",
        "f.jsonl": "not JSON Lines to be read: more than 100000 rows",
        "g.md": "not Markdown to be read: more than 100000 lines",
    }


async def test_a_little_sqlite_is_much_work_and_a_file_that_grew_meanwhile_too(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    here = threading.get_ident()
    assert Files({"a.sqlite": b"SQLite format 3\0"}).weight > 1_000_000
    folder = os.open(tmp_path, os.O_RDONLY | os.O_DIRECTORY)
    (tmp_path / "a").write_bytes(b"x" * 100)
    assert await read_aside(folder, LARGE, lambda files: threading.get_ident()) == here
    (tmp_path / "a").write_bytes(b"SQLite format 3\0")
    assert await read_aside(folder, LARGE, lambda files: threading.get_ident()) != here
    (tmp_path / "a").write_bytes(b"x" * 100_000)
    monkeypatch.setattr("agent_world.tools.sandbox.aside.weight", lambda folder: 0)  # as it was a moment ago
    found = await read_aside(folder, LARGE, lambda files: (threading.get_ident() != here, files.size))
    assert found == (True, 100_000)
    os.close(folder)
