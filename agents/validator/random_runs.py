"""What chance earns: calls of random tools on real rows, and answers put together from what they show.

The runs of an environment are made once and tried on each of its tasks, so that a verdict does not hang on a task's id
or on three throws. A run that comes upon a row which the solution looks at has done what is asked for, by luck: that
may be the share `LUCK` of all. Of the others at most the share `MOST` may earn the reward, and none of the last `NONE`.
"""

import random
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from typing import Any

from agent_world.agents.synthesizer.world import Action, World
from agent_world.agents.validator.battery import Case
from agent_world.agents.validator.form import kind_of
from agent_world.agents.validator.literals import scalars
from agent_world.agents.validator.pool import Pool
from agent_world.agents.validator.replay import Call
from agent_world.schema import StateDiff, Task
from agent_world.tools.runtime import Observation

CALLS = 3
"""Of one run."""
RUNS = 200
READINGS = 480
"""Reading calls that runs are drawn from."""
WRITING = 4
"""Runs more, whose calls write as well."""
NONE = 20
MOST = 0.02
LUCK = 0.1

KEPT = 8
"""Environments of which a process remembers the runs."""
_kept: dict[tuple[str, ...], list["RandomRun"]] = {}
"""By content of the bundle: its gate is opened again and again, and the runs are always the same."""


@dataclass(frozen=True, slots=True)
class RandomRun:
    shown: dict[str, Any]
    """What was seen under each name, later calls over earlier ones."""
    diff: StateDiff = field(default_factory=StateDiff)
    rows: frozenset[str] = frozenset()
    """Whose fields were seen."""


async def known_runs(world: World, pool: Pool, index: int, clock: str) -> list[RandomRun]:
    """`random_runs`, remembered while bundle and clock stay as they are."""
    key = (world.environment.database.model_dump_json(), world.bundle.content_hash(), world.id, clock)
    if key not in _kept:
        runs = await random_runs(world, pool, index)
        while len(_kept) >= KEPT:
            del _kept[next(iter(_kept))]
        _kept[key] = runs
    return _kept[key]


async def random_runs(world: World, pool: Pool, index: int) -> list[RandomRun]:
    """All runs of an environment, in instance `index` of the pool; always the same ones."""
    if not world.actions:
        return [RandomRun({})]
    rng = random.Random(f"random calls:{world.id}")
    reading = [action for action in world.actions if not action.writes]
    instance = await pool.clean(index)
    made = [_call(world, reading, rng) for _ in range(READINGS if reading else 0)]
    seen = [(tool, await instance.call(tool, arguments)) for tool, arguments in made]
    if any(observed.impure for _, observed in seen):
        pool.soil(index)
    shown = [_shown(world, tool, observed) for tool, observed in seen]
    runs = [_run(rng.choices(shown, k=CALLS)) for _ in range(RUNS)] if shown else []
    return [*runs, *[await _writing_run(world, pool, index, rng) for _ in range(WRITING)]]


async def _writing_run(world: World, pool: Pool, index: int, rng: random.Random) -> RandomRun:
    """Of any tools, every other one of those that write, in a clean instance."""
    writing = [action for action in world.actions if action.writes] or world.actions
    instance = await pool.clean(index)
    pool.soil(index)
    made = [_call(world, rng.choice((world.actions, writing)), rng) for _ in range(CALLS)]
    shown = [_shown(world, tool, await instance.call(tool, arguments)) for tool, arguments in made]
    return replace(_run(shown), diff=await instance.diff())


def by_luck(world: World, runs: list[RandomRun], calls: Iterable[Call]) -> list[bool]:
    """By run, whether it saw a row which the solution's calls show."""
    rows = {row for tool, _, observed in calls for item in _items(world, tool, observed.value)
            for row in _row(world, tool, item)}  # fmt: skip
    return [bool(run.rows & rows) for run in runs]


def cases_of(runs: list[RandomRun], task: Task) -> list[Case]:
    """The answer that each run comes to: a field by its name where one was seen, else by its type."""
    fields = task.answer_schema["properties"]
    found = []
    for number, run in enumerate(runs):
        rng = random.Random(f"answer:{number}")
        answer = {key: run.shown[key] if key in run.shown else _any(run.shown, f, rng) for key, f in fields.items()}
        found.append(Case(f"random run {number + 1}", answer, run.diff))
    return found


def _call(world: World, actions: list[Action], rng: random.Random) -> tuple[str, dict[str, Any]]:
    """Arguments come from rows of the tool's table."""
    action = rng.choice(actions)
    rows = world.rows[action.table.name]
    row, other = (rng.choice(rows), rng.choice(rows)) if rows else ({}, {})
    named = {**({action.key: action.table.primary_key} if action.key else {}), **action.filters}
    given = {a: row.get(c) for a, c in named.items()} | {a: other.get(c) for a, c in action.values.items()}
    return action.name, {a: value for a, value in given.items() if a in action.required and value is not None}


Shown = tuple[dict[str, Any], list[str]]
"""Fields of what a call gave, those of the first of several items among them, and the row that the item is."""


def _run(seen: list[Shown]) -> RandomRun:
    fields = {key: value for shown, _ in seen for key, value in shown.items()}
    return RandomRun(fields, rows=frozenset(row for _, rows in seen for row in rows))


def _shown(world: World, tool: str, observed: Observation) -> Shown:
    if not observed.ok or not isinstance(observed.value, dict):
        return {}, []
    first = next(iter(_items(world, tool, observed.value)), {})
    return {**observed.value, **first}, _row(world, tool, first)


def _items(world: World, tool: str, value: Any) -> list[dict[str, Any]]:
    """The rows of a list, else what was given itself: an order that is shown with its `items` is no list."""
    if not isinstance(value, dict):
        return []
    items = value.get("items")
    if not isinstance(items, list) or _row(world, tool, value):
        return [value]
    return [item for item in items if isinstance(item, dict)]


def _row(world: World, tool: str, item: Mapping[str, Any]) -> list[str]:
    """Which row of the tool's table it is, if it has its key."""
    action = world.action(tool)
    key = action.table.primary_key if action else ""
    return [f"{action.table.name} {item[key]}"] if action and key in item else []


def _any(shown: Mapping[str, Any], field: Mapping[str, Any], rng: random.Random) -> Any:
    fit = [value for value in scalars(dict(shown)) if _is(value, kind_of(field))]
    return rng.choice(fit) if fit else None


def _is(value: Any, kind: str) -> bool:
    if isinstance(value, bool):
        return kind == "boolean"
    return isinstance(value, {"integer": int, "number": int | float, "string": str}.get(kind, list))
