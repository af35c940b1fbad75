"""The parts of the gate that need no run: stated values, duplicates, references."""

import pytest

from agent_world.agents.validator.duplicates import Seen
from agent_world.agents.validator.effects import question_literals
from agent_world.agents.validator.literals import scalars, states
from agent_world.agents.validator.replay import MissingPath, at
from agent_world.schema import Chain, Difficulty, Origin, Ref, Step, Task, Value


@pytest.mark.parametrize(
    ("question", "value", "stated"),
    [
        ("Set it to 12.", 12, True),
        ("Set it to 12.", 12.0, True),
        ("Set it to 120.", 12, False),
        ("Set it to 1.12.", 12, False),
        ("A rating of 4.1 or more?", 4.1, True),
        ("A rating of 4.1 or more?", 4, False),
        ("Is book B003 lent?", "B003", True),
        ("Is book B0034 lent?", "B003", False),
        ("who wrote EMMA?", "Emma", True),
        ('The book "Emma"?', "Emma", True),
        ("Emmanuel", "Emma", False),
        ("Is it true?", True, True),
        ("At -5 degrees", -5, True),
    ],
)
def test_a_value_is_stated_as_a_whole_word_or_number(question: str, value: object, stated: bool) -> None:
    assert states(question, value) is stated


def test_scalars_are_found_at_any_depth() -> None:
    assert list(scalars({"a": [1, {"b": "x"}], "c": None})) == [1, "x"]


def test_a_path_that_is_not_there_is_named() -> None:
    assert at({"items": [{"id": 7}]}, "items.0.id", "list_things") == 7
    with pytest.raises(MissingPath, match=r"list_things has no items\.1\.id"):
        at({"items": [{"id": 7}]}, "items.1.id", "list_things")


def task(name: str, question: str, key: str, year: int = 1815) -> Task:
    step = Step(tool="get_book", arguments={"book_id": Value(value=key)})
    return Task(
        id=name, environment="library", strategy="graph", question=question, answer_schema={},
        reference_answer={"year": year}, solution=Chain(steps=(step,), answer={"year": Ref(step=0, path="year")}),
        difficulty=Difficulty(level=1, calls=1, distinct_tools=1), origin=Origin(engine="procedural"),
    )  # fmt: skip


def test_repeated_tasks_are_flagged_with_the_one_they_repeat() -> None:
    seen = Seen()
    seen.add(task("a", "In which year was book B003 first published in London?", "B003"))
    assert (
        seen.clash(task("b", "in which year was book  B003 first published in London?", "B004")) == "same question as a"
    )
    assert seen.clash(task("c", "Tell me the year of book B003.", "B003")) == "same solution as a"
    assert (
        seen.clash(task("d", "In which year was book B003 first published in London again?", "B005", year=1816))
        == "worded almost as a"
    )
    assert seen.clash(task("e", "How old is book B009?", "B009")) == "same answer as a"
    assert seen.clash(task("f", "How old is book B009?", "B009", year=1871)) == ""


@pytest.mark.parametrize(
    ("question", "literals"),
    [
        ('Lend "Dracula" to M01, 14 days.', ["Dracula", "M01", "14"]),
        ("Is 4.1 rounded to 2 decimals, or the 3rd?", ["4.1"]),
        ("Return B001 and B002 by 2025-03-21.", ["B001", "B002", "2025-03-21"]),
        ("Which of the 5 is best?", ["5"]),
        ("“Emma” costs -12.50.", ["Emma", "12.50"]),
    ],
)
def test_quoted_texts_ids_and_numbers_of_a_question_are_found(question: str, literals: list[str]) -> None:
    assert question_literals(question) == literals
