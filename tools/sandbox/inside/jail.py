"""The walls: namespaces and a private root for the zygote, then a room of its own for each instance."""

import os
import resource
import sys
from dataclasses import dataclass

from . import kernel

HOME = "/db"
"""Where an instance finds its database."""
_SHARED = kernel.CLONE_NEWNS | kernel.CLONE_NEWNET | kernel.CLONE_NEWIPC | kernel.CLONE_NEWUTS | kernel.CLONE_NEWPID
_READ_ONLY = kernel.MS_REMOUNT | kernel.MS_BIND | kernel.MS_RDONLY | kernel.MS_NOSUID | kernel.MS_NODEV
_MAX_FILES = 64
_MAX_PROCESSES = 16
_MAX_INODES = 2048
_MAX_CPU_S = 3600


@dataclass(frozen=True)
class Room:
    """What an instance is given. `uid` is its own where the zygote is root, else the caller's."""

    uid: int
    memory_mb: int
    disk_mb: int


def enter_namespaces(proc: int) -> bool:
    """Leave the caller's mounts, network, processes and IPC; as an ordinary user by way of a user namespace.

    The next fork is process 1. `proc` is a descriptor of /proc. Returns whether a user namespace was needed. Raises
    `OSError` where the kernel refuses: without these there is no sandbox.
    """
    uid, gid = os.getuid(), os.getgid()
    if uid == 0:
        kernel.unshare(_SHARED)
        return False
    kernel.unshare(_SHARED | kernel.CLONE_NEWUSER)
    _map_ids(proc, uid, gid)
    return True


def _map_ids(proc: int, uid: int, gid: int) -> None:
    for name, text in (("setgroups", "deny"), ("uid_map", f"{uid} {uid} 1"), ("gid_map", f"{gid} {gid} 1")):
        file = os.open(f"self/{name}", os.O_WRONLY, dir_fd=proc)
        try:
            os.write(file, text.encode())
        finally:
            os.close(file)


def build_root() -> None:
    """Make a new root that holds the interpreter and the system's libraries, read-only, and nothing else."""
    kernel.mount("none", "/", flags=kernel.MS_REC | kernel.MS_PRIVATE)
    base = "/mnt" if os.path.isdir("/mnt") else "/tmp"
    kernel.mount("tmpfs", base, "tmpfs", kernel.MS_NOSUID | kernel.MS_NODEV, "mode=755,size=1m")
    for path in _readable():
        _bind(path, base + path)
    os.makedirs(base + "/dev")
    for name in ("null", "zero", "urandom"):
        _bind(f"/dev/{name}", f"{base}/dev/{name}")
    os.mkdir(base + HOME)
    os.mkdir(base + "/.old")
    kernel.pivot_root(base, base + "/.old")
    os.chdir("/")
    kernel.unmount("/.old")
    os.rmdir("/.old")
    kernel.mount("none", "/", flags=_READ_ONLY)


def _readable() -> list[str]:
    """Folders that Python needs to import and load libraries; none lies inside another."""
    python = {os.path.realpath(prefix) for prefix in (sys.base_prefix, sys.base_exec_prefix)}
    wanted = sorted({"/usr", "/lib", "/lib64", *python})
    found: list[str] = []
    for path in wanted:
        if os.path.isdir(path) and not any(path == outer or path.startswith(outer + "/") for outer in found):
            found.append(path)
    return found


def _bind(source: str, target: str) -> None:
    if os.path.isdir(source):
        os.makedirs(target)
    else:
        os.close(os.open(target, os.O_CREAT | os.O_WRONLY))
    kernel.mount(source, target, flags=kernel.MS_BIND | kernel.MS_REC)
    if os.path.isdir(source):
        kernel.mount("none", target, flags=_READ_ONLY)


def enter_room(room: Room, proc: int, in_user_namespace: bool) -> int:
    """Shut this process in: own mounts and own disk of a fixed size at `HOME`, which it makes its working folder.

    Returns a descriptor of that folder, for the trusted side. `shut` must follow.
    """
    uid, gid = (os.getuid(), os.getgid()) if in_user_namespace else (room.uid, room.uid)
    if in_user_namespace:
        # Of its own, because the kernel counts processes by user namespace.
        kernel.unshare(kernel.CLONE_NEWUSER | kernel.CLONE_NEWNS)
        _map_ids(proc, uid, gid)
    else:
        kernel.unshare(kernel.CLONE_NEWNS)
    options = f"size={room.disk_mb}m,nr_inodes={_MAX_INODES},mode=700,uid={uid},gid={gid}"
    kernel.mount("tmpfs", HOME, "tmpfs", kernel.MS_NOSUID | kernel.MS_NODEV | kernel.MS_NOEXEC, options)
    os.chdir(HOME)
    return os.open(".", os.O_RDONLY | os.O_DIRECTORY)


def shut(room: Room, in_user_namespace: bool) -> None:
    """Give up the uid, every privilege, and all but a fixed share of the machine. There is no way back."""
    if not in_user_namespace:
        os.setgroups([])
        os.setresgid(room.uid, room.uid, room.uid)
        os.setresuid(room.uid, room.uid, room.uid)
    kernel.give_up_privileges()
    megabyte = 1024 * 1024
    for limit, value in (
        (resource.RLIMIT_AS, room.memory_mb * megabyte),
        (resource.RLIMIT_FSIZE, room.disk_mb * megabyte),
        (resource.RLIMIT_NOFILE, _MAX_FILES),
        (resource.RLIMIT_NPROC, _MAX_PROCESSES),
        (resource.RLIMIT_CPU, _MAX_CPU_S),
        (resource.RLIMIT_CORE, 0),
    ):
        resource.setrlimit(limit, (value, value))
