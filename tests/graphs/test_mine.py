"""The miner against the offline web with a real browser."""

import json
import shutil
from collections.abc import AsyncIterator
from datetime import datetime
from pathlib import Path

import pytest

from agent_world.agents.themes import read_theme
from agent_world.errors import UsageError, WebError
from agent_world.graphs.complexify import complexify_bundle, grow, undo_round
from agent_world.graphs.deps import Deps, open_deps
from agent_world.graphs.mine import build_graph, mine_theme
from agent_world.memory.store import Bundle
from agent_world.schema import Dropped, Theme
from agent_world.settings import PrdThemeSource, RoleConfig, Settings, ToolDocsThemeSource
from tests.openai_server import Fault, Reply, ScriptedServer, scripted_openai
from tests.tools.web.sites import free_port
from tests.worlds import make_library

EXAMPLES = Path(__file__).parents[2] / "examples" / "themes"
STORMS = PrdThemeSource(path=EXAMPLES / "storm_watch.md")
STARS = ToolDocsThemeSource(path=EXAMPLES / "star_wars_companion.json")


def settings(workspace: Path, **mining: int) -> Settings:
    port = free_port()
    web = {"serve_examples": True, "port": port, "allow_private": True}
    web["search"] = f"http://127.0.0.1:{port}/search?q={{query}}"
    rounds = {"rounds": 1, "pages": 0}
    return Settings.model_validate({"workspace": workspace, "web": web, "mining": mining, "complexify": rounds})


@pytest.fixture
async def deps(tmp_path: Path) -> AsyncIterator[Deps]:
    async with open_deps(settings(tmp_path)) as opened:
        yield opened


@pytest.mark.browser
async def test_a_theme_becomes_a_database_of_real_related_tables(deps: Deps) -> None:
    theme = await read_theme(STORMS)
    bundle = await mine_theme(theme, deps)
    assert not isinstance(bundle, Dropped)
    environment = bundle.environment()
    mined = [table for table in environment.database.tables if not table.synthetic]
    assert bundle.id == theme.id
    assert len(mined) >= 2
    assert any(table.foreign_keys for table in mined)
    assert len({table.format for table in environment.database.tables}) >= 3
    assert environment.rounds[0].score_after > environment.rounds[0].score_before
    assert {source.file for source in environment.sources} == {table.file for table in mined}
    assert all(source.address.startswith("http://127.0.0.1") and source.as_of for source in environment.sources)
    assert environment.content_hash == bundle.content_hash()
    crawl = (deps.settings.workspace / "mined" / theme.id / "crawl.jsonl").read_text().splitlines()
    assert {json.loads(line)["kind"] for line in crawl} >= {"search", "page", "download"}
    assert all(json.loads(line)["time"] for line in crawl)

    received = bundle.provenance().sources
    assert [source.model_dump(exclude={"retrieved"}) for source in received] == [
        source.model_dump() for source in environment.sources
    ]
    assert all(datetime.fromisoformat(source.retrieved).tzinfo and source.licence for source in received)

    first = contents(bundle)
    assert await mine_theme(theme, deps) == bundle
    assert differing(contents(bundle), first) <= {"provenance.json"}
    assert environment.content_hash == bundle.content_hash()


@pytest.mark.browser
async def test_a_bundle_grows_into_a_new_one_and_again_after_a_kill(deps: Deps) -> None:
    bundle = await mine_theme(await read_theme(STARS), deps)
    assert not isinstance(bundle, Dropped)
    before = bundle.content_hash()
    grown = await grow(bundle, 1, deps)
    assert grown.id == f"{bundle.id}_r1"
    assert bundle.content_hash() == before
    assert len(grown.environment().database.tables) > len(bundle.environment().database.tables)
    assert len(grown.environment().rounds) == len(bundle.environment().rounds) + 1
    finished = grown.content_hash()
    (grown.root / "environment.json").unlink()
    next(grown.database.iterdir()).write_text("half")
    assert (await grow(bundle, 1, deps)).content_hash() == finished


@pytest.mark.browser
async def test_a_theme_without_data_is_dropped_with_the_reason(deps: Deps) -> None:
    theme = Theme(
        id="sewage",
        name="Sewage valves",
        description="Valves and sluices.",
        kind="prd",
        source="x",
        keywords=("valve",),
    )
    dropped = await mine_theme(theme, deps)
    assert isinstance(dropped, Dropped)
    assert dropped.reason == "nothing that the searches found fits the theme"
    assert deps.store.ids() == []


@pytest.mark.browser
async def test_too_few_rows_are_too_little(tmp_path: Path) -> None:
    async with open_deps(settings(tmp_path, min_rows=100_000, pages=3)) as deps:
        dropped = await mine_theme(await read_theme(STARS), deps)
    assert isinstance(dropped, Dropped)
    assert "too little data" in dropped.reason


async def test_a_search_that_cannot_be_reached_is_broken_machinery(tmp_path: Path) -> None:
    config = settings(tmp_path)
    config = config.model_copy(update={"web": config.web.model_copy(update={"serve_examples": False})})
    async with open_deps(config) as deps:
        with pytest.raises(WebError):
            await mine_theme(await read_theme(STARS), deps)


