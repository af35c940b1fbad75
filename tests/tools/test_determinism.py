"""Same seed, same calls: same observations and same state, wherever and whenever."""

import asyncio
import json
import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from agent_world.settings import LocalRuntime
from agent_world.tools.runtime import Runtime, open_runtime

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
from agent_world.settings import LocalRuntime
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
