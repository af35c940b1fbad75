"""How files of each kind become rows: what a change in one of them looks like."""

import json
import sqlite3
from pathlib import Path
from typing import Any

import pytest

from agent_world.schema import Column, DatabaseSchema, RowChange, Table
from agent_world.tools.files import Files
from agent_world.tools.state import State, diff, read_state
from tests.sqlite_files import sqlite_bytes

UNKNOWN = DatabaseSchema()


def read(schema: DatabaseSchema = UNKNOWN, **files: str | bytes) -> State:
    contents = {n.replace("__", "."): c.encode() if isinstance(c, str) else c for n, c in files.items()}
    return read_state(Files(contents), schema)


def changes(name: str, before: str, after: str) -> list[tuple[str, str, str, Any, Any]]:
    found = diff(*(read_state(Files({name: text.encode()}), UNKNOWN) for text in (before, after))).changes
    return [(c.table, c.key, c.kind, c.before, c.after) for c in found]


def listed(name: str, file: str, key: str = "id") -> Table:
    form = "json" if file.endswith("json") else "csv" if file.endswith("csv") else "sqlite"
    columns = tuple(Column(name=part, type="integer") for part in key.split(","))
    return Table.model_validate(
        {"name": name, "file": file, "format": form, "rows": 1, "columns": columns, "primary_key": key}
    )


# --- JSON, JSON Lines, YAML --------------------------------------------------------------------------


def test_an_object_of_lists_is_a_table_a_key() -> None:
    state = read(a__json='{"users": [{"id": 1}], "orders": [], "version": 3}')
    assert {name: list(rows.values()) for name, rows in state.tables.items()} == {
        "a.json:users": [{"id": 1}],
        "a.json:orders": [],
        "a.json": [{"version": 3}],
    }


def test_an_object_of_records_is_rows_by_its_own_keys() -> None:
    before, after = '{"u1": {"name": "Ada"}, "u2": {"name": "Ben"}}', '{"u1": {"name": "Ada"}, "u2": {"name": "Bea"}}'
    assert changes("users.json", before, after) == [
        ("users.json", "u2", "changed", {"name": "Ben"}, {"name": "Bea"}),
    ]


def test_an_object_of_objects_of_records_is_a_table_a_key() -> None:
    state = read(db__json='{"users": {"u1": {"name": "Ada"}}, "orders": {}}')
    assert {name: dict(rows) for name, rows in state.tables.items()} == {
        "db.json:users": {"u1": {"name": "Ada"}},
        "db.json:orders": {},
    }


def test_settings_are_compared_by_field() -> None:
    before, after = '{"theme": {"dark": true, "size": 2}, "n": 1}', '{"theme": {"dark": true, "size": 3}, "n": 1}'
    assert changes("s.json", before, after) == [("s.json:theme", "theme", "changed", {"size": 2}, {"size": 3})]


def test_the_order_of_plain_items_counts_that_of_rows_does_not() -> None:
    assert changes("a.json", '["x", "y"]', '["y", "x"]')
    assert not changes("a.json", '[{"x": 1}, {"y": 1}]', '[{"y": 1}, {"x": 1}]')
    assert changes("a.json", '[{"x": ["p", "q"]}]', '[{"x": ["q", "p"]}]')


@pytest.mark.parametrize("text", ["3", '"x"', "null", "true"])
def test_any_other_json_is_one_typed_row(text: str) -> None:
    (row,) = read(a__json=text).tables["a.json"].values()
    assert list(row) == ["value"]


def test_tables_of_one_json_file_are_named_as_the_schema_says() -> None:
    schema = DatabaseSchema(tables=(listed("users", "db.json"), listed("orders", "db.json")))
    state = read(schema, db__json='{"users": [{"id": 7}], "orders": {"o": {"id": 9}}, "log": []}')
    assert {name: list(rows) for name, rows in state.tables.items()} == {
        "users": ["7"],
        "orders": ["9"],
        "db.json:log": [],
    }


