"""A few live instances of one environment, in processes of their own, handed out clean again and again."""

from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from agent_world.memory.store import Bundle
from agent_world.schema import StateDiff
from agent_world.tools.runtime import Instance, Observation, RunResult, Runtime


@dataclass(slots=True)
class Pool:
    bundle: Bundle
    runtime: Runtime
    instances: list[Instance]
    dirty: set[int] = field(default_factory=set)

    async def clean(self, index: int) -> Instance:
        """Instance `index` with the bundle's database; in a fresh process when it was written to before."""
        if index in self.dirty:
            await self.instances[index].reset()
            self.dirty.discard(index)
        return self.instances[index]

    def soil(self, index: int) -> None:
        """Say that instance `index` has been written to."""
        self.dirty.add(index)


@asynccontextmanager
async def open_pool(
    bundle: Bundle, runtime: Runtime, size: int, seed: int = 0, *, elsewhere: tuple[int, str] | None = None
) -> AsyncIterator[Pool]:
    """`size` instances, and one more with a seed and a clock of its own where `elsewhere` gives them."""
    pool = Pool(bundle, runtime, [])
    try:
        for _ in range(size):
            pool.instances.append(await runtime.open(bundle.root, seed=seed))
        if elsewhere is not None:
            pool.instances.append(await runtime.open(bundle.root, seed=elsewhere[0], clock=elsewhere[1]))
        yield pool
    finally:
        for instance in pool.instances:
            await instance.close()


@dataclass(frozen=True, slots=True)
class OneInstance:
    """A runtime that hands out the same open instance: many verdicts of one verifier, without a start each."""

    instance: Instance

    async def open(self, environment: Path, *, seed: int = 0, clock: str | None = None) -> Instance:
        return _Kept(self.instance)

    def describe(self) -> tuple[str, ...]:
        return ("one instance that another runtime opened",)


@dataclass(frozen=True, slots=True)
class _Kept:
    """An instance that its user cannot close."""

    inner: Instance

    async def call(self, tool: str, arguments: Mapping[str, Any]) -> Observation:
        return await self.inner.call(tool, arguments)

    async def run(self, source: str, function: str, arguments: Mapping[str, Any]) -> RunResult:
        return await self.inner.run(source, function, arguments)

    async def diff(self) -> StateDiff:
        return await self.inner.diff()

    async def state_hash(self) -> str:
        return await self.inner.state_hash()

    async def snapshot(self) -> bytes:
        return await self.inner.snapshot()

    async def restore(self, snapshot: bytes) -> None:
        await self.inner.restore(snapshot)

    async def reset(self) -> None:
        await self.inner.reset()

    async def close(self) -> None:
        return None
