"""The diagnosis agent of section 3.2.2: where a policy is weak, why, and what to make against it."""

from typing import Literal, Protocol

from agent_world.agents.diagnoser.evidence import Evidence
from agent_world.schema import Guideline


class Diagnoser(Protocol):
    """Decides what is missing in each weak environment."""

    @property
    def engine(self) -> Literal["procedural", "llm"]: ...

    @property
    def model(self) -> str | None: ...

    async def guide(self, evidence: Evidence) -> list[tuple[str, Guideline]]:
        """`(environment, guideline)` for every suspect of the evidence, weakest first."""
        ...
