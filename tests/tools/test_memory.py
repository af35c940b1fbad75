"""The memory of all instances together is bounded."""

import asyncio
import json
from collections.abc import AsyncIterator, Callable
from pathlib import Path

import pytest

from agent_world.errors import SandboxError
from agent_world.settings import LocalRuntime
from agent_world.tools.runtime import Runtime, open_runtime
from agent_world.tools.sandbox.local import LocalBackend

World = Callable[..., Path]

TOOLS = """
import os, time
KEEP = []
def ping(): return 1
def hold(mb):
    KEEP.append(b"x" * (mb * 1_000_000))
    return len(KEEP)
def hog():
    while True:
        KEEP.append(b"x" * 4_000_000)
        time.sleep(0.01)
def child():
    if os.fork() == 0: hog()
    time.sleep(60)
def fill():
    for n in range(1000):
        with open(f"f{n}", "wb") as file: file.write(b"x" * 1_000_000)
        time.sleep(0.005)
"""
BOUND = LocalRuntime(memory_mb=1500, total_memory_mb=300, disk_mb=1000, call_timeout_s=30, run_timeout_s=30, ahead=1)


@pytest.fixture
async def runtime() -> AsyncIterator[Runtime]:
    async with open_runtime(BOUND) as opened:
        yield opened


async def test_several_that_take_too_much_end_and_the_others_go_on(runtime: Runtime, world: World) -> None:
    root = world(TOOLS)
    hogs, modest = [await runtime.open(root) for _ in range(3)], await runtime.open(root)
    calls = [asyncio.create_task(hog.call("hog", {})) for hog in hogs]
    while not all(call.done() for call in calls):
        assert (await modest.call("ping", {})).value == 1
        await asyncio.sleep(0.02)
    for call in calls:
        seen = call.result()
        assert seen.error == "out_of_memory"
        assert "300 MB" in json.loads(seen.text)["error"]["message"]
    assert [(await hog.call("ping", {})).value for hog in hogs] == [1, 1, 1]


@pytest.mark.parametrize("tool", ["child", "fill"])
async def test_children_and_files_count(runtime: Runtime, world: World, tool: str) -> None:
    instance = await runtime.open(world(TOOLS))
    assert (await instance.call(tool, {})).error == "out_of_memory"


async def test_a_program_that_takes_too_much_is_a_result(runtime: Runtime, world: World) -> None:
    instance = await runtime.open(world(TOOLS))
    assert (await instance.run("def solve(tools): tools.hog()", "solve", {})).error == "out_of_memory"
    assert (await instance.call("ping", {})).value == 1


async def test_memory_held_by_an_idle_instance_makes_way_and_its_next_call_says_so(
    runtime: Runtime, world: World
) -> None:
    root = world(TOOLS)
    first, second = await runtime.open(root), await runtime.open(root)
    assert (await first.call("hold", {"mb": 150})).value == 1
    assert (await second.call("hold", {"mb": 10})).value == 1
    assert isinstance(runtime, LocalBackend)
    runtime.watch.limit = 60 * 1024 * 1024
    while (seen := await first.call("ping", {})).ok:
        await asyncio.sleep(0.05)
    assert seen.error == "out_of_memory"
    assert (await first.call("ping", {})).value == 1
    assert (await second.call("hold", {"mb": 1})).value == 2


async def test_no_room_for_another_instance_waits_then_names_the_setting(world: World) -> None:
    backend = LocalBackend(LocalRuntime(total_memory_mb=19, ahead=2))
    backend.watch.patience_s = 0.2
    await backend.start()
    try:
        opened = [await backend.open(world(TOOLS)) for _ in range(4)]
        with pytest.raises(SandboxError, match=r"runtime\.total_memory_mb"):
            await backend.open(world(TOOLS))
        backend.watch.patience_s = 30
        waiting = asyncio.create_task(backend.open(world(TOOLS)))
        await asyncio.sleep(0.05)
        assert not waiting.done()
        await opened[0].close()
        assert (await (await waiting).call("ping", {})).value == 1
    finally:
        await backend.stop()
