"""A task before it was ever run: a solution, a question, and what the rows say the answer is."""

from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Any

from agent_world.agents.synthesizer.meaning import Meaning
from agent_world.agents.synthesizer.plan import Plan
from agent_world.schema import Ref, Solution, StateDiff


@dataclass(frozen=True, slots=True)
class Draft:
    solution: Solution
    question: str
    expected: dict[str, Any]
    """What the rows of the database say, for the keys that could be foretold: an answer by a second way."""
    types: dict[str, str] = field(default_factory=dict)
    """JSON type of each answer key in order; a list is written `[string]`."""
    ordered: frozenset[str] = frozenset()
    """Keys of lists whose order counts."""
    branches: int = 0
    depth: int = 0
    """How deep branches stand in branches."""
    weak_edges: int = 0
    independent_edges: int = 0
    hidden: bool = False
    claims: tuple[tuple[Ref, Any], ...] = ()
    """What the rows say of values that decided something on the way (who is first, who meets a condition)."""
    others: tuple[str, ...] = ()
    """Other wordings of the question."""
    writes: bool = False
    """Whether the solution calls a tool that changes the database."""
    plan: Plan | None = None
    """Of a program: what it does, apart from tools and words."""
    meaning: Meaning | None = None
    """Of a walk: what its question says, apart from the words."""
    shape: str = ""
    """Of a program: which rule of the grammar it was drawn by."""
    change: StateDiff | None = None
    """What the plan changes, by SQL over the raw tables; None where there is no plan."""


class Keys:
    """Answer keys: column names or plain words, each once."""

    def __init__(self) -> None:
        self.taken: list[str] = []

    def new(self, word: str, table: str) -> str:
        """`word`, or with the table's name before it, or with a number after it."""
        numbered: Iterable[str] = (f"{word}_{i}" for i in range(2, 100))
        found = next(k for k in (word, f"{table}_{word}", *numbered) if k not in self.taken)
        self.taken.append(found)
        return found
