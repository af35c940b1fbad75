"""The coder without a model: what it writes on the library and on an awkward database, run in the real sandbox."""

import asyncio
import csv
import io
import json
import shutil
import subprocess
import sys
from collections import Counter
from pathlib import Path
from typing import Any

import pytest

from agent_world.agents.coder.data import read_data
from agent_world.agents.coder.mutate import mutation_score
from agent_world.agents.coder.procedural import ProceduralCoder
from agent_world.agents.coder.words import own
from agent_world.graphs.deps import open_deps
from agent_world.graphs.write_tools import write_tools
from agent_world.memory.store import Bundle
from agent_world.schema import Column, ToolSpec, ToolVerdict
from agent_world.settings import Settings
from agent_world.tools.files import unpack
from agent_world.tools.runtime import Instance, Runtime
from tests.agents.coder.worlds import make_awkward
from tests.worlds import make_library


@pytest.fixture(scope="module")
def written(tmp_path_factory: pytest.TempPathFactory) -> dict[str, tuple[Bundle, list[ToolVerdict]]]:
    """Both environments with their tools, written once."""
    root = tmp_path_factory.mktemp("written")
    bundles = [make_library(root / "environments" / "library"), make_awkward(root / "environments" / "awkward")]

    async def write() -> dict[str, tuple[Bundle, list[ToolVerdict]]]:
        async with open_deps(Settings(workspace=root)) as deps:
            return {bundle.id: (bundle, await write_tools(bundle, deps)) for bundle in bundles}

    return asyncio.run(write())


@pytest.fixture
def library(written: dict[str, tuple[Bundle, list[ToolVerdict]]]) -> Bundle:
    return written["library"][0]


@pytest.fixture
def awkward(written: dict[str, tuple[Bundle, list[ToolVerdict]]]) -> Bundle:
    return written["awkward"][0]


def specs(bundle: Bundle) -> dict[str, ToolSpec]:
    return {tool.name: tool for tool in bundle.tools()}


async def file_after(instance: Instance, name: str) -> str:
    return unpack(await instance.snapshot()).contents[name].decode()


@pytest.mark.parametrize("name", ["library", "awkward"])
def test_every_written_tool_passes_several_tests_and_is_kept(
    written: dict[str, tuple[Bundle, list[ToolVerdict]]], name: str
) -> None:
    bundle, verdicts = written[name]
    assert [v.tool for v in verdicts if not v.kept] == []
    assert all(v.tests_passed == v.tests_total >= 2 for v in verdicts)
    assert sum(v.tests_total for v in verdicts) >= 4 * len(verdicts)
    assert list(bundle.environment().tools) == verdicts
    assert [tool.name for tool in bundle.tools()] == [v.tool for v in verdicts]


def test_all_kinds_of_operation_occur_and_no_table_is_left_out(library: Bundle) -> None:
    operations = [tool.operation for tool in library.tools()]
    kinds = {o.kind for o in operations if o}
    assert kinds == {
        "get", "search", "list", "related", "count", "aggregate", "create", "update", "delete", "custom"
    }  # fmt: skip
    per_table = Counter(o.table for o in operations if o)
    assert set(per_table) == {"books", "loans", "members"}
    assert max(per_table.values()) <= 2 * min(per_table.values())


def test_names_are_those_of_a_good_api(library: Bundle) -> None:
    names = set(specs(library))
    assert {"get_book", "search_books", "list_books_by_genre", "list_loans_by_book", "count_loans_by_book"} <= names
    assert {"average_books_pages", "update_book_copies", "delete_loan", "reassign_loans_book"} <= names


def test_schemas_are_typed_closed_and_described(library: Bundle) -> None:
    for tool in library.tools():
        assert tool.input_schema["additionalProperties"] is False
        assert all(p["type"] and p["description"] for p in tool.input_schema["properties"].values())
        assert tool.output_schema is not None
        assert tool.annotations.read_only == tool.name.startswith(
            ("get", "search", "list", "count", "average", "highest", "lowest", "total", "top")
        )
    assert specs(library)["list_books_by_genre"].input_schema["properties"]["genre"]["enum"][0] == "adventure"
    assert specs(library)["update_book_copies"].input_schema["properties"]["copies"]["minimum"] == 0
    assert "loan_id" not in specs(library)["place_loan"].input_schema["properties"]


def test_columns_are_called_what_a_person_calls_them(library: Bundle) -> None:
    books = read_data(library).table("books").model_copy(update={"name": "genres", "columns": (
        Column(name="genre", type="string"), Column(name="genre_id", type="integer"),
        Column(name="books", type="integer"), Column(name="mean_height_in", type="number"),
        Column(name="checked_in", type="string"), Column(name="weight_kg", type="number"),
        Column(name="hours_spent", type="number"),
    )})  # fmt: skip
    assert [own(books, column.name) for column in books.columns] == [
        "name", "ID", "number of books", "mean height in inches", "checked in", "weight in kilograms", "hours spent"
    ]  # fmt: skip


