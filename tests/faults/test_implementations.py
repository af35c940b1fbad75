"""Faults of tool implementations and of mined data (section 3b), each as the whole kind."""

import asyncio
import json
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest
import pytest_asyncio

from agent_world.agents.coder.check import ToolCheck, check_draft
from agent_world.agents.coder.draft import Draft, UnitTest, WrittenTool
from agent_world.agents.coder.procedural import ProceduralCoder
from agent_world.memory.store import Bundle
from agent_world.schema import DatabaseSchema, Environment, Origin, Theme, ToolAnnotations, ToolSpec
from agent_world.settings import LocalRuntime
from agent_world.tools.runtime import Instance, Observation, Runtime, open_runtime
from agent_world.tools.tables import read_table
from agent_world.tools.web.page import RawTable
from tests.worlds import library_schema, make_library

pytestmark = [
    pytest.mark.asyncio(loop_scope="module"),  # one runtime for all
    pytest.mark.filterwarnings("ignore:.*it is not an async function"),
]

ORIGIN = Origin(engine="procedural")


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def runtime() -> AsyncIterator[Runtime]:
    async with open_runtime(LocalRuntime(run_timeout_s=10)) as opened:
        yield opened


def world(
    root: Path, source: str, files: dict[str, str], *volatile: str, reads: tuple[str, ...] = (), **arguments: Any
) -> Path:
    """A bundle of one tools.py and some files; `reads` are the tools that say they only read."""
    bundle = Bundle(root)
    bundle.database.mkdir(parents=True)
    for name, text in files.items():
        (bundle.database / name).write_text(text)
    theme = Theme(id="clock", name="Clock", description="Time.", kind="tool_docs", source="tests")
    database = DatabaseSchema(volatile=volatile)
    bundle.write_environment(
        Environment(id="clock", name="Clock", description="Time.", theme=theme, database=database, origin=ORIGIN)
    )
    names = [line.split("(")[0].removeprefix("def ") for line in source.splitlines() if line.startswith("def ")]
    specs = [
        ToolSpec(
            name=name,
            description="A tool.",
            input_schema=arguments.get(name, {"type": "object", "properties": {}}),
            annotations=ToolAnnotations(read_only=name in reads),
        )
        for name in names
        if not name.startswith("_")
    ]
    bundle.write_tools(specs, source, "")
    return bundle.root


# --- PB-17: clocks, random ids, logs and counters ----------------------------------------------------

CLOCK = """
import datetime, json, random, time, uuid

def get_time():
    log = json.load(open("log.json"))
    log.append({"id": str(uuid.uuid4()), "at": time.time(), "noise": random.random()})
    json.dump(log, open("log.json", "w"))
    quota = json.load(open("quota.json"))
    quota["used"] += 1
    json.dump(quota, open("quota.json", "w"))
    return {"now": datetime.datetime.now().isoformat(), "id": log[-1]["id"], "used": quota["used"]}

def set_limit(limit):
    quota = json.load(open("quota.json"))
    quota["limit"] = limit
    json.dump(quota, open("quota.json", "w"))
    return quota
"""
CLOCK_FILES = {"log.json": "[]", "quota.json": '{"used": 0, "limit": 9}'}
LIMIT = {"set_limit": {"type": "object", "properties": {"limit": {"type": "integer"}}}}


async def test_declared_logs_and_counters_leave_the_state_of_a_pure_tool_unchanged(
    tmp_path: Path, runtime: Runtime
) -> None:
    root = world(tmp_path / "w", CLOCK, CLOCK_FILES, "log.json", "quota.json.used", reads=("get_time",), **LIMIT)
    instance = await runtime.open(root)
    start = await instance.state_hash()
    seen = [await instance.call("get_time", {}) for _ in range(3)]
    assert [found.value["used"] for found in seen] == [1, 2, 3]
    assert not any(found.impure for found in seen)
    assert await instance.state_hash() == start
    assert (await instance.diff()).changes == ()
    await instance.call("set_limit", {"limit": 3})
    assert [(c.table, c.after) for c in (await instance.diff()).changes] == [("quota.json", {"limit": 3})]


async def test_undeclared_logs_and_counters_of_a_pure_tool_are_reported(tmp_path: Path, runtime: Runtime) -> None:
    instance = await runtime.open(world(tmp_path / "w", CLOCK, CLOCK_FILES, reads=("get_time",), **LIMIT))
    start = await instance.state_hash()
    assert (await instance.call("get_time", {})).impure
    assert await instance.state_hash() != start
    assert {c.table for c in (await instance.diff()).changes} == {"log.json", "quota.json"}


