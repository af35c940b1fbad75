"""The benchmark of the local runtime: starts, calls, memory, density, against peers on the same tools.

Every comparison is of medians over repeated measurements that take turns, so that what disturbs one disturbs the other.
Times are wall-clock times of this process, memory is read from the kernel.
"""

import asyncio
import contextlib
import json
import resource
import statistics
import tempfile
import time
from collections.abc import AsyncIterator, Awaitable, Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, cast

from agent_world.evals.bench import memory
from agent_world.evals.bench.figures import Figure, Target, judge
from agent_world.evals.bench.peers import BENCH_TOOLS, READ, InProcess, call_subprocess, mcp_server, users_json
from agent_world.evals.bench.world import write_bare_world, write_server
from agent_world.progress import Progress, silent
from agent_world.schema import ToolAnnotations, ToolSpec
from agent_world.settings import LocalRuntime
from agent_world.tools.runtime import Instance, Runtime, open_runtime
from agent_world.tools.sandbox.local import LocalBackend

MCP = "MCP server over stdio"
EXEC = "exec in process"
SUBPROCESS = "subprocess a call"
_SETTLE_S = 0.3
"""Until what was stopped is gone."""
_IDLE_S = 0.06
"""Long enough for the machine to have slept: what comes next finds its caches cold."""


@dataclass
class Bench:
    """Where measurements are collected: seconds by name, then figures."""

    root: Path
    """Without schemas, as the peers are: their tools are called as they come."""
    checked: Path
    """The same as an environment has it: arguments are checked, and what says that it only reads is held to it."""
    data: Path
    script: Path
    server: Path
    instances: int
    repeat: int
    progress: Progress
    times: dict[str, list[float]] = field(default_factory=dict)
    figures: list[Figure] = field(default_factory=list)

    def add(self, name: str, seconds: float) -> None:
        self.times.setdefault(name, []).append(seconds)

    def median(self, name: str) -> float:
        return statistics.median(self.times[name])

    def figure(
        self, name: str, of: str, against: str = "", peer: str = "", target: Target | None = None, note: str = ""
    ) -> None:
        """The median of the times `of` in ms; `against` them those of `peer`."""
        baseline = self.median(against) * 1000 if against else None
        value, samples = self.median(of) * 1000, len(self.times[of])
        figure = Figure(
            name=name, value=value, unit="ms", samples=samples, against=peer or None, baseline=baseline, note=note
        )
        self.figures.append(judge(figure, target))


async def bench_runtime(instances: int = 1000, repeat: int = 5, progress: Progress | None = None) -> list[Figure]:
    """All figures of the runtime; `instances` are held alive at once, starts are measured `repeat` times.

    Raises `SandboxError` where this machine cannot isolate.
    """
    with tempfile.TemporaryDirectory(prefix="bench-") as folder:
        bench = _prepare(Path(folder), instances, repeat, progress or silent())
        for name, part in (("starts", _starts), ("calls", _calls), ("memory and density", _density)):
            with bench.progress.stage(f"Measuring {name}"):
                await part(bench)
        return bench.figures


def _prepare(folder: Path, instances: int, repeat: int, progress: Progress) -> Bench:
    folder.chmod(0o755)
    root = write_bare_world(folder / "world", BENCH_TOOLS, users__json=users_json())
    checked = write_bare_world(folder / "checked", BENCH_TOOLS, users__json=users_json())
    reads = ToolAnnotations(read_only=True)
    empty = {"type": "object", "properties": {}, "additionalProperties": False}
    specs = [ToolSpec(name=n, description=n, input_schema=empty, annotations=reads) for n in ("ping", "read_users")]
    listed = [spec.model_dump(mode="json", by_alias=True, exclude_none=True) for spec in specs]
    (checked / "tools.json").write_text(json.dumps({"tools": listed}))
    server = write_server(folder / "server")
    tools = server.with_name("standard_tools.py")
    tools.write_text(tools.read_text() + READ)
    server.write_text(server.read_text().replace("tools.ping,", "tools.ping, tools.read_users,"))
    return Bench(root, checked, root / "database", root / "tools.py", server, instances, repeat, progress)


