"""Tables kept in Markdown, JSON Lines or YAML: tools read and write them as any other, whatever the cells hold."""

import asyncio
from dataclasses import replace

import pytest

from agent_world.agents.coder.data import read_data
from agent_world.agents.miner.database import Database, load_database
from agent_world.graphs.deps import open_deps
from agent_world.graphs.write_tools import write_tools
from agent_world.memory.store import Bundle
from agent_world.schema import FileFormat
from agent_world.settings import Settings, ToolSettings
from agent_world.tools.files import unpack
from agent_world.tools.runtime import Runtime
from agent_world.tools.tables import read_rows
from tests.agents.coder.worlds import CITIES, make_awkward

NAMES = (
    *("a|b", "back\\slash\\", "two\nlines", " spaces at both ends ", "\\n", "| --- |"),
    *("x: \u2028\x85'\"", "- a\r", "#no", "null"),
)
BROKEN: dict[FileFormat, tuple[str, ...]] = {
    "markdown": ("# cities\n", "# cities\n\n| code |\n| --- |\n| zrh |\n", "| code\n"),
    "jsonl": ('{"code": "zrh"\n', "[1]\n", '{"code": NaN}\n'),
    "yaml": ("code: 1\n", "- code: [\n", "  code: 1\n"),
}


@pytest.fixture(scope="module", params=BROKEN)
def written(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Bundle:
    """The awkward database, all of it in one format, with tools."""
    form: FileFormat = request.param
    root = tmp_path_factory.mktemp(form)
    bundle = make_awkward(root / "environments" / "awkward")
    environment = bundle.environment()
    found = load_database(bundle, environment.database)
    for path in list(bundle.database.iterdir()):
        path.unlink()
    database = Database(tuple(replace(entry, format=form) for entry in found.entries))
    database.write(bundle)
    bundle.write_environment(environment.model_copy(update={"database": database.schema()}))

    async def write() -> None:
        settings = Settings(workspace=root, tools=ToolSettings(max_tools=30))
        async with open_deps(settings, checkpoints=False) as deps:
            await write_tools(bundle, deps)

    asyncio.run(write())
    return bundle


def test_the_oracle_and_the_miner_read_the_same_rows(written: Bundle) -> None:
    assert len({path.suffix for path in written.database.iterdir()}) == 1
    data = read_data(written)
    for table in data.tables:
        assert data.rows[table.name] == read_rows(written.database, table).records()
    assert [tuple(row.values()) for row in data.rows["cities"]] == CITIES


def test_every_tool_is_kept_with_all_its_tests(written: Bundle) -> None:
    verdicts = written.environment().tools
    assert [v.tool for v in verdicts if not v.kept or v.tests_passed < v.tests_total] == []
    assert {tool.name.partition("_")[0] for tool in written.tools()} >= {"get", "search", "create", "update", "delete"}


async def test_whatever_is_written_comes_back_and_is_one_row(written: Bundle, runtime: Runtime) -> None:
    instance = await runtime.open(written.root)
    for name in NAMES:
        row = {"code": "new", "name": name, "country": "XX", "population": 7, "coastal": True}
        assert (await instance.call("create_city", row)).ok
        assert (await instance.call("get_city", {"city_code": "new"})).value["name"] == name
        assert [(c.table, c.key, c.kind) for c in (await instance.diff()).changes] == [("cities", "new", "added")]
        assert (await instance.call("delete_city", {"city_code": "new"})).ok
        assert (await instance.diff()).changes == ()
    after = unpack(await instance.snapshot()).contents[file_of(written)]
    assert after == (written.database / file_of(written)).read_bytes()
    await instance.close()


async def test_a_file_that_holds_no_table_is_broken(written: Bundle, runtime: Runtime) -> None:
    for content in BROKEN[written.environment().database.table("cities").format]:
        instance = await runtime.open(written.root)
        code = f"def main():\n    open({file_of(written)!r}, 'w').write({content!r})"
        assert (await instance.run(code, "main", {})).ok
        assert (await instance.call("get_city", {"city_code": "zrh"})).error == "broken_table"
        await instance.close()


def file_of(bundle: Bundle) -> str:
    return bundle.environment().database.table("cities").file
