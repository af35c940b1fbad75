"""What a diagnosis rests on: pass rates and failures of the arena, counted in every direction that may matter."""

from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence

from agent_world.agents.diagnoser.failures import Failure
from agent_world.memory.store import Bundle
from agent_world.schema import FailureKind, OperationKind, Rate, Record, Trajectory
from agent_world.tools.grading.rates import rates_by


class ErrorTable(Record):
    """Failures by kind, split by `by`: value -> kind -> number."""

    by: str
    counts: dict[str, dict[FailureKind, int]]


class Suspect(Record):
    """An environment in which episodes failed, with what there is to know about it."""

    environment: str
    name: str
    description: str
    type: str
    tables: dict[str, int]
    """Rows of each table."""
    operations: dict[str, OperationKind]
    """Tool -> what it does."""
    rate: Rate
    failures: tuple[Failure, ...]

    @property
    def kinds(self) -> dict[FailureKind, int]:
        """Most frequent first, ties by name."""
        return count_kinds(self.failures)


class Evidence(Record):
    round: int
    suspects: tuple[Suspect, ...]
    """Weakest first."""
    tables: tuple[ErrorTable, ...]
    """Failures by environment, type, operation, level and strategy."""


def gather(
    number: int, runs: Sequence[Trajectory], failures: Sequence[Failure], bundles: Mapping[str, Bundle]
) -> Evidence:
    """Rank the environments of `bundles` that have failures.

    Weakest is the one whose pass rate is lowest for sure: by the upper end of its interval, ties by its id. So an
    environment measured once does not come before one that failed often.
    """
    rates = rates_by(runs, lambda run: run.environment)
    weak = {failure.environment for failure in failures if failure.environment in rates}
    order = sorted(weak, key=lambda environment: (rates[environment].high, environment))
    suspects = tuple(_suspect(bundles[environment], rates[environment], failures) for environment in order)
    types = {suspect.environment: suspect.type for suspect in suspects}
    return Evidence(
        round=number,
        suspects=suspects,
        tables=(
            _table("environment", failures, lambda failure: failure.environment),
            _table("type", failures, lambda failure: types[failure.environment]),
            _table("operation missed", failures, lambda failure: failure.operation or "none"),
            _table("level", failures, lambda failure: str(failure.level)),
            _table("strategy", failures, lambda failure: failure.strategy),
        ),
    )


def count_kinds(failures: Iterable[Failure]) -> dict[FailureKind, int]:
    counts = Counter(failure.kind for failure in failures)
    return dict(sorted(counts.items(), key=lambda pair: (-pair[1], pair[0])))


def _suspect(bundle: Bundle, rate: Rate, failures: Sequence[Failure]) -> Suspect:
    head = bundle.environment()
    return Suspect(
        environment=head.id,
        name=head.name,
        description=head.description,
        type=head.taxonomy[0] if head.taxonomy else "no type",
        tables={table.name: table.rows for table in head.database.tables},
        operations={tool.name: tool.operation.kind for tool in bundle.tools() if tool.operation},
        rate=rate,
        failures=tuple(f for f in failures if f.environment == bundle.id),
    )


def _table(by: str, failures: Sequence[Failure], key: Callable[[Failure], str]) -> ErrorTable:
    groups: defaultdict[str, list[Failure]] = defaultdict(list)
    for failure in failures:
        groups[key(failure)].append(failure)
    return ErrorTable(by=by, counts={name: count_kinds(groups[name]) for name in sorted(groups)})
