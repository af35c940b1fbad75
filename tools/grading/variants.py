"""Answers made from a reference answer that a sound checker must refuse, or must accept: proof for the gate.

A checker is believed when it accepts the reference answer and every harmless variant, and refuses every near miss.
"""

import json
import math
import unicodedata
from collections.abc import Collection, Mapping
from dataclasses import dataclass
from typing import Any

from agent_world.schema import RowChange, StateDiff

_EXACT = 2**53
"""Largest integer up to which every integer is also a float."""


@dataclass(frozen=True, slots=True)
class Variant:
    name: str
    """What was done, in plain words."""
    answer: dict[str, Any]


@dataclass(frozen=True, slots=True)
class StateVariant:
    name: str
    diff: StateDiff


def near_misses(answer: Mapping[str, Any]) -> list[Variant]:
    """Wrong answers close to `answer`: each must score 0."""
    found = [Variant("no field at all", {})] if answer else []
    found.append(Variant("a field too many", {**answer, "_extra": 1}))
    for name, value in answer.items():
        found.append(Variant(f"{name} left out", {k: v for k, v in answer.items() if k != name}))
        found += [Variant(f"{name} {what}", {**answer, name: wrong}) for what, wrong in _wrong(value)]
    return found


def harmless_variants(answer: Mapping[str, Any], *, ordered: Collection[str] = ()) -> list[Variant]:
    """Answers that mean the same as `answer`: each must score 1. Lists of the fields in `ordered` keep their order."""
    found = [Variant("fields in another order", dict(reversed(list(answer.items()))))] if len(answer) > 1 else []
    for name, value in answer.items():
        found += [Variant(f"{name} {what}", {**answer, name: other}) for what, other in _alike(value, name in ordered)]
    return found


def text_variants(answer: Mapping[str, Any]) -> list[str]:
    """Final responses that all state `answer`, for `parse_answer`."""
    compact = json.dumps(answer, ensure_ascii=False, separators=(",", ":"))
    indented = json.dumps(answer, ensure_ascii=True, indent=2)
    return [compact, f"  {indented}\n", f"```json\n{compact}\n```", f"Here it is:\n```\n{indented}\n```\n"]


def state_misses(expected: StateDiff) -> list[StateVariant]:
    """State changes close to `expected`: each must score 0."""
    extra = RowChange(table="_other", key="1", kind="added", after={"id": 1})
    found = [StateVariant("one change too many", StateDiff(changes=(*expected.changes, extra)))]
    if expected.changes:
        found.append(StateVariant("nothing done", StateDiff()))
    for index, change in enumerate(expected.changes):
        before, after = expected.changes[:index], expected.changes[index + 1 :]
        row = f"{change.table} {change.key}"
        if before or after:
            found.append(StateVariant(f"{row} left alone", StateDiff(changes=before + after)))
        for column, wrong in _wrong_cells(change):
            found.append(StateVariant(f"{row} with another {column}", StateDiff(changes=(*before, wrong, *after))))
    return found


def _wrong_cells(change: RowChange) -> list[tuple[str, RowChange]]:
    cells = change.after or {}
    return [
        (column, change.model_copy(update={"after": {**cells, column: _wrong(value)[0][1]}}))
        for column, value in cells.items()
    ]


def _wrong(value: Any) -> list[tuple[str, Any]]:
    match value:
        case bool():
            return [("the other way round", not value), ("as a number", int(value))]
        case int() | float():
            return _wrong_numbers(value)
        case str():
            return (
                [("with a word too many", f"{value} x"), ("empty", ""), ("null", None)] if value else [("filled", "x")]
            )
        case list():
            return _wrong_lists(value)
        case dict():
            return [("empty", {})] if value else [("filled", {"x": 1})]
    return [("as text", "null"), ("as zero", 0)]


def _wrong_numbers(value: int | float) -> list[tuple[str, Any]]:
    found: list[tuple[str, Any]] = [("one more", value + 1), ("one less", value - 1), ("as prose", f"about {value}")]
    found = [(what, wrong) for what, wrong in found if wrong != value]
    if value:
        found += [("with the other sign", -value), ("ten times as large", value * 10)]
    return found


def _wrong_lists(value: list[Any]) -> list[tuple[str, Any]]:
    if not value:
        return [("with a member too many", ["x"])]
    return [
        ("without its last member", value[:-1]),
        ("with a member twice", [*value, value[0]]),
        ("with another member", [*value[:-1], _wrong(value[-1])[0][1]]),
    ]


def _alike(value: Any, ordered: bool) -> list[tuple[str, Any]]:
    match value:
        case bool():
            return []
        case int() if abs(value) < _EXACT:
            return [("as a float", float(value))]
        case float() if math.isfinite(value) and value.is_integer() and abs(value) < _EXACT:
            return [("as an integer", int(value))]
        case str():
            return [("with outer space", f" {value}\n"), ("decomposed", unicodedata.normalize("NFD", value))]
        case list() if len(value) > 1 and not ordered:
            return [("in another order", value[::-1])]
    return []
