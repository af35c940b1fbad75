import json
from pathlib import Path

from agent_world.agents.model import open_model
from agent_world.agents.synthesizer.graph import build_tool_graph
from agent_world.agents.synthesizer.llm import judge_edges, reword
from agent_world.agents.synthesizer.world import World
from agent_world.schema import Chain, Difficulty, Origin, Ref, Step, Task, Value
from tests.openai_server import scripted_openai
from tests.worlds import make_library


def find_year() -> Task:
    search = Step(tool="search_books", arguments={"title": Value(value="Emma")})
    return Task(
        id="year", environment="library", strategy="graph", question="What is the year of Emma?",
        answer_schema={
            "type": "object", "properties": {"year": {"type": "integer"}}, "required": ["year"],
            "additionalProperties": False,
        },
        reference_answer={"year": 1815},
        solution=Chain(steps=(search,), answer={"year": Ref(step=0, path="items.0.year")}),
        difficulty=Difficulty(level=1, calls=1, distinct_tools=1), origin=Origin(engine="procedural"),
    )  # fmt: skip


async def test_a_reworded_question_keeps_its_literals_and_says_who_worded_it() -> None:
    task = find_year()
    async with scripted_openai([json.dumps({"question": "When was Emma written?"})]) as server:
        found = await reword(task, open_model(server.config))
    assert found is not None
    assert found.question == "When was Emma written?"
    assert (found.origin.engine, found.origin.model) == ("llm", "openai:scripted")
    assert found.reference_answer == task.reference_answer


async def test_a_rewording_that_loses_a_literal_is_refused() -> None:
    async with scripted_openai([json.dumps({"question": "When was that book written?"})]) as server:
        assert await reword(find_year(), open_model(server.config)) is None


async def test_a_rewording_that_turns_the_question_round_is_refused() -> None:
    task = find_year().model_copy(update={"question": "Is Emma of the latest year?"})
    async with scripted_openai([json.dumps({"question": "Is Emma of the earliest year?"})]) as server:
        assert await reword(task, open_model(server.config)) is None


async def test_a_model_can_strike_a_weak_edge_but_not_invent_one(tmp_path: Path) -> None:
    world = World(make_library(tmp_path / "library"))
    graph = build_tool_graph(world)
    weak = next((u, v) for u, v, d in sorted(graph.edges(data=True)) if d["kind"] == "weak" and d["bindings"])
    said = {
        "verdicts": [
            {"source": weak[0], "target": weak[1], "depends": False},
            {"source": "no_such_tool", "target": weak[1], "depends": False},
        ]
    }
    async with scripted_openai([json.dumps(said), *[json.dumps({"verdicts": []})] * 9]) as server:
        assert await judge_edges(graph, world, open_model(server.config)) == 1
    assert graph.edges[weak]["kind"] == "independent"
    assert "no_such_tool" not in graph


async def test_a_verdict_on_edges_is_asked_for_once_for_the_same_tools_and_model(tmp_path: Path) -> None:
    world = World(make_library(tmp_path / "library"))
    graph, again, other = (build_tool_graph(world) for _ in range(3))
    weak = next((u, v) for u, v, d in sorted(graph.edges(data=True)) if d["kind"] == "weak" and d["bindings"])
    said = json.dumps({"verdicts": [{"source": weak[0], "target": weak[1], "depends": False}]})
    async with scripted_openai([said], repeat=True) as server:
        model = open_model(server.config)
        assert await judge_edges(graph, world, model, tmp_path / "edges") == 1
        asked = len(server.requests)
        assert await judge_edges(again, world, model, tmp_path / "edges") == 1
        assert len(server.requests) == asked
        assert again.edges[weak]["kind"] == "independent"
        world.tools[0] = world.tools[0].model_copy(update={"description": "Something else."})
        await judge_edges(other, world, model, tmp_path / "edges")
        assert len(server.requests) == 2 * asked, "other tools are judged anew"
