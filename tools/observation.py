"""From what a tool's process sent to what an agent sees."""

import json
from typing import Any

from agent_world.tools.runtime import Observation

_MAX_CODE = 40
_MAX_MESSAGE = 500


_ENCODER = json.JSONEncoder(ensure_ascii=False, allow_nan=False)


def value_observation(value: Any, limit: int) -> Observation:
    """JSON of `value`, cut after `limit` characters with a mark that says so; `value` itself is whole."""
    try:
        text = _ENCODER.encode(value)
        text.encode()
    except (ValueError, RecursionError):
        return error_observation("invalid_output", "The tool's result is not JSON.")
    if len(text) <= limit:
        return Observation(ok=True, text=text, value=value)
    return Observation(
        ok=True, text=f"{text[:limit]}… [truncated: {limit} of {len(text)} characters]", value=value, truncated=True
    )


def error_observation(code: Any, message: Any) -> Observation:
    """An error as data: `{"error": {"code", "message"}}`."""
    code = code if isinstance(code, str) and code.isidentifier() and len(code) <= _MAX_CODE else "tool_error"
    said = message if isinstance(message, str) else ""
    said = said[:_MAX_MESSAGE].encode(errors="replace").decode()
    text = json.dumps({"error": {"code": code, "message": said}}, ensure_ascii=False)
    return Observation(ok=False, text=text, error=code)


def outcome_observation(outcome: dict[str, Any], limit: int) -> Observation:
    """An answer frame of an instance's process, which may hold anything."""
    error = outcome.get("error")
    if isinstance(error, dict):
        return error_observation(error.get("code"), error.get("message"))
    return value_observation(outcome.get("value"), limit)
