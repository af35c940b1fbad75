"""The six panels by which the paper shows its environments and tasks (figure 4), for any workspace."""

import statistics
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from functools import partial
from itertools import pairwise
from pathlib import Path

from agent_world.memory.store import Bundle, Store, read_record, write_record, write_text
from agent_world.schema import ArenaResult, Record, Task, ToolVerdict

TOOLS_AT = (1, 6, 11, 16, 21, 31, 41)
CALLS_AT = (1, 3, 7, 11, 21, 41)
"""Where the bars of a histogram begin; the last one is open."""


class Panel(Record):
    letter: str
    """As in the paper's figure."""
    title: str
    bars: dict[str, int]
    """In the order in which they are drawn."""
    x: str = ""
    """What the bars are put apart by; empty where they have names."""
    y: str
    """What is counted."""
    n: int
    """How many were counted."""
    mean: float | None = None
    least: float | None = None
    most: float | None = None
    origin: str
    """Who made what is counted, or who tried it."""
    paper: str
    """What the paper reports of its own."""


class Panels(Record):
    workspace: str
    panels: tuple[Panel, ...]


def panels_of(workspace: Path) -> Panels:
    """Of all environments of a workspace, as they lie there; nothing is run."""
    bundles = list(Store(workspace).bundles())
    tasks = [task for bundle in bundles for task in bundle.tasks()]
    found = (
        _diversity(bundles), _tools_each(bundles), _parameters(bundles), _files(bundles), _turns(tasks),
        _difficulty(tasks, workspace),
    )  # fmt: skip
    return Panels(workspace=workspace.name, panels=found)


def write_panels(panels: Panels, workspace: Path) -> Path:
    """`panels/panels.json` and a picture of each panel; the folder. The same panels, the same bytes."""
    from agent_world.evals.pictures import draw_panel, picture_of

    folder = workspace / "panels"
    write_record(folder / "panels.json", panels)
    for panel in panels.panels:
        write_text(folder / f"{panel.letter}.svg", picture_of(partial(draw_panel, panel)))
    return folder


# --- Panel by panel ----------------------------------------------------------------------------------------


def _diversity(bundles: Sequence[Bundle]) -> Panel:
    kinds = Counter((bundle.environment().taxonomy or ("no type yet",))[0] for bundle in bundles)
    return Panel(
        letter="a", title="Environments by first-tier type", bars=_most_first(kinds), y="environments", n=len(bundles),
        origin=_sources(bundles), paper="1,978 environments kept of over 2,000, in 20 types",
    )  # fmt: skip


def _tools_each(bundles: Sequence[Bundle]) -> Panel:
    numbers = [len(bundle.tools()) for bundle in bundles]
    return Panel(
        letter="b", title="Tools an environment", bars=_binned(numbers, TOOLS_AT), x="tools", y="environments",
        n=len(numbers), **_spread(numbers), origin=_engines(_verdicts(bundles)),
        paper="over 10 on average, some over 40",
    )  # fmt: skip


def _parameters(bundles: Sequence[Bundle]) -> Panel:
    tools = [tool for bundle in bundles for tool in bundle.tools()]
    numbers = [len(tool.input_schema.get("properties", {})) for tool in tools]
    counted = Counter(numbers)
    return Panel(
        letter="c", title="Tools by their parameters", bars={str(k): counted[k] for k in sorted(counted)},
        x="parameters", y="tools", n=len(tools), **_spread(numbers),
        origin=f"{len({tool.name for tool in tools})} names; " + _engines(_verdicts(bundles)),
        paper="19,822 distinct tools with rich parameters",
    )  # fmt: skip


def _files(bundles: Sequence[Bundle]) -> Panel:
    paths = [path for bundle in bundles for path in sorted(bundle.database.rglob("*")) if path.is_file()]
    kinds = Counter(path.suffix.lstrip(".").lower() or "no ending" for path in paths)
    mined = sum(not t.synthetic for b in bundles for t in b.environment().database.tables)
    tables = sum(len(b.environment().database.tables) for b in bundles)
    return Panel(
        letter="d", title="Files of the databases by type", bars=_most_first(kinds), y="files", n=len(paths),
        origin=f"{mined} of {tables} tables mined, the others derived or added",
        paper="JSON, CSV, SQL, HTML, TEX, YAML and others",
    )  # fmt: skip


