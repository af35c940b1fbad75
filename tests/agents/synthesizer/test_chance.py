"""What chance could solve is not made; what is hidden is counted; long lists are said once."""

import random

import pytest

from agent_world.agents.synthesizer import plan as p
from agent_world.agents.synthesizer.chance import by_chance, likelihood
from agent_world.agents.synthesizer.draft import Draft
from agent_world.agents.synthesizer.meaning import FoldAsk, Group, Meaning, Measure, Pick, ShareAsk, Subject, Where
from agent_world.agents.synthesizer.plan_words import Phrases
from agent_world.agents.synthesizer.telling import Telling, listed
from agent_world.agents.synthesizer.wording import Wording
from agent_world.agents.synthesizer.world import World
from agent_world.agents.validator.literals import taken_first
from agent_world.schema import Program

BOOKS = tuple(
    Subject("label", "books", "title", t) for t in ("Emma", "Dracula", "Kidnapped", "Middlemarch", "Persuasion")
)


@pytest.mark.parametrize(
    ("answer", "least", "most"),
    [
        ({"title": "Emma"}, 0.05, 0.05),
        ({"level": "adult"}, 0.3, 0.6),
        ({"level": "adult", "name": "Ada Novak"}, 0.08, 0.09),
        ({"count": 1}, 0.2, 0.9),
        ({"average": 312.25}, 0.0, 0.05),
        ({"titles": ["Emma"]}, 0.0, 0.0),
    ],
    ids=["one of many", "one of three kinds", "a row", "a small count", "a fraction", "a list"],
)
def test_an_answer_is_as_likely_as_the_rows_that_show_it(
    world: World, answer: dict[str, object], least: float, most: float
) -> None:
    assert least <= likelihood(world, answer) <= most


def test_only_answers_that_chance_shows_are_refused_and_no_change_is(world: World) -> None:
    def draft(answer: dict[str, object], writes: bool = False) -> Draft:
        return Draft(Program(source=""), "?", answer, types=dict.fromkeys(answer, "string"), writes=writes)

    assert by_chance(world, draft({"level": "adult"}))
    assert not by_chance(world, draft({"level": "adult"}, writes=True))
    assert not by_chance(world, draft({"title": "Emma"}))


def test_a_parent_is_left_out_only_where_nothing_else_has_the_value(world: World) -> None:
    test = p.Test(attr=p.Attr(column="pages", via="book_id"), comparison=">", value=300)
    said = Phrases(Wording(world, random.Random(1), hidden=True))
    assert "book" not in said.does("loans", test)
    assert said.hid
    plain = Phrases(Wording(world, random.Random(1)))
    assert "book" in plain.does("loans", test)
    assert not plain.hid


def test_a_long_list_is_said_once(world: World) -> None:
    group = Group("books", named=BOOKS)
    pick = Pick(group, Measure("own", "pages"), highest=True)
    ask = FoldAsk(group, Measure("own", "copies"), "sum")
    assert listed(group)
    assert not listed(Group("books", (Where("genre", among=("horror", "romance")),)))
    questions = [
        Telling(world, random.Random(seed), False).question(Meaning((ask,), picks=(pick,))) for seed in range(40)
    ]
    introduced = [q for q in questions if "these books" in q]
    assert len(introduced) > 10
    assert all(q.count("Kidnapped") == 1 for q in introduced)


def test_which_and_how_many_of_the_same_rows_are_asked_in_one_go(world: World) -> None:
    group, where = Group("books"), Where("pages", 300, comparison=">", measure=Measure("own", "pages"))
    asks = (ShareAsk(group, where), ShareAsk(group, where, named="title"))
    for seed in range(20):
        question = Telling(world, random.Random(seed), False).question(Meaning(asks))
        assert question.count("300") == 1, question


def test_a_program_that_goes_through_what_it_finds_takes_no_first_item() -> None:
    source = "def solve(tools):\n    {}\n    return {{}}\n"
    one = "row = tools.search_books(title='Emma')['items'][0]"
    all_of_them = "rows = tools.search_books(title='The')['items']"
    assert taken_first(Program(source=source.format(one))) == {"search_books"}
    assert taken_first(Program(source=source.format(all_of_them))) == set()
