"""A world in which nothing happens by chance: one moment in time, and randomness from a seed.

`install()` is called once, before any fork; `conceal()` in the process that instances are forked from, which has no
more need of the truth; `arrive()` in each instance at its start; `begin()` when it is told clock and seed, be it long
after the fork: before any tool code runs, but for what only defines (`plain.py`). What it does not reach is said in
docs/threat-model.md: entropy asked of the kernel by other means than Python's, and the clock that asyncio and timeouts
go by, which is the real one.
"""

import os
import random
import socket
import sys
import tempfile
import threading
from collections.abc import Callable
from typing import Any

# Without its C twin, `datetime` is pure Python and asks `time.time`, so that one patched clock reaches all of it.
sys.modules["_datetime"] = None  # type: ignore[assignment]
sys.modules["_zoneinfo"] = None  # type: ignore[assignment]

import uuid  # noqa: E402

try:  # of the interpreter itself: OpenSSL's, which `hashlib` prefers, takes ten times as long the first time
    from _sha2 import sha256
except ImportError:
    try:
        from _sha256 import sha256
    except ImportError:  # built without, as on Red Hat's systems
        from hashlib import sha256

from . import frozen_clock, frozen_files, frozen_sqlite  # noqa: E402

_USER = 1000
_PROCESS = 2
"""Where instances have no process namespace. Not 1: that is for who may end all others."""
_PROCESSORS = 2
_HOST = "sandbox"

_entropy = random.Random(0)
_kept: list[Any] = []
"""The state of `random` while a child is forked."""
_seed = random.Random.seed
_getpid = os.getpid


def begin(clock_ns: int, seed: str) -> None:
    """Set the moment (nanoseconds since 1970, UTC) and the seed of this process."""
    frozen_clock.begin(clock_ns)
    frozen_files.begin()
    start = int.from_bytes(sha256(seed.encode()).digest(), "big")
    _seed(_entropy, start)
    random.seed(start + 1)
    tempfile._name_sequence = None  # type: ignore[attr-defined]
    uuid._last_timestamp = None  # type: ignore[attr-defined]


def arrive() -> None:
    """Show the same ids of process and threads in every instance."""
    if os.getpid is _getpid and os.getpid() != 1:  # no process namespace, and no child that could be told apart
        os.getpid, os.getppid = _constant(_PROCESS), _constant(0)
        threading.get_native_id = _in_order(threading.get_native_id)
    threading.main_thread()._native_id = os.getpid()  # type: ignore[attr-defined]


def install() -> None:
    frozen_clock.install()
    frozen_sqlite.install(_random_bytes)
    os.urandom = _random_bytes
    os.getrandom = lambda size, flags=0: _random_bytes(size)
    random._urandom = _random_bytes  # type: ignore[attr-defined]
    random.Random.seed = _seed_random  # type: ignore[method-assign]
    random.seed(0)
    # Python seeds it by true chance in every child; what is registered last is called last.
    os.register_at_fork(before=_keep, after_in_parent=_kept.clear, after_in_child=_restore)
    uuid._generate_time_safe = None  # type: ignore[attr-defined]
    uuid.getnode = lambda: 1


def conceal() -> None:
    """Show the same files, ids, host and number of processors wherever this runs."""
    frozen_files.install()
    for name in ("getuid", "geteuid", "getgid", "getegid"):
        setattr(os, name, _constant(_USER))
    os.getresuid = os.getresgid = _constant((_USER,) * 3)
    os.getgroups = _constant([])
    os.cpu_count = _constant(_PROCESSORS)
    os.process_cpu_count = _constant(_PROCESSORS)  # type: ignore[attr-defined]
    os.sched_getaffinity = lambda pid, /: set(range(_PROCESSORS))
    machine = os.uname()
    os.uname = _constant(os.uname_result((machine.sysname, _HOST, "0", "0", machine.machine)))
    socket.gethostname = _constant(_HOST)


def chance() -> object:
    """Equal as long as no chance has been asked for, but for that of `random`'s own generator."""
    return _entropy.getstate()


def _random_bytes(size: int) -> bytes:
    return _entropy.getrandbits(8 * size).to_bytes(size, "big") if size else b""


def _seed_random(self: random.Random, a: Any = None, version: int = 2) -> None:
    _seed(self, _entropy.getrandbits(256) if a is None else a, version)


def _keep() -> None:
    _kept.append(random.getstate())


def _restore() -> None:
    random.setstate(_kept.pop())


def _constant(value: Any) -> Callable[[], Any]:
    return lambda: value


def _in_order(identify: Callable[[], int]) -> Callable[[], int]:
    known = {identify(): _PROCESS}
    return lambda: known.setdefault(identify(), len(known) + _PROCESS)
