"""Reading source files: text, JSON, JSON Lines, packed or not. What cannot be read is a `UsageError` that names it."""

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from agent_world.errors import UsageError
from agent_world.tools.documents import parse_yaml, read_text


def read_source(path: Path, what: str) -> str:
    """The text of `path`; `.gz` is unpacked."""
    return read_text(path, what, "mend its path under themes")


def is_lines(path: Path) -> bool:
    return path.name.removesuffix(".gz").endswith(".jsonl")


def read_lines(path: Path, what: str) -> Iterator[tuple[int, Any]]:
    """Number and value of each line of JSON Lines."""
    for number, line in enumerate(read_source(path, what).splitlines(), 1):
        if line.strip():
            try:
                yield number, json.loads(line)
            except (ValueError, RecursionError) as error:
                raise UsageError(f"{path}, line {number}, is not JSON ({error}); mend or remove the line.") from error


def read_document(path: Path, what: str) -> Any:
    """One JSON or YAML document."""
    text = read_source(path, what)
    kind = "YAML" if path.suffix in (".yaml", ".yml") else "JSON"
    try:
        return parse_yaml(text) if kind == "YAML" else json.loads(text)
    except (ValueError, RecursionError) as error:
        reason = " ".join(str(error).split())[:200]
        raise UsageError(f"{path} is not {kind} ({reason}); mend it or take it out of themes.") from error
