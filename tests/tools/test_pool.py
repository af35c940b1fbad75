"""Instances ahead of need, and tools that are compiled once."""

import asyncio
from collections.abc import Callable
from pathlib import Path

import pytest

from agent_world.settings import LocalRuntime
from agent_world.tools.runtime import open_runtime
from agent_world.tools.sandbox.local import LocalBackend

World = Callable[..., Path]

PING = "def ping(): return 1\n"
CHANCE = "import random\nAT_LOAD = random.random()\ndef draw(): return [AT_LOAD, random.random()]\n"


async def started(**settings: object) -> LocalBackend:
    backend = LocalBackend(LocalRuntime.model_validate(settings))
    await backend.start()
    return backend


async def settled(backend: LocalBackend, ahead: int) -> None:
    async with asyncio.timeout(20):
        while backend.pool.ready != ahead:
            await asyncio.sleep(0.005)


async def test_instances_are_started_before_they_are_asked_for_and_again_after(world: World) -> None:
    backend = await started(ahead=2)
    root = world(PING)
    first = await backend.open(root)
    await settled(backend, 2)
    starts = backend.launcher.started
    second = await backend.open(root)
    assert backend.launcher.started == starts  # nothing was started for it
    assert (await second.call("ping", {})).value == 1
    await settled(backend, 2)
    starts = backend.launcher.started
    await first.reset()
    assert backend.launcher.started == starts
    await backend.stop()
    assert backend.pool.ready == 0


async def test_without_any_ahead_each_is_started_when_asked_for(world: World) -> None:
    backend = await started(ahead=0)
    root = world(PING)
    await backend.open(root)
    await asyncio.sleep(0.05)
    assert backend.pool.ready == 0
    assert backend.launcher.started == 2  # the instance, and the process that compiled its tools
    await backend.stop()


async def test_an_instance_from_ahead_behaves_as_one_that_was_not(world: World) -> None:
    root = world(CHANCE)
    seen = []
    for ahead in (0, 2):
        backend = await started(ahead=ahead)
        await backend.open(root, seed=5)
        await settled(backend, ahead)
        instance = await backend.open(root, seed=7)
        seen.append((await instance.call("draw", {})).value)
        await backend.stop()
    assert seen[0] == seen[1]
    assert seen[0][0] != seen[0][1]


async def test_one_that_died_while_it_waited_is_never_handed_out(world: World) -> None:
    backend = await started(ahead=1)
    root = world(PING)
    await backend.open(root)
    await settled(backend, 1)
    (spare,) = backend.pool.spares()
    spare.kill()
    assert (await (await backend.open(root)).call("ping", {})).value == 1
    await backend.stop()


async def test_one_that_gets_ready_while_its_kind_is_let_go_is_ended(world: World) -> None:
    backend = await started(ahead=1, call_timeout_s=5)
    root = world("import sys, time\nif sys.getprofile() is None: time.sleep(0.3)\ndef ping(): return 1\n")
    instance = await backend.open(root)
    await asyncio.sleep(0.1)
    while not backend.launcher.started >= 3:  # the compiler's, the instance's, and the one ahead
        await asyncio.sleep(0.005)
    backend.pool.let_all_go()
    while backend.pool.refilling:
        await asyncio.sleep(0.005)
    await instance.close()
    assert backend.pool.ready == 0
    assert backend.watch.total == 0
    await backend.stop()


async def test_those_of_the_least_recently_used_environment_are_let_go(world: World) -> None:
    backend = await started(ahead=1)
    roots = [world(PING + f"# {n}\n") for n in range(10)]
    for root in roots:
        instance = await backend.open(root)
        await instance.close()
    await settled(backend, 8)
    await backend.stop()


async def test_tools_are_compiled_once_for_all_instances(world: World) -> None:
    backend = await started(ahead=0)
    root = world(PING)
    opened = await asyncio.gather(*(backend.open(root) for _ in range(5)))
    assert {(await instance.call("ping", {})).value for instance in opened} == {1}
    assert backend.launcher.started == 6
    await backend.stop()


@pytest.mark.parametrize(
    "source",
    [
        "def ping(:",
        "def ping(): return 1\0",
        f"X = {'(' * 5000}1{')' * 5000}",
        "def ping(): return " + "-" * 200_000 + "1",
    ],
)
async def test_a_source_that_the_compiler_cannot_take_is_an_error_of_the_call(world: World, source: str) -> None:
    async with open_runtime(LocalRuntime(call_timeout_s=2.0)) as runtime:
        root = world("")
        (root / "tools.py").write_text(source)
        instance = await runtime.open(root)
        assert (await instance.call("ping", {})).error in ("exception", "crashed", "timeout")
        assert (await (await runtime.open(world(PING))).call("ping", {})).value == 1


