"""Two more walls, for which no privilege is needed: seccomp (which system calls) and Landlock (which files)."""

import ctypes
import functools
import os
import struct
from collections.abc import Mapping, Sequence

from . import calls, kernel

Step = tuple[int, int, int, int]
"""One instruction of classic BPF: code, steps to skip if true, if false, operand."""
Steps = tuple[Step, ...]

_ARCHITECTURES = {"x86_64": (0xC000003E, 0), "aarch64": (0xC00000B7, 1)}
"""Audit number, and column of the tables in `calls`."""
_LOAD, _AND, _RETURN = 0x20, 0x54, 0x06
_JUMP, _JUMP_EQUAL, _JUMP_FROM, _JUMP_ANY_BIT = 0x05, 0x15, 0x35, 0x45
_NUMBER, _ARCHITECTURE, _ARGUMENTS = 0, 4, 16
_ALLOW, _KILL, _ERRNO = 0x7FFF0000, 0x80000000, 0x00050000
_EPERM, _ENOTTY, _ENOSYS = 1, 25, 38
_X32 = 0x40000000
"""From here on: the numbers of the x32 form of x86-64, which would pass for others."""
_MOST_SKIPPED = 255

_CLONE_THREAD = 0x00010000
_CLONE_ELSEWHERE = 0x7E028080
"""New namespaces of any kind, and a child of one's parent instead of one's own."""
_AF_UNIX, _FILE_TYPE, _PIPE = 1, 0o170000, 0o010000
_TERMINALS = (0x5401, 0x5413, 0x541B, 0x5421, 0x5450, 0x5451, 0x802C542A)
"""TCGETS, TIOCGWINSZ, FIONREAD, FIONBIO, FIONCLEX, FIOCLEX, TCGETS2: nothing that types into a terminal."""
_DESCRIPTORS = (0, 1, 2, 3, 4, 5, 6, 7, 36, 37, 38, 1030, 1032, 1034)
"""F_DUPFD to F_SETLKW, the locks of open files, F_DUPFD_CLOEXEC, F_GETPIPE_SZ, F_GET_SEALS. Not F_SETOWN and
F_SETSIG, which send signals in the kernel's name, nor leases."""
_OWN_AFFAIRS = (2, 3, 15, 16, 21, 23, 38, 39, 0x53564D41)
"""PR_GET_PDEATHSIG, PR_GET_DUMPABLE, PR_SET_NAME, PR_GET_NAME, PR_GET_SECCOMP, PR_CAPBSET_READ, PR_SET_NO_NEW_PRIVS,
PR_GET_NO_NEW_PRIVS, PR_SET_VMA (names of memory). Not PR_SET_PDEATHSIG: who cleared it would outlive the zygote."""


def restrict_calls(alone: bool, program: bool = False) -> None:
    """Refuse, for good, all system calls but those that tools need. Needs no_new_privs. Raises `OSError`.

    `alone`: no process but this one, and no word to any other (threads may be). `program`: what is executed next is
    a program of another kind, Node.js for example, and not our interpreter.
    """
    kernel.set_call_filter(packed_filter(os.uname().machine, alone, program))


@functools.cache
def packed_filter(machine: str, alone: bool, program: bool) -> bytes:
    """As the kernel takes it. Made once before the forks, it costs an instance nothing."""
    guarded = not alone or landlock_version() >= _GUARDS_LENGTHS
    return b"".join(struct.pack("HBBI", *step) for step in call_filter(machine, alone, program, guarded))


def call_filter(machine: str, alone: bool, program: bool = False, guarded: bool = True) -> list[Step]:
    """The filter as BPF. `guarded`: something else sees to it that no file outside is shortened.

    One search by halves over the numbers, so that no call passes more than a dozen steps, and
    so that the kernel, which tries every number once when it takes the filter, is done soon."""
    audit, column = _ARCHITECTURES[machine]
    return [
        (_LOAD, 0, 0, _ARCHITECTURE),
        (_JUMP_EQUAL, 1, 0, audit),
        _give(_KILL),
        (_LOAD, 0, 0, _NUMBER),
        *_search(_ranges(_verdicts(column, alone, program, guarded))),
    ]


