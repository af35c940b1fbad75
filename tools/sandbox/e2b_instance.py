"""One environment in a sandbox of E2B, and how it outlives that sandbox.

When a sandbox is gone (ended, expired, out of reach), its state is gone with it, and so is whatever the call under way
had done. It is made once more: the files that the last process began with, and on them the calls since then again,
which by seed and frozen clock give the same; then the call under way. Whether they gave the same is checked. If they
did not, or the second sandbox goes too, or what was last done can only be read where nothing is left (a call that was
killed), the answer is `infra`, then and until `reset` or `restore`: no episode goes on on a state that is not its own.
"""

import asyncio
import hashlib
import itertools
from collections.abc import Awaitable, Callable, Mapping
from contextlib import suppress
from dataclasses import replace
from typing import TYPE_CHECKING, Any, TypeVar

from agent_world.errors import SandboxError
from agent_world.tools.files import Files, unpack
from agent_world.tools.observation import error_observation
from agent_world.tools.runtime import Observation, RunResult
from agent_world.tools.sandbox.aside import with_files
from agent_world.tools.sandbox.channel import ChannelClosed
from agent_world.tools.sandbox.e2b_box import Box
from agent_world.tools.sandbox.e2b_purity import Purity
from agent_world.tools.sandbox.e2b_worker import Order, SandboxLost, Worker
from agent_world.tools.sandbox.exchange import Call, follow, judged, observed, run_result
from agent_world.tools.sandbox.stateful import Stateful
from agent_world.tools.sandbox.template import Template

if TYPE_CHECKING:
    from agent_world.tools.sandbox.e2b import E2BBackend

T = TypeVar("T")
Act = Callable[[], Awaitable[Any]]


