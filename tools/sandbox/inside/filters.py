"""Two more walls, for which no privilege is needed: seccomp (which system calls) and Landlock (which files)."""

import ctypes
import os
import struct
from collections.abc import Sequence

from . import kernel

_ARCHITECTURES = {"x86_64": (0xC000003E, 0), "aarch64": (0xC00000B7, 1)}
"""Audit number, and column of the tables below."""

_ALWAYS = {
    "socket": (41, 198),
    "ptrace": (101, 117), "process_vm_readv": (310, 270), "process_vm_writev": (311, 271), "kcmp": (312, 272),
    "pidfd_getfd": (438, 438), "process_madvise": (440, 440), "process_mrelease": (448, 448),
    "unshare": (272, 97), "setns": (308, 268), "mount": (165, 40), "umount2": (166, 39), "pivot_root": (155, 41),
    "chroot": (161, 51), "open_tree": (428, 428), "move_mount": (429, 429), "fsopen": (430, 430),
    "fsconfig": (431, 431), "fsmount": (432, 432), "fspick": (433, 433), "mount_setattr": (442, 442),
    "open_by_handle_at": (304, 265), "bpf": (321, 280), "userfaultfd": (323, 282), "perf_event_open": (298, 241),
    "keyctl": (250, 219), "add_key": (248, 217), "request_key": (249, 218), "personality": (135, 92),
    "io_uring_setup": (425, 425), "io_uring_enter": (426, 426), "io_uring_register": (427, 427),
    "shmget": (29, 194), "shmat": (30, 196), "msgget": (68, 186), "semget": (64, 190), "mq_open": (240, 180),
    "migrate_pages": (256, 238), "move_pages": (279, 239),
}  # fmt: skip
"""Refused to every instance: ways out, ways to others, and parts of the kernel that tools have no use for."""

_SAME_UID = {
    "kill": (62, 129), "tkill": (200, 130), "tgkill": (234, 131), "rt_sigqueueinfo": (129, 138),
    "rt_tgsigqueueinfo": (297, 240), "pidfd_open": (434, 434), "pidfd_send_signal": (424, 424),
    "fork": (57, -1), "vfork": (58, -1), "execve": (59, 221), "execveat": (322, 281),
    "setpriority": (141, 140), "ioprio_set": (251, 30), "sched_setaffinity": (203, 122),
    "sched_setscheduler": (144, 119), "sched_setparam": (142, 118), "sched_setattr": (314, 274),
    "chmod": (90, -1), "fchmod": (91, 52), "fchmodat": (268, 53), "fchmodat2": (452, 452), "chown": (92, -1),
    "fchown": (93, 55), "lchown": (94, -1), "fchownat": (260, 54), "utime": (132, -1), "utimes": (235, -1),
    "futimesat": (261, -1), "utimensat": (280, 88), "setxattr": (188, 5), "lsetxattr": (189, 6),
    "fsetxattr": (190, 7), "removexattr": (197, 14), "lremovexattr": (198, 15), "fremovexattr": (199, 16),
}  # fmt: skip
"""Refused as well where nothing else keeps an instance from what has the same uid: signals, more processes, and the
attributes of files, which Landlock does not guard."""

_CLONE, _CLONE3, _PRLIMIT = (56, 220), (435, 435), (302, 261)
_CLONE_THREAD, _CLONE_NEW_ANYTHING = 0x00010000, 0x7E020080
_ALLOW, _KILL, _ERRNO = 0x7FFF0000, 0x80000000, 0x00050000
_EPERM, _ENOSYS = 1, 38
_LOAD, _JUMP_EQUAL, _JUMP_AT_LEAST, _JUMP_BITS, _RETURN = 0x20, 0x15, 0x35, 0x45, 0x06
_NUMBER, _ARCHITECTURE, _FIRST_ARGUMENT = 0, 4, 16


def restrict_calls(alone: bool) -> None:
    """Refuse system calls for good. `alone`: no process but this one, and no word to any other (threads may be).

    Needs no_new_privs. Raises `OSError`.
    """
    program = b"".join(struct.pack("HBBI", *step) for step in _program(alone))
    kernel.set_call_filter(program)


