"""Parts of a database that take no part in its state."""

import json
from pathlib import Path

import pytest

from agent_world.errors import SandboxError, UsageError
from agent_world.memory.store import Bundle
from agent_world.schema import DatabaseSchema
from agent_world.settings import LocalRuntime
from agent_world.tools.files import Files
from agent_world.tools.runtime import open_runtime
from agent_world.tools.state import check_volatile, diff, read_state
from tests.sqlite_files import sqlite_bytes
from tests.worlds import library_schema

SCHEMA = library_schema()
UNKNOWN = DatabaseSchema()


def volatile(*parts: str, base: DatabaseSchema = UNKNOWN) -> DatabaseSchema:
    return base.model_copy(update={"volatile": parts})


@pytest.mark.parametrize(
    ("name", "part", "before", "after"),
    [
        ("log.json", "log.json", "[]", '[{"at": 1}]'),
        ("quota.json", "quota.json.used", '{"used": 1, "most": 9}', '{"used": 2, "most": 9}'),
        ("db.json", "db.json:log", '{"log": [], "n": 1}', '{"log": [1], "n": 1}'),
        ("hits.csv", "hits.csv.hits", "page,hits\nx,1\n", "page,hits\nx,2\n"),
        ("hits.csv", "hits.csv.id", "id,page\n1,x\n", "id,page\n7,x\n"),
        ("logs/a.txt", "logs/*", "a", "b"),
        ("app.log", "*.log", "a", "b"),
        ("note.md", "note.md", "a", "b"),
        ("data.bin", "data.bin", "\x00", "\x01"),
    ],
)
def test_a_volatile_part_is_no_state(name: str, part: str, before: str, after: str) -> None:
    one, other = (Files({name: text.encode(), "rest.json": b"[1]"}) for text in (before, after))
    schema = volatile(part)
    check_volatile(schema, one)
    assert read_state(one, schema).hash() == read_state(other, schema).hash()
    assert diff(read_state(one, schema), read_state(other, schema)).changes == ()
    plain = DatabaseSchema()
    assert read_state(one, plain).hash() != read_state(other, plain).hash()
    worse = Files({**one.contents, "rest.json": b"[2]"})
    assert diff(read_state(one, schema), read_state(worse, schema)).changes


def test_a_table_and_a_column_of_sqlite_may_be_volatile(tmp_path: Path) -> None:
    path = tmp_path / "a.db"
    first = (
        "CREATE TABLE log (x)",
        "CREATE TABLE quota (id INTEGER PRIMARY KEY, used)",
        "INSERT INTO quota VALUES (1, 0)",
    )
    before = Files({"a.db": sqlite_bytes(path, *first)})
    after = Files({"a.db": sqlite_bytes(path, "INSERT INTO log VALUES (random())", "UPDATE quota SET used = 5")})
    schema = volatile("a.db:log", "a.db:quota.used")
    check_volatile(schema, before)
    assert diff(read_state(before, schema), read_state(after, schema)).changes == ()


def test_rows_whose_random_key_is_volatile_are_keyed_by_the_rest() -> None:
    one, other = (Files({"loans.json": json.dumps([{"id": n, "book": "B1"}]).encode()}) for n in (17, 42))
    schema = volatile("loans.json.id")
    assert read_state(one, schema).hash() == read_state(other, schema).hash()


@pytest.mark.parametrize("part", ["visits", "books.reads", "book", "log.json", "books.json.x", "boooks.copies", ""])
def test_a_volatile_part_that_names_nothing_is_an_error_that_names_it(part: str) -> None:
    with pytest.raises(UsageError, match=f"part '{part}' names no table"):
        check_volatile(volatile(part, base=SCHEMA), Files({"note.txt": b""}))


@pytest.mark.parametrize("part", ["books", "books.copies", "loans.sqlite", "note.txt", "*.log"])
def test_a_volatile_part_may_be_a_table_a_column_a_file_or_a_pattern(part: str) -> None:
    check_volatile(volatile(part, base=SCHEMA), Files({"note.txt": b""}))


async def test_an_environment_whose_volatile_part_names_nothing_does_not_open(library: Bundle) -> None:
    head = library.environment()
    wrong = head.database.model_copy(update={"volatile": ("loans.visits",)})
    library.write_environment(head.model_copy(update={"database": wrong}))
    async with open_runtime(LocalRuntime()) as runtime:
        with pytest.raises(SandboxError, match="visits' names no table"):
            await runtime.open(library.root)
