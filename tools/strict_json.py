"""Hooks that make `json.loads` refuse what JSON does not have, or leaves open: NaN, Infinity, numbers beyond a float's
range, a key twice in one object."""

import math
from typing import Any


def refuse_constant(name: str) -> Any:
    """For `parse_constant`. Raises `ValueError`."""
    raise ValueError(f"{name} is not JSON")


def finite_float(text: str) -> float:
    """For `parse_float`. Raises `ValueError` when out of range."""
    number = float(text)
    if not math.isfinite(number):
        raise ValueError(f"{text[:40]} is out of range")
    return number


def unique_keys(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    """For `object_pairs_hook`. Raises `ValueError` when a key occurs twice: which one holds is left open."""
    found = dict(pairs)
    if len(found) < len(pairs):
        seen: set[str] = set()
        twice = next(key for key, _ in pairs if key in seen or seen.add(key))  # type: ignore[func-returns-value]
        raise ValueError(f"the key {twice[:40]!r} occurs twice")
    return found
