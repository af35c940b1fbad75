"""The runtime for code that is not async: one event loop in a background thread.

Any thread may call; calls to different instances run side by side. Trainers that call tools synchronously use this.
"""

import asyncio
import threading
from collections.abc import Coroutine, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any, TypeVar

from agent_world.schema import StateDiff
from agent_world.settings import RuntimeConfig
from agent_world.tools.runtime import Instance, Observation, RunResult, Runtime, open_runtime

T = TypeVar("T")


class _Loop:
    def __init__(self) -> None:
        self._loop = asyncio.new_event_loop()
        self._thread = threading.Thread(target=self._loop.run_forever, name="sandbox", daemon=True)
        self._thread.start()

    def run(self, work: Coroutine[Any, Any, T]) -> T:
        return asyncio.run_coroutine_threadsafe(work, self._loop).result()

    def stop(self) -> None:
        self._loop.call_soon_threadsafe(self._loop.stop)
        self._thread.join()
        self._loop.close()


class SyncInstance:
    """`tools.runtime.Instance`, each method blocking. `instance` is the async one, for use through `runtime.run`."""

    def __init__(self, loop: _Loop, instance: Instance) -> None:
        self._loop = loop
        self.instance = instance

    def call(self, tool: str, arguments: Mapping[str, Any]) -> Observation:
        return self._loop.run(self.instance.call(tool, arguments))

    def run(self, source: str, function: str, arguments: Mapping[str, Any]) -> RunResult:
        return self._loop.run(self.instance.run(source, function, arguments))

    def diff(self) -> StateDiff:
        return self._loop.run(self.instance.diff())

    def state_hash(self) -> str:
        return self._loop.run(self.instance.state_hash())

    def snapshot(self) -> bytes:
        return self._loop.run(self.instance.snapshot())

    def restore(self, snapshot: bytes) -> None:
        self._loop.run(self.instance.restore(snapshot))

    def reset(self) -> None:
        self._loop.run(self.instance.reset())

    def close(self) -> None:
        self._loop.run(self.instance.close())


class SyncRuntime:
    """`tools.runtime.Runtime`, blocking. `run` takes any other async work that uses `runtime`, such as grading."""

    def __init__(self, loop: _Loop, runtime: Runtime) -> None:
        self._loop = loop
        self.runtime = runtime

    def open(self, environment: Path, *, seed: int = 0, clock: str | None = None) -> SyncInstance:
        return SyncInstance(self._loop, self._loop.run(self.runtime.open(environment, seed=seed, clock=clock)))

    def run(self, work: Coroutine[Any, Any, T]) -> T:
        return self._loop.run(work)


@contextmanager
def open_sync_runtime(config: RuntimeConfig) -> Iterator[SyncRuntime]:
    """`open_runtime` for a plain thread. Raises as it does."""
    loop = _Loop()
    try:
        manager = open_runtime(config)
        runtime = loop.run(manager.__aenter__())
        try:
            yield SyncRuntime(loop, runtime)
        finally:
            loop.run(manager.__aexit__(None, None, None))
    finally:
        loop.stop()
