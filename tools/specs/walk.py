"""Where schemas sit inside a schema (JSON Schema 2020-12, sections 10 and 11 of the core specification)."""

from collections.abc import Callable, Iterator
from typing import Any

Schema = dict[str, Any] | bool
ONE = frozenset(
    {"additionalProperties", "contains", "contentSchema", "else", "if", "items", "not", "propertyNames", "then",
     "unevaluatedItems", "unevaluatedProperties"}
)  # fmt: skip
MANY = frozenset({"allOf", "anyOf", "oneOf", "prefixItems"})
NAMED = frozenset({"$defs", "dependentSchemas", "patternProperties", "properties"})
IN_PLACE = frozenset({"$ref", "allOf", "anyOf", "dependentSchemas", "else", "if", "not", "oneOf", "then"})
"""Keywords whose schemas judge the same value as the schema they stand in."""
ANNOTATIONS = frozenset(
    {"$comment", "default", "deprecated", "description", "examples", "readOnly", "title", "writeOnly"}
)  # fmt: skip


def is_annotation(keyword: str) -> bool:
    return keyword in ANNOTATIONS or keyword.startswith("x-")


def children(schema: Schema) -> Iterator[tuple[str, Any, bool]]:
    """`(keyword, subschema, in place)` of a normal schema."""
    if isinstance(schema, bool):
        return
    for keyword, value in schema.items():
        if keyword in ONE:
            yield keyword, value, keyword in IN_PLACE
        elif keyword in MANY:
            yield from ((keyword, item, keyword in IN_PLACE) for item in value)
        elif keyword in NAMED and keyword != "$defs":
            yield from ((keyword, item, keyword in IN_PLACE) for item in value.values())


def rebuilt(schema: Schema, make: Callable[[Any, str, bool], Schema]) -> Schema:
    """A copy whose subschemas are what `make(subschema, step, in place)` gives; `step` is relative to the schema."""
    if isinstance(schema, bool):
        return schema
    out: dict[str, Any] = {}
    for keyword, value in schema.items():
        here = keyword in IN_PLACE
        if keyword in ONE:
            out[keyword] = make(value, keyword, here)
        elif keyword in MANY:
            out[keyword] = [make(item, f"{keyword}/{i}", here) for i, item in enumerate(value)]
        elif keyword in NAMED:
            out[keyword] = {name: make(item, f"{keyword}/{name}", here) for name, item in value.items()}
        else:
            out[keyword] = value
    return out


def size_and_depth(schema: Schema) -> tuple[int, int]:
    """Number of schemas and levels of them."""
    sizes = [size_and_depth(child) for _, child, _ in children(schema)]
    return 1 + sum(s for s, _ in sizes), 1 + max((d for _, d in sizes), default=0)


def known_names(schema: Schema, defs: dict[str, Any]) -> set[str]:
    """Names of properties that a schema speaks of, in any of its branches."""
    found: set[str] = set()
    stack, seen = [schema], set()
    while stack:
        item = stack.pop()
        if isinstance(item, bool):
            continue
        found |= set(item.get("properties", ()))
        target = item.get("$ref", "")
        if target and target not in seen:
            seen.add(target)
            stack.append(defs.get(target.removeprefix("#/$defs/"), True))
        stack += [child for _, child, in_place in children(item) if in_place]
    return found