@pytest.mark.parametrize("most", [5, 12])
async def test_the_limit_on_tools_is_kept_and_every_table_is_served(library: Bundle, most: int) -> None:
    draft = await ProceduralCoder(seed=0, most=most).draft(library)
    assert len(draft.tools) == most
    assert {tool.spec.operation.table for tool in draft.tools if tool.spec.operation} == {"books", "loans", "members"}


async def test_the_same_database_gives_the_same_files_byte_for_byte(library: Bundle, tmp_path: Path) -> None:
    other = make_library(tmp_path / "environments" / "library")
    async with open_deps(Settings(workspace=tmp_path)) as deps:
        await write_tools(other, deps)
        await write_tools(other, deps)
    for name in ("tools.py", "tool_tests.py", "tools.json"):
        assert (other.root / name).read_bytes() == (library.root / name).read_bytes()
    assert not list(other.root.glob(".*"))


def test_the_unit_tests_run_under_plain_pytest(awkward: Bundle, tmp_path: Path) -> None:
    folder = tmp_path / "copy"
    shutil.copytree(awkward.database, folder)
    for name in ("tools.py", "tool_tests.py"):
        shutil.copy(awkward.root / name, folder)
    command = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", "tool_tests.py"]
    result = subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False)
    total = sum(v.tests_total for v in awkward.environment().tools)
    assert f"{total} passed" in result.stdout, result.stdout[-2000:]


@pytest.mark.parametrize("name", ["library", "awkward"])
async def test_operations_say_truly_what_arguments_and_outputs_stand_for(
    written: dict[str, tuple[Bundle, list[ToolVerdict]]], runtime: Runtime, name: str
) -> None:
    bundle = written[name][0]
    data = read_data(bundle)
    instance = await runtime.open(bundle.root)
    tried = 0
    for tool in bundle.tools():
        operation = tool.operation
        assert operation is not None
        if operation.kind not in ("get", "search", "list", "related"):
            continue
        row = next(row for row in data.rows[operation.table] if None not in row.values())
        seen = await instance.call(tool.name, _arguments(data, operation.inputs, operation.table, row))
        assert seen.ok, (tool.name, seen.text)
        key = data.table(operation.table).primary_key
        shown = next(item for item in _rows(seen.value) if item[key] == row[key])
        for path, target in operation.outputs.items():
            table, _, column = target.partition(".")
            if table == operation.table:
                assert shown[path.removeprefix("items[].")] == row[column], (tool.name, path)
        tried += 1
    assert tried >= 8


def _arguments(data: Any, inputs: dict[str, str], table: str, row: dict[str, Any]) -> dict[str, Any]:
    links = {f"{k.table}.{k.target}": k.column for k in data.table(table).foreign_keys}
    return {name: row[links.get(target, target.partition(".")[2])] for name, target in inputs.items()}


def _rows(value: Any) -> list[dict[str, Any]]:
    rows: list[dict[str, Any]] = value.get("items", [value])
    return rows


async def test_refusals_have_stable_codes_and_change_nothing(library: Bundle, runtime: Runtime) -> None:
    instance = await runtime.open(library.root)
    before = await instance.state_hash()
    asked: list[tuple[str, dict[str, Any], str]] = [
        ("get_book", {"book_id": "B999"}, "not_found"),
        ("list_loans_by_book", {"book_id": "B999"}, "not_found"),
        ("list_books_by_genre", {"genre": "horror", "limit": True}, "invalid_arguments"),
        ("update_book_copies", {"book_id": "B001", "copies": -1}, "invalid_arguments"),
        ("place_loan", {"book_id": "B999", "member_id": "M01", "lent": "2025-05-01"}, "not_found"),
        ("reassign_loans_book", {"from_book_id": "B001", "to_book_id": "B001"}, "invalid_value"),
    ]
    for tool, arguments, code in asked:
        assert (await instance.call(tool, arguments)).error == code, tool
    assert await instance.state_hash() == before


async def test_a_row_that_others_refer_to_cannot_be_deleted_and_a_free_one_can(
    awkward: Bundle, runtime: Runtime
) -> None:
    instance = await runtime.open(awkward.root)
    assert (await instance.call("delete_city", {"city_code": "zrh"})).error == "in_use"
    assert (await instance.diff()).changes == ()
    assert (await instance.call("delete_city", {"city_code": "gen"})).value["name"] == "Genève"
    assert [(c.table, c.key, c.kind) for c in (await instance.diff()).changes] == [("cities", "gen", "removed")]


