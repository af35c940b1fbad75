"""Files made to mislead, exhaust or break whoever reads them, and what must hold for any two states."""

import json
import sqlite3
import struct
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from agent_world.schema import DatabaseSchema, StateDiff
from agent_world.tools.files import Files
from agent_world.tools.state import State, diff, read_state
from agent_world.tools.state.lines import line_changes
from tests.sqlite_files import sqlite_bytes

UNKNOWN = DatabaseSchema()
ENDINGS = ("json", "jsonl", "yaml", "csv", "tsv", "sqlite", "md", "txt", "bin")


def read(name: str, content: bytes) -> State:
    return read_state(Files({name: content}), UNKNOWN)


BOMB = "a: &a [x, x, x, x, x, x, x, x, x]\n" + "".join(
    f"{chr(98 + n)}: &{chr(98 + n)} [{', '.join([f'*{chr(97 + n)}'] * 9)}]\n" for n in range(9)
)
HOSTILE = [
    ("a.yaml", BOMB.encode()),
    ("a.yaml", b"a: !!binary aGk=\n"),
    ("a.yaml", b"x: \xc3\x28"),
    ("a.yaml", b"{a: " * 500 + b"1" + b"}" * 500),
    ("a.yaml", b"n: " + b"9" * 100_000),
    ("a.yaml", b"[1,2" + b",[" * 3),
    ("a.yaml", b"? a\n? b\n: c\n"),
    ("a.yaml", b"a" * 3_000_000),
    ("a.yaml", b"- 1\n" * 250_000),
    ("a.yaml", b'"\\uD800"'),
    ("a.json", b'{"a":' * 200 + b"1" + b"}" * 200),
    ("a.json", b"[" * 900 + b"]" * 900),
    ("a.json", b'[{"\\udfff": 1}]'),
    ("a.json", b"-" * 100_000),
    ("a.json", b'"' + b"\\u0000" * 10 + b'"'),
    ("a.json", b"[" + b"{}," * 100_001 + b"{}]"),
    ("a.jsonl", b"1\n" * 100_001),
    ("a.csv", b'"' * 99_999),
    ("a.csv", b"a\x00b,c\n1,2\n"),
    ("a.csv", b"," * 100_000 + b"\n"),
    ("a.csv", ",".join(f"c{n}" for n in range(2000)).encode() + b"\n" + (b"," * 1999 + b"\n") * 2000),
    ("a.csv", b"a,b\r1,2\r3"),
    ("a.md", b"|" * 100_000 + b"\n" + b"-|" * 50_000),
    ("a.md", b"---\n" + b"#" * 100_000),
    ("a.md", b"---\na: *x\n---\n"),
    ("a.md", ("| a" + " " * 50_000 + "|\n|-" + " " * 50_000 + "x|\n").encode()),
    ("a.txt", b"\x00" * 1000),
    ("a.txt", b"\xed\xa0\x80"),
]


@pytest.mark.parametrize(("name", "content"), HOSTILE)
@pytest.mark.timeout(20)
def test_whatever_a_file_holds_is_a_state_that_can_be_written_down(name: str, content: bytes) -> None:
    state = read(name, content)
    found = diff(State({}), state)
    assert found.changes
    assert StateDiff.model_validate_json(found.model_dump_json()) == found
    assert state.hash() == read(name, content).hash()


def test_a_default_that_counts_for_every_row_does_not_fill_the_memory(tmp_path: Path) -> None:
    many = "WITH RECURSIVE n(i) AS (VALUES(1) UNION ALL SELECT i+1 FROM n LIMIT 5000) INSERT INTO t SELECT i FROM n"
    long = "x" * 1_000_000
    content = sqlite_bytes(tmp_path / "a", "CREATE TABLE t (i)", many, f"ALTER TABLE t ADD COLUMN y DEFAULT '{long}'")
    assert "bytes of values" in read("a.sqlite", content).tables["files"]["a.sqlite"]["problem"]


def test_too_many_rows_and_cells_of_sqlite_are_a_stated_problem(tmp_path: Path) -> None:
    many = "WITH RECURSIVE n(i) AS (VALUES(1) UNION ALL SELECT i+1 FROM n LIMIT {}) INSERT INTO t (c0) SELECT i FROM n"
    columns = ", ".join(f"c{n}" for n in range(1000))
    wide = sqlite_bytes(tmp_path / "wide", f"CREATE TABLE t ({columns})", many.format(3000))
    assert "cells" in read("a.sqlite", wide).tables["files"]["a.sqlite"]["problem"]
    deep = sqlite_bytes(tmp_path / "deep", "CREATE TABLE t (c0)", many.format(100_001))
    assert "rows" in read("a.sqlite", deep).tables["files"]["a.sqlite"]["problem"]


