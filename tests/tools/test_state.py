import hashlib
import io
import os
import sqlite3
import tarfile
from pathlib import Path

import pytest

from agent_world.errors import SandboxError
from agent_world.schema import Column, DatabaseSchema, Table
from agent_world.tools.files import Files, pack, read_files, seal, unpack, write_files
from agent_world.tools.state import State, diff, read_state
from tests.sqlite_files import sqlite_bytes
from tests.worlds import library_schema, make_library

LIMIT = 10_000_000
UNKNOWN = DatabaseSchema()


def state_of(schema: DatabaseSchema = UNKNOWN, **files: bytes) -> State:
    return read_state(Files({name.replace("__", "."): content for name, content in files.items()}), schema)


def changes(before: State, after: State) -> list[tuple[str, str, str]]:
    return [(c.table, c.key, c.kind) for c in diff(before, after).changes]


def test_the_tables_of_the_library_are_read_by_primary_key(tmp_path: Path) -> None:
    bundle = make_library(tmp_path / "library")
    state = read_state(read_files(bundle.database, LIMIT), library_schema())
    assert {name: len(rows) for name, rows in state.tables.items()} == {"books": 20, "loans": 25, "members": 12}
    assert state.tables["members"]["M01"]["postcode"] == "02138"
    assert state.tables["loans"]["3"]["fine"] == 3.5


def test_values_keep_their_types() -> None:
    one, text, real, truth = (state_of(a__json=f'[{{"x": {x}}}]'.encode()) for x in ("1", '"1"', "1.0", "true"))
    assert len({one.hash(), text.hash(), real.hash(), truth.hash()}) == 4


def test_csv_cells_stay_text_and_a_byte_order_mark_is_no_part_of_a_name() -> None:
    rows = list(state_of(a__csv=b"\xef\xbb\xbfid,zip\n1,02138\n").tables["a.csv"].values())
    assert rows == [{"id": "1", "zip": "02138"}]


def test_the_order_of_rows_and_keys_is_no_state() -> None:
    a = state_of(a__json=b'[{"id": 1, "x": 2}, {"id": 3}]')
    assert a.hash() == state_of(a__json=b'[{"id": 3}, {"x": 2, "id": 1}]').hash()


def test_a_row_twice_is_two_rows() -> None:
    once, twice = state_of(a__json=b'[{"id": 1}]'), state_of(a__json=b'[{"id": 1}, {"id": 1}]')
    assert [kind for _, _, kind in changes(once, twice)] == ["added"]


def test_a_diff_tells_added_removed_and_changed_by_column() -> None:
    column = Column(name="id", type="integer")
    table = Table(name="things", file="a.json", format="json", rows=2, columns=(column,), primary_key="id")
    schema = DatabaseSchema(tables=(table,))
    before = state_of(schema, a__json=b'[{"id": 1, "x": 1, "y": 1}, {"id": 2, "x": 2}]')
    after = state_of(schema, a__json=b'[{"id": 1, "x": 5, "y": 1}, {"id": 3, "x": 2}]')
    changed, removed, added = diff(before, after).changes
    assert (changed.kind, changed.key, changed.before, changed.after) == ("changed", "1", {"x": 1}, {"x": 5})
    assert (removed.kind, removed.before) == ("removed", {"id": 2, "x": 2})
    assert (added.kind, added.after) == ("added", {"id": 3, "x": 2})


def test_sqlite_is_read_through_its_own_schema(tmp_path: Path) -> None:
    content = sqlite_bytes(
        tmp_path / "a.sqlite",
        "CREATE TABLE t (code TEXT PRIMARY KEY, n INTEGER, r REAL, b BLOB)",
        "INSERT INTO t VALUES ('02138', 1, 1.0, x'00ff'), ('x', NULL, 9e999, NULL)",
    )
    rows = state_of(a__sqlite=content).tables["a.sqlite:t"]
    assert rows["02138"]["n"] == 1
    assert isinstance(rows["02138"]["r"], float)
    assert rows["02138"]["b"] == {"blob": f"sha256 {hashlib.sha256(bytes([0, 255])).hexdigest()}", "bytes": 2}
    assert rows["x"]["r"] == {"real": "inf"}


def test_an_unfinished_transaction_is_rolled_back(tmp_path: Path) -> None:
    path = tmp_path / "a.sqlite"
    sqlite_bytes(path, "CREATE TABLE t (x)", "INSERT INTO t VALUES (1)")
    connection = sqlite3.connect(path)
    connection.execute("PRAGMA cache_size = 1")
    connection.executemany("INSERT INTO t VALUES (?)", [(b"x" * 3000,)] * 50)
    left = {p.name: p.read_bytes() for p in tmp_path.iterdir()}
    connection.close()
    assert "a.sqlite-journal" in left
    state = read_state(Files(left), DatabaseSchema())
    assert list(state.tables) == ["a.sqlite:t"]
    assert len(state.tables["a.sqlite:t"]) == 1


