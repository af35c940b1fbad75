"""Bounds on foreign definitions, checked before anything walks them recursively."""

import json
import math
from typing import Any

from agent_world.errors import SpecError

DEEPEST = 100
"""Levels of lists and objects."""
MOST_VALUES = 50_000
"""In one tool; a whole OpenAPI document may hold a hundred times as many."""
LARGEST_DIGITS = 300


def check_json(value: Any, most: int = MOST_VALUES) -> None:
    """Raises `SpecError` with the reason where a value is no JSON, nested too deeply or too large. Never recurses."""
    stack = [(value, 1)]
    seen = 0
    while stack:
        item, depth = stack.pop()
        seen += 1
        if seen > most:
            raise SpecError(f"it holds more than {most:,} values")
        if isinstance(item, (dict, list)):
            if depth > DEEPEST:
                raise SpecError(f"it is nested more than {DEEPEST} levels deep")
            stack += [(child, depth + 1) for child in _children(item)]
        else:
            _check_scalar(item)


def _children(item: dict[Any, Any] | list[Any]) -> list[Any]:
    if isinstance(item, list):
        return item
    for key in item:
        if not isinstance(key, str):
            raise SpecError(f"it has the key {key!r}, which is no text")
    return list(item.values())


def _check_scalar(item: Any) -> None:
    if item is None or isinstance(item, (str, bool)):
        return
    if isinstance(item, int) and item.bit_length() < 3 * LARGEST_DIGITS:
        return
    if isinstance(item, float) and math.isfinite(item):
        return
    shown = f"a number of more than {LARGEST_DIGITS} digits" if isinstance(item, int) else f"the value {str(item)[:40]}"
    raise SpecError(f"it holds {shown} ({type(item).__name__}), which is no JSON")


def has_lone_surrogates(text: str) -> bool:
    try:
        text.encode()
    except UnicodeEncodeError:
        return True
    return False


def mended(value: Any) -> Any:
    """A JSON value with each half of a broken character pair as U+FFFD: it could not be written to any file."""
    if isinstance(value, str):
        return value.encode("utf-16", "surrogatepass").decode("utf-16", "replace")
    if isinstance(value, list):
        return [mended(item) for item in value]
    if isinstance(value, dict):
        return {mended(key): mended(item) for key, item in value.items()}
    return value


def json_text(value: Any) -> str:
    """Plain where it can be encoded, escaped where it holds halves of characters."""
    text = json.dumps(value, ensure_ascii=False)
    return json.dumps(value) if has_lone_surrogates(text) else text
