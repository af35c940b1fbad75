"""What is asked of task synthesis, and what it says afterwards."""

from collections.abc import Mapping
from dataclasses import dataclass, field

from agent_world.schema import Dropped, Guideline, Task


@dataclass(frozen=True, slots=True)
class SynthesisRequest:
    graph: int
    """Graph-based tasks wanted."""
    program: int
    seed: int = 0
    round: int = 0
    guidelines: tuple[Guideline, ...] = ()
    levels: tuple[int, ...] = ()
    """Only these measured levels; all when empty."""
    append: bool = False
    """Keep the tasks that are there."""


@dataclass(frozen=True, slots=True)
class SynthesisReport:
    kept: list[Task]
    dropped: list[Dropped]
    seconds: float
    reworded: int = 0
    """Questions that read like another task's at first, and were put in other words."""
    lowered: Mapping[str, int] = field(default_factory=dict)
    """`graph 5 -> 4`: how often the data had nothing of the level proposed, and a lower one was made."""