@pytest.mark.parametrize(
    ("name", "content"),
    [
        ("a.json", b"[1, 2"),
        ("a.json", b'{"x": 1, "x": 2}'),
        ("a.json", b'["\\ud800"]'),
        ("a.json", b"[" + b"9" * 5000 + b"]"),
        ("a.jsonl", b'{"x": 1}\n{"x": }\n'),
        ("a.yaml", b"a: 1\na: 2\n"),
        ("a.yaml", b"a: &x [1]\nb: *x\n"),
        ("a.yaml", b"a: !!python/object/apply:os.system [id]\n"),
        ("a.yaml", b"? [1, 2]\n: x\n"),
        ("a.yaml", b"[" * 100_000),
        ("a.yaml", b"- " * 100_000),
        ("a.json", b'[{"x": NaN}]'),
        ("a.json", b'[{"x": 1e999}]'),
        ("a.json", b"[" * 100_000),
        ("a.json", b"\xff\xfe"),
        ("a.json", b""),
        ("a.csv", b'a,b\n"open'),
        ("a.csv", b"a,a\n1,2\n"),
        ("a.csv", b"a,b\n1\n"),
        ("a.csv", b"a,b\n1,2,3\n"),
        ("a.csv", b"\xff\xfea\x00"),
        ("a.csv", b"a,b\n" + b"x" * 200_000 + b",1\n"),
        ("a.sqlite", b"SQLite format 3\0 but not really"),
        ("a.sqlite", b"x"),
    ],
)
def test_a_broken_file_is_a_stated_change(name: str, content: bytes) -> None:
    after = read_state(Files({name: content}), DatabaseSchema())
    (change,) = diff(State({}), after).changes
    assert (change.table, change.key, change.kind) == ("files", name, "added")
    assert (change.after or {})["problem"].startswith("not ")


def test_a_damaged_sqlite_file_never_raises(tmp_path: Path) -> None:
    whole = sqlite_bytes(tmp_path / "a.sqlite", "CREATE TABLE t (x)", *["INSERT INTO t VALUES ('some text')"] * 300)
    for place in range(0, len(whole), 97):
        damaged = whole[:place] + b"\xff\x00\x7f" + whole[place + 3 :]
        state_of(a__sqlite=damaged).hash()


def test_views_triggers_and_virtual_tables_run_no_code(tmp_path: Path) -> None:
    endless = "WITH RECURSIVE n(i) AS (VALUES(1) UNION ALL SELECT i+1 FROM n) SELECT count(*) AS c FROM n"
    viewed = sqlite_bytes(tmp_path / "a.sqlite", "CREATE TABLE t (x)", f"CREATE VIEW v AS {endless}")
    assert list(state_of(a__sqlite=viewed).tables) == ["a.sqlite:t"]
    virtual = sqlite_bytes(tmp_path / "b.sqlite", "CREATE VIRTUAL TABLE f USING fts5(x)")
    assert "virtual" in state_of(b__sqlite=virtual).tables["files"]["b.sqlite"]["problem"]


def test_other_files_are_one_row_of_text_or_hash() -> None:
    state = state_of(note__md=b"hello", image__png=b"\x89PNG\xff")
    assert state.tables["files"]["note.md"] == {"text": "hello"}
    assert set(state.tables["files"]["image.png"]) == {"sha256", "bytes"}


def test_hostile_folders_are_read_within_bounds(tmp_path: Path) -> None:
    (tmp_path / "good.txt").write_text("good")
    (tmp_path / "link").symlink_to("/etc/passwd")
    (tmp_path / "loop").symlink_to(tmp_path)
    with (tmp_path / "sparse").open("wb") as file:
        file.truncate(10**12)
    deep = tmp_path.joinpath(*"abcdefghijkl")
    deep.mkdir(parents=True)
    (deep / "x").write_text("x")
    files = read_files(tmp_path, LIMIT)
    assert dict(files.contents) == {"good.txt": b"good"}
    assert {k: v for k, v in files.refused.items() if "/" not in k} == {
        "link": "a link",
        "loop": "a link",
        "sparse": "too large",
    }
    assert "too deep" in files.refused.values()


def test_the_number_of_files_is_bounded(tmp_path: Path) -> None:
    for number in range(2100):
        (tmp_path / str(number)).touch()
    files = read_files(tmp_path, LIMIT)
    assert len(files.contents) == 2048
    assert files.refused == {"(more)": "more than 2048 files"}


def write(folder: Path, files: Files) -> None:
    opened = os.open(folder, os.O_RDONLY)
    write_files(opened, files)
    os.close(opened)


