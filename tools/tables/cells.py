"""From the text of cells to typed values, a whole column at a time: a type holds only where every value allows it."""

import math
import re
from collections.abc import Iterable, Sequence
from typing import Any

from agent_world.schema import ColumnType, Json
from agent_world.tools.tables.numbers import read_numbers

MISSING = {"", "NA", "N/A", "n/a", "#N/A", "-", "–", "—", "NULL", "null", "None", "NaN", "nan"}
"""Ways in which published tables write that a value is missing."""
TRUTH = {"true": True, "false": False, "yes": True, "no": False}
CODE = re.compile(r"[A-Z]{2}")
CODE_NAME = re.compile(r"(^|_)(zip|zipcode|postal|postcode|fips|phone|telephone|isbn|ean|code|numeric)($|_)")
"""Names of columns whose digits are a code: nobody adds up postcodes, and `02138` is not 2138."""


def clean(cell: Any) -> Json:
    """One cell with white space trimmed, strict JSON, and no structure: lists become comma-separated text."""
    if isinstance(cell, str):
        return " ".join(cell.split())
    if isinstance(cell, float):
        return cell if math.isfinite(cell) else None
    if isinstance(cell, list | tuple):
        return ", ".join(str(part) for part in cell if not isinstance(part, dict | list)) or None
    return None if isinstance(cell, dict) else cell


def without_markers(values: Sequence[Json]) -> list[Json]:
    """Missing markers become null. `NA` stays among two-letter codes: it is Namibia, or North America."""
    codes = [v for v in values if isinstance(v, str) and v not in MISSING]
    keep_na = len(codes) > 1 and all(CODE.fullmatch(v) for v in codes)
    return [None if isinstance(v, str) and v in MISSING and not (keep_na and v == "NA") else v for v in values]


def typed(name: str, values: Sequence[Json]) -> tuple[ColumnType, list[Json]]:
    """The narrowest type that every value of column `name` allows, and the values in it."""
    known = [v for v in values if v is not None]
    if known and all(isinstance(v, bool) for v in known):
        return "boolean", list(values)
    if known and not any(isinstance(v, str | bool) for v in known):
        return _numbers(values)
    text = [None if v is None else _text(v) for v in values]
    said = [v for v in text if v is not None]
    if _all(said, lambda v: v.lower() in TRUTH):
        return "boolean", [None if v is None else TRUTH[v.lower()] for v in text]
    if CODE_NAME.search(name) or not said:
        return "string", list(text)
    numbers = read_numbers(said)
    if numbers is None:
        return "string", list(text)
    read = iter(numbers)
    return _numbers([None if v is None else next(read) for v in text])


def _numbers(values: Sequence[Json]) -> tuple[ColumnType, list[Json]]:
    """Whole numbers throughout are integers, also where they were stored as `517.0`."""
    if all(v is None or (float(v).is_integer() and abs(v) < 1e15) or isinstance(v, int) for v in values):
        return "integer", [None if v is None else int(v) for v in values]
    return "number", [None if v is None else float(v) for v in values]


def _text(value: Json) -> str:
    return {True: "true", False: "false"}[value] if isinstance(value, bool) else str(value)


def _all(values: Sequence[str], test: Any) -> bool:
    return bool(values) and all(test(v) for v in values)


def distinct(values: Iterable[Json]) -> list[Json]:
    """Non-null values without repetition, in order of first occurrence."""
    return list(dict.fromkeys(v for v in values if v is not None))