def test_a_journal_cannot_make_the_trusted_side_open_or_delete_a_file_it_names(tmp_path: Path) -> None:
    precious = tmp_path / "precious"
    precious.write_text("data")
    path = tmp_path / "a.sqlite"
    sqlite_bytes(path, "CREATE TABLE t (x)", "INSERT INTO t VALUES (1)")
    connection = sqlite3.connect(path)
    connection.execute("PRAGMA cache_size = 1")
    connection.executemany("INSERT INTO t VALUES (?)", [(b"x" * 3000,)] * 50)
    content, journal = path.read_bytes(), path.with_name("a.sqlite-journal").read_bytes()
    connection.close()
    name = str(precious).encode()
    total = sum(struct.unpack(f"{len(name)}b", name)) & 0xFFFFFFFF
    page = content[16] << 8 | content[17]
    lock_page = struct.pack(">I", 0x40000000 // page + 1)
    tail = lock_page + name + struct.pack(">II", len(name), total) + b"\xd9\xd5\x05\xf9\x20\xa1\x63\xd7"
    files = Files({"a.sqlite": content, "a.sqlite-journal": journal + tail})
    problem = read_state(files, UNKNOWN).tables["files"]["a.sqlite"]["problem"]
    assert problem == "not SQLite to be read: its journal names other files"
    assert precious.read_text() == "data"


@pytest.mark.parametrize("column", ["CAST(x'ff' AS TEXT)", "x'ff'", "9223372036854775807", "-9223372036854775808"])
def test_odd_values_of_sqlite_are_kept(tmp_path: Path, column: str) -> None:
    content = sqlite_bytes(tmp_path / "a", "CREATE TABLE t (x)", f"INSERT INTO t VALUES ({column})")
    found = diff(State({}), read("a.db", content))
    assert StateDiff.model_validate_json(found.model_dump_json()) == found
    assert len(found.changes) == 2


def test_a_schema_with_names_that_are_no_text_never_raises(tmp_path: Path) -> None:
    whole = sqlite_bytes(tmp_path / "a", "CREATE TABLE tttt (cccc)", "INSERT INTO tttt VALUES (1)")
    for old, new in (
        (b"cccc", b"\xff\xfe\xfd\xfc"),
        (b"tttt", b"\xff\xfe\xfd\xfc"),
        (b"CREATE TABLE", b"CREATE \0ABLE"),
    ):
        read("a.sqlite", whole.replace(old, new)).hash()


def test_a_text_of_equal_lines_is_compared_in_time() -> None:
    before, after = "\n" * 40_000, "x\n" + "\n" * 30_000 + "y\n" * 3 + "\n" * 9_000
    assert len(line_changes("a", before, after)) == 1000
    shuffled = "".join(f"{n * 7919 % 20_000}\n" for n in range(20_000))
    ordered = "".join(f"{n}\n" for n in range(20_000))
    assert line_changes("a", ordered, shuffled)


# --- For any two states ------------------------------------------------------------------------------

scalars = st.none() | st.booleans() | st.integers(-3, 3) | st.sampled_from([0.0, -0.0, 1.0, 2.5]) | st.text(max_size=3)
values = st.recursive(
    scalars, lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=2), inner, max_size=3)
)
texts = st.lists(st.sampled_from(["", "a", "b", "# H", "| a | b |", "|--|--|", "| 1 | 2 |", "---"]), max_size=8)
contents = st.one_of(
    values.map(lambda value: ("json", json.dumps(value).encode())),
    values.map(lambda value: ("yaml", json.dumps(value).encode())),
    st.lists(values, max_size=3).map(lambda rows: ("jsonl", "\n".join(json.dumps(row) for row in rows).encode())),
    texts.map(lambda lines: ("md", "\n".join(lines).encode())),
    texts.map(lambda lines: ("txt", "\n".join(lines).encode())),
    texts.map(lambda lines: ("csv", "\n".join(lines).replace("|", ",").encode())),
    st.tuples(st.sampled_from(ENDINGS), st.binary(max_size=40)),
)
states = st.dictionaries(st.sampled_from("pq"), contents, max_size=2).map(
    lambda found: read_state(Files({f"{name}.{end}": content for name, (end, content) in found.items()}), UNKNOWN)
)


@settings(max_examples=150, deadline=None)
@given(states, states)
def test_two_states_differ_exactly_where_their_hashes_do(one: State, other: State) -> None:
    assert diff(one, one) == StateDiff()
    found = diff(one, other)
    assert (found == StateDiff()) == (one.hash() == other.hash())
    back = diff(other, one)
    flipped = {"added": "removed", "removed": "added", "changed": "changed"}
    assert sorted(flipped[c.kind] for c in back.changes) == sorted(c.kind for c in found.changes)
    assert len({(c.table, c.key) for c in found.changes}) == len(found.changes)
    assert StateDiff.model_validate_json(found.model_dump_json()) == found


rows = st.lists(st.dictionaries(st.sampled_from("ab"), scalars, max_size=2), max_size=6)


@settings(max_examples=60, deadline=None)
@given(rows, rows)
def test_rows_added_less_rows_removed_is_how_many_more_there_are(one: list[Any], other: list[Any]) -> None:
    before, after = (read("a.json", json.dumps(value).encode()) for value in (one, other))
    kinds = [change.kind for change in diff(before, after).changes if change.key]
    assert kinds.count("added") - kinds.count("removed") == len(other) - len(one)


lines = st.lists(st.sampled_from(["", "a", "b", "c"]), max_size=12).map("\n".join)


@settings(max_examples=150, deadline=None)
@given(lines, lines)
def test_a_text_follows_from_the_one_before_and_its_changes(one: str, other: str) -> None:
    changes = line_changes("a", one, other)
    removed = {c.key for c in changes if c.kind == "removed"}
    stay = iter([row for n, row in enumerate(_rows(one), 1) if f"line {n} before" not in removed])
    by_key = {c.key: c for c in changes if c.kind != "removed"}
    made: list[dict[str, Any]] = []
    while (change := by_key.get(f"line {len(made) + 1}")) or (old := next(stay, None)) is not None:
        if change and change.kind == "added":
            made.append(change.after or {})
        elif change:
            kept = {c: v for c, v in next(stay).items() if c not in (change.before or {})}
            made.append({**kept, **(change.after or {})})
        else:
            made.append(old)
    assert made == _rows(other)


def _rows(text: str) -> list[dict[str, Any]]:
    *whole, last = text.split("\n")
    return [{"text": line} for line in whole] + ([{"text": last, "end": False}] if last else [])
