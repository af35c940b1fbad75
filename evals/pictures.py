"""Pictures of a run, as SVG: drawn for a column of about 560 px, still readable at 370 px."""

import io
import math
from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from agent_world.evals.panels import Panel
from agent_world.evals.records import Curve, EnvironmentRow, RunReport, StageSeconds, ToolGraph
from agent_world.evals.stats import percent
from agent_world.schema import ArenaResult

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

WIDTH = 4.2
"""Inches."""
INK, MUTED, GRID = "#1f2933", "#64748b", "#e2e8f0"
BLUE, AMBER, PALE = "#2563a8", "#d98324", "#b8cbe0"
STRATEGY = {"graph": BLUE, "program": AMBER}
MOST_ROWS = 40
STYLE: Any = {
    "font.size": 8, "font.family": "DejaVu Sans", "text.color": INK, "axes.labelcolor": MUTED, "axes.edgecolor": GRID,
    "xtick.color": MUTED, "ytick.color": INK, "xtick.major.size": 0, "ytick.major.size": 0, "axes.grid": True,
    "grid.color": GRID, "grid.linewidth": 0.7, "axes.axisbelow": True, "axes.spines.top": False,
    "axes.spines.right": False, "axes.spines.left": False, "legend.frameon": False, "svg.hashsalt": "agent-world",
}  # fmt: skip


def draw_all(report: RunReport) -> dict[str, str]:
    """Name -> SVG text, for every picture that there is something to draw of."""
    wanted: dict[str, tuple[bool, Callable[[], Figure]]] = {
        "arena": (bool(report.arena), lambda: draw_arena(report.arena)),
        "tasks": (bool(report.tasks), lambda: draw_tasks(report.tasks)),
        "tools": (bool(report.environments), lambda: draw_tools(report.environments)),
        "graph": (report.graph is not None, lambda: draw_graph(report.graph)),
        "curves": (bool(report.curves), lambda: draw_curves(report.curves)),
        "seconds": (bool(report.stages), lambda: draw_seconds(report.stages)),
    }
    import matplotlib as mpl

    with mpl.rc_context(STYLE):
        return {name: _svg(draw()) for name, (there, draw) in wanted.items() if there}


def draw_arena(stages: Sequence[ArenaResult]) -> "Figure":
    """Pass rate of each stage with its Wilson interval and denominator."""
    figure, axes = _figure(2.7)
    places = range(len(stages))
    rates = [stage.overall for stage in stages]
    axes.plot(places, [100 * r.value for r in rates], color=PALE, linewidth=1.4, zorder=2)
    for place, rate in zip(places, rates, strict=True):
        axes.plot([place, place], [100 * rate.low, 100 * rate.high], color=BLUE, linewidth=2.2, zorder=3)
        axes.plot(place, 100 * rate.value, "o", color=BLUE, markersize=6, zorder=4)
        label = f"{percent(rate.value)}\n{rate.passed}/{rate.scored}"
        low = rate.value < 0.08
        axes.annotate(
            label, (place, 100 * rate.value), (8, 2 if low else 0), textcoords="offset points", fontsize=7, zorder=5,
            va="bottom" if low else "center",
            bbox={"facecolor": "white", "edgecolor": "none", "pad": 0.8, "alpha": 0.85},
        )  # fmt: skip
    axes.set_xticks(list(places), [_wrap(stage.stage, 12) for stage in stages], color=INK)
    axes.set_xlim(-0.4, len(stages) - 0.25)
    axes.set_ylim(0, min(100, max(20, 12 + 100 * max(r.high for r in rates))))
    axes.set_ylabel("arena tasks passed, %")
    axes.grid(axis="x", visible=False)
    return figure


def draw_tasks(tasks: dict[str, dict[str, int]]) -> "Figure":
    """Kept tasks by level, stacked by strategy."""
    figure, axes = _figure(2.4)
    levels, below = list(tasks), [0] * len(tasks)
    for strategy, color in STRATEGY.items():
        heights = [tasks[level].get(strategy, 0) for level in levels]
        axes.bar(levels, heights, bottom=below, color=color, width=0.62, label=f"{strategy} ({sum(heights)})")
        below = [a + b for a, b in zip(below, heights, strict=True)]
    for level, total in zip(levels, below, strict=True):
        axes.annotate(str(total), (level, total), (0, 2), textcoords="offset points", ha="center", fontsize=7)
    axes.set_xlabel("level")
    axes.set_ylabel("tasks kept")
    axes.margins(y=0.14)
    axes.grid(axis="x", visible=False)
    axes.legend(loc="upper right", ncols=2, borderaxespad=0)
    return figure