# --- Starts ------------------------------------------------------------------------------------------


async def _starts(bench: Bench) -> None:
    without = LocalRuntime(ahead=0)
    async with open_runtime(LocalRuntime()) as pooled, open_runtime(without) as unpooled:
        await _first_answer(pooled, bench.root)
        await _first_answer(unpooled, bench.root)
        for turn in range(bench.repeat):
            bench.progress.note(f"turn {turn + 1} of {bench.repeat}: backends and servers")
            bench.add("backend", await _backend_start(bench))
            bench.add("mcp start", await _mcp_start(bench))
            await asyncio.sleep(_SETTLE_S)
            for _ in range(5):
                bench.add("subprocess", await _timed(call_subprocess, "ping", bench.script, bench.data))
                bench.add("reset", await _reset(pooled, bench.root))
                for _ in range(3):
                    await _starts_of_instances(bench, pooled, unpooled, "")
                await _starts_of_instances(bench, pooled, unpooled, " after idleness", _IDLE_S)
    thousand, hundred = Target(kind="at_least", bound=1000), Target(kind="at_least", bound=100)
    bench.figure(
        "warm hand-out",
        "hand-out",
        "mcp start",
        MCP,
        thousand,
        "from asking for an instance to having it, "
        "tools executed, while some wait and seeds are the same; the server's start ends with its first answer",
    )
    bench.figure("warm hand-out and first answer", "warm", "mcp start", MCP, thousand,
                 "from asking for an instance to its first answer")  # fmt: skip
    bench.figure("warm hand-out and first answer, machine idle before", "warm after idleness", "mcp start", MCP,
                 note=f"{_IDLE_S * 1000:.0f} ms of it")  # fmt: skip
    bench.figure("cold start of an instance", "cold", "mcp start", MCP, hundred,
                 "to its first answer, with none started ahead; right after other starts")  # fmt: skip
    bench.figure("cold start of an instance, machine idle before", "cold after idleness", "mcp start", MCP,
                 note=f"{_IDLE_S * 1000:.0f} ms of it")  # fmt: skip
    bench.figure("cold start of the backend", "backend", "mcp start", MCP, None,
                 "once a process: a clean interpreter, its walls, a first answer")  # fmt: skip
    bench.figure(
        "reset", "reset", "mcp start", MCP, None, "to the first answer after it; an MCP server must be started anew"
    )


async def _starts_of_instances(
    bench: Bench, pooled: Runtime, unpooled: Runtime, when: str, idle_s: float = 0.0
) -> None:
    await _settled(pooled)
    await asyncio.sleep(idle_s)
    handed, answered = await _first_answer(pooled, bench.root)
    bench.add(f"hand-out{when}", handed)
    bench.add(f"warm{when}", answered)
    await _settled(pooled)
    await asyncio.sleep(idle_s)
    bench.add(f"cold{when}", (await _first_answer(unpooled, bench.root))[1])


async def _settled(runtime: Runtime) -> None:
    """Until its pool is not starting any instance ahead, which would go on beside what is measured."""
    while cast(LocalBackend, runtime).pool.refilling:
        await asyncio.sleep(0.001)


async def _backend_start(bench: Bench) -> float:
    """Seconds until its first instance has answered; that it ends as well is not counted."""
    started = time.perf_counter()
    async with open_runtime(LocalRuntime()) as runtime:
        await _ping(await runtime.open(bench.root))
        return time.perf_counter() - started


async def _mcp_start(bench: Bench) -> float:
    started = time.perf_counter()
    async with mcp_server(bench.server, bench.data) as (call, _):
        await call("ping")
        return time.perf_counter() - started


