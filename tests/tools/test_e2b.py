"""The backend `e2b` with the real SDK, against a local double of E2B."""

import asyncio
import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import AsyncIterator, Callable
from pathlib import Path
from typing import Any

import pytest

from agent_world.errors import SandboxError, UsageError
from agent_world.memory.store import Bundle
from agent_world.schema import StateDiff
from agent_world.settings import E2BRuntime, LocalRuntime
from agent_world.tools.runtime import Instance, Runtime, open_runtime
from tests.e2b_double import KEY, Double, open_double

World = Callable[..., Path]


@pytest.fixture
async def cloud() -> AsyncIterator[Double]:
    async with open_double() as double:
        yield double


def settings(cloud: Double, **more: Any) -> E2BRuntime:
    given = {"call_timeout_s": 30.0, "run_timeout_s": 30.0, "memory_mb": 256, "disk_mb": 8, "api_key": KEY}
    return E2BRuntime(**{**given, "api_url": cloud.url, "sandbox_url": cloud.url, **more})


@pytest.fixture
async def runtime(cloud: Double) -> AsyncIterator[Runtime]:
    async with open_runtime(settings(cloud)) as opened:
        yield opened
    assert not cloud.machines


def processes_of(folder: Path) -> list[int]:
    """Processes whose working folder is inside."""
    found = []
    for entry in Path("/proc").iterdir():
        try:
            if entry.name.isdigit() and os.readlink(entry / "cwd").startswith(str(folder)):
                found.append(int(entry.name))
        except OSError:
            continue
    return found


# --- The same as `local` -----------------------------------------------------------------------------

CHANCE = """
import datetime, os, random, secrets, sqlite3, time, uuid

def chance():
    connection = sqlite3.connect("log.sqlite")
    with connection:
        connection.execute("CREATE TABLE IF NOT EXISTS log (id TEXT, at TEXT DEFAULT current_timestamp, n INTEGER)")
        connection.execute("INSERT INTO log (id, n) VALUES (?, random())", (str(uuid.uuid4()),))
        rows = connection.execute("SELECT * FROM log").fetchall()
    connection.close()
    return [random.random(), secrets.token_hex(4), os.urandom(4).hex(), str(uuid.uuid1()), hash("text"),
            list({"a", "b", "c"}), rows, time.time(), str(datetime.datetime.now()), time.tzname, sorted(os.environ)]
"""
CALLS: tuple[tuple[str, dict[str, Any]], ...] = (
    ("search_books", {"title": "park"}),
    ("list_books_by_genre", {"genre": "romance", "limit": 2}),
    ("update_book_copies", {"book_id": "B001", "copies": 9}),
    ("delete_loan", {"loan_id": 3.0}),
    ("get_book", {"book_id": "B999"}),
    ("get_book", {"isbn": "B001"}),
    ("list_books_by_genre", {"genre": "horror", "limit": True}),
    ("burn_book", {}),
    ("average_books_pages", {"genre": "horror"}),
)
PROGRAM = """
def solve(tools, books):
    print("counting")
    total = sum(tools.count_loans_by_book(book_id=b)["count"] for b in books)
    tools.update_book_copies(book_id="B002", copies=7)
    try:
        tools.get_book(book_id="none")
    except ToolError as error:
        return {"total": total, "error": error.code}
"""


async def library_story(instance: Instance) -> list[Any]:
    seen: list[Any] = [await instance.call(tool, arguments) for tool, arguments in CALLS]
    seen.append(await instance.run(PROGRAM, "solve", {"books": ["B001", "B008"]}))
    seen.append(await instance.run("def solve(): return 1 / 0", "solve", {}))
    kept = await instance.snapshot()
    await instance.call("update_book_copies", {"book_id": "B003", "copies": 1})
    seen += [await instance.diff(), await instance.state_hash()]
    await instance.restore(kept)
    seen += [await instance.diff(), await instance.state_hash(), kept]
    await instance.reset()
    return [*seen, await instance.diff(), await instance.state_hash()]


