"""Long walks: of the level they claim, right by what the tools say, one question each, worded in many ways."""

import random
import re
from collections import Counter

import pytest

from agent_world.agents.synthesizer.chains import propose_chain
from agent_world.agents.synthesizer.deep import CALLS
from agent_world.agents.synthesizer.draft import Draft
from agent_world.agents.synthesizer.graph import build_tool_graph
from agent_world.agents.synthesizer.meaning import (
    Command,
    CountAsk,
    FieldAsk,
    FoldAsk,
    Group,
    Meaning,
    Measure,
    Pick,
    ShareAsk,
    Subject,
    Where,
)
from agent_world.agents.synthesizer.realise import Realised, realise
from agent_world.agents.synthesizer.script import Script, said
from agent_world.agents.synthesizer.telling import Telling
from agent_world.agents.synthesizer.walks import Bias
from agent_world.agents.synthesizer.world import World
from agent_world.schema import Chain, Origin
from agent_world.tools.runtime import Instance
from tests.worlds import LOANS

ORIGIN = Origin(engine="procedural")


def deep(world: World, level: int, tries: int, bias: Bias | None = None) -> list[Draft]:
    graph = build_tool_graph(world)
    marks = (random.Random(f"deep:{level}:{i}") for i in range(tries))
    found = (propose_chain(world, graph, level, bias or Bias(), rng) for rng in marks)
    return [draft for draft in found if draft is not None]


@pytest.mark.parametrize("level", [2, 3, 4, 5])
async def test_long_walks_have_the_calls_of_their_level_and_the_tools_say_what_the_rows_say(
    world: World, instance: Instance, level: int
) -> None:
    outcomes: Counter[str] = Counter()
    for draft in deep(world, level, 400)[:25]:
        made = await realise(draft, world.id, ORIGIN, 0, instance)
        if draft.writes:
            await instance.reset()
        outcomes["ok" if isinstance(made, Realised) else made] += 1
        if isinstance(made, Realised):
            fewest, most = CALLS[level]
            assert fewest <= made.task.difficulty.calls <= most
            assert made.task.difficulty.level == level
    assert outcomes["ok"] >= 8
    assert outcomes["ok"] >= 0.9 * outcomes.total(), outcomes


async def test_a_claim_that_the_tools_do_not_confirm_makes_no_task(world: World, instance: Instance) -> None:
    draft = next(d for d in deep(world, 3, 400) if d.claims and not d.writes)
    (ref, _), *_ = draft.claims
    wrong = Draft(**{**{f: getattr(draft, f) for f in draft.__slots__}, "claims": ((ref, "no such value"),)})
    made = await realise(wrong, world.id, ORIGIN, 0, instance)
    assert isinstance(made, str)
    assert made.startswith("tools and rows disagree: ")


def test_a_walk_over_a_group_calls_once_for_each_row_and_never_twice_for_the_same(world: World) -> None:
    script = Script(world)
    action = next(a for a in world.actions if a.name == "list_loans_by_member")
    rows = world.where("loans", "member_id", "M01")
    sites = script.pages(action, {"member_id": said("M01")}, rows, "independent")
    books = [script.parent(site, "book_id") for site in [*sites, *sites]]
    assert len(sites) == sum(loan[2] == "M01" for loan in LOANS)
    assert [step.tool for step in script.steps] == ["list_loans_by_member", *["get_book"] * len(sites)]
    assert all(book is not None and "pages" in book.shown for book in books)


def test_long_walks_end_in_changes_that_are_possible(world: World) -> None:
    found = [d for d in deep(world, 3, 600, Bias(writes=0.9)) if d.writes]
    tools = {d.solution.steps[-1].tool for d in found if isinstance(d.solution, Chain)}
    assert tools & {"update_book_copies", "delete_loan"}


EMMA = Subject("label", "books", "title", "Emma")
THAT = Subject("that", "books", "")
PAGES = Measure("own", "pages")
HORROR = Group("books", (Where("genre", "horror"),))
LOANED = Measure("children", table="loans", link="book_id")
LENT = Group("loans", (Where("member_id", subject=Subject("label", "members", "name", "Ada Novak")),))
PICKED = (Pick(HORROR, PAGES, True),)
STEPS = {
    "pick": Meaning(asks=(CountAsk(Group("loans", (Where("book_id", subject=THAT),))),), picks=PICKED),
    "pick by children": Meaning(asks=(FieldAsk(THAT, ("title",)),), picks=(Pick(HORROR, LOANED, True),)),
    "pick by parent": Meaning(
        asks=(FieldAsk(Subject("that", "loans", ""), ("lent",)),),
        picks=(Pick(LENT, Measure("parent", "pages", "books", "book_id"), False),),
    ),
    "fields": Meaning(asks=(FieldAsk(THAT, ("author", "year")),), picks=PICKED),
    "count": Meaning(asks=(CountAsk(Group("loans", (Where("book_id", subject=EMMA),))),)),
    "fold": Meaning(asks=(FoldAsk(HORROR, PAGES, "mean", rounded=True),)),
    "range": Meaning(asks=(FoldAsk(HORROR, PAGES, "range"),)),
    "fold of parents": Meaning(asks=(FoldAsk(LENT, Measure("parent", "pages", "books", "book_id"), "max"),)),
    "share": Meaning(asks=(ShareAsk(HORROR, Where("pages", 300, comparison=">", measure=PAGES)),)),
    "names": Meaning(asks=(ShareAsk(HORROR, Where("pages", 300, comparison=">", measure=PAGES), "title"),)),
    "set": Meaning(commands=(Command("set", "books", THAT, (("copies", 9),), ("title",)),), picks=PICKED),
    "remove": Meaning(commands=(Command("remove", "books", THAT, tells=("title",)),), picks=PICKED),
    "add": Meaning(
        commands=(Command("add", "loans", THAT, (("lent", "2025-05-01"),), ("loan_id",), "book_id"),), picks=PICKED,
    ),
    "move": Meaning(
        commands=(Command("move", "loans", THAT, link="book_id", target=EMMA),), picks=PICKED,
    ),
    "set each": Meaning(commands=(Command("set each", "books", None, (("copies", 9),), group=HORROR),)),
}  # fmt: skip


@pytest.mark.parametrize("step", list(STEPS))
def test_each_kind_of_step_has_at_least_thirty_surface_forms(world: World, step: str) -> None:
    forms = {Telling(world, random.Random(i), hidden=bool(i % 2)).question(STEPS[step]) for i in range(600)}
    assert len(forms) >= 30
    for form in forms:
        assert form[0].isupper(), form
        assert form[-1] in ".?!", form
        assert not re.search(r"[\[\]{}|#]|  |\b(None|nan)\b|[a-z]_[a-z]|\.\.|that that", form), form


def test_a_question_is_one_piece_of_a_few_sentences(world: World) -> None:
    for draft in [d for level in (2, 3, 4) for d in deep(world, level, 150)]:
        for question in (draft.question, *draft.others):
            assert len(re.findall(r"[.?!](?= [A-Z]|$)", question)) <= 6, question
            assert not re.search(r"[\[\]{}|#]|  |\b(None|nan)\b|[a-z]_[a-z]", question), question


def test_other_wordings_ask_the_same_in_other_words(world: World) -> None:
    drafts = deep(world, 3, 100)
    assert sum(len({d.question, *d.others}) >= 3 for d in drafts) >= 0.9 * len(drafts)
