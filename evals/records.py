"""What a run is reported as: `report.json`, and the one source of the terminal table and the HTML page."""

import json
import re
from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from typing import Literal

from agent_world.evals.stats import Difference
from agent_world.memory.store import Bundle
from agent_world.schema import ArenaResult, Diagnosis, Dropped, Environment, Record, Task


class StageSeconds(Record):
    """One finished stage of the loop."""

    name: str
    seconds: float
    """Wall time of its last run; a resumed stage counts what was left of it."""
    line: str = ""
    """What came of it, in plain words."""


class EnvironmentRow(Record):
    id: str
    name: str
    type: str
    """First tier of the taxonomy."""
    cluster: str
    role: Literal["training", "arena", "grown"]
    """`grown`: made between rounds out of a training environment."""
    tables: int
    rows: int
    tools_kept: int
    tools_dropped: int
    tasks: dict[str, int]
    """By strategy."""
    engine: str
    hash: str


class Curve(Record):
    """A training metric over optimizer steps."""

    title: str
    """Stage and metric: `SFT: loss`, `GRPO round 1: reward`."""
    points: tuple[tuple[float, float], ...]
    """`(step, value)`."""


class GraphEdge(Record):
    source: str
    target: str
    kind: Literal["strong", "weak"]


class ToolGraph(Record):
    """The tool graph of one environment, independent edges left out."""

    environment: str
    tools: tuple[str, ...]
    edges: tuple[GraphEdge, ...]


class ModelCost(Record):
    role: str
    model: str
    calls: int
    input_tokens: int
    output_tokens: int


class RunReport(Record):
    workspace: str
    engines: str
    """Which roles a chat model played, and which algorithms."""
    seed: int = 0
    environments: tuple[EnvironmentRow, ...] = ()
    dropped: tuple[Dropped, ...] = ()
    tasks: dict[str, dict[str, int]] = {}
    """Kept tasks: level -> strategy -> number."""
    arena: tuple[ArenaResult, ...] = ()
    """Stages on the fixed arena tasks, in order of time."""
    fresh: tuple[ArenaResult, ...] = ()
    """Stages on the fresh arena tasks of each round."""
    differences: tuple[Difference, ...] = ()
    """Between stages of `arena`, task by task."""
    diagnoses: tuple[Diagnosis, ...] = ()
    curves: tuple[Curve, ...] = ()
    graph: ToolGraph | None = None
    costs: tuple[ModelCost, ...] = ()
    stages: tuple[StageSeconds, ...] = ()

    @property
    def tools_kept(self) -> int:
        return sum(row.tools_kept for row in self.environments)

    @property
    def tools_dropped(self) -> int:
        return sum(row.tools_dropped for row in self.environments)

    @property
    def task_count(self) -> int:
        return sum(sum(by_strategy.values()) for by_strategy in self.tasks.values())

    @property
    def seconds(self) -> float:
        return sum(stage.seconds for stage in self.stages)

    def reasons(self, kind: str) -> dict[str, int]:
        """How many of `kind` were dropped for which reason, most first."""
        return reasons_of([item for item in self.dropped if item.kind == kind])


def reasons_of(dropped: Sequence[Dropped]) -> dict[str, int]:
    """How often each reason, most first: its first clause, numbers aside."""
    clauses = (re.split("[:,;(]", item.reason)[0].strip() for item in dropped)
    counts = Counter(re.sub(r"\d+", "n", clause) for clause in clauses)
    return dict(sorted(counts.items(), key=lambda pair: (-pair[1], pair[0])))


def environment_row(
    head: Environment, tasks: Sequence[Task], role: Literal["training", "arena", "grown"]
) -> EnvironmentRow:
    """The report's row of an environment, out of its bundle's head and tasks."""
    kept = sum(verdict.kept for verdict in head.tools)
    return EnvironmentRow(
        id=head.id,
        name=head.name,
        type=head.taxonomy[0] if head.taxonomy else "",
        cluster=head.taxonomy[1] if len(head.taxonomy) > 1 else "",
        role=role,
        tables=len(head.database.tables),
        rows=sum(table.rows for table in head.database.tables),
        tools_kept=kept,
        tools_dropped=len(head.tools) - kept,
        tasks=dict(sorted(Counter(str(task.strategy) for task in tasks).items())),
        engine=head.origin.engine,
        hash=head.content_hash[:12],
    )


def count_tasks(tasks: Sequence[Task]) -> dict[str, dict[str, int]]:
    """Level -> strategy -> number, in order."""
    counts = Counter((str(task.difficulty.level), str(task.strategy)) for task in tasks)
    found: dict[str, dict[str, int]] = {}
    for (level, strategy), number in sorted(counts.items()):
        found.setdefault(level, {})[strategy] = number
    return found


def read_curve(metrics: Path, metric: str, title: str) -> Curve | None:
    """One metric of a trainer's `metrics.jsonl` (objects with `step`); None where it was never logged."""
    if not metrics.exists():
        return None
    entries = [json.loads(line) for line in metrics.read_text().splitlines() if line]
    points = tuple((float(e["step"]), float(e[metric])) for e in entries if "step" in e and metric in e)
    return Curve(title=title, points=points) if points else None


def read_tool_graph(bundle: Bundle) -> ToolGraph | None:
    """Strong and weak edges of a bundle's `tool_graph.json`; None where there is none yet. Weak edges count once."""
    path = bundle.root / "tool_graph.json"
    if not path.exists():
        return None
    found = json.loads(path.read_text())
    edges: dict[tuple[str, str], GraphEdge] = {}
    for edge in found["edges"]:
        ends = (edge["source"], edge["target"])
        if edge["kind"] == "strong":
            edges[ends] = GraphEdge(source=ends[0], target=ends[1], kind="strong")
        elif edge["kind"] == "weak":
            first, second = sorted(ends)
            edges.setdefault((first, second), GraphEdge(source=first, target=second, kind="weak"))
    return ToolGraph(
        environment=bundle.id,
        tools=tuple(node["tool"] for node in found["nodes"]),
        edges=tuple(edges[ends] for ends in sorted(edges)),
    )
