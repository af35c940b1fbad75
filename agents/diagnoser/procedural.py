"""Guidelines by statistics: the most frequent kind of failure, and where it happens."""

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Literal, TypeVar

from agent_world.agents.diagnoser.evidence import Evidence, Suspect
from agent_world.agents.diagnoser.failures import Failure
from agent_world.schema import FailureKind, Guideline, OperationKind

T = TypeVar("T")

CAPABILITY: dict[FailureKind, tuple[str, str]] = {
    "wrong_tool": (
        "choosing the tool that the question calls for",
        "Ask for things that several similar tools seem to offer, so that only their descriptions tell which is right",
    ),
    "wrong_order": (
        "planning: looking up what a later call needs before making that call",
        "Ask through a name or another row, so that the calls only work in one order",
    ),
    "wrong_argument": (
        "giving a tool the value that the question means, and looking up what it does not say",
        "State the decisive value in the question in varied words, beside values that look alike",
    ),
    "state_not_tracked": (
        "carrying a value from one result into the next call or the answer, also after a change",
        "Make tasks in which a value found by one call is the argument of the next, among other values of that result",
    ),
    "stopped_early": (
        "going on until every call that the question needs is made",
        "Make tasks of more calls, whose answer cannot be read from the first result",
    ),
    "wrong_answer": (
        "reading the asked value out of what the tools showed",
        "Ask for one field among many, for counts and for values computed over several results",
    ),
    "malformed": (
        "writing each turn in its form: a whole tool call, or the answer as one JSON object of the asked fields",
        "Make short tasks with varied arguments and answer forms",
    ),
    "unauthorised_write": (
        "leaving the data alone unless a change is asked for",
        "Mix questions that only read with requests to change one row, in environments whose tools can do both",
    ),
    "loop": (
        "doing something else when a call has brought nothing new, and answering in time",
        "Make tasks in which a first look-up is not enough and the next step is another tool",
    ),
}
"""What is missing, and what to make of it."""

FEW_ROWS = 30
FEW_VALUES = 0.5


@dataclass(frozen=True, slots=True)
class StatisticalDiagnoser:
    """Deterministic: the same evidence, the same guidelines."""

    engine: Literal["procedural"] = "procedural"
    model: None = None

    async def guide(self, evidence: Evidence) -> list[tuple[str, Guideline]]:
        return [(suspect.environment, guideline(evidence.round, suspect)) for suspect in evidence.suspects]


def guideline(number: int, suspect: Suspect) -> Guideline:
    """What to make against the most frequent failure of an environment."""
    kind = next(iter(suspect.kinds))
    shown = [failure for failure in suspect.failures if failure.kind == kind]
    operations: tuple[OperationKind, ...] = _frequent(f.operation for f in shown if f.operation)
    levels = tuple(sorted(_frequent(f.level for f in shown)))
    strategies = tuple(sorted({f.strategy for f in shown}))
    diverse = needs_state_diversity(suspect, shown)
    return Guideline(
        id=guideline_id(number, suspect.environment, kind),
        text=_words(suspect, kind, shown, operations, diverse),
        failure=kind,
        operations=operations,
        strategies=strategies,
        levels=levels,
        needs_state_diversity=diverse,
    )


def guideline_id(number: int, environment: str, kind: FailureKind) -> str:
    return f"r{number}-{environment}-{kind}"


def needs_state_diversity(suspect: Suspect, failures: Sequence[Failure]) -> bool:
    """The database is too uniform to train on: the tasks that fail keep asking about the same few values, or all its
    tables are short."""
    values = [value for failure in failures for value in failure.values]
    repeated = len(values) >= 6 and len(set(values)) < FEW_VALUES * len(values)
    return repeated or max(suspect.tables.values(), default=0) < FEW_ROWS


def _frequent(values: Iterable[T]) -> tuple[T, ...]:
    """At most three, each of at least a fifth of all, most frequent first."""
    counts = Counter(values)
    ranked = sorted(counts.items(), key=lambda pair: (-pair[1], str(pair[0])))
    return tuple(value for value, number in ranked[:3] if 5 * number >= counts.total())


def _words(
    suspect: Suspect, kind: FailureKind, shown: Sequence[Failure], operations: Sequence[str], diverse: bool
) -> str:
    missing, remedy = CAPABILITY[kind]
    where = f" They should need tools of the kind {' and '.join(operations)}." if operations else ""
    rows = " Use a database with more and more varied rows." if diverse else ""
    return (
        f"In {suspect.name} {suspect.rate.passed} of {suspect.rate.scored} arena tasks pass, and {len(shown)} of "
        f"{len(suspect.failures)} failures are of the kind '{kind.replace('_', ' ')}'. Missing is {missing}. "
        f"{remedy}.{where}{rows}"
    )
