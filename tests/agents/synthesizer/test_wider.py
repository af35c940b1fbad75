"""Groups that no single list gives, and conditions on free text: the tools, SQL and the words mean the same rows."""

import random
from collections.abc import AsyncIterator

import pytest

from agent_world.agents.synthesizer import plan as p
from agent_world.agents.synthesizer.access import Source, detail_of, qualities
from agent_world.agents.synthesizer.meaning import Group
from agent_world.agents.synthesizer.plan_code import program
from agent_world.agents.synthesizer.plan_sql import compare, solve_plan
from agent_world.agents.synthesizer.plan_words import Phrases
from agent_world.agents.synthesizer.program_parts import Crowd, Room
from agent_world.agents.synthesizer.program_tests import condition_on, texts_of
from agent_world.agents.synthesizer.sources import Rows, find_rows
from agent_world.agents.synthesizer.wider import Wish, wider
from agent_world.agents.synthesizer.wording import Wording
from agent_world.agents.synthesizer.words import value_text
from agent_world.agents.synthesizer.world import World
from agent_world.schema import Program
from agent_world.settings import LocalRuntime
from agent_world.tools.runtime import Instance, open_runtime


@pytest.fixture
async def instance(world: World) -> AsyncIterator[Instance]:
    """With time enough on a machine that is busy."""
    async with open_runtime(LocalRuntime(call_timeout_s=60, run_timeout_s=120)) as runtime:
        opened = await runtime.open(world.bundle.root)
        yield opened
        await opened.close()


def groups(world: World) -> list[Rows]:
    sizes = ((1, 4), (6, 12))
    found = (wider(Wish(world, random.Random(seed), *sizes[seed % 2], "rows"), None) for seed in range(60))
    return list({rows.group: rows for rows in found if rows is not None}.values())


def kind_of(group: Group) -> str:
    where = group.where[-1]
    if where.among or where.subjects:
        return "several"
    return "a word" if where.contains else "a condition"


def test_lists_are_put_together_searched_and_cut_down(world: World) -> None:
    assert {kind_of(rows.group) for rows in groups(world)} == {"several", "a word", "a condition"}


async def test_tools_and_sql_give_the_same_rows_of_such_a_group(world: World, instance: Instance) -> None:
    for rows in groups(world)[:12]:
        column = rows.columns[0]
        tell = p.Tell(
            key="all", type="[string]",
            value=p.Listing(of=p.Selection(group=rows.group), attr=p.Attr(column=column)),
        )  # fmt: skip
        source = program(world, (tell,), {rows.group: Source(rows)}, {})
        result = await instance.run(Program(source=source).source, "solve", {})
        assert result.ok, (result.error, source)
        by_sql, _ = solve_plan(world.sql, p.Plan(nodes=(tell,)))
        assert isinstance(result.value, dict)
        assert sorted(result.value["all"], key=repr) == sorted(by_sql["all"], key=repr), rows.group
        assert 1 <= len(by_sql["all"]) <= 12


def test_the_words_for_such_a_group_say_every_value(world: World) -> None:
    for rows in groups(world):
        said = Wording(world, random.Random(1)).group(rows.group)
        for where in rows.group.where:
            values = [*where.among, *(s.value for s in where.subjects)] or [where.value]
            assert all(value_text(value) in said for value in values), said


@pytest.mark.parametrize(
    ("comparison", "value", "held"),
    [("contains", "emma", True), ("contains", "mm", True), ("contains", "Emmas", False),
     ("starts with", "em", True), ("starts with", "mma", False)],
)  # fmt: skip
def test_text_is_compared_case_aside_by_sql_as_by_the_rows(
    world: World, comparison: p.TextComparison, value: str, held: bool
) -> None:
    test = p.Test(attr=p.Attr(column="title"), comparison=comparison, value=value)
    found = p.Measure(function="count", of=p.Selection(group=Group("books"), tests=(test,)))
    answer, _ = solve_plan(world.sql, p.Plan(nodes=(p.Tell(key="n", type="integer", value=found),)))
    assert answer["n"] == sum(compare(row["title"], comparison, value) for row in world.rows["books"])
    assert compare("Emma", comparison, value) is held


def test_a_condition_on_text_means_the_same_as_a_word_and_as_a_part(world: World) -> None:
    seen = set()
    for seed in range(40):
        rng = random.Random(seed)
        rows = find_rows(world, rng, 20, 2, table="books")
        assert rows is not None
        source = Source(rows, detail_of(world, rows))
        room = Room(world, Phrases(Wording(world, rng)), rng, most=20, loops=True)
        crowd = Crowd(source, tuple(qualities(world, source)))
        for quality in [q for loops in (True, False) for q in texts_of(room, crowd, loops)]:
            test = condition_on(room, quality)
            if test is not None:
                seen.add(test.comparison)
                word = str(test.value)
                texts = [str(v) for v in quality.values if compare(v, test.comparison, word)]
                assert texts, test
                assert all(word in text.replace("-", " ").replace(",", "").split() for text in texts), (word, texts)
    assert seen