def draw_tools(environments: Sequence[EnvironmentRow]) -> "Figure":
    """Tools kept and dropped of each environment, the most first."""
    rows = sorted(environments, key=lambda row: (-row.tools_kept, row.id))[:MOST_ROWS]
    names = [_cut(row.name, 26) for row in rows]
    figure, axes = _figure(0.7 + 0.19 * len(rows))
    kept, dropped = [row.tools_kept for row in rows], [row.tools_dropped for row in rows]
    places = range(len(rows))
    axes.barh(places, kept, color=BLUE, height=0.66, label=f"kept ({sum(kept)})")
    axes.barh(places, dropped, left=kept, color=AMBER, height=0.66, label=f"dropped ({sum(dropped)})")
    for place, number in enumerate(kept):
        axes.annotate(
            str(number), (0, place), (4, 0), textcoords="offset points", va="center", color="white", fontsize=7
        )
    _horizontal(axes, names)
    axes.legend(loc="lower left", bbox_to_anchor=(0, 1), ncols=2, borderaxespad=0.2)
    return figure


def draw_seconds(stages: Sequence[StageSeconds]) -> "Figure":
    """Wall time of each stage, in order."""
    figure, axes = _figure(0.5 + 0.2 * len(stages))
    axes.barh(range(len(stages)), [stage.seconds for stage in stages], color=BLUE, height=0.62)
    for place, stage in enumerate(stages):
        label = f"{stage.seconds:.3g} s"
        axes.annotate(label, (stage.seconds, place), (4, 0), textcoords="offset points", va="center", fontsize=7)
    _horizontal(axes, [_cut(stage.name, 28) for stage in stages])
    axes.margins(x=0.14)
    axes.set_xlabel("seconds")
    return figure


def picture_of(draw: "Callable[[], Figure]") -> str:
    """SVG text of one drawing, in the style of all."""
    import matplotlib as mpl

    with mpl.rc_context(STYLE):
        return _svg(draw())


def draw_rates(rates: Mapping[str, tuple[float, float, float]]) -> "Figure":
    """Named shares `(value, low, high)` in `[0, 1]` with their intervals, from above."""
    figure, axes = _figure(0.6 + 0.24 * len(rates))
    for place, (value, low, high) in enumerate(rates.values()):
        axes.plot([100 * low, 100 * high], [place, place], color=PALE, linewidth=5, solid_capstyle="butt", zorder=3)
        axes.plot(100 * value, place, "o", color=BLUE, markersize=6, zorder=4)
        axes.annotate(percent(value), (100 * value, place), (0, 5), textcoords="offset points", fontsize=7, ha="center")
    _horizontal(axes, list(rates))
    axes.set_xlim(-4, 104)
    axes.set_xlabel("tasks passed, %")
    return figure


def picture_of_taxonomy(types: Mapping[str, Mapping[str, Sequence[str]]]) -> str:
    """SVG text: environments of each cluster, clusters together under their type."""
    return picture_of(lambda: draw_taxonomy(types))


def picture_of_graph(graph: ToolGraph) -> str:
    """SVG text: the tools of one environment and what depends on what."""
    import matplotlib as mpl

    with mpl.rc_context(STYLE):
        return _svg(draw_graph(graph))


def draw_taxonomy(types: Mapping[str, Mapping[str, Sequence[str]]]) -> "Figure":
    rows = [(kind, name, len(items)) for kind, clusters in types.items() for name, items in clusters.items()]
    figure, axes = _figure(0.7 + 0.17 * len(rows))
    shade = {kind: (BLUE, PALE)[number % 2] for number, kind in enumerate(types)}
    axes.barh(range(len(rows)), [size for _, _, size in rows], color=[shade[kind] for kind, _, _ in rows], height=0.7)
    for place, (kind, _, size) in enumerate(rows):
        first = place == 0 or rows[place - 1][0] != kind
        label = f"{size}   {kind}" if first else str(size)
        axes.annotate(label, (size, place), (4, 0), textcoords="offset points", va="center", fontsize=6)
    _horizontal(axes, [_cut(name, 30) for _, name, _ in rows])
    axes.margins(x=0.5)
    axes.set_xlabel("environments")
    return figure


