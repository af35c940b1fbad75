"""Reading source files: text, JSON, JSON Lines, packed or not. What cannot be read is a `UsageError` that names it."""

import json
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

from agent_world.errors import UsageError
from agent_world.tools.documents import parse_yaml, read_text


def read_source(path: Path, what: str) -> str:
    """The text of `path`; `.gz` is unpacked."""
    return read_text(path, what, "mend its path under themes")


Document = Any
"""JSON or YAML as it was parsed; of JSON Lines a `Lines`."""


class Lines(list[Any]):
    """The values of JSON Lines, in order."""


def read_document(path: Path, what: str) -> Document:
    """A JSON or YAML document, or JSON Lines, by what the file holds: its ending tells YAML alone."""
    text = read_source(path, what)
    if path.name.removesuffix(".gz").endswith((".yaml", ".yml")):
        return _parsed(path, "YAML", lambda: parse_yaml(text))
    lines = [line for line in text.splitlines() if line.strip()]
    if _is_json(lines[:1]) and (len(lines) > 1 or path.name.removesuffix(".gz").endswith(".jsonl")):
        return Lines(_lines(path, text))
    return _parsed(path, "JSON", lambda: json.loads(text))


def _lines(path: Path, text: str) -> Iterator[Any]:
    for number, line in enumerate(text.splitlines(), 1):
        if line.strip():
            try:
                yield json.loads(line)
            except (ValueError, RecursionError) as error:
                raise UsageError(f"{path}, line {number}, is not JSON ({error}); mend or remove the line.") from error


def _is_json(lines: list[str]) -> bool:
    """Whether the line is an object by itself: that of one document written over several lines is not."""
    try:
        return any(isinstance(json.loads(line), dict) for line in lines)
    except (ValueError, RecursionError):
        return False


def _parsed(path: Path, kind: str, parse: Callable[[], Any]) -> Any:
    try:
        return parse()
    except (ValueError, RecursionError) as error:
        reason = " ".join(str(error).split())[:200]
        raise UsageError(f"{path} is not {kind} ({reason}); mend it or take it out of themes.") from error
