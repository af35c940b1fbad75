"""Words of a text that tell what it is about."""

import re
import unicodedata
from collections import Counter
from collections.abc import Iterable
from importlib import resources

from agent_world.tools.tables import singular


def _listed(name: str) -> frozenset[str]:
    return frozenset((resources.files(__package__) / name).read_text().split())


STOP_WORDS = _listed("stop_words.txt")
"""Words of grammar, and those that every specification is full of: api, field, result ..."""
_TRADE = _listed("trade_words.txt")
"""Words of the trade: on the descriptions of 1,559 servers, leaving them out raised the agreement of clusters with the
catalogue's own categories (normalised mutual information at 50 clusters) from 0.41 to 0.44."""


_ALPHABETS = re.compile(r"[\u0370-\u1cff\u1f00-\u1fff\uac00-\ud7af]{2,}")
"""Words of scripts with spaces that are not Latin: Greek, Cyrillic, Arabic, Devanagari, Hangul ..."""
_SPACELESS = re.compile(r"[\u3040-\u30ff\u3400-\u9fff\uf900-\ufaff]+")
"""Chinese and Japanese: pairs of neighbouring characters stand for words."""


def words(text: str) -> list[str]:
    """Lower-case words of three letters or more, plural endings removed, without those that tell nothing; of other
    scripts, words of two letters or more, and pairs of characters where no spaces are written."""
    found = (singular(word) for word in re.findall(r"[a-z][a-z0-9]+", _split_names(text).lower()))
    latin = [word for word in found if len(word) > 2 and word not in STOP_WORDS]
    return latin if text.isascii() else latin + _other_words(text)


def count_words(text: str) -> int:
    """Words of two letters or more in any script; two characters count as one where no spaces are written."""
    spaceless = sum(len(run) for run in _SPACELESS.findall(text))
    return len(re.findall(r"\w\w+", _SPACELESS.sub(" ", text))) + spaceless // 2


def _other_words(text: str) -> list[str]:
    plain = unicodedata.normalize("NFKC", text).lower()
    pairs = [run[at : at + 2] for run in _SPACELESS.findall(plain) for at in range(max(1, len(run) - 1))]
    return _ALPHABETS.findall(plain) + [pair for pair in pairs if len(pair) == 2]


def essence(text: str) -> str:
    """`text` without the words that descriptions of services are full of, so that its vector tells the topic."""
    return " ".join(word for word in text.split() if re.sub(r"\W", "", word).lower() not in _TRADE)


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
