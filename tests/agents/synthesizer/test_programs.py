"""Programs: plans that are computed two ways, conditions that decide, sentences of many forms."""

import random
import re
from collections import Counter
from pathlib import Path

import pytest

from agent_world.agents.synthesizer import plan as p
from agent_world.agents.synthesizer import program_reads as reads
from agent_world.agents.synthesizer import program_writes as writes
from agent_world.agents.synthesizer.draft import Draft
from agent_world.agents.synthesizer.meaning import Group, Subject, Where
from agent_world.agents.synthesizer.plan_database import Undetermined
from agent_world.agents.synthesizer.plan_sql import compare, solve_plan
from agent_world.agents.synthesizer.plan_words import Phrases
from agent_world.agents.synthesizer.program_parts import Room, Sketch
from agent_world.agents.synthesizer.programs import drafted, propose_program
from agent_world.agents.synthesizer.realise import Realised, disagreement, realise
from agent_world.agents.synthesizer.walks import Bias
from agent_world.agents.synthesizer.wording import Wording
from agent_world.agents.synthesizer.world import World
from agent_world.agents.validator.blind import blind_fault
from agent_world.agents.validator.replay import Run
from agent_world.schema import Origin, Program, StateDiff
from agent_world.tools.runtime import Instance

HORROR = p.Selection(group=Group("books", (Where("genre", "horror"),)))
PAGES = p.Attr(column="pages")
EMMA = p.One(subject=Subject("label", "books", "title", "Emma"))


def drafts(world: World, level: int, count: int) -> list[Draft]:
    found = (propose_program(world, level, Bias(), random.Random(f"{level}:{i}")) for i in range(count))
    return [draft for draft in found if draft is not None]


def room(world: World, seed: int, loops: bool = False, words: int = 0) -> Room:
    """Two with the same seed draw the same plan, whatever their words."""
    phrases = Phrases(Wording(world, random.Random(words)))
    return Room(world, phrases, random.Random(seed), most=20, least=2, loops=loops)


@pytest.mark.parametrize("level", [1, 2, 3])
async def test_program_and_sql_come_to_the_same_answer_and_state(world: World, instance: Instance, level: int) -> None:
    outcomes: Counter[str] = Counter()
    for draft in drafts(world, level, 60)[:25]:
        made = await realise(draft, world.id, Origin(engine="procedural"), 0, instance)
        if draft.writes:
            await instance.reset()
        outcomes["ok" if isinstance(made, Realised) else made] += 1
        if isinstance(made, Realised):
            assert blind_fault(world, made.task) == "", made.task.question
    assert outcomes["ok"] == outcomes.total() >= 8, outcomes


def test_every_condition_on_rows_holds_for_some_and_fails_for_some(world: World) -> None:
    seen = 0
    for draft in [d for level in (1, 2, 3) for d in drafts(world, level, 80)]:
        for share in p.parts(draft.plan, p.Selection):
            for test in share.tests:
                every = p.Selection(group=share.group)
                held = p.Selection(group=share.group, tests=(test,))
                count = [answer(world, p.Measure(function="count", of=of)) for of in (held, every)]
                assert 0 < count[0] < count[1], (draft.question, test)
                seen += 1
    assert seen > 40


def answer(world: World, value: p.Expression) -> object:
    return solve_plan(world.sql, p.Plan(nodes=(p.Tell(key="x", type="number", value=value),)))[0]["x"]


def test_both_ways_of_decisions_occur(world: World) -> None:
    outcomes: Counter[bool] = Counter()
    for draft in [d for level in (2, 3) for d in drafts(world, level, 150)]:
        for node in draft.plan.nodes if draft.plan else ():
            if isinstance(node, p.Branch):
                left, right = answer(world, node.left), answer(world, node.right)
                outcomes[compare(left, node.comparison, right)] += 1
    assert outcomes[True] > 0.2 * outcomes.total() > 4, outcomes
    assert outcomes[False] > 0.2 * outcomes.total(), outcomes


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        (p.Measure(function="count", of=HORROR), 2),
        (p.Measure(function="mean", of=HORROR, attr=PAGES), 349.0),
        (p.Share(of=HORROR, test=p.Test(attr=PAGES, comparison=">", value=300)), 50.0),
        (p.Cell(row=EMMA, attr=p.Attr(column="author")), "Jane Austen"),
        (p.Cell(row=p.Pick(of=HORROR, by=PAGES, highest=True), attr=p.Attr(column="title")), "Dracula"),
        (p.Cell(row=EMMA, attr=p.Attr(via="book_id", children="loans")), 1),
        (p.Best(of=p.Selection(group=Group("loans")), by=p.Attr(column="author", via="book_id"), function="count",
                figure=True), 5),
    ],
    ids=["count", "mean", "share", "cell", "extreme", "children", "best group"],
)  # fmt: skip
def test_sql_computes_what_a_plan_says(world: World, value: p.Expression, expected: object) -> None:
    assert answer(world, value) == expected