async def _first_answer(runtime: Runtime, root: Path) -> tuple[float, float]:
    """Seconds until there was an instance, and until it had answered."""
    started = time.perf_counter()
    instance = await runtime.open(root)
    handed = time.perf_counter() - started
    await _ping(instance)
    seconds = time.perf_counter() - started
    await instance.close()
    return handed, seconds


async def _reset(runtime: Runtime, root: Path) -> float:
    instance = await runtime.open(root)
    await _ping(instance)
    await _settled(runtime)
    started = time.perf_counter()
    await instance.reset()
    await _ping(instance)
    seconds = time.perf_counter() - started
    await instance.close()
    return seconds


# --- Calls -------------------------------------------------------------------------------------------


async def _calls(bench: Bench) -> None:
    """Batches of calls by each means in turn."""
    local = InProcess(bench.data)
    async with (
        _instance(bench.root) as instance,
        _instance(bench.checked) as checked,
        mcp_server(bench.server, bench.data) as (call_mcp, _),
    ):
        means: dict[str, Callable[[str], Awaitable[Any]]] = {
            "ours": lambda tool: instance.call(tool, {}),
            "checked": lambda tool: checked.call(tool, {}),
            "exec": local.call,
            "mcp": call_mcp,
        }
        for turn in range(10 * bench.repeat):
            bench.progress.note(f"turn {turn + 1} of {10 * bench.repeat}: calls")
            for name, call in means.items():
                for _ in range(20):
                    bench.add(f"ping {name}", await _timed(call, "ping"))
                for _ in range(10):
                    bench.add(f"read {name}", await _timed(call, "read_users"))
            bench.add("read subprocess", await _timed(call_subprocess, "read_users", bench.script, bench.data))
        rate = await _rate([instance])
    async with open_runtime(LocalRuntime()) as runtime:
        together = await _rate([await runtime.open(bench.root) for _ in range(8)])
    _call_figures(bench, rate, together)


def _call_figures(bench: Bench, rate: float, together: float) -> None:
    twenty, close = Target(kind="at_least", bound=20), Target(kind="at_most", bound=1.15)
    bench.figure(
        "ping, p50", "ping ours", "ping mcp", MCP, twenty, "one caller after another; without schemas, as there"
    )
    bench.figure("ping, p50, checked", "ping checked", "ping mcp", MCP, None,
                 "as in an environment: arguments are checked, and that the tool only reads")  # fmt: skip
    bench.figure("ping, p50", "ping ours", "subprocess", SUBPROCESS)
    bench.figure("ping, p50", "ping ours", "ping exec", EXEC)
    worst, theirs = (statistics.quantiles(bench.times[f"ping {of}"], n=100)[98] * 1000 for of in ("ours", "mcp"))
    tail = Figure(
        name="ping, p99", value=worst, unit="ms", samples=len(bench.times["ping ours"]), against=MCP, baseline=theirs
    )
    bench.figures.append(judge(tail))
    per_second = Figure(name="calls per second, one instance", value=rate, unit="/s", against=MCP,
                        baseline=1 / bench.median("ping mcp"), better="higher", note="one after another")  # fmt: skip
    at_once = Figure(name="calls per second, eight instances at once", value=together, unit="/s", better="higher")
    bench.figures += [judge(per_second), judge(at_once)]
    bench.figure(
        "a tool that reads 100 KB of JSON",
        "read ours",
        "read exec",
        EXEC,
        close,
        "the ratio is ours over theirs; theirs runs in the "
        "benchmark's process, which looks for garbage more often than an instance does",
    )
    bench.figure("a tool that reads 100 KB of JSON, checked", "read checked", "read exec", EXEC)
    bench.figure("a tool that reads 100 KB of JSON", "read ours", "read mcp", MCP)
    bench.figure("a tool that reads 100 KB of JSON", "read ours", "read subprocess", SUBPROCESS)