async def test_the_library_gives_what_it_gives_locally(runtime: Runtime, library: Bundle) -> None:
    seen = await library_story(await runtime.open(library.root))
    async with open_runtime(LocalRuntime()) as local:
        assert seen == await library_story(await local.open(library.root))


async def test_chance_and_time_are_those_of_the_seed_as_locally(runtime: Runtime, world: World) -> None:
    root = world(CHANCE)

    async def observe(where: Runtime, seed: int) -> tuple[list[str], str]:
        instance = await where.open(root, seed=seed)
        found = [(await instance.call("chance", {})).text for _ in range(2)], await instance.state_hash()
        await instance.close()
        return found

    seen = await asyncio.gather(*(observe(runtime, 7) for _ in range(8)))
    async with open_runtime(LocalRuntime()) as local:
        here = await observe(local, 7)
    assert all(one == here for one in seen)
    assert seen[0] != await observe(runtime, 8)


async def test_a_program_leaves_no_trace_in_the_tools_process(runtime: Runtime, world: World) -> None:
    instance = await runtime.open(world("import json\ndef tool(): return json.dumps(1)"))
    await instance.run("import json\njson.dumps = None\ndef solve(): return 1", "solve", {})
    assert (await instance.call("tool", {})).value == "1"


async def test_files_of_any_kind_are_read_as_they_are_locally(runtime: Runtime, world: World) -> None:
    source = """
import os
def tool():
    os.makedirs("a/b"); os.makedirs("/".join("deepdeepp"))
    open("a/b/text.txt", "w").write("é" * 9)
    open("a/empty", "w").close()
    open("großes 'b' %41.bin", "wb").write(bytes(range(256)) * 999)
    os.symlink("/etc/passwd", "link")
    with open("sparse", "wb") as file: file.truncate(8_000_000)
    with open("more", "wb") as file: file.truncate(4_000_000)
"""
    instance = await runtime.open(world(source, data__json="[]"))
    await instance.call("tool", {})
    found = await instance.diff()
    with pytest.raises(SandboxError, match=r"No snapshot: deep.* is too deep|No snapshot: d/.* is too deep"):
        await instance.snapshot()
    async with open_runtime(LocalRuntime(disk_mb=8)) as local:
        here = await local.open(world(source, data__json="[]"))
        await here.call("tool", {})
        assert found == await here.diff()
        assert found.changes
    reasons = {change.key: (change.after or {}).get("problem") for change in found.changes}
    assert (reasons["link"], reasons["more"]) == ("a link", None)
    assert reasons["sparse"] == "too large"


async def test_empty_folders_and_permissions_are_kept_as_they_are_locally(runtime: Runtime, world: World) -> None:
    source = """
import os
def tool():
    os.makedirs("empty/inner")
    os.mkdir("shut")
    os.mkdir("shut/of", 0o700)
    os.write(os.open("shut/of/secret", os.O_CREAT | os.O_WRONLY, 0o600), b"x")
def look():
    return [[p, sorted(d), sorted(f), oct(os.stat(p).st_mode)] for p, d, f in sorted(os.walk("."))]
"""
    root = world(source, data__json="[]")

    async def story(where: Runtime) -> list[Any]:
        instance = await where.open(root)
        await instance.call("tool", {})
        kept, state = await instance.snapshot(), await instance.state_hash()
        await instance.reset()
        await instance.restore(kept)
        seen = (await instance.call("look", {})).value
        assert (await instance.snapshot(), await instance.state_hash()) == (kept, state)
        return [kept, state, [entry for entry in seen if entry[0] != "."]]

    async with open_runtime(LocalRuntime()) as local:
        assert await story(runtime) == await story(local)