def test_a_listed_file_that_is_no_list_of_rows_any_more_is_a_stated_problem() -> None:
    schema = DatabaseSchema(tables=(listed("users", "users.json"),))
    problem = read(schema, users__json='{"oops": 1}').tables["files"]["users.json"]["problem"]
    assert problem == "not the table users: no list of rows"


def test_json_lines_are_rows_and_a_bad_line_is_named() -> None:
    found = changes("log.jsonl", '{"a": 1}\n', '{"a": 1}\n\n{"a": 1.0}\n')
    assert [(kind, after) for _, _, kind, _, after in found] == [("added", {"a": 1.0})]
    broken = read(log__jsonl='{"a": 1}\n{"a": nope}\n').tables["files"]["log.jsonl"]["problem"]
    assert broken.startswith("not JSON Lines: line 2: ")


def test_yaml_keeps_codes_dates_and_yes_as_text() -> None:
    text = "zip: 02138\nquoted: '12'\nday: 2024-02-30\nanswer: yes\nhex: 0x1F\nn: 12\nx: 1.5\nok: true\nnone: ~\n"
    (row,) = read(a__yaml=text).tables["a.yaml"].values()
    assert row == {
        "zip": "02138", "quoted": "12", "day": "2024-02-30", "answer": "yes", "hex": "0x1F",
        "n": 12, "x": 1.5, "ok": True, "none": None,
    }  # fmt: skip


def test_yaml_tables_are_compared_like_json() -> None:
    before, after = "books:\n- id: 1\n  copies: 2\n", "books:\n- id: 1\n  copies: '2'\n"
    found = changes("a.yml", before, after)
    assert sorted((table, kind) for table, _, kind, *_ in found) == [
        ("a.yml:books", "added"),
        ("a.yml:books", "removed"),
    ]
    assert len(changes("a.yaml", "---\na: 1\n---\na: 2\n", "---\na: 1\n---\na: 3\n")) == 2


@pytest.mark.parametrize(
    "values", [("1", "1.0", "true", '"1"', "[1]", "null"), ('""', "null", "[]", "{}", "0", "false"), ("0.0", "-0.0")]
)
def test_values_of_different_types_differ_in_hash_and_diff(values: tuple[str, ...]) -> None:
    states = [read(a__json=f'{{"k": {{"x": {value}, "y": 0}}}}') for value in values]
    for place, one in enumerate(states):
        for other in states[:place]:
            assert one.hash() != other.hash()
            assert len(diff(one, other).changes) == 1


# --- CSV ---------------------------------------------------------------------------------------------


@pytest.mark.parametrize("mark", [",", ";", "\t", "|"])
def test_a_csv_file_may_use_other_marks(mark: str) -> None:
    text = f"id{mark}name\r\n1{mark}O'Brien\r\n\r\n"
    assert list(read(a__csv=text).tables["a.csv"].values()) == [{"id": "1", "name": "O'Brien"}]


def test_tsv_is_read_by_tabs_alone() -> None:
    assert list(read(a__tsv="id\ta,b,c\n1\tx,y\n").tables["a.tsv"].values()) == [{"id": "1", "a,b,c": "x,y"}]


def test_quotes_line_ends_and_the_order_of_rows_and_columns_are_no_state() -> None:
    one, other = read(a__csv="a,b\n1,2\n3,4\n"), read(a__csv='\ufeff"b","a"\r\n4,3\r\n"2",1')
    assert one.hash() == other.hash()
    assert diff(one, other).changes == ()


def test_a_renamed_column_shows_even_without_rows() -> None:
    assert changes("a.csv", "a,b\n", "a,c\n") == [
        ("a.csv:schema", "columns", "changed", {"columns": ["a", "b"]}, {"columns": ["a", "c"]})
    ]


def test_a_table_that_goes_without_having_had_rows_shows() -> None:
    gone = diff(read(a__json="[]", b__json="[]"), read(b__json="[]")).changes
    assert gone == (RowChange(table="a.json", key="", kind="removed", before={}),)


# --- SQLite ------------------------------------------------------------------------------------------


