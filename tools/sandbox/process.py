"""A process of the sandbox, as the trusted side holds it, and what it starts with."""

import asyncio
import contextlib
import os
import select
import shutil
import signal
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from agent_world.errors import SandboxError
from agent_world.tools.sandbox.channel import Channel
from agent_world.tools.sandbox.received import readable

_LONGEST_DEATH_S = 2.0


@dataclass(frozen=True, slots=True)
class Beginning:
    """What an instance's code is told of time and chance."""

    clock_ns: int
    seed: str


@dataclass(slots=True, eq=False)
class Base:
    """A folder in the zygote's memory that lies under the files of several instances."""

    number: int
    zygote: int
    """Which of our zygotes holds it."""
    directory: int
    users: int = 0
    retired: bool = False
    at_end: list[Callable[[], None]] = field(default_factory=list)


@dataclass(slots=True, eq=False)
class Process:
    """A process that runs hostile code, and the descriptors by which we talk to it, read its files, and kill it."""

    uid: int
    channel: Channel
    directory: int = -1
    pidfd: int = -1
    folder: Path | None = None
    """Where its files lie, if not on a disk that goes with it."""
    owns_folder: bool = True
    begun: Beginning | None = None
    """What it was told of time and chance, or will be with the next message."""
    outgrew: str = ""
    """Why it was ended, in words for a model, when it was for its memory."""
    at_release: list[Callable[[], None]] = field(default_factory=list)
    _end: "select.poll | None" = None
    """Tells when it is gone; made at the first look."""
    _dying: int = -1
    """What `pidfd` was until it was killed, while nobody has seen its end."""

    @property
    def owner(self) -> int | None:
        """To whom files for it must be given; None where that is us."""
        return self.uid if self.uid != os.getuid() else None

    def ended(self) -> bool:
        """Whether it is gone, or of no more use."""
        if self.pidfd < 0 or self.channel.ended:
            return True
        if self._end is None:
            self._end = select.poll()
            self._end.register(self.pidfd, select.POLLIN)
        return bool(self._end.poll(0))

    def may_begin(self, how: Beginning) -> bool:
        """Whether it was told nothing else yet."""
        return self.begun in (None, how)

    def begin(self, how: Beginning) -> None:
        """Tell it clock and seed, along with the first thing it is asked. Nothing if it was told them before."""
        if self.begun != how:
            self.begun = how
            self.channel.hold({"op": "begin", "clock_ns": how.clock_ns, "seed": how.seed})

    def kill(self) -> None:
        """End it and all that it started. Its files remain until `release`; what it was just writing may still come,
        until it is `gone`."""
        if self.pidfd >= 0:
            with contextlib.suppress(ProcessLookupError):
                signal.pidfd_send_signal(self.pidfd, signal.SIGKILL)
            self._dying, self.pidfd = self.pidfd, -1
        self.channel.close()

    async def gone(self) -> None:
        """After `kill`, until nobody writes to its files any more. Raises `SandboxError` if that does not come."""
        if self._dying < 0:
            return
        own = os.dup(self._dying)  # whoever else waits has another
        try:
            async with asyncio.timeout(_LONGEST_DEATH_S):
                await readable(own)  # process 1 of a namespace is gone when all the others are
        except TimeoutError as error:
            raise SandboxError("A killed process does not end; the machine is out of order.") from error
        finally:
            os.close(own)
        self._forget_the_dying()

    def _forget_the_dying(self) -> None:
        if self._dying >= 0:
            os.close(self._dying)
            self._dying = -1

    def release(self) -> None:
        self.kill()
        self._forget_the_dying()
        if self.directory >= 0:
            os.close(self.directory)
            self.directory = -1
        if self.folder and self.owns_folder:
            shutil.rmtree(self.folder, ignore_errors=True)
        while self.at_release:
            self.at_release.pop()()


@dataclass(frozen=True, slots=True)
class Order:
    """What a process is started with."""

    memory_mb: int
    disk_mb: int
    clock_ns: int = 0
    seed: str | None = None
    """None for a process that is told clock and seed later."""
    base: Base | None = None
    """The files it starts with; an empty folder without."""


@dataclass(frozen=True, slots=True)
class Program:
    """A foreign program to start in a process's place, once a byte has come over its channel."""

    argv: Sequence[str]
    environment: Mapping[str, str]
    standard: Sequence[int]
    """Descriptors for its standard input, output and errors; the caller closes its own."""
