"""Numbers as people write them: one way of writing a column, and the unit that all its cells carry.

A column is read as numbers only where one convention fits every cell. Where `1.234` could be either, it is English.
Codes stay text: leading zeros, a plus sign, `1e5` without a decimal point anywhere in the column, more digits than a
number can hold, groups of digits that are all of one length.
"""

import math
import re
from collections.abc import Sequence

from agent_world.schema import Json

ENGLISH = re.compile(r"[-−]?(0|[1-9]\d*|[1-9]\d{0,2}(,\d{3})+)?(\.\d+)?([eE][-+]?\d+)?")
CONTINENTAL = re.compile(r"[-−]?(0|[1-9]\d*|[1-9]\d{0,2}(\.\d{3})+)(,\d+)?")
SPACED = re.compile(r"[-−]?(0|[1-9]\d*|[1-9]\d{0,2}([ '’]\d{3})+)([.,]\d+)?")
GROUPED = re.compile(r"\d[ '’]\d{3}")
POWER = re.compile(r"[-−]?\d+[eE]\d+")
"""May be a power of ten, or the code of a product."""
MOST_DIGITS = 15
"""Of a number without a decimal point among numbers with one: more are not kept by a float."""
MOST_WHOLE_DIGITS = 18
CODE_DIGITS = 7
"""Grouped digits of this length or more, all of one length, are phone or account numbers."""

CURRENCIES = {"$": "dollars", "US$": "usd", "€": "eur", "£": "pounds", "¥": "yen", "₹": "rupees"} | {
    code: code.lower() for code in ("USD", "EUR", "GBP", "JPY", "CHF", "CAD", "AUD", "CNY", "INR", "SEK", "NOK", "DKK")
}
MEASURES = {
    "%": "percent", "‰": "permille", "°": "degrees", "°C": "celsius", "°F": "fahrenheit", "km²": "km2", "km2": "km2",
    "m²": "m2", "m2": "m2", "sq mi": "sq_mi", "sq km": "sq_km", "m³": "m3", "km/h": "kmh", "m/s": "m_per_s",
    "µg": "ug", "μg": "ug",
} | {unit: unit.lower() for unit in (
    "km", "m", "cm", "mm", "mi", "ft", "yd", "kg", "g", "mg", "lb", "lbs", "oz", "ha", "acres", "l", "L", "ml", "mL",
    "mph", "kW", "MW", "GW", "kWh", "MWh", "GWh", "Hz", "kHz", "MHz", "GHz", "KB", "kB", "MB", "GB", "TB", "hp", "bhp",
    "kcal", "cal", "kJ", "ppm", "ms", "sec", "min", "hrs", "hours", "minutes", "seconds", "days", "weeks", "months",
    "years", "miles", "feet", "inches", "meters", "metres", "people", "bps", "dB", "hPa", "bar", "psi", "rpm",
)}  # fmt: skip
"""How a unit is written, and what it becomes in a column's name."""
BEFORE = re.compile(r"(?P<sign>[-−]?)(?P<unit>US\$|[$€£¥₹]|[A-Z]{3}) ?(?P<number>\d.*)")
AFTER = re.compile(r"(?P<sign>[-−]?)(?P<number>[\d.][\d.,'’ ]*?) ?(?P<unit>[^\d\s.,'’][^\d.,]*\d?)")


def read_numbers(cells: Sequence[str]) -> list[int] | list[float] | None:
    """The cells as numbers, integers where all are; None where they are no numbers, or codes."""
    plain = _plain(cells)
    if plain is None or not all(any(c.isdigit() for c in cell) for cell in plain):
        return None
    if all(cell.lstrip("-").isdecimal() for cell in plain):
        longest = max(len(cell.lstrip("-")) for cell in plain)
        return [int(cell) for cell in plain] if longest <= MOST_WHOLE_DIGITS else None
    if any(cell.lstrip("-").isdecimal() and len(cell.lstrip("-")) > MOST_DIGITS for cell in plain):
        return None
    numbers = [float(cell) for cell in plain]
    return numbers if all(map(math.isfinite, numbers)) else None


def _plain(cells: Sequence[str]) -> list[str] | None:
    """As Python writes numbers, by the convention that fits all; None where none does."""
    cells = [cell.replace("−", "-") for cell in cells]
    if _all(ENGLISH, cells):
        powers = any(POWER.fullmatch(cell) for cell in cells)
        decimal = any("." in cell or re.search(r"[eE][-+]", cell) for cell in cells)
        return None if powers and not decimal else [cell.replace(",", "") for cell in cells]
    if _all(CONTINENTAL, cells):
        return [cell.replace(".", "").replace(",", ".") for cell in cells]
    if _all(SPACED, cells) and any(map(GROUPED.search, cells)) and not _of_one_length(cells):
        signs = {sign for cell in cells for sign in ".," if sign in cell}
        bare = [re.sub("[ '’]", "", cell).replace(",", ".") for cell in cells]
        return bare if len(signs) < 2 else None
    return None


def _all(form: re.Pattern[str], cells: Sequence[str]) -> bool:
    return all(form.fullmatch(cell) for cell in cells)


def _of_one_length(cells: Sequence[str]) -> bool:
    lengths = {len(cell) for cell in cells}
    return len(lengths) == 1 and len(cells) > 1 and sum(c.isdigit() for c in cells[0]) >= CODE_DIGITS


def shared_unit(cells: Sequence[Json]) -> tuple[str, str, list[Json]] | None:
    """The unit that every cell carries: as written, as in a name, and the cells without it. None where they differ,
    or where what is left is no number."""
    known = [cell for cell in cells if cell is not None]
    parts = [_split(cell) for cell in known]
    units = {part[0] for part in parts if part}
    if not known or None in parts or len(units) != 1:
        return None
    unit = units.pop()
    if read_numbers([part[1] for part in parts if part]) is None:
        return None
    bare: list[Json] = [part[1] if cell is not None and (part := _split(cell)) else None for cell in cells]
    return unit, (CURRENCIES | MEASURES)[unit], bare


def _split(cell: Json) -> tuple[str, str] | None:
    """Unit and number of one cell."""
    if not isinstance(cell, str):
        return None
    if (found := BEFORE.fullmatch(cell)) and found["unit"] in CURRENCIES:
        return found["unit"], found["sign"] + found["number"]
    if (found := AFTER.fullmatch(cell)) and (found["unit"] in MEASURES or found["unit"] in CURRENCIES):
        return found["unit"], found["sign"] + found["number"]
    return None
