"""Reading source files: text, JSON, JSON Lines, packed or not. What cannot be read is a `UsageError` that names it."""

import gzip
import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import yaml

from agent_world.errors import UsageError

MAX_BYTES = 200_000_000
"""Of an unpacked file."""


def read_source(path: Path, what: str) -> str:
    """The text of `path`; `.gz` is unpacked."""
    try:
        if path.suffix == ".gz":
            with gzip.open(path) as packed:
                data = packed.read(MAX_BYTES + 1)
        else:
            data = path.read_bytes()
        if len(data) > MAX_BYTES:
            raise UsageError(f"The {what} {path} is over {MAX_BYTES // 1_000_000} MB; give a part of it.")
        return data.decode("utf-8-sig")
    except FileNotFoundError as error:
        raise UsageError(f"There is no {what} {path}; mend its path under themes.") from error
    except (OSError, EOFError, UnicodeDecodeError) as error:
        raise UsageError(f"Cannot read the {what} {path}: {error}.") from error


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
    try:
        if path.suffix in (".yaml", ".yml"):
            return yaml.safe_load(text)
        return json.loads(text)
    except (ValueError, RecursionError, yaml.YAMLError) as error:
        kind = "YAML" if path.suffix in (".yaml", ".yml") else "JSON"
        reason = " ".join(str(error).split())[:200]
        raise UsageError(f"{path} is not {kind} ({reason}); mend it or take it out of themes.") from error
