"""References replaced by what they stand for, where that ends and stays small; the others kept in `$defs`."""

from collections.abc import Iterable
from typing import Any

from agent_world.tools.specs.walk import Schema, children, is_annotation, rebuilt, size_and_depth

LARGEST = 200
"""Schemas in a definition that is still written out in place."""
DEEPEST = 20
LARGEST_WHOLE = 3000
"""A tool that would grow beyond this keeps its references."""

Defs = dict[str, Schema]


def inlined(root: Schema, defs: Defs, *, limit: int = LARGEST) -> tuple[Schema, Defs, list[str]]:
    """The schema, the definitions that it still refers to, and in words what was kept or cut."""
    if not defs:
        return root, {}, []
    defs, said = _without_empty_circles(defs)
    recursive = {name for group in _circles(_edges(defs, in_place=False)) for name in group}
    written: Defs = {}
    sizes: dict[str, int] = {}
    for name in _inner_first(defs, recursive):
        size = _grown(defs[name], sizes)
        if size > limit:
            continue
        whole = _with(defs[name], written)
        if size_and_depth(whole)[1] <= DEEPEST:
            written[name], sizes[name] = whole, size
    if _grown(root, sizes) > LARGEST_WHOLE and limit:
        return inlined(root, defs, limit=0)
    while (target := _target(root)) and target not in written:  # the outermost object is always written out
        root = _with(root, {target: defs[target]})
    root = _with(root, written)
    rest = {name: _with(schema, written) for name, schema in defs.items() if name not in written}
    kept = {name: rest[name] for name in _reached(root, rest)}
    said += [f"{name} refers to itself; kept in $defs" for name in kept if name in recursive]
    said += [f"{name} is large; kept in $defs" for name in kept if name not in recursive]
    return root, kept, said


def joined(target: Schema, beside: dict[str, Any]) -> Schema:
    """`target` and what stood beside the reference to it: its own words win, other demands are added."""
    words = {k: v for k, v in beside.items() if is_annotation(k)}
    demands = {k: v for k, v in beside.items() if k not in words}
    if demands:
        return {"allOf": [target, demands], **words}
    if isinstance(target, bool):
        return {"not": {}, **words} if words and not target else words or target
    return {**target, **words}


def _target(schema: Schema) -> str | None:
    found = schema.get("$ref") if isinstance(schema, dict) else None
    return found.removeprefix("#/$defs/") if isinstance(found, str) else None


def _with(schema: Schema, written: Defs) -> Schema:
    inner = rebuilt(schema, lambda child, step, in_place: _with(child, written))
    target = _target(inner)
    if target is None or target not in written or isinstance(inner, bool):
        return inner
    return joined(written[target], {k: v for k, v in inner.items() if k != "$ref"})


def _grown(schema: Schema, sizes: dict[str, int]) -> int:
    """Number of schemas once the sized definitions are written out; a shared definition counts each time."""
    own = 1 + sizes.get(_target(schema) or "", 0)
    return own + sum(_grown(child, sizes) for _, child, _ in children(schema))


def _targets(schema: Schema, *, in_place: bool) -> Iterable[str]:
    if target := _target(schema):
        yield target
    for _, child, same_value in children(schema):
        if same_value or not in_place:
            yield from _targets(child, in_place=in_place)


def _edges(defs: Defs, *, in_place: bool) -> list[tuple[str, str]]:
    return [(name, t) for name, schema in defs.items() for t in _targets(schema, in_place=in_place) if t in defs]


def _circles(edges: list[tuple[str, str]]) -> list[set[str]]:
    import networkx as nx

    graph = nx.DiGraph(edges)
    groups = nx.strongly_connected_components(graph)
    return [group for group in groups if len(group) > 1 or any(graph.has_edge(name, name) for name in group)]


def _inner_first(defs: Defs, recursive: set[str]) -> list[str]:
    """Definitions that do not refer to themselves, each after those it refers to."""
    import networkx as nx

    graph = nx.DiGraph(_edges(defs, in_place=False))
    graph.add_nodes_from(defs)
    plain = graph.subgraph([name for name in defs if name not in recursive])
    return list(reversed(list(nx.topological_sort(plain))))


def _without_empty_circles(defs: Defs) -> tuple[Defs, list[str]]:
    """`A: {$ref: B}, B: {$ref: A}` says nothing and never ends: such references are cut."""
    circles = _circles(_edges(defs, in_place=True))
    within = {name: group for group in circles for name in group}
    said = [f"{name} is defined by itself; the reference is cut" for name in sorted(within)]
    return {n: _cut(schema, within[n]) if n in within else schema for n, schema in defs.items()}, said


def _cut(schema: Schema, names: set[str]) -> Schema:
    if isinstance(schema, bool):
        return schema
    kept = {k: v for k, v in schema.items() if not (k == "$ref" and _target(schema) in names)}
    return rebuilt(kept, lambda child, step, in_place: _cut(child, names) if in_place else child)


def _reached(root: Schema, defs: Defs) -> list[str]:
    found: list[str] = []
    waiting = list(_targets(root, in_place=False))
    while waiting:
        name = waiting.pop(0)
        if name in defs and name not in found:
            found.append(name)
            waiting += _targets(defs[name], in_place=False)
    return found
