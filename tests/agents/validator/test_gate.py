"""A good task passes with a receipt for every check; each way of spoiling it is refused, with the reason."""

from collections.abc import AsyncIterator, Awaitable, Callable
from pathlib import Path

import pytest

from agent_world.agents.synthesizer.draft import Draft
from agent_world.agents.synthesizer.realise import Realised, realise
from agent_world.agents.synthesizer.world import World
from agent_world.agents.validator.gate import CHECKS, Gate, open_gate
from agent_world.agents.validator.second import SECOND
from agent_world.schema import (
    Chain,
    Origin,
    Ref,
    RowChange,
    StateDiff,
    Step,
    Task,
    ToolAnnotations,
    ToolSpec,
    Value,
)
from agent_world.settings import Settings
from agent_world.tools.runtime import open_runtime
from tests.worlds import make_library

Make = Callable[[str], Awaitable[Task]]


async def reason(gate: Gate, task: Task, **changes: object) -> str:
    validation = await gate.judge(task.model_copy(update=changes))
    assert validation.status == "rejected"
    assert validation.reason is not None
    return validation.reason


@pytest.mark.parametrize("name", ["read", "write", "program"])
async def test_a_good_task_passes_every_check(gate: Gate, make: Make, name: str) -> None:
    validation = await gate.judge(await make(name))
    assert validation.reason is None
    assert validation.status == "gate only"
    assert tuple(c.name for c in validation.checks if c.name != SECOND) == CHECKS
    assert len(validation.checks) == (20 if name == "program" else 21), "a program without a plan has no second way"


async def test_the_gate_gives_the_same_verdict_again(gate: Gate, make: Make) -> None:
    task = await make("write")
    assert await gate.judge(task) == await gate.judge(task)


async def test_a_question_that_names_a_tool_or_a_column_id_leaks(gate: Gate, make: Make) -> None:
    task = await make("read")
    assert "names the tool search_books" in await reason(gate, task, question="Use search_books: year of Emma?")
    assert "uses the id book_id" in await reason(gate, task, question="What is the year of the book_id of Emma?")


async def test_an_answer_in_the_question_is_given_away(gate: Gate, make: Make) -> None:
    assert "states the whole answer" in await reason(gate, await make("read"), question="Is Emma of 1815? Which year?")


async def test_an_oversized_answer_is_refused(gate: Gate, make: Make) -> None:
    assert "characters" in await reason(
        gate, await make("program"), reference_answer={"titles": ["x" * 300], "average": 1.0}
    )


async def test_a_gold_answer_that_its_solution_does_not_give_is_refused(gate: Gate, make: Make) -> None:
    task = await make("read")
    assert "gives another answer" in await reason(gate, task, reference_answer={"year": 1816})


async def test_a_gold_that_raises_is_refused(gate: Gate, make: Make) -> None:
    """FAULTS PB-27."""
    chain = Chain(
        steps=(Step(tool="get_book", arguments={"book_id": Value(value="B999")}),),
        answer={"year": Ref(step=0, path="year")},
    )
    assert "the gold solution fails: get_book failed: not_found" in await reason(
        gate, await make("read"), solution=chain
    )


async def test_a_state_change_other_than_the_gold_leaves_is_refused(gate: Gate, make: Make) -> None:
    assert "leaves another state" in await reason(gate, await make("write"), state_change=StateDiff())


async def test_a_change_that_was_there_before_cannot_be_a_task(gate: Gate, make: Make) -> None:
    """FAULTS PB-26: a no-op must not pass."""
    task = await make("write")
    steps = task.solution.steps  # type: ignore[union-attr]
    same = steps[1].model_copy(update={"arguments": {**steps[1].arguments, "copies": Value(value=4)}})
    chain = Chain(steps=(steps[0], same), answer=task.solution.answer)  # type: ignore[union-attr]
    question = "Set the number of copies of Emma to 4 and tell me its author."
    assert "leaves another state" in await reason(gate, task, solution=chain, question=question)


async def test_an_argument_that_nobody_could_know_is_refused(gate: Gate, make: Make) -> None:
    """FAULTS PB-30, PB-32."""
    chain = Chain(
        steps=(Step(tool="get_book", arguments={"book_id": Value(value="B003")}),),
        answer={"year": Ref(step=0, path="year")},
    )
    assert "'B003' for book_id of get_book" in await reason(gate, await make("read"), solution=chain)


async def test_a_condition_that_the_question_does_not_state_is_refused(gate: Gate, make: Make) -> None:
    question = "List the titles of the shorter horror books, and the average rating of horror books."
    assert "the condition on 500" in await reason(gate, await make("program"), question=question)


async def test_a_name_that_means_several_rows_is_refused(gate: Gate, make: Make) -> None:
    chain = Chain(
        steps=(Step(tool="search_books", arguments={"title": Value(value="The")}),),
        answer={"year": Ref(step=0, path="items.0.year")},
    )
    task = await make("read")
    said = await reason(
        gate, task, solution=chain, question="Which year is The from?", reference_answer={"year": 1818},
        rubric=tuple(c.model_copy(update={"expected": 1818}) if c.id == "year" else c for c in task.rubric),
    )  # fmt: skip
    assert "rows of books" in said or "another answer" in said


async def test_a_rubric_that_refuses_its_own_gold_is_refused(gate: Gate, make: Make) -> None:
    """FAULTS PB-28."""
    task = await make("read")
    wrong = tuple(c.model_copy(update={"expected": 1900}) if c.id == "year" else c for c in task.rubric)
    assert (await reason(gate, task, rubric=wrong)).startswith("gold scores 1: scores 0.0")


