"""Same seed, same calls: the same observations and the same state, wherever and whenever."""

import asyncio
from datetime import UTC, datetime
from typing import Any

from agent_world.evals.bench.lab import CaseFailed, Lab, must, same
from agent_world.evals.bench.registry import case
from agent_world.tools.runtime import Runtime


async def observe(runtime: Runtime, root: Any, seed: int) -> tuple[list[str], str]:
    """Texts of three calls of `chance`, and the state hash after them."""
    instance = await runtime.open(root, seed=seed)
    try:
        texts = [(await instance.call("chance", {})).text for _ in range(3)]
        return texts, await instance.state_hash()
    finally:
        await instance.close()


@case("behaviour", "same seed, same observations and hash, in eight parallel instances", "frozen")
async def eight(lab: Lab) -> None:
    seen = await asyncio.gather(*(observe(lab.runtime, lab.standard, 7) for _ in range(8)))
    for one in seen:
        same(one, seen[0], "observations under one seed")
    must(len(set(seen[0][0])) == 3, "three calls of `chance` gave the same.")


@case("behaviour", "same seed, same observations and hash, in another backend", "frozen")
async def another_backend(lab: Lab) -> None:
    here = await observe(lab.runtime, lab.standard, 7)
    async with lab.other_runtime() as other:
        same(await observe(other, lab.standard, 7), here, "observations in a second backend")


@case("behaviour", "same seed, same observations and hash, in another process of ours", "frozen", "elsewhere")
async def another_process(lab: Lab) -> None:
    assert lab.elsewhere is not None
    here = await observe(lab.runtime, lab.standard, 7)
    same(await lab.elsewhere(lab.standard, 7), here, "observations in another process")


@case("behaviour", "same seed, same chance in a program and in a process that it forks", "frozen")
async def chance_in_a_program(lab: Lab) -> None:
    source = """
import os, random, secrets, uuid
def look(): return [random.random(), random.Random().random(), secrets.token_hex(8), str(uuid.uuid4())]
def solve():
    mine = look()
    try:
        end, other = os.pipe()
        if os.fork() == 0:
            os.write(other, repr(look()).encode())
            os._exit(0)
        return [mine, os.read(end, 4096).decode(), look()]
    except OSError:  # where a program may not fork
        return [mine]
"""
    seen = []
    async with lab.other_runtime() as other:
        for runtime, seed in ((lab.runtime, 7), (other, 7), (other, 8)):
            instance = await runtime.open(lab.standard, seed=seed)
            result = await instance.run(source, "solve", {})
            must(result.ok, f"the program failed: {result.error}")
            seen.append(result.value)
            await instance.close()
    same(seen[1], seen[0], "what a program drew under one seed")
    must(all(one != two for one, two in zip(seen[2], seen[0], strict=True)), "two seeds gave a program the same.")


@case("behaviour", "another seed sees something else", "frozen")
async def another_seed(lab: Lab) -> None:
    one, other = await observe(lab.runtime, lab.standard, 1), await observe(lab.runtime, lab.standard, 2)
    must(one[0] != other[0] and one[1] != other[1], "two seeds gave the same observations or state.")


@case("behaviour", "a reset begins again", "frozen")
async def begins_again(lab: Lab) -> None:
    instance = await lab.open(seed=3)
    first = (await instance.call("chance", {})).text
    await instance.call("chance", {})
    await instance.reset()
    same((await instance.call("chance", {})).text, first, "observation after reset")


@case("behaviour", "the clock stands still, in Python and in SQLite", "frozen")
async def clock(lab: Lab) -> None:
    seen = await (await lab.open()).call("now", {})
    if not seen.ok:
        raise CaseFailed(f"the call failed: {seen.text}")
    moment = datetime.fromisoformat(lab.limits.clock).replace(tzinfo=UTC)
    for seconds in seen.value["seconds"]:
        same(float(seconds), moment.timestamp(), "seconds")
    day, clock_text = moment.strftime("%Y-%m-%d"), moment.strftime("%H:%M:%S")
    for text in (*seen.value["text"], *seen.value["dates"]):
        must(text.startswith(day), f"{text} is not on {day}.")
    full, year = f"{day} {clock_text}", moment.strftime("%Y")
    wanted = [full, full, day, year, year, full, int(moment.timestamp()), day, clock_text]
    same(seen.value["sqlite"], wanted, "SQLite's times")
    must(seen.value["exact"], "datetime.now() gives no datetime.")


@case("behaviour", "an instance may have a clock of its own", "frozen")
async def own_clock(lab: Lab) -> None:
    moment = datetime(2031, 5, 6, 7, 8, 9, tzinfo=UTC)
    instance = await lab.open(clock="2031-05-06T07:08:09")
    for _ in range(2):
        seen = await instance.call("now", {})
        must(seen.ok, f"the call failed: {seen.text}")
        same(float(seen.value["seconds"][0]), moment.timestamp(), "seconds")
        await instance.reset()
    other = await (await lab.open()).call("now", {})
    must(float(other.value["seconds"][0]) != moment.timestamp(), "the next instance has that clock as well.")


@case("behaviour", "the times of files stand still", "frozen")
async def file_times(lab: Lab) -> None:
    body = "open('new.txt', 'w').write('x')\nreturn [os.stat(n).st_mtime for n in ('new.txt', 'items.json')]"
    one, other = await lab.open(), await lab.open()
    first = (await one.call("execute", {"body": body})).value
    await asyncio.sleep(0.05)
    same((await other.call("execute", {"body": body})).value, first, "modification times")


@case("behaviour", "addresses, orders and monotonic clocks do not differ", "frozen")
async def orders(lab: Lab) -> None:
    body = """
for name in 'dbca': open(name + '.txt', 'w').close()
class Thing: pass
started = time.monotonic()
return [os.listdir('.'), sorted(globals()) == sorted(globals()), repr(Thing()), hash(Thing) % 7, started,
        time.perf_counter(), list({'x', 'y', 'z'}), id(Thing()) % 1024]
"""
    one, other = await lab.open(), await lab.open()
    first = (await one.call("execute", {"body": body})).value
    must(first is not None, "the call failed.")
    for found, wanted in zip((await other.call("execute", {"body": body})).value["value"], first["value"], strict=True):
        same(found, wanted, "what another instance sees")


@case("behaviour", "a wait takes no time of the frozen clock backwards", "frozen")
async def monotonic(lab: Lab) -> None:
    body = "a = time.monotonic()\ntime.sleep(0.02)\nb = time.monotonic()\nreturn b >= a"
    seen = await (await lab.open()).call("execute", {"body": body})
    same(seen.value, {"value": True}, f"monotonic time after a sleep ({seen.text})")
