"""The units of a stage: each is worked on until it has an outcome, and none stops another."""

import asyncio
import time
from collections.abc import Mapping

from agent_world import errors
from agent_world.agents.model import Usage
from agent_world.errors import AgentWorldError
from agent_world.graphs.deps import Deps
from agent_world.graphs.executor import Work, spent_by
from agent_world.memory.workspace import Failure, Outcome, Workspace, sum_up


async def each(stage: str, units: Mapping[str, Work], deps: Deps, *, needed: bool = True) -> dict[str, Outcome]:
    """Do the work of every unit that has no outcome yet or failed before, `concurrency` at once, where the setting
    `executor` says; outcomes are kept as they come, failures too.

    Raises what broke where every unit failed: then it is not theirs. Where nothing after the stage needs them, not
    `needed`, that stops nothing either.
    """
    executor = await deps.executor()
    space, gate = Workspace(deps.settings.workspace), asyncio.Semaphore(deps.settings.concurrency)
    done = 0

    async def one(unit: str, work: Work) -> tuple[str, Outcome]:
        nonlocal done
        outcome = space.outcome(stage, unit)
        if outcome is None or outcome.failure:
            async with gate:
                outcome = await attempt(unit, work, outcome)
        done += 1
        deps.progress.step(done, len(units), f"{unit.replace('_', ' ')}, {outcome.line}")
        return unit, outcome

    async def attempt(unit: str, work: Work, before: Outcome | None) -> Outcome:
        started = time.monotonic()
        outcome = await executor.run(unit, work)
        seconds = round(time.monotonic() - started, 2)
        spent = tuple(sum_up([*(before.spent if before else ()), *outcome.spent]))
        outcome = outcome.model_copy(update={"seconds": seconds, "spent": spent})
        if outcome.failure:
            deps.progress.say(f"{unit} failed: {outcome.failure.reason}")
            outcome = outcome.model_copy(update={"line": "failed"})
        else:
            space.pin(deps.settings)
        space.finish(stage, unit, outcome)
        return outcome

    try:
        async with asyncio.TaskGroup() as group:
            tasks = [group.create_task(one(unit, work)) for unit, work in units.items()]
    except ExceptionGroup as broken:
        raise broken.exceptions[0] from broken  # the workspace cannot be written
    outcomes = dict(task.result() for task in tasks)
    failures = [outcome.failure for outcome in outcomes.values() if outcome.failure]
    if needed and failures and len(failures) == len(outcomes):
        raise _error(failures, stage)
    return outcomes


def waiting(stage: str, units: Mapping[str, Work], deps: Deps) -> list[str]:
    """Those of the units that `each` would work on."""
    space = Workspace(deps.settings.workspace)
    found = {unit: space.outcome(stage, unit) for unit in units}
    return [unit for unit, outcome in found.items() if outcome is None or outcome.failure]


def keep_costs(stage: str, deps: Deps) -> None:
    """Keep what chat models cost outside of units, as a unit's is kept, and count from nothing again."""
    space, spent = Workspace(deps.settings.workspace), spent_by(deps)
    if spent:
        before = space.outcome("costs", stage) or Outcome()
        space.finish("costs", stage, Outcome(spent=tuple(sum_up([*before.spent, *spent]))))
    for model in deps.models_used().values():
        model.usage = Usage()


def told(line: str, outcomes: Mapping[str, Outcome]) -> str:
    """`line`, and how many units failed."""
    failed = sum(outcome.failure is not None for outcome in outcomes.values())
    return f"{line}, {failed} failed and will be tried again at the next start" if failed else line


def _error(failures: list[Failure], stage: str) -> AgentWorldError:
    """One sentence for units that all failed, of the kind of the first failure."""
    first = failures[0]
    found = getattr(errors, first.kind, AgentWorldError)
    kind = found if isinstance(found, type) and issubclass(found, AgentWorldError) else AgentWorldError
    reason = first.reason
    if kind is AgentWorldError and first.trace:
        reason = f"{reason}; where from is in done/{stage} of the workspace."
    return kind(reason)
