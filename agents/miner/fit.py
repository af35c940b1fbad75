"""How well a text fits a theme: weighted overlap of telling words, lifted by closeness in meaning.

Words alone are fast and exact; an embedding finds what says the same in other words. Both are the same every time.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Protocol

from agent_world.agents.themes import essence, words
from agent_world.memory.embedder import TextEmbedder
from agent_world.schema import Theme

NAME_WEIGHT, KEYWORD_WEIGHT, DESCRIPTION_WEIGHT = 3.0, 2.0, 1.0
DECAY = 0.9
"""Each keyword tells a little less than the one before it."""
ENOUGH = 6
"""A text with the weight of the six heaviest terms fits fully."""
FAR, NEAR = 0.3, 0.7
"""Cosines between which closeness in meaning goes from nothing to full (MiniLM: unrelated titles stay below 0.3)."""
LIFT = 0.5
"""The part of what its words lack that a text gets for full closeness."""
EMBEDDED_CHARS = 300


class Fit(Protocol):
    """Of texts to one theme, each 0 (nothing in common) to 1."""

    def score(self, text: str) -> float: ...

    def scores(self, texts: Sequence[str]) -> list[float]:
        """Of many at once, which may take milliseconds a text: call it in a thread."""
        ...


@dataclass(frozen=True, slots=True)
class Terms:
    """Words alone."""

    weights: Mapping[str, float]

    def score(self, text: str) -> float:
        full = sum(sorted(self.weights.values(), reverse=True)[:ENOUGH])
        matched = sum(self.weights.get(word, 0.0) for word in set(words(text)))
        return round(min(1.0, matched / full), 4) if full else 0.0

    def scores(self, texts: Sequence[str]) -> list[float]:
        return [self.score(text) for text in texts]


@dataclass(frozen=True, slots=True)
class Meaning:
    """Words, lifted by the cosine of the text and the theme's description."""

    terms: Terms
    about: str
    embedder: TextEmbedder

    def score(self, text: str) -> float:
        return self.scores([text])[0]

    def scores(self, texts: Sequence[str]) -> list[float]:
        if not texts:
            return []
        vectors = self.embedder.embed([self.about, *(text[:EMBEDDED_CHARS] for text in texts)])
        cosines = (vectors[1:] @ vectors[0]).tolist()
        return [_lifted(own, cosine) for own, cosine in zip(self.terms.scores(texts), cosines, strict=True)]


def _lifted(own: float, cosine: float) -> float:
    closeness = min(1.0, max(0.0, (cosine - FAR) / (NEAR - FAR)))
    return round(own + (1 - own) * LIFT * closeness, 3)


def terms_of(theme: Theme) -> Terms:
    weights: dict[str, float] = {}
    for word in words(theme.description):
        weights[word] = DESCRIPTION_WEIGHT
    for place, keyword in enumerate(theme.keywords):
        for word in words(keyword):
            weights[word] = max(weights.get(word, 0.0), KEYWORD_WEIGHT * DECAY**place)
    for word in words(theme.name):
        weights[word] = NAME_WEIGHT
    return Terms(weights)


def fit_of(theme: Theme, embedder: TextEmbedder | None) -> Fit:
    """By words alone where there is no embedder."""
    terms = terms_of(theme)
    return Meaning(terms, essence(f"{theme.name}. {theme.description}"), embedder) if embedder else terms
