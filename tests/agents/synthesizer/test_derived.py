"""Columns that sum up others are read, said in full, and left alone where the rows say otherwise; no question is made
that two readers answer in two ways."""

import random
import re

import pytest

from agent_world.agents.synthesizer.derived import Derived, hinted, superlative
from agent_world.agents.synthesizer.draft import Draft
from agent_world.agents.synthesizer.graph import build_tool_graph
from agent_world.agents.synthesizer.meaning import Measure, Subject, Where
from agent_world.agents.synthesizer.measures import rankable, ranked, value_of
from agent_world.agents.synthesizer.naming import Naming
from agent_world.agents.synthesizer.proposals import draft_of, propose
from agent_world.agents.synthesizer.sources import numeric
from agent_world.agents.synthesizer.wording import Wording
from agent_world.agents.synthesizer.words import field_words, many_of, said_of
from agent_world.agents.synthesizer.world import World
from agent_world.schema import Chain, Value
from tests.agents.synthesizer.showroom import showroom

EVEN = {1: 1.0, 2: 1.0, 3: 1.0, 4: 1.0}


@pytest.fixture(scope="module")
def room(tmp_path_factory: pytest.TempPathFactory) -> World:
    return showroom(tmp_path_factory.mktemp("showroom") / "showroom")


@pytest.fixture(scope="module")
def drafts(room: World) -> list[Draft]:
    graph = build_tool_graph(room)
    proposals = [*propose("graph", range(150), "d", (), [], EVEN), *propose("program", range(150), "d", (), [], EVEN)]
    return [d for proposal in proposals if (d := draft_of(room, graph, proposal))]


def test_what_a_column_sums_up_is_read_from_the_rows(room: World) -> None:
    assert room.derived["makers", "cars"] == Derived("count", "cars", "maker", "", frozenset({"Dyna"}))
    assert room.derived["makers", "cheapest_thousands"] == Derived("min", "cars", "maker", "price_thousands")
    assert room.derived["makers", "tallest_in"].function == "", "no row bears it out"
    assert ("makers", "sold") not in room.derived


def test_a_summary_says_of_what_it_is_and_in_which_unit(room: World) -> None:
    assert field_words(room, "makers", "cheapest_thousands") == "lowest car price in thousands"
    assert field_words(room, "makers", "cars") == "number of cars"
    assert field_words(room, "cars", "height_in") == "height in inches"
    assert said_of("height in inches", "82") == "height 82 inches"
    assert [many_of(w) for w in ("sale ID", "city", "height in inches", "species", "box")] == [
        "sale IDs", "cities", "heights in inches", "species", "boxes",
    ]  # fmt: skip


def test_no_question_speaks_of_a_value_that_the_rows_dispute(room: World) -> None:
    dyna, alba = (next(iter(room.where("makers", "maker", name))) for name in ("Dyna", "Alba"))
    assert (room.clear_cell("makers", "cars", dyna), room.clear_cell("makers", "cars", alba)) == (False, True)
    assert not room.clear_cell("makers", "tallest_in", alba)
    assert value_of(room, "makers", dyna, Measure("own", "cars")) is None
    assert room.disputed("makers", "cars", "maker", "count") == {"Dyna"}


def test_nobody_asks_for_the_lowest_highest_or_the_latest_day(room: World) -> None:
    makers, sales = room.tables["makers"], room.tables["sales"]
    assert [superlative(c) for c in ("highest_price", "last_year", "last_name", "forest", "mean_price")] == [
        True, True, False, False, False,
    ]  # fmt: skip
    assert hinted("mean_price") == "mean"
    assert not rankable(room, makers, "cheapest_thousands")
    assert not numeric(room, sales, "day")
    assert numeric(room, sales, "year")
    assert {m.column for m in ranked(room, sales) if m.kind == "own"} == {"year"}


def test_drafts_hold_no_unit_suffix_no_double_superlative_and_no_day_compared(drafts: list[Draft]) -> None:
    assert len(drafts) > 200
    for draft in drafts:
        text = draft.question
        assert not re.search(r"\b(tallest|in it|price thousands|value of the maker)\b", text), text
        assert not re.search(r"\b(high|low|larg|small|lat|earli)est (high|low|cheap|tall)", text), text
        assert not re.search(r"\b(latest|earliest|later|earlier|highest|lowest) (day|month)\b", text), text
        assert not re.search(
            r"\b(day|month) (of (at|more|less)|above|below|under|after|before|greater|less|at)\b", text
        ), text
        assert not re.search(
            r"wonder (the|its)|refers? to|flag (true|false)|whose sale ID is|\w: [^.?]*, \w+ \w+: ", text
        ), text


def test_what_a_change_asks_for_is_not_what_the_question_gave(drafts: list[Draft]) -> None:
    given = [d for d in drafts if isinstance(d.solution, Chain) and all_given(d.solution)]
    created = [d for d in given if any(tool == "create_sale" for tool in tools_of(d))]
    assert len(created) > 5
    for draft in given:
        if draft.writes and "count" not in draft.expected and "total" not in draft.expected:
            for value in map(str, draft.expected.values()):
                assert not re.search(rf"(?<![\w.-]){re.escape(value)}(?![\w.-])", draft.question), draft.question


def all_given(chain: Chain) -> bool:
    """Whether no call takes anything that another one found."""
    return all(isinstance(a, Value) for step in chain.steps for a in step.arguments.values())


def tools_of(draft: Draft) -> list[str]:
    return [step.tool for step in draft.solution.steps] if isinstance(draft.solution, Chain) else []


def test_one_is_said_of_one_thing(room: World) -> None:
    where = Where("", 1, comparison=">", measure=Measure("children", table="sales", link="car"))
    said = {Naming(room, random.Random(seed), hidden=False).have("cars", where) for seed in range(9)}
    assert said == {"have more than 1 sale", "have over 1 sale"}


def test_rows_compared_are_called_alike(room: World) -> None:
    rows = tuple(Subject("key", "makers", "maker", name) for name in ("Alba", "Cora"))
    for seed in range(40):
        assert Wording(room, random.Random(seed))._several(rows, "and") == "the makers Alba and Cora"


def test_a_world_without_summaries_has_nothing_to_leave_out(world: World) -> None:
    assert world.derived == {}
