"""The graph from draft to kept tools: with the procedural coder, and a scripted model behind a real HTTP server."""

import json
from pathlib import Path
from typing import Any

import pytest

from agent_world.graphs.deps import open_deps
from agent_world.graphs.write_tools import build_graph, write_tools
from agent_world.memory.store import Bundle, write_text
from agent_world.schema import Note, ToolSpec, ToolVerdict
from agent_world.settings import ModelConfig, RoleConfig, Settings, ToolSettings
from tests.openai_server import Fault, Reply, ScriptedServer, scripted_openai
from tests.worlds import make_library

GOOD = {
    "name": "count_books",
    "description": "Count all books.",
    "parameters": {"type": "object", "properties": {}},
    "returns": {"type": "object", "properties": {"count": {"type": "integer"}}},
    "operation": {"kind": "count", "table": "books"},
    "source": "def count_books():\n    return {'count': len(_rows('books'))}",
    "tests": ["def test_count_books_all():\n    check(tools.count_books(), {'count': 20})"],
}
WRONG = {
    "name": "first_title",
    "description": "Title of the first book.",
    "parameters": {"type": "object", "properties": {}},
    "operation": {"kind": "get", "table": "no_such_table"},
    "source": "def first_title():\n    return {'title': _rows('books')[1]['title']}",
    "tests": ["def test_a():\n    check(tools.first_title(), {'title': 'Dracula'})"],
}
RIGHT = WRONG | {"source": "def first_title():\n    return {'title': _rows('books')[0]['title']}"}


def reply(*tools: dict[str, Any]) -> str:
    return "```json\n" + json.dumps({"tools": tools}) + "\n```"


def llm(workspace: Path, model: ModelConfig, **tools: Any) -> Settings:
    role = RoleConfig(engine="llm", model=model)
    return Settings(workspace=workspace, roles={"coder": role}, tools=ToolSettings(**tools))


async def write(server: ScriptedServer, root: Path, **tools: Any) -> tuple[Bundle, dict[str, ToolVerdict]]:
    bundle = make_library(root / "environments" / "library")
    async with open_deps(llm(root, server.config, **tools)) as deps:
        verdicts = await write_tools(bundle, deps)
    return bundle, {found.tool: found for found in verdicts}


async def test_the_graph_writes_the_tools_of_an_environment_given_by_its_id(tmp_path: Path) -> None:
    bundle = make_library(tmp_path / "environments" / "library")
    async with open_deps(Settings(workspace=tmp_path, tools=ToolSettings(max_tools=6))) as deps:
        state = await build_graph().ainvoke({"environment": "library"}, context=deps.context)
    assert json.loads(json.dumps(state)) == state
    assert [found["tool"] for found in state["verdicts"]] == [tool.name for tool in bundle.tools()]
    assert len(bundle.tools()) == 6
    head = bundle.environment()
    assert [v.tool for v in head.tools] == [tool.name for tool in bundle.tools()]
    assert head.content_hash == bundle.content_hash()
    assert not (bundle.root / ".draft.json").exists()


def test_studio_sees_typed_input_and_context() -> None:
    graph = build_graph()
    assert list(graph.get_input_jsonschema()["properties"]) == ["environment"]
    assert set(graph.get_context_jsonschema()["properties"]) == {"config", "overrides"}


async def test_a_models_failing_tool_is_repaired_from_what_went_wrong(tmp_path: Path) -> None:
    async with scripted_openai([reply(GOOD, WRONG), reply(RIGHT)]) as server:
        bundle, verdicts = await write(server, tmp_path)
        asked = [str(request["messages"]) for request in server.requests]
    assert {name: v.kept for name, v in verdicts.items()} == {"count_books": True, "first_title": True}
    assert verdicts["first_title"].origin.model == "openai:scripted"
    assert len(asked) == 2
    assert "Frankenstein" in asked[1]
    assert "def count_books" not in asked[1]
    specs = {tool.name: tool for tool in bundle.tools()}
    assert specs["count_books"].operation is not None
    assert specs["first_title"].operation is None  # it named a table that is not there


