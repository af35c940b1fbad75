"""Evidence for the tool graph by running: a value that came out of one tool goes into another and is accepted."""

from typing import Any

import networkx as nx

from agent_world.agents.synthesizer.graph import Binding, EdgeKind, set_edge
from agent_world.agents.synthesizer.world import Action, World
from agent_world.tools.runtime import Instance, Observation

OVERLAP = 0.5
"""Share of a column's distinct values that must occur in another for a flow between them to be tried."""
SEEN = "seen to flow"


async def observe(graph: nx.DiGraph, world: World, instance: Instance, most: int = 120) -> None:
    """Run read tools on real rows, feed what comes out into the others, and note what was accepted.

    Confirms the bindings that the schemas imply and adds weak edges between columns that share values without a
    declared key. At most `most` calls; the database is only read.
    """
    readers = [a for a in world.actions if not a.writes and not a.inside]
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
    seen = Binding(path, argument, f"{known[0].evidence}; {SEEN}" if known else SEEN)
    kept = tuple(b for b in bindings if b not in known)
    kind: EdgeKind = "weak" if edge["kind"] == "independent" else edge["kind"]
    set_edge(graph, source, target, kind, (*kept, seen))
