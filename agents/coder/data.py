"""The database as the coder's own side reads it: the independent oracle from which unit tests get their expectations.

Files are read by their format and loaded into an SQLite database in memory; questions are put to it in SQL. Nothing
here shares code with the tools that are written.
"""

import csv
import json
import sqlite3
from collections.abc import Sequence
from contextlib import closing
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

from agent_world.errors import StoreError
from agent_world.memory.store import Bundle
from agent_world.schema import Column, Note, Table
from agent_world.tools.sql import sql_name
from agent_world.tools.state.yaml_events import read_yaml

Row = dict[str, Any]


@dataclass(frozen=True)
class Data:
    """All tables of one bundle. `stored` are the rows as they lie in the files: CSV cells as text, SQLite as is."""

    folder: Path
    tables: tuple[Table, ...]
    stored: dict[str, list[Row]]
    notes: tuple[Note, ...] = ()

    @cached_property
    def rows(self) -> dict[str, list[Row]]:
        """Typed rows in stored order."""
        return {t.name: [_row(t, row) for row in self.stored[t.name]] for t in self.tables}

    @cached_property
    def _sql(self) -> sqlite3.Connection:
        connection = sqlite3.connect(":memory:", check_same_thread=False)
        connection.row_factory = sqlite3.Row
        connection.create_function("fold", 1, lambda text: None if text is None else str(text).casefold())
        for table in self.tables:
            names = ", ".join(sql_name(column.name) for column in table.columns)
            connection.execute(f"CREATE TABLE {sql_name(table.name)} ({names})")
            marks = ", ".join("?" * len(table.columns))
            values = [tuple(row.values()) for row in self.rows[table.name]]
            connection.executemany(f"INSERT INTO {sql_name(table.name)} VALUES ({marks})", values)
        return connection

    def table(self, name: str) -> Table:
        return next(table for table in self.tables if table.name == name)

    def ask(self, sql: str, *values: Any) -> Any:
        """The single value that a query gives."""
        return self._sql.execute(sql, values).fetchone()[0]

    def select(self, table: Table, rest: str = "", *values: Any) -> list[Row]:
        """Whole rows in stored order, or as `rest` (WHERE, ORDER BY) says."""
        order = "" if "ORDER BY" in rest else " ORDER BY rowid"
        found = self._sql.execute(f"SELECT * FROM {sql_name(table.name)} {rest}{order}", values)
        return [{c.name: _boolean(row[c.name], c) for c in table.columns} for row in found]

    def values(self, table: Table, column: str) -> list[Any]:
        return [row[column] for row in self.rows[table.name]]

    def children(self, table: Table) -> list[tuple[Table, str, str]]:
        """`(child, its column, our column)` of every foreign key that leads here."""
        return [(t, k.column, k.target) for t in self.tables for k in t.foreign_keys if k.table == table.name]


def read_data(bundle: Bundle) -> Data:
    """Raises `StoreError` that names a missing or damaged file."""
    database = bundle.environment().database
    tables = database.tables
    stored = {}
    for table in tables:
        path = bundle.database / table.file
        try:
            stored[table.name] = _read(path, table)
        except (OSError, ValueError, sqlite3.Error) as error:
            raise StoreError(f"{path} cannot be read as {table.name} ({error}); mine the environment again.") from error
    return Data(bundle.database, tables, stored, database.notes)


def _read(path: Path, table: Table) -> list[Row]:
    if table.format == "json":
        return list(json.loads(path.read_text(encoding="utf-8-sig")))
    if table.format == "csv":
        with path.open(encoding="utf-8-sig", newline="") as file:
            return list(csv.DictReader(file))
    if table.format == "jsonl":
        return [json.loads(line) for line in path.read_text(encoding="utf-8-sig").split("\n") if line.strip()]
    if table.format == "yaml":
        return list(read_yaml(path.read_bytes()))
    if table.format == "markdown":
        header, _, *rows = [cells_of(line) for line in path.read_text(encoding="utf-8").split("\n") if line[:1] == "|"]
        return [dict(zip(header, row, strict=True)) for row in rows]
    with closing(sqlite3.connect(f"file:{path}?mode=ro", uri=True)) as connection:
        connection.row_factory = sqlite3.Row
        return [dict(row) for row in connection.execute(f"SELECT * FROM {sql_name(table.name)} ORDER BY rowid")]


def cells_of(line: str) -> list[str]:
    """Of a line of a Markdown table, sign by sign; one space pads each end of a cell."""
    cells, cell, escaped = [], "", False
    for sign in line[1:]:
        if escaped:
            cell, escaped = cell + {"n": "\n", "r": "\r", "s": " "}.get(sign, sign), False
        elif sign == "\\":
            escaped = True
        elif sign == "|":
            cells.append(cell[1:-1])
            cell = ""
        else:
            cell += sign
    return cells


def _row(table: Table, stored: Row) -> Row:
    text = table.format in ("csv", "markdown")
    return {c.name: _value(stored.get(c.name), c, text) for c in table.columns}


def _value(cell: Any, column: Column, text: bool) -> Any:
    if cell is None or (text and cell == ""):
        return None
    if column.type == "boolean":
        return cell.lower() in ("true", "1", "yes") if text else bool(cell)
    if not text:
        return cell
    return {"integer": int, "number": float, "string": str}[column.type](cell)


def _boolean(value: Any, column: Column) -> Any:
    return bool(value) if column.type == "boolean" and value is not None else value


def cell(table: Table, column: str, value: Any) -> Any:
    """A typed value as it lies in the table's file."""
    kind = table.column(column).type
    if table.format in ("json", "jsonl", "yaml"):
        return value
    if table.format == "sqlite":
        return int(value) if isinstance(value, bool) else value
    if value is None:
        return ""
    return ("true" if value else "false") if kind == "boolean" else str(value)


def decimals(values: Sequence[Any]) -> int:
    """Most digits after the point among the numbers, at most 8."""
    texts = [format(value, ".10f").rstrip("0").partition(".")[2] for value in values if isinstance(value, float)]
    return min(8, max((len(text) for text in texts), default=0))
