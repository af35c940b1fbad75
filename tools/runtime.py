"""The environment runtime: run a tool on a private copy of a database, and trust what comes back.

`open_runtime(config)` is the one way in; only it knows the backends. Contract of every backend:
- an instance works on its own copy of the bundle's `database/`; the bundle is never written;
- tool code and programs run isolated: no network, own files only, limits on time, memory and output;
- same seed, same calls: same observations, same state;
- a tool that fails, raises, hangs or dies is an `Observation` or `RunResult`, never an exception;
  `SandboxError` means the backend could not run anything at all.
"""

from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Protocol

from agent_world.schema import StateDiff
from agent_world.settings import E2BRuntime, LocalRuntime, McpRuntime, RuntimeConfig


@dataclass(frozen=True, slots=True)
class Observation:
    """What a tool call gave. `text` is exactly what an agent sees: JSON of the value, or of the error."""

    ok: bool
    text: str
    value: Any = None
    """Parsed JSON value when `ok`."""
    error: str | None = None
    """Stable code: `invalid_arguments`, `unknown_tool`, `timeout`, `crashed`, `exception`, `invalid_output`,
    `tool_error` (a `ToolError` without a sound code), `out_of_memory` (the sum over all instances was reached),
    `infra` (the backend lost the instance and could not bring it back: no fault of the tool), or the tool's own."""
    truncated: bool = False
    impure: bool = False
    """The tool says that it only reads, and the state has changed."""


@dataclass(frozen=True, slots=True)
class RunResult:
    """What a program gave, and the tool calls it made in order: `(tool, arguments, observation)`."""

    ok: bool
    value: Any = None
    error: str | None = None
    """One line: exception type and message, or `timeout`, `crashed`, `out_of_memory`, `infra`."""
    calls: tuple[tuple[str, dict[str, Any], Observation], ...] = ()
    output: str = ""


class Instance(Protocol):
    """One live environment. Not shared between tasks running at once."""

    async def call(self, tool: str, arguments: Mapping[str, Any]) -> Observation: ...

    async def run(self, source: str, function: str, arguments: Mapping[str, Any]) -> RunResult:
        """Execute `source`, then call `function(**arguments)` in it. A parameter named `tools` of the function
        is given an object whose attributes are the tools; a failing tool raises `ToolError` there."""
        ...

    async def diff(self) -> StateDiff:
        """Read by the trusted side, from the files; the worker is not asked."""
        ...

    async def state_hash(self) -> str: ...

    async def snapshot(self) -> bytes: ...

    async def restore(self, snapshot: bytes) -> None: ...

    async def reset(self) -> None:
        """Back to the bundle's database and a fresh process."""
        ...

    async def close(self) -> None: ...


class Runtime(Protocol):
    """Opens instances; shared by all of a process."""

    async def open(self, environment: Path, *, seed: int = 0, clock: str | None = None) -> Instance:
        """Start an instance of the bundle in folder `environment` (with its tools.py and tools.json, where there
        are any). Waits while `max_instances` are live. `clock` is another time for its code than the setting says:
        what depends on the time shows by it. Raises `UsageError` when it is no time."""
        ...

    def describe(self) -> tuple[str, ...]:
        """The protections that hold, one line each; what does not hold is said as well."""
        ...


@asynccontextmanager
async def open_runtime(config: RuntimeConfig) -> AsyncIterator[Runtime]:
    """Start the configured backend; end all its instances and processes on every way out."""
    backend = _backend(config)
    try:
        await backend.start()
        yield backend
    finally:
        await backend.stop()


class _Backend(Runtime, Protocol):
    async def start(self) -> None: ...

    async def stop(self) -> None: ...


def _backend(config: RuntimeConfig) -> _Backend:
    match config:
        case LocalRuntime():
            from agent_world.tools.sandbox.local import LocalBackend

            return LocalBackend(config)
        case E2BRuntime():
            from agent_world.tools.sandbox.e2b import E2BBackend

            return E2BBackend(config)
        case McpRuntime():
            from agent_world.tools.sandbox.mcp import McpBackend

            return McpBackend(config)
