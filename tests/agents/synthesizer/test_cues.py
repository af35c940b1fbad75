"""A question in other words asks the same: degrees, comparisons, conditions, negations and figures stay."""

import pytest

from agent_world.agents.synthesizer.cues import changed_cue, comparisons, plan_cue

KEPT = [
    ("Which book has the highest rating?", "Which of the books is rated highest?"),
    ("Which book has the most copies?", "Tell me the book with the greatest number of copies."),
    ("List members that joined after 2024.", "Who joined later than 2024?"),
    ("How many books have at least 300 pages?", "Count the books with 300 pages or more."),
    ("How many books have more than 300 pages?", "How many books are there with over 300 pages?"),
    ("If loan 17 is open, delete it; otherwise leave it.", "Delete loan 17 in case it is open, else leave it."),
    ("What is the average fine?", "What is the mean fine?"),
    ("Which loans are not returned?", "Which loans were not returned?"),
    ("When was Emma written?", "In which year was Emma written?"),
    ("Name the loans of 2 days or less.", "Name the loans of at most 2 days."),
]
TURNED = [
    ("Which book has the highest rating?", "Which book has the lowest rating?", "'high' was lost"),
    ("Which book has the most copies?", "Which book has copies?", "'high' was lost"),
    ("Who joined last year?", "Who joined most often last year?", "'high' was added"),
    ("How many books have at least 300 pages?", "How many books have more than 300 pages?", "300 is compared by >"),
    ("How many books have more than 300 pages?", "How many books have under 300 pages?", "300 is compared by <"),
    ("How many books have more than 300 pages?", "How many books have 300 pages?", "300 is compared by nothing"),
    ("How many books have 300 pages?", "How many books have 300 pages or fewer?", "300 is compared by <="),
    ("If loan 17 is open, delete it.", "Unless loan 17 is open, delete it.", "'if' was lost"),
    ("Delete loan 17 if it is open.", "Delete loan 17, which is open.", "'if' was lost"),
    ("Which loans are returned?", "Which loans are not returned?", "'not' was added"),
    ("Which books do not have a rating?", "Which books do have a rating?", "'not' was lost"),
    ("List books without loans.", "List books with loans.", "'not' was lost"),
    ("What is the total fine?", "What is the average fine?", "'mean' was added"),
    ("Set it to 4 if it is open, otherwise to 5.", "Set it to 4 if it is open and to 5.", "'otherwise' was lost"),
]


@pytest.mark.parametrize(("before", "after"), KEPT, ids=[row[1] for row in KEPT])
def test_synonyms_keep_the_meaning(before: str, after: str) -> None:
    assert changed_cue(before, after) == ""
    assert changed_cue(after, before) == ""


@pytest.mark.parametrize(("before", "after", "said"), TURNED, ids=[row[1] for row in TURNED])
def test_a_wording_that_turns_the_meaning_is_found_out(before: str, after: str, said: str) -> None:
    assert changed_cue(before, after).startswith(said)


def test_comparisons_are_read_before_and_behind_their_number() -> None:
    text = 'No more than 3 loans, a fine over 2.5, 10 or more copies, before 2024-05-01, not below 7, later than "May".'
    assert {literal: set(kinds) for literal, kinds in comparisons(text).items()} == {
        "3": {"<="}, "2.5": {">"}, "10": {">="}, "2024-05-01": {"<"}, "7": {">="}, "May": {">"},
    }  # fmt: skip


def test_a_question_agrees_with_the_plan_of_its_program() -> None:
    plan = {"nodes": [{"of": {"tests": [{"attr": {"column": "pages"}, "comparison": ">=", "value": 300.0}]}}]}
    assert plan_cue("How many books have at least 300 pages?", plan) == ""
    assert plan_cue("How many books have more than 300 pages?", plan) == (
        "the question compares 300 by >, its plan by >="
    )
    assert plan_cue("How many books have 300 pages?", plan) == ""
    assert plan_cue("How many books have more than 300 pages?", None) == ""
