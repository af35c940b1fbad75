"""Near misses and harmless variants of every shape of answer, tried on rubric and verifier."""

from typing import Any

import pytest

from agent_world.schema import RowChange, StateDiff, Task
from agent_world.tools.grading import harmless_variants, near_misses, state_misses
from agent_world.tools.grading.criteria import check
from agent_world.tools.grading.spoilt import alike, wrong
from tests.faults.task_tables import task_of

SHAPES: list[tuple[str, Any, set[str]]] = [
    ("[number]", [12.0, 15.5, 3.857], {
        "with its first member just above the tolerance", "with its middle member one more",
        "with its last member just above the tolerance", "empty", "without its first member"}),
    ("[integer]", [4, 9], {"with its first member one more", "with its last member one more", "with a member twice"}),
    ("[string]", ["a", "b", "c"], {"with its middle member with a word too many", "with a foreign member too many"}),
    ("boolean", True, {"the other way round", "as a number", "as text"}),
    ("number", 3.857, {"just above the tolerance", "just below it", "with the other sign", "enormous"}),
]  # fmt: skip


@pytest.mark.parametrize(("kind", "value", "names"), SHAPES, ids=[row[0] for row in SHAPES])
def test_every_shape_is_spoilt_in_its_own_ways_and_the_rubric_refuses_each(
    kind: str, value: Any, names: set[str]
) -> None:
    task = task_of({"field": value}, {"field": kind})
    assert names <= {name for name, _ in wrong(value)}
    assert [m.name for m in near_misses(task.reference_answer, task.answer_schema) if passes(task, m.answer)] == []
    assert all(passes(task, v.answer) for v in harmless_variants(task.reference_answer, task.answer_schema))


def passes(task: Task, answer: dict[str, Any]) -> bool:
    return all(check(criterion, task, answer, StateDiff()).passed for criterion in task.rubric)


def test_lists_whose_order_counts_are_spoilt_by_exchanging_members() -> None:
    names = {name for name, _ in wrong([1, 2, 2, 3], ordered=True)}
    assert {"in another order", "with two members exchanged"} <= names
    assert "in another order" not in {name for name, _ in wrong([1, 2, 3])}
    assert "in another order" not in {name for name, _ in wrong([1, 2, 1], ordered=True)}, "it is the same turned round"


def test_records_are_spoilt_in_each_field_and_written_otherwise() -> None:
    record = {"name": "Emma", "copies": 4}
    names = {name for name, _ in wrong(record)}
    assert {"without name", "with copies one more", "with name cut short", "with a field too many"} <= names
    assert next(v for _, v in alike(record, True)) == record
    assert list(alike(record, True)[0][1]) == ["copies", "name"]
    nested = {name for name, _ in wrong([record, {"name": "Dracula", "copies": 3}])}
    assert any(name.startswith("with its first member") for name in nested)


def test_whole_numbers_of_a_list_may_be_written_otherwise() -> None:
    assert ("with whole numbers written otherwise", [12, 15.5]) in alike([12.0, 15.5], True)
    assert [repr(v) for name, v in alike([12, 15], False) if "otherwise" in name] == ["[12.0, 15.0]"]


def test_a_sum_may_carry_its_sign_where_the_schema_allows_text() -> None:
    schema = {"type": "object", "properties": {"sum": {"type": ["number", "string"]}}}
    assert "$12.5" in [v.answer["sum"] for v in harmless_variants({"sum": 12.5}, schema)]
    assert "-$4" in [v.answer["sum"] for v in harmless_variants({"sum": -4}, schema)]
    assert "$13.5" in [v.answer.get("sum") for v in near_misses({"sum": 12.5}, schema)]


CHANGES = StateDiff(
    changes=(
        RowChange(table="books", key="B1", kind="changed", before={"copies": 4}, after={"copies": 9}),
        RowChange(table="loans", key="17", kind="removed", before={"loan_id": 17, "fine": 1.0}),
        RowChange(table="loans", key="26", kind="added", after={"loan_id": 26, "note": "moved"}),
    )
)


def test_states_are_spoilt_by_row_by_kind_and_by_cell() -> None:
    names = {v.name for v in state_misses(CHANGES, ignored=("loans.note",))}
    assert {
        "books B1 removed", "books B1 added", "books B1 with another copies", "books B1 taken for another row",
        "loans 17 emptied and not removed", "loans 17 left alone", "loans 26 removed", "loans 26 with another loan_id",
    } <= names  # fmt: skip
    assert "loans 26 with another note" not in names, "the words of that column are the agent's own"
    assert "loans 26 with another note" in {v.name for v in state_misses(CHANGES)}
    assert all(variant.diff != CHANGES for variant in state_misses(CHANGES))
