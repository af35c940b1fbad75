"""Answers made from a reference answer that a sound checker must refuse, or must accept: proof for the gate.

A checker is believed when it accepts the reference answer and every harmless variant, and refuses every near miss.
"""

import json
import math
import unicodedata
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from agent_world.schema import RowChange, StateDiff
from agent_world.tools.grading.compare import same
from agent_world.tools.grading.rubric import tolerance_for

_EXACT = 2**53
"""Largest integer up to which every integer is also a float."""
_ENORMOUS = 10**400
"""A number of JSON that is no float: a checker that calculates with it breaks, and must not."""
_MOST_ROWS = 8
"""Changes of a state that are left out or spoilt one by one; a larger change is spoilt in its first ones."""


@dataclass(frozen=True, slots=True)
class Variant:
    name: str
    """What was done, in plain words."""
    answer: dict[str, Any]


@dataclass(frozen=True, slots=True)
class StateVariant:
    name: str
    diff: StateDiff


def near_misses(
    answer: Mapping[str, Any], schema: Mapping[str, Any] | None = None, *, ordered: Collection[str] = ()
) -> list[Variant]:
    """Wrong answers close to `answer`: each must score 0. `schema` is the answer's; lists of the fields in `ordered`
    are wrong in another order."""
    found = [Variant("no field at all", {})] if answer else []
    found.append(Variant("a field too many", {**answer, "_extra": 1}))
    for name, value in answer.items():
        found.append(Variant(f"{name} left out", {k: v for k, v in answer.items() if k != name}))
        wrongs = _wrong(value)
        if _is_number(value) and not _allows_text(schema, name):
            wrongs.append(("as text", str(value)))
        if name in ordered and not same(value, value[::-1]):
            wrongs.append(("in another order", value[::-1]))
        found += [Variant(f"{name} {what}", {**answer, name: wrong}) for what, wrong in wrongs]
    return found


def harmless_variants(
    answer: Mapping[str, Any], schema: Mapping[str, Any] | None = None, *, ordered: Collection[str] = ()
) -> list[Variant]:
    """Answers that mean the same as `answer`: each must score 1. Lists of the fields in `ordered` keep their order;
    a number may stand as text, with a currency sign too, where `schema` allows text."""
    found = [Variant("fields in another order", dict(reversed(list(answer.items()))))] if len(answer) > 1 else []
    for name, value in answer.items():
        alike = _alike(value, name in ordered)
        if _is_number(value) and _allows_text(schema, name):
            sign = "-" if value < 0 else ""
            alike += [("as text", str(value)), ("with a currency sign", f"{sign}${abs(value)}")]
        found += [Variant(f"{name} {what}", {**answer, name: other}) for what, other in alike]
    return found


def text_variants(answer: Mapping[str, Any]) -> list[str]:
    """Final responses that all state `answer`, for `parse_answer`."""
    compact = json.dumps(answer, ensure_ascii=False, separators=(",", ":"))
    indented = json.dumps(answer, ensure_ascii=True, indent=2)
    return [compact, f"  {indented}\n", f"```json\n{compact}\n```", f"Here it is:\n```\n{indented}\n```\n"]


def state_misses(expected: StateDiff, bystanders: Sequence[RowChange] = ()) -> list[StateVariant]:
    """State changes close to `expected`: each must score 0. `bystanders` are changes of rows that nobody asked for."""
    found = []
    for extra in (RowChange(table="_other", key="1", kind="added", after={"id": 1}), *bystanders):
        what = f"one change too many ({extra.table} {extra.key} {extra.kind})"
        found.append(StateVariant(what, StateDiff(changes=(*expected.changes, extra))))
    if expected.changes:
        found.append(StateVariant("nothing done", StateDiff()))
    for index, change in enumerate(expected.changes[:_MOST_ROWS]):
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
                [("with a word too many", f"{value} x"), ("with a word before it", f"x {value}"), ("empty", ""),
                 ("null", None), *([("cut short", value.strip()[:-1])] if len(value.strip()) > 1 else [])]
                if value else [("filled", "x")]
            )  # fmt: skip
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
    beyond = 2 * tolerance_for(value)
    if beyond and value + beyond != value:
        found += [("just above the tolerance", value + beyond), ("just below it", value - beyond)]
    return [*found, ("enormous", _ENORMOUS)]


def _is_number(value: Any) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)


def _allows_text(schema: Mapping[str, Any] | None, name: str) -> bool:
    kind = ((schema or {}).get("properties", {}).get(name) or {}).get("type", ())
    return "string" in ([kind] if isinstance(kind, str) else kind)


def _wrong_lists(value: list[Any]) -> list[tuple[str, Any]]:
    if not value:
        return [("with a member too many", ["x"])]
    return [
        ("without its last member", value[:-1]),
        ("with a member twice", [*value, value[0]]),
        ("with a foreign member too many", [*value, _wrong(value[-1])[0][1]]),
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
        case float() if math.isfinite(value) and tolerance_for(value):
            half = tolerance_for(value) / 2
            return [("a little more", value + half), ("a little less", value - half)]
        case str():
            return [("with outer space", f" {value}\n"), ("decomposed", unicodedata.normalize("NFD", value))]
        case list() if len(value) > 1 and not ordered:
            return [("in another order", value[::-1])]
    return []
