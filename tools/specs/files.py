"""Tool definitions from files: JSON, JSON lines, YAML, each also gzipped."""

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from agent_world.errors import UsageError
from agent_world.tools.documents import parse_yaml, read_text
from agent_world.tools.specs.forms import Item, read_document, server_name
from agent_world.tools.specs.intake import collect, read_tools
from agent_world.tools.specs.model import Intake, Rejected
from agent_world.tools.strict_json import finite_float, refuse_constant


def read_file(path: Path) -> Intake:
    """All tools of a file. A damaged line of a `.jsonl` file is rejected by its number, the others are read.

    Raises `UsageError` where the file is missing or is not what its name says.
    """
    name = path.name.removesuffix(".gz")
    text = read_text(path)
    if name.endswith((".jsonl", ".ndjson")):
        return collect(_lines(text, path.name), path.name)
    try:
        document = parse_yaml(text) if name.endswith((".yaml", ".yml")) else _json(text)
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