async def test_a_read_tool_that_writes_is_reported(runtime: Runtime, library: Bundle) -> None:
    source = (library.root / "tools.py").read_text()
    spoiled = """
def get_book(book_id):
    text = open("books.json").read() if book_id == "same" else "[]"
    with open("books.json", "w") as file:
        file.write(text)
"""
    (library.root / "tools.py").write_text(source + spoiled)
    instance = await runtime.open(library.root)
    seen = [await instance.call("get_book", {"book_id": which}) for which in ("same", "B001", "same")]
    assert [one.impure for one in seen] == [False, True, False]
    await instance.call("delete_loan", {"loan_id": 3})
    assert not (await instance.call("count_loans_by_book", {"book_id": "B001"})).impure


# --- Deadlines and other ends of a process -----------------------------------------------------------


async def test_an_endless_call_is_killed_at_its_deadline_and_nothing_of_it_is_left(cloud: Double, world: World) -> None:
    source = """
import signal, time
def tool():
    open("left.txt", "w").write("x")
    for n in range(1, 32):
        try: signal.signal(n, signal.SIG_IGN)
        except (OSError, ValueError): pass
    while True:
        try:
            while True: pass
        except BaseException: pass
def ping(): return open("left.txt").read()
"""
    async with open_runtime(settings(cloud, call_timeout_s=2.0)) as runtime:
        instance = await runtime.open(world(source))
        (machine,) = cloud.machines.values()
        before = processes_of(machine.folder)
        started = time.monotonic()
        seen = await instance.call("tool", {})
        assert (seen.error, len(before)) == ("timeout", 1)
        assert 2.0 <= time.monotonic() - started < 10
        assert not set(before) & set(processes_of(machine.folder))
        assert (await instance.call("ping", {})).value == "x"
        assert len(cloud.made) == 1


async def test_an_endless_program_is_killed_and_what_it_did_stays(cloud: Double, library: Bundle) -> None:
    source = """
def solve(tools):
    tools.update_book_copies(book_id="B001", copies=7)
    while True: pass
"""
    async with open_runtime(settings(cloud, run_timeout_s=2.0)) as runtime:
        instance = await runtime.open(library.root)
        result = await instance.run(source, "solve", {})
        assert (result.ok, result.error, len(result.calls)) == (False, "timeout", 1)
        assert [c.after for c in (await instance.diff()).changes] == [{"copies": 7}]
        assert (await instance.call("get_book", {"book_id": "B001"})).value["copies"] == 7


HOSTILE = (
    ("os._exit(3)", "crashed"),
    ("import ctypes; ctypes.string_at(0)", "crashed"),
    ("os.write(4, b'{\"id\": 999}\\n'); time.sleep(9)", "crashed"),
    ("os.write(4, b'x' * 5_000_000); time.sleep(9)", "crashed"),
    ("bytearray(10 ** 10)", "exception"),
    ("os.fork()", "exception"),
    ("import socket; socket.socket()", "exception"),
    ("open('/tmp/out', 'w')", "exception"),
    ("open('../opt/agent-world/inside/serve.py', 'w')", "exception"),
    ("raise SystemExit", "exception"),
)


async def test_a_hostile_call_is_an_observation_and_the_next_one_works(cloud: Double, world: World) -> None:
    tools = "".join(f"def tool{number}(): {body}\n" for number, (body, _) in enumerate(HOSTILE))
    async with open_runtime(settings(cloud)) as runtime:
        instance = await runtime.open(world(f"import os, time\n{tools}def ping(): return 1"))
        for number, (body, error) in enumerate(HOSTILE):
            assert (await instance.call(f"tool{number}", {})).error == error, body
            assert (await instance.call("ping", {})).value == 1, body
        assert len(cloud.made) == 1
    async with open_runtime(settings(cloud, call_timeout_s=0.5)) as runtime:
        instance = await runtime.open(world("import os\ndef tool(): os.read(3, 1)"))
        assert (await instance.call("tool", {})).error == "timeout"
        assert await instance.diff() == StateDiff()


