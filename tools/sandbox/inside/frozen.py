"""A world in which nothing happens by chance: one moment in time, and randomness from a seed.

`install()` is called once, before anything else imports `datetime`; `begin()` once in each instance.
"""

import hashlib
import os
import random
import sys
import time
from collections.abc import Callable
from typing import Any

# Without its C twin, `datetime` is pure Python and asks `time.time`, so that one patched clock reaches all of it.
sys.modules["_datetime"] = None  # type: ignore[assignment]
sys.modules["_zoneinfo"] = None  # type: ignore[assignment]

import sqlite3  # noqa: E402
import uuid  # noqa: E402

_real_connect = sqlite3.connect
_clock_ns = 0
_entropy = random.Random(0)
_strftime, _seed = time.strftime, random.Random.seed


def begin(clock_ns: int, seed: str) -> None:
    """Set the moment (nanoseconds since 1970, UTC) and the seed of this process."""
    global _clock_ns
    _clock_ns = clock_ns
    start = int.from_bytes(hashlib.sha256(seed.encode()).digest(), "big")
    _seed(_entropy, start)
    random.seed(start + 1)


def install() -> None:
    time.time = _now
    time.time_ns = _now_ns
    for name in ("localtime", "gmtime", "ctime"):
        setattr(time, name, _of_now(getattr(time, name)))
    time.strftime = _format_time
    os.urandom = _random_bytes
    os.getrandom = lambda size, flags=0: _random_bytes(size)
    random._urandom = _random_bytes  # type: ignore[attr-defined]
    random.Random.seed = _seed_random  # type: ignore[method-assign]
    uuid._generate_time_safe = None  # type: ignore[attr-defined]
    uuid.getnode = lambda: 1
    sqlite3.connect = _connect  # type: ignore[assignment]
    sqlite3.dbapi2.connect = _connect  # type: ignore[assignment]


def _now() -> float:
    return _clock_ns / 1e9


def _now_ns() -> int:
    return _clock_ns


def _of_now(function: Callable[[float], Any]) -> Callable[..., Any]:
    def of_now(seconds: float | None = None) -> Any:
        return function(_now() if seconds is None else seconds)

    return of_now


def _format_time(template: str, moment: Any = None) -> str:
    return _strftime(template, time.localtime() if moment is None else moment)


def _random_bytes(size: int) -> bytes:
    return _entropy.getrandbits(8 * size).to_bytes(size, "big") if size else b""


def _seed_random(self: random.Random, a: Any = None, version: int = 2) -> None:
    _seed(self, _entropy.getrandbits(256) if a is None else a, version)


# --- SQLite has a clock and a generator of its own ----------------------------------------------------


class _Connection(sqlite3.Connection):
    def __init__(self, *arguments: Any, **options: Any) -> None:
        super().__init__(*arguments, **options)
        for name in ("datetime", "date", "time", "julianday", "unixepoch"):
            self.create_function(name, -1, _sqlite_time(name, 0), deterministic=True)
        self.create_function("strftime", -1, _sqlite_time("strftime", 1), deterministic=True)
        for name, short in (("timestamp", "datetime"), ("date", "date"), ("time", "time")):
            self.create_function(f"current_{name}", 0, _sqlite_time(short, 0), deterministic=True)
        self.create_function("random", 0, lambda: _entropy.getrandbits(64) - 2**63)
        self.create_function("randomblob", 1, lambda size: _random_bytes(max(int(size), 1)))


def _connect(*arguments: Any, **options: Any) -> sqlite3.Connection:
    options.setdefault("factory", _Connection)
    connection: sqlite3.Connection = _real_connect(*arguments, **options)
    return connection


def _sqlite_time(name: str, position: int) -> Callable[..., Any]:
    """SQLite's own function, with `now` (said, or meant by leaving it out) taken from our clock."""

    def evaluate(*given: Any) -> Any:
        values = list(given)
        if len(values) == position:
            values.append("now")
        if len(values) > position and isinstance(values[position], str) and values[position].lower() == "now":
            values[position] = time.strftime("%Y-%m-%d %H:%M:%S", time.gmtime())
        marks = ",".join("?" * len(values))
        connection = _real_connect(":memory:")
        try:
            return connection.execute(f"SELECT {name}({marks})", values).fetchone()[0]
        finally:
            connection.close()

    return evaluate
