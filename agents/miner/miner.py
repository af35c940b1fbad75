"""The miner's decisions as a Protocol: which queries next, and which tables make the database (section 3.1)."""

from collections.abc import Sequence
from typing import Protocol

from agent_world.agents.miner.candidates import Candidate
from agent_world.schema import Origin, Theme


class Miner(Protocol):
    """Everything else (reading, limits, typing, sampling, persistence) is the same for all engines."""

    @property
    def origin(self) -> Origin: ...

    async def queries(self, theme: Theme, tried: Sequence[str], limit: int) -> list[str]:
        """Search queries not tried yet, best first, at most `limit`; none when there is nothing more to try."""
        ...

    async def choose(self, theme: Theme, candidates: Sequence[Candidate], limit: int) -> list[Candidate]:
        """The tables of the database, at most `limit`, the central one first; none when nothing fits the theme."""
        ...