def test_composite_keys_and_tables_without_rowid(tmp_path: Path) -> None:
    content = sqlite_bytes(
        tmp_path / "a.db",
        "CREATE TABLE seats (b TEXT, a INT, n INT, PRIMARY KEY (a, b)) WITHOUT ROWID",
        "INSERT INTO seats VALUES ('x', 1, 5), ('y', 1, 6)",
        "CREATE TABLE loose (x)",
        "INSERT INTO loose VALUES (1), (1), ('1'), (1.5), (NULL)",
    )
    state = read(a__db=content)
    assert list(state.tables["a.db:seats"]) == ['[1, "x"]', '[1, "y"]']
    assert len(state.tables["a.db:loose"]) == 5


def test_a_schema_may_name_a_composite_key() -> None:
    schema = DatabaseSchema(tables=(listed("seats", "seats.json", "a, b"),))
    before, after = (f'[{{"a": 1, "b": 2, "n": {n}}}, {{"a": 1, "b": 3, "n": 0}}]' for n in (5, 6))
    (change,) = diff(read(schema, seats__json=before), read(schema, seats__json=after)).changes
    assert (change.table, change.key, change.after) == ("seats", "[1, 2]", {"n": 6})


@pytest.mark.parametrize(
    ("statement", "keys"),
    [
        ("DROP TABLE empty", {("a.sqlite:empty", "", "removed"), ("a.sqlite:schema", "table empty", "removed")}),
        ("ALTER TABLE t DROP COLUMN y", {("a.sqlite:schema", "table t", "changed"), ("a.sqlite:t", "1", "changed")}),
        ("ALTER TABLE empty RENAME COLUMN x TO z", {("a.sqlite:schema", "table empty", "changed")}),
        ("DROP INDEX i", {("a.sqlite:schema", "index i", "removed")}),
        ("CREATE VIEW v AS SELECT 1", {("a.sqlite:schema", "view v", "added")}),
        (
            "CREATE TRIGGER tr AFTER INSERT ON t BEGIN DELETE FROM t; END",
            {("a.sqlite:schema", "trigger tr", "added")},
        ),
        ("PRAGMA user_version = 3", {("a.sqlite:schema", "pragma user_version", "added")}),
        ("UPDATE t SET y = '2'", {("a.sqlite:t", "1", "changed")}),
        ("UPDATE t SET y = x'32'", {("a.sqlite:t", "1", "changed")}),
        ("VACUUM", set()),
        ("REINDEX", set()),
    ],
)
def test_a_change_of_an_sqlite_schema_or_type_shows(
    tmp_path: Path, statement: str, keys: set[tuple[str, str, str]]
) -> None:
    path = tmp_path / "a.sqlite"
    first = "CREATE TABLE t (x INTEGER PRIMARY KEY, y)", "CREATE TABLE empty (x)", "CREATE INDEX i ON t (x)"
    before = sqlite_bytes(path, *first, "INSERT INTO t VALUES (1, 2)")
    connection = sqlite3.connect(path, isolation_level=None)
    connection.execute(statement)
    connection.close()
    found = diff(read(a__sqlite=before), read(a__sqlite=path.read_bytes())).changes
    assert {(c.table, c.key, c.kind) for c in found} == keys


def test_sqlite_is_known_by_its_first_bytes(tmp_path: Path) -> None:
    content = sqlite_bytes(tmp_path / "x", "CREATE TABLE t (x)", "INSERT INTO t VALUES (1)")
    assert list(read(store=content).tables) == ["store:t"]


def test_texts_that_are_not_utf8_stay_apart(tmp_path: Path) -> None:
    states = [
        read(
            a__db=sqlite_bytes(tmp_path / f"{n}", "CREATE TABLE t (x)", f"INSERT INTO t VALUES (CAST(x'{n}' AS TEXT))")
        )
        for n in ("ff", "fe")
    ]
    assert states[0].hash() != states[1].hash()


# --- Text and Markdown -------------------------------------------------------------------------------


def test_an_inserted_line_is_one_added_row() -> None:
    text = "".join(f"line {n % 7}\n" for n in range(100))
    assert changes("a.txt", text, text[:70] + "new\n" + text[70:]) == [
        ("a.txt", "line 11", "added", None, {"text": "new"})
    ]


