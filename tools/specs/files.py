"""Tool definitions from files: JSON, JSON lines, YAML, each also gzipped."""

import gzip
import json
import zlib
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from agent_world.errors import UsageError
from agent_world.tools.specs.forms import Item, read_document, server_name
from agent_world.tools.specs.intake import collect, read_tools
from agent_world.tools.specs.model import Intake, Rejected
from agent_world.tools.strict_json import finite_float, refuse_constant


def read_file(path: Path) -> Intake:
    """All tools of a file. A damaged line of a `.jsonl` file is rejected by its number, the others are read.

    Raises `UsageError` where the file is missing or is not what its name says.
    """
    name = path.name.removesuffix(".gz")
    text = _text(path)
    if name.endswith((".jsonl", ".ndjson")):
        return collect(_lines(text, path.name), path.name)
    try:
        document = _yaml(text) if name.endswith((".yaml", ".yml")) else _json(text)
    except (ValueError, RecursionError) as error:
        said = str(error).splitlines()[0] if str(error) else type(error).__name__
        raise UsageError(f"{path} cannot be read ({said}); mend it.") from error
    return read_tools(document, path.name)


def _lines(text: str, where: str) -> Iterator[Item]:
    taken: set[str] = set()
    for number, line in enumerate(text.splitlines(), 1):
        if not line.strip():
            continue
        try:
            record = _json(line)
        except (ValueError, RecursionError) as error:
            reason = f"it is no JSON ({error})"
            yield Rejected(where=where, server="", tool="", field=f"line {number}", reason=reason)
            continue
        server = (server_name(record) if isinstance(record, dict) else "") or f"line {number}"
        server = f"{server} (line {number})" if server in taken else server
        taken.add(server)
        yield from read_document(record, where, server)


def _json(text: str) -> Any:
    return json.loads(text, parse_constant=refuse_constant, parse_float=finite_float)


def _yaml(text: str) -> Any:
    """YAML with JSON's values: dates stay text, keys are text."""
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


def _text(path: Path) -> str:
    try:
        data = path.read_bytes()
        return (gzip.decompress(data) if path.name.endswith(".gz") else data).decode("utf-8-sig")
    except FileNotFoundError as error:
        raise UsageError(f"There is no file {path}.") from error
    except (OSError, EOFError, zlib.error, UnicodeDecodeError) as error:
        raise UsageError(f"Cannot read {path}: {error}.") from error
