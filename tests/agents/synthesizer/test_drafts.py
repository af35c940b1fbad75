"""Chains and programs: drafts are deterministic, run, and agree with the rows."""

import random
from collections import Counter

import pytest

from agent_world.agents.synthesizer.chains import propose_chain
from agent_world.agents.synthesizer.draft import Draft, Keys
from agent_world.agents.synthesizer.graph import build_tool_graph
from agent_world.agents.synthesizer.programs import propose_program
from agent_world.agents.synthesizer.proposals import Proposal, draft_of, propose
from agent_world.agents.synthesizer.realise import Realised, disagreement, realise
from agent_world.agents.synthesizer.script import renumber
from agent_world.agents.synthesizer.walks import Bias
from agent_world.agents.synthesizer.world import World
from agent_world.agents.validator.replay import Run
from agent_world.schema import Chain, Fold, Guideline, Origin, Ref, Step, Value
from agent_world.tools.runtime import Instance


def drafts(world: World, strategy: str, count: int, level: int = 2) -> list[Draft]:
    graph = build_tool_graph(world)
    found = []
    for i in range(count):
        rng = random.Random(f"{strategy}:{level}:{i}")
        if strategy == "graph":
            found.append(propose_chain(world, graph, level, Bias(), rng))
        else:
            found.append(propose_program(world, level, Bias(), rng))
    return [draft for draft in found if draft is not None]


@pytest.mark.parametrize("strategy", ["graph", "program"])
def test_the_same_seed_gives_the_same_drafts(world: World, strategy: str) -> None:
    assert drafts(world, strategy, 20) == drafts(world, strategy, 20)


@pytest.mark.parametrize(("strategy", "level"), [("graph", 1), ("graph", 3), ("program", 1), ("program", 3)])
async def test_drafts_run_and_the_tools_say_what_the_rows_say(
    world: World, instance: Instance, strategy: str, level: int
) -> None:
    outcomes: Counter[str] = Counter()
    for draft in drafts(world, strategy, 100 if (strategy, level) == ("graph", 3) else 25, level):
        made = await realise(draft, world.id, Origin(engine="procedural"), 0, instance)
        if draft.writes:
            await instance.reset()
        outcomes["ok" if isinstance(made, Realised) else made] += 1
    assert outcomes["ok"] >= 0.9 * outcomes.total(), outcomes
    assert outcomes["ok"] >= 8


def test_arguments_are_references_or_real_values_and_never_values_of_a_run(world: World) -> None:
    for draft in drafts(world, "graph", 60, 3):
        assert isinstance(draft.solution, Chain)
        assert all(isinstance(a, Ref | Fold) for a in draft.solution.answer.values())
        for number, step in enumerate(draft.solution.steps):
            for argument in step.arguments.values():
                assert isinstance(argument, Value) or argument.step < number


def test_programs_of_many_rows_loop_and_small_ones_do_not(world: World) -> None:
    assert any("for row in" in d.solution.source for d in drafts(world, "program", 40, 3))  # type: ignore[union-attr]


def test_steps_that_nothing_needs_are_pruned_and_references_follow(world: World) -> None:
    steps = (
        Step(tool="get_member", arguments={"member_id": Value(value="M01")}),
        Step(tool="search_books", arguments={"title": Value(value="Emma")}),
        Step(tool="get_book", arguments={"book_id": Ref(step=1, path="items.0.book_id")}),
    )
    kept, answer = renumber(steps, {"year": Ref(step=2, path="year")}, [1, 2])
    assert [step.tool for step in kept] == ["search_books", "get_book"]
    assert kept[1].arguments["book_id"] == Ref(step=0, path="items.0.book_id")
    assert answer == {"year": Ref(step=1, path="year")}


def test_an_answer_that_the_rows_contradict_is_no_gold() -> None:
    draft = Draft(Chain(steps=(), answer={}), "?", expected={"count": 3}, types={"count": "integer"})
    assert disagreement(draft, Run({"count": 4}, ())) == "tools and rows disagree: count"
    assert disagreement(draft, Run({"count": 3}, ())) == ""


def test_answer_keys_are_unique() -> None:
    keys = Keys()
    assert [keys.new("name", "book") for _ in range(3)] == ["name", "book_name", "name_2"]


def test_guidelines_steer_operations_strategies_and_levels(world: World) -> None:
    deletes = Guideline(
        id="g1",
        text="delete more",
        failure="state_not_tracked",
        operations=("delete",),
        strategies=("graph",),
        levels=(2,),
    )
    proposals = propose("graph", range(60), "s", (), [deletes])
    assert {p["level"] for p in proposals} == {2}
    assert {p["guideline"] for p in proposals} == {"g1"}
    graph = build_tool_graph(world)
    plain = [d for p in proposals if (d := draft_of(world, graph, Proposal(**{**p, "guideline": ""})))]
    steered = [d for p in proposals if (d := draft_of(world, graph, p, [deletes]))]
    assert sum(d.writes for d in steered) > 1.5 * sum(d.writes for d in plain)
