"""The raw tables of an environment in one SQL database, and what a set of statements changes in them."""

import sqlite3
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from agent_world.schema import RowChange, StateDiff, Table
from agent_world.tools.sql import sql_name
from agent_world.tools.tables.files import read_rows


class Undetermined(Exception):
    """A phrase of the plan names nothing, or several things."""


def quoted(value: Any) -> str:
    """An SQL literal."""
    if value is None:
        return "NULL"
    if isinstance(value, bool):
        return str(int(value))
    if isinstance(value, int | float):
        return repr(value)
    return "'" + str(value).replace("'", "''") + "'"


@dataclass(frozen=True, slots=True)
class Tables:
    """All tables of a database in memory, each value as its column's type says; columns have no affinity, and the
    function `fold` sets case aside."""

    connection: sqlite3.Connection
    schema: Mapping[str, Table]

    def all(self, sql: str) -> list[tuple[Any, ...]]:
        return self.connection.execute(sql).fetchall()

    def one(self, sql: str) -> Any:
        """The first column of the first row; None when there is none."""
        found = self.connection.execute(sql).fetchone()
        return found[0] if found else None

    def rows(self, table: str) -> dict[str, dict[str, Any]]:
        """Rows by key, as text."""
        found = self.schema[table]
        columns = [column.name for column in found.columns]
        rows = [dict(zip(columns, row, strict=True)) for row in self.all(f"SELECT * FROM {sql_name(table)}")]
        return {str(row[found.primary_key]): row for row in rows}

    def after(
        self, statements: Sequence[str], reads: Mapping[str, tuple[str, str, str, Any]]
    ) -> tuple[StateDiff, dict[str, Any]]:
        """What the statements change, and cells read then (column, table, key column, key). All is undone again."""
        before = {table: self.rows(table) for table in self.schema} if statements else {}
        self.connection.execute("SAVEPOINT plan")
        try:
            for statement in statements:
                self.connection.execute(statement)
            diff = StateDiff(changes=tuple(c for t in sorted(before) for c in difference(t, before[t], self.rows(t))))
            cells = {
                key: self.one(
                    f"SELECT {sql_name(column)} FROM {sql_name(table)} WHERE {sql_name(by)} = {quoted(value)}"
                )
                for key, (column, table, by, value) in reads.items()
            }
        finally:
            self.connection.execute("ROLLBACK TO plan")
            self.connection.execute("RELEASE plan")
        return diff, cells


def difference(table: str, before: dict[str, dict[str, Any]], after: dict[str, dict[str, Any]]) -> list[RowChange]:
    """By key; of changed rows the cells that differ."""
    found = []
    for key in sorted(before.keys() | after.keys()):
        old, new = before.get(key), after.get(key)
        if old is None or new is None:
            found.append(RowChange(table=table, key=key, kind="added" if old is None else "removed",
                                   before=old, after=new))  # fmt: skip
        elif old != new:
            cells = [column for column in old if old[column] != new[column]]
            found.append(RowChange(table=table, key=key, kind="changed", before={c: old[c] for c in cells},
                                   after={c: new[c] for c in cells}))  # fmt: skip
    return found


def load(database: Path, schema: Mapping[str, Table]) -> Tables:
    """Raises what `read_rows` raises for a missing or damaged file."""
    connection = sqlite3.connect(":memory:", isolation_level=None, check_same_thread=False)
    connection.create_function("fold", 1, lambda text: str(text or "").casefold(), deterministic=True)
    for table in schema.values():
        columns = [column.name for column in table.columns]
        connection.execute(f"CREATE TABLE {sql_name(table.name)} ({', '.join(map(sql_name, columns))})")
        marks = ", ".join("?" * len(columns))
        connection.executemany(f"INSERT INTO {sql_name(table.name)} VALUES ({marks})", read_rows(database, table).rows)
    return Tables(connection, schema)
