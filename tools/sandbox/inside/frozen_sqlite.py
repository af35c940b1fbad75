"""SQLite has a clock and a generator of its own; every connection is given ours."""

import sqlite3
from collections.abc import Callable
from typing import Any

from . import frozen_clock

_true_connect, _TrueConnection = sqlite3.connect, sqlite3.Connection
_FACTORY = 5
"""Place of `factory` among the arguments of `sqlite3.connect`."""
_CLOCKS = {"datetime": 0, "date": 0, "time": 0, "julianday": 0, "unixepoch": 0, "strftime": 1}
"""Functions of time, and where among their arguments the moment is."""
_NAMES_OF_NOW = {"current_timestamp": "datetime", "current_date": "date", "current_time": "time"}

_random_bytes: Callable[[int], bytes] = bytes
_calculator: sqlite3.Connection | None = None


class Connection(sqlite3.Connection):
    __module__ = "sqlite3"

    def __init__(self, *arguments: Any, **options: Any) -> None:
        super().__init__(*arguments, **options)
        for name, place in _CLOCKS.items():
            self.create_function(name, -1, _of_now(name, place), deterministic=True)
        for name, function in _NAMES_OF_NOW.items():
            self.create_function(name, 0, _of_now(function, 0), deterministic=True)
        if sqlite3.sqlite_version_info >= (3, 43):
            self.create_function("timediff", 2, _difference, deterministic=True)
        self.create_function("random", 0, lambda: int.from_bytes(_random_bytes(8), "big", signed=True))
        self.create_function("randomblob", 1, lambda size: _random_bytes(max(int(size or 0), 1)))


def install(random_bytes: Callable[[int], bytes]) -> None:
    global _random_bytes
    _random_bytes = random_bytes
    for module in (sqlite3, sqlite3.dbapi2):
        module.__dict__.update(connect=_connect, Connection=Connection)


def _connect(*arguments: Any, **options: Any) -> Any:
    if len(arguments) <= _FACTORY and options.get("factory") in (None, _TrueConnection):
        options["factory"] = Connection
    return _true_connect(*arguments, **options)


def _of_now(name: str, place: int) -> Callable[..., Any]:
    """SQLite's own function, with `now` (said, or meant by leaving it out) taken from our clock."""

    def evaluate(*given: Any) -> Any:
        values = list(given)
        if len(values) == place or (len(values) > place and values[place] in ("subsec", "subsecond")):
            values.insert(place, "now")
        if len(values) > place:
            values[place] = _moment(values[place])
        return _calculate(name, values)

    return evaluate


def _difference(one: Any, other: Any) -> Any:
    return _calculate("timediff", [_moment(one), _moment(other)])


def _moment(value: Any) -> Any:
    if isinstance(value, str) and value.lower() == "now":
        whole, rest = divmod(frozen_clock.now_ns(), 1_000_000_000)
        seconds = _calculate("datetime", [whole, "unixepoch"])
        return f"{seconds}.{rest // 1_000_000:03}" if rest else seconds
    return value


def _calculate(name: str, values: list[Any]) -> Any:
    """Done by a connection without our functions."""
    global _calculator
    if _calculator is None:
        _calculator = _true_connect(":memory:", check_same_thread=False)
    marks = ",".join("?" * len(values))
    return _calculator.execute(f"SELECT {name}({marks})", values).fetchone()[0]
