"""The tool graph of section 3.1.1: a fully connected weighted digraph over the tools of an environment.

An edge `u -> v` says where an argument of `v` may come from:
- strong (3): a key that people do not know, so it has to come out of an earlier call such as `u`;
- weak (2): it can come from `u`, or from elsewhere (the question, another tool); weak both ways;
- independent (1): nothing of `u` feeds `v`.

Each edge carries its bindings (output path -> argument) and the evidence: the same column, a foreign key, or a value
that came out of `u` and was accepted by `v` when both were run.
"""

import json
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any, Literal

import networkx as nx

from agent_world.agents.synthesizer.world import Action, World
from agent_world.errors import StoreError
from agent_world.memory.store import Bundle, write_text
from agent_world.tools.runtime import Instance, Observation

EdgeKind = Literal["strong", "weak", "independent"]
WEIGHTS: dict[str, int] = {"strong": 3, "weak": 2, "independent": 1}
OVERLAP = 0.5
"""Share of a column's distinct values that must occur in another for a flow between them to be tried."""


@dataclass(frozen=True, slots=True)
class Binding:
    path: str
    """Output path of the source tool, `[]` steps into a list."""
    argument: str
    """Argument of the target tool."""
    evidence: str


def build_tool_graph(world: World) -> nx.DiGraph:
    """The graph that schemas, names and keys alone imply; `observe` adds what running shows."""
    graph = nx.DiGraph()
    for action in world.actions:
        produces = bool(action.paths) and not action.writes
        graph.add_node(action.name, kind=action.kind, table=action.table.name, produces=produces)
    for source in world.actions:
        for target in world.actions:
            if source is not target:
                _connect(graph, world, source, target)
    _weaken_reverse(graph)
    return graph


def _connect(graph: nx.DiGraph, world: World, source: Action, target: Action) -> None:
    pairs = [(output, taken) for output in source.operation.outputs.items() for taken in arguments(target)]
    found = [b for (path, shown), (name, wanted) in pairs if (b := bind(world, path, shown, name, wanted))]
    strong = [b for b in found if _is_strong(world, source, target, b)]
    kind: EdgeKind = "strong" if strong else "weak" if found else "independent"
    _set_edge(graph, source.name, target.name, kind, strong or found)


def arguments(action: Action) -> list[tuple[str, str]]:
    """`(argument, table.column)` of all that a tool takes to find rows, and of the foreign keys that it writes."""
    table = action.table
    keys = {k.column: f"{k.table}.{k.target}" for k in table.foreign_keys}
    found = [(action.key, f"{table.name}.{table.primary_key}")] if action.key else []
    found += [(argument, f"{table.name}.{column}") for argument, column in action.filters.items()]
    return found + [(argument, keys[column]) for argument, column in action.values.items() if column in keys]


def bind(world: World, path: str, output: str, argument: str, wanted: str) -> Binding | None:
    """How an output column can feed an argument's column: the same one, or the two ends of a foreign key."""
    if output == wanted:
        return Binding(path, argument, f"column {output}")
    left, right = resolve(world, output), resolve(world, wanted)
    if left == right:
        return Binding(path, argument, f"foreign key {output} = {wanted}")
    return None


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


def _set_edge(graph: nx.DiGraph, source: str, target: str, kind: EdgeKind, bindings: Iterable[Binding]) -> None:
    graph.add_edge(source, target, kind=kind, weight=WEIGHTS[kind], bindings=tuple(bindings))


def _weaken_reverse(graph: nx.DiGraph) -> None:
    """A weak dependency counts both ways (section 3.1.1)."""
    weak = [(u, v) for u, v, kind in graph.edges(data="kind") if kind == "weak"]
    for source, target in weak:
        if graph.edges[target, source]["kind"] == "independent":
            _set_edge(graph, target, source, "weak", ())


def starts(graph: nx.DiGraph) -> list[str]:
    """Tools that produce output and need no strong predecessor; all producers where there is none."""
    producers = [n for n, data in graph.nodes(data=True) if data["produces"]]
    free = [n for n in producers if all(kind != "strong" for _, _, kind in graph.in_edges(n, data="kind"))]
    return free or producers


