"""Certifying a backend of the runtime: every case on a fresh set of instances, one result each.

    report = await run_conformance(open_mine, name="mine")

`open_mine` takes `Limits` and gives an async context manager of a `Runtime`. See docs/backends.md.
"""

import asyncio
import os
import tempfile
import time
from collections.abc import Awaitable, Callable, Sequence
from contextlib import AsyncExitStack
from pathlib import Path

from agent_world.evals.bench.lab import PYTHON, CaseFailed, Facts, Lab, Limits, OpenRuntime, Traps, set_traps
from agent_world.evals.bench.registry import Case, CaseResult, ConformanceReport, Status, all_cases
from agent_world.evals.bench.world import WriteWorld, write_standard_world
from agent_world.tools.runtime import Runtime

DEADLINE_TOLERANCE_S = 0.1

Observe = Callable[[Path, int], Awaitable[tuple[list[str], str]]]
"""Opens a world with a seed in another process of ours; texts of three calls of `chance`, and the state hash."""


async def run_conformance(
    open_runtime: OpenRuntime,
    *,
    name: str,
    lacks: Callable[[Runtime], Facts] = lambda _: {},
    readable: Callable[[Runtime], Sequence[str]] = lambda _: PYTHON,
    write_world: WriteWorld = write_standard_world,
    only: str = "",
    limits: Limits | None = None,
    tolerance_s: float | None = DEADLINE_TOLERANCE_S,
    elsewhere: Observe | None = None,
    jobs: int = 1,
    case_s: float = 60.0,
    on_start: Callable[[Sequence[str]], None] = lambda _: None,
    on_result: Callable[[CaseResult], None] = lambda _: None,
) -> ConformanceReport:
    """Run the cases whose group or name contains `only`.

    `lacks` says, once the backend has started, which needs it does not meet and why; cases with such a need are
    reported as not applicable. `readable` are the paths of the machine that are there inside by design, beside `/usr`
    and the system's libraries: by default the interpreter's. `tolerance_s` is how late a deadline may be; None measures
    without judging.
    `write_world` makes the standard world in a folder, where tools do not come from the bundle.
    `jobs` cases run at once; one that has not ended after `case_s` has failed.
    Raises `SandboxError` or `UsageError` when the backend cannot start.
    """
    limits = limits or Limits()
    chosen = [c for c in all_cases() if only.lower() in f"{c.group}: {c.name}".lower()]
    async with AsyncExitStack() as stack:
        folder = Path(stack.enter_context(tempfile.TemporaryDirectory(prefix="conformance-")))
        os.chmod(folder, 0o755)
        (folder / "traps").mkdir()
        traps = stack.enter_context(set_traps(folder / "traps"))
        standard = write_world(folder / "standard")
        runtime = await stack.enter_async_context(open_runtime(limits))
        protections, missing = runtime.describe(), _missing(lacks(runtime), elsewhere)
        on_start(protections)
        places = asyncio.Semaphore(jobs)

        async def one(number: int, case: Case) -> CaseResult:
            async with places:
                lab = _lab(runtime, open_runtime, limits, folder / str(number), standard, traps)
                lab.tolerance_s, lab.elsewhere, lab.write_world = tolerance_s, elsewhere, write_world
                lab.readable = readable(runtime)
                result = await _run(case, lab, missing, case_s)
            on_result(result)
            return result

        results = await asyncio.gather(*(one(number, case) for number, case in enumerate(chosen)))
    return ConformanceReport(backend=name, protections=protections, results=tuple(results))


def _lab(
    runtime: Runtime, open_runtime: OpenRuntime, limits: Limits, folder: Path, standard: Path, traps: Traps
) -> Lab:
    folder.mkdir()
    return Lab(runtime, open_runtime, limits, folder, standard, traps)


def _missing(lacks: Facts, elsewhere: Observe | None) -> Facts:
    return lacks if elsewhere else {**lacks, "elsewhere": "no other process of ours was given to open it in"}


async def _run(case: Case, lab: Lab, missing: Facts, case_s: float) -> CaseResult:
    lacking = [missing[need] for need in case.needs if need in missing]
    if lacking:
        return CaseResult(group=case.group, name=case.name, status="not_applicable", reason=lacking[0])
    started = time.monotonic()
    status, reason = await _outcome(case, lab, case_s)
    seconds = round(time.monotonic() - started, 3)
    figures = tuple(lab.figures)
    return CaseResult(group=case.group, name=case.name, status=status, reason=reason, seconds=seconds, figures=figures)


async def _outcome(case: Case, lab: Lab, case_s: float) -> tuple[Status, str]:
    # Broad, at the edge of a case: whatever a backend raises is how it fails this case, and the others go on.
    try:
        async with asyncio.timeout(case_s):
            try:
                await case.work(lab)
            finally:
                await lab.close()
    except CaseFailed as failure:
        return "failed", str(failure)
    except TimeoutError:
        return "failed", f"it had not ended after {case_s:g} s."
    except Exception as error:
        return "failed", f"raised {type(error).__name__}: {error}"
    return "passed", ""
