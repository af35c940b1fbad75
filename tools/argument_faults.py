"""Validation errors as one line that a model can act on: which argument, what was wanted, what was given."""

import difflib
import json
from collections.abc import Callable, Iterable, Sequence
from typing import Any

from jsonschema.exceptions import ValidationError, best_match

LONGEST_VALUE = 80
LONGEST_LINE = 400


def fault_of(errors: Iterable[ValidationError]) -> str:
    """The first error by place, said in one line; of alternatives, the one that came nearest."""
    first = min(errors, key=lambda error: [str(step) for step in error.absolute_path])
    chosen = best_match([first]) if first.validator in ("anyOf", "oneOf") and _one_meant(first) else first
    return " ".join(_say(chosen or first).split())[:LONGEST_LINE]


def _one_meant(error: ValidationError) -> bool:
    """Whether a single alternative fits the given value's type, so that its own fault is the one to tell."""
    branches = {e.schema_path[0] for e in error.context or ()}
    of_type = {e.schema_path[0] for e in error.context or () if e.validator == "type" and len(e.relative_path) == 0}
    return len(branches - of_type) == 1


def _say(error: ValidationError) -> str:
    where = path_text(error.absolute_path)
    name = f"Argument {where!r}" if where else "The arguments"
    say = _SAYINGS.get(str(error.validator))
    said = say(error) if say else f"{_plain(error.message)} (it was {shown(error.instance)})"
    return f"{name} {said}."


def path_text(path: Iterable[Any]) -> str:
    """`filters.tags[2]`."""
    text = ""
    for step in path:
        text += f"[{step}]" if isinstance(step, int) else f".{step}" if text else str(step)
    return text


def shown(value: Any) -> str:
    """The value as JSON, cut where it is long."""
    text = json.dumps(value, ensure_ascii=False, default=repr)
    return text if len(text) <= LONGEST_VALUE else f"{text[:LONGEST_VALUE]}…"


def nearest(name: Any, known: Sequence[str]) -> str | None:
    """The known name that is most like it, if any is much like it: case and separators do not count."""
    plain = {_bare(item): item for item in known}
    found = difflib.get_close_matches(_bare(str(name)), list(plain), 1, 0.6)
    return plain[found[0]] if found else None


def _bare(name: str) -> str:
    return "".join(c for c in name.lower() if c.isalnum())


def _plain(message: str) -> str:
    return f"does not fit: {message[:200].rstrip('.')}"


def _type(error: Any) -> str:
    wanted = [error.validator_value] if isinstance(error.validator_value, str) else list(error.validator_value)
    hint = ""
    if isinstance(error.instance, str) and _text_holds(error.instance, wanted):
        hint = "; give the value itself, not text that holds it as JSON"
    return f"must be of type {' or '.join(wanted)}, not {shown(error.instance)}{hint}"


def _text_holds(text: str, wanted: Sequence[str]) -> bool:
    try:
        found = json.loads(text)
    except (ValueError, RecursionError):
        return False
    kinds: dict[str, Any] = {"object": dict, "array": list, "integer": int, "number": (int, float), "boolean": bool}
    return any(isinstance(found, kinds.get(kind, ())) for kind in wanted)


def _enum(error: Any) -> str:
    choices = ", ".join(shown(choice) for choice in error.validator_value[:20])
    more = f" and {len(error.validator_value) - 20} more" if len(error.validator_value) > 20 else ""
    texts = [c for c in error.validator_value if isinstance(c, str)]
    meant = nearest(error.instance, texts) if isinstance(error.instance, str) else None
    hint = f"; {meant!r} may be meant" if meant else ""
    return f"must be one of {choices}{more}, not {shown(error.instance)}{hint}"


def _required(error: Any) -> str:
    missing = [name for name in error.validator_value if name not in error.instance]
    return f"lacks {missing[0]!r}; given were {', '.join(map(repr, error.instance)) or 'none'}"


def _additional(error: Any) -> str:
    schema = error.schema if isinstance(error.schema, dict) else {}
    known = list(schema.get("properties", ()))
    unknown = [name for name in error.instance if name not in known]
    meant = nearest(unknown[0], known) if unknown else None
    hint = f"; {meant!r} may be meant" if meant else ""
    return f"has no {shown(unknown[0] if unknown else '')}; known are {', '.join(map(repr, known)) or 'none'}{hint}"


def _alternatives(error: Any) -> str:
    wanted = [_brief(item) for item in error.validator_value]
    exactly = "exactly one" if error.validator == "oneOf" else "one"
    return f"must be {exactly} of: {'; '.join(wanted)}; not {shown(error.instance)}"


def _brief(schema: Any) -> str:
    """An alternative in a few words."""
    if not isinstance(schema, dict):
        return "anything" if schema else "nothing"
    if "const" in schema or "enum" in schema:
        return " or ".join(shown(v) for v in schema.get("enum", [schema.get("const")])[:5])
    types = schema.get("type", "")
    words = types if isinstance(types, str) else " or ".join(types)
    required = schema.get("required")
    with_names = f"with {', '.join(map(repr, required))}" if required else ""
    return " ".join(w for w in (words, with_names) if w) or schema.get("title") or shown(schema)


def _bounded(text: str) -> Callable[[Any], str]:
    return lambda error: f"must {text.format(error.validator_value)}, not {shown(error.instance)}"


_SAYINGS: dict[str, Callable[[Any], str]] = {
    "type": _type, "enum": _enum, "required": _required, "additionalProperties": _additional,
    "anyOf": _alternatives, "oneOf": _alternatives,
    "const": lambda e: f"must be {shown(e.validator_value)}, not {shown(e.instance)}",
    "minimum": _bounded("be at least {}"), "maximum": _bounded("be at most {}"),
    "exclusiveMinimum": _bounded("be greater than {}"), "exclusiveMaximum": _bounded("be less than {}"),
    "multipleOf": _bounded("be a multiple of {}"), "minLength": _bounded("have at least {} characters"),
    "maxLength": _bounded("have at most {} characters"), "minItems": _bounded("have at least {} items"),
    "maxItems": _bounded("have at most {} items"), "uniqueItems": _bounded("have different items"),
    "pattern": lambda e: f"{e.message}, not {shown(e.instance)}",
}  # fmt: skip