def _verdicts(column: int, alone: bool, program: bool, guarded: bool) -> dict[int, Steps]:
    """What follows on a call, by number."""
    allowed = calls.FILES | calls.RUNNING | calls.WAITING
    allowed |= {} if alone else calls.COMPANY
    allowed |= calls.FOREIGN if program else {}
    checks = _checks(alone)
    found: dict[int, Steps] = {numbers[column]: (_give(_ALLOW),) for numbers in allowed.values()}
    found |= {numbers[column]: (_give(_ERRNO | _ENOSYS),) for numbers in calls.UNKNOWN.values()}
    found |= {numbers[column]: checks[name] for name, numbers in calls.CHECKED.items()}
    if not guarded:
        found |= {calls.FILES[name][column]: steps for name, steps in _UNGUARDED.items()}
    return found


def _ranges(verdicts: Mapping[int, Steps]) -> list[tuple[int, Steps]]:
    """The same as runs of numbers: where each begins, and what follows on it."""
    refused, unknown, killed = (_give(_ERRNO | _EPERM),), (_give(_ERRNO | _ENOSYS),), (_give(_KILL),)
    found: list[tuple[int, Steps]] = []
    for number in range(calls.NEWER):
        verdict = verdicts.get(number, refused)
        if not found or found[-1][1] != verdict:
            found.append((number, verdict))
    return [*found, (calls.NEWER, unknown), (_X32, killed)]


def _search(ranges: Sequence[tuple[int, Steps]]) -> list[Step]:
    if len(ranges) == 1:
        return list(ranges[0][1])
    middle = len(ranges) // 2
    lower, upper = _search(ranges[:middle]), _search(ranges[middle:])
    if len(lower) <= _MOST_SKIPPED:
        return [(_JUMP_FROM, len(lower), 0, ranges[middle][0]), *lower, *upper]
    return [(_JUMP_FROM, 0, 1, ranges[middle][0]), (_JUMP, 0, 0, len(lower)), *lower, *upper]


def _checks(alone: bool) -> dict[str, Steps]:
    """What the arguments of `calls.CHECKED` must be. All are of 32 bits, so that their low words say everything."""
    return {
        "clone": (
            _load(0),
            (_JUMP_ANY_BIT, 0, 1, _CLONE_ELSEWHERE),
            _give(_ERRNO | _EPERM),
            *([(_JUMP_ANY_BIT, 1, 0, _CLONE_THREAD), _give(_ERRNO | _EPERM)] if alone else []),
            _give(_ALLOW),
        ),
        "prlimit64": _one_of(0, (0,)),
        "ioctl": _one_of(1, _TERMINALS, _ENOTTY),
        "fcntl": _one_of(1, _DESCRIPTORS),
        "prctl": _one_of(0, _OWN_AFFAIRS),
        "socketpair": _one_of(0, (_AF_UNIX,)),
        "mknod": (_load(1), *_pipe_only()),
        "mknodat": (_load(2), *_pipe_only()),
    }


def _lengthened_only(flags: int) -> Steps:
    """Opening for reading, and yet emptying: for that no right to write is asked."""
    return (_load(flags), (_AND, 0, 0, _ACCESS | _TRUNCATE), (_JUMP_EQUAL, 0, 1, _TRUNCATE), _give(_ERRNO | _EPERM),
            _give(_ALLOW))  # fmt: skip


def _load(argument: int) -> Step:
    return _LOAD, 0, 0, _ARGUMENTS + 8 * argument


def _one_of(argument: int, values: Sequence[int], error: int = _EPERM) -> Steps:
    jumps = [(_JUMP_EQUAL, len(values) - place, 0, value) for place, value in enumerate(values)]
    return _load(argument), *jumps, _give(_ERRNO | error), _give(_ALLOW)


def _pipe_only() -> Steps:
    return (_AND, 0, 0, _FILE_TYPE), (_JUMP_EQUAL, 1, 0, _PIPE), _give(_ERRNO | _EPERM), _give(_ALLOW)


def _give(verdict: int) -> Step:
    return _RETURN, 0, 0, verdict


_ACCESS, _TRUNCATE = 0o3, 0o1000
_UNGUARDED: Mapping[str, Steps] = {
    "open": _lengthened_only(1),
    "openat": _lengthened_only(2),
    "truncate": (_give(_ERRNO | _EPERM),),
}


# --- Landlock ----------------------------------------------------------------------------------------

_EXECUTE, _WRITE_FILE, _READ_FILE, _READ_DIR = 1, 2, 4, 8
_FILES_BY_VERSION = (0, 0x1FFF, 0x3FFF, 0x7FFF, 0x7FFF, 0xFFFF)
"""All rights over files that a version of Landlock knows."""
_GUARDS_LENGTHS = 3
"""The first version (Linux 6.2) that knows a right to shorten files."""
_ALL_TCP, _SIGNALS_AND_ABSTRACT_SOCKETS = 3, 3


@functools.cache
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