def test_a_snapshot_holds_all_that_a_tool_can_see(tmp_path: Path) -> None:
    (tmp_path / "one" / "deep" / "er").mkdir(parents=True)
    (tmp_path / "one" / "empty").mkdir()
    (tmp_path / "one" / "deep" / "er" / "größe \n.json").write_text('[{"id": 1}]')
    (tmp_path / "run.sh").write_text("x")
    (tmp_path / "run.sh").chmod(0o750)
    (tmp_path / "one" / "deep").chmod(0o700)
    (tmp_path / "one" / "second").hardlink_to(tmp_path / "run.sh")
    sqlite_bytes(tmp_path / "a.sqlite", "CREATE TABLE t (x)")
    files = read_files(tmp_path, LIMIT)
    assert files.folders == ("one/empty",)
    assert files.modes == {"one/deep": 0o700, "one/second": 0o750, "run.sh": 0o750}
    kept = unpack(pack(files))
    assert kept == files
    assert pack(kept) == pack(files)
    again = tmp_path / "again"
    again.mkdir()
    write(again, kept)
    found = read_files(again, LIMIT)
    assert found == files
    assert read_state(found, UNKNOWN).hash() == read_state(files, UNKNOWN).hash()


def test_an_empty_folder_is_state() -> None:
    (change,) = diff(State({}), read_state(Files(folders=("cache",)), UNKNOWN)).changes
    assert (change.table, change.key, change.after) == ("files", "cache/", {"folder": "empty"})


def test_stated_and_real_sizes_and_second_names_all_count(tmp_path: Path) -> None:
    for number in range(500):
        with (tmp_path / f"sparse{number:03}").open("wb") as file:
            file.truncate(LIMIT // 4)
    files = read_files(tmp_path, LIMIT)
    assert sum(map(len, files.contents.values())) <= LIMIT
    assert list(files.contents) == ["sparse000", "sparse001", "sparse002", "sparse003"]
    assert len(files.refused) == 496
    assert set(files.refused.values()) == {"too large"}
    links = tmp_path / "links"
    links.mkdir()
    (links / "a").write_bytes(b"x" * 600)
    (links / "b").hardlink_to(links / "a")
    assert read_files(links, 1000).refused == {"b": "too large"}


def test_a_name_that_is_not_utf8_is_refused_and_named(tmp_path: Path) -> None:
    for name in (b"bad\xff", b"bad\xfe"):
        os.close(os.open(os.fsencode(tmp_path) + b"/" + name, os.O_CREAT))
    files = read_files(tmp_path, LIMIT)
    assert files.refused == dict.fromkeys(("bad\\xfe", "bad\\xff"), "a name that is not UTF-8")
    diff(State({}), read_state(files, UNKNOWN)).model_dump_json()


def test_ever_so_many_folders_are_read_within_bounds(tmp_path: Path) -> None:
    for number in range(60):
        for inner in range(40):
            (tmp_path / str(number) / str(inner)).mkdir(parents=True)
    before = len(os.listdir("/proc/self/fd"))
    files = read_files(tmp_path, LIMIT)
    assert len(files.folders) == 2048
    assert files.refused == {"(more)": "more than 2048 files"}
    assert len(os.listdir("/proc/self/fd")) == before


def test_files_survive_packing_and_writing(tmp_path: Path) -> None:
    files = Files({"a.json": b"[]", "deep/er/b.bin": bytes(range(256))})
    assert unpack(pack(files)) == files
    assert pack(files) == pack(unpack(pack(files)))
    folder = os.open(tmp_path, os.O_RDONLY)
    write_files(folder, files)
    os.close(folder)
    assert read_files(tmp_path, LIMIT) == files


def archive(*members: tuple[str, bytes, bytes]) -> bytes:
    packed = io.BytesIO()
    with tarfile.open(fileobj=packed, mode="w") as made:
        for name, kind, content in members:
            head = tarfile.TarInfo(name)
            head.type, head.size = kind, len(content)
            made.addfile(head, io.BytesIO(content))
    return seal(packed.getvalue())


FILE, FOLDER, LINK = tarfile.REGTYPE, tarfile.DIRTYPE, tarfile.SYMTYPE


@pytest.mark.parametrize(
    "packed",
    [
        b"nonsense" * 100,
        b"",
        archive(("a", FILE, b"x" * 5000))[:2000],
        seal(archive(("a", FILE, b"x" * 5000))[:2000]),
        archive(("../a", FILE, b"x")),
        archive(("/a", FILE, b"x")),
        archive(("a//b", FILE, b"x")),
        archive(("a", LINK, b"")),
        archive(("a", FILE, b"x"), ("a", FILE, b"y")),
        archive(("a", FILE, b"x"), ("a/b", FILE, b"y")),
        archive(("/".join("abcdefghijkl"), FILE, b"x")),
        archive(("a", tarfile.FIFOTYPE, b"")),
    ],
)
def test_a_thing_that_is_no_snapshot_is_refused(packed: bytes) -> None:
    with pytest.raises(SandboxError, match="snapshot"):
        unpack(packed)