async def test_what_cannot_be_repaired_is_dropped_with_its_reason_and_is_nowhere_in_the_files(tmp_path: Path) -> None:
    async with scripted_openai([reply(GOOD, WRONG), reply(WRONG), reply(WRONG)]) as server:
        bundle, verdicts = await write(server, tmp_path, repairs=2)
        assert len(server.requests) == 3
    assert not verdicts["first_title"].kept
    assert verdicts["first_title"].reason.startswith("only 0 of 1 tests pass, first: AssertionError")
    assert [v.kept for v in bundle.environment().tools] == [True, False]
    assert [tool.name for tool in bundle.tools()] == ["count_books"]
    for name in ("tools.py", "tool_tests.py", "tools.json"):
        assert "first_title" not in (bundle.root / name).read_text()


async def test_an_environment_without_a_valid_tool_keeps_none_and_says_why(tmp_path: Path) -> None:
    async with scripted_openai([reply(WRONG)]) as server:
        bundle, verdicts = await write(server, tmp_path, repairs=0)
    assert bundle.tools() == []
    assert [found.kept for found in verdicts.values()] == [False]
    assert bundle.environment().tools == tuple(verdicts.values())


async def test_a_reply_out_of_form_is_sent_back_and_only_wanted_tools_are_replaced(tmp_path: Path) -> None:
    other = GOOD | {"source": "def count_books():\n    return {'count': 0}"}
    async with scripted_openai(["I would rather not.", reply(GOOD, WRONG), reply(RIGHT, other)]) as server:
        _, verdicts = await write(server, tmp_path)
    assert {name: v.kept for name, v in verdicts.items()} == {"count_books": True, "first_title": True}


@pytest.mark.parametrize(
    "attack", ["open('/etc/passwd').read()", "__import__('socket').create_connection(('127.0.0.1', 80))"]
)
async def test_model_written_code_runs_in_the_sandbox_only(tmp_path: Path, attack: str) -> None:
    bad = GOOD | {"source": f"{attack}\n\n{GOOD['source']}"}
    async with scripted_openai([reply(bad, RIGHT)]) as server:
        _, verdicts = await write(server, tmp_path, repairs=0)
    assert not verdicts["count_books"].compiled
    assert verdicts["first_title"].kept


BAD: list[Reply] = [
    "",
    "I'm sorry, I cannot write code.",
    '{"tools": [{"name": "a"',
    '{"tools": []',
    Fault(429),
    Fault(500),
]
ODD = [
    GOOD | {"name": "Count Books"},
    GOOD | {"parameters": []},
    GOOD | {"tests": []},
    {key: GOOD[key] for key in GOOD if key != "source"},
]


@pytest.mark.parametrize("bad", [*BAD, Fault(cut=True), *map(reply, ODD)], ids=range(len(BAD) + 1 + len(ODD)))
async def test_a_bad_answer_is_asked_for_again(tmp_path: Path, bad: Reply) -> None:
    async with scripted_openai([bad, reply(GOOD)]) as server:
        _, verdicts = await write(server, tmp_path, repairs=0)
        assert len(server.requests) == 2
    assert verdicts["count_books"].kept
    assert verdicts["count_books"].origin.engine == "llm"


@pytest.mark.parametrize("bad", [BAD[0], BAD[3], Fault(500), Fault(401)], ids=repr)
async def test_where_the_model_gives_nothing_tools_are_written_without_it(tmp_path: Path, bad: Reply) -> None:
    async with scripted_openai([bad], repeat=True) as server:
        bundle, verdicts = await write(server, tmp_path, max_tools=4)
    assert len(bundle.tools()) == 4
    assert {found.origin.engine for found in verdicts.values()} == {"procedural"}


@pytest.mark.parametrize("bad", [BAD[1], BAD[2], Fault(429), Fault(cut=True)], ids=repr)
async def test_a_repair_that_fails_loses_no_finished_tool(tmp_path: Path, bad: Reply) -> None:
    async with scripted_openai([reply(GOOD, WRONG), bad], repeat=True) as server:
        bundle, verdicts = await write(server, tmp_path, repairs=2)
    assert [tool.name for tool in bundle.tools()] == ["count_books"]
    assert not verdicts["first_title"].kept


