"""From files to a state. What was parsed is kept by the digest of its bytes, so that a file is parsed once.

Neither times nor inode numbers of files are trusted for that: a hostile process can set the former, and writes through
a mapping of a file in memory leave them as they were.
"""

from collections import OrderedDict
from collections.abc import Callable, Hashable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from threading import Lock

from agent_world.schema import DatabaseSchema, Table
from agent_world.tools.files import LEAST_WEIGHT, SQLITE, Files
from agent_world.tools.state.delimited import MARKS, csv_tables
from agent_world.tools.state.markdown import markdown_tables
from agent_world.tools.state.model import (
    FILES,
    MAX_BYTES,
    MAX_COLUMNS,
    MAX_ROWS,
    FileRows,
    Found,
    Row,
    Rows,
    State,
    Unreadable,
    keyed,
    opaque,
    unused,
)
from agent_world.tools.state.sqlite import SIDECARS, sqlite_tables
from agent_world.tools.state.values import json_lines_tables, json_tables, value_tables
from agent_world.tools.state.volatile import hidden_columns, is_hidden_file
from agent_world.tools.state.yaml_events import read_yaml

_KINDS = {
    "json": "json", "jsonl": "jsonl", "ndjson": "jsonl", "yaml": "yaml", "yml": "yaml", "csv": "csv", "tsv": "tsv",
    "sqlite": "sqlite", "sqlite3": "sqlite", "db": "sqlite", "md": "markdown", "markdown": "markdown",
}  # fmt: skip


@dataclass(frozen=True, slots=True)
class Parsed:
    """What one file adds to a state."""

    tables: Mapping[str, Rows] = field(default_factory=dict)
    definitions: Rows = field(default_factory=Rows)
    row: Row | None = None
    """Its row of `files`, if it has one."""


@dataclass(frozen=True, slots=True)
class _Job:
    """All that a file's part in a state follows from, but for the bytes."""

    path: str
    kind: str
    known: tuple[tuple[str, str], ...]
    """Name and primary key of the tables that the schema has in it."""
    volatile: tuple[str, ...]


def read_state(files: Files, schema: DatabaseSchema) -> State:
    """Tables named in `schema` have their own names and primary keys; the name of others begins with their file's."""
    tables: dict[str, Mapping[str, Row]] = {}
    definitions: dict[str, Mapping[str, Row]] = {}
    odd = FileRows(_without_content(files, schema.volatile))
    kinds = {path: _kind(path, content, _known(path, schema)) for path, content in files.contents.items()}
    for path, kind in kinds.items():
        if _is_sidecar(path, kinds) or is_hidden_file(path, schema.volatile):
            continue
        parsed = _read(path, kind, files, schema)
        for name, rows in parsed.tables.items():
            if name not in schema.volatile:
                tables[unused(name, tables)] = rows
        if parsed.definitions:
            definitions[unused(f"{path}:schema", tables, definitions)] = parsed.definitions
        if parsed.row is not None:
            odd[unused(path, odd)] = parsed.row
    if odd:
        tables[unused(FILES, tables, [table.name for table in schema.tables])] = odd
    return State(tables, definitions)


def _without_content(files: Files, volatile: Sequence[str]) -> Iterator[tuple[str, Row]]:
    for path, reason in files.refused.items():
        if not is_hidden_file(path, volatile):
            yield path, {"problem": reason}
    for path in files.folders:
        if not is_hidden_file(path, volatile):
            yield f"{path}/", {"folder": "empty"}


def _is_sidecar(path: str, kinds: Mapping[str, str]) -> bool:
    """Journals count by what SQLite makes of them; beside any other file they are files like all."""
    end = next((end for end in SIDECARS if path.endswith(end)), None)
    if end is None or kinds.get(path.removesuffix(end)) != "sqlite":
        return False
    return end != "-shm" or path.removesuffix(end) + "-wal" in kinds


def _known(path: str, schema: DatabaseSchema) -> tuple[Table, ...]:
    return tuple(table for table in schema.tables if table.file == path)


def _read(path: str, kind: str, files: Files, schema: DatabaseSchema) -> Parsed:
    content, known = files.contents[path], _known(path, schema)
    job = _Job(path, kind, tuple((table.name, table.primary_key) for table in known), schema.volatile)
    journals = {end: files.contents[path + end] for end in SIDECARS if path + end in files.contents}
    if kind != "sqlite":
        journals = {}
    digests = tuple((end, files.digest(path + end)) for end in journals)
    return _remembered.get((job, files.digest(path), digests), len(content), lambda: _parse(job, content, journals))


def _kind(path: str, content: bytes, known: Sequence[Table]) -> str:
    if known:
        return known[0].format
    named = _KINDS.get(path.rpartition(".")[2].lower(), "other") if "." in path else "other"
    return "sqlite" if content.startswith(SQLITE) else named


