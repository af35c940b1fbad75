"""The comparator for any JSON: reflexive, symmetric, and never fooled by substring, sign or magnitude."""

import json
import random
from fractions import Fraction
from typing import Any

from hypothesis import assume, given, settings
from hypothesis import strategies as st

from agent_world.agents.synthesizer.answers import verifier_source
from agent_world.agents.synthesizer.draft import Draft
from agent_world.schema import Program, StateDiff, Task
from agent_world.tools.grading import harmless_variants, near_misses
from agent_world.tools.grading.compare import number, plain, same, same_set
from agent_world.tools.grading.criteria import check
from tests.faults.task_tables import task_of

QUICK = settings(max_examples=150, deadline=None, derandomize=True)
INTEGERS = st.integers(-(10**20), 10**20)
FLOATS = st.floats(allow_nan=False, allow_infinity=False)
TEXTS = st.text(st.characters(codec="utf-8"), max_size=20)
SCALARS = st.none() | st.booleans() | INTEGERS | FLOATS | TEXTS
VALUES = st.recursive(
    SCALARS, lambda inner: st.lists(inner, max_size=4) | st.dictionaries(TEXTS, inner, max_size=3), max_leaves=8
)
TOLERANCES = st.sampled_from([0.0, 1e-6, 5e-4, 0.5])


@QUICK
@given(VALUES, TOLERANCES)
def test_everything_is_the_same_as_itself_and_as_what_json_makes_of_it(value: Any, tolerance: float) -> None:
    assert same(value, value, tolerance)
    assert same(value, json.loads(json.dumps(value)), tolerance)


@QUICK
@given(VALUES, VALUES, TOLERANCES)
def test_sameness_has_no_direction(a: Any, b: Any, tolerance: float) -> None:
    assert same(a, b, tolerance) is same(b, a, tolerance)
    assert same_set([a, b, a], [b, a, b], tolerance) is same_set([b, a, b], [a, b, a], tolerance)


@QUICK
@given(st.lists(VALUES, max_size=6), st.randoms(use_true_random=False), TOLERANCES)
def test_a_set_is_itself_in_any_order(values: list[Any], chance: random.Random, tolerance: float) -> None:
    assert same_set(values, chance.sample(values, len(values)), tolerance)


@QUICK
@given(st.lists(INTEGERS, min_size=1, max_size=6), INTEGERS)
def test_a_set_with_a_member_missing_or_extra_is_another(values: list[int], more: int) -> None:
    assert not same_set(values, values[1:])
    assert not same_set(values, [*values, more])


@QUICK
@given(
    st.lists(st.tuples(st.integers(0, 3), st.integers(0, 3)), min_size=1, max_size=5),
    st.randoms(use_true_random=False),
)
def test_records_within_the_tolerance_are_found_in_any_order(
    pairs: list[tuple[int, int]], chance: random.Random
) -> None:
    """Sorted, such records may stand in another order than their partners."""
    wanted = [{"x": 1.0 + x / 1e4, "y": y} for x, y in pairs]
    given_ = [{"x": row["x"] + chance.choice((-4e-4, 4e-4)), "y": row["y"]} for row in wanted]
    assert same_set(wanted, chance.sample(given_, len(given_)), 5e-4)


@QUICK
@given(TEXTS, TEXTS, TEXTS)
def test_text_around_a_text_makes_it_another(text: str, before: str, after: str) -> None:
    longer = before + text + after
    assume(plain(longer) != plain(text))
    assert not same(text, longer)
    assert not same(longer, text)


@QUICK
@given(INTEGERS | FLOATS, st.sampled_from(["about {}", "{} of them", "{}.", "({})", "x{}", "{}0x", "{} {}"]))
def test_a_number_in_a_sentence_is_no_number(value: float, sentence: str) -> None:
    assert number(sentence.format(value, value)) is None


@QUICK
@given(INTEGERS | FLOATS, TOLERANCES)
def test_the_sign_counts(value: float, tolerance: float) -> None:
    assume(abs(value) > tolerance)
    assert not same(value, -value, tolerance)
    assert number(f"-{abs(value)}") != number(f"{abs(value)}")


@QUICK
@given(st.integers(1, 10**30), st.sampled_from([10, 100, 1000]))
def test_the_magnitude_counts(value: int, factor: int) -> None:
    assert not same(value, value * factor)
    assert number(str(value)) != number(f"{value * factor:,}")
    assert number(f"${value:,}") == value


@QUICK
@given(st.integers(-(10**30), 10**30), st.sampled_from([-1, 1]))
def test_integers_of_any_size_are_exact(value: int, step: int) -> None:
    assert same(value, value)
    assert not same(value, value + step)
    assert same(value, float(value)) is (Fraction(repr(float(value))) == value)


@QUICK
@given(INTEGERS | FLOATS | st.sampled_from([0, 1, 0.0, 1.0]))
def test_a_number_is_not_the_text_of_it_and_no_boolean(value: float) -> None:
    assert not same(value, str(value))
    assert not same(value, True, 5.0)
    assert not same(False, value, 5.0)


FIELDS = {
    "string": TEXTS.filter(lambda text: text.strip() == text and text != ""),
    "integer": st.integers(-(10**6), 10**6),
    "number": st.decimals(-10_000, 10_000, places=3).map(float),
    "boolean": st.booleans(),
    "[string]": st.lists(TEXTS.filter(str.strip), min_size=1, max_size=4, unique_by=plain),
    "[integer]": st.lists(st.integers(-99, 99), min_size=1, max_size=4),
}
ANSWERS = st.fixed_dictionaries({}, optional={kind: values for kind, values in FIELDS.items()})


@settings(QUICK, max_examples=40)
@given(ANSWERS.filter(bool))
def test_rubric_and_verifier_refuse_every_near_miss_and_accept_every_harmless_variant(answer: dict[str, Any]) -> None:
    """Fields are named by their kinds. The verifier is our own template, so it may run here."""
    task = task_of(answer, {kind: kind for kind in answer})
    for miss in near_misses(answer, task.answer_schema):
        assert (by_rubric(task, miss.answer), by_verifier(task, miss.answer)) == (False, False), miss.name
    for variant in harmless_variants(answer, task.answer_schema):
        assert (by_rubric(task, variant.answer), by_verifier(task, variant.answer)) == (True, True), variant.name


def by_rubric(task: Task, answer: dict[str, Any]) -> bool:
    return all(check(criterion, task, answer, StateDiff()).passed for criterion in task.rubric)


def by_verifier(task: Task, answer: dict[str, Any]) -> bool:
    """As the grader: the schema first, then the verifier."""
    if not check(task.rubric[0], task, answer, StateDiff()).passed:
        return False
    types = {kind: kind for kind in task.reference_answer}
    draft = Draft(solution=Program(source=""), question="", expected={}, types=types)
    space: dict[str, Any] = {}
    exec(verifier_source(draft, task.reference_answer, StateDiff()), space)
    try:
        space["verify"](answer, task.reference_answer, {"changes": []}, {"changes": []})
    except AssertionError:
        return False
    return True
