"""Typed answers: the schema that states them, and the verifier of a programmatic task."""

from collections.abc import Collection, Mapping
from typing import Any

from agent_world.agents.synthesizer.draft import Draft
from agent_world.schema import RowChange, StateDiff, Task
from agent_world.tools.grading.rubric import tolerance_for

IN_ORDER = "in the order asked for"
"""Description of a list whose order counts."""


def answer_schema(types: Mapping[str, str], ordered: Collection[str] = ()) -> dict[str, Any]:
    """An object with exactly these fields. `[string]` is a list of strings."""
    return {
        "type": "object",
        "properties": {
            key: _field(kind) | ({"description": IN_ORDER} if key in ordered else {}) for key, kind in types.items()
        },
        "required": list(types),
        "additionalProperties": False,
    }


def ordered_fields(task: Task) -> set[str]:
    """Lists whose order counts."""
    fields = task.answer_schema.get("properties", {})
    return {key for key, field in fields.items() if field.get("description") == IN_ORDER}


def _field(kind: str) -> dict[str, Any]:
    if kind.startswith("["):
        return {"type": "array", "items": {"type": kind.strip("[]")}}
    return {"type": kind}


def agrees(expected: Any, seen: Any) -> bool:
    """Whether what a tool said is what the rows say; rounding of the tool's own is allowed."""
    if isinstance(expected, bool) or isinstance(seen, bool):
        return expected is seen
    if isinstance(expected, int | float) and isinstance(seen, int | float):
        return abs(expected - seen) <= max(0.006, 1e-6 * abs(expected)) if isinstance(seen, float) else expected == seen
    if isinstance(expected, list) and isinstance(seen, list):
        return len(expected) == len(seen) and all(map(agrees, expected, seen))
    return bool(expected == seen)


def agrees_change(expected: StateDiff, seen: StateDiff) -> bool:
    """Whether two ways came to the same change. Of a new row, what the plan leaves to the tool may be anything."""
    mine, theirs = ([c for c in d.changes if c.kind != "added"] for d in (expected, seen))
    if len(mine) != len(theirs) or any(
        not _same_change(a, b) for a, b in zip(_ordered(mine), _ordered(theirs), strict=True)
    ):
        return False
    added = [c for c in seen.changes if c.kind == "added"]
    for change in (c for c in expected.changes if c.kind == "added"):
        found = next((c for c in added if c.table == change.table and _holds(change.after or {}, c.after or {})), None)
        if found is None:
            return False
        added.remove(found)
    return not added


def _ordered(changes: list[RowChange]) -> list[RowChange]:
    return sorted(changes, key=lambda c: (c.table, c.key))


def _same_change(one: RowChange, other: RowChange) -> bool:
    same = (one.table, one.key, one.kind) == (other.table, other.key, other.kind)
    return same and _same_cells(one.before, other.before) and _same_cells(one.after, other.after)


def _same_cells(one: Mapping[str, Any] | None, other: Mapping[str, Any] | None) -> bool:
    mine, theirs = one or {}, other or {}
    return mine.keys() == theirs.keys() and all(same_cell(mine[k], theirs[k]) for k in mine)


def _holds(wanted: Mapping[str, Any], found: Mapping[str, Any]) -> bool:
    return all(k in found and same_cell(v, found[k]) for k, v in wanted.items() if v is not None)


def same_cell(typed: Any, stored: Any) -> bool:
    """Whether a value is what a file holds for it: CSV keeps text and nothing for null, SQLite numbers for Booleans."""
    if typed is None or stored is None:
        return typed in (None, "") and stored in (None, "")
    if isinstance(stored, str) and not isinstance(typed, str):
        if stored in ("true", "false"):
            return bool(typed) is (stored == "true")
        try:
            return float(stored) == float(typed)
        except ValueError:
            return False
    return bool(typed == stored)


def verifier_source(draft: Draft, answer: Mapping[str, Any], change: StateDiff) -> str:
    """`verify(answer, reference, diff, expected_diff)` for this task: each field by its type, then the state."""
    checks = [_check(key, draft.types[key], value, key in draft.ordered) for key, value in answer.items()]
    asked = f"exactly {len(change.changes)} changed rows" if change.changes else "an unchanged database"
    return _VERIFIER.format(keys=sorted(answer), checks="\n    ".join(checks), asked=asked)


def _check(key: str, kind: str, value: Any, ordered: bool) -> str:
    tolerance = tolerance_for(value)
    given, wanted = f"answer[{key!r}]", f"reference[{key!r}]"
    if kind.startswith("[") and not ordered:
        given, wanted = f"in_order({given})", f"in_order({wanted})"
    return f"assert same({given}, {wanted}, {tolerance!r}), {key + ' is wrong'!r}"


_VERIFIER = '''import unicodedata


def plain(text):
    return unicodedata.normalize("NFC", text).strip()


def same(given, wanted, tolerance=0.0):
    """Equal JSON values; a Boolean is no number, text is compared in composed form."""
    if isinstance(given, bool) or isinstance(wanted, bool):
        return given is wanted
    if isinstance(wanted, (int, float)):
        if not isinstance(given, (int, float)) or not tolerance:
            return isinstance(given, (int, float)) and given == wanted  # exact, also of an integer and a float
        return abs(given) < 1e16 and abs(given - wanted) <= tolerance
    if isinstance(wanted, str):
        return isinstance(given, str) and plain(given) == plain(wanted)
    if isinstance(wanted, list):
        return isinstance(given, list) and len(given) == len(wanted) and all(
            same(a, b, tolerance) for a, b in zip(given, wanted)
        )
    if isinstance(wanted, dict):
        return isinstance(given, dict) and given.keys() == wanted.keys() and all(
            same(given[k], wanted[k], tolerance) for k in wanted
        )
    return given is None and wanted is None


def in_order(values):
    assert isinstance(values, list), "a list is wanted"
    return sorted(values, key=lambda v: (isinstance(v, str), plain(v) if isinstance(v, str) else v))


def verify(answer, reference, diff, expected_diff):
    assert isinstance(answer, dict), "the answer is no object"
    assert sorted(answer) == {keys}, "the answer has other fields"
    {checks}
    assert same(diff["changes"], expected_diff["changes"]), "the state is not the one asked for: {asked}"
'''
