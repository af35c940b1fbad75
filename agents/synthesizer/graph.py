"""The tool graph of section 3.1.1: a fully connected weighted digraph over the tools of an environment.

An edge `u -> v` says where an argument of `v` may come from:
- strong (3): a key that people do not know, so it has to come out of an earlier call such as `u`;
- weak (2): it can come from `u`, or from elsewhere (the question, another tool); weak both ways;
- independent (1): nothing of `u` feeds `v`.

Each edge carries its bindings (output path -> argument) and the evidence: the same column, a foreign key, the same
name and type where only schemas are known, or a value that came out of `u` and was accepted by `v` when both were run.
"""

import json
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any, Literal

import networkx as nx

from agent_world.agents.synthesizer.world import Action, World
from agent_world.errors import StoreError
from agent_world.memory.store import Bundle, write_text
from agent_world.schema import ToolSpec

EdgeKind = Literal["strong", "weak", "independent"]
WEIGHTS: dict[str, int] = {"strong": 3, "weak": 2, "independent": 1}
PAGING = ("limit", "offset")


@dataclass(frozen=True, slots=True)
class Binding:
    path: str
    """Output path of the source tool, `[]` steps into a list."""
    argument: str
    """Argument of the target tool."""
    evidence: str


def build_tool_graph(world: World) -> nx.DiGraph:
    """The graph that schemas, names and keys alone imply; `flows.observe` adds what running shows."""
    graph = nx.DiGraph()
    known = {action.name: action for action in world.actions if not action.inside}
    for tool in world.tools:
        action = known.get(tool.name)
        produces = bool(action.paths) and not action.writes if action else bool(outputs_of(tool))
        kind, table = (action.kind, action.table.name) if action else ("other", "")
        graph.add_node(tool.name, kind=kind, table=table, produces=produces)
    for source in world.tools:
        for target in world.tools:
            if source.name in known and target.name in known and source is not target:
                _connect(graph, world, known[source.name], known[target.name])
            elif source is not target:
                found = by_name(source, target)
                set_edge(graph, source.name, target.name, "weak" if found else "independent", found)
    _weaken_reverse(graph)
    return graph


def by_name(source: ToolSpec, target: ToolSpec) -> list[Binding]:
    """Bindings between tools of which only the schemas are known: the same name and the same type."""
    taken: dict[str, Any] = target.input_schema.get("properties", {})
    return [
        Binding(path, name, f"same name and type ({kind})")
        for path, (name, kind) in outputs_of(source).items()
        if name in taken and name not in PAGING and taken[name].get("type") == kind
    ]


def outputs_of(tool: ToolSpec) -> dict[str, tuple[str, str]]:
    """Path -> name and type of each plain value that the output schema states."""
    found: dict[str, tuple[str, str]] = {}
    open_parts: list[tuple[str, dict[str, Any]]] = [("", tool.output_schema or {})]
    while open_parts:
        path, schema = open_parts.pop()
        for name, inner in sorted(schema.get("properties", {}).items()):
            here = f"{path}.{name}".removeprefix(".")
            if inner.get("type") == "array":
                open_parts.append((f"{here}[]", inner.get("items", {})))
            elif inner.get("type") == "object":
                open_parts.append((here, inner))
            elif isinstance(inner.get("type"), str):
                found[here] = (name, inner["type"])
    return found


def _connect(graph: nx.DiGraph, world: World, source: Action, target: Action) -> None:
    pairs = [(output, taken) for output in source.operation.outputs.items() for taken in arguments(target)]
    found = [b for (path, shown), (name, wanted) in pairs if (b := bind(world, path, shown, name, wanted))]
    strong = [b for b in found if _is_strong(world, source, target, b)]
    kind: EdgeKind = "strong" if strong else "weak" if found else "independent"
    set_edge(graph, source.name, target.name, kind, strong or found)


def arguments(action: Action) -> list[tuple[str, str]]:
    """`(argument, table.column)` of all that a tool takes to find rows, and of the foreign keys that it writes."""
    table = action.table
    keys = {k.column: f"{k.table}.{k.target}" for k in table.foreign_keys}
    found = [(action.key, f"{table.name}.{table.primary_key}")] if action.key else []
    found += [(argument, f"{table.name}.{column}") for argument, column in action.filters.items()]
    return found + [(argument, keys[column]) for argument, column in action.values.items() if column in keys]


