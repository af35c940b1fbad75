"""Clocks that do not depend on the machine.

The time of day stands still. The clocks that measure (monotonic, perf_counter, process_time and their kin) start at a
fixed value and move on by a fixed step at each look, and by what `sleep` was asked for; it does wait. A loop that
waits for such a clock thus ends, after about as long as it meant to. What waits on behalf of others, within the
standard library, is given the true clock: its timeouts are real.
"""

import array
import os
import resource
import sys
import time
from collections.abc import Callable
from typing import Any

_START_NS = 1_000_000_000_000
_STEP_NS = 1_000
_TRUE_CLOCK = frozenset(
    {
        "asyncio.base_events", "asyncio.base_subprocess", "asyncio.events", "asyncio.runners", "asyncio.timeouts",
        "concurrent.futures._base", "concurrent.futures.process", "concurrent.futures.thread",
        "multiprocessing.connection", "multiprocessing.managers", "multiprocessing.pool", "multiprocessing.queues",
        "multiprocessing.synchronize", "queue", "sched", "selectors", "socketserver", "subprocess", "test.support",
        "threading", "timeit",
    }
)  # fmt: skip
"""Modules that compare a clock with timeouts that pass in the kernel."""
_DAY_CLOCKS = (time.CLOCK_REALTIME, getattr(time, "CLOCK_TAI", 11), 5)
"""5 is the coarse form of the first, for which Python has no name."""

_SECONDS, _REST, _PASSED = range(3)
_cells = array.array("q", (0, 0, _START_NS))
"""The moment in seconds, the rest of it in nanoseconds, and what the measuring clocks show in nanoseconds.

An array, so that setting it leaves all other objects where they are.
"""
_sleep, _strftime = time.sleep, time.strftime


def begin(clock_ns: int) -> None:
    _cells[_SECONDS], _cells[_REST] = divmod(clock_ns, 1_000_000_000)
    _cells[_PASSED] = _START_NS


def install() -> None:
    time.time, time.time_ns = now, now_ns
    for name in ("localtime", "gmtime", "ctime"):
        setattr(time, name, _of_now(getattr(time, name)))
    asctime = time.asctime
    time.asctime = lambda moment=None: asctime(time.localtime() if moment is None else moment)
    time.strftime = _format
    for name in ("monotonic", "perf_counter", "process_time", "thread_time"):
        setattr(time, name, _measuring(getattr(time, name), lambda: tick() / 1e9))
        setattr(time, f"{name}_ns", _measuring(getattr(time, f"{name}_ns"), tick))
    time.clock_gettime = _of_clock(time.clock_gettime, lambda passed: passed / 1e9)
    time.clock_gettime_ns = _of_clock(time.clock_gettime_ns, lambda passed: passed)
    time.sleep = _wait
    os.times = lambda: os.times_result((tick() / 1e9, 0.0, 0.0, 0.0, _cells[_PASSED] / 1e9))
    resource.getrusage = lambda who, /: resource.struct_rusage((tick() / 1e9, 0.0, *(0,) * 14))


def now() -> float:
    return now_ns() / 1e9


def now_ns() -> int:
    return _cells[_SECONDS] * 1_000_000_000 + _cells[_REST]


def tick() -> int:
    """The nanoseconds that have passed, one step more at each look."""
    _cells[_PASSED] += _STEP_NS
    return _cells[_PASSED]


def _wait(seconds: Any, /) -> None:
    _sleep(seconds)
    _cells[_PASSED] += int(seconds * 1e9)


def _of_now(function: Callable[[float], Any]) -> Callable[..., Any]:
    def of_now(seconds: float | None = None) -> Any:
        return function(now() if seconds is None else seconds)

    return of_now


def _format(template: str, moment: Any = None) -> str:
    return _strftime(template, time.localtime() if moment is None else moment)


def _measuring(true: Callable[[], Any], ours: Callable[[], Any]) -> Callable[[], Any]:
    def measure() -> Any:
        return true() if sys._getframe(1).f_globals.get("__name__") in _TRUE_CLOCK else ours()

    return measure


def _of_clock(true: Callable[[int], Any], form: Callable[[int], Any]) -> Callable[[int], Any]:
    def of_clock(clock: int, /) -> Any:
        true(clock)  # raises where there is no such clock
        return form(now_ns() if clock in _DAY_CLOCKS else tick())

    return of_clock