def test_lines_that_change_go_and_come_are_told_apart() -> None:
    assert changes("a.txt", "a\nb\n\nc\nd\n", "a\nB\n\nc\nnew\nd") == [
        ("a.txt", "line 2", "changed", {"text": "b"}, {"text": "B"}),
        ("a.txt", "line 5", "changed", {"text": "d"}, {"text": "new"}),
        ("a.txt", "line 6", "added", None, {"text": "d", "end": False}),
    ]
    assert changes("a.txt", "a\nb\nc\n", "a\nc\n") == [("a.txt", "line 2 before", "removed", {"text": "b"}, None)]
    assert len(changes("a.txt", "a\nb\n", "b\na\n")) == 2
    assert changes("a.txt", "a\n", "a") == [("a.txt", "line 1", "changed", {}, {"end": False})]


NOTE = """---
title: Prices
tags: [a, b]
---
# Prices
Valid today.

## Fruit
| name | price |
| --- | ---: |
| apple | 1 |
| pear | 2 |

Ask at the desk.
"""


@pytest.mark.parametrize(
    ("old", "new", "table", "key"),
    [
        ("title: Prices", "title: Costs", "a.md:front matter", "value"),
        ("| pear | 2 |", "| pear | 3 |", "a.md:Fruit", "pear"),
        ("| pear | 2 |\n", "| pear | 2 |\n| plum | 4 |\n", "a.md:Fruit", "plum"),
        ("today", "tomorrow", "a.md", "line 2 (Prices)"),
        ("Ask at", "Ask nobody at", "a.md", "line 7 (Fruit)"),
    ],
)
def test_markdown_says_what_changed_and_where(old: str, new: str, table: str, key: str) -> None:
    (change,) = changes("a.md", NOTE, NOTE.replace(old, new))
    assert change[:2] == (table, key)


def test_markdown_tables_that_are_none_stay_text() -> None:
    for text in ("| a | a |\n| - | - |\n| 1 | 2 |\n", "| a | b |\n| - | - |\n| 1 |\n", "```\n| a |\n| - |\n```\n"):
        state = read(a__md=text)
        assert list(state.tables) == ["files"]
        assert state.tables["files"]["a.md"] == {"text": text}


def test_a_text_file_that_comes_is_one_row() -> None:
    (change,) = diff(State({}), read(reward__txt="1\n2\n3\n")).changes
    assert (change.table, change.key, change.after) == ("files", "reward.txt", {"text": "1\n2\n3\n"})


# --- Names and cost ----------------------------------------------------------------------------------


def test_no_file_takes_the_place_of_another_ones_table() -> None:
    mine, other = '{"b.json": [{"x": 1}]}', '[{"x": 2}]'
    state = read_state(Files({"a.json": mine.encode(), "a.json:b.json": other.encode()}), UNKNOWN)
    assert sorted(row["x"] for rows in state.tables.values() for row in rows.values()) == [1, 2]
    files = DatabaseSchema(tables=(listed("files", "f.json"),))
    state = read(files, f__json='[{"id": 1, "text": "a"}]', note__txt="x")
    assert state.tables["files"]["1"] == {"id": 1, "text": "a"}
    assert state.tables["files'"] == {"note.txt": {"text": "x"}}


def test_a_stray_file_cannot_pass_for_a_journal() -> None:
    assert read(books__json="[]", **{"books__json-wal": "hidden"}).tables["files"] == {
        "books.json-wal": {"text": "hidden"}
    }


def test_reading_unchanged_files_again_does_not_parse_them_again() -> None:
    for filler in range(9):  # more than is kept: the oldest make room
        read_state(Files({"filler.json": json.dumps([{"id": filler, "x": "y" * 2_000_000}]).encode()}), UNKNOWN)
    content = ("[" + ",".join(f'{{"id": {n}, "name": "name {n}"}}' for n in range(50_000)) + "]").encode()
    files = Files({"big.json": content})
    first = read_state(files, UNKNOWN)
    again = read_state(Files({"big.json": bytes(bytearray(content))}), UNKNOWN)
    assert again.tables["big.json"] is first.tables["big.json"]
    assert again.hash() == first.hash()
    assert diff(first, again).changes == ()