async def test_a_cancelled_call_leaves_no_process_and_a_usable_instance(cloud: Double, world: World) -> None:
    source = "def tool():\n    while True: pass\ndef ping(): return 1"
    async with open_runtime(settings(cloud)) as runtime:
        instance = await runtime.open(world(source))
        (machine,) = cloud.machines.values()
        calling = asyncio.create_task(instance.call("tool", {}))
        await asyncio.sleep(0.3)
        calling.cancel()
        with pytest.raises(asyncio.CancelledError):
            await calling
        assert processes_of(machine.folder) == []
        assert (await instance.call("ping", {})).value == 1


# --- A sandbox that is gone --------------------------------------------------------------------------


async def test_a_lost_sandbox_is_made_once_more_with_its_state(
    cloud: Double, runtime: Runtime, library: Bundle
) -> None:
    instance, other = await runtime.open(library.root), await runtime.open(library.root)
    for each in (instance, other):
        await each.call("update_book_copies", {"book_id": "B001", "copies": 9})
        await each.run(PROGRAM, "solve", {"books": ["B001"]})
        await each.call("get_book", {"book_id": "B999"})
    cloud.lose(next(iter(cloud.machines)))
    assert (await instance.call("get_book", {"book_id": "B001"})).value["copies"] == 9
    assert await instance.state_hash() == await other.state_hash()
    cloud.lose()
    assert await instance.state_hash() == await other.state_hash()
    assert len(cloud.made) == 5


async def test_chance_goes_on_where_it_was_in_a_sandbox_made_once_more(
    cloud: Double, runtime: Runtime, world: World
) -> None:
    root = world(CHANCE)
    one, other = await runtime.open(root, seed=1), await runtime.open(root, seed=1)
    assert await one.call("chance", {}) == await other.call("chance", {})
    cloud.lose(next(iter(cloud.machines)))
    assert await one.call("chance", {}) == await other.call("chance", {})


async def test_a_sandbox_lost_during_a_call_does_not_make_it_count_twice(
    cloud: Double, runtime: Runtime, world: World
) -> None:
    source = """
import os, time
def add():
    with open("log.txt", "a") as file: file.write("x")
    while os.path.exists("hold"): time.sleep(0.01)
    return os.path.getsize("log.txt")
"""
    instance = await runtime.open(world(source))
    assert (await instance.call("add", {})).value == 1
    (machine,) = cloud.machines.values()
    machine.place("/db/hold").touch()
    calling = asyncio.create_task(instance.call("add", {}))
    while machine.place("/db/log.txt").stat().st_size < 2:
        await asyncio.sleep(0.01)
    cloud.lose()
    assert (await calling).value == 2
    assert len(cloud.made) == 2


async def test_a_sandbox_lost_twice_is_infra_until_a_reset(cloud: Double, runtime: Runtime, library: Bundle) -> None:
    instance = await runtime.open(library.root)
    await instance.call("update_book_copies", {"book_id": "B001", "copies": 9})
    cloud.refusals = [(500, "no node has room")]
    cloud.lose()
    seen = await instance.call("get_book", {"book_id": "B001"})
    assert (seen.ok, seen.error) == (False, "infra")
    assert "no node has room" in json.loads(seen.text)["error"]["message"]
    assert (await instance.run(PROGRAM, "solve", {"books": []})).error == "infra"
    with pytest.raises(SandboxError, match="lost with its sandbox"):
        await instance.diff()
    await instance.reset()
    assert (await instance.call("get_book", {"book_id": "B001"})).value["copies"] == 3


async def test_state_that_a_killed_call_left_is_not_made_up(cloud: Double, world: World) -> None:
    source = "def tool():\n    open('x', 'w')\n    while True: pass\ndef ping(): return 1"
    async with open_runtime(settings(cloud, call_timeout_s=0.5)) as runtime:
        instance = await runtime.open(world(source))
        assert (await instance.call("tool", {})).error == "timeout"
        cloud.lose()
        seen = await instance.call("ping", {})
        assert (seen.error, len(cloud.made)) == ("infra", 1)


