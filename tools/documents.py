"""Text files that people hand in: packed or not, and YAML with JSON's values."""

import gzip
import json
import zlib
from pathlib import Path
from typing import Any

from agent_world.errors import UsageError

MAX_BYTES = 200_000_000
"""Of an unpacked file."""


def read_text(path: Path, what: str = "file", remedy: str = "") -> str:
    """The text of `path`; `.gz` is unpacked. Raises `UsageError` that calls the file `what` and ends in `remedy`."""
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
        raise UsageError(f"There is no {what} {path}{f'; {remedy}' if remedy else ''}.") from error
    except (OSError, EOFError, zlib.error, UnicodeDecodeError) as error:
        raise UsageError(f"Cannot read the {what} {path}: {error}.") from error


def parse_yaml(text: str) -> Any:
    """YAML with JSON's values: dates stay text, keys are text. Raises `ValueError`."""
    import yaml

    class Loader(yaml.SafeLoader):
        pass

    Loader.yaml_implicit_resolvers = {
        first: [(tag, pattern) for tag, pattern in rules if tag != "tag:yaml.org,2002:timestamp"]
        for first, rules in yaml.SafeLoader.yaml_implicit_resolvers.items()
    }
    try:
        return _text_keys(yaml.load(text, Loader))
    except yaml.YAMLError as error:
        raise ValueError(f"it is no YAML: {' '.join(str(error).split())[:200]}") from error


def _text_keys(document: Any) -> Any:
    """Response codes are numbers in YAML. Aliased parts are visited once, so small files stay small."""
    done: dict[int, Any] = {}

    def visit(item: Any) -> Any:
        if not isinstance(item, (dict, list)):
            return item
        if id(item) not in done:
            made: Any = type(item)()
            done[id(item)] = made
            if isinstance(item, dict):
                made.update(
                    (k if isinstance(k, str) else json.dumps(k, default=str), visit(v)) for k, v in item.items()
                )
            else:
                made.extend(visit(v) for v in item)
        return done[id(item)]

    return visit(document)
