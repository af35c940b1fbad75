"""Names in a question: each is a value, or a word of the environment; a name of nothing makes a task of nothing."""

import re
from collections.abc import Iterable

from agent_world.agents.synthesizer.world import World

_GENERAL = """
    i id ids json iso usd eur gbp utc gmt am pm ok tv us uk eu url csv sql faq english boolean please thanks hi hello
    dear team sir madam support all folks everyone mr mrs ms dr true false yes no none null
    north south east west christmas easter
    monday tuesday wednesday thursday friday saturday sunday
    january february march april may june july august september october november december
    jan feb mar apr jun jul aug sep sept oct nov dec
"""
"""Words with a capital letter that name nothing of the data."""
_WORD = re.compile(r"[^\W\d_][\w'’-]*")
_OPENING = re.compile(r"(?:^|[.!?:;\n]|[.!?]['\"”’)]) *[\"'“‘(*-]*$")
_QUOTED = re.compile(r'"[^"]*"|“[^”]*”')


def name_fault(world: World, question: str, known: str) -> str:
    """A word with a capital letter, not at the start of a sentence, that is in nothing known: neither in `known` (what
    the gold solution uses or sees, case aside) nor in what the environment says of itself."""
    words = set(_GENERAL.split()) | folded([known, *_of_environment(world)])
    text = _QUOTED.sub(lambda match: " " * len(match[0]), question)
    for found in _WORD.finditer(text):
        word = found[0]
        if word[0].isupper() and not _OPENING.search(text[: found.start()]) and not folded([word]) <= words:
            return f"{word!r} in the question is the name of nothing that the gold solution uses or sees"
    return ""


def folded(texts: Iterable[str]) -> set[str]:
    """Words, case aside, possessive endings and hyphens taken off."""
    return {
        part.casefold().removesuffix("'s").removesuffix("’s").strip("'’")
        for text in texts
        for word in _WORD.findall(text)
        for part in word.split("-")
        if part
    }


def _of_environment(world: World) -> Iterable[str]:
    head = world.environment
    yield from (head.name, head.description, *head.taxonomy)
    yield from (f"{tool.name.replace('_', ' ')} {tool.description}" for tool in world.tools)
