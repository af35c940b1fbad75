"""How many tasks, how fast, how long and how varied: task synthesis measured on the environments of a workspace.

Environments are copied without their tasks and given new ones, several at once; nothing of the workspace is changed.
"""

import asyncio
import multiprocessing
import shutil
import statistics
import tempfile
import time
from collections import Counter
from collections.abc import Callable, Sequence
from concurrent.futures import ProcessPoolExecutor, as_completed
from itertools import combinations
from pathlib import Path

from agent_world.agents.synthesizer.forms import forms_of_programs, forms_of_walks
from agent_world.agents.synthesizer.graph import read_tool_graph
from agent_world.agents.synthesizer.proposals import draft_of, propose
from agent_world.agents.synthesizer.world import World
from agent_world.agents.validator.duplicates import MOST_SHARED, four_grams, shared
from agent_world.errors import UsageError
from agent_world.evals.bench.figures import Figure, Target, judge
from agent_world.evals.records import reasons_of
from agent_world.graphs.deps import open_deps
from agent_world.graphs.synthesize import SynthesisRequest, rejections_of, synthesize
from agent_world.memory.store import Bundle, Store, read_records
from agent_world.schema import Dropped, Record, Task
from agent_world.settings import Settings

MANY, SINGLE = 1000, 200
"""Tasks wanted of the demo's web, and of one environment alone."""
EACH = {True: 220, False: 60}
"""Tasks proposed an environment, where there is one alone, and where there are several."""
PROGRAMS = 1 / 3
"""Share of programmatic tasks."""
FORMS_OF = 120
"""Walks looked at for their kinds of step."""


class EnvironmentTasks(Record):
    environment: str
    graph: int
    program: int
    calls_mean: float
    overlap: float
    """Greatest share of 4-grams that two questions have in common."""
    seconds: float


class TaskReport(Record):
    figures: tuple[Figure, ...]
    rejections: dict[str, int]
    """Candidates that were not kept, by reason."""
    environments: tuple[EnvironmentTasks, ...]
    forms: dict[str, int]
    """Surface forms by kind of step, counted up to 60."""


def environments_of(path: Path) -> list[Path]:
    """Bundles of a workspace, or the one bundle that the folder is. Raises `UsageError`."""
    if (path / "environment.json").is_file():
        return [path]
    found = [bundle.root for bundle in Store(path).bundles()] if (path / "environments").is_dir() else []
    if not found:
        raise UsageError(f"There are no environments in {path}; name a workspace, or the folder of one environment.")
    return sorted(found)


def measure_tasks(path: Path, each: int | None, jobs: int, seed: int, note: Callable[[str], None]) -> TaskReport:
    """Make `each` tasks an environment anew, `jobs` environments at once, and the first one's again. Raises
    `UsageError` where there are none."""
    bundles = environments_of(path)
    wanted = each or EACH[len(bundles) == 1]
    with tempfile.TemporaryDirectory(prefix="agent-world-bench-") as folder:
        out, again = Path(folder) / "first", Path(folder) / "again"
        started = time.monotonic()
        seconds = _all_of(bundles, out, wanted, jobs, seed, note)
        minutes = (time.monotonic() - started) / 60
        note(f"{bundles[0].name} once more")
        synthesized(bundles[0], again, wanted, seed)
        note("surface forms")
        return _report(bundles, out, again, seconds, minutes)


def _all_of(
    bundles: Sequence[Path], out: Path, wanted: int, jobs: int, seed: int, note: Callable[[str], None]
) -> dict[str, float]:
    seconds: dict[str, float] = {}
    context = multiprocessing.get_context("spawn")
    with ProcessPoolExecutor(jobs, mp_context=context) as workers:
        running = {workers.submit(synthesized, root, out, wanted, seed): root.name for root in bundles}
        for done in as_completed(running):
            seconds[running[done]] = done.result()
            note(f"{len(seconds)} of {len(bundles)} environments; last: {running[done]}")
    return seconds


def synthesized(root: Path, out: Path, wanted: int, seed: int) -> float:
    """`give_tasks`, for a process of its own."""
    return asyncio.run(give_tasks(root, out, wanted, seed))


async def give_tasks(root: Path, out: Path, wanted: int, seed: int) -> float:
    """Copy the bundle to workspace `out` and give it `wanted` tasks; the seconds that it took."""
    there = out / "environments" / root.name
    shutil.copytree(root, there, ignore=shutil.ignore_patterns("tasks.jsonl", ".*"))
    programs = round(PROGRAMS * wanted)
    request = SynthesisRequest(graph=wanted - programs, program=programs, seed=seed)
    async with open_deps(Settings(workspace=out, seed=seed), checkpoints=False) as deps:
        return (await synthesize(Bundle(there), request, deps)).seconds


