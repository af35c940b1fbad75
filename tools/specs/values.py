"""Keywords that hold numbers, texts and flags, as `keywords.py` has it."""

import math
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any

from agent_world.tools.specs.patterns import python_pattern

if TYPE_CHECKING:
    from agent_world.tools.specs.clean import Cleaner, Place


def keyword_of(place: "Place") -> str:
    return place.path.rpartition("/")[2]


def leave_out(cleaner: "Cleaner", place: "Place", why: str) -> None:
    cleaner.note(place, "keyword", f"{why}; left out", "guess")


def _number(value: Any) -> int | float | None:
    """A JSON number, also written as text."""
    if isinstance(value, str):
        try:
            value = float(value) if not value.strip().lstrip("-").isdecimal() else int(value)
        except ValueError:
            return None
    sound = isinstance(value, (int, float)) and not isinstance(value, bool) and math.isfinite(value)
    return value if sound else None


def bound(cleaner: "Cleaner", out: dict[str, Any], value: Any, place: "Place") -> None:
    """minimum, maximum and their exclusive forms; draft 4 has the latter as flags beside the former."""
    keyword = keyword_of(place)
    other = {"minimum": "exclusiveMinimum", "maximum": "exclusiveMaximum"}.get(keyword)
    if other and place.node.get(other) is True:
        return
    if isinstance(value, bool) and other is None:
        limit = _number(place.node.get("m" + keyword[10:]))
        cleaner.note(place, "dialect", "a flag beside the bound, written as the bound itself")
        if value and limit is not None:
            out[keyword] = limit
        return
    _quantity(cleaner, out, value, place, lambda number: True)


def _quantity(
    cleaner: "Cleaner", out: dict[str, Any], value: Any, place: "Place", sound: Callable[[float], bool]
) -> None:
    number = _number(value)
    if number is None or not sound(number):
        return leave_out(cleaner, place, f"{str(value)[:40]!r} is no number that it can have")
    if isinstance(value, str):
        cleaner.note(place, "number", "a number given as text")
    out[keyword_of(place)] = number
    return None


def count(cleaner: "Cleaner", out: dict[str, Any], value: Any, place: "Place") -> None:
    number = _number(value)
    if number is not None and number == int(number) and not (isinstance(value, int)):
        cleaner.note(place, "number", "written as an integer")
        value = int(number)
    _quantity(cleaner, out, value, place, lambda n: n >= 0 and n == int(n))


def multiple(cleaner: "Cleaner", out: dict[str, Any], value: Any, place: "Place") -> None:
    _quantity(cleaner, out, value, place, lambda n: n > 0)


def text(cleaner: "Cleaner", out: dict[str, Any], value: Any, place: "Place") -> None:
    if isinstance(value, str):
        out[keyword_of(place)] = value
    elif isinstance(value, list) and value and all(isinstance(v, str) for v in value):
        out[keyword_of(place)] = " ".join(value)
        cleaner.note(place, "text", "a list of texts, joined")
    else:
        cleaner.note(place, "text", "it is no text; left out")


def flag(cleaner: "Cleaner", out: dict[str, Any], value: Any, place: "Place") -> None:
    if isinstance(value, bool):
        out[keyword_of(place)] = value
    else:
        leave_out(cleaner, place, "it must be true or false")


def pattern(cleaner: "Cleaner", out: dict[str, Any], value: Any, place: "Place") -> None:
    readable = python_pattern(value) if isinstance(value, str) else None
    if readable is None:
        cleaner.note(place, "pattern", "a pattern that cannot be run here; left out", "wider")
        return
    if readable != value:
        cleaner.note(place, "pattern", f"written as Python reads it: {readable}")
    out["pattern"] = readable


def examples(cleaner: "Cleaner", out: dict[str, Any], value: Any, place: "Place") -> None:
    if isinstance(value, list):
        out["examples"] = value
        return
    cleaner.note(place, "annotation", "examples are a list")
    found = (
        [v.get("value", v) if isinstance(v, Mapping) else v for v in value.values()]
        if isinstance(value, Mapping)
        else [value]
    )
    out["examples"] = found


def example(cleaner: "Cleaner", out: dict[str, Any], value: Any, place: "Place") -> None:
    cleaner.note(place, "annotation", "written examples")
    if "examples" not in place.node:
        out["examples"] = [value]


def as_is(cleaner: "Cleaner", out: dict[str, Any], value: Any, place: "Place") -> None:
    out[keyword_of(place)] = value


def read_elsewhere(cleaner: "Cleaner", out: dict[str, Any], value: Any, place: "Place") -> None:
    """`nullable` and `optional`: read elsewhere, by the schema or the object around it."""
    if value is not True or keyword_of(place) == "optional":
        cleaner.note(place, "dialect", "not of JSON Schema; left out")


def discriminator(cleaner: "Cleaner", out: dict[str, Any], value: Any, place: "Place") -> None:
    cleaner.note(place, "dialect", "the alternatives themselves tell which one is meant; left out")
