"""Reading an SQLite file that somebody hostile may have written: plain tables only, no code of its schema run.

Bounded by rows, cells, bytes of values and SQLite's own instructions. Journals beside the file are taken into account,
in a folder of their own, unless they name other files: SQLite would open, and delete, what a hostile journal names.
"""

import hashlib
import math
import sqlite3
import tempfile
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from agent_world.tools.sql import sql_name
from agent_world.tools.state.model import MAX_CELLS, MAX_ROWS, Found, Row, Unreadable

SIDECARS = ("-journal", "-wal", "-shm")
_MAX_STEPS = 2000
"""Most progress reports (each 10,000 SQLite instructions) of one reading."""
_MAX_TABLES = 500
_MAX_VALUES = 128 * 1024 * 1024
"""Most bytes of texts and blobs together: a default value counts for every row that leaves it out."""
_SUPER_JOURNAL = b"\xd9\xd5\x05\xf9\x20\xa1\x63\xd7"
"""Ends a rollback journal that belongs to a transaction over several databases."""
_READ_ONLY = (sqlite3.SQLITE_SELECT, sqlite3.SQLITE_READ, sqlite3.SQLITE_PRAGMA)


def sqlite_tables(content: bytes, sidecars: Mapping[str, bytes]) -> tuple[list[Found], dict[str, Row]]:
    """All ordinary tables, and the SQL of the schema by kind and name. `sidecars` are journals by their suffix: an
    unfinished transaction is rolled back, as SQLite would. Raises `Unreadable`."""
    try:
        with _opened(content, sidecars) as connection:
            definitions = _definitions(connection)
            names = [key.removeprefix("table ") for key in definitions if key.startswith("table ")]
            if len(names) > _MAX_TABLES:
                raise Unreadable(f"not SQLite to be read: more than {_MAX_TABLES} tables")
            budget = _Budget()
            return [_table(connection, name, budget) for name in names], definitions
    except (sqlite3.Error, ValueError, OverflowError, MemoryError) as error:
        raise Unreadable(f"not SQLite: {error}") from error


class _Budget:
    def __init__(self) -> None:
        self.rows, self.cells, self.bytes = MAX_ROWS, MAX_CELLS, _MAX_VALUES

    def spend(self, row: tuple[Any, ...]) -> None:
        self.rows -= 1
        self.cells -= len(row)
        self.bytes -= sum(len(value) for value in row if isinstance(value, str | bytes))
        if self.rows < 0:
            raise Unreadable(f"not SQLite to be read: more than {MAX_ROWS} rows")
        if self.cells < 0 or self.bytes < 0:
            raise Unreadable(f"not SQLite to be read: more than {MAX_CELLS} cells or {_MAX_VALUES} bytes of values")


@contextmanager
def _opened(content: bytes, sidecars: Mapping[str, bytes]) -> Iterator[sqlite3.Connection]:
    journals = {end: part for end, part in sidecars.items() if part and end != "-shm"}
    if journals.get("-journal", b"").endswith(_SUPER_JOURNAL):
        raise Unreadable("not SQLite to be read: its journal names other files")
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "data.sqlite"
        if journals:
            path.write_bytes(content)
            for suffix, part in journals.items():
                path.with_name(path.name + suffix).write_bytes(part)
        connection = sqlite3.connect(path if journals else ":memory:")
        try:
            if not journals and content:
                # A file that was closed properly needs no write-ahead log; in memory there can be none.
                connection.deserialize(content[:18] + b"\1\1" + content[20:])
            _guard(connection)
            yield connection
        finally:
            connection.close()


def _guard(connection: sqlite3.Connection) -> None:
    steps = iter(range(_MAX_STEPS))
    connection.setlimit(sqlite3.SQLITE_LIMIT_LENGTH, _MAX_VALUES)
    connection.execute("PRAGMA trusted_schema = OFF")
    connection.execute("PRAGMA cell_size_check = ON")
    connection.set_progress_handler(lambda: next(steps, None) is None, 10_000)
    connection.set_authorizer(lambda action, *_: sqlite3.SQLITE_OK if action in _READ_ONLY else sqlite3.SQLITE_DENY)
    connection.text_factory = _decoded


def _decoded(data: bytes) -> str | dict[str, str]:
    try:
        return data.decode()
    except UnicodeDecodeError:
        return {"text that is not UTF-8": f"sha256 {hashlib.sha256(data).hexdigest()}"}


def _definitions(connection: sqlite3.Connection) -> dict[str, Row]:
    found: dict[str, Row] = {}
    version = connection.execute("PRAGMA user_version").fetchone()[0]
    if version:
        found["pragma user_version"] = {"value": version}
    for kind, name, sql in connection.execute("SELECT type, name, sql FROM sqlite_master ORDER BY type, name"):
        if not all(isinstance(part, str) for part in (kind, name)) or len(found) > 10 * _MAX_TABLES:
            raise Unreadable("not SQLite to be read: a schema of odd names, or too large")
        if kind == "table" and isinstance(sql, str) and sql.upper().startswith("CREATE VIRTUAL"):
            raise Unreadable(f"not SQLite to be read: {name} is a virtual table")
        if not name.startswith("sqlite_"):
            found[f"{kind} {name}"] = {"sql": sql}
    return found


def _table(connection: sqlite3.Connection, name: str, budget: _Budget) -> Found:
    columns = [(row[1], row[5]) for row in connection.execute(f"PRAGMA table_xinfo({sql_name(name)})") if row[6] == 0]
    if not all(isinstance(column, str) for column, _ in columns):
        raise Unreadable(f"not SQLite to be read: {name} has a column whose name is no text")
    key = [column for column, place in sorted(columns, key=lambda pair: pair[1]) if place]
    stored = ", ".join(f"{sql_name(name)}.{sql_name(column)}" for column, _ in columns)
    rows = []
    for row in connection.execute(f"SELECT {stored} FROM {sql_name(name)}") if columns else ():
        budget.spend(row)
        rows.append({column: _plain(value) for (column, _), value in zip(columns, row, strict=True)})
    return Found(name, rows, tuple(key))


def _plain(value: Any) -> Any:
    if isinstance(value, bytes):
        return {"blob": f"sha256 {hashlib.sha256(value).hexdigest()}", "bytes": len(value)}
    if isinstance(value, float) and not math.isfinite(value):
        return {"real": str(value)}
    return value
