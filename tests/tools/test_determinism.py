"""Same seed, same calls: same observations and same state, wherever and whenever."""

import asyncio
import json
import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from agent_world.settings import LocalRuntime, Rung
from agent_world.tools.runtime import Runtime, open_runtime
from agent_world.tools.sandbox.addresses import fixed_addresses
from agent_world.tools.sandbox.launcher import Launcher
from agent_world.tools.sandbox.local import LocalBackend

World = Callable[..., Path]

CHANCE = """
import datetime, json, os, random, secrets, sqlite3, time, uuid
from datetime import date, datetime as moment
from time import time as early

def chance():
    connection = sqlite3.connect("log.sqlite")
    with connection:
        connection.execute("CREATE TABLE IF NOT EXISTS log (id TEXT, at TEXT DEFAULT current_timestamp, n INTEGER)")
        connection.execute("INSERT INTO log (id, n) VALUES (?, random())", (str(uuid.uuid4()),))
        rows = connection.execute("SELECT * FROM log").fetchall()
    connection.close()
    return {
        "random": [random.random(), random.Random().random(), random.SystemRandom().random(), secrets.token_hex(4)],
        "bytes": os.urandom(4).hex(), "uuid": [str(uuid.uuid4()), str(uuid.uuid1())],
        "hash": hash("text"), "set": list({"a", "b", "c", "d"}), "rows": rows, "pid": os.getpid(),
    }

def now():
    sql = sqlite3.connect(":memory:").execute(
        "SELECT datetime('now'), datetime(), date('now', '+1 day'), strftime('%H:%M', 'now'), strftime('%Y'),"
        " current_timestamp, datetime('2020-02-03 04:05:06'), unixepoch('now'), current_date"
    ).fetchone()
    return {
        "time": [time.time(), time.time_ns(), early(), time.strftime("%Y"), time.gmtime().tm_hour, time.ctime()],
        "datetime": [str(moment.now()), str(moment.utcnow()), str(datetime.datetime.today()), str(date.today()),
                     str(moment.now(datetime.timezone.utc)), type(moment.now()) is moment],
        "sqlite": sql,
    }
"""


async def observe(root: Path, seed: int, runtime: Runtime) -> tuple[list[str], str]:
    instance = await runtime.open(root, seed=seed)
    texts = [(await instance.call("chance", {})).text for _ in range(3)]
    state = await instance.state_hash()
    await instance.close()
    return texts, state


async def test_eight_parallel_instances_see_the_same(runtime: Runtime, world: World) -> None:
    root = world(CHANCE)
    seen = await asyncio.gather(*(observe(root, 7, runtime) for _ in range(8)))
    assert all(one == seen[0] for one in seen)
    assert len(set(seen[0][0])) == 3


async def test_another_seed_sees_something_else(runtime: Runtime, world: World) -> None:
    root = world(CHANCE)
    one, other = await observe(root, 1, runtime), await observe(root, 2, runtime)
    assert one[0] != other[0]
    assert one[1] != other[1]


async def test_another_process_sees_the_same(runtime: Runtime, world: World) -> None:
    root = world(CHANCE)
    source = f"""
import asyncio, json
from pathlib import Path
from agent_world.settings import LocalRuntime, Rung
from agent_world.tools.runtime import open_runtime
async def main():
    async with open_runtime(LocalRuntime(memory_mb=256, disk_mb=8)) as runtime:
        instance = await runtime.open(Path({str(root)!r}), seed=7)
        texts = [(await instance.call("chance", {{}})).text for _ in range(3)]
        print(json.dumps([texts, await instance.state_hash()]))
asyncio.run(main())
"""
    environment = {**os.environ, "PYTHONHASHSEED": "12345", "TZ": "Asia/Tokyo", "LC_ALL": "tr_TR.UTF-8"}
    run = await asyncio.to_thread(
        subprocess.run, [sys.executable, "-c", source], capture_output=True, text=True, env=environment, check=True
    )
    texts, state = json.loads(run.stdout)
    assert (texts, state) == await observe(root, 7, runtime)


async def test_a_reset_begins_again(runtime: Runtime, world: World) -> None:
    instance = await runtime.open(world(CHANCE), seed=3)
    first = (await instance.call("chance", {})).text
    await instance.reset()
    assert (await instance.call("chance", {})).text == first