class E2BInstance(Stateful):
    """One environment in a sandbox of its own."""

    def __init__(self, backend: "E2BBackend", template: Template, order: Order) -> None:
        super().__init__(template, backend.config.disk_mb, own_disk=False)
        self._backend = backend
        self._order = order
        self._purity = Purity(template.schema, self.max_bytes)
        self._ids = itertools.count(1)
        self._box: Box | None = None
        self._worker: Worker | None = None
        self._base = Files()
        """What was there when the process began."""
        self._since: list[tuple[Act, str]] = []
        """What was done since, and the digest of what it gave."""
        self._known = False
        """Whether these two make up the state of now."""
        self._lost = ""
        """Why the state is lost, if it is."""
        self._closed = False

    async def call(self, tool: str, arguments: Mapping[str, Any]) -> Observation:
        self._check_open()
        refused, checked = judged(self.template, tool, arguments)
        if refused:
            return refused
        try:
            return await self._do(lambda: self._call(tool, checked))
        except SandboxLost as error:
            return error_observation("infra", f"The sandbox was lost: {error}.")

    async def run(self, source: str, function: str, arguments: Mapping[str, Any]) -> RunResult:
        self._check_open()
        given = dict(arguments)
        try:
            return await self._do(lambda: self._run(source, function, given))
        except SandboxLost:
            return RunResult(ok=False, error="infra")

    async def restore(self, snapshot: bytes) -> None:
        """Raises `SandboxError` for what is no snapshot, and leaves all as it is."""
        try:
            files = await with_files(len(snapshot), lambda: unpack(snapshot))
        except ValueError as error:
            raise SandboxError(str(error)) from error
        await self._begin(files)

    async def reset(self) -> None:
        await self._begin(self.template.files)

    async def close(self) -> None:
        self._closed = True
        try:
            await self._give_up_box()
        finally:
            self._backend.forget(self)

    # --- One exchange --------------------------------------------------------------------------------

    async def _call(self, tool: str, arguments: dict[str, Any]) -> Observation:
        config = self._backend.config
        worker, box = await self._alive()
        reads = tool in self.template.reads
        if reads:
            await self._purity.before(box)
        request = next(self._ids)
        try:
            async with asyncio.timeout(config.call_timeout_s):
                await worker.send({"id": request, "op": "call", "tool": tool, "arguments": arguments})
                outcome = await worker.receive(request)
        except TimeoutError:
            await self._end_worker()
            return error_observation("timeout", f"{tool} took more than {config.call_timeout_s:g} s.")
        except ChannelClosed:
            await self._end_worker()
            return error_observation("crashed", f"{tool} ended without a result.")
        found = await observed(outcome, config.observation_chars)
        if not reads:
            self._purity.start(None)
        elif await self._purity.wrote(box):
            return replace(found, impure=True)
        return found

    async def _run(self, source: str, function: str, arguments: dict[str, Any]) -> RunResult:
        """In a process of its own beside the instance's, so that a program leaves no trace but in the database."""
        config = self._backend.config
        calls: list[Call] = []
        await self._alive()
        self._purity.start(None)
        worker = await self._start_worker()
        request = next(self._ids)
        message = {"id": request, "op": "run", "source": source, "function": function, "arguments": arguments}
        try:
            async with asyncio.timeout(config.run_timeout_s):
                await worker.send({**message, "here": True})
                answer = await follow(worker, self.template, request, calls, config.observation_chars)
            return run_result(answer, calls)
        except TimeoutError:
            await self._end_worker()  # how far it came by then is no matter of seed and clock
            return RunResult(ok=False, error="timeout", calls=tuple(calls))
        except ChannelClosed:
            return RunResult(ok=False, error="crashed", calls=tuple(calls))
        finally:
            await asyncio.shield(worker.kill())

    # --- State that survives a lost sandbox, or is known to be lost ----------------------------------

    async def _do(self, act: Callable[[], Awaitable[T]]) -> T:
        """Act, if need be in a sandbox made once more. Raises `SandboxLost`, from then on too."""
        if self._lost:
            raise SandboxLost(self._lost)
        try:
            result = await self._try_twice(act)
        except SandboxLost as error:
            self._lost = str(error)
            await self._give_up_box()
            raise
        except BaseException:  # cancelled in the middle of an exchange: the process is out of step
            with suppress(SandboxLost):
                await asyncio.shield(self._end_worker())
            self._known = False
            raise
        self._since.append((act, _digest(result)))
        return result

    async def _try_twice(self, act: Callable[[], Awaitable[T]]) -> T:
        try:
            return await act()
        except SandboxLost as error:
            await self._make_again(error)
        return await act()

    async def _make_again(self, error: SandboxLost) -> None:
        """The same state in another sandbox. Raises `SandboxLost`."""
        if not self._known:
            raise SandboxLost(f"what a killed call had left is lost with it ({error})") from error
        if self._base.refused:
            path, reason = next(iter(self._base.refused.items()))
            raise SandboxLost(f"{path} in it was {reason}, and could not be kept ({error})") from error
        since = self._since
        try:
            await self._fill_box(self._base)
            for act, digest in since:
                if _digest(await act()) != digest:
                    raise SandboxLost("repeated in another sandbox, its calls gave other results")
                self._since.append((act, digest))
        except SandboxError as problem:
            raise SandboxLost(str(problem)) from problem

    async def _begin(self, files: Files) -> None:
        """A new sandbox, with these files. Raises `SandboxError`."""
        self._check_open()
        try:
            await self._fill_box(files)
        except BaseException as error:
            self._lost = self._lost or "its last start failed"
            if isinstance(error, SandboxLost):
                raise SandboxError(f"E2B gave no sandbox ({error}): {error.remedy}.") from error
            raise
        self._lost = ""

    async def _fill_box(self, files: Files) -> None:
        await self._give_up_box()
        self._box = await self._backend.make_box(files)
        try:
            await self._fresh_worker(files)
        except BaseException:
            await self._give_up_box()
            raise

    async def _fresh_worker(self, files: Files) -> None:
        self._worker = await self._start_worker()
        self._base, self._since, self._known = files, [], True
        self._purity.start(files)

    async def _start_worker(self) -> Worker:
        assert self._box is not None
        worker = await self._box.start(self._order)
        try:
            await worker.send({"id": next(self._ids), "op": "load", "source": self.template.source})
        except BaseException as error:
            await asyncio.shield(worker.leave())
            if isinstance(error, ChannelClosed):
                raise SandboxError("A process in the sandbox ended at once: raise runtime.memory_mb.") from error
            raise
        return worker

    async def _alive(self) -> tuple[Worker, Box]:
        """The running process; after a kill, a fresh one on the files that the last one left."""
        if self._box is None:
            raise SandboxLost("there is none")
        if self._worker and isinstance(self._worker.failure, SandboxLost):
            raise self._worker.failure
        await self._box.renew()
        if self._worker is None or self._worker.failure:
            self._known = False
            await self._end_worker()
            await self._fresh_worker(await self._read())
        assert self._worker is not None
        return self._worker, self._box

    async def _end_worker(self) -> None:
        """Raises `SandboxLost`; what was known before what it last did then still is."""
        if self._worker:
            await self._worker.kill()
        self._worker, self._known = None, False

    async def _give_up_box(self) -> None:
        box, worker = self._box, self._worker
        self._box, self._worker, self._known = None, None, False
        if worker:
            await asyncio.shield(worker.leave())
        if box:
            await asyncio.shield(box.kill())

    async def look(self, use: Callable[[Files], T], more: int = 0) -> T:
        files = await self._files()
        return await with_files(files.weight + more, lambda: use(files))

    async def _files(self) -> Files:
        """Raises `SandboxError` when they are lost."""
        self._check_open()
        try:
            if self._lost:
                raise SandboxLost(self._lost)
            return await self._try_twice(self._read)
        except SandboxLost as error:
            self._lost = str(error)
            await self._give_up_box()
            raise SandboxError(f"The state is lost with its sandbox ({error}): reset or restore.") from error

    async def _read(self) -> Files:
        if self._box is None:
            raise SandboxLost("there is none")
        return await self._box.read(self.max_bytes)

    def _check_open(self) -> None:
        if self._closed:
            raise SandboxError("The instance is closed.")


def _digest(result: Any) -> str:
    return hashlib.sha256(repr(result).encode()).hexdigest()
