"""What the factory made and what it dropped, and what that cost: `report/factory.json`, and lines for the screen."""

from collections import Counter
from collections.abc import Iterator

from agent_world.graphs.deps import Deps
from agent_world.memory.store import write_record
from agent_world.memory.workspace import Failure, Outcome, Spent, Workspace
from agent_world.schema import Dropped, Environment, Record
from agent_world.settings import Settings


class FactoryRow(Record):
    """One environment."""

    id: str
    tables: int
    rows: int
    rounds: int
    score: float
    """Complexity after the last round."""
    gained: float
    """What the rounds added to it."""
    tools_kept: int
    tools_dropped: int
    tests_passed: int
    tests_total: int
    seconds: float
    """Wall time of mining and of writing the tools."""


class Cost(Record):
    """What one role's chat model has cost so far, in all runs."""

    role: str
    model: str
    calls: int
    input_tokens: int
    output_tokens: int
    seconds: float
    dollars: float | None
    """None where the settings do not say the model's prices."""


class FactoryReport(Record):
    environments: tuple[FactoryRow, ...]
    dropped: tuple[Dropped, ...]
    """Every theme, environment, tool and task that was not kept, with the reason."""
    failed: dict[str, Failure] = {}
    """By `stage/unit`: what broke; it is tried again at the next start."""
    costs: tuple[Cost, ...]

    def lines(self) -> Iterator[str]:
        """For people: sums, what was dropped and why, what it cost."""
        kept = sum(row.tools_kept for row in self.environments)
        yield f"{len(self.environments)} environments, {kept} tools kept"
        if self.dropped:
            counts = Counter(item.kind for item in self.dropped)
            yield "Dropped: " + ", ".join(f"{counts[kind]} {kind}s" for kind in counts)
            yield from (f"  {item.kind} {item.id}: {item.reason}" for item in self.dropped if item.kind != "task")
        if self.failed:
            yield f"Failed, and tried again when started again: {len(self.failed)}"
            yield from (f"  {unit}: {failure.reason}" for unit, failure in self.failed.items())
        yield from self.cost_lines()

    def cost_lines(self) -> Iterator[str]:
        for cost in self.costs:
            price = "price not set" if cost.dollars is None else f"{cost.dollars:.2f} dollars"
            yield (
                f"{cost.role} ({cost.model}): {cost.calls} calls, {cost.input_tokens} tokens read, "
                f"{cost.output_tokens} written, {cost.seconds:.0f} s, {price}"
            )


def report_factory(deps: Deps) -> FactoryReport:
    """Gather it from the workspace, and keep it there."""
    space = Workspace(deps.settings.workspace)
    mined, written = space.outcomes("mine"), space.outcomes("tools")
    report = FactoryReport(
        environments=tuple(
            _row(bundle.environment(), [o[bundle.id] for o in (mined, written) if bundle.id in o])
            for bundle in deps.store.bundles()
        ),
        dropped=tuple(space.dropped()),
        failed=space.failures(),
        costs=tuple(_cost(spent, deps.settings) for spent in space.spent()),
    )
    write_record(deps.settings.workspace / "report" / "factory.json", report)
    return report


def _row(head: Environment, outcomes: list[Outcome]) -> FactoryRow:
    first, last = (head.rounds[0].score_before, head.rounds[-1].score_after) if head.rounds else (0.0, 0.0)
    kept = sum(verdict.kept for verdict in head.tools)
    return FactoryRow(
        id=head.id,
        tables=len(head.database.tables),
        rows=sum(table.rows for table in head.database.tables),
        rounds=len(head.rounds),
        score=last,
        gained=round(last - first, 3),
        tools_kept=kept,
        tools_dropped=len(head.tools) - kept,
        tests_passed=sum(verdict.tests_passed for verdict in head.tools),
        tests_total=sum(verdict.tests_total for verdict in head.tools),
        seconds=round(sum(outcome.seconds for outcome in outcomes), 2),
    )


def _cost(spent: Spent, settings: Settings) -> Cost:
    config, dollars = settings.role(spent.role).model, None
    if config is not None and config.name == spent.model:
        dollars = config.dollars(spent.input_tokens, spent.output_tokens)
    return Cost(
        role=spent.role, model=spent.model, calls=spent.calls, input_tokens=spent.input_tokens,
        output_tokens=spent.output_tokens, seconds=round(spent.seconds, 1), dollars=dollars,
    )  # fmt: skip
