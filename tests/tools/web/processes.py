"""Counting the processes of browsers that a test has started."""

import os
from contextlib import suppress
from pathlib import Path


def chromium_processes() -> int:
    """Processes below this one whose program is a Chromium."""
    parents, browsers = {}, set()
    for entry in Path("/proc").glob("[0-9]*/stat"):
        with suppress(OSError):  # it ended meanwhile
            head, _, rest = entry.read_text().rpartition(")")
            pid = int(entry.parent.name)
            parents[pid] = int(rest.split()[1])
            browsers |= {pid} if "chrom" in head or "headless" in head else set()
    return sum(os.getpid() in ancestors(pid, parents) for pid in browsers)


def ancestors(pid: int, parents: dict[int, int]) -> set[int]:
    found = set()
    while (pid := parents.get(pid, 0)) and pid not in found:
        found.add(pid)
    return found
