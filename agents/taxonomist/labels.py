"""Names for groups of environments: by their most telling words, or by a model."""

from collections.abc import Mapping, Sequence
from typing import Protocol

from agent_world.agents.model import Model
from agent_world.agents.themes import salient
from agent_world.schema import Record

WORDS = 2
LONGEST = 60
"""Characters of a label."""


class Labeller(Protocol):
    async def labels(self, groups: Mapping[int, Sequence[str]]) -> dict[int, str]:
        """A short name for each group of texts, all different."""
        ...


class SalientLabeller:
    """The words that are frequent in a group and rare in the others; those of the name (first sentence) count more."""

    async def labels(self, groups: Mapping[int, Sequence[str]]) -> dict[int, str]:
        named: dict[int, str] = {}
        for number, texts in groups.items():
            others = [" ".join(t) for n, t in groups.items() if n != number]
            names = [text.partition(".")[0] for text in texts]
            words = salient(" ".join([*names, *names, *texts]), WORDS, others) or ("other",)
            named[number] = " and ".join(words).capitalize()
        return _distinct(named)


class Naming(Record):
    label: str
    """Two or three words, as a heading of a catalogue has them."""


class LlmLabeller:
    """A model names each group from its members (section 3.1). Raises `ModelError`."""

    def __init__(self, model: Model) -> None:
        self.model = model

    async def labels(self, groups: Mapping[int, Sequence[str]]) -> dict[int, str]:
        named: dict[int, str] = {}
        for number, texts in groups.items():
            members = "\n".join(f"- {text[:300]}" for text in texts[:10])
            ask = f"Name the category that these tool environments belong to, in two or three words:\n{members}"
            label = " ".join((await self.model.structured(Naming, [("user", ask)])).label.split())
            named[number] = label[:LONGEST].strip() or "Other"
        return _distinct(named)


def _distinct(named: Mapping[int, str]) -> dict[int, str]:
    taken: list[str] = []
    for label in named.values():
        number, name = 2, label
        while name in taken:
            name, number = f"{label} {number}", number + 1
        taken.append(name)
    return dict(zip(named, taken, strict=True))