def draw_panel(panel: Panel) -> "Figure":
    """Bars with their numbers: lying where they have names, standing where they are a histogram."""
    figure, axes = _figure(2.4 if panel.x else 0.8 + 0.2 * max(1, len(panel.bars)))
    names, numbers, places = list(panel.bars), list(panel.bars.values()), range(len(panel.bars))
    if panel.x:
        axes.bar(places, numbers, color=BLUE, width=0.7)
        axes.set_xticks(list(places), names, color=INK)
        axes.set_xlabel(panel.x)
        axes.set_ylabel(panel.y)
        axes.grid(axis="x", visible=False)
        axes.margins(y=0.14)
    else:
        axes.barh(places, numbers, color=BLUE, height=0.66)
        _horizontal(axes, [_cut(name, 28) for name in names])
        axes.set_xlabel(panel.y)
        axes.margins(x=0.14)
    for place, number in zip(places, numbers, strict=True):
        at, away = ((place, number), (0, 2)) if panel.x else ((number, place), (4, 0))
        axes.annotate(
            str(number), at, away, textcoords="offset points", fontsize=7,
            ha="center" if panel.x else "left", va="bottom" if panel.x else "center",
        )  # fmt: skip
    axes.set_title(f"({panel.letter}) {panel.title}, n = {panel.n}", fontsize=8, loc="left", color=INK)
    return figure


def draw_curves(curves: Sequence[Curve]) -> "Figure":
    """One small chart a metric, two in a row."""
    from matplotlib.figure import Figure

    rows = math.ceil(len(curves) / 2)
    figure = Figure(figsize=(WIDTH, 1.35 * rows), layout="constrained")
    for number, curve in enumerate(curves, start=1):
        axes = figure.add_subplot(rows, 2, number)
        xs, ys = [x for x, _ in curve.points], [y for _, y in curve.points]
        axes.plot(xs, ys, color=BLUE, linewidth=1.2, marker="o" if len(xs) < 25 else None, markersize=2)
        axes.set_title(_cut(curve.title, 30), fontsize=7, loc="left", color=INK)
        axes.tick_params(labelsize=6)
        axes.locator_params(nbins=4)
    return figure


def draw_graph(graph: ToolGraph | None) -> "Figure":
    """Tools on a circle; strong dependencies drawn dark with an arrow, weak ones pale."""
    from matplotlib.figure import Figure
    from matplotlib.patches import FancyArrowPatch

    assert graph is not None
    figure = Figure(figsize=(WIDTH, WIDTH), layout="constrained")
    axes = figure.add_subplot()
    axes.set_axis_off()
    angles = {tool: math.pi / 2 - 2 * math.pi * i / len(graph.tools) for i, tool in enumerate(graph.tools)}
    places = {tool: (math.cos(angle), math.sin(angle)) for tool, angle in angles.items()}
    for edge in sorted(graph.edges, key=lambda e: (e.kind == "strong", e.source, e.target)):
        strong = edge.kind == "strong"
        axes.add_patch(
            FancyArrowPatch(
                places[edge.source], places[edge.target], connectionstyle="arc3,rad=0.12", shrinkA=5, shrinkB=5,
                arrowstyle="-|>,head_length=3,head_width=1.6" if strong else "-",
                color=BLUE if strong else PALE, linewidth=1.0 if strong else 0.5, alpha=0.85 if strong else 0.7,
            )
        )  # fmt: skip
    for tool, (x, y) in places.items():
        axes.plot(x, y, "o", color=AMBER, markersize=5, zorder=5)
        degrees = math.degrees(angles[tool])
        left = math.cos(angles[tool]) < -1e-9
        axes.text(
            1.06 * x, 1.06 * y, _cut(tool, 26), fontsize=6.5, rotation_mode="anchor", va="center",
            rotation=degrees + 180 if left else degrees, ha="right" if left else "left",
        )  # fmt: skip
    axes.set_xlim(-1.85, 1.85)
    axes.set_ylim(-1.85, 1.85)
    axes.set_aspect("equal")
    return figure


def _figure(height: float) -> "tuple[Figure, Axes]":
    from matplotlib.figure import Figure

    figure = Figure(figsize=(WIDTH, height), layout="constrained")
    return figure, figure.add_subplot()


def _horizontal(axes: Any, names: Sequence[str]) -> None:
    axes.set_yticks(range(len(names)), names, fontsize=7)
    axes.set_ylim(len(names) - 0.4, -0.6)
    axes.grid(axis="y", visible=False)


def _svg(figure: "Figure") -> str:
    text = io.StringIO()
    figure.savefig(text, format="svg", metadata={"Date": None, "Creator": None}, transparent=True)
    return text.getvalue()


def _cut(text: str, most: int) -> str:
    return text if len(text) <= most else text[: most - 1] + "…"


def _wrap(text: str, width: int) -> str:
    words, lines = text.split(), [""]
    for word in words:
        joined = f"{lines[-1]} {word}".strip()
        lines = [*lines[:-1], joined] if len(joined) <= width else [*lines, word]
    return "\n".join(line for line in lines if line)
