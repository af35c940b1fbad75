"""Starting the zygote, and processes out of it."""

import asyncio
import itertools
import os
import shutil
import socket
from collections.abc import Sequence
from pathlib import Path
from typing import Any, get_args

from agent_world.errors import SandboxError
from agent_world.settings import Rung
from agent_world.tools.sandbox.channel import Channel, ChannelClosed
from agent_world.tools.sandbox.control import Control
from agent_world.tools.sandbox.ids import own_ids
from agent_world.tools.sandbox.process import Base, Beginning, Order, Process, Program

__all__ = ["NAMESPACED", "RUNGS", "Launcher", "Order", "Process", "Program"]

RUNGS: tuple[Rung, ...] = get_args(Rung)
"""Best first."""
NAMESPACED = RUNGS[:2]
_SPAWN_S = 15.0
_MAX_STARTING = 16
"""Processes started at once; the kernel bounds descriptors on their way, and more would not be faster."""
_FIRST_ID = 1_000_000_000
"""Of as many digits as all that follow, so that no instance reads more of its order than another: that would show in
the addresses of its objects."""
_REMEDY = (
    "namespaces want root, or user namespaces (sysctl kernel.apparmor_restrict_unprivileged_userns=0, in a container "
    "a seccomp profile that allows unshare); Landlock wants Linux 5.13"
)


