"""Containment in time: whatever runs on is ended at its deadline."""

import asyncio
import statistics
import textwrap
import time

from agent_world.evals.bench.cases.hostile import hostile
from agent_world.evals.bench.figures import Figure, Target, judge
from agent_world.evals.bench.lab import Lab, must, same
from agent_world.evals.bench.registry import case
from agent_world.tools.runtime import Instance

LATE = ("timeout",)

hostile("an endless loop", "while True: pass", errors=LATE)
hostile("an endless sleep", "time.sleep(100)", errors=LATE)
hostile(
    "a regular expression that holds the interpreter", "import re\nre.match(r'(a+)+$', 'a' * 40 + 'b')", errors=LATE
)
hostile(
    "a loop that ignores every signal",
    """
import signal
for n in range(1, 65):
    try: signal.signal(n, signal.SIG_IGN)
    except (OSError, ValueError): pass
while True: pass
""",
    errors=LATE,
)
hostile(
    "a loop that catches everything",
    "while True:\n    try:\n        while True: pass\n    except BaseException: pass",
    errors=LATE,
)
hostile(
    "a number that takes for ever",
    "return len(str(7 ** (10 ** 8)))",
    errors=("timeout", "out_of_memory", "exception", "tool_error"),
)
hostile("a stopped process", "import signal\nos.kill(os.getpid(), signal.SIGSTOP)\ntime.sleep(100)")
hostile("alarms and timers", "import signal\nsignal.setitimer(signal.ITIMER_REAL, 0.01)\ntime.sleep(100)",
        errors=("timeout", "crashed", "exception", "tool_error"))  # fmt: skip


_WRITING = """
if os.fork() == 0:
    os.setsid()
    while True:
        with open('child.txt', 'a') as file: file.write('x')
        time.sleep(0.02)
while not os.path.exists('child.txt'): pass
while True: pass
"""


@case("containment", "children of an endless tool die with it")
async def children(lab: Lab) -> None:
    _, instance = await lab.attack(_WRITING)
    await _stays(instance)


@case("containment", "children of an endless program die with it")
async def children_of_program(lab: Lab) -> None:
    source = "import os, time\ndef solve():" + textwrap.indent(_WRITING, "    ")
    instance = await lab.open()
    result = await instance.run(source, "solve", {})
    must(not result.ok, "an endless program succeeded.")
    await _stays(instance)


async def _stays(instance: Instance) -> None:
    before = await instance.state_hash()
    await asyncio.sleep(0.5)
    must(await instance.state_hash() == before, "a child outlived what was killed, and wrote.")


@case("containment", "children of a finished program are ended")
async def background(lab: Lab) -> None:
    source = """
import os, time
def solve():
    try:
        if os.fork() == 0:
            os.setsid()
            time.sleep(0.3)
            open('late.txt', 'w').write('x')
            os._exit(0)
    except OSError: pass
    return 1
"""
    instance = await lab.open()
    same((await instance.run(source, "solve", {})).value, 1, "value")
    await asyncio.sleep(0.6)
    must("late.txt" not in str((await instance.diff()).changes), "a child outlived its finished program, and wrote.")


@case("containment", "a deadline is kept")
async def deadline(lab: Lab) -> None:
    limit, late = lab.limits.call_timeout_s, []
    for body in ("while True: pass", "time.sleep(100)", "held = bytearray(60_000_000)\nwhile True: held[0] = 1"):
        instance = await lab.open()
        await lab.answers(instance, "a fresh instance")
        started = time.monotonic()
        seen = await instance.call("execute", {"body": body})
        late.append(time.monotonic() - started - limit)
        same(seen.error, "timeout", "error")
    instance = await lab.open()
    same((await instance.run("def solve(): return 1", "solve", {})).value, 1, "value of a first program")
    started = time.monotonic()
    result = await instance.run("def solve():\n    while True: pass", "solve", {})
    late.append(time.monotonic() - started - lab.limits.run_timeout_s)
    same(result.error, "timeout", "error of a program")
    _judge(lab, "deadline overrun, worst", late)


_MUCH = """
rows = ', '.join('{"a": %d, "b": [1, 2], "c": "x"}' % number for number in range(60_000))
open('much.json', 'w').write(f'[{rows}]')
"""


@case("containment", "a deadline is kept while all that a hostile sibling wrote is read")
async def busy(lab: Lab) -> None:
    limit, instance = lab.limits.call_timeout_s, await lab.open()
    await lab.answers(instance, "a fresh instance")
    _, sibling = await lab.attack(_MUCH)

    async def read() -> int:
        await asyncio.sleep(limit - 0.3)  # still under way when the deadline comes
        return len((await sibling.diff()).changes)

    async def run_on() -> float:
        started = time.monotonic()
        seen = await instance.call("execute", {"body": "while True: pass"})
        same(seen.error, "timeout", "error")
        return time.monotonic() - started - limit

    late, changes = await asyncio.gather(run_on(), read())
    must(changes > 0, "what was written does not show.")
    _judge(lab, "deadline overrun beside much to read", [late])


def _judge(lab: Lab, name: str, late: list[float]) -> None:
    worst = max(late)
    bound = Target(kind="at_most", bound=1000 * (lab.tolerance_s or 0.1))
    limits = f"over limits of {lab.limits.call_timeout_s:g} s a call, {lab.limits.run_timeout_s:g} s a program"
    note = f"{limits}; median {1000 * statistics.median(late):.1f} ms"
    figure = Figure(name=name, value=1000 * worst, unit="ms", samples=len(late), note=note)
    lab.figures.append(judge(figure, bound))
    if lab.tolerance_s is not None:
        must(worst <= lab.tolerance_s, f"a call or program ended {1000 * worst:.0f} ms late ({limits}).")
    must(min(late) >= 0, f"a call or program was ended {-1000 * min(late):.0f} ms before its limit.")
