"""The memory of all processes together, and its bound.

Measured from outside, by what each process holds of its own (`/proc/PID/statm`, its children included, less what it
shared with the zygote at birth) and by what its disk holds. An upper estimate: a page that an instance shares with
its own child counts twice.
"""

import asyncio
import contextlib
import os
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path

from agent_world.errors import SandboxError
from agent_world.tools.sandbox.process import Process

_MEGABYTE = 1024 * 1024
_PAGE = os.sysconf("SC_PAGE_SIZE")
_TICK_S = 0.05
"""A core touches some 100 MB of new memory in this time."""
_TICKS_A_ROUND = 100
"""Instances that do nothing are measured once in so many ticks."""
_FRESH = 4 * _MEGABYTE
"""What a process takes before it does anything: page tables, pages written to since the fork, kernel objects."""
_SHARED = 16 * _MEGABYTE
"""Libraries that a process may map beyond what it had at birth; above, shared memory counts as its own."""
_LARGE = 16 * _MEGABYTE
"""Ending what holds less helps nobody."""


@dataclass(slots=True)
class _Seen:
    pid: int
    anonymous: int
    shared: int
    size: int = _FRESH
    most: int | None = None


class MemoryWatch:
    """Ends the largest process when all together hold too much."""

    def __init__(self, limit_mb: int | None, own_disks: Callable[[], bool]) -> None:
        """`limit_mb` None is half of the machine's memory. `own_disks`: whether an instance's disk can be measured."""
        self.limit = (limit_mb * _MEGABYTE) if limit_mb is not None else machine_memory() // 2
        self.total = 0
        """Bytes held by all processes, as last measured."""
        self.relieve: Callable[[], bool] = lambda: False
        """Gives up what nobody waits for; whether there was anything."""
        self.shared_bytes: Callable[[], int] = lambda: 0
        """Held outside any process."""
        self.patience_s = 30.0
        """How long `room_for` waits for room."""
        self._own_disks = own_disks
        self._reserved = 0
        self._seen: dict[Process, _Seen] = {}
        self._busy: set[Process] = set()
        self._round: list[Process] = []
        self._task: asyncio.Task[None] | None = None

    def start(self) -> None:
        self._task = asyncio.create_task(self._run())

    async def stop(self) -> None:
        if self._task:
            self._task.cancel()
            await asyncio.gather(self._task, return_exceptions=True)
            self._task = None

    def add(self, process: Process, most: int | None = None) -> None:
        """Watch it until its release. `most` bytes are its own bound, for what no limit of the kernel counts."""
        pid = _pid(process.pidfd)
        pages = _statm(pid) or (0, 0)
        self._seen[process] = _Seen(pid, pages[0], pages[1], 0, most)
        self._measure(process)
        process.at_release.append(lambda: self._remove(process))

    def busy(self, process: Process) -> None:
        """It works for a call: look at it often."""
        self._busy.add(process)

    def idle(self, process: Process) -> None:
        self._busy.discard(process)

    def has_room(self, size: int) -> bool:
        return self._held() + _FRESH + size <= self.limit

    @asynccontextmanager
    async def room_for(self, size: int) -> AsyncIterator[None]:
        """Wait for room for a process with `size` bytes of files, and keep it while that is started.

        Raises `SandboxError` when none comes free in `patience_s`.
        """
        loop = asyncio.get_running_loop()
        end = loop.time() + self.patience_s
        while not self.has_room(size):
            if not self.relieve():
                if loop.time() >= end:
                    raise SandboxError(
                        f"No room for another instance in {self.patience_s:g} s: {len(self._seen)} processes hold "
                        f"{self._held() // _MEGABYTE} MB. Raise runtime.total_memory_mb "
                        f"(now {self.limit // _MEGABYTE}) or close instances."
                    )
                await asyncio.sleep(_TICK_S)
        need = _FRESH + size
        self._reserved += need
        try:
            yield
        finally:
            self._reserved -= need

    def look(self) -> None:
        """Measure what works, and some of what does not; end the largest while all hold too much."""
        for process in list(self._busy):
            self._measure(process)
        if not self._round:
            self._round = list(self._seen)
        for _ in range(min(len(self._round), len(self._seen) // _TICKS_A_ROUND + 1)):
            self._measure(self._round.pop())
        while self._held() > self.limit and (self.relieve() or self._end_largest()):
            pass

    async def _run(self) -> None:
        while True:
            await asyncio.sleep(_TICK_S)
            self.look()

    def _held(self) -> int:
        return self.total + self._reserved + self.shared_bytes()

    def _end_largest(self) -> bool:
        """One that works, if such a one is large; else one that only holds. Whether there was any."""
        working = [p for p in self._busy if p in self._seen]
        for group in (working, list(self._seen)):
            largest = max(group, key=lambda p: self._seen[p].size, default=None)
            if largest and self._seen[largest].size >= _LARGE and largest.pidfd >= 0:
                held = self._seen[largest].size // _MEGABYTE
                largest.outgrew = (
                    f"It was ended while it held {held} MB, because all instances together may hold "
                    f"{self.limit // _MEGABYTE} MB. Its files are kept. Use less memory at a time."
                )
                largest.kill()
                self._measure(largest)
                return True
        return False

    def _measure(self, process: Process) -> None:
        seen = self._seen.get(process)
        if seen is None:
            return
        size = _on_disk(process.directory) if self._own_disks() else 0
        if process.pidfd >= 0:
            size += _FRESH
            for pages in map(_statm, _family(seen.pid)):
                if pages:
                    size += max(pages[0] - seen.anonymous, 0) + max(pages[1] - seen.shared - _SHARED, 0)
        self.total += size - seen.size
        seen.size = size
        if seen.most is not None and size > seen.most and process.pidfd >= 0:
            process.outgrew = (
                f"It was ended while it held {size // _MEGABYTE} MB; it may hold {seen.most // _MEGABYTE} MB."
            )
            process.kill()

    def _remove(self, process: Process) -> None:
        self.total -= self._seen.pop(process).size
        self._busy.discard(process)


def machine_memory() -> int:
    """Bytes of memory of this machine, or of the container if it has fewer."""
    total = os.sysconf("SC_PHYS_PAGES") * _PAGE
    with contextlib.suppress(OSError, ValueError):  # no limit, or no control groups of version 2
        total = min(total, int(Path("/sys/fs/cgroup/memory.max").read_text()))
    return total


def _pid(pidfd: int) -> int:
    for line in Path(f"/proc/self/fdinfo/{pidfd}").read_text().splitlines():
        if line.startswith("Pid:"):
            return int(line.split()[1])
    return -1


def _read(path: str) -> bytes:
    """Empty when the process has ended."""
    try:
        file = os.open(path, os.O_RDONLY)
    except OSError:
        return b""
    try:
        return os.read(file, 4096)
    except OSError:
        return b""
    finally:
        os.close(file)


def _statm(pid: int) -> tuple[int, int] | None:
    """Bytes of its own, and of files and shared memory."""
    fields = _read(f"/proc/{pid}/statm").split()
    if len(fields) < 3:
        return None
    resident, shared = int(fields[1]) * _PAGE, int(fields[2]) * _PAGE
    return resident - shared, shared


def _family(pid: int) -> list[int]:
    """A process and all below it."""
    found = [pid]
    for parent in found:  # grows on the way
        try:
            threads = os.listdir(f"/proc/{parent}/task")
        except OSError:
            continue
        for thread in threads:
            found += map(int, _read(f"/proc/{parent}/task/{thread}/children").split())
    return found


def _on_disk(directory: int) -> int:
    if directory < 0:
        return 0
    status = os.fstatvfs(directory)
    return (status.f_blocks - status.f_bfree) * status.f_frsize
