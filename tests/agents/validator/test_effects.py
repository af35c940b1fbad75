"""False tasks: what the question asks and what the gold solution does are not the same."""

from collections.abc import AsyncIterator
from pathlib import Path

import pytest
import pytest_asyncio

from agent_world.agents.synthesizer.draft import Draft
from agent_world.agents.synthesizer.realise import Realised, realise
from agent_world.agents.synthesizer.world import World
from agent_world.agents.validator.effects import effect_fault, question_fault
from agent_world.agents.validator.form import leak
from agent_world.memory.store import Bundle
from agent_world.schema import Chain, Origin, Ref, Step, Value
from agent_world.settings import LocalRuntime
from agent_world.tools.runtime import Instance, open_runtime
from tests.worlds import make_library

pytestmark = [
    pytest.mark.asyncio(loop_scope="module"),  # one instance for all
    pytest.mark.filterwarnings("ignore:.*it is not an async function"),
]

LOOK = ("get_book", {"book_id": "B003"})
NINE = ("update_book_copies", {"book_id": "B003", "copies": 9})
OTHER = ("update_book_copies", {"book_id": "B004", "copies": 9})
GONE = ("delete_loan", {"loan_id": 17})
READER = ("get_member", {"member_id": "M01"})


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def library(tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[tuple[World, Instance]]:
    bundle: Bundle = make_library(Path(tmp_path_factory.mktemp("effects")) / "library")
    async with open_runtime(LocalRuntime()) as runtime:
        instance = await runtime.open(bundle.root)
        yield World(bundle), instance


async def faults(library: tuple[World, Instance], question: str, *calls: tuple[str, dict[str, object]]) -> list[str]:
    """What the gate's checks of text and effects say of a gold solution that makes these calls."""
    world, instance = library
    steps = tuple(Step(tool=t, arguments={n: Value(value=v) for n, v in given.items()}) for t, given in calls)
    key = {"get_member": "city", "delete_loan": "lent"}.get(calls[-1][0], "author")
    chain = Chain(steps=steps, answer={key: Ref(step=len(steps) - 1, path=key)})
    draft = Draft(chain, question, {}, {key: "string"}, writes=True)
    await instance.reset()
    made = await realise(draft, "library", Origin(engine="procedural"), 0, instance)
    assert isinstance(made, Realised), made
    found = (leak(world, made.task), effect_fault(world, made.task, made.calls))
    return [fault for fault in (*found, question_fault(world, made.task, made.calls)) if fault]


FALSE = [
    ("Set the copies of book B003 to 9 and tell me its author.", [LOOK], "changes nothing"),
    ("Please mark book B003 as lost, and tell me who wrote it.", [LOOK], "changes nothing"),
    ("Delete the loan whose ID is 17; who wrote book B003?", [LOOK], "changes nothing"),
    ("Set copies of B003 to 9, and make adult the level of Ada Novak.", [READER, NINE], "nothing is done for 'make"),
    ("Set copies of B003 to 9, then remove Ada Novak.", [READER, NINE], "nothing is done for 'remove Ada"),
    ("Set copies of B003 to 9, then add a loan for Ada Novak, M01.", [READER, NINE], "does no such thing"),
    ("Delete loan 17, and tell me who wrote book B003, which has 9.", [GONE, NINE], "asks for no such change"),
    ("Set the copies of B003 to 9; which day was loan 17 lent?", [NINE, GONE], "asks for no such change"),
    ("Delete the loans 17 and 19 of M07; when was 17 lent?", [
        ("list_loans_by_member", {"member_id": "M07"}), GONE], "of 19, which is not removed"),
    ("Delete loan 17, not loan 19; when was that lent?", [
        ("delete_loan", {"loan_id": 19}), GONE], "2 rows of loans are changed"),
    ("Set the copies of B003 and B004 to 9. Who wrote B003?", [LOOK, OTHER], "of B003, which is not changed"),
    ("Set the copies of B003 to 9. Who wrote B004?", [LOOK, OTHER], "of B003, which is not changed"),
    ("If B003 has less than 4 copies, set them to 9, otherwise delete loan 17. Who wrote it?", [
        LOOK, READER, LOOK, ("get_book", {"book_id": "B001"}), ("list_loans_by_member", {"member_id": "M04"}), LOOK],
        "whether its condition holds or not"),
    ("Which books of Jane Austen have 9 copies: who wrote B003?", [NINE], "asks for no change"),
    ("Set the pages of book B003 to 9; who wrote it?", [NINE], "nothing is done for 'set the pages"),
    ("Who wrote book B003, as Zebedee Quux asked?", [LOOK], "'Zebedee' in the question"),
    ("Who wrote book B003, of which we have 7?", [LOOK], "'7' in the question"),
    ("Use get book on B003: who wrote it?", [LOOK], "names the tool get_book in words"),
    ("With the get book tool, who wrote B003?", [LOOK], "names the tool get_book in words"),
    ("Try getBook for B003: who wrote it?", [LOOK], "names the tool get_book in words"),
]  # fmt: skip
TRUE = [
    ("Set the copies of book B003 to 9 and tell me its author.", [NINE]),
    ("Book B003 should have 9 copies from now on; who wrote it?", [NINE]),
    ("I'd like loan 17 deleted. When was it lent?", [GONE]),
    ("Set copies of B003 to 9, and delete loan 17. When was it lent?", [NINE, GONE]),
    ("Delete the loans 17 and 19; when was the former lent?", [("delete_loan", {"loan_id": 19}), GONE]),
    ("Where does Ada Novak live, whose ID is M01?", [READER]),
    ("Of the 3 adventure books, which did Ada, M01, lend? Name her city.", [
        ("list_books_by_genre", {"genre": "adventure"}), READER]),
    ("Good morning. Get book B003 for me: I need its author.", [LOOK]),
]  # fmt: skip


@pytest.mark.parametrize(("question", "calls", "said"), FALSE, ids=[row[0] for row in FALSE])
async def test_a_false_task_is_refused(
    library: tuple[World, Instance], question: str, calls: list[tuple[str, dict[str, object]]], said: str
) -> None:
    assert said in " | ".join(await faults(library, question, *calls))


@pytest.mark.parametrize(("question", "calls"), TRUE, ids=[row[0] for row in TRUE])
async def test_a_true_task_is_not(
    library: tuple[World, Instance], question: str, calls: list[tuple[str, dict[str, object]]]
) -> None:
    assert await faults(library, question, *calls) == []
