"""User ids that instances may be given, each its own: where we are root, and root may give ids away.

In a container without privileges (rootless, or with a remapped root) root has few ids, or may not take on another one;
there instances keep the caller's id, as an ordinary user's do.
"""

import os
from dataclasses import dataclass
from pathlib import Path

_FIRST, _MANY = 100_000, 50_000
_LEAST = 2_048
"""Fewer would soon be those of somebody else in the container."""
_NEEDED = (0, 6, 7)
"""CAP_CHOWN, CAP_SETGID, CAP_SETUID."""


@dataclass(frozen=True, slots=True)
class OwnIds:
    first: int
    many: int

    def of(self, number: int) -> int:
        return self.first + number % self.many


def own_ids(of: Path = Path("/proc/self")) -> OwnIds | None:
    """`of` is the folder of our process in /proc."""
    if os.getuid() != 0 or not _may_give(_field(of / "status", "CapEff")):
        return None
    return ids_within(_ranges(of / "uid_map"), _ranges(of / "gid_map"))


def ids_within(uids: list[range], gids: list[range]) -> OwnIds | None:
    """Ids of both a user and a group: the usual ones if there are these, else the last of the largest range."""
    both = [range(max(u.start, g.start), min(u.stop, g.stop)) for u in uids for g in gids]
    if any(ids.start <= _FIRST and ids.stop >= _FIRST + _MANY for ids in both):
        return OwnIds(_FIRST, _MANY)
    largest = max(both, key=len, default=range(0))
    many = min(_MANY, len(largest) // 2)
    return OwnIds(largest.stop - many, many) if many >= _LEAST else None


def _may_give(capabilities: str) -> bool:
    return all(int(capabilities or "0", 16) >> number & 1 for number in _NEEDED)


def _ranges(path: Path) -> list[range]:
    found = (line.split() for line in path.read_text().splitlines())
    return [range(int(inside), int(inside) + int(many)) for inside, _, many in found]


def _field(path: Path, name: str) -> str:
    lines = (line.partition(":") for line in path.read_text().splitlines())
    return next((value.strip() for key, _, value in lines if key == name), "")
