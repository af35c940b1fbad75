"""The miner without a model: queries from a theme's own words, tables by fit and by how they join."""

from collections.abc import Sequence
from dataclasses import dataclass

from agent_world.agents.miner.candidates import Candidate
from agent_world.schema import Origin, Theme
from agent_world.tools.tables import DataTable, Link, possible_links

LEAST_FIT = 0.15
"""Below this a table is about something else."""
JOIN_BONUS, SECTION_BONUS = 0.5, 0.25
SAME_THINGS = 0.5
FEW_ROWS = 20
"""A central table has at least so many rows, where any has."""


@dataclass(frozen=True, slots=True)
class ProceduralMiner:
    seed: int = 0

    @property
    def origin(self) -> Origin:
        return Origin(engine="procedural", seed=self.seed)

    async def queries(self, theme: Theme, tried: Sequence[str], limit: int) -> list[str]:
        wanted = [query for query in expand(theme) if query not in tried]
        return wanted[:limit]

    async def choose(self, theme: Theme, candidates: Sequence[Candidate], limit: int) -> list[Candidate]:
        return align(candidates, limit)


def expand(theme: Theme) -> list[str]:
    """Ways to ask for a theme's data, from the whole name to single keywords."""
    keywords = list(theme.keywords)
    pairs = [" ".join(keywords[i : i + 3]) for i in range(0, len(keywords), 3)]
    return list(dict.fromkeys([theme.name, *pairs, *keywords]))


def align(candidates: Sequence[Candidate], limit: int) -> list[Candidate]:
    """The best fitting table, and those that join with what is chosen already; a lone one only if none joins."""
    fitting = [c for c in candidates if c.fit >= LEAST_FIT]
    if not fitting:
        return []
    links = possible_links([c.table for c in candidates])
    large = [c for c in fitting if len(c.table.rows) >= FEW_ROWS] or fitting
    chosen = [max(large, key=lambda c: (c.fit + _connected(c, links), len(c.table.rows)))]
    while len(chosen) < limit:
        rated = [(_gain(c, chosen, links), c) for c in candidates if c not in chosen]
        joining = [(gain, -place, c) for place, (gain, c) in enumerate(rated) if gain > 0]
        if not joining:
            break
        chosen.append(max(joining, key=lambda found: found[:2])[2])
    return chosen


def _connected(candidate: Candidate, links: Sequence[Link]) -> float:
    """A central table has relations."""
    return JOIN_BONUS / 2 if any(candidate.name in (k.table, k.other) for k in links) else 0.0


def _gain(candidate: Candidate, chosen: Sequence[Candidate], links: Sequence[Link]) -> float:
    """Worth of adding a table; 0 where it joins with nothing chosen."""
    names = {c.name for c in chosen}
    strengths = [
        k.strength
        for k in links
        if (k.table == candidate.name and k.other in names) or (k.other == candidate.name and k.table in names)
    ]
    if not strengths:
        return 0.0
    near = any(candidate.section == c.section for c in chosen)
    if not near and (candidate.fit < LEAST_FIT or same_things(candidate.table, [c.table for c in chosen])):
        return 0.0
    return candidate.fit + JOIN_BONUS * max(strengths) + (SECTION_BONUS if near else 0.0)


def same_things(table: DataTable, chosen: Sequence[DataTable]) -> bool:
    """Whether a chosen table lists mostly the same things already, by the same keys."""
    keys = set(table.values(table.key))
    others = [set(other.values(other.key)) for other in chosen]
    return any(len(keys & other) > SAME_THINGS * min(len(keys), len(other)) for other in others)
