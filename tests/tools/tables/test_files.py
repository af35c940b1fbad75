import sqlite3
from pathlib import Path

import pytest

from agent_world.schema import FileFormat
from agent_world.tools.tables import DataTable, describe, read_rows, to_bytes

TABLE = DataTable(
    "orders",
    ("order", "zip", "price", "paid", "note"),
    ("integer", "string", "number", "boolean", "string"),
    (
        (1, "02138", 2.5, True, 'say "hi", please'),
        (2, "10001", 3.0, False, None),
        (3, "00501", None, None, "größer\nals"),
        (4, "1 ", 4.0, True, " a|b\\|c\\"),
    ),
    key="order",
)


@pytest.mark.parametrize("format", ["json", "csv", "sqlite", "markdown"])
def test_a_table_comes_back_from_its_file_as_it_was(tmp_path: Path, format: FileFormat) -> None:
    (tmp_path / f"orders.{format}").write_bytes(to_bytes(TABLE, format))
    found = read_rows(tmp_path, describe(TABLE, f"orders.{format}", format))
    assert found.rows == TABLE.rows
    assert [[type(v) for v in row] for row in found.rows] == [[type(v) for v in row] for row in TABLE.rows]


@pytest.mark.parametrize("format", ["json", "csv", "sqlite", "markdown"])
def test_the_bytes_are_the_same_every_time(format: FileFormat) -> None:
    assert to_bytes(TABLE, format) == to_bytes(TABLE, format)


def test_the_sqlite_file_is_a_sound_database_with_its_primary_key(tmp_path: Path) -> None:
    path = tmp_path / "orders.sqlite"
    path.write_bytes(to_bytes(TABLE, "sqlite"))
    connection = sqlite3.connect(path)
    assert connection.execute("PRAGMA integrity_check").fetchone() == ("ok",)
    with pytest.raises(sqlite3.IntegrityError):
        connection.execute("INSERT INTO orders (\"order\", zip) VALUES (1, 'x')")
    connection.close()
