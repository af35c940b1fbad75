"""Hooks that make `json.loads` refuse what JSON does not have: NaN, Infinity, and numbers beyond a float's range."""

import math
from typing import Any


def refuse_constant(name: str) -> Any:
    """For `parse_constant`. Raises `ValueError`."""
    raise ValueError(f"{name} is not JSON")


def finite_float(text: str) -> float:
    """For `parse_float`. Raises `ValueError` when out of range."""
    number = float(text)
    if not math.isfinite(number):
        raise ValueError(f"{text} is out of range")
    return number