async def test_a_rubric_that_forgets_the_state_is_refused(gate: Gate, make: Make) -> None:
    task = await make("write")
    blind = tuple(c for c in task.rubric if c.kind != "state")
    assert (await reason(gate, task, rubric=blind)).startswith("no-op scores 0: no-op scores 1.0")


async def test_a_loose_tolerance_is_refused(gate: Gate, make: Make) -> None:
    task = await make("read")
    loose = tuple(c.model_copy(update={"tolerance": 1.0}) if c.id == "year" else c for c in task.rubric)
    assert "near misses score 0: year one more scores 1.0" in await reason(gate, task, rubric=loose)


@pytest.mark.parametrize(
    ("body", "said"),
    [
        ("pass", "no-op scores 0: doing nothing scores 1.0"),
        ("assert answer == reference", "near misses score 0"),
        ("assert str(answer) == str(reference) and diff == expected_diff", "harmless variants score 1"),
        ("raise KeyError('x')", "gold scores 1: scores None"),
    ],
    ids=["accepts everything", "ignores the state", "too literal", "broken"],
)
async def test_a_verifier_that_is_wrong_in_either_direction_is_refused(
    gate: Gate, make: Make, body: str, said: str
) -> None:
    verifier = f"def verify(answer, reference, diff, expected_diff):\n    {body}\n"
    assert said in await reason(gate, await make("program"), verifier=verifier)


async def test_an_extra_change_beside_the_asked_one_scores_zero(gate: Gate, make: Make) -> None:
    from agent_world.tools.grading import grade

    task = await make("write")
    extra = RowChange(table="members", key="M01", kind="removed", before={"member_id": "M01"})
    diff = StateDiff(changes=(*task.state_change.changes, extra))
    score = await grade(task, task.reference_answer, diff, runtime=gate.pool.runtime, environment=gate.pool.bundle.root)
    assert score.reward == 0


CLOCK_TOOLS = """

import datetime, random

def day_of_week():
    return {"day": datetime.date.today().strftime("%A"), "lot": str(random.random())}
"""


@pytest.fixture
async def timed(tmp_path: Path) -> AsyncIterator[Gate]:
    """The library with one tool more, which knows the day of the week and draws a lot."""
    bundle = make_library(tmp_path / "timed")
    tool = ToolSpec(
        name="day_of_week", description="Today.", input_schema={"type": "object", "properties": {}},
        annotations=ToolAnnotations(read_only=True),
    )  # fmt: skip
    source = (bundle.root / "tools.py").read_text() + CLOCK_TOOLS
    bundle.write_tools([*bundle.tools(), tool], source, "")
    settings = Settings(workspace=tmp_path)
    async with open_runtime(settings.runtime) as runtime, open_gate(World(bundle), runtime, settings) as opened:
        yield opened


async def timed_task(gate: Gate, field: str, question: str) -> Task:
    chain = Chain(steps=(Step(tool="day_of_week"),), answer={"answer": Ref(step=0, path=field)})
    draft = Draft(solution=chain, question=question, expected={}, types={"answer": "string"})
    found = await realise(draft, "timed", Origin(engine="procedural"), 0, await gate.pool.clean(0))
    gate.pool.soil(0)  # where its random numbers begin again
    assert isinstance(found, Realised), found
    return found.task


async def test_an_answer_that_depends_on_the_time_is_refused_unless_the_question_says_when(timed: Gate) -> None:
    said = await reason(timed, await timed_task(timed, "day", "Which day of the week is it?"))
    assert said == "gold replays elsewhere: at another time and seed, the gold solution gives another answer"
    dated = await timed_task(timed, "day", "Which day of the week is 15 January 2026?")
    names = [check.name for check in (await timed.judge(dated)).checks if check.passed]
    assert "gold replays elsewhere" in names
    assert "question is used" in names


async def test_an_answer_that_chance_has_made_is_refused(timed: Gate) -> None:
    """FAULTS PB-30: values that only one run has."""
    said = await reason(timed, await timed_task(timed, "lot", "Draw a lot and tell me what it is."))
    assert "at another time and seed, the gold solution gives another answer" in said


async def test_replaying_alone_says_why_a_gold_solution_does_not_hold(gate: Gate, make: Make) -> None:
    task = await make("read")
    assert await gate.replay_fault(task) == ""
    wrong = task.model_copy(update={"reference_answer": {"year": 1816}})
    assert await gate.replay_fault(wrong) == "the gold solution gives another answer"


async def test_an_answer_of_blanks_is_no_answer(gate: Gate, make: Make) -> None:
    """Who does nothing and writes zero must not pass."""
    chain = Chain(
        steps=(
            Step(tool="search_books", arguments={"title": Value(value="Villette")}),
            Step(tool="count_loans_by_book", arguments={"book_id": Value(value="B014")}),
        ),
        answer={"count": Ref(step=1, path="count")},
    )
    draft = Draft(
        solution=chain, question="How often was Villette lent, and B014?", expected={}, types={"count": "integer"}
    )
    found = await realise(draft, "library", Origin(engine="procedural"), 0, await gate.pool.clean(0))
    assert isinstance(found, Realised)
    assert await reason(gate, found.task) == "no-op scores 0: doing nothing scores 1.0"
