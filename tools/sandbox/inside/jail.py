"""The walls: for the zygote, then for each instance.

Four rungs, the best that the kernel grants:
- `own_uid` (root): namespaces, a private root, and a uid an instance;
- `user_namespace` (an ordinary user): the same by way of user namespaces, one more for each instance;
- `confined` (where namespaces are refused): Landlock for files, and no process but itself;
- `limits` (where Landlock is missing too): no wall around files. For trusted tools alone.
On all of them: no privilege, limits, and seccomp, which refuses sockets and what else tools have no use for; only
`limits` goes on where the kernel has no seccomp.
"""

import os
import resource
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

from . import filters, kernel

Rung = Literal["own_uid", "user_namespace", "confined", "limits"]
NAMESPACED = ("own_uid", "user_namespace")

HOME = "/db"
"""Where an instance finds its database, where there are namespaces."""
SCRATCH = "/scratch"
"""Where a program may put temporary files."""
BASES = "/bases"
"""Where the zygote keeps databases that instances share, one folder each. No instance sees it."""
_NOTHING = "/.none"
_SHARED = kernel.CLONE_NEWNS | kernel.CLONE_NEWNET | kernel.CLONE_NEWIPC | kernel.CLONE_NEWUTS | kernel.CLONE_NEWPID
_READ_ONLY = kernel.MS_REMOUNT | kernel.MS_BIND | kernel.MS_RDONLY | kernel.MS_NOSUID | kernel.MS_NODEV
_DATA_ONLY = kernel.MS_NOSUID | kernel.MS_NODEV | kernel.MS_NOEXEC
_DEVICES = ("/dev/null", "/dev/zero", "/dev/urandom")
_MAX_FILES, _MAX_FILES_OF_PROGRAM = 64, 256
_MAX_PROCESSES, _MAX_PROCESSES_OF_PROGRAM = 16, 64
_MAX_INODES = 2048
_MAX_CPU_S = 3600
_HARD_LIMITS = {
    limit: resource.getrlimit(limit)[1]
    for limit in (
        resource.RLIMIT_AS, resource.RLIMIT_DATA, resource.RLIMIT_FSIZE, resource.RLIMIT_NOFILE, resource.RLIMIT_NPROC,
        resource.RLIMIT_CPU, resource.RLIMIT_CORE,
    )
}  # fmt: skip
"""Of this process, and so of all that come from it."""
_getuid, _getgid = os.getuid, os.getgid
"""The true ones, also after `frozen.conceal`."""


@dataclass(frozen=True)
class Room:
    """What an instance is given. `uid` is its own where it has one, else the caller's."""

    uid: int
    memory_mb: int
    disk_mb: int
    folder: str
    """Without namespaces, its folder, made by the trusted side; with them it gets a disk of its own."""
    base: int = 0
    """The shared database under its files; 0 for none."""
    program: bool = False
    """A foreign program lives here: it may have more threads, and reserve addresses that it does not use."""


def enter_namespaces(proc: int, own_ids: bool) -> Rung:
    """Leave the caller's mounts, network, processes and IPC; who cannot give instances ids of their own does so by way
    of a user namespace.

    The next fork is process 1. `proc` is a descriptor of /proc. Raises `OSError` where the kernel refuses, and then
    leaves this process of no use.
    """
    uid, gid = _getuid(), _getgid()
    if own_ids:
        kernel.unshare(_SHARED)
        return "own_uid"
    kernel.unshare(_SHARED | kernel.CLONE_NEWUSER)
    _map_ids(proc, uid, gid)
    return "user_namespace"


def _map_ids(proc: int, uid: int, gid: int) -> None:
    for name, text in (("setgroups", "deny"), ("uid_map", f"{uid} {uid} 1"), ("gid_map", f"{gid} {gid} 1")):
        file = os.open(f"self/{name}", os.O_WRONLY, dir_fd=proc)
        try:
            os.write(file, text.encode())
        finally:
            os.close(file)


def build_root(more: Sequence[str] = ()) -> None:
    """Make a new root that holds the interpreter, the system's libraries and `more`, read-only, and nothing else."""
    os.umask(0o022)  # whoever lives here must get through the folders made
    kernel.mount("none", "/", flags=kernel.MS_REC | kernel.MS_PRIVATE)
    base = "/mnt" if os.path.isdir("/mnt") else "/tmp"
    kernel.mount("tmpfs", base, "tmpfs", kernel.MS_NOSUID | kernel.MS_NODEV, "mode=755,size=1m")
    for path in _readable(more):
        _bind(path, base + path)
    os.makedirs(base + "/dev")
    for path in _DEVICES:
        _bind(path, base + path)
    for path in (HOME, SCRATCH, BASES, _NOTHING, "/.old"):
        os.mkdir(base + path)
    kernel.pivot_root(base, base + "/.old")
    os.chdir("/")
    kernel.unmount("/.old")
    os.rmdir("/.old")
    kernel.mount("tmpfs", BASES, "tmpfs", _DATA_ONLY, "mode=700")
    kernel.mount("none", "/", flags=_READ_ONLY)


def _readable(more: Sequence[str] = ()) -> list[str]:
    """Folders that Python needs to import and load libraries, and `more`; none lies inside another."""
    python = {os.path.realpath(prefix) for prefix in (sys.base_prefix, sys.base_exec_prefix)}
    found: list[str] = []
    for path in sorted({"/usr", "/lib", "/lib64", *python, *more}):
        if os.path.exists(path) and not any(path == outer or path.startswith(outer + "/") for outer in found):
            found.append(path)
    return found