@pytest.mark.parametrize(
    "odd",
    [
        {"source": "def count_books(:"},
        {"source": "def other():\n    return 1"},
        {"parameters": {"type": "objekt"}},
        {"parameters": {"type": "object", "properties": {"x": {"$ref": "#/$defs/none"}}}},
        {"returns": {"type": "object", "properties": 7}},
        {"tests": ["not a test"]},
        {"tests": ["def test_a():\n    import os\n    os._exit(3)"]},
    ],
    ids=range(7),
)
async def test_a_tool_that_is_wrong_in_itself_is_dropped_and_the_others_are_kept(
    tmp_path: Path, odd: dict[str, Any]
) -> None:
    async with scripted_openai([reply(GOOD | {"name": "other_count"} | odd, RIGHT)]) as server:
        bundle, verdicts = await write(server, tmp_path, repairs=0)
    assert [tool.name for tool in bundle.tools()] == ["first_title"]
    assert verdicts["other_count"].reason != "kept"


LIAR = GOOD | {
    "source": "def count_books():\n    return {'count': 19}",
    "tests": ["def test_count_books_all():\n    check(tools.count_books(), {'count': 19})"] * 3,
}


async def test_a_models_tests_that_agree_with_its_fault_do_not_save_the_tool(tmp_path: Path) -> None:
    async with scripted_openai([reply(LIAR, RIGHT), reply(LIAR)]) as server:
        _, verdicts = await write(server, tmp_path, repairs=1)
        asked = [str(request["messages"]) for request in server.requests]
    assert "it contradicts the data that its operation speaks of" in asked[1]
    assert "test_count_books_against_the_data_1" in asked[1]
    assert not verdicts["count_books"].kept
    assert verdicts["count_books"].reason.startswith("it contradicts the data that its operation speaks of")
    assert (verdicts["count_books"].tests_passed, verdicts["count_books"].tests_total) == (3, 4)
    assert verdicts["first_title"].kept


async def test_a_model_sees_real_interfaces_and_notes_and_what_it_takes_over_is_marked(tmp_path: Path) -> None:
    bundle = make_library(tmp_path / "environments" / "library")
    environment = bundle.environment()
    schema = {"type": "object", "properties": {"shelf": {"type": "string", "description": "Such as A3."}}}
    real = ToolSpec(name="countBooks", description="How many.", input_schema=schema)
    note = Note(name="desk", file="desk.md", title="Front desk", table="books")
    write_text(bundle.database / "desk.md", "# Front desk\n")
    database = environment.database.model_copy(update={"notes": (note,)})
    theme = environment.theme.model_copy(update={"tools": (real,)})
    bundle.write_environment(environment.model_copy(update={"database": database, "theme": theme}))
    async with scripted_openai([reply(GOOD | {"mirrors": "countBooks"})]) as server:
        async with open_deps(llm(tmp_path, server.config)) as deps:
            await write_tools(bundle, deps)
        asked = server.requests[0]["messages"][0]["content"]
    assert '"shelf": {"type": "string", "description": "Such as A3."}' in asked
    assert "desk.md: Front desk (on books)" in asked
    assert "def _note_lines(note):" in asked
    (tool,) = bundle.tools()
    assert tool.meta["agent_world/mirrors"] == {"tool": "countBooks", "left_out": ["shelf"]}


@pytest.mark.parametrize("parameters", [{"properties": None}, {"required": 5}, {"properties": {"a": 3}}])
async def test_a_schema_that_is_none_is_a_reason_and_no_end(tmp_path: Path, parameters: dict[str, Any]) -> None:
    async with scripted_openai([reply(GOOD | {"parameters": parameters}, RIGHT)]) as server:
        _, verdicts = await write(server, tmp_path, repairs=0)
    assert verdicts["count_books"].reason.startswith("its schema is not valid")
    assert verdicts["first_title"].kept