def bind(world: World, path: str, output: str, argument: str, wanted: str) -> Binding | None:
    """How an output column can feed an argument's column: the same one, or the two ends of a foreign key."""
    kind = _type(world, output)
    if output == wanted:
        return Binding(path, argument, f"column {output} ({kind})")
    if resolve(world, output) == resolve(world, wanted) and kind == _type(world, wanted):
        return Binding(path, argument, f"foreign key {output} = {wanted} ({kind})")
    return None


def _type(world: World, column: str) -> str:
    table, _, name = column.partition(".")
    known = {c.name: c.type for c in world.tables[table].columns} if table in world.tables else {}
    return known.get(name, "unknown")


def resolve(world: World, column: str) -> str:
    """The key that a foreign-key column refers to, else the column itself."""
    table, _, name = column.partition(".")
    key = world.foreign_key(table, name) if table in world.tables else None
    return f"{key.table}.{key.target}" if key else column


def _is_strong(world: World, source: Action, target: Action, binding: Binding) -> bool:
    wanted = resolve(world, dict(arguments(target))[binding.argument])
    table, _, column = wanted.partition(".")
    if column != world.tables[table].primary_key or not world.opaque(table) or source.writes:
        return False
    taken = {resolve(world, column) for _, column in arguments(source)}
    return wanted not in taken  # a tool that only echoes the key it was given is no source of it


def set_edge(graph: nx.DiGraph, source: str, target: str, kind: EdgeKind, bindings: Iterable[Binding]) -> None:
    graph.add_edge(source, target, kind=kind, weight=WEIGHTS[kind], bindings=tuple(bindings))


def _weaken_reverse(graph: nx.DiGraph) -> None:
    """A weak dependency counts both ways (section 3.1.1)."""
    weak = [(u, v) for u, v, kind in graph.edges(data="kind") if kind == "weak"]
    for source, target in weak:
        if graph.edges[target, source]["kind"] == "independent":
            set_edge(graph, target, source, "weak", ())


def starts(graph: nx.DiGraph) -> list[str]:
    """Tools that produce output and need no strong predecessor; all producers where there is none."""
    producers = [n for n, data in graph.nodes(data=True) if data["produces"]]
    free = [n for n in producers if all(kind != "strong" for _, _, kind in graph.in_edges(n, data="kind"))]
    return free or producers


# --- On disk -------------------------------------------------------------------------------------------


def graph_json(graph: nx.DiGraph) -> dict[str, Any]:
    nodes = [{"tool": n, **data} for n, data in sorted(graph.nodes(data=True))]
    edges = [
        {
            "source": u,
            "target": v,
            "kind": data["kind"],
            "weight": data["weight"],
            "bindings": [
                {"path": b.path, "argument": b.argument, "evidence": b.evidence}
                for b in sorted(data["bindings"], key=lambda b: (b.argument, b.path))
            ],
        }
        for u, v, data in sorted(graph.edges(data=True), key=lambda e: e[:2])
    ]
    return {"nodes": nodes, "edges": edges}


def write_tool_graph(bundle: Bundle, graph: nx.DiGraph) -> None:
    write_text(bundle.root / "tool_graph.json", json.dumps(graph_json(graph), indent=1, ensure_ascii=False) + "\n")


def read_tool_graph(bundle: Bundle) -> nx.DiGraph:
    """Raises `StoreError` when there is none, or a damaged one."""
    path = bundle.root / "tool_graph.json"
    graph = nx.DiGraph()
    try:
        found = json.loads(path.read_text())
        for node in found["nodes"]:
            graph.add_node(node["tool"], **{k: v for k, v in node.items() if k != "tool"})
        for edge in found["edges"]:
            set_edge(graph, edge["source"], edge["target"], edge["kind"], [Binding(**b) for b in edge["bindings"]])
    except (OSError, ValueError, KeyError, TypeError) as error:
        raise StoreError(f"{path} is missing or damaged ({error}); synthesize the tasks again.") from error
    return graph