async def _rate(instances: list[Instance], seconds: float = 1.0) -> float:
    """Calls a second of all together, each instance called again as soon as it has answered."""
    started = time.perf_counter()

    async def keep_calling(instance: Instance) -> int:
        calls = 0
        while time.perf_counter() - started < seconds:
            await instance.call("ping", {})
            calls += 1
        return calls

    calls = sum(await asyncio.gather(*map(keep_calling, instances)))
    return calls / (time.perf_counter() - started)


# --- Memory and density ------------------------------------------------------------------------------


async def _density(bench: Bench) -> None:
    """Hold many instances alive; what they took, and whether each answers."""
    with _descriptors(bench.instances):
        async with open_runtime(LocalRuntime(max_instances=bench.instances + 1, ahead=0)) as runtime:
            first = await runtime.open(bench.root)
            await _ping(first)
            before = memory.available()
            started = time.perf_counter()
            held = await _open_many(bench, runtime)
            seconds = time.perf_counter() - started
            answered = await _answering(held)
            taken = (before - memory.available()) / max(len(held), 1)
            share = memory.proportional_share(memory.session_of(runtime)) if hasattr(runtime, "launcher") else None
    async with mcp_server(bench.server, bench.data) as (call, pid):
        await call("read_users")
        server = memory.proportional_share([await pid()])
    _density_figures(bench, answered, taken, share, server, seconds)


async def _open_many(bench: Bench, runtime: Runtime) -> list[Instance]:
    held: list[Instance] = []
    while len(held) < bench.instances:
        some = min(50, bench.instances - len(held))
        held += await asyncio.gather(*(runtime.open(bench.root) for _ in range(some)))
        bench.progress.note(f"{len(held)} of {bench.instances} instances alive")
    return held


async def _answering(held: list[Instance]) -> int:
    """Every one is asked once all are alive."""
    seen = [await instance.call("read_users", {}) for instance in held]
    return sum(one.ok for one in seen)


def _density_figures(
    bench: Bench, answered: int, taken: float, share: float | None, server: float | None, seconds: float
) -> None:
    wanted = Target(kind="at_least", bound=1000) if bench.instances >= 1000 else None
    four = Target(kind="at_most", bound=4.0)
    alive = Figure(name="instances alive, each answering", value=answered, unit="", better="higher")
    started = Figure(
        name="instances started a second, 50 at once", value=bench.instances / seconds, unit="/s", better="higher"
    )
    drop = Figure(name="memory an instance, all included", value=taken, unit="MB", samples=bench.instances,
                  note="drop of MemAvailable over all instances, with their files; 100 KB of database")  # fmt: skip
    bench.figures += [judge(alive, wanted), judge(started), judge(drop, four)]
    if share is not None:
        ours = Figure(name="memory an instance, processes alone (PSS)", value=share / (answered or 1), unit="MB",
                      against=MCP if server else None, baseline=server)  # fmt: skip
        bench.figures.append(judge(ours))


@contextlib.contextmanager
def _descriptors(instances: int) -> Any:
    """Room for the descriptors of so many instances, as far as the machine allows."""
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    wanted = 6 * instances + 512
    most = wanted if hard == resource.RLIM_INFINITY else min(wanted, hard)
    resource.setrlimit(resource.RLIMIT_NOFILE, (max(soft, most), hard))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_NOFILE, (soft, hard))


# --- Helpers -----------------------------------------------------------------------------------------


@contextlib.asynccontextmanager
async def _instance(root: Path) -> AsyncIterator[Instance]:
    async with open_runtime(LocalRuntime(observation_chars=100_000)) as runtime:
        instance = await runtime.open(root)
        await _ping(instance)
        yield instance
        await instance.close()


async def _ping(instance: Instance) -> None:
    seen = await instance.call("ping", {})
    if not seen.ok:
        raise RuntimeError(f"An instance did not answer: {seen.text}")


async def _timed(work: Callable[..., Awaitable[Any]], *given: Any) -> float:
    started = time.perf_counter()
    await work(*given)
    return time.perf_counter() - started