class Launcher:
    """Owns the zygote, and starts another when it has died. Used from one event loop."""

    def __init__(self, force: Rung | None = None, floor: Rung = "confined", readable: Sequence[str] = ()) -> None:
        """`force` tries that rung alone, even where the kernel grants a better one; `floor` is the worst allowed;
        `readable` are paths that processes may read beside the system's libraries."""
        self.rung: Rung = "confined"
        self.calls_filtered = True
        """Whether seccomp holds."""
        self.refused: tuple[str, ...] = ()
        """What the kernel refused on the way down to `rung`."""
        self.generation = 0
        """How many zygotes there were."""
        self.started = 0
        """How many processes."""
        self.own_ids = own_ids()
        """Of instances; None where each has the caller's."""
        self._force, self._floor, self._readable = force, floor, list(readable)
        self.folders: list[Path] = []
        """Without namespaces, where the instances' folders are made."""
        self._control: Control | None = None
        self._ids = itertools.count(_FIRST_ID)
        self._starting = asyncio.Semaphore(_MAX_STARTING)
        self._restarting = asyncio.Lock()

    async def start(self) -> None:
        """Raises `SandboxError` where the kernel refuses what the floor needs."""
        self._control = Control(self._force, self._readable, self.own_ids is not None)
        try:
            answer, self.refused = await self._control.hear()
            self.rung, self.calls_filtered = answer["rung"], answer["calls_filtered"]
            if answer["folders"]:
                self.folders.append(Path(answer["folders"]))
            self._hold_to_the_floor()
        except BaseException:
            self._control.hang_up()  # whoever asks next starts another
            raise
        self.generation += 1

    def _hold_to_the_floor(self) -> None:
        if RUNGS.index(self.rung) > RUNGS.index(self._floor):
            raise SandboxError(
                f"This machine isolates tools by the rung {self.rung!r} ({'; '.join(self.refused)}), and "
                f"runtime.floor asks for {self._floor!r}: {_REMEDY}; or set runtime.floor to {self.rung}, for tools "
                "that you trust so far."
            )

    @property
    def group(self) -> int:
        """Id of the session in which the zygote and all processes are."""
        return self._control.group if self._control else 0

    async def stop(self) -> None:
        """End the zygote and with it every process; safe to call twice."""
        if self._control:
            await self._control.stop()
            self._control = None
        for folder in self.folders:  # the zygote removes its own, unless it was killed
            shutil.rmtree(folder, ignore_errors=True)
        self.folders.clear()

    async def spawn(self, order: Order, beside: Process | None = None, program: Program | None = None) -> Process:
        """A locked-down process with a private folder, or in that of `beside` (on rungs without namespaces).

        Where the zygote has died, another one is started, once. Raises `SandboxError`.
        """
        async with self._starting:
            control = await self._living()
            try:
                return await self._spawn(control, order, beside, program)
            except SandboxError:
                if not control.gone:
                    raise
            return await self._spawn(await self._living(), order, beside, program)

    async def ready(self) -> None:
        """Start another zygote if the last one has died. Raises `SandboxError`."""
        await self._living()

    async def base(self) -> Base | None:
        """An empty folder for a database to be shared; None where the kernel does not let instances share."""
        if self.rung not in NAMESPACED:
            return None
        control = await self._living()
        number = next(self._ids)
        try:
            async with asyncio.timeout(_SPAWN_S):
                (directory,) = await control.ask({"op": "base", "id": number})
        except (TimeoutError, OSError):
            return None  # copies do as well
        return Base(number, self.generation, directory)

    def retire(self, base: Base) -> None:
        """Free it as soon as no process uses it."""
        base.retired = True
        if base.users or base.directory < 0:
            return
        os.close(base.directory)
        base.directory = -1
        while base.at_end:
            base.at_end.pop()()
        if self._control and not self._control.gone and base.zygote == self.generation:
            self._control.ask({"op": "drop", "id": next(self._ids), "base": base.number}).add_done_callback(_look_at)

    async def _living(self) -> Control:
        """The zygote; another in the place of one that died."""
        async with self._restarting:
            if not self._control:
                raise SandboxError("The sandbox is not running.")
            if self._control.gone:
                await self._control.stop()
                await self.start()
            return self._control

    async def _spawn(self, control: Control, order: Order, beside: Process | None, program: Program | None) -> Process:
        if order.base and (order.base.retired or order.base.zygote != self.generation):
            raise SandboxError("The sandbox lost a shared database.")
        number = next(self._ids)
        own = self.own_ids.of(number) if self.own_ids else os.getuid()
        ours, theirs = socket.socketpair()
        process = Process(beside.uid if beside else own, Channel(ours), owns_folder=beside is None)
        self._use(order.base, process)
        try:
            with theirs:
                process.folder = beside.folder if beside else self._make_folder(number, own)
                fds = (theirs.fileno(), *(program.standard if program else ()))
                control.order(_order(process, order, program), *fds)
            async with asyncio.timeout(_SPAWN_S):
                process.directory, process.pidfd = await process.channel.receive_start()
        except (TimeoutError, ChannelClosed, OSError) as error:
            process.release()
            if isinstance(error, TimeoutError):
                control.skip()
            control.look()
            raise SandboxError(
                f"The sandbox could not start a process: {str(error) or 'no answer in time'}."
            ) from error
        except BaseException:
            process.release()  # cancelled: where it was not yet known, it ends at the end of its channel
            raise
        self.started += 1
        if order.seed is not None and program is None:
            process.begin(Beginning(order.clock_ns, order.seed))
        return process

    def _use(self, base: Base | None, process: Process) -> None:
        if base is None:
            return
        base.users += 1

        def released() -> None:
            base.users -= 1
            if base.retired:
                self.retire(base)

        process.at_release.append(released)

    def _make_folder(self, number: int, uid: int) -> Path | None:
        if self.rung in NAMESPACED:
            return None
        folder = self.folders[-1] / str(number)
        folder.mkdir(mode=0o700)
        if self.own_ids:
            os.chown(folder, uid, uid)
        return folder


def _look_at(done: "asyncio.Future[list[int]]") -> None:
    """Whether a base was freed changes nothing for us, but an exception that nobody looks at is reported."""
    if not done.cancelled():
        done.exception()


def _order(process: Process, order: Order, program: Program | None) -> dict[str, Any]:
    told: dict[str, Any] = {
        "uid": process.uid,
        "folder": str(process.folder or ""),
        "memory_mb": order.memory_mb,
        "disk_mb": order.disk_mb,
        "base": order.base.number if order.base else 0,
    }
    if program:
        told["program"] = {"argv": list(program.argv), "env": dict(program.environment)}
    return told