def _turns(tasks: Sequence[Task]) -> Panel:
    numbers = [task.difficulty.calls for task in tasks]
    return Panel(
        letter="e", title="Tool calls a task", bars=_binned(numbers, CALLS_AT), x="calls of the reference solution",
        y="tasks", n=len(numbers), **_spread(numbers), origin=_engines(tasks),
        paper="at least 7 interaction turns, over 20 on average, some over 40",
    )  # fmt: skip


def _difficulty(tasks: Sequence[Task], workspace: Path) -> Panel:
    """By the validator's attempts, else by the arena's last stage; empty where no model has tried."""
    tried = [task.validation for task in tasks if task.validation.attempts]
    paper = "pass@10 of a strong model: most tasks are solved once in ten, few always, some never"
    if tried:
        most = max(v.attempts for v in tried)
        counted = Counter(round(most * v.passes / v.attempts) for v in tried)
        return Panel(
            letter="f", title=f"Attempts of {most} that solve a task", y="tasks", n=len(tried), x="solved attempts",
            bars={str(k): counted[k] for k in range(most + 1)}, **_spread([v.passes for v in tried]),
            origin="attempts of the validator's model", paper=paper,
        )  # fmt: skip
    last = _last_stage(workspace)
    bars = {"solved": last.overall.passed, "not solved": last.overall.scored - last.overall.passed} if last else {}
    return Panel(
        letter="f", title="Tasks solved at the first attempt", bars=bars, y="tasks",
        n=last.overall.scored if last else 0, paper=paper,
        origin=f"policy {last.policy} in the arena, {last.stage}" if last else "no model has tried a task",
    )  # fmt: skip


def _last_stage(workspace: Path) -> ArenaResult | None:
    found = [read_record(path, ArenaResult) for path in sorted((workspace / "arena").glob("*.json"))]
    return max((r for r in found if r.overall.scored), key=lambda r: (r.round, r.overall.scored, r.stage), default=None)


# --- Figures -----------------------------------------------------------------------------------------------


def _binned(numbers: Sequence[int], starts: Sequence[int]) -> dict[str, int]:
    ranges = [*pairwise(starts)]
    bars = {f"{low}-{high - 1}" if high - low > 1 else str(low): _within(numbers, low, high) for low, high in ranges}
    return bars | {f"{starts[-1]}+": sum(n >= starts[-1] for n in numbers)}


def _within(numbers: Sequence[int], low: int, high: int) -> int:
    return sum(low <= number < high for number in numbers)


def _spread(numbers: Sequence[int]) -> dict[str, float | None]:
    if not numbers:
        return {"mean": None, "least": None, "most": None}
    return {"mean": round(statistics.fmean(numbers), 2), "least": min(numbers), "most": max(numbers)}


def _most_first(counted: Mapping[str, int]) -> dict[str, int]:
    return dict(sorted(counted.items(), key=lambda pair: (-pair[1], pair[0])))


def _verdicts(bundles: Sequence[Bundle]) -> list[ToolVerdict]:
    return [verdict for bundle in bundles for verdict in bundle.environment().tools if verdict.kept]


def _engines(made: Iterable[Task | ToolVerdict]) -> str:
    """`342 procedural, 12 llm`."""
    counted = Counter(str(one.origin.engine) for one in made)
    return ", ".join(f"{number} {engine}" for engine, number in _most_first(counted).items()) or "none"


def _sources(bundles: Sequence[Bundle]) -> str:
    """By what their themes came from."""
    kinds = Counter(str(bundle.environment().theme.kind) for bundle in bundles)
    return "themes from " + (", ".join(f"{n} {kind}" for kind, n in _most_first(kinds).items()) or "nothing")
