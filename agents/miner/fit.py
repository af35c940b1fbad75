"""How well a text fits a theme: weighted overlap of telling words. Fast, and the same every time."""

from collections.abc import Mapping
from dataclasses import dataclass

from agent_world.agents.themes import words
from agent_world.schema import Theme

NAME_WEIGHT, KEYWORD_WEIGHT, DESCRIPTION_WEIGHT = 3.0, 2.0, 1.0
DECAY = 0.9
"""Each keyword tells a little less than the one before it."""
ENOUGH = 6
"""A text with the weight of the six heaviest terms fits fully."""


@dataclass(frozen=True, slots=True)
class Terms:
    weights: Mapping[str, float]

    def score(self, text: str) -> float:
        """0 (nothing in common) to 1."""
        full = sum(sorted(self.weights.values(), reverse=True)[:ENOUGH])
        matched = sum(self.weights.get(word, 0.0) for word in set(words(text)))
        return round(min(1.0, matched / full), 4) if full else 0.0


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
