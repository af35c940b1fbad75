"""Ranks documents for a query by BM25 (Robertson and Zaragoza 2009, section 3.2), the title counted three times."""

import math
import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

K1 = 1.2
B = 0.75
TITLE_WEIGHT = 3
COMMON_WORDS = "a an and are as at be by for from has have in into is it its of on or that the to with"


def words(text: str) -> list[str]:
    """Lower-case words without the commonest ones; a plural ending is cut, so `airports` finds `airport`."""
    common = COMMON_WORDS.split()
    found = re.findall(r"[^\W_]+", text.lower())
    return [_singular(word) for word in found if word not in common]


def _singular(word: str) -> str:
    if len(word) > 4 and word.endswith("ies"):
        return word[:-3] + "y"
    return word[:-1] if len(word) > 3 and word.endswith("s") and not word.endswith("ss") else word


@dataclass(frozen=True, slots=True)
class Document:
    title: str
    path: str
    text: str


class Index:
    """All documents with their word counts; built once."""

    def __init__(self, documents: Sequence[Document]) -> None:
        self.documents = documents
        self._counts = [Counter(words(d.title) * TITLE_WEIGHT + words(d.text)) for d in documents]
        self._mean = sum(c.total() for c in self._counts) / max(1, len(documents))
        self._holding = Counter(word for counts in self._counts for word in counts)

    def search(self, query: str, limit: int) -> list[Document]:
        """Documents with a word of the query, best first; equal ones in their own order."""
        asked = list(dict.fromkeys(words(query)))
        scored = [(self._score(counts, asked), place) for place, counts in enumerate(self._counts)]
        best = sorted((-score, place) for score, place in scored if score > 0)
        return [self.documents[place] for _, place in best[:limit]]

    def _score(self, counts: Counter[str], asked: Sequence[str]) -> float:
        length = 1 - B + B * counts.total() / self._mean
        return sum(
            self._rarity(word) * counts[word] * (K1 + 1) / (counts[word] + K1 * length)
            for word in asked
            if counts[word]
        )

    def _rarity(self, word: str) -> float:
        holding = self._holding[word]
        return math.log(1 + (len(self.documents) - holding + 0.5) / (holding + 0.5))