def _program(alone: bool) -> list[tuple[int, int, int, int]]:
    audit, column = _ARCHITECTURES[os.uname().machine]
    refused = [numbers[column] for numbers in (_ALWAYS | (_SAME_UID if alone else {})).values()]
    steps = [
        (_LOAD, 0, 0, _ARCHITECTURE),
        (_JUMP_EQUAL, 1, 0, audit),
        (_RETURN, 0, 0, _KILL),
        (_LOAD, 0, 0, _NUMBER),
        (_JUMP_AT_LEAST, 0, 1, 0x40000000),  # the x32 numbers of x86-64
        (_RETURN, 0, 0, _KILL),
    ]
    for number in refused:
        if number >= 0:
            steps += [(_JUMP_EQUAL, 0, 1, number), (_RETURN, 0, 0, _ERRNO | _EPERM)]
    # Without clone3, whose flags no filter can see, the C library uses clone.
    steps += [(_JUMP_EQUAL, 0, 1, _CLONE3[column]), (_RETURN, 0, 0, _ERRNO | _ENOSYS)]
    steps += [(_JUMP_EQUAL, 0, 4, _CLONE[column]), (_LOAD, 0, 0, _FIRST_ARGUMENT)]
    # A thread only; or else anything that makes no namespace.
    steps += [(_JUMP_BITS, 1, 0, _CLONE_THREAD)] if alone else [(_JUMP_BITS, 0, 1, _CLONE_NEW_ANYTHING)]
    steps += [(_RETURN, 0, 0, _ERRNO | _EPERM), (_RETURN, 0, 0, _ALLOW)]
    # Limits of oneself only.
    steps += [(_JUMP_EQUAL, 0, 3, _PRLIMIT[column]), (_LOAD, 0, 0, _FIRST_ARGUMENT)]
    steps += [(_JUMP_EQUAL, 1, 0, 0), (_RETURN, 0, 0, _ERRNO | _EPERM)]
    return [*steps, (_RETURN, 0, 0, _ALLOW)]


# --- Landlock ----------------------------------------------------------------------------------------

_EXECUTE, _WRITE_FILE, _READ_FILE, _READ_DIR = 1, 2, 4, 8
_FILES_BY_VERSION = (0, 0x1FFF, 0x3FFF, 0x7FFF, 0x7FFF, 0xFFFF)
"""All rights over files that a version of Landlock knows."""
_ALL_TCP, _SIGNALS_AND_ABSTRACT_SOCKETS = 3, 3


def landlock_version() -> int:
    """0 where the kernel has no Landlock."""
    try:
        return kernel.landlock_create(b"", 1)
    except OSError:
        return 0


def restrict_files(readable: Sequence[str], devices: Sequence[str], home: str) -> None:
    """From now on open nothing but these: `readable` and `devices` as they are, `home` to do with as one likes.

    Needs no_new_privs. Raises `OSError`.
    """
    version = landlock_version()
    everything = _FILES_BY_VERSION[min(version, len(_FILES_BY_VERSION) - 1)]
    network = [_ALL_TCP] if version >= 4 else []
    scope = [_SIGNALS_AND_ABSTRACT_SOCKETS] if version >= 6 else []
    fields = [everything, *network, *scope]
    rules = kernel.landlock_create(struct.pack(f"{len(fields)}Q", *fields), 0)
    for path in readable:
        _permit(rules, path, _EXECUTE | _READ_FILE | _READ_DIR)
    for path in devices:
        _permit(rules, path, _READ_FILE | _WRITE_FILE)
    _permit(rules, home, everything & ~_EXECUTE)
    kernel.landlock_enforce(rules)
    os.close(rules)


def _permit(rules: int, path: str, rights: int) -> None:
    place = os.open(path, os.O_PATH)
    try:
        kernel.landlock_add(rules, ctypes.create_string_buffer(struct.pack("=Qi", rights, place), 12))
    finally:
        os.close(place)