async def test_clock_and_ids_come_from_the_seed(tmp_path: Path, runtime: Runtime) -> None:
    root = world(tmp_path / "w", CLOCK, CLOCK_FILES, **LIMIT)
    one, other, odd = [await runtime.open(root, seed=seed) for seed in (1, 1, 2)]
    for _ in range(2):
        texts = [(await instance.call("get_time", {})).text for instance in (one, other, odd)]
        assert texts[0] == texts[1] != texts[2]
    assert await one.state_hash() == await other.state_hash() != await odd.state_hash()


# --- PB-18: missing and broken tables ----------------------------------------------------------------


def drafted(name: str, source: str, *bodies: str, reads: bool = True) -> WrittenTool:
    tests = tuple(
        UnitTest(name=f"test_{name}_{n}", source=f"def test_{name}_{n}():\n    {body}") for n, body in enumerate(bodies)
    )
    spec = ToolSpec(
        name=name,
        description="A tool.",
        input_schema={"type": "object", "properties": {}},
        annotations=ToolAnnotations(read_only=reads),
    )
    return WrittenTool(spec=spec, source=source, tests=tests, origin=Origin(engine="llm"))


@pytest_asyncio.fixture(loop_scope="module")
async def instance(tmp_path: Path, runtime: Runtime) -> AsyncIterator[Instance]:
    library = make_library(tmp_path / "library")
    for name in ("tools.py", "tools.json", "tool_tests.py"):
        (library.root / name).unlink()
    opened = await runtime.open(library.root)
    yield opened
    await opened.close()


HEAD = """
import json
import sqlite3


class ToolError(Exception):
    def __init__(self, code, message=""):
        self.code = code
"""


async def check(instance: Instance, tool: WrittenTool) -> ToolCheck:
    good = drafted("good", "def good():\n    return len(json.load(open('books.json')))", "assert tools.good() == 20")
    found = await check_draft(Draft(head=HEAD, test_head="import tools", tools=(good, tool)), instance)
    assert found[0].dropped_for(0.5) is None
    return found[1]


LOADERS = {
    "returns nothing": "try:\n        rows = json.load(open('books.json'))\n    except Exception:\n        rows = []",
    "returns a default": "import os\n    here = os.path.exists('books.json')\n"
    "    rows = json.load(open('books.json')) if here else [{}]",
    "takes it for not found": "try:\n        rows = json.load(open('books.json'))\n    except OSError:\n"
    "        raise ToolError('not_found')",
    "makes an empty table": "loans = sqlite3.connect('loans.sqlite')\n"
    "    loans.execute('CREATE TABLE IF NOT EXISTS loans (x)')\n"
    "    rows = loans.execute('SELECT * FROM loans').fetchall()",
}


@pytest.mark.parametrize("how", LOADERS)
async def test_a_tool_that_hides_a_missing_table_is_rejected(instance: Instance, how: str) -> None:
    found = await check(
        instance, drafted("bad", f"def bad():\n    {LOADERS[how]}\n    return {{'count': len(rows)}}", "tools.bad()")
    )
    assert "where it should fail with broken_table" in str(found.dropped_for(0.5)), found


async def test_a_tool_that_says_so_is_kept(instance: Instance) -> None:
    source = (
        "def bad():\n    try:\n        return len(json.load(open('books.json')))\n"
        "    except OSError:\n        raise ToolError('broken_table')"
    )
    assert (await check(instance, drafted("bad", source, "tools.bad()"))).dropped_for(0.5) is None