class _Remembered:
    """Parsed files, the latest used, up to a number of bytes of their contents."""

    def __init__(self, room: int) -> None:
        self._most = self._room = room
        self._found: OrderedDict[Hashable, tuple[int, Parsed]] = OrderedDict()
        self._lock = Lock()

    def get(self, key: Hashable, size: int, make: Callable[[], Parsed]) -> Parsed:
        with self._lock:
            if key in self._found:
                self._found.move_to_end(key)
                return self._found[key][1]
        parsed = make()
        with self._lock:
            weight = max(size, LEAST_WEIGHT)
            if size <= self._most and key not in self._found:
                self._found[key] = weight, parsed
                self._room -= weight
            while self._room < 0:
                self._room += self._found.popitem(last=False)[1][0]
        return parsed


_remembered = _Remembered(16_000_000)


# --- One file ----------------------------------------------------------------------------------------


def _parse(job: _Job, content: bytes, journals: Mapping[str, bytes]) -> Parsed:
    try:
        if job.kind != "sqlite" and len(content) > MAX_BYTES:
            raise Unreadable(f"not to be read by rows: more than {MAX_BYTES} bytes")
        return _FORMATS[job.kind](job, content, journals)
    except Unreadable as problem:
        return Parsed(row=opaque(content, str(problem)))


def _json(job: _Job, content: bytes, journals: Mapping[str, bytes]) -> Parsed:
    return Parsed(_named(job, json_tables(content)))


def _json_lines(job: _Job, content: bytes, journals: Mapping[str, bytes]) -> Parsed:
    return Parsed(_named(job, json_lines_tables(content)))


def _yaml(job: _Job, content: bytes, journals: Mapping[str, bytes]) -> Parsed:
    return Parsed(_named(job, value_tables(read_yaml(content))))


def _csv(job: _Job, content: bytes, journals: Mapping[str, bytes]) -> Parsed:
    marks = ("\t",) if job.kind == "tsv" else MARKS
    found, columns = csv_tables(content, key_columns(job.known[0][1]) if job.known else (), marks)
    tables = _named(job, found)
    name = next(iter(tables))
    shown = [column for column in columns["columns"] if column not in hidden_columns(name, job.volatile)]
    return Parsed(tables, Rows({} if name in job.volatile else {"columns": {"columns": shown}}))


def _sqlite(job: _Job, content: bytes, journals: Mapping[str, bytes]) -> Parsed:
    found, definitions = sqlite_tables(content, journals)
    return Parsed(_named(job, found), Rows(definitions))


def _markdown(job: _Job, content: bytes, journals: Mapping[str, bytes]) -> Parsed:
    found, columns, rest = markdown_tables(content)
    return Parsed(_named(job, found), Rows(columns), {"text": rest})


def _other(job: _Job, content: bytes, journals: Mapping[str, bytes]) -> Parsed:
    return Parsed(row=opaque(content))


_FORMATS: Mapping[str, Callable[[_Job, bytes, Mapping[str, bytes]], Parsed]] = {
    "json": _json, "jsonl": _json_lines, "yaml": _yaml, "csv": _csv, "tsv": _csv, "sqlite": _sqlite,
    "markdown": _markdown, "other": _other,
}  # fmt: skip


def _named(job: _Job, found: Sequence[Found]) -> dict[str, Rows]:
    """The tables by their names in the state. Raises `Unreadable` when a file of JSON or CSV is not the table that
    the schema says it is."""
    if sum(len(table.rows) for table in found) > MAX_ROWS:
        raise Unreadable(f"not to be read by rows: more than {MAX_ROWS} rows")
    if any(len(row) > MAX_COLUMNS for table in found for row in table.rows):
        raise Unreadable(f"not to be read by rows: more than {MAX_COLUMNS} columns")
    keys = dict(job.known)
    lone = job.known[0][0] if job.known and not any(table.name in keys for table in found) else None
    named: dict[str, Rows] = {}
    for table in found:
        name = _name(job.path, table, keys, lone)
        columns = key_columns(keys[name]) if name in keys else table.key
        hidden = hidden_columns(name, job.volatile)
        own = None if name in keys and all(c in row for row in table.rows for c in columns) else table.names
        named[name] = keyed(table.rows, columns, own, hidden)
    missing = [name for name in keys if name not in named]
    if missing and job.kind != "sqlite":
        raise Unreadable(f"not the table {missing[0]}: no list of rows")
    return named


def _name(path: str, table: Found, keys: Mapping[str, str], lone: str | None) -> str:
    if table.name is None:
        return lone if lone is not None and table.names != ["value"] else path
    return table.name if table.name in keys else f"{path}:{table.name}"


def key_columns(key: str) -> tuple[str, ...]:
    """Of a schema's primary key: one column, or several with commas between."""
    return tuple(part.strip() for part in key.split(",")) if "," in key else (key,)