# --- What came of it -----------------------------------------------------------------------------------------


def _report(bundles: Sequence[Path], out: Path, again: Path, seconds: dict[str, float], minutes: float) -> TaskReport:
    made = {root.name: Bundle(out / "environments" / root.name) for root in bundles}
    tasks = {name: bundle.tasks() for name, bundle in made.items()}
    dropped = [d for bundle in made.values() for d in read_records(rejections_of(out, bundle), Dropped)]
    first = bundles[0].name
    same = (made[first].root / "tasks.jsonl").read_bytes() == (
        again / "environments" / first / "tasks.jsonl"
    ).read_bytes()
    forms = forms_of([World(bundle) for bundle in made.values()])
    rows = tuple(row_of(name, found, seconds[name]) for name, found in tasks.items())
    return TaskReport(
        figures=figures_of(rows, [t for found in tasks.values() for t in found], minutes, forms, same),
        rejections=reasons_of(dropped), environments=rows, forms=forms,
    )  # fmt: skip


def row_of(name: str, tasks: Sequence[Task], seconds: float) -> EnvironmentTasks:
    kinds = Counter(task.strategy for task in tasks)
    return EnvironmentTasks(
        environment=name, graph=kinds["graph"], program=kinds["program"],
        calls_mean=round(_mean([task.difficulty.calls for task in tasks]), 2), overlap=round(overlap(tasks), 3),
        seconds=round(seconds, 2),
    )  # fmt: skip


def overlap(tasks: Sequence[Task]) -> float:
    """The greatest share of 4-grams that two questions have in common, of the one with fewer; 0 for less than two."""
    grams = [four_grams(task.question) for task in tasks]
    return max((shared(a, b) for a, b in combinations(grams, 2)), default=0.0)


def forms_of(worlds: Sequence[World]) -> dict[str, int]:
    """By kind of step: the least number that any of the first environments with that kind has."""
    found: dict[str, int] = {}
    for world in worlds[:2]:
        graph = read_tool_graph(world.bundle)
        drafts = [
            draft
            for proposal in propose("graph", range(FORMS_OF), "forms", (1, 2, 3, 4), ())
            if (draft := draft_of(world, graph, proposal)) is not None
        ]
        for kind, number in {**forms_of_walks(world, drafts), **forms_of_programs(world)}.items():
            found[kind] = min(number, found.get(kind, number))
    return dict(sorted(found.items()))


def figures_of(
    rows: Sequence[EnvironmentTasks], tasks: Sequence[Task], minutes: float, forms: dict[str, int], same: bool
) -> tuple[Figure, ...]:
    calls = [task.difficulty.calls for task in tasks]
    longest = [task.difficulty.calls for task in tasks if task.difficulty.level == 5]
    both = [row for row in rows if row.graph and row.program]
    fewest = min(forms, key=lambda kind: forms[kind], default="")
    return (
        _least("tasks that passed the gate", len(tasks), "", MANY if len(rows) > 1 else SINGLE, len(rows)),
        _most("time for them", minutes, "min", 15, len(rows)),
        _least("tasks a minute", len(tasks) / minutes if minutes else 0.0, "/min", None, len(tasks)),
        _least("environments with both ways of synthesis", 100 * len(both) / len(rows), "%", 95, len(rows)),
        _least("calls, mean over all levels", _mean(calls), "", 10, len(calls)),
        _least("calls, mean at level 5", _mean(longest), "", 20, len(longest)),
        _most("4-grams that two questions share, at most", 100 * max((r.overlap for r in rows), default=0),
              "%", 100 * MOST_SHARED, len(rows)),
        _least("surface forms of a kind of step, fewest", forms.get(fewest, 0), "", 30, len(forms), f"of {fewest!r}"),
        _least("same seed, same bytes", float(same), "", 1, 1, "1: tasks.jsonl of the first environment, made twice"),
    )  # fmt: skip


def _mean(numbers: Sequence[int]) -> float:
    return statistics.fmean(numbers) if numbers else 0.0


def _least(name: str, value: float, unit: str, bound: float | None, samples: int, note: str = "") -> Figure:
    figure = Figure(name=name, value=value, unit=unit, better="higher", samples=samples, note=note)
    return judge(figure, Target(kind="at_least", bound=bound) if bound is not None else None)


def _most(name: str, value: float, unit: str, bound: float, samples: int) -> Figure:
    return judge(Figure(name=name, value=value, unit=unit, samples=samples), Target(kind="at_most", bound=bound))
