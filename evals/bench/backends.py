"""The backends that ship, opened for the suite; and what each, by its nature, does not meet."""

import asyncio
import contextlib
import json
import os
import sys
import tempfile
from collections.abc import AsyncIterator, Callable, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, Literal

from agent_world.errors import SandboxError, UsageError
from agent_world.evals.bench.conformance import Observe, run_conformance
from agent_world.evals.bench.lab import PYTHON, Facts, Limits, OpenRuntime
from agent_world.evals.bench.registry import ConformanceReport
from agent_world.evals.bench.world import WriteWorld, write_server, write_standard_data, write_standard_world
from agent_world.settings import E2BRuntime, LocalRuntime, McpRuntime, Rung
from agent_world.tools.runtime import Runtime, open_runtime

Backend = Literal["local", "e2b", "mcp"]
BackendConfig = LocalRuntime | E2BRuntime | McpRuntime


@dataclass(frozen=True, slots=True)
class Subject:
    """A backend under test."""

    name: str
    open: OpenRuntime
    lacks: Callable[[Runtime], Facts]
    elsewhere: Observe | None = None
    write_world: WriteWorld = write_standard_world
    readable: Callable[[Runtime], Sequence[str]] = lambda _: PYTHON

    async def certify(self, **options: Any) -> ConformanceReport:
        """`run_conformance` on this backend; `options` as there."""
        return await run_conformance(
            self.open,
            name=self.name,
            lacks=self.lacks,
            elsewhere=self.elsewhere,
            write_world=self.write_world,
            readable=self.readable,
            **options,
        )


def subject(backend: Backend, rung: Rung | None = None, config: BackendConfig | None = None) -> Subject:
    """`rung` forces the local isolation down to that; `config` gives the settings that the suite does not set.

    Raises `UsageError` when the two do not fit the backend.
    """
    if rung and backend != "local":
        raise UsageError(f"--rung goes with the local backend alone, not with {backend}.")
    if config and config.kind != backend:
        raise UsageError(f"The configuration is of backend {config.kind}, not {backend}.")
    name = f"{backend} ({rung})" if rung else backend
    if backend == "local":
        local = config or LocalRuntime()
        return Subject(name, lambda limits: _open_local(_with(local, limits), rung), _local_lacks, _elsewhere(rung))
    if backend == "e2b":
        cloud = config or E2BRuntime()
        return Subject(name, lambda limits: open_runtime(_with(cloud, limits)), lambda _: _E2B_LACKS)
    return Subject(
        name, lambda limits: _open_mcp(config, limits), lambda _: _MCP_LACKS, None, write_standard_data, _mcp_readable
    )


def _with(config: Any, limits: Limits) -> Any:
    """`config` with these limits, as far as it knows them."""
    known = {name: value for name, value in asdict(limits).items() if name in type(config).model_fields}
    return config.model_copy(update=known)


# --- local -------------------------------------------------------------------------------------------


@contextlib.asynccontextmanager
async def _open_local(config: LocalRuntime, rung: Rung | None) -> AsyncIterator[Runtime]:
    from agent_world.tools.sandbox.launcher import Launcher
    from agent_world.tools.sandbox.local import LocalBackend

    launcher = Launcher(force=rung, floor=rung or config.floor)
    backend = LocalBackend(config, launcher)
    try:
        await backend.start()
        if rung and launcher.rung != rung:
            raise SandboxError(f"This machine gives {launcher.rung}, not {rung}: run as another user, or choose that.")
        yield backend
    finally:
        await backend.stop()


def _local_lacks(runtime: Runtime) -> Facts:
    launcher = getattr(runtime, "launcher", None)
    rung = getattr(launcher, "rung", "own_uid")
    if rung == "confined":
        return {"disk": "without namespaces the sum of an instance's files has no bound"}
    if rung == "limits":
        why = "the rung `limits` has no walls: trusted code only"
        return {"disk": why, "walls": why, "bare": why}
    return {}


def _elsewhere(rung: Rung | None) -> Observe:
    async def observe(root: Path, seed: int) -> tuple[list[str], str]:
        """In an interpreter with another hash seed, time zone, locale and folder."""
        environment = {"PYTHONHASHSEED": "12345", "TZ": "Asia/Tokyo", "LC_ALL": "tr_TR.UTF-8"}
        environment["PYTHONPATH"] = ":".join(path for path in sys.path if path)
        arguments = ["-m", "agent_world.evals.bench.observe", str(root), str(seed), rung or ""]
        process = await asyncio.create_subprocess_exec(
            sys.executable, *arguments, env=environment, cwd="/", stdout=-1, stderr=-1
        )
        output, errors = await process.communicate()
        if process.returncode:
            raise SandboxError(f"the other process ended with {errors.decode()[-300:]}")
        texts, state = json.loads(output)
        return texts, state

    return observe


# --- e2b, mcp ----------------------------------------------------------------------------------------

_E2B_LACKS: Facts = {
    "bare": "an E2B sandbox is a whole machine of its own, with its own /etc and /proc",
    "disk": "an E2B sandbox has its own disk, of the template's size",
    "total_memory": "memory lies on E2B's machines",
}
_MCP_LACKS: Facts = {
    "tool_code": "the tools are a foreign server's",
    "program_files": "a program reaches a server's data through its tools alone",
    "own_codes": "MCP carries a message, no code",
    "frozen": "a foreign server sees the machine's clock and chance",
}


@contextlib.asynccontextmanager
async def _open_mcp(config: Any, limits: Limits) -> AsyncIterator[Runtime]:
    """A server of the standard tools in its own folder; the instances' data are the standard world's."""
    with tempfile.TemporaryDirectory(prefix="conformance-server-") as folder:
        os.chmod(folder, 0o755)
        script = write_server(Path(folder), "standard_server.py")
        own = McpRuntime(command=("{python}", "-S", str(script)), readable=(Path(folder),))
        server = config or own
        async with open_runtime(_with(server, limits)) as runtime:
            yield runtime


def _mcp_readable(runtime: Runtime) -> tuple[str, ...]:
    from agent_world.tools.sandbox.mcp import McpBackend

    return runtime.command.readable if isinstance(runtime, McpBackend) else PYTHON
