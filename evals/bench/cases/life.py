"""The life of instances: closing, waiting, concurrency, crashes, broken bundles."""

import asyncio
from collections.abc import Awaitable, Callable
from typing import Any

from agent_world.errors import AgentWorldError, SandboxError
from agent_world.evals.bench.cases.calls import refused
from agent_world.evals.bench.lab import Lab, must, same
from agent_world.evals.bench.registry import case


async def raises(work: Awaitable[Any], says: str, kind: type[Exception] = SandboxError) -> None:
    try:
        await work
    except kind as error:
        must(says in str(error), f"the error does not say {says!r}: {error}")
        return
    must(False, f"no {kind.__name__} was raised.")


@case("behaviour", "a closed instance says so, and may be closed twice")
async def closed(lab: Lab) -> None:
    instance = await lab.open()
    kept = await instance.snapshot()
    await instance.close()
    await instance.close()
    work: tuple[Callable[[], Awaitable[Any]], ...] = (
        lambda: instance.call("ping", {}),
        lambda: instance.run("def solve(): return 1", "solve", {}),
        instance.diff,
        instance.snapshot,
        lambda: instance.restore(kept),
        instance.reset,
    )
    for one in work:
        await raises(one(), "closed")


@case("behaviour", "instances wait for a place")
async def waiting(lab: Lab) -> None:
    async with lab.other_runtime(max_instances=1) as runtime:
        first = await runtime.open(lab.standard)
        second = asyncio.create_task(runtime.open(lab.standard))
        await asyncio.sleep(0.1)
        must(not second.done(), "a second instance was opened where one is the most.")
        await first.close()
        instance = await second
        await lab.answers(instance, "an instance that waited for its place")
        third = asyncio.create_task(runtime.open(lab.standard))
        await asyncio.sleep(0.05)
        third.cancel()
        await asyncio.gather(third, return_exceptions=True)
        await instance.close()
        await lab.answers(await runtime.open(lab.standard), "an instance after one that gave up waiting")


@case("behaviour", "a bundle that cannot be opened takes no place")
async def no_place_lost(lab: Lab) -> None:
    bad = lab.own_world()
    (bad / "tools.json").write_text("{")
    async with lab.other_runtime(max_instances=1) as runtime:
        for _ in range(3):
            await raises(runtime.open(bad), bad.name, AgentWorldError)
        async with asyncio.timeout(20):
            instance = await runtime.open(lab.standard)
        await lab.answers(instance, "an instance after a broken bundle")


@case("behaviour", "a changed bundle is read again", "tool_code")
async def changed_bundle(lab: Lab) -> None:
    root = lab.bare("def tool(): return 1")
    same((await (await lab.open(root)).call("tool", {})).value, 1, "value at first")
    (root / "tools.py").write_text("def tool(): return 'two'")
    same((await (await lab.open(root)).call("tool", {})).value, "two", "value after the change")


@case("behaviour", "a missing file of the database is an error of the tool")
async def missing_file(lab: Lab) -> None:
    root = lab.own_world()
    (root / "database" / "items.json").unlink()
    instance = await lab.open(root)
    refused(await instance.call("list_items", {}), "exception", "tool_error")
    await lab.answers(instance, "an instance without its file")


@case("behaviour", "siblings working at once do not mix")
async def siblings(lab: Lab) -> None:
    instances = [await lab.open() for _ in range(8)]

    async def work(number: int) -> None:
        for step in range(10):
            count = 100 * number + step
            seen = await instances[number].call("set_count", {"item_id": "I1", "count": count})
            same(seen.value, {"item_id": "I1", "name": "thing 1", "count": count, "price": 1.5}, "value")
        same([c.after for c in (await instances[number].diff()).changes], [{"count": 100 * number + 9}], "changes")

    await asyncio.gather(*(work(number) for number in range(8)))


@case("behaviour", "a cancelled call does not answer the next one")
async def cancelled(lab: Lab) -> None:
    instance = await lab.open()
    call = asyncio.create_task(instance.call("wait", {"seconds": 0.4}))
    await asyncio.sleep(0.1)
    call.cancel()
    await asyncio.gather(call, return_exceptions=True)
    same((await instance.call("get_item", {"item_id": "I1"})).value["count"], 1, "count after a cancelled call")


@case("behaviour", "a call over its time is a timeout, and the instance goes on")
async def timeout(lab: Lab) -> None:
    instance = await lab.open()
    refused(await instance.call("wait", {"seconds": 60}), "timeout")
    await lab.answers(instance, "an instance after a timeout")


@case("behaviour", "a tool that ends its process has crashed, and the instance goes on")
async def crash(lab: Lab) -> None:
    instance = await lab.open()
    await instance.call("set_count", {"item_id": "I1", "count": 5})
    for body in ("os._exit(3)", "os.abort()", "import ctypes\nctypes.string_at(0)"):
        refused(await instance.call("execute", {"body": body}), "crashed")
        same((await instance.call("get_item", {"item_id": "I1"})).value["count"], 5, "count after the crash")


@case("behaviour", "after a crash reset and restore still work")
async def after_crash(lab: Lab) -> None:
    instance = await lab.open()
    start, kept = await instance.state_hash(), await instance.snapshot()
    for again in (instance.reset, lambda: instance.restore(kept)):
        await instance.call("execute", {"body": "open('x.txt', 'w').write('x')\nos._exit(3)"})
        await again()
        same(await instance.state_hash(), start, "state hash after a crash")
        await lab.answers(instance, "an instance after a crash")


@case("behaviour", "a wrong clock is refused, naming the setting")
async def wrong_clock(lab: Lab) -> None:
    async def start() -> None:
        async with lab.other_runtime(clock="soon"):
            pass

    await raises(start(), "clock", AgentWorldError)


@case("behaviour", "the protections that hold are described")
async def described(lab: Lab) -> None:
    lines = lab.runtime.describe()
    must(len(lines) > 1 and all(lines), f"describe() says {lines!r}.")