def test_no_tool_is_written_that_the_data_would_always_refuse(library: Bundle) -> None:
    assert "delete_loan" in specs(library)
    assert not {"delete_book", "delete_member"} & set(specs(library))  # one book and no member could ever go


async def test_a_new_row_gets_the_next_number_and_stands_last(library: Bundle, runtime: Runtime) -> None:
    instance = await runtime.open(library.root)
    given = {"book_id": "B002", "member_id": "M01", "lent": "2025-05-01"}
    made = await instance.call("place_loan", given)
    assert made.value == {"loan_id": 26, **given, "returned": None, "fine": 0.0}
    (change,) = (await instance.diff()).changes
    assert (change.table, change.key, change.kind) == ("loans", "26", "added")


async def test_writing_a_csv_cell_leaves_every_other_byte_alone(awkward: Bundle, runtime: Runtime) -> None:
    instance = await runtime.open(awkward.root)
    before = (awkward.database / "cities.csv").read_bytes().decode()
    assert (await instance.call("update_city_population", {"city_code": "str", "population": 1300})).ok
    after = await file_after(instance, "cities.csv")
    assert after == before.replace(",1200,", ",1300,")
    rows = list(csv.DictReader(io.StringIO(after, newline="")))
    assert rows[5]["name"] == 'Straße "am" Meer, Nord'


async def test_writing_a_json_value_leaves_every_other_byte_alone(awkward: Bundle, runtime: Runtime) -> None:
    instance = await runtime.open(awkward.root)
    before = (awkward.database / "limits.json").read_text()
    assert (await instance.call("update_limit_city", {"limit_number": "L03", "city": "por"})).ok
    rows = json.loads(before)
    rows[2]["city"] = "por"
    assert await file_after(instance, "limits.json") == json.dumps(rows, indent=2, ensure_ascii=False) + "\n"


async def test_moving_all_rows_is_one_call_and_touches_no_other_column(awkward: Bundle, runtime: Runtime) -> None:
    instance = await runtime.open(awkward.root)
    ends = {"from_city_code": "kat", "to_city_code": "lis"}
    moved = await instance.call("reassign_temperature_readings_city", ends)
    changes = (await instance.diff()).changes
    assert moved.value == {"moved": len(changes)}
    assert len(changes) == 5
    assert {(c.table, c.kind) for c in changes} == {("temperature_readings", "changed")}
    assert all(c.after == {"city_code": "lis"} for c in changes)


async def test_search_ignores_case_beyond_ascii_and_booleans_are_booleans(awkward: Bundle, runtime: Runtime) -> None:
    instance = await runtime.open(awkward.root)
    greek = await instance.call("search_cities", {"query": "ΑΘΉΝΑ"})
    assert [item["code"] for item in greek.value["items"]] == ["ath"]
    sharp = await instance.call("search_cities", {"query": "STRASSE"})
    assert [item["code"] for item in sharp.value["items"]] == ["str"]
    assert (await instance.call("get_city", {"city_code": "lis"})).value["coastal"] is True
    assert (await instance.call("count_cities_by_coastal", {"coastal": True})).value == {"count": 5}
    assert (await instance.call("get_city", {"city_code": "nul"})).value["population"] is None


async def test_a_broken_file_is_an_error_of_the_environment_not_an_empty_table(
    library: Bundle, runtime: Runtime, tmp_path: Path
) -> None:
    broken = tmp_path / "broken"
    shutil.copytree(library.root, broken)
    (broken / "database" / "loans.sqlite").unlink()
    (broken / "database" / "books.json").write_text('[{"book_id": "B001", "pages": NaN}]')
    instance = await runtime.open(broken)
    assert (await instance.call("get_loan", {"loan_id": 1})).error == "broken_table"
    assert (await instance.call("count_loans_by_book", {"book_id": "B001"})).error == "broken_table"
    assert (await instance.call("get_book", {"book_id": "B001"})).error == "broken_table"
    assert (await instance.diff()).changes == ()  # no empty file was made in passing


@pytest.mark.parametrize("seed", [0, 7])
@pytest.mark.parametrize("name", ["library", "awkward"])
async def test_the_unit_tests_catch_at_least_eight_of_ten_seeded_faults(
    written: dict[str, tuple[Bundle, list[ToolVerdict]]], runtime: Runtime, name: str, seed: int
) -> None:
    bundle = written[name][0]
    score = await mutation_score(bundle, await runtime.open(bundle.root), seed=seed)
    assert score.total == 10
    assert score.caught >= 8, score.survivors
    assert score.caught + len(score.survivors) == score.total
