from fractions import Fraction
from typing import Any

import pytest

from agent_world.tools.grading.compare import near, number, same, same_set


@pytest.mark.parametrize(
    ("expected", "given", "right"),
    [
        (10, "you get 100 back", False),
        (0, "$0.00", True),
        (-5, "5", False),
        (150, "15", False),
        (9007199254740993, "9007199254740992", False),
        (9007199254740993, 9007199254740992.0, False),
        (9007199254740993, 9007199254740993, True),
        (1200.5, "$1,200.50", True),
        (12, "1,2", False),
        (-5, "-$5", True),
        (-5, "$-5", True),
        (5, "--5", False),
        (5, "-+5", False),
        (1, True, False),
        (3, "3 apples", False),
        (3, None, False),
        (3, [3], False),
        (0, "", False),
        (12, 12.0, True),
        (12, float("nan"), False),
        (12, "1" * 500, False),
    ],
)
def test_numbers_are_parsed_whole_with_their_sign_and_exactly(expected: float, given: Any, right: bool) -> None:
    assert near(number(expected) or Fraction(0), number(given), 0.0) is right


@pytest.mark.parametrize(
    ("expected", "given", "right"),
    [
        ([12.0, 15.0], [12, 15], True),
        ([12, 15], [15, 12], False),
        (3, "3", False),
        (True, 1, False),
        (0, False, False),
        (None, None, True),
        (None, 0, False),
        ("Café", "Cafe\u0301 ", True),
        ("Emma", "emma", False),
        ({"a": 1, "b": [1]}, {"b": [1.0], "a": 1}, True),
        ({"a": 1}, {"a": 1, "b": 2}, False),
        ([1], [1, 1], False),
    ],
)
def test_values_are_the_same_by_meaning_and_type(expected: Any, given: Any, right: bool) -> None:
    assert same(expected, given) is right


@pytest.mark.parametrize(
    ("expected", "given", "right"),
    [
        ([1, 2, 3], [3, 1, 2.0], True),
        ([1, 1, 2], [1, 2, 2], False),
        (["a", None, 1, True], [True, 1, "a", None], True),
        ([{"x": 1}, {"x": 2}], [{"x": 2}, {"x": 1}], True),
        ([], [], True),
        ([], "", False),
        (["ab"], "ab", False),
    ],
)
def test_sets_are_lists_order_aside(expected: Any, given: Any, right: bool) -> None:
    assert same_set(expected, given) is right


def test_tolerance_is_absolute_and_inclusive() -> None:
    assert same(3.857, 3.8565, 0.0005)
    assert not same(3.857, 3.8564, 0.0005)
    assert same_set([1.0001, 2.0], [2.0, 1.0], 0.001)
