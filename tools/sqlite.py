"""Reading an SQLite file that somebody hostile may have written: plain tables only, no code of its schema run."""

import hashlib
import math
import sqlite3
import tempfile
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

_MAX_STEPS = 2000
"""Most progress reports (each 10,000 SQLite instructions) of one reading."""
_MAX_ROWS = 100_000
_READ_ONLY = (sqlite3.SQLITE_SELECT, sqlite3.SQLITE_READ, sqlite3.SQLITE_PRAGMA)


class UnreadableDatabase(Exception):
    pass


@dataclass(frozen=True, slots=True)
class SqliteTable:
    name: str
    rows: list[dict[str, Any]]
    key: str | None
    """Its primary key, where that is one column."""


def read_tables(content: bytes, sidecars: Mapping[str, bytes]) -> list[SqliteTable]:
    """All ordinary tables, by name. `sidecars` are journals by their suffix: an unfinished transaction is rolled
    back, as SQLite would. Raises `UnreadableDatabase`."""
    try:
        with _opened(content, sidecars) as connection:
            return [_table(connection, name) for name in _names(connection)]
    except (sqlite3.Error, ValueError, OverflowError) as error:
        raise UnreadableDatabase(str(error)) from error


@contextmanager
def _opened(content: bytes, sidecars: Mapping[str, bytes]) -> Iterator[sqlite3.Connection]:
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "data.sqlite"
        if sidecars:
            path.write_bytes(content)
            for suffix, part in sidecars.items():
                path.with_name(path.name + suffix).write_bytes(part)
        connection = sqlite3.connect(path if sidecars else ":memory:")
        try:
            if not sidecars and content:
                # A file that was closed properly needs no write-ahead log; in memory there can be none.
                connection.deserialize(content[:18] + b"\1\1" + content[20:])
            _guard(connection)
            yield connection
        finally:
            connection.close()


def _guard(connection: sqlite3.Connection) -> None:
    steps = iter(range(_MAX_STEPS))
    connection.execute("PRAGMA trusted_schema = OFF")
    connection.execute("PRAGMA cell_size_check = ON")
    connection.set_progress_handler(lambda: next(steps, None) is None, 10_000)
    connection.set_authorizer(lambda action, *_: sqlite3.SQLITE_OK if action in _READ_ONLY else sqlite3.SQLITE_DENY)
    connection.text_factory = lambda data: data.decode(errors="replace")


def _names(connection: sqlite3.Connection) -> list[str]:
    found = connection.execute("SELECT name, sql FROM sqlite_master WHERE type = 'table' ORDER BY name").fetchall()
    virtual = [name for name, sql in found if sql and sql.upper().startswith("CREATE VIRTUAL")]
    if virtual:
        raise UnreadableDatabase(f"{virtual[0]} is a virtual table")
    return [name for name, _ in found if not name.startswith("sqlite_")]


def _table(connection: sqlite3.Connection, name: str) -> SqliteTable:
    quoted = '"' + name.replace('"', '""') + '"'
    keys = [row[1] for row in connection.execute(f"PRAGMA table_info({quoted})") if row[5]]
    cursor = connection.execute(f"SELECT * FROM {quoted}")
    columns = [column[0] for column in cursor.description]
    rows = [{c: _plain(v) for c, v in zip(columns, row, strict=True)} for row in cursor.fetchmany(_MAX_ROWS + 1)]
    if len(rows) > _MAX_ROWS:
        raise UnreadableDatabase(f"{name} has more than {_MAX_ROWS} rows")
    return SqliteTable(name, rows, keys[0] if len(keys) == 1 else None)


def _plain(value: Any) -> Any:
    if isinstance(value, bytes):
        return f"blob sha256 {hashlib.sha256(value).hexdigest()}"
    if isinstance(value, float) and not math.isfinite(value):
        return str(value)
    return value
