from pathlib import Path

from agent_world.agents.synthesizer.flows import observe
from agent_world.agents.synthesizer.graph import (
    build_tool_graph,
    by_name,
    graph_json,
    read_tool_graph,
    starts,
    write_tool_graph,
)
from agent_world.agents.synthesizer.world import World
from agent_world.schema import ToolSpec
from agent_world.tools.runtime import Instance
from tests.worlds import make_library


def test_the_graph_is_fully_connected_and_weighted_by_kind(world: World) -> None:
    graph = build_tool_graph(world)
    count = len(world.tools)
    assert graph.number_of_edges() == count * (count - 1)
    weights = {"strong": 3, "weak": 2, "independent": 1}
    assert all(data["weight"] == weights[data["kind"]] for _, _, data in graph.edges(data=True))


def test_a_key_that_people_do_not_know_makes_a_strong_edge_with_its_binding(world: World) -> None:
    edge = build_tool_graph(world).edges["search_books", "get_book"]
    assert edge["kind"] == "strong"
    assert [(b.path, b.argument) for b in edge["bindings"]] == [("items[].book_id", "book_id")]


def test_a_foreign_key_leads_from_a_row_to_its_parent(world: World) -> None:
    edge = build_tool_graph(world).edges["list_loans_by_member", "get_book"]
    (binding,) = edge["bindings"]
    assert (edge["kind"], binding.path, binding.argument) == ("strong", "items[].book_id", "book_id")
    assert binding.evidence.startswith("foreign key")


def test_a_tool_that_echoes_the_key_it_was_given_is_no_source_of_it(world: World) -> None:
    assert build_tool_graph(world).edges["get_book", "update_book_copies"]["kind"] == "weak"


def test_nothing_feeds_an_unrelated_tool(world: World) -> None:
    assert build_tool_graph(world).edges["get_member", "average_books_pages"]["kind"] == "independent"


def test_walks_start_at_producers_that_need_no_strong_predecessor(world: World) -> None:
    found = starts(build_tool_graph(world))
    assert "search_books" in found
    assert "get_book" not in found
    assert not {"update_book_copies", "delete_loan", "count_loans_by_book"} & set(found)


async def test_running_the_tools_confirms_bindings_and_changes_nothing(world: World, instance: Instance) -> None:
    graph = build_tool_graph(world)
    before = await instance.state_hash()
    await observe(graph, world, instance)
    evidence = [b.evidence for b in graph.edges["search_books", "count_loans_by_book"]["bindings"]]
    assert any("seen to flow" in text for text in evidence)
    assert await instance.state_hash() == before


def test_the_graph_comes_back_from_disk_as_it_was(world: World) -> None:
    graph = build_tool_graph(world)
    write_tool_graph(world.bundle, graph)
    assert graph_json(read_tool_graph(world.bundle)) == graph_json(graph)


def test_tools_of_which_only_schemas_are_known_are_bound_by_name_and_type() -> None:
    source = ToolSpec(
        name="find_ticket", description="Find one.", input_schema={"type": "object", "properties": {}},
        output_schema={
            "type": "object",
            "properties": {
                "tickets": {"type": "array", "items": {"properties": {"ticket_id": {"type": "string"}}}},
                "limit": {"type": "integer"},
            },
        },
    )  # fmt: skip
    taken = {"ticket_id": {"type": "string"}, "limit": {"type": "integer"}}
    target = ToolSpec(name="close", description="Close it.", input_schema={"type": "object", "properties": taken})
    number = {**taken, "ticket_id": {"type": "integer"}}
    other = ToolSpec(name="other", description="Other.", input_schema={"type": "object", "properties": number})
    assert [(b.path, b.argument) for b in by_name(source, target)] == [("tickets[].ticket_id", "ticket_id")]
    assert by_name(source, other) == []


def test_a_tool_without_a_known_operation_is_in_the_graph(tmp_path: Path) -> None:
    bundle = make_library(tmp_path / "library")
    known = bundle.tools()
    plain = known[0].model_copy(update={"name": "borrow", "meta": {}})
    bundle.write_specs([*known, plain])
    graph = build_tool_graph(World(bundle))
    assert graph.number_of_edges() == (len(known) + 1) * len(known)
    assert graph.nodes["borrow"]["kind"] == "other"
