"""Backends that are the local one but for one broken promise, so that the suite can be seen to notice."""

import os
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any

from agent_world.evals.bench.lab import Limits
from agent_world.schema import StateDiff
from agent_world.settings import LocalRuntime
from agent_world.tools.files import pack, unpack
from agent_world.tools.runtime import Instance, Observation, RunResult, Runtime, open_runtime


class Sound:
    """Passes everything on."""

    def __init__(self, instance: Instance) -> None:
        self.instance = instance

    async def call(self, tool: str, arguments: Mapping[str, Any]) -> Observation:
        return await self.instance.call(tool, arguments)

    async def run(self, source: str, function: str, arguments: Mapping[str, Any]) -> RunResult:
        return await self.instance.run(source, function, arguments)

    async def diff(self) -> StateDiff:
        return await self.instance.diff()

    async def state_hash(self) -> str:
        return await self.instance.state_hash()

    async def snapshot(self) -> bytes:
        return await self.instance.snapshot()

    async def restore(self, snapshot: bytes) -> None:
        await self.instance.restore(snapshot)

    async def reset(self) -> None:
        await self.instance.reset()

    async def close(self) -> None:
        await self.instance.close()


class LeaksOnReset(Sound):
    async def reset(self) -> None:
        kept = await self.instance.snapshot()
        await self.instance.reset()
        await self.instance.restore(kept)


class DoesNotReset(Sound):
    async def reset(self) -> None:
        pass


class ForgetsPermissions(Sound):
    async def snapshot(self) -> bytes:
        return pack(replace(unpack(await self.instance.snapshot()), modes={}))


class ShowsTheSystem(Sound):
    async def call(self, tool: str, arguments: Mapping[str, Any]) -> Observation:
        seen = await self.instance.call(tool, arguments)
        return replace(seen, value={"value": [["/root", ["secret"]]]}) if tool == "execute" else seen


class SaysNaN(Sound):
    async def call(self, tool: str, arguments: Mapping[str, Any]) -> Observation:
        seen = await self.instance.call(tool, arguments)
        return Observation(ok=True, text="NaN", value=float("nan")) if seen.error == "invalid_output" else seen


class ShowsOurEnvironment(Sound):
    async def call(self, tool: str, arguments: Mapping[str, Any]) -> Observation:
        seen = await self.instance.call(tool, arguments)
        return replace(seen, text=f"{seen.text} {dict(os.environ)}")


class SeesNoChanges(Sound):
    async def diff(self) -> StateDiff:
        return StateDiff()


class HashesTheSeedAlone(Sound):
    async def state_hash(self) -> str:
        return "0"


class BelievesArguments(Sound):
    async def call(self, tool: str, arguments: Mapping[str, Any]) -> Observation:
        seen = await self.instance.call(tool, arguments)
        return Observation(ok=True, text="{}", value={}) if seen.error == "invalid_arguments" else seen


class RaisesWhatToolsRaise(Sound):
    async def call(self, tool: str, arguments: Mapping[str, Any]) -> Observation:
        seen = await self.instance.call(tool, arguments)
        if seen.error == "exception":
            raise RuntimeError(seen.text)
        return seen


class Broken:
    """A runtime whose instances are of the kind given."""

    def __init__(self, runtime: Runtime, kind: type[Sound]) -> None:
        self.runtime, self.kind = runtime, kind

    async def open(self, environment: Path, *, seed: int = 0, clock: str | None = None) -> Instance:
        return self.kind(await self.runtime.open(environment, seed=seed, clock=clock))

    def describe(self) -> tuple[str, ...]:
        return self.runtime.describe()


class SharesOne(Broken):
    """Hands the same instance to everybody."""

    first: Instance | None = None

    async def open(self, environment: Path, *, seed: int = 0, clock: str | None = None) -> Instance:
        self.first = self.first or await super().open(environment, seed=seed, clock=clock)
        return self.first


class IgnoresSeeds(Broken):
    async def open(self, environment: Path, *, seed: int = 0, clock: str | None = None) -> Instance:
        return await super().open(environment, seed=0, clock=clock)


def breaking(kind: type[Sound] | type[Broken], **settings: Any) -> Any:
    """An opener of such a backend, and with `settings` whatever limits the suite asks for."""

    @asynccontextmanager
    async def open_broken(limits: Limits) -> AsyncIterator[Runtime]:
        config = LocalRuntime(
            call_timeout_s=limits.call_timeout_s,
            run_timeout_s=limits.run_timeout_s,
            memory_mb=limits.memory_mb,
            disk_mb=limits.disk_mb,
            max_instances=limits.max_instances,
            observation_chars=limits.observation_chars,
            clock=limits.clock,
        )
        async with open_runtime(config.model_copy(update=settings)) as runtime:
            yield kind(runtime, Sound) if issubclass(kind, Broken) else Broken(runtime, kind)

    return open_broken
