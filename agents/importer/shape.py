"""What a field of nested records is, seen over all of them: a cell, a part of its row, rows of their own, or text."""

from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any, Literal

from agent_world.schema import Json

Form = Literal["cell", "record", "attributes", "map", "objects", "values", "mixed", "empty"]
"""`record`: a part with the same fields everywhere, whose fields become columns of the row. `attributes`: names and
scalars that differ from row to row. `map`: objects by id. `objects`, `values`: lists of objects or scalars."""
LEAST_KEYS = 3
"""Keys of a map that does not say which field its keys are."""
LEAST_ALIKE = 0.5
"""Share of all fields that the values of such a map have on average."""
OPEN = 0.5
"""Share of the rows below which the average field of a part occurs, for the part to be attributes."""


def form_of(values: Sequence[Json]) -> Form:
    """Of one field's values over all records that have it; nulls say nothing."""
    known = [value for value in values if value is not None]
    filled = [value for value in known if value not in ({}, [])]
    if not filled:
        return "empty"
    if all(not isinstance(value, dict | list) for value in known):
        return "cell"
    if all(isinstance(value, dict) for value in known):
        return _form_of_objects(filled)
    if all(isinstance(value, list) for value in known):
        items = [item for value in filled for item in value]
        if all(isinstance(item, dict) and item for item in items):
            return "objects"
        if all(item is not None and not isinstance(item, dict | list) for item in items):
            return "values"
    return "mixed"


def _form_of_objects(filled: Sequence[dict[str, Json]]) -> Form:
    if key_field(filled) is not None:
        return "map"
    counts = Counter(name for value in filled for name in value)
    plain = all(not isinstance(v, dict | list) for value in filled for v in value.values())
    average = sum(counts.values()) / len(counts) / len(filled)
    return "attributes" if plain and average < OPEN else "record"


def key_field(maps: Sequence[Mapping[str, Any]]) -> str | None:
    """For objects that hold records by id: the records' own field that repeats the id, or "" where none does.

    None where they are no such maps: their values are no objects, or unlike each other, or the same keys come again
    and again.
    """
    pairs = [(key, value) for found in maps for key, value in found.items()]
    if not pairs or any(not isinstance(value, dict) or not value for _, value in pairs):
        return None
    repeated: list[str] = [f for f in pairs[0][1] if all(_is(value.get(f), key) for key, value in pairs)]
    if repeated:
        return repeated[0]
    counts = Counter(key for key, _ in pairs)
    varied = len(maps) == 1 or 2 * max(counts.values()) <= len(maps)
    return "" if len(counts) >= LEAST_KEYS and varied and _alike([value for _, value in pairs]) else None


def _is(value: Json, key: str) -> bool:
    return value is not None and not isinstance(value, dict | list | bool) and str(value) == key


def _alike(values: Sequence[dict[str, Any]]) -> bool:
    names = {name for value in values for name in value}
    return sum(len(value) for value in values) >= LEAST_ALIKE * len(names) * len(values)


def as_text(value: Json) -> str | None:
    """Attributes as `color: blue; size: M`, in order of their names; lists with semicolons; null for nothing."""
    if isinstance(value, dict):
        return "; ".join(f"{name}: {scalar_text(value[name])}" for name in sorted(value)) or None
    return "; ".join(scalar_text(item) for item in value) or None


def scalar_text(value: Json) -> str:
    if isinstance(value, bool):
        return "true" if value else "false"
    return "none" if value is None else str(value)
