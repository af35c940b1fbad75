import sqlite3
from pathlib import Path
from typing import get_args

import pytest
import yaml

from agent_world.schema import FileFormat
from agent_world.tools.state.yaml_events import read_yaml
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


NUMBERS = (1e-07, 1.5e300, -0.0, 2.0, None, 1e22, 0.1, -3.25, 1e16, 5e-324, 12345.678, 7.0)


@pytest.mark.parametrize("format", get_args(FileFormat))
def test_a_table_comes_back_from_its_file_as_it_was(tmp_path: Path, format: FileFormat) -> None:
    (tmp_path / f"orders.{format}").write_bytes(to_bytes(TABLE, format))
    found = read_rows(tmp_path, describe(TABLE, f"orders.{format}", format))
    assert found.rows == TABLE.rows
    assert [[type(v) for v in row] for row in found.rows] == [[type(v) for v in row] for row in TABLE.rows]


@pytest.mark.parametrize("format", get_args(FileFormat))
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


def test_a_yaml_file_says_the_same_to_every_reader_of_yaml() -> None:
    odd = (
        "x: y",
        "- a",
        "#no",
        " pad ",
        "'\"\\",
        "\u2028\x85\x7f\ufeff",
        "02138",
        "yes",
        "null",
        "2024-01-01",
        "😀",
        "a\tb\n",
    )
    rows = tuple((number, text, value) for number, (text, value) in enumerate(zip(odd, NUMBERS, strict=True)))
    table = DataTable("odd", ("n", "on", "size"), ("integer", "string", "number"), rows, key="n")
    body = to_bytes(table, "yaml")
    assert yaml.safe_load(body) == read_yaml(body) == table.records()
    assert body.startswith(b'- "n": 0\n  "on": "x: y"\n  size: 1.0e-07\n')
    assert read_yaml(to_bytes(table.keep(()), "yaml")) == []
