"""The few Linux calls that Python has no name for. Each raises `OSError`."""

import ctypes
import os
import struct

CLONE_NEWNS = 0x00020000
CLONE_NEWUTS = 0x04000000
CLONE_NEWIPC = 0x08000000
CLONE_NEWUSER = 0x10000000
CLONE_NEWPID = 0x20000000
CLONE_NEWNET = 0x40000000

MS_RDONLY, MS_NOSUID, MS_NODEV, MS_NOEXEC, MS_REMOUNT = 1, 2, 4, 8, 32
MS_BIND, MS_REC, MS_PRIVATE = 4096, 16384, 1 << 18
MNT_DETACH = 2

_PR_SET_PDEATHSIG, _PR_SET_DUMPABLE, _PR_CAPBSET_DROP, _PR_SET_NO_NEW_PRIVS = 1, 4, 24, 38
_PR_GET_SECCOMP, _PR_SET_SECCOMP, _SECCOMP_FILTER = 21, 22, 2
_LANDLOCK_CREATE, _LANDLOCK_ADD, _LANDLOCK_ENFORCE = 444, 445, 446
_LANDLOCK_PATH = 1
_MOUNT_SETATTR, _HERE, _RECURSIVE, _READ_ONLY_NO_SUID_NO_DEVICES = 442, -100, 0x8000, 7
_CAPABILITY_VERSION_3 = 0x20080522
_CAPABILITIES_OF_US, _NO_CAPABILITIES = (ctypes.c_uint32 * 2)(_CAPABILITY_VERSION_3, 0), (ctypes.c_uint32 * 6)()
"""Made once: each length of array is a class of its own, which takes as long as all system calls of a start."""
_LAST_CAPABILITY = 63

_libc = ctypes.CDLL(None, use_errno=True)
_python = ctypes.PyDLL(None, use_errno=True)
"""Called with the interpreter's lock held."""
_libc.mount.argtypes = (ctypes.c_char_p, ctypes.c_char_p, ctypes.c_char_p, ctypes.c_ulong, ctypes.c_char_p)
_libc.umount2.argtypes = (ctypes.c_char_p, ctypes.c_int)


def _check(result: int, what: str) -> None:
    if result != 0:
        number = ctypes.get_errno()
        raise OSError(number, f"{what}: {os.strerror(number)}")


def fork() -> int:
    """As `os.fork`, without repairs in the child: where there is one thread nothing is broken.

    What these would write to stays shared with the parent.
    """
    pid: int = _python.fork()
    _check(min(pid, 0), "fork")
    return pid


def unshare(flags: int) -> None:
    _check(_libc.unshare(flags), "unshare")


def join_namespace(fd: int, kind: int) -> None:
    _check(_libc.setns(fd, kind), "setns")


def mount(source: str, target: str, kind: str = "", flags: int = 0, options: str = "") -> None:
    made = _libc.mount(source.encode(), target.encode(), kind.encode() or None, flags, options.encode() or None)
    _check(made, f"mount {target}")


def unmount(target: str) -> None:
    _check(_libc.umount2(target.encode(), MNT_DETACH), f"umount {target}")


def make_read_only(target: str) -> None:
    """What is mounted at `target`, and below it where the kernel has `mount_setattr` (Linux 5.12, not all containers).

    That there are no set-uid programs and no devices goes with it.
    """
    wanted = struct.pack("=4Q", _READ_ONLY_NO_SUID_NO_DEVICES, 0, 0, 0)
    if _libc.syscall(_MOUNT_SETATTR, _HERE, target.encode(), _RECURSIVE, wanted, ctypes.c_size_t(len(wanted))) != 0:
        mount("none", target, flags=MS_REMOUNT | MS_BIND | MS_RDONLY | MS_NOSUID | MS_NODEV)


def pivot_root(new: str, old: str) -> None:
    numbers = {"x86_64": 155, "aarch64": 41}
    _check(_libc.syscall(numbers[os.uname().machine], new.encode(), old.encode()), "pivot_root")


def die_with_parent() -> None:
    _check(_libc.prctl(_PR_SET_PDEATHSIG, 9, 0, 0, 0), "prctl pdeathsig")


def gain_no_privileges() -> None:
    """None by any exec, of this process and of all that come from it, but in a new user namespace.

    The capabilities of the bounding set go as far as the caller has the right to take them.
    """
    _check(_libc.prctl(_PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0), "prctl no_new_privs")
    for capability in range(_LAST_CAPABILITY + 1):
        if _libc.prctl(_PR_CAPBSET_DROP, capability, 0, 0, 0) != 0:
            break


def give_up_privileges() -> None:
    """No capability now, and no reading of this process by its neighbours."""
    _check(_libc.capset(_CAPABILITIES_OF_US, _NO_CAPABILITIES), "capset")
    _check(_libc.prctl(_PR_SET_DUMPABLE, 0, 0, 0, 0), "prctl dumpable")


class _Program(ctypes.Structure):
    _fields_ = (("length", ctypes.c_ushort), ("steps", ctypes.c_char_p))


def has_call_filters() -> bool:
    """Whether the kernel has seccomp."""
    return bool(_libc.prctl(_PR_GET_SECCOMP, 0, 0, 0, 0) >= 0)


def set_call_filter(program: bytes) -> None:
    """Install a seccomp filter: packed BPF instructions of 8 bytes."""
    described = _Program(len(program) // 8, program)
    _check(_libc.prctl(_PR_SET_SECCOMP, _SECCOMP_FILTER, ctypes.byref(described), 0, 0), "seccomp")


def landlock_create(attributes: bytes, flags: int) -> int:
    """A descriptor of new rules; with flag 1 and no attributes, the version of Landlock."""
    found: int = _libc.syscall(_LANDLOCK_CREATE, attributes or None, ctypes.c_size_t(len(attributes)), flags)
    _check(min(found, 0), "landlock_create_ruleset")
    return found


def landlock_add(rules: int, rule: "ctypes.Array[ctypes.c_char]") -> None:
    _check(_libc.syscall(_LANDLOCK_ADD, rules, _LANDLOCK_PATH, rule, 0), "landlock_add_rule")


def landlock_enforce(rules: int) -> None:
    _check(_libc.syscall(_LANDLOCK_ENFORCE, rules, 0), "landlock_restrict_self")
