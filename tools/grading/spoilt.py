"""A value spoilt a little, and the same value written otherwise: of every JSON shape, members and cells too."""

import math
import unicodedata
from typing import Any

from agent_world.tools.grading.compare import same, same_set
from agent_world.tools.grading.rubric import tolerance_for

Named = tuple[str, Any]
"""What was done, in plain words, and what came of it."""
_EXACT = 2**53
"""Largest integer up to which every integer is also a float."""
_ENORMOUS = 10**400
"""A number of JSON that is no float: a checker that calculates with it breaks, and must not."""
_PER_MEMBER = 2
"""Ways in which each place of a list is spoilt."""


def is_number(value: Any) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)


def wrong(value: Any, ordered: bool = False) -> list[Named]:
    """Values that are not `value`; a list that is not `ordered` is a set."""
    match value:
        case bool():
            return [("the other way round", not value), ("as a number", int(value)), ("as text", str(value).lower())]
        case int() | float():
            return _wrong_numbers(value)
        case str():
            return _wrong_texts(value)
        case list():
            return _wrong_lists(value, ordered)
        case dict():
            return _wrong_records(value)
    return [("as text", "null"), ("as zero", 0)]


def _wrong_texts(value: str) -> list[Named]:
    if not value:
        return [("filled", "x")]
    found: list[Named] = [("with a word too many", f"{value} x"), ("with a word before it", f"x {value}")]
    short = [("cut short", value.strip()[:-1])] if len(value.strip()) > 1 else []
    return [*found, ("empty", ""), ("null", None), *short]


def _wrong_numbers(value: int | float) -> list[Named]:
    found: list[Named] = [("one more", value + 1), ("one less", value - 1), ("as prose", f"about {value}")]
    found = [(what, other) for what, other in found if other != value]
    if value:
        found += [("with the other sign", -value), ("ten times as large", value * 10)]
    return [*found, *_beyond(value, 2 * tolerance_for(value)), ("enormous", _ENORMOUS)]


def _beyond(value: int | float, step: float) -> list[Named]:
    if not step or value + step == value:
        return []
    return [("just above the tolerance", value + step), ("just below it", value - step)]


def _wrong_lists(value: list[Any], ordered: bool) -> list[Named]:
    if not value:
        return [("with a member too many", ["x"]), ("null", None)]
    foreign = wrong(value[-1])[0][1]
    found: list[Named] = [
        ("without its last member", value[:-1]),
        ("without its first member", value[1:]),
        ("empty", []),
        ("with a member twice", [*value, value[0]]),
        ("with a foreign member too many", [*value, foreign]),
    ]
    places = {len(value) // 2: "middle", len(value) - 1: "last", 0: "first"}
    for index, place in sorted(places.items()):
        for what, other in _wrong_members(value, index)[:_PER_MEMBER]:
            found.append((f"with its {place} member {what}", [*value[:index], other, *value[index + 1 :]]))
    if ordered:
        found += [("in another order", value[::-1]), ("with two members exchanged", _exchanged(value))]
    kept = {repr(other): (what, other) for what, other in found if not _alike_lists(value, other, ordered)}
    return list(kept.values())


def _wrong_members(value: list[Any], index: int) -> list[Named]:
    """Of numbers first those just beyond the tolerance, which is that of the whole list."""
    member = value[index]
    beyond = _beyond(member, 2 * tolerance_for(value))[:1] if is_number(member) else []
    return [*beyond, *wrong(member)]


def _exchanged(value: list[Any]) -> list[Any]:
    """With the first two unequal neighbours exchanged."""
    for index in range(len(value) - 1):
        if not same(value[index], value[index + 1]):
            return [*value[:index], value[index + 1], value[index], *value[index + 2 :]]
    return value


def _alike_lists(value: list[Any], other: Any, ordered: bool) -> bool:
    tolerance = tolerance_for(value)
    return same(value, other, tolerance) if ordered else same_set(value, other, tolerance)


def _wrong_records(value: dict[str, Any]) -> list[Named]:
    found: list[Named] = [("empty", {}), ("with a field too many", {**value, "_extra": 1})]
    for key, inner in value.items():
        found.append((f"without {key}", {k: v for k, v in value.items() if k != key}))
        found += [(f"with {key} {what}", {**value, key: other}) for what, other in wrong(inner, ordered=True)]
    return found if value else [("filled", {"x": 1})]


def alike(value: Any, ordered: bool) -> list[Named]:
    """Other ways to write `value`; a list that is not `ordered` may stand in any order."""
    match value:
        case bool():
            return []
        case int() | float() if _otherwise(value) is not None:
            return [("as an integer" if isinstance(value, float) else "as a float", _otherwise(value))]
        case float() if math.isfinite(value) and tolerance_for(value):
            half = tolerance_for(value) / 2
            return [("a little more", value + half), ("a little less", value - half)]
        case str():
            return [("with outer space", f" {value}\n"), ("decomposed", unicodedata.normalize("NFD", value))]
        case list():
            return _alike_members(value, ordered)
        case dict() if value:
            inner = {key: (alike(v, True) or [("", v)])[0][1] for key, v in value.items()}
            turned = [("with fields in another order", dict(reversed(list(value.items()))))] if len(value) > 1 else []
            return [*turned, *([("with fields written otherwise", inner)] if repr(inner) != repr(value) else [])]
    return []


def _alike_members(value: list[Any], ordered: bool) -> list[Named]:
    turned: list[Named] = [("in another order", value[::-1])] if len(value) > 1 and not ordered else []
    numbers = [_otherwise(member) if is_number(member) else None for member in value]
    if any(other is not None for other in numbers):
        written = [m if other is None else other for m, other in zip(value, numbers, strict=True)]
        turned.append(("with whole numbers written otherwise", written))
    half = tolerance_for(value) / 2
    if half and all(is_number(member) for member in value):
        turned.append(("a little more throughout", [m + half if isinstance(m, float) else m for m in value]))
    return turned


def _otherwise(value: int | float) -> int | float | None:
    """12 as 12.0, 12.0 as 12; None for what has one form only."""
    if isinstance(value, int):
        return float(value) if abs(value) < _EXACT else None
    return int(value) if math.isfinite(value) and value.is_integer() and abs(value) < _EXACT else None