# --- Evidence by running -------------------------------------------------------------------------------


async def observe(graph: nx.DiGraph, world: World, instance: Instance, most: int = 120) -> None:
    """Run read tools on real rows, feed what comes out into the others, and note what was accepted.

    Confirms the bindings that the schemas imply and adds weak edges between columns that share values without a
    declared key. At most `most` calls; the database is only read.
    """
    readers = [a for a in world.actions if not a.writes]
    outputs = {a.name: await _sample(world, a, instance) for a in readers}
    left = most - len(readers)
    for source in readers:
        for target in readers:
            if source is target or left <= 0:
                continue
            for path, argument in _flows(graph, world, source, target):
                left -= 1
                value = first_value(outputs[source.name], path)
                if value is not None and _useful(
                    await instance.call(target.name, _fill(world, target, argument, value))
                ):
                    _confirm(graph, source.name, target.name, path, argument)


async def _sample(world: World, action: Action, instance: Instance) -> Any:
    row = next(iter(world.rows[action.table.name]), {})
    seen = await instance.call(action.name, {a: row.get(c) for a, c in _taken(action).items() if a in action.required})
    return seen.value if seen.ok else None


def _taken(action: Action) -> dict[str, str]:
    key = {action.key: action.table.primary_key} if action.key else {}
    return {**key, **action.filters}


def _fill(world: World, target: Action, argument: str, value: Any) -> dict[str, Any]:
    row = next(iter(world.rows[target.table.name]), {})
    others = {a: row.get(c) for a, c in _taken(target).items() if a in target.required and a != argument}
    return {**others, argument: value}


def _flows(graph: nx.DiGraph, world: World, source: Action, target: Action) -> list[tuple[str, str]]:
    bindings: tuple[Binding, ...] = graph.edges[source.name, target.name]["bindings"]
    known = {b.argument: b.path for b in reversed(bindings)}
    found = [(path, argument) for argument, path in sorted(known.items())]
    for argument, column in sorted(_taken(target).items()):
        if argument not in known:
            found += [
                (p, argument) for c, p in sorted(source.paths.items()) if _overlap(world, source, c, target, column)
            ]
    return found


def _overlap(world: World, source: Action, column: str, target: Action, wanted: str) -> bool:
    """Text columns only: equal numbers are mostly chance."""
    if "string" not in {source.table.column(column).type} & {target.table.column(wanted).type}:
        return False
    left, right = set(world.values(source.table.name, column)), set(world.values(target.table.name, wanted))
    return len(left & right) >= max(3, OVERLAP * len(left))


def first_value(output: Any, path: str) -> Any:
    """The value at a path, the first item of each list; None where there is none."""
    for part in path.replace("[]", ".0").split("."):
        if isinstance(output, list) and output and part.isdigit():
            output = output[0]
        elif isinstance(output, dict) and part in output:
            output = output[part]
        else:
            return None
    return output if not isinstance(output, dict | list) else None


def _useful(seen: Observation) -> bool:
    if not seen.ok or not isinstance(seen.value, dict):
        return False
    return bool(seen.value.get("items", True))


def _confirm(graph: nx.DiGraph, source: str, target: str, path: str, argument: str) -> None:
    edge = graph.edges[source, target]
    bindings: tuple[Binding, ...] = edge["bindings"]
    known = [b for b in bindings if (b.path, b.argument) == (path, argument)]
    seen = Binding(path, argument, f"{known[0].evidence}; seen to flow" if known else "seen to flow")
    kept = tuple(b for b in bindings if b not in known)
    kind: EdgeKind = "weak" if edge["kind"] == "independent" else edge["kind"]
    _set_edge(graph, source, target, kind, (*kept, seen))


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
            _set_edge(graph, edge["source"], edge["target"], edge["kind"], [Binding(**b) for b in edge["bindings"]])
    except (OSError, ValueError, KeyError, TypeError) as error:
        raise StoreError(f"{path} is missing or damaged ({error}); synthesize the tasks again.") from error
    return graph