async def test_state_that_repetition_does_not_bring_back_is_not_made_up(
    cloud: Double, runtime: Runtime, world: World
) -> None:
    instance = await runtime.open(world("import os\ndef tool(): return os.getcwd()\ndef ping(): return 1"))
    assert "e2b-double" in (await instance.call("tool", {})).value  # its folder's name is the double's only chance
    cloud.lose()
    assert "other results" in (await instance.call("ping", {})).text
    assert not cloud.machines


async def test_the_lifetime_of_a_sandbox_begins_anew_while_it_is_in_use(cloud: Double, world: World) -> None:
    cloud.patient = True
    for seconds, longer in ((600, 0.0), (1, 0.5)):
        async with open_runtime(settings(cloud, lifetime_s=seconds)) as runtime:
            instance = await runtime.open(world("def ping(): return 1"))
            (machine,) = cloud.machines.values()
            ends = machine.ends
            await asyncio.sleep(0.6)
            assert (await instance.call("ping", {})).value == 1
            assert machine.ends >= ends + longer
            assert (machine.ends == ends) is (not longer)


# --- Beginnings and ends -----------------------------------------------------------------------------


REFUSALS = (
    (401, "Invalid API key", r"E2B gave no sandbox .*401.*: set runtime\.api_key or E2B_API_KEY"),
    (429, "20 sandboxes are running", r"20 sandboxes are running.*runtime\.max_instances"),
    (404, "template 'x' not found", r"template 'x' not found.*runtime\.template"),
    (500, "no node has room", r"no node has room.*status\.e2b\.dev"),
)


async def test_a_refusal_of_the_api_is_one_sentence(cloud: Double, runtime: Runtime, library: Bundle) -> None:
    for status, message, says in REFUSALS:
        cloud.refusals = [(status, message)]
        with pytest.raises(SandboxError, match=says) as caught:
            await runtime.open(library.root)
        assert "\n" not in str(caught.value)
    assert (await (await runtime.open(library.root)).call("get_book", {"book_id": "B003"})).ok


async def test_a_wrong_key_and_an_api_out_of_reach_are_sandbox_errors(cloud: Double, library: Bundle) -> None:
    async with open_runtime(settings(cloud, api_key="e2b_wrong")) as runtime:
        with pytest.raises(SandboxError, match=r"set runtime\.api_key"):
            await runtime.open(library.root)
    async with open_runtime(settings(cloud, api_url="http://127.0.0.1:9")) as runtime:
        with pytest.raises(SandboxError, match=r"runtime\.domain, your network"):
            await runtime.open(library.root)


async def test_a_missing_key_names_the_setting_and_the_variable() -> None:
    if os.environ.get("E2B_API_KEY"):
        pytest.skip("a key is set here")
    with pytest.raises(UsageError, match=r"runtime\.api_key or the variable E2B_API_KEY"):
        async with open_runtime(E2BRuntime()):
            pass


def test_a_missing_sdk_names_the_extra(tmp_path: Path) -> None:
    program = """
import asyncio, sys
class Gone:
    def find_spec(self, name, *rest):
        if name.partition(".")[0] in ("e2b", "e2b_code_interpreter"): raise ModuleNotFoundError(name)
sys.meta_path.insert(0, Gone())
from agent_world.settings import E2BRuntime
from agent_world.tools.runtime import open_runtime
async def main():
    async with open_runtime(E2BRuntime(api_key="x")): pass
asyncio.run(main())
"""
    found = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=False)
    assert "UsageError: " in found.stderr
    assert "pip install 'agent-world[e2b]'" in found.stderr


async def test_a_wrong_clock_names_the_setting(cloud: Double) -> None:
    with pytest.raises(UsageError, match=r"runtime\.clock"):
        async with open_runtime(settings(cloud, clock="soon")):
            pass


