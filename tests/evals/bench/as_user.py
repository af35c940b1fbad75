"""Run a module of this Python as an ordinary user: `python as_user.py UID MODULE ARGUMENTS...`, started by root.

The interpreter and the packages may lie below folders that the user may not enter (mode 700). In a mount namespace of
its own, such a folder is covered by an empty one in which only what Python needs is there. Ends with 77 and a reason on
stderr where the kernel refuses that.
"""

import os
import sys
from pathlib import Path

from agent_world.tools.sandbox.inside import kernel

REFUSED = 77


def main(uid: int, module: str, *arguments: str) -> None:
    needed = _needed()
    try:
        kernel.unshare(kernel.CLONE_NEWNS)
        kernel.mount("none", "/", flags=kernel.MS_REC | kernel.MS_PRIVATE)
        for closed in sorted({top for path in needed if (top := _closed(path))}):
            _open_way(closed, [path for path in needed if path.is_relative_to(closed)])
    except OSError as error:
        print(f"mounts are refused here: {error}", file=sys.stderr)
        sys.exit(REFUSED)
    os.chdir("/")
    os.setgroups([])
    os.setresgid(uid, uid, uid)
    os.setresuid(uid, uid, uid)
    environment = {"PATH": "/usr/bin:/bin", "HOME": "/tmp", "PYTHONPATH": os.pathsep.join(p for p in sys.path if p)}
    os.execve(sys.executable, [sys.executable, "-B", "-m", module, *arguments], environment)


def _needed() -> list[Path]:
    """The outermost existing folders that this Python reads."""
    places = {Path(place).absolute() for place in (*sys.path, sys.prefix, sys.base_prefix, Path.cwd()) if place}
    places |= {place.resolve() for place in places}
    found = sorted(place for place in places if place.is_dir())
    return [place for place in found if not any(place != other and place.is_relative_to(other) for other in found)]


def _closed(path: Path) -> Path | None:
    """The outermost folder on the way that others may not enter."""
    return next((part for part in [*reversed(path.parents), path] if not part.stat().st_mode & 0o001), None)


def _open_way(closed: Path, paths: list[Path]) -> None:
    kept = {path: os.open(path, os.O_PATH) for path in paths}
    kernel.mount("tmpfs", str(closed), "tmpfs", 0, "mode=755,size=1m")
    for path, descriptor in kept.items():
        path.mkdir(parents=True, exist_ok=True)
        kernel.mount(f"/proc/self/fd/{descriptor}", str(path), flags=kernel.MS_BIND | kernel.MS_REC)
        os.close(descriptor)


if __name__ == "__main__":
    main(int(sys.argv[1]), *sys.argv[2:])
