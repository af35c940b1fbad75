"""Regular expressions of JSON Schema (ECMA-262) as Python can run them."""

import re
import warnings

_NESTED = re.compile(r"[+*}][^()\[\]]*\)[+*{]")
"""A repeated group that ends in, or holds, a repetition: may take exponential time."""


def python_pattern(pattern: str, *, nested: bool = True) -> str | None:
    """The pattern, its named groups in Python's spelling; None where it cannot be read (or, without `nested`, where it
    may take exponential time: for places that are matched without a time limit)."""
    spelled = re.sub(r"\(\?<([A-Za-z_]\w*)>", r"(?P<\1>", pattern)
    spelled = re.sub(r"\\u\{([0-9A-Fa-f]{1,6})\}", _code_point, spelled)
    if not nested and _NESTED.search(spelled):
        return None
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # a foreign pattern's style is not ours to warn of
            re.compile(spelled)
    except (re.error, OverflowError, RecursionError, ValueError):
        return None
    return spelled


def _code_point(found: re.Match[str]) -> str:
    number = int(found[1], 16)
    return re.escape(chr(number)) if number <= 0x10FFFF else found[0]
