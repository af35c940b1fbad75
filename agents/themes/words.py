"""Words of a text that tell what it is about."""

import re
import unicodedata
from collections import Counter
from collections.abc import Iterable
from importlib import resources

from agent_world.tools.tables import singular

STOP_WORDS = frozenset((resources.files(__package__) / "stop_words.txt").read_text().split())
"""Words of grammar, and those that every specification is full of: api, field, result ..."""


def words(text: str) -> list[str]:
    """Lower-case words of three letters or more, plural endings removed, without those that tell nothing."""
    found = (singular(word) for word in re.findall(r"[a-z][a-z0-9]+", _split_names(text).lower()))
    return [word for word in found if len(word) > 2 and word not in STOP_WORDS]


def salient(text: str, limit: int, background: Iterable[str] = ()) -> tuple[str, ...]:
    """The most telling words of `text`, best first: frequent here, not in the `background` texts."""
    counts = Counter(word for word in words(text) if not word.isdigit())
    spread = Counter(word for other in background for word in set(words(other)))
    order = {word: place for place, word in enumerate(counts)}
    ranked = sorted(counts, key=lambda word: (-counts[word] / (1 + spread[word]), order[word]))
    return tuple(ranked[:limit])


def _split_names(text: str) -> str:
    """`listFlights` and `list_flights` read as two words; accents are dropped."""
    plain = unicodedata.normalize("NFKD", text).encode("ascii", "ignore").decode()
    return re.sub(r"([a-z])([A-Z])", r"\1 \2", plain).replace("_", " ")
