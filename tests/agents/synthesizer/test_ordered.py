"""Lists whose order counts: rows by a value that no two share, in that order and in no other."""

import random
from pathlib import Path

import pytest

from agent_world.agents.synthesizer import plan as p
from agent_world.agents.synthesizer.answers import IN_ORDER, answer_schema, ordered_fields
from agent_world.agents.synthesizer.chains import propose_chain
from agent_world.agents.synthesizer.draft import Draft
from agent_world.agents.synthesizer.graph import build_tool_graph
from agent_world.agents.synthesizer.meaning import Group, Where
from agent_world.agents.synthesizer.plan_database import Undetermined
from agent_world.agents.synthesizer.plan_sql import Reading
from agent_world.agents.synthesizer.programs import propose_program
from agent_world.agents.synthesizer.realise import Realised, realise
from agent_world.agents.synthesizer.walks import Bias
from agent_world.agents.synthesizer.world import World
from agent_world.agents.validator.gate import open_gate
from agent_world.schema import Fold, Origin
from agent_world.settings import LocalRuntime, Settings
from agent_world.tools.runtime import Instance, open_runtime

HORROR = p.Selection(group=Group("books", (Where("genre", "horror"),)))
TITLE, YEAR = p.Attr(column="title"), p.Attr(column="year")


def ranking(world: World, level: int) -> Draft:
    found = (propose_program(world, level, Bias(), random.Random(f"rank:{level}:{n}")) for n in range(400))
    return next(draft for draft in found if draft and draft.shape == "ranking")


def test_sql_puts_rows_in_order_and_refuses_ties(world: World) -> None:
    reading = Reading(world.sql)
    listing = p.Listing(of=HORROR, attr=TITLE, by=YEAR)
    titles = reading.value(listing)
    years = [world.where("books", "title", title)[0]["year"] for title in titles]
    assert years == sorted(years, reverse=True)
    assert len(years) > 1
    assert reading.value(listing.model_copy(update={"first": 1})) == titles[:1]
    assert reading.value(listing.model_copy(update={"highest": False})) == titles[::-1]
    every = p.Selection(group=Group("books"))
    with pytest.raises(Undetermined, match="share a place"):
        reading.value(p.Listing(of=every, attr=TITLE, by=p.Attr(column="copies")))


@pytest.mark.parametrize("level", [2, 3])
async def test_a_program_that_ranks_is_right_in_its_order_alone(world: World, instance: Instance, level: int) -> None:
    draft = ranking(world, level)
    made = await realise(draft, world.id, Origin(engine="procedural"), 0, instance)
    assert isinstance(made, Realised)
    task = made.task
    (key,) = ordered_fields(task)
    right = task.reference_answer[key]
    assert right == draft.expected[key]
    assert isinstance(right, list)
    for answer, ok in ((right, True), (right[::-1], False)):
        given = {"answer": {key: answer}, "reference": task.reference_answer, "diff": {"changes": []}}
        result = await instance.run(task.verifier or "", "verify", {**given, "expected_diff": {"changes": []}})
        assert result.ok is ok, answer


async def test_walks_rank_too_and_the_gate_takes_no_other_order(
    world: World, instance: Instance, tmp_path: Path
) -> None:
    graph = build_tool_graph(world)
    drawn = (propose_chain(world, graph, 2, Bias(), random.Random(f"order:{n}")) for n in range(1500))
    draft = next(d for d in drawn if d and d.ordered)
    assert all(isinstance(a, Fold) for a in draft.solution.answer.values())  # type: ignore[union-attr]
    made = await realise(draft, world.id, Origin(engine="procedural"), 0, instance)
    assert isinstance(made, Realised)
    assert ordered_fields(made.task) == {c.path for c in made.task.rubric if c.kind == "equal"} == set(draft.ordered)
    async with open_runtime(LocalRuntime()) as runtime, open_gate(world, runtime, Settings(workspace=tmp_path)) as gate:
        checks = (await gate.judge(made.task)).checks
    found = {check.name: check.passed for check in checks}
    assert found["near misses score 0"], checks
    assert found["harmless variants score 1"], checks


def test_a_schema_says_where_order_counts() -> None:
    schema = answer_schema({"names": "[string]", "ids": "[integer]"}, {"names"})
    assert schema["properties"]["names"]["description"] == IN_ORDER
    assert "description" not in schema["properties"]["ids"]