def _bind(source: str, target: str) -> None:
    if os.path.isdir(source):
        os.makedirs(target)
    else:
        os.makedirs(os.path.dirname(target), exist_ok=True)
        os.close(os.open(target, os.O_CREAT | os.O_WRONLY))
    kernel.mount(source, target, flags=kernel.MS_BIND | kernel.MS_REC)
    if os.path.isdir(source) or os.path.isfile(source):
        kernel.make_read_only(target)


def enter_room(room: Room, rung: Rung, proc: int) -> int:
    """Go to the instance's own folder: at `HOME`, on own mounts, a disk of a fixed size; or the folder given.

    Returns a descriptor of it, for the trusted side. `shut` must follow.
    """
    if rung not in NAMESPACED:
        os.chdir(room.folder)
        os.environ["MCP_DB_DIR"] = os.environ["HOME"] = room.folder
        return os.open(".", os.O_RDONLY | os.O_DIRECTORY)
    uid, gid = room.uid, room.uid
    if rung == "own_uid":
        kernel.unshare(kernel.CLONE_NEWNS)
    else:
        uid, gid = _getuid(), _getgid()
        # A user namespace of its own, because the kernel counts processes by user namespace.
        kernel.unshare(kernel.CLONE_NEWUSER | kernel.CLONE_NEWNS)
        _map_ids(proc, uid, gid)
    options = f"size={room.disk_mb}m,nr_inodes={_MAX_INODES},mode=700,uid={uid},gid={gid}"
    for place in (HOME, SCRATCH) if room.program else (HOME,):
        kernel.mount("tmpfs", place, "tmpfs", _DATA_ONLY, options)
    if room.base:
        _lay_over(room.base, uid, gid, rung)
    kernel.mount(_NOTHING, BASES, flags=kernel.MS_BIND)
    os.chdir(HOME)
    return os.open(".", os.O_RDONLY | os.O_DIRECTORY)


def _lay_over(base: int, uid: int, gid: int, rung: Rung) -> None:
    """Show the shared database at `HOME`; what is changed goes to the instance's disk, now out of sight."""
    for name in ("upper", "work"):
        os.mkdir(f"{HOME}/{name}", 0o700)
        os.chown(f"{HOME}/{name}", uid, gid)
    options = f"lowerdir={BASES}/{base},upperdir={HOME}/upper,workdir={HOME}/work,index=off"
    root = rung == "own_uid"
    kernel.mount("overlay", HOME, "overlay", _DATA_ONLY, options + (",metacopy=on" if root else ",userxattr"))
    if root:  # only owners and modes are copied for this, no content
        for folder, folders, files in os.walk(HOME):
            for name in (*folders, *files):
                os.chown(f"{folder}/{name}", uid, gid)


def try_sharing(base: int, rung: Rung, proc: int) -> None:
    """Use a shared database as an instance would, for this process to end after. Raises `OSError` where refused."""
    room = Room(65_534, 64, 1, "", base)
    enter_room(room, rung, proc)
    if rung == "user_namespace":  # overlayfs notes there which folders were removed, and older kernels' tmpfs cannot
        os.setxattr(".", "user.probe", b"1")


def shut(room: Room, rung: Rung, with_parent: bool = True) -> None:
    """Give up the uid, every privilege, and all but a fixed share of the machine. There is no way back.

    On the rung `own_uid`, after `kernel.gain_no_privileges`, which takes as long as all of this.

    `with_parent` ends it with the thread that started it, too; not meant where that is a thread of somebody else's.
    """
    root = _getuid() == 0 and room.uid != 0
    if rung != "own_uid":  # there the stem has
        kernel.gain_no_privileges()  # while it may
    if root:
        os.setgroups([])
        os.setresgid(room.uid, room.uid, room.uid)
        os.setresuid(room.uid, room.uid, room.uid)
    kernel.give_up_privileges()
    if with_parent:
        kernel.die_with_parent()
    # Without a uid or a user namespace of its own, the count would be of all the caller's processes.
    most_processes = _MAX_PROCESSES_OF_PROGRAM if room.program else _MAX_PROCESSES
    processes = most_processes if root or rung == "user_namespace" else resource.RLIM_INFINITY
    megabyte = 1024 * 1024
    for limit, value in (
        (resource.RLIMIT_DATA if room.program else resource.RLIMIT_AS, room.memory_mb * megabyte),
        (resource.RLIMIT_FSIZE, room.disk_mb * megabyte),
        (resource.RLIMIT_NOFILE, _MAX_FILES_OF_PROGRAM if room.program else _MAX_FILES),
        (resource.RLIMIT_NPROC, processes),
        (resource.RLIMIT_CPU, _MAX_CPU_S),
        (resource.RLIMIT_CORE, 0),
    ):
        most = _HARD_LIMITS[limit]
        allowed = (
            value if most == resource.RLIM_INFINITY else most if value == resource.RLIM_INFINITY else min(value, most)
        )
        resource.setrlimit(limit, (allowed, allowed))
    if rung == "confined":
        filters.restrict_files(_readable(), _DEVICES, room.folder)
    if rung != "limits" or kernel.has_call_filters():
        filters.restrict_calls(alone=rung not in NAMESPACED, program=room.program)