async def test_a_tool_finds_the_line_that_broke_it(world: World) -> None:
    source = """
import sys, traceback
def where():
    try:
        return 1 / 0
    except ZeroDivisionError:
        frame = traceback.extract_tb(sys.exc_info()[2])[-1]
        return [frame.filename, frame.lineno]
"""
    async with open_runtime(LocalRuntime()) as runtime:
        instance = await runtime.open(world(source))
        assert (await instance.call("where", {})).value == ["tools.py", 5]


@pytest.mark.slow
async def test_a_thousand_instances_live_at_once_and_each_answers(world: World) -> None:
    source = "NOTE = []\ndef note(n):\n    NOTE.append(n)\n    return NOTE\n"
    async with open_runtime(LocalRuntime(max_instances=1000, total_memory_mb=8000, call_timeout_s=30.0)) as runtime:
        root = world(source, rows__json="[" + ",".join(f'{{"id": {n}}}' for n in range(9000)) + "]")
        instances = await asyncio.gather(*(runtime.open(root, seed=n) for n in range(1000)))
        for wanted in ([0], [0, 1]):
            seen = await asyncio.gather(*(i.call("note", {"n": wanted[-1]}) for i in instances))
            assert all(s.value == wanted for s in seen)


# --- Modules that only define ------------------------------------------------------------------------

WHO = "import sys\nWHO = sys._getframe(2).f_code.co_name\ndef who(): return WHO\n"
DEFINING = """
import contextlib, dataclasses, functools, re
NAMES = {"a": 1}
PATTERN = re.compile("[a-z]+")
@dataclasses.dataclass(frozen=True)
class Row:
    name: str
def strict(tool):
    @functools.wraps(tool)
    def called(**given):
        return tool(**given)
    return called
@strict
def other(): return Row("x").name
"""


NEEDS_NOTHING = ("", DEFINING)
NEEDS_SOMETHING = (
    "import time\nAT = time.time()",
    "import datetime\nDAY = datetime.date.today()",
    "import random\nX = random.random()",
    "import random\nX = random.Random()",
    "import uuid\nX = uuid.uuid4()",
    "import secrets\nX = secrets.token_hex()",
    "import os\nX = os.listdir()",
    "import os.path\nX = os.path.exists('rows.json')",
    "open('made.txt', 'w').close()",
    "import sqlite3\nsqlite3.connect('made.sqlite')",
    "print('hello')",
    "import sys\nsys.setprofile(None)",
    "import colorsys",
    "import sys, types\nsys.modules['mine'] = types.ModuleType('mine')",
)


async def test_tools_are_executed_ahead_of_need_only_if_nobody_can_tell(world: World) -> None:
    async with open_runtime(LocalRuntime(ahead=0)) as runtime:

        async def executed_by(source: str) -> object:
            return (await (await runtime.open(world(WHO + source, rows__json="[]"))).call("who", {})).value

        assert {source: await executed_by(source) for source in NEEDS_NOTHING} == dict.fromkeys(NEEDS_NOTHING, "load")
        assert {source: await executed_by(source) for source in NEEDS_SOMETHING} == dict.fromkeys(
            NEEDS_SOMETHING, "tool"
        )


async def test_a_clock_read_at_import_is_the_one_asked_for_whatever_waited(world: World) -> None:
    backend = await started(ahead=2)
    root = world("import time\nAT = time.time()\ndef at(): return AT\n")
    await backend.open(root, clock="2020-01-01T00:00:00")
    await settled(backend, 2)
    instance = await backend.open(root, clock="2021-01-01T00:00:00")
    assert (await instance.call("at", {})).value == 1609459200.0
    await backend.stop()


async def test_files_written_at_import_are_not_there_before_the_first_call(world: World) -> None:
    root = world("open('made.txt', 'w').close()\ndef ping(): return 1\n")
    backend = await started(ahead=1)
    await backend.open(root)
    await settled(backend, 1)
    instance = await backend.open(root)
    assert not (await instance.diff()).changes
    assert (await instance.call("ping", {})).value == 1
    assert (await instance.diff()).changes
    await backend.stop()


async def test_a_module_that_only_pretends_to_define_loses_its_own_instances_alone(world: World) -> None:
    sly = world("import sys\nif sys.getprofile() is None:\n    while True: pass\ndef ping(): return 1\n")
    backend = await started(ahead=1, call_timeout_s=0.5)
    instance = await backend.open(sly)
    assert (await instance.call("ping", {})).error == "timeout"
    async with asyncio.timeout(20):
        while backend.pool.refilling:
            await asyncio.sleep(0.01)
    assert backend.pool.ready == 0  # the one that was made ahead was ended at its deadline
    assert (await (await backend.open(world(PING))).call("ping", {})).value == 1
    await backend.stop()