def damage(path: Path, how: str) -> None:
    text = path.read_bytes()
    if how == "removed":
        path.unlink()
    elif how == "renamed":
        path.rename(path.with_name(f"old-{path.name}"))
    else:
        path.write_bytes({"empty": b"", "cut": text[: len(text) // 2], "other": b'{"oops": [1, 2'}[how])


@pytest.mark.parametrize("how", ["removed", "renamed", "empty", "cut", "other"])
async def test_every_written_tool_calls_a_missing_or_broken_table_broken(
    tmp_path: Path, runtime: Runtime, how: str
) -> None:
    library = make_library(tmp_path / "library")
    written = await ProceduralCoder(seed=3, most=40).draft(library)
    specs = [tool.spec for tool in written.tools]
    library.write_tools(specs, written.tools_source(), written.tests_source())
    calls = {
        "books": ("get_book", {"book_id": "B001"}),
        "members": ("get_member", {"member_id": "M01"}),
        "loans": ("get_loan", {"loan_id": 1}),
    }
    for table in library_schema().tables:
        if how == "cut" and table.format == "csv":
            continue  # half a CSV file at a line's end is a shorter table
        tool, arguments = calls[table.name]
        broken = make_library(tmp_path / f"{how}-{table.name}")
        broken.write_tools(specs, written.tools_source(), "")
        damage(broken.database / table.file, how)
        opened = await runtime.open(broken.root)
        found = await opened.call(tool, arguments)
        assert (found.ok, found.error) == (False, "broken_table"), table.name
        await opened.close()


async def test_the_unit_tests_of_every_tool_take_each_table_away(tmp_path: Path) -> None:
    written = await ProceduralCoder(seed=3, most=40).draft(make_library(tmp_path / "library"))
    for tool in written.tools:
        (test,) = [t for t in tool.tests if t.name.endswith("without_its_tables_is_broken")]
        named = tool.spec.operation.table if tool.spec.operation else ""
        assert f"'{named}'" in test.source


# --- PB-19: the network ------------------------------------------------------------------------------

LOOKUPS = {
    "a socket": "import socket\n    socket.socket().connect(('127.0.0.1', 80))",
    "a socket, quietly": "import socket\n    try:\n        socket.create_connection(('127.0.0.1', 80), 1)\n"
    "    except OSError:\n        pass",
    "a name": "import socket\n    try:\n        socket.gethostbyname('example.org')\n    except OSError:\n        pass",
    "an address": "import urllib.request\n    try:\n        urllib.request.urlopen('http://example.org/')\n"
    "    except OSError:\n        return {'cached': 1}",
    "a connection": "import http.client\n    try:\n"
    "        http.client.HTTPConnection('127.0.0.1').request('GET', '/')\n    except Exception:\n        pass",
}


@pytest.mark.parametrize("how", LOOKUPS)
async def test_a_tool_that_needs_the_network_is_rejected_for_that(instance: Instance, how: str) -> None:
    found = await check(instance, drafted("bad", f"def bad():\n    {LOOKUPS[how]}\n    return {{}}", "tools.bad()"))
    assert found.dropped_for(0.5) == "it needs the network, which no tool has"


async def test_a_tool_that_connects_while_it_loads_is_rejected_for_that(instance: Instance) -> None:
    source = "import socket\ntry:\n    socket.socket()\nexcept OSError:\n    pass\n\n\ndef bad():\n    return {}"
    found = await check(instance, drafted("bad", source, "tools.bad()"))
    assert "needs the network" in str(found.dropped_for(0.5))


async def test_a_tool_gets_the_same_from_a_network_that_is_not_there_every_time(
    tmp_path: Path, runtime: Runtime
) -> None:
    source = "import socket\ndef look():\n    return socket.create_connection(('127.0.0.1', 80), 1) and 1\n"
    one = await runtime.open(world(tmp_path / "w", source, {}))
    seen = {(await one.call("look", {})).text for _ in range(3)}
    assert len(seen) == 1
    assert not json.loads(seen.pop()).get("ok")


# --- PB-20: a Boolean is no integer ------------------------------------------------------------------


BOOLEANS: list[tuple[dict[str, Any], Any]] = [
    ({"type": "integer"}, True),
    ({"type": "integer"}, False),
    ({"type": "number"}, True),
    ({"type": ["integer", "null"]}, True),
    ({"anyOf": [{"type": "integer"}, {"type": "null"}]}, False),
    ({"enum": [1, 2]}, True),
    ({"const": 1}, True),
    ({"type": "array", "items": {"type": "integer"}}, [1, True]),
    ({"type": "object", "properties": {"n": {"type": "integer"}}}, {"n": True}),
    ({"type": "string"}, True),
    ({"type": "boolean"}, 1),
    ({"type": "boolean"}, "true"),
]


async def test_a_boolean_is_no_number_and_a_number_no_boolean(tmp_path: Path, runtime: Runtime) -> None:
    for number, (schema, value) in enumerate(BOOLEANS):
        arguments = {"type": "object", "properties": {"limit": schema}}
        root = world(tmp_path / f"{number}", "def show(limit=1):\n    return [limit]\n", {}, show=arguments)
        opened = await runtime.open(root)
        found = await opened.call("show", {"limit": value})
        assert found.error == "invalid_arguments", schema
        assert "limit" in found.text
        refused = await opened.run("def f(tools, v): return tools.show(limit=v)", "f", {"v": value})
        assert [seen.error for _, _, seen in refused.calls] == ["invalid_arguments"], schema


# --- PB-21: strict JSON ------------------------------------------------------------------------------


ODD = [
    '{"avg": float("nan"), "max": float("inf")}',
    'float("-inf")',
    '[1, [2, {"x": 1e999}]]',
    '{"x": {float("nan")}}',
    "{1.5: b'x'}",
    "b'bytes'",
    "object()",
    "1j",
    "'\\ud800'",
    "{(1, 2): 3}",
]


async def test_what_is_not_strict_json_is_an_error_result(tmp_path: Path, runtime: Runtime) -> None:
    source = f"def give(which):\n    return [{', '.join(f'lambda: {value}' for value in ODD)}][which]()\n"
    which = {"type": "object", "properties": {"which": {"type": "integer"}}}
    opened = await runtime.open(world(tmp_path / "w", source, {}, give=which))
    for number, value in enumerate(ODD):
        found = await opened.call("give", {"which": number})
        assert (found.ok, found.error) == (False, "invalid_output"), value
        _strict(found)


def _strict(found: Observation) -> None:
    def refuse(name: str) -> None:
        raise AssertionError(name)

    json.loads(found.text, parse_constant=refuse)


async def test_a_tool_whose_result_is_no_json_does_not_pass_the_coders_filter(instance: Instance) -> None:
    found = await check(instance, drafted("bad", "def bad():\n    return {'avg': float('nan')}", "tools.bad()"))
    assert found.dropped_for(0.5)


# --- PB-23: headers and codes of mined tables --------------------------------------------------------


@pytest.mark.parametrize(
    ("header", "row", "names", "notes"),
    [
        (("\ufeffid", "zip", "id"), ("1", "02138", "x"), ("id", "zip", "id_2"), 1),
        (("id", "Zip Code", "ID "), ("1", "02138", "x"), ("id", "zip_code", "id_2"), 1),
        (("id", "serial", "id", "id"), ("1", "007", "x", "y"), ("id", "serial", "id_2", "id_3"), 2),
        (("id", "id_2", "id"), ("1", "012", "x"), ("id", "id_2", "id_3"), 1),
        (("id", "", "phone"), ("1", "0049", "0041"), ("id", "column_2", "phone"), 0),
    ],
)
def test_marks_are_stripped_twins_renamed_and_noted_and_codes_stay_text(
    header: tuple[str, ...], row: tuple[str, ...], names: tuple[str, ...], notes: int
) -> None:
    raw = RawTable("Places", header, (row, ("2", *row[1:])), "http://site/t", as_of=None, sha256="0" * 64, licence=None)
    table = read_table(raw, "places")
    assert table.columns == names
    assert table.values(names[1])[0] == row[1]
    assert len([note for note in table.notes if "renamed" in note]) == notes


# --- PB-25: whose folder, and stray writes -----------------------------------------------------------

WHERE = """
import json, os

def here():
    rows = json.load(open("name.json"))
    return {"name": rows[0]["name"], "seen": os.environ.get("DATA_DIR")}

def note(text):
    open("name.json", "w").write(json.dumps([{"name": text}]))
    return {}

def stray(path):
    open(path, "a").write("x")
    return {}
"""
TEXT = {
    "note": {"type": "object", "properties": {"text": {"type": "string"}}},
    "stray": {"type": "object", "properties": {"path": {"type": "string"}}},
}


async def test_environments_at_once_never_see_each_others_folder(
    tmp_path: Path, runtime: Runtime, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("DATA_DIR", str(tmp_path / "a"))
    roots = [world(tmp_path / n, WHERE, {"name.json": json.dumps([{"name": n}])}, **TEXT) for n in "ab"]
    opened = [await runtime.open(roots[n % 2]) for n in range(6)]

    async def live(number: int) -> list[Any]:
        seen = []
        for turn in range(4):
            seen.append((await opened[number].call("here", {})).value)
            await opened[number].call("note", {"text": f"{number}-{turn}"})
        return seen

    for number, seen in enumerate(await asyncio.gather(*(live(n) for n in range(6)))):
        names = ["ab"[number % 2], *(f"{number}-{turn}" for turn in range(3))]
        assert seen == [{"name": name, "seen": None} for name in names]
    assert [json.loads((root / "database" / "name.json").read_text())[0]["name"] for root in roots] == ["a", "b"]


@pytest.mark.parametrize("path", ["log.txt", "name.json.bak", ".hidden", "name.json-journal"])
async def test_a_stray_write_shows_in_the_diff(tmp_path: Path, runtime: Runtime, path: str) -> None:
    opened = await runtime.open(world(tmp_path / "w", WHERE, {"name.json": "[]"}, **TEXT))
    assert (await opened.call("stray", {"path": path})).ok
    assert [(c.table, c.key, c.kind) for c in (await opened.diff()).changes] == [("files", path, "added")]


@pytest.mark.parametrize("body", ["open('log.txt', 'a').write('x')", "import os; os.rename('books.json', 'b.json')"])
@pytest.mark.parametrize("reads", [True, False])
async def test_a_tool_with_stray_writes_is_rejected(instance: Instance, body: str, reads: bool) -> None:
    found = await check(instance, drafted("bad", f"def bad():\n    {body}\n    return 1", "tools.bad()", reads=reads))
    said = "declared read-only and changes" if reads else "makes or removes"
    assert said in str(found.dropped_for(0.5))
