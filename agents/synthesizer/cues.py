"""Words that turn a question into another one: degrees, comparisons, conditions, negations, figures.

A question in other words keeps them: what was the highest stays the highest, `at least 5` no `more than 5`, `if` no
`unless`. Synonyms of one kind are alike.
"""

import re
from collections.abc import Iterator, Mapping
from typing import Any, Final

from agent_world.agents.synthesizer.words import value_text

_LITERAL = r"(?:[$€£]?(?P<literal>-?\d[\d.,:/-]*\d|\d)|\"(?P<quoted>[^\"]+)\")"
_ASIDE = r"(?:(?:a|an|the|value|values|of|than|is|are|or|equal|to|number|year|date)\s+){0,3}"
_BEFORE: Final = (
    (
        ">=",
        r"at least|(?:no|not) (?:fewer|less|lower|earlier) than|(?:is |stays )?not (?:below|under|before)|a minimum of"
        r"|starting (?:at|from)|greater than or equal to",
    ),
    (
        "<=",
        r"at most|(?:no|not) (?:more|greater|higher|larger|later) than|not (?:above|over|after|exceed(?:ing)?)|up to"
        r"|a maximum of|less than or equal to",
    ),
    (
        ">",
        r"(?:more|greater|higher|larger|longer|later|bigger) than|above|over|exceed(?:s|ing)?|beyond|after"
        r"|in excess of",
    ),
    ("<", r"(?:less|fewer|lower|smaller|shorter|earlier) than|below|under|before"),
)
"""Comparisons that stand before their number; the first that fits counts."""
_BEHIND: Final = (
    (">=", r"or (?:more|higher|above|later|over|greater|larger|up|after)|and (?:more|above|up|over|later)"),
    ("<=", r"or (?:less|fewer|lower|below|earlier|under|smaller|before)|and (?:less|below|under|earlier)"),
)
"""And those that stand behind it."""
_PRESENT: Final[Mapping[str, str]] = {
    "high": (
        r"highest|most|largest|greatest|maxim(?:um|al)|biggest|longest|tallest|heaviest|top|dearest|priciest|latest|newest"
        r"|(?:higher|larger|later)(?! than)|greater(?! than)"
    ),
    "low": (
        r"lowest|least|fewest|smallest|minim(?:um|al)|shortest|lightest|cheapest|bottom|earliest|oldest"
        r"|(?:lower|smaller|fewer|earlier)(?! than)"
    ),
    "if": (
        r"if|whether|whenever|in case|provided|depending|should it|where (?:that|this|it) (?:holds|fails|does)"
        r"|when(?! (?:was|were|did|does|do|is|are|has|have|will)\b)"
    ),
    "unless": r"unless",
    "otherwise": r"otherwise|else|if not|if it is not|any other case|when not|instead",
    "not": (
        r"without|except|excluding|other than|apart from|never|neither|nor|none|lack(?:s|ing)?|(?:have|has) no"
        r"|(?:is|are|was|were|do|does|did|has|have)(?: not|n't)"
        r"(?! (?:above|over|below|under|after|before|exceed|more|less|fewer))"
    ),
    "mean": r"mean|averaged?",
    "sum": r"total|sum|combined|altogether|all together|summed|add up",
    "share": r"percent(?:age)?|share|proportion|fraction",
}
_NO_DEGREE: Final = re.compile(
    r"\b(?:at (?:least|most)|or (?:higher|larger|later|lower|smaller|fewer|earlier))\b", re.IGNORECASE
)
"""Comparisons, which are looked at apart."""


def changed_cue(before: str, after: str) -> str:
    """The first cue of a question that another wording of it has lost, won or turned round; empty when all are kept."""
    texts = [_NO_DEGREE.sub(" ", text) for text in (before, after)]
    for kind, pattern in _PRESENT.items():
        was, now = (bool(re.search(rf"(?<![\w-])(?:{pattern})(?!\w)", text, re.IGNORECASE)) for text in texts)
        if was is not now:
            return f"{kind!r} was {'lost' if was else 'added'}"
    old, new = comparisons(before), comparisons(after)
    for literal in sorted(old.keys() | new.keys()):
        if old.get(literal) != new.get(literal):
            return f"{literal} is compared by {_said(new.get(literal))} and was by {_said(old.get(literal))}"
    return ""


def _said(kinds: frozenset[str] | None) -> str:
    return " and ".join(sorted(kinds)) if kinds else "nothing"


def comparisons(question: str) -> dict[str, frozenset[str]]:
    """Literal -> how it is compared with, as far as a question says it right before or behind it."""
    found: dict[str, set[str]] = {}
    taken: set[int] = set()
    for kind, pattern in _BEHIND:
        for match in re.finditer(rf"{_LITERAL} ?(?:[\w%]+ ){{0,3}}?(?:{pattern})(?!\w)", question, re.IGNORECASE):
            found.setdefault(_literal(match), set()).add(kind)
            taken.add(match.start())
    for kind, pattern in _BEFORE:
        for match in re.finditer(rf"(?<![\w-])(?:{pattern}) {_ASIDE}{_LITERAL}", question, re.IGNORECASE):
            at = match.start("literal") if match["literal"] else match.start("quoted") - 1
            if at not in taken:
                found.setdefault(_literal(match), set()).add(kind)
                taken.add(at)
    return {literal: frozenset(kinds) for literal, kinds in found.items()}


def _literal(match: re.Match[str]) -> str:
    return (match["literal"] or match["quoted"]).rstrip(".,:;/-")


def plan_cue(question: str, plan: Mapping[str, Any] | None) -> str:
    """A number that the question compares in another way than the plan of its program; empty when there is none."""
    said, meant = comparisons(question), dict[str, set[str]]()
    for comparison, value in _tests(plan or {}):
        meant.setdefault(value_text(value), set()).add(comparison)
    for literal, kinds in sorted(said.items()):
        if literal in meant and not kinds <= meant[literal]:
            return f"the question compares {literal} by {_said(kinds)}, its plan by {_said(frozenset(meant[literal]))}"
    return ""


def _tests(node: Any) -> Iterator[tuple[str, Any]]:
    """Comparisons with a constant, at any depth of a plan."""
    if isinstance(node, Mapping):
        value = node.get("value", node.get("right"))
        value = value.get("value") if isinstance(value, Mapping) else value
        if isinstance(node.get("comparison"), str) and isinstance(value, str | int | float):
            yield node["comparison"], value
        for inner in node.values():
            yield from _tests(inner)
    elif isinstance(node, list | tuple):
        for inner in node:
            yield from _tests(inner)
