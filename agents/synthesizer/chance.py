"""How likely a few random calls show an answer: a task that chance solves is better not made."""

from collections.abc import Callable, Iterator, Mapping
from statistics import fmean
from typing import Any

from agent_world.agents.synthesizer.draft import Draft
from agent_world.agents.synthesizer.world import World

CALLS = 9
"""Random calls among which the answer must be unlikely. The gate has its own measure (`validator.random_runs`)."""
MOST = 0.06
"""Chance above which no task is made of a draft."""
ROUNDING = 0.006
_FIGURES: Mapping[str, Callable[[list[float]], float]] = {"mean": fmean, "sum": sum, "min": min, "max": max}
SMALL, OTHER = 0.25, 0.02
"""How often a number below four, and any other value, is met where no column is called like the answer's field."""


def by_chance(world: World, draft: Draft) -> bool:
    """Whether random calls are too likely to show the whole answer. What changes the state is never met by chance."""
    if draft.writes or set(draft.expected) != set(draft.types):
        return False
    return likelihood(world, draft.expected) * min(1.0, CALLS / max(1, len(world.actions))) > MOST


def likelihood(world: World, answer: Mapping[str, Any]) -> float:
    """Of one call to a tool that shows the fields of the answer."""
    if any(isinstance(value, list) for value in answer.values()):
        return 0.0
    return max([_of_none(answer), *_of_rows(world, answer), *_of_counts(world, answer), *_of_wholes(world, answer)])


def _of_none(answer: Mapping[str, Any]) -> float:
    product = 1.0
    for value in answer.values():
        whole = isinstance(value, int) and -4 < value < 4
        product *= SMALL if whole else OTHER
    return product


def _of_rows(world: World, answer: Mapping[str, Any]) -> Iterator[float]:
    """A row of a table that has the fields, and the values."""
    for table in world.tables.values():
        mine = {column.name: answer[column.name] for column in table.columns if column.name in answer}
        rows = world.rows[table.name]
        if mine and rows:
            least = min(mine, key=lambda c: world.values(table.name, c)[mine[c]])
            fit = [
                r for r in world.where(table.name, least, mine[least]) if all(r.get(c) == v for c, v in mine.items())
            ]
            rest = {key: value for key, value in answer.items() if key not in mine}
            yield len(fit) / len(rows) * _of_none(rest)


def _of_counts(world: World, answer: Mapping[str, Any]) -> Iterator[float]:
    """A tool that counts rows of a value, asked for the value of some row."""
    if len(answer) != 1:
        return
    ((key, wanted),) = answer.items()
    for action in world.of("count") if key == "count" else world.of("list", "related") if key == "total" else ():
        for column in action.filters.values():
            counted = world.values(action.table.name, column)
            met = sum(count for count in counted.values() if count == wanted)
            yield met / max(1, counted.total())


def _of_wholes(world: World, answer: Mapping[str, Any]) -> Iterator[float]:
    """A tool that needs no argument, and gives one figure over a whole table."""
    if len(answer) != 1:
        return
    (wanted,) = answer.values()
    for action in world.of("aggregate"):
        column, made = action.operation.column, _FIGURES.get(action.operation.function or "")
        if column and made and not action.required and isinstance(wanted, int | float):
            cells = [cell for row in world.rows[action.table.name] if isinstance(cell := row.get(column), int | float)]
            if cells and abs(made(cells) - wanted) < ROUNDING:
                yield 1.0