@pytest.mark.parametrize("clock", ["2026-01-15T09:00:00", "2031-12-31T23:59:59"])
async def test_every_clock_stands_at_the_moment_that_is_set(world: World, clock: str) -> None:
    async with open_runtime(LocalRuntime(clock=clock)) as runtime:
        instance = await runtime.open(world(CHANCE))
        seen = (await instance.call("now", {})).value
    day, hour = clock.split("T")
    spaced = f"{day} {hour}"
    assert seen["datetime"] == [spaced, spaced, spaced, day, f"{spaced}+00:00", True]
    assert seen["time"][3] == day[:4]
    assert seen["time"][0] * 10**9 == seen["time"][1] == seen["time"][2] * 10**9
    now, bare, _, short, year, stamp, given, _, today = seen["sqlite"]
    assert (now, bare, stamp, given, today) == (spaced, spaced, spaced, "2020-02-03 04:05:06", day)
    assert (short, year) == (hour[:5], day[:4])


async def test_waiting_still_waits(runtime: Runtime, world: World) -> None:
    instance = await runtime.open(
        world("import time\ndef tool():\n    time.sleep(0.05)\n    return time.time() == time.time()")
    )
    assert (await instance.call("tool", {})).value is True


EVERYTHING = """
import datetime, glob, json, os, pathlib, random, secrets, socket, sqlite3, tempfile, threading, time, uuid

class Log(sqlite3.Connection):
    pass

def everything():
    for name in ("zeta", "alpha", "mid"):
        pathlib.Path(name).mkdir()
        for inner in ("9", "10", "b", "a"): pathlib.Path(name, inner).write_text(inner)
    return {"clocks": clocks(), "files": files(), "databases": databases(), "chance": chance(), "self": self()}

def clocks():
    before = [time.monotonic(), time.perf_counter_ns(), time.process_time(), time.thread_time_ns()]
    time.sleep(0.02)
    after = [time.monotonic_ns(), time.clock_gettime_ns(time.CLOCK_MONOTONIC), time.clock_gettime(0), list(os.times())]
    return before + after + [time.time(), time.asctime(), time.ctime(), str(datetime.datetime.now())]

def files():
    seen = [os.stat("alpha"), os.lstat("alpha/b"), next(os.scandir("mid")).stat(), pathlib.Path("zeta/a").stat()]
    with open("zeta/9") as file: seen.append(os.fstat(file.fileno()))
    names = [os.listdir("."), [e.name for e in os.scandir("mid")], sorted(glob.glob("*/b")), glob.glob("alpha/*")]
    names += [[str(p) for p in pathlib.Path("zeta").iterdir()], [str(p) for p in pathlib.Path(".").rglob("1*")]]
    walked = [[a, b, c] for a, b, c in os.walk(".")]
    return [[list(s) + [s.st_mtime_ns, s.st_atime_ns, s.st_ctime_ns, s.st_blocks] for s in seen], names, walked]

def databases():
    found = []
    for made in (sqlite3.connect("one.sqlite"), sqlite3.Connection("two.sqlite"),
                 sqlite3.connect("three.sqlite", factory=Log), sqlite3.dbapi2.connect("four.sqlite"),
                 sqlite3.connect("five.sqlite", 5.0, 0, "", True, sqlite3.Connection), Log("six.sqlite")):
        with made:
            made.execute("CREATE TABLE t (n, at DEFAULT CURRENT_TIMESTAMP, day DEFAULT CURRENT_DATE,"
                         " r DEFAULT (random()))")
            made.executemany("INSERT INTO t (n) VALUES (?)", [(n,) for n in range(6)])
        found.append(made.execute("SELECT * FROM t WHERE n = 3").fetchone())
        found.append([n for n, in made.execute("SELECT n FROM t ORDER BY random()")])
        found.append(made.execute("SELECT hex(randomblob(4)), time('now'), julianday('now'), "
                                  "strftime('%s', 'now'), datetime('now', '-1 hour', 'start of day')").fetchone())
        made.close()
    return found

def chance():
    with tempfile.NamedTemporaryFile(dir=".") as file: name = os.path.basename(file.name)
    return [random.random(), random.Random().random(), random.sample(range(99), 3), secrets.token_hex(4),
            os.urandom(3).hex(), str(uuid.uuid4()), str(uuid.uuid1()), hash("text"), name, os.getrandom(2).hex()]

def self():
    return [os.getuid(), os.getgid(), os.cpu_count(), os.uname().nodename, socket.gethostname()]
"""
GOLDEN = Path(__file__).with_name("golden_observation.json")
"""What `everything` gave on the day on which this was written: no later day may see anything else."""