async def test_a_finished_bundle_with_tools_can_be_complexified_in_place(tmp_path: Path) -> None:
    async with open_deps(settings(tmp_path)) as deps:
        library = make_library(deps.store.root / "library")
        columns = {t.name: [c.name for c in t.columns] for t in library.environment().database.tables}
        for number in (1, 2):
            await complexify_bundle(library, deps, number)
        environment = library.environment()
    now = {t.name: [c.name for c in t.columns] for t in environment.database.tables}
    assert columns.items() <= now.items()
    assert len(now) > len(columns)
    assert [r.number for r in environment.rounds] == [1, 2]
    assert environment.rounds[0].left_out == ()
    assert "awkward rows" in environment.rounds[1].left_out[0]


def test_the_graph_says_what_it_takes_and_holds() -> None:
    graph = build_graph()
    assert graph.get_input_jsonschema()["properties"].keys() == {"theme", "engine"}
    assert {"search", "read", "research", "assess", "persist", "complexify", "drop"} <= set(graph.get_graph().nodes)


async def test_every_round_is_undone_to_the_byte_and_made_again_the_same(tmp_path: Path) -> None:
    async with open_deps(settings(tmp_path)) as deps:
        library = make_library(deps.store.root / "library")
        states = [contents(library)]
        for number in (1, 2, 3):
            await complexify_bundle(library, deps, number)
            states.append(contents(library))
        assert len({frozenset(state.items()) for state in states}) == 4
        for number in (3, 2):
            assert undo_round(library, deps) == number
            assert contents(library) == states[number - 1]
        await complexify_bundle(library, deps, 2)
        assert contents(library) == states[2]
        for _ in range(2):
            undo_round(library, deps)
        assert contents(library) == states[0]
        with pytest.raises(UsageError, match="library has no round"):
            undo_round(library, deps)


async def test_an_undo_that_was_killed_goes_on_and_one_that_cannot_be_says_so(tmp_path: Path) -> None:
    async with open_deps(settings(tmp_path)) as deps:
        library = make_library(deps.store.root / "library")
        before = contents(library)
        await complexify_bundle(library, deps, 1)
        next(library.database.iterdir()).unlink()  # as a kill in the middle leaves it: the head still names the round
        undo_round(library, deps)
        assert contents(library) == before
        await complexify_bundle(library, deps, 1)
        shutil.rmtree(tmp_path / "mined")
        with pytest.raises(UsageError, match=r"before round 1 is not kept.*mine its theme again"):
            undo_round(library, deps)


def differing(one: dict[str, bytes], other: dict[str, bytes]) -> set[str]:
    return {name for name in one.keys() | other.keys() if one.get(name) != other.get(name)}


def contents(bundle: Bundle) -> dict[str, bytes]:
    return {p.relative_to(bundle.root).as_posix(): p.read_bytes() for p in bundle.root.rglob("*") if p.is_file()}


def with_model(config: Settings, server: ScriptedServer) -> Settings:
    return config.model_copy(update={"roles": {"miner": RoleConfig(engine="llm", model=server.config)}})


@pytest.mark.browser
async def test_a_model_that_researches_decides_what_the_database_holds(tmp_path: Path) -> None:
    config = settings(tmp_path)
    page = f"http://127.0.0.1:{config.web.port}/atlantic-storms"
    code = (
        "import json\ndef main():\n    seasons = json.load(open('files/seasons.json'))\n"
        "    return [len(json.load(open('storms.json'))), type(seasons).__name__]"
    )
    replies: list[Reply] = [
        {"name": "search", "arguments": {"query": "storms"}},
        [{"name": "open", "arguments": {"address": f"{page}/storms"}}, {"name": "none", "arguments": "{"}],
        {"name": "download", "arguments": {"address": f"{page}/seasons.json"}},
        {"name": "python", "arguments": {"code": code}},
        {"name": "finish", "arguments": {"tables": ["storms", "seasons"]}},
    ]
    async with scripted_openai(replies) as server, open_deps(with_model(config, server)) as deps:
        bundle = await mine_theme(await read_theme(STORMS), deps)
        assert not isinstance(bundle, Dropped)
        environment = bundle.environment()
    assert [t.name for t in environment.database.tables if not t.synthetic] == ["storms", "seasons"]
    assert (environment.origin.engine, environment.origin.model) == ("llm", "openai:scripted")
    assert '"result": [82, "list"]' in server.requests[-1]["messages"][-1]["content"]


@pytest.mark.browser
@pytest.mark.parametrize("answer", ["", "I cannot help with that.", Fault(500)], ids=["empty", "refusal", "500"])
async def test_a_theme_is_mined_without_the_model_where_it_fails(tmp_path: Path, answer: Reply) -> None:
    config = settings(tmp_path, pages=5)
    async with scripted_openai([answer], repeat=True) as server, open_deps(with_model(config, server)) as deps:
        bundle = await mine_theme(await read_theme(STORMS), deps)
    assert not isinstance(bundle, Dropped)
    assert bundle.environment().origin.engine == "procedural"
    crawl = (tmp_path / "mined" / bundle.id / "crawl.jsonl").read_text()
    assert '"kind": "research"' in crawl
