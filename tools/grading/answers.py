"""From the text of a final response to the answer that is graded."""

import json
import re
from typing import Any

from agent_world.tools.strict_json import finite_float, refuse_constant

_FENCE = re.compile(r"^[ \t]*```[^\n`]*\n(.*?)^[ \t]*```[ \t]*$", re.DOTALL | re.MULTILINE)


def parse_answer(text: str) -> dict[str, Any] | None:
    """The one JSON object that `text` is, or holds in its only fenced block; None when there is none.

    Strict: no NaN or Infinity, no key twice, nothing guessed out of prose.
    """
    blocks = _FENCE.findall(text)
    if len(blocks) > 1:
        return None
    try:
        found = json.loads(
            blocks[0] if blocks else text,
            object_pairs_hook=_unique,
            parse_constant=refuse_constant,
            parse_float=finite_float,
        )
    except (ValueError, RecursionError):
        return None
    return found if isinstance(found, dict) else None


def _unique(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found = dict(pairs)
    if len(found) < len(pairs):
        raise ValueError("a key occurs twice")
    return found
