import random
import re

import pytest

from agent_world.agents.synthesizer.graph import build_tool_graph
from agent_world.agents.synthesizer.meaning import CountAsk, FieldAsk, Group, Meaning, Subject, Where
from agent_world.agents.synthesizer.proposals import draft_of, propose
from agent_world.agents.synthesizer.wording import Wording
from agent_world.agents.synthesizer.words import column_words, degree, plural, role_words, singular, value_text
from agent_world.agents.synthesizer.world import World

EMMA = Subject("label", "books", "title", "Emma")


@pytest.mark.parametrize(
    ("table", "one", "many"),
    [
        ("books", "book", "books"),
        ("cities", "city", "cities"),
        ("species", "species", "species"),
        ("watchlist_entries", "watchlist entry", "watchlist entries"),
        ("people", "person", "people"),
        ("mpg", "mpg entry", "mpg entries"),
        ("flights_by_dest", "flights-by-destination record", "flights-by-destination records"),
    ],
)
def test_tables_are_called_as_people_call_them(table: str, one: str, many: str) -> None:
    assert (singular(table), plural(table)) == (one, many)


def test_columns_lose_their_short_forms() -> None:
    assert column_words("dep_delay") == "departure delay"
    assert column_words("area_km2") == "area in square kilometres"
    assert role_words("home_airport_id", "airports") == "home airport"
    assert role_words("airport_id", "airports") == ""


def test_years_are_later_and_not_higher() -> None:
    assert degree("year", highest=True, few=True) == "later"
    assert degree("rating", highest=False, few=False) == "lowest"


def test_whole_numbers_are_written_without_a_point() -> None:
    assert [value_text(v) for v in (4.0, 4.1, 1897, True, "02138")] == ["4", "4.1", "1897", "true", "02138"]


@pytest.mark.parametrize(
    "meaning",
    [
        Meaning(asks=(FieldAsk(EMMA, ("author",)),)),
        Meaning(asks=(CountAsk(Group("books", (Where("genre", "horror"),))),)),
        Meaning(asks=(CountAsk(Group("loans", (Where("book_id", subject=EMMA),))),)),
    ],
    ids=["field", "count", "count of a named parent"],
)
def test_one_meaning_has_at_least_thirty_surface_forms(world: World, meaning: Meaning) -> None:
    forms = {Wording(world, random.Random(i)).question(meaning) for i in range(300)}
    assert len(forms) >= 30
    assert all(form[0].isupper() and form[-1] in ".?!" for form in forms), forms


def test_questions_name_no_tool_and_no_id_and_leave_no_slot_open(world: World) -> None:
    graph = build_tool_graph(world)
    proposals = [*propose("graph", range(80), "w", (), []), *propose("program", range(60), "w", (), [])]
    questions = [d.question for p in proposals if (d := draft_of(world, graph, p))]
    assert len(questions) > 100
    for question in questions:
        assert not re.search(r"[{}]|  |\b(None|nan)\b|[a-z]_[a-z]", question), question
