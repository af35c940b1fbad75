"""The state of a database: its rows by table and key, read by the trusted side from the files.

JSON lists, CSV and SQLite are read by row, with their types (`'02138'` stays text, 1 is not 1.0); a file that is
none of these, or is broken, is one row of the table `files` with its text or hash. Nothing a hostile file holds
raises: what cannot be read is itself a state, and so a difference.
"""

import csv
import hashlib
import io
import json
from collections.abc import Mapping
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

from agent_world.schema import DatabaseSchema, RowChange, StateDiff, Table
from agent_world.tools.files import Files
from agent_world.tools.sqlite import UnreadableDatabase, read_tables
from agent_world.tools.strict_json import finite_float, refuse_constant

FILES = "files"
"""Table of the files that have no rows."""
_MAX_TEXT = 100_000
_SIDECARS = ("-journal", "-wal", "-shm")

_MAX_REMEMBERED = 1_000_000

Row = dict[str, Any]
Journals = tuple[tuple[str, bytes], ...]
"""Journals beside an SQLite file, by suffix."""


@dataclass(frozen=True, slots=True)
class State:
    """Rows by table, then by key."""

    tables: Mapping[str, Mapping[str, Row]]

    def hash(self) -> str:
        """sha256 over all rows; the order of rows in a file does not count, that of files neither."""
        return hashlib.sha256(_text(self.tables).encode()).hexdigest()


class _Unreadable(Exception):
    pass


def read_state(files: Files, schema: DatabaseSchema) -> State:
    """Tables named in `schema` are keyed by their primary keys; others by content."""
    tables: dict[str, Mapping[str, Row]] = {}
    odd: dict[str, Row] = {path: {"problem": reason} for path, reason in files.refused.items()}
    for path, content in files.contents.items():
        if any(path.endswith(end) and path.removesuffix(end) in files.contents for end in _SIDECARS):
            continue
        known = tuple(table for table in schema.tables if table.file == path)
        journals = tuple((end, files.contents[path + end]) for end in _SIDECARS if path + end in files.contents)
        read = _parse_again if len(content) <= _MAX_REMEMBERED and not journals else _parse
        try:
            tables.update(read(path, content, journals, known))
        except _Unreadable as problem:
            odd[path] = _opaque(content, str(problem))
    if odd:
        tables[FILES] = odd
    return State(tables)


def diff(before: State, after: State) -> StateDiff:
    """What changed, ordered by table and key."""
    changes: list[RowChange] = []
    for table in sorted({*before.tables, *after.tables}):
        old, new = before.tables.get(table, {}), after.tables.get(table, {})
        if old is new:
            continue
        for key in sorted({*old, *new}):
            change = _change(table, key, old.get(key), new.get(key))
            if change:
                changes.append(change)
    return StateDiff(changes=tuple(changes))


def _change(table: str, key: str, old: Row | None, new: Row | None) -> RowChange | None:
    if old is None:
        return RowChange(table=table, key=key, kind="added", after=new)
    if new is None:
        return RowChange(table=table, key=key, kind="removed", before=old)
    gone = {c: v for c, v in old.items() if c not in new or _text(new[c]) != _text(v)}
    come = {c: v for c, v in new.items() if c not in old or _text(old[c]) != _text(v)}
    return RowChange(table=table, key=key, kind="changed", before=gone, after=come) if gone or come else None


# --- Reading one file --------------------------------------------------------------------------------


def _parse(path: str, content: bytes, journals: Journals, known: tuple[Table, ...]) -> Mapping[str, Mapping[str, Row]]:
    """Tables of a file. Raises `_Unreadable`."""
    kind = known[0].format if known else path.rpartition(".")[2].lower()
    if kind in ("sqlite", "sqlite3", "db"):
        return _sqlite(path, content, journals, known)
    if kind not in ("json", "csv"):
        raise _Unreadable("")
    rows = _json(content) if kind == "json" else _csv(content)
    return {known[0].name: _by_key(rows, known[0].primary_key)} if known else {path: _by_key(rows, None)}


_parse_again = lru_cache(maxsize=64)(_parse)
"""Most files of most instances are as they were: they are parsed once, and never changed by who reads them."""


def _json(content: bytes) -> list[Row]:
    try:
        found = json.loads(content.decode("utf-8-sig"), parse_constant=refuse_constant, parse_float=finite_float)
    except (ValueError, RecursionError) as error:
        raise _Unreadable(f"not JSON: {error}") from error
    if not isinstance(found, list):
        raise _Unreadable("not a list")
    return [row if isinstance(row, dict) else {"value": row} for row in found]


def _csv(content: bytes) -> list[Row]:
    try:
        lines = list(csv.reader(io.StringIO(content.decode("utf-8-sig"), newline=""), strict=True))
    except (ValueError, csv.Error) as error:
        raise _Unreadable(f"not CSV: {error}") from error
    header = lines[0] if lines else []
    if len(set(header)) < len(header):
        raise _Unreadable("not CSV: a column name occurs twice")
    if any(len(line) != len(header) for line in lines):
        raise _Unreadable("not CSV: lines of different length")
    return [dict(zip(header, line, strict=True)) for line in lines[1:]]


def _sqlite(path: str, content: bytes, journals: Journals, known: tuple[Table, ...]) -> Mapping[str, Mapping[str, Row]]:
    try:
        found = read_tables(content, dict(journals))
    except UnreadableDatabase as error:
        raise _Unreadable(f"not SQLite: {error}") from error
    keys = {table.name: table.primary_key for table in known}
    return {
        table.name if table.name in keys else f"{path}:{table.name}": _by_key(
            table.rows, keys.get(table.name, table.key)
        )
        for table in found
    }


def _opaque(content: bytes, problem: str) -> Row:
    row: Row = {"problem": problem[:200]} if problem else {}
    try:
        text = content.decode() if len(content) <= _MAX_TEXT else None
    except UnicodeDecodeError:
        text = None
    if text is not None:
        return {**row, "text": text}
    return {**row, "sha256": hashlib.sha256(content).hexdigest(), "bytes": len(content)}


# --- Keys and text -----------------------------------------------------------------------------------


def _by_key(rows: list[Row], key: str | None) -> dict[str, Row]:
    """No row is lost: one whose key was seen, or that has none, gets a key of its own."""
    found: dict[str, Row] = {}
    seen: dict[str, int] = {}
    for row in rows:
        name = _key(row[key]) if key is not None and row.get(key) is not None else _content_key(row)
        seen[name] = seen.get(name, 0) + 1
        found[name if seen[name] == 1 else f"{name} ({seen[name]})"] = row
    return found


def _key(value: Any) -> str:
    return value if isinstance(value, str) else _text(value)


def _content_key(row: Row) -> str:
    return "row " + hashlib.sha256(_text(row).encode()).hexdigest()[:16]


def _text(value: Any) -> str:
    return json.dumps(value, sort_keys=True, ensure_ascii=True)