@pytest.mark.parametrize("only", [None, "confined"])
async def test_another_day_sees_the_same(world: World, only: Rung | None) -> None:
    backend = LocalBackend(LocalRuntime(observation_chars=100_000), Launcher(only))
    await backend.start()
    try:
        instance = await backend.open(world(EVERYTHING), seed=7)
        seen = await instance.call("everything", {})
    finally:
        await backend.stop()
    assert seen.ok, seen.text
    assert seen.value == json.loads(GOLDEN.read_text())


async def test_measuring_clocks_advance_by_looks_and_by_sleep(runtime: Runtime, world: World) -> None:
    root = world("""
import time
def tool():
    looks = [time.monotonic_ns() for _ in range(3)]
    time.sleep(0.05)
    return [looks[1] - looks[0], looks[2] - looks[1], time.monotonic_ns() - looks[2]]
def wait():
    end = time.monotonic() + 0.01
    while time.monotonic() < end: pass
    return True
""")
    instance = await runtime.open(root)
    assert (await instance.call("tool", {})).value == [1000, 1000, 50_001_000]
    assert (await instance.call("wait", {})).value is True


@pytest.mark.parametrize(
    "body",
    [
        "import queue\n    try: queue.Queue().get(timeout=0.05)\n    except queue.Empty: return 'late'",
        "import threading\n    return 'late' if not threading.Event().wait(0.05) else ''",
        """import threading
    lock = threading.Lock(); lock.acquire()
    return 'late' if not lock.acquire(timeout=0.05) else ''""",
        """import threading
    condition = threading.Condition()
    with condition: return 'late' if not condition.wait_for(lambda: False, 0.05) else ''""",
        """import asyncio
    async def main():
        await asyncio.sleep(0.01)
        try: await asyncio.wait_for(asyncio.sleep(60), 0.05)
        except TimeoutError: return 'late'
    return asyncio.run(main())""",
        """import concurrent.futures as f, time
    with f.ThreadPoolExecutor(2) as pool:
        slow = pool.submit(time.sleep, 0.2)
        try: slow.result(0.02)
        except TimeoutError: pass
        try: list(f.as_completed([slow], 0.02))
        except TimeoutError: return 'late' if f.wait([slow], 0.02).not_done else ''""",
        """import sched, time
    plan, done = sched.scheduler(), []
    plan.enter(0.02, 1, done.append, ('late',)); plan.run()
    return done[0]""",
        """import select, os
    return 'late' if select.select([os.pipe()[0]], [], [], 0.02)[0] == [] else ''""",
    ],
)
async def test_timeouts_of_the_standard_library_are_real(world: World, body: str) -> None:
    async with open_runtime(LocalRuntime(call_timeout_s=10.0)) as runtime:  # to import asyncio takes its time
        instance = await runtime.open(world(f"def tool():\n    {body}\n"))
        seen = await instance.call("tool", {})
    assert seen.value == "late", seen.text


async def test_the_timeout_of_a_started_program_is_real(world: World) -> None:
    backend = LocalBackend(LocalRuntime())
    await backend.start()
    try:
        if backend.launcher.rung == "confined":
            pytest.skip("no namespaces on this machine: no programs")
        instance = await backend.open(
            world("""
import subprocess
def tool():
    try: subprocess.run(["/usr/bin/sleep", "60"], timeout=0.05)
    except subprocess.TimeoutExpired: return "late"
""")
        )
        assert (await instance.call("tool", {})).value == "late"
    finally:
        await backend.stop()


async def test_times_that_were_set_are_kept_and_others_are_now(runtime: Runtime, world: World) -> None:
    root = world("""
import os, pathlib, shutil, time
def tool():
    path = pathlib.Path("a"); path.write_text("a")
    fresh = [os.path.getmtime(path) == time.time(), path.stat().st_atime == time.time()]
    os.utime(path, (5, 1234567890))
    shutil.copy2(path, "b")
    set_ = [os.path.getmtime("a"), os.stat("b").st_mtime]
    path.write_text("b"); pathlib.Path("b").touch()
    return fresh + set_ + [path.stat().st_mtime == time.time(), os.path.getmtime("b") == time.time()]
""")
    instance = await runtime.open(root)
    assert (await instance.call("tool", {})).value == [True, True, 1234567890, 1234567890, True, True]


