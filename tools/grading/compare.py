"""When two JSON values are the same answer.

Numbers are compared as exact fractions, so 12 is 12.0 and 9007199254740993 is not 9007199254740992; a Boolean is
never a number; text is compared in Unicode's composed form, outer space aside, case kept.
"""

import math
import re
import unicodedata
from collections.abc import Sequence
from fractions import Fraction
from typing import Any

_NUMBER = re.compile(r"([+-]?)\s*[$€£¥]?\s*([+-]?)((?:\d{1,3}(?:,\d{3})+|\d+)(?:\.\d+)?(?:[eE][+-]?\d{1,3})?)")
_LONGEST = 400


def number(value: Any) -> Fraction | None:
    """The number that `value` is, or states as text and nothing else (`"$1,200.50"`); None otherwise."""
    if isinstance(value, bool):
        return None
    if isinstance(value, int):
        return Fraction(value)
    if isinstance(value, float):
        return Fraction(repr(value)) if math.isfinite(value) else None
    return _stated(value) if isinstance(value, str) and len(value) <= _LONGEST else None


def _stated(text: str) -> Fraction | None:
    found = _NUMBER.fullmatch(text.strip())
    if not found or (found[1] and found[2]):
        return None
    size = Fraction(found[3].replace(",", ""))
    return -size if "-" in (found[1], found[2]) else size


def near(expected: Fraction, given: Fraction | None, tolerance: float) -> bool:
    return given is not None and abs(expected - given) <= Fraction(repr(tolerance))


def same(expected: Any, given: Any, tolerance: float = 0.0) -> bool:
    """Equal as JSON values, key order aside; numbers within `tolerance`. A number is not the text of it."""
    match expected, given:
        case (bool(), _) | (_, bool()):
            return expected is given
        case (int() | float(), int() | float()):
            size = number(expected)
            return size is not None and near(size, number(given), tolerance)
        case str(), str():
            return plain(expected) == plain(given)
        case dict(), dict():
            return expected.keys() == given.keys() and all(same(expected[k], given[k], tolerance) for k in expected)
        case list() | tuple(), list() | tuple():
            return len(expected) == len(given) and all(
                same(a, b, tolerance) for a, b in zip(expected, given, strict=True)
            )
    return expected is None and given is None


def same_set(expected: Any, given: Any, tolerance: float = 0.0) -> bool:
    """Two lists of the same members, each as often, order aside."""
    if not isinstance(expected, list | tuple) or not isinstance(given, list | tuple) or len(expected) != len(given):
        return False
    if same(sorted(expected, key=_order), sorted(given, key=_order), tolerance):
        return True
    # In order, single numbers meet their nearest; records that differ within the tolerance may not.
    records = any(isinstance(item, list | tuple | dict) for item in expected)
    return bool(tolerance and records and _pairs(expected, given, tolerance) == len(expected))


def _pairs(expected: Sequence[Any], given: Sequence[Any], tolerance: float) -> int:
    """How many members can be paired off, by augmenting paths."""
    taken: dict[int, int] = {}

    def place(i: int, tried: set[int]) -> bool:
        for j in range(len(given)):
            if j not in tried and same(expected[i], given[j], tolerance):
                tried.add(j)
                if j not in taken or place(taken[j], tried):
                    taken[j] = i
                    return True
        return False

    return sum(place(i, set()) for i in range(len(expected)))


def plain(text: str) -> str:
    return unicodedata.normalize("NFC", text).strip()


def _order(value: Any) -> tuple[Any, ...]:
    """A total order of JSON values that puts equal ones side by side."""
    match value:
        case bool():
            return (1, value)
        case int() | float():
            size = number(value)
            return (2, size if size is not None else 0)
        case str():
            return (3, plain(value))
        case list() | tuple():
            return (4, tuple(_order(item) for item in value))
        case dict():
            return (5, tuple((key, _order(value[key])) for key in sorted(value)))
    return (0,)
