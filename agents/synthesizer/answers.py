"""Typed answers: the schema that states them, and the verifier of a programmatic task."""

from collections.abc import Mapping
from typing import Any

from agent_world.agents.synthesizer.draft import Draft
from agent_world.schema import StateDiff
from agent_world.tools.grading.rubric import tolerance_for


def answer_schema(types: Mapping[str, str]) -> dict[str, Any]:
    """An object with exactly these fields. `[string]` is a list of strings."""
    return {
        "type": "object",
        "properties": {key: _field(kind) for key, kind in types.items()},
        "required": list(types),
        "additionalProperties": False,
    }


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
        return isinstance(given, (int, float)) and abs(given - wanted) <= tolerance
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
    return sorted(values, key=lambda v: (str(type(v)), plain(v) if isinstance(v, str) else v))


def verify(answer, reference, diff, expected_diff):
    assert isinstance(answer, dict), "the answer is no object"
    assert sorted(answer) == {keys}, "the answer has other fields"
    {checks}
    assert same(diff["changes"], expected_diff["changes"]), "the state is not the one asked for: {asked}"
'''