@pytest.mark.parametrize(
    "value",
    [
        p.Cell(row=p.One(subject=Subject("value", "books", "author", "Jane Austen")), attr=PAGES),
        p.Cell(row=p.One(subject=Subject("label", "books", "title", "Ulysses")), attr=PAGES),
        p.Cell(row=p.Pick(of=p.Selection(group=Group("books")), by=p.Attr(column="copies"), highest=False), attr=PAGES),
    ],
    ids=["several", "none", "a tie"],
)
def test_a_phrase_that_does_not_name_one_thing_is_found_out(world: World, value: p.Expression) -> None:
    with pytest.raises(Undetermined, match="rows of books are pointed at where one is meant"):
        answer(world, value)


def test_changes_are_foretold_and_undone(world: World) -> None:
    plan = p.Plan(nodes=(p.Put(target=HORROR, column="copies", value=p.Constant(value=9)), p.Remove(target=EMMA)))
    _, change = solve_plan(world.sql, plan)
    assert [(c.key, c.kind, c.after and c.after.get("copies")) for c in change.changes] == [
        ("B001", "changed", 9), ("B002", "changed", 9), ("B003", "removed", None),
    ]  # fmt: skip
    assert answer(world, p.Measure(function="count", of=HORROR)) == 2
    assert answer(world, p.Cell(row=EMMA, attr=p.Attr(column="copies"))) == 4


def test_a_program_that_sql_contradicts_is_no_gold() -> None:
    draft = Draft(Program(source=""), "?", expected={"count": 3}, types={"count": "integer"})
    assert disagreement(draft, Run({"count": 4}, ())) == "tools and rows disagree: count"


async def test_a_change_that_sql_does_not_foretell_is_no_gold(world: World, instance: Instance) -> None:
    source = "def solve(tools):\n    return {'copies': tools.update_book_copies(book_id='B003', copies=8)['copies']}\n"
    draft = Draft(Program(source=source), "?", {}, types={"copies": "integer"}, writes=True, change=StateDiff())
    made = await realise(draft, world.id, Origin(engine="procedural"), 0, instance)
    assert made == "the program and SQL over the raw tables change different rows"


def test_plans_come_back_from_json_as_they_were(world: World) -> None:
    for draft in drafts(world, 2, 30):
        assert draft.plan is not None
        assert p.Plan.model_validate(draft.plan.model_dump(mode="json")) == draft.plan


SHAPES = {
    "count": reads.count_matching, "reduce": reads.reduce_matching, "names": reads.name_matching,
    "extreme": reads.extreme, "ranking": reads.ranking, "share": reads.share, "difference": reads.versus,
    "figure by condition": reads.one_figure_or_another, "value by condition": writes.one_value_or_another,
    "change the extreme": writes.best_set, "change many": writes.every_one, "this or that": writes.this_or_that,
    "nested": writes.condition_in_condition,
}  # fmt: skip


@pytest.mark.parametrize("name", SHAPES)
def test_one_plan_has_at_least_thirty_surface_forms(world: World, name: str) -> None:
    seed, plan = next((seed, found.nodes) for seed in range(400) if (found := _sketched(world, name, seed, 0)))
    forms: set[str] = set()
    for words in range(300):
        again = _sketched(world, name, seed, words)
        assert again is not None
        assert again.nodes == plan, "the words decide how it is put, and nothing else"
        forms.add(again.question)
        if len(forms) == 30:
            break
    assert len(forms) == 30, forms


def _sketched(world: World, name: str, seed: int, words: int) -> Sketch | None:
    here = room(world, seed, loops=seed % 2 == 0, words=words)
    sketch = SHAPES[name](here)
    return sketch if sketch is not None and drafted(here, sketch) is not None else None


def test_nobody_is_right_by_doing_nothing(world: World) -> None:
    for draft in [d for level in (1, 2, 3) for d in drafts(world, level, 100)]:
        assert draft.change is not None
        assert draft.change.changes or any(draft.expected.values()), draft.question


def test_questions_leave_no_slot_open_and_name_no_column(world: World, tmp_path: Path) -> None:
    for draft in [d for level in (1, 2, 3) for d in drafts(world, level, 100)]:
        assert not re.search(r"[{}]|  |\b(None|nan)\b|[a-z]_[a-z]|\b(\w+) \1\b", draft.question), draft.question
        assert draft.question[0].isupper()
        assert draft.question[-1] in ".?!"
