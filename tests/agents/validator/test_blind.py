"""The blind reader tells tasks that are determined from those that are not."""

from pathlib import Path

import pytest

from agent_world.agents.synthesizer import plan as p
from agent_world.agents.synthesizer.meaning import Group, Where
from agent_world.agents.synthesizer.world import World
from agent_world.agents.validator.blind import blind_fault, blind_report
from agent_world.schema import Chain, Program, Ref, StateDiff, Step, Task, Value
from tests.library import library_tasks
from tests.worlds import make_library


@pytest.fixture
def world(tmp_path: Path) -> World:
    return World(make_library(tmp_path / "library"))


def chain_task(steps: tuple[Step, ...], answer: dict[str, Ref], reference: dict[str, object]) -> Task:
    read = library_tasks()[0]
    return read.model_copy(update={"solution": Chain(steps=steps, answer=answer), "reference_answer": reference})


def step(tool: str, **arguments: object) -> Step:
    return Step(tool=tool, arguments={n: v if isinstance(v, Ref) else Value(value=v) for n, v in arguments.items()})


def test_chains_of_lookups_and_updates_come_to_the_same_end_by_sql(world: World) -> None:
    report = blind_report(world, library_tasks(), sample=200)
    assert (report.sampled, report.determined, report.failures) == (len(library_tasks()), report.sampled, ())


def test_every_kind_of_tool_is_known_to_the_second_reader(world: World) -> None:
    steps = (
        step("search_books", title="Dracula"),
        step("count_loans_by_book", book_id=Ref(step=0, path="items.0.book_id")),
        step("list_loans_by_member", member_id="M05"),
        step("average_books_pages", genre="horror"),
        step("create_member", member_id="M99", name="New Name", city="Boston", postcode="02108", joined="2025-05-01",
             level="adult"),
        step("get_member", member_id="M99"),
        step("delete_loan", loan_id=1),
    )  # fmt: skip
    answer = {
        "count": Ref(step=1, path="count"), "total": Ref(step=2, path="total"), "mean": Ref(step=3, path="value"),
        "name": Ref(step=5, path="name"), "fine": Ref(step=6, path="fine"),
    }  # fmt: skip
    task = chain_task(steps, answer, {"count": 3, "total": 2, "mean": 349.0, "name": "New Name", "fine": 0.0})
    assert blind_fault(world, task) == "the second way leaves another state"
    assert world.sql.one("SELECT count(*) FROM loans WHERE loan_id = 1") == 1


@pytest.mark.parametrize(
    ("change", "reason"),
    [
        ({"reference_answer": {"pages": 419}}, "the second way to pages comes to 418, not to 419"),
        ({"state_change": StateDiff.model_validate({"changes": [{"table": "books", "key": "1", "kind": "removed"}]})},
         "the second way leaves another state"),
        ({"solution": Program(source=""), "strategy": "program"}, "there is no plan to read"),
    ],
    ids=["another answer", "another state", "no plan"],
)  # fmt: skip
def test_a_task_that_says_something_else_is_not_determined(
    world: World, change: dict[str, object], reason: str
) -> None:
    assert blind_fault(world, library_tasks()[0].model_copy(update=change)) == reason


def test_a_search_for_one_thing_that_finds_several_is_not_determined(world: World) -> None:
    task = chain_task((step("search_books", title="The"),), {"year": Ref(step=0, path="items.0.year")}, {"year": 1895})
    assert "rows where one is meant" in blind_fault(world, task)


def test_what_the_plan_knows_and_the_question_does_not_say_is_found_out(world: World) -> None:
    horror = p.Selection(group=Group("books", (Where("genre", "horror"),)))
    plan = p.Plan(nodes=(p.Tell(key="count", type="integer", value=p.Measure(function="count", of=horror)),))
    task = library_tasks()[0].model_copy(
        update={
            "strategy": "program", "solution": Program(source="def solve(tools): return {}"),
            "question": "How many horror books are there?", "reference_answer": {"count": 2},
            "plan": plan.model_dump(mode="json"),
        }
    )  # fmt: skip
    assert blind_fault(world, task) == ""
    assert blind_fault(world, task.model_copy(update={"question": "How many books are there?"})) == (
        "the question does not say 'horror'"
    )


def test_a_damaged_plan_is_a_reason_and_not_a_crash(world: World) -> None:
    task = library_tasks()[0].model_copy(update={"solution": Program(source=""), "plan": {"nodes": [{"kind": "x"}]}})
    assert blind_fault(world, task).startswith("the plan cannot be read")
