"""The head of tools.py and of tool_tests.py: what the functions of an environment share.

Only the parts for the formats that the database has are put in. Both files are self-contained and use the standard
library alone.
"""

import inspect
import json
from collections.abc import Sequence
from pathlib import Path

from agent_world.agents.coder.data import Data, cells_of
from agent_world.agents.coder.file_parts import CONSTANTS, PARTS, STORED, TEXT_CELLS
from agent_world.agents.coder.templates import TESTS_HEAD, TOOLS_HEAD
from agent_world.schema import FileFormat, Table

IMPORTS = {
    "csv": ("csv", "io"),
    "json": ("json",),
    "jsonl": ("json",),
    "sqlite": ("sqlite3",),
    "markdown": ("re",),
    "yaml": ("json", "re"),
}
FORMATS: tuple[FileFormat, ...] = ("csv", "json", "jsonl", "sqlite", "markdown", "yaml")
KINDS = {"integer": "int", "number": "float", "string": "str", "boolean": "bool"}


def tools_head(name: str, data: Data, days: bool = False) -> str:
    """Everything of tools.py that comes before the tools. `days`: some of them take dates."""
    formats: list[FileFormat] = [f for f in FORMATS if any(t.format == f for t in data.tables)]
    head = TOOLS_HEAD.format(
        name=_plain(name),
        imports=_imports(formats, days),
        files=_mapping({t.name: _text(t.file) for t in data.tables}),
        keys=_mapping({t.name: _text(t.primary_key) for t in data.tables}),
        columns=_mapping({t.name: _columns(t) for t in data.tables}),
        formats=_mapping({t.name: _text(t.format) for t in data.tables}),
        readers=_by_format(formats, "rows"),
        inserters=_by_format(formats, "insert"),
        setters=_by_format(formats, "set"),
        removers=_by_format(formats, "remove"),
    )
    constants, rest = head.split("MOST = 10", 1)
    styles = _styles(data, formats)
    parts = [PARTS[f] for f in formats]
    if "markdown" in formats and "csv" not in formats:
        parts.append(TEXT_CELLS.removeprefix("\n"))
    if {"json", "jsonl", "yaml"} & {*formats}:
        parts.append(CONSTANTS)
    return constants + styles + "MOST = 10" + rest + "".join("\n" + part for part in parts)


def tests_head(data: Data) -> str:
    """Everything of tool_tests.py that comes before the tests."""
    formats = {t.format for t in data.tables}
    head = TESTS_HEAD.format(
        further="".join(part for form, part in STORED.items() if form in formats),
        files=_mapping({t.name: _text(t.file) for t in data.tables}),
        formats=_mapping({t.name: _text(t.format) for t in data.tables}),
        keys=_mapping({t.name: _text(t.primary_key) for t in data.tables}),
    )
    return f"{head}\n\n{inspect.getsource(cells_of)}" if "markdown" in formats else head


def _imports(formats: Sequence[FileFormat], days: bool) -> str:
    names = {
        *({"datetime"} if days else ()),
        "functools",
        "json",
        "math",
        *(name for f in formats for name in IMPORTS[f]),
    }
    lines = [f"import {name}" for name in sorted(names)]
    return "\n".join([*lines, f"from contextlib import {'closing, ' if 'sqlite' in formats else ''}contextmanager"])


def _columns(table: Table) -> str:
    return "{" + ", ".join(f'"{c.name}": {KINDS[c.type]}' for c in table.columns) + "}"


def _mapping(items: dict[str, str]) -> str:
    return "{\n" + "".join(f'    "{name}": {value},\n' for name, value in items.items()) + "}"


def _by_format(formats: Sequence[FileFormat], what: str) -> str:
    return "{" + ", ".join(f'"{form}": _{form}_{what}' for form in formats) + "}"


def _styles(data: Data, formats: Sequence[FileFormat]) -> str:
    """Constants that let a file be written in the way in which it was found."""
    text = ""
    if "json" in formats:
        found = {t.name: _json_style(data.folder / t.file) for t in data.tables if t.format == "json"}
        text += f"JSON_INDENT = {_mapping({name: repr(indent) for name, (indent, _) in found.items()})}\n"
        text += f"JSON_END = {_mapping({name: _text(end) for name, (_, end) in found.items()})}\n"
    if "csv" in formats:
        ends = {t.name: _text(_line_end(data.folder / t.file)) for t in data.tables if t.format == "csv"}
        text += f"CSV_LINE_END = {_mapping(ends)}\n"
    return text


def _json_style(path: Path) -> tuple[int | None, str]:
    text = path.read_text(encoding="utf-8-sig")
    end = "\n" if text.endswith("\n") else ""
    rows = json.loads(text)
    for indent in (None, 1, 2, 4):
        if json.dumps(rows, indent=indent, ensure_ascii=False) + end == text:
            return indent, end
    return 1, end


def _line_end(path: Path) -> str:
    return "\r\n" if b"\r\n" in path.read_bytes().split(b'"', 1)[0] else "\n"


def _plain(name: str) -> str:
    return " ".join(name.replace("\\", " ").replace('"""', " ").replace("{", "(").replace("}", ")").split())


def _text(value: str) -> str:
    return json.dumps(value, ensure_ascii=False)
