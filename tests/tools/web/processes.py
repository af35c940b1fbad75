"""Counting the processes of browsers that a test has started."""

import os
from contextlib import suppress
from pathlib import Path


def chromium_processes() -> int:
    """Processes below this one whose program is a Chromium."""
    return len(_chromiums())


def memory_mb() -> tuple[float, float]:
    """Resident memory of this process, and of the Chromiums below it (what several share is counted once)."""
    return _resident(os.getpid(), "Rss"), sum(_resident(pid, "Pss") for pid in _chromiums())


def _resident(pid: int, kind: str) -> float:
    with suppress(OSError):  # it ended meanwhile
        lines = Path(f"/proc/{pid}/smaps_rollup").read_text().splitlines()
        return sum(int(line.split()[1]) for line in lines if line.startswith(f"{kind}:")) / 1024
    return 0.0


def _chromiums() -> list[int]:
    parents, browsers = {}, set()
    for entry in Path("/proc").glob("[0-9]*/stat"):
        with suppress(OSError):  # it ended meanwhile
            head, _, rest = entry.read_text().rpartition(")")
            pid = int(entry.parent.name)
            parents[pid] = int(rest.split()[1])
            browsers |= {pid} if "chrom" in head or "headless" in head else set()
    return [pid for pid in browsers if os.getpid() in ancestors(pid, parents)]


def ancestors(pid: int, parents: dict[int, int]) -> set[int]:
    found = set()
    while (pid := parents.get(pid, 0)) and pid not in found:
        found.add(pid)
    return found
