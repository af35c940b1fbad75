"""The register of conformance cases, and what one gives."""

from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from typing import Literal

from agent_world.evals.bench.figures import Figure
from agent_world.evals.bench.lab import Lab, Need
from agent_world.schema import Record

Group = Literal["behaviour", "containment"]
Status = Literal["passed", "failed", "not_applicable"]
Work = Callable[[Lab], Awaitable[None]]


@dataclass(frozen=True, slots=True)
class Case:
    group: Group
    name: str
    needs: tuple[Need, ...]
    work: Work
    """Raises `CaseFailed`."""


class CaseResult(Record):
    group: Group
    name: str
    status: Status
    reason: str = ""
    seconds: float = 0.0
    figures: tuple[Figure, ...] = ()


class ConformanceReport(Record):
    backend: str
    protections: tuple[str, ...]
    """What the backend says of itself."""
    results: tuple[CaseResult, ...]

    @property
    def passed(self) -> bool:
        return not any(result.status == "failed" for result in self.results)


_CASES: list[Case] = []


def case(group: Group, name: str, *needs: Need) -> Callable[[Work], Work]:
    """Register a case under a name in plain words. It is skipped, with the reason, where a need is lacking."""

    def register(work: Work) -> Work:
        add_case(Case(group, name, needs, work))
        return work

    return register


def add_case(new: Case) -> None:
    if any(known.name == new.name for known in _CASES):
        raise ValueError(f"there is already a conformance case {new.name!r}")
    _CASES.append(new)


def all_cases() -> tuple[Case, ...]:
    """Every case that ships, in order."""
    from agent_world.evals.bench import cases

    cases.load()
    return tuple(_CASES)