async def test_moments_are_ordinary_values(runtime: Runtime, world: World) -> None:
    root = world("""
import copy, datetime as d, pickle, zoneinfo
def tool():
    now, aware = d.datetime.now(), d.datetime.now(d.timezone.utc)
    later = d.datetime.fromtimestamp(aware.timestamp() + 60, d.timezone.utc)
    return [
        type(now) is d.datetime, isinstance(now, d.date), pickle.loads(pickle.dumps(aware)) == aware,
        copy.deepcopy(now) == now, later - aware == d.timedelta(minutes=1), later > aware, hash(now) == hash(now),
        d.datetime.fromisoformat(now.isoformat()) == now, d.date.today() == now.date(), now.tzinfo is None,
        d.datetime.strptime("2020-01-02", "%Y-%m-%d").year == 2020, now.astimezone().utcoffset() == d.timedelta(0),
    ]
""")
    instance = await runtime.open(root)
    seen = await instance.call("tool", {})
    assert seen.value == [True] * 12, seen.text


async def test_ids_of_process_and_thread_are_the_same_everywhere(world: World) -> None:
    root = world("""
import os, threading
def tool():
    main, seen = threading.main_thread(), []
    other = threading.Thread(target=lambda: seen.append(threading.get_native_id()))
    other.start()
    other.join()
    return [os.getpid(), main.native_id, threading.get_native_id(), main is threading.current_thread(), seen]
""")
    seen = []
    for only, pid in (("confined", 2), (None, 1)):
        backend = LocalBackend(LocalRuntime(), Launcher(only))
        await backend.start()
        for _ in range(2):
            seen.append((await (await backend.open(root)).call("tool", {})).value)
            assert seen[-1][:4] == [pid, pid, pid, True]
        await backend.stop()
    assert seen[0] == seen[1]
    assert seen[2] == seen[3]


ADDRESSES = """
class One: pass
class Other: pass
def tool():
    kinds = [kind.__name__ for kind in {One, Other, int, str}]
    return [repr(object()), repr(One()), repr(tool), id(One), hash(None), kinds]
"""


EARLY = """
import os, random, threading
ID, PARENT, THREAD, SEEN = os.getpid(), os.getppid(), threading.main_thread().native_id, random.getstate()[1][:3]
NATIVE = threading.get_native_id()
def tool(): return [ID, PARENT, THREAD, NATIVE, SEEN]
"""


@pytest.mark.parametrize("only", [None, "confined"])
async def test_ids_are_hidden_from_the_body_of_a_module_as_well(world: World, only: Rung | None) -> None:
    root, seen = world(EARLY), set()
    for _ in range(2):
        backend = LocalBackend(LocalRuntime(), Launcher(only))
        await backend.start()
        try:
            for _ in range(2):
                seen.add((await (await backend.open(root)).call("tool", {})).text)
                while backend.pool.refilling:
                    await asyncio.sleep(0.005)
        finally:
            await backend.stop()
    (text,) = seen
    own = 2 if only else 1
    assert json.loads(text)[:4] == [own, 0, own, own]


@pytest.mark.parametrize("held", [0, 5, 8, 12])
@pytest.mark.parametrize("only", [None, "confined"])
async def test_objects_lie_at_the_same_addresses_in_every_instance(world: World, only: Rung | None, held: int) -> None:
    """`held`: descriptors of ours, whose numbers go into what the zygote is started with, and so move its memory."""
    root = world(ADDRESSES)
    descriptors = [os.open(os.devnull, os.O_RDONLY) for _ in range(held)]
    first, second = await _addresses(root, only), await _addresses(root, only)
    for descriptor in descriptors:
        os.close(descriptor)
    assert len(set(first)) == len(set(second)) == 1
    if not await asyncio.to_thread(_addresses_vary):  # a container may forbid to fix them
        assert first == second


async def _addresses(root: Path, only: Rung | None) -> list[str]:
    """As nine instances of a fresh runtime see them, in a second call and in a program."""
    backend = LocalBackend(LocalRuntime(), Launcher(only))
    await backend.start()
    try:
        instances = []
        for clock in ("2030-01-01T00:00:00", *[None] * 8):  # with those that wait for it told nothing, this or another
            instances.append(await backend.open(root, seed=1, clock=clock))
            while backend.pool.refilling:
                await asyncio.sleep(0.005)
        found = []
        for instance in instances:
            await instance.call("tool", {})
            program = await instance.run(ADDRESSES, "tool", {})
            found.append(f"{(await instance.call('tool', {})).text} {program.value}")
        return found
    finally:
        await backend.stop()


def _addresses_vary() -> bool:
    with fixed_addresses():
        command = [sys.executable, "-c", "print(id(None))"]
        return len({subprocess.run(command, capture_output=True).stdout for _ in range(3)}) > 1
