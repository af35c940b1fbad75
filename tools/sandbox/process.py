"""A process of the sandbox, as the trusted side holds it, and what it starts with."""

import contextlib
import os
import select
import shutil
import signal
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from agent_world.tools.sandbox.channel import Channel

_LONGEST_DEATH_MS = 1000


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
        """End it and all that it started, now. Its files remain until `release`; nobody writes to them any more."""
        self._kill(_LONGEST_DEATH_MS)

    def _kill(self, wait_ms: int) -> None:
        if self.pidfd >= 0:
            with contextlib.suppress(ProcessLookupError):
                signal.pidfd_send_signal(self.pidfd, signal.SIGKILL)
            if wait_ms:
                poll = select.poll()
                poll.register(self.pidfd, select.POLLIN)
                poll.poll(wait_ms)  # process 1 of a namespace is gone when all the others are
            os.close(self.pidfd)
            self.pidfd = -1
        self.channel.close()

    def release(self) -> None:
        self._kill(0)
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