async def test_an_open_that_is_given_up_leaves_no_sandbox(cloud: Double, library: Bundle) -> None:
    cloud.delay_s = 0.3
    async with open_runtime(settings(cloud, max_instances=1)) as runtime:
        opening = asyncio.create_task(runtime.open(library.root))
        await asyncio.sleep(0.1)
        opening.cancel()
        with pytest.raises(asyncio.CancelledError):
            await opening
        assert (await (await runtime.open(library.root)).call("get_book", {"book_id": "B003"})).ok
        assert len(cloud.made) == 2
        assert len(cloud.machines) == 1
    assert not cloud.machines


async def test_instances_wait_for_a_place_and_a_closed_one_says_so(cloud: Double, library: Bundle) -> None:
    async with open_runtime(settings(cloud, max_instances=1)) as runtime:
        first = await runtime.open(library.root)
        waiting = asyncio.create_task(runtime.open(library.root))
        await asyncio.sleep(0.1)
        assert (waiting.done(), len(cloud.machines)) == (False, 1)
        await first.close()
        await first.close()
        with pytest.raises(SandboxError, match="closed"):
            await first.call("get_book", {"book_id": "B001"})
        assert (await (await waiting).call("get_book", {"book_id": "B003"})).ok


async def test_eight_instances_work_side_by_side(cloud: Double, runtime: Runtime, library: Bundle) -> None:
    async def story(copies: int) -> StateDiff:
        instance = await runtime.open(library.root)
        for number in range(copies):
            await instance.call("update_book_copies", {"book_id": "B001", "copies": 10 + number})
        return await instance.diff()

    found = await asyncio.gather(*(story(n) for n in range(1, 9)))
    assert [diff.changes[0].after for diff in found] == [{"copies": 9 + n} for n in range(1, 9)]
    assert len(cloud.machines) == 8
    assert {body["allow_internet_access"] for body in cloud.made} == {False}


async def test_an_error_in_the_midst_ends_all_sandboxes(cloud: Double, library: Bundle) -> None:
    async def fail() -> None:
        async with open_runtime(settings(cloud)) as runtime:
            await asyncio.gather(*(runtime.open(library.root) for _ in range(3)))
            raise KeyError("mine")

    with pytest.raises(KeyError, match="mine"):
        await fail()
    assert not cloud.machines


async def test_a_killed_controller_leaves_nothing_for_longer_than_the_lifetime(cloud: Double, library: Bundle) -> None:
    program = f"""
import asyncio, sys
from pathlib import Path
from agent_world.settings import E2BRuntime
from agent_world.tools.runtime import open_runtime
async def main():
    async with open_runtime(E2BRuntime(api_key={KEY!r}, lifetime_s=60)) as runtime:
        instance = await runtime.open(Path({str(library.root)!r}))
        print((await instance.call("get_book", {{"book_id": "B003"}})).ok, flush=True)
        await asyncio.sleep(60)
asyncio.run(main())
"""
    addresses = {"E2B_API_URL": cloud.url, "E2B_SANDBOX_URL": cloud.url}
    controller = await asyncio.create_subprocess_exec(
        sys.executable, "-c", program, env={**os.environ, **addresses}, stdout=subprocess.PIPE
    )
    assert controller.stdout is not None
    assert await controller.stdout.readline() == b"True\n"
    controller.send_signal(signal.SIGKILL)
    await controller.wait()
    (machine,) = cloud.machines.values()
    assert processes_of(machine.folder)
    cloud.let_pass(60)
    assert not cloud.machines
    while processes_of(machine.folder):
        await asyncio.sleep(0.01)


async def test_what_holds_is_said(runtime: Runtime) -> None:
    lines = runtime.describe()
    assert any("virtual machine" in line for line in lines)
    assert any("lifetime" in line or "after its last use" in line for line in lines)
