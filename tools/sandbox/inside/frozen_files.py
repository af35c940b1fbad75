"""Files as they look everywhere: names in order, and nothing in their status that tells of machine or moment.

Times are the frozen moment, but for those that were set by `os.utime`; inodes are numbered in the order in which they
are seen; owner, device and the sizes of folders are constants. `posix.stat`, by which Python imports, is left alone.
"""

import glob
import os
import stat
from collections.abc import Callable, Iterator
from typing import Any

from . import frozen_clock

_USER, _DEVICE, _BLOCK, _FOLDER_BYTES = 1000, 1, 4096, 4096

_stat, _lstat, _fstat, _utime = os.stat, os.lstat, os.fstat, os.utime
_listdir, _scandir = os.listdir, os.scandir
_inodes: dict[tuple[int, int], int] = {}
_given: set[int] = set()
"""Times (nanoseconds) that `os.utime` has set; a file that still bears one shows it."""


def begin() -> None:
    """No file has been seen yet."""
    _inodes.clear()
    _given.clear()


def install() -> None:
    for name, function in (
        ("stat", _showing(_stat)),
        ("lstat", _showing(_lstat)),
        ("fstat", _showing(_fstat)),
        ("utime", _set_times),
        ("listdir", _sorted_names),
        ("scandir", Listing),
    ):
        _put(name, function)
    os.DirEntry = Entry  # type: ignore[assignment, misc]
    globber = getattr(glob, "_StringGlobber", None)  # Python 3.13: it keeps the function itself
    if globber:
        globber.scandir = staticmethod(Listing)


def _put(name: str, function: Callable[..., Any]) -> None:
    true = getattr(os, name)
    setattr(os, name, function)
    for able in (os.supports_dir_fd, os.supports_fd, os.supports_follow_symlinks, os.supports_effective_ids):
        if true in able:
            able.add(function)


def _showing(look: Callable[..., os.stat_result]) -> Callable[..., os.stat_result]:
    def status(*arguments: Any, **options: Any) -> os.stat_result:
        return _shown(look(*arguments, **options))

    return status


def _shown(true: os.stat_result) -> os.stat_result:
    folder = stat.S_ISDIR(true.st_mode)
    size, links = (_FOLDER_BYTES, 1) if folder else (true.st_size, true.st_nlink)
    inode = _inodes.setdefault((true.st_dev, true.st_ino), len(_inodes) + 1)
    clock = frozen_clock.now_ns()
    accessed, modified = (t if t in _given else clock for t in (true.st_atime_ns, true.st_mtime_ns))
    times = {"st_atime": accessed, "st_mtime": modified, "st_ctime": clock}
    more = {name: moment / 1e9 for name, moment in times.items()}
    more |= {f"{name}_ns": moment for name, moment in times.items()}
    more |= {"st_blksize": _BLOCK, "st_blocks": (size + 511) // 512, "st_rdev": true.st_rdev}
    seconds = (moment // 1_000_000_000 for moment in times.values())
    return os.stat_result((true.st_mode, inode, _DEVICE, links, _USER, _USER, size, *seconds), more)


def _set_times(path: Any, times: Any = None, **options: Any) -> None:
    _utime(path, times, **options)
    if times is not None or options.pop("ns", None) is not None:
        true = _stat(path, **options)
        _given.update((true.st_atime_ns, true.st_mtime_ns))


def _sorted_names(path: Any = ".") -> list[Any]:
    return sorted(_listdir(path))


class Entry:
    """An `os.DirEntry` whose status is that of `os.stat`."""

    __slots__ = ("_true", "name", "path")

    def __init__(self, true: "os.DirEntry[Any]") -> None:
        self._true, self.name, self.path = true, true.name, true.path

    def __getattr__(self, name: str) -> Any:
        return getattr(self._true, name)

    def __fspath__(self) -> Any:
        return self.path

    def __repr__(self) -> str:
        return f"<DirEntry {self.name!r}>"

    def stat(self, *, follow_symlinks: bool = True) -> os.stat_result:
        return _shown(self._true.stat(follow_symlinks=follow_symlinks))

    def inode(self) -> int:
        return self.stat(follow_symlinks=False).st_ino


class Listing:
    """What `os.scandir` gives, by name."""

    def __init__(self, path: Any = ".") -> None:
        with _scandir(path) as found:
            self._entries = iter(sorted(map(Entry, found), key=lambda entry: entry.name))

    def __iter__(self) -> Iterator[Entry]:
        return self

    def __next__(self) -> Entry:
        return next(self._entries)

    def __enter__(self) -> "Listing":
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        self._entries = iter(())
