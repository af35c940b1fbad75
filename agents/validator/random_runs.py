"""What chance earns: calls of random tools on real rows, and answers put together from what they show.

The runs of an environment are made once and tried on each of its tasks, so that a verdict does not hang on a task's id
or on three throws: of `RUNS` runs, at most the share `MOST` may earn a task's reward.
"""

import random
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from agent_world.agents.synthesizer.world import Action, World
from agent_world.agents.validator.battery import Case
from agent_world.agents.validator.form import kind_of
from agent_world.agents.validator.literals import scalars
from agent_world.agents.validator.pool import Pool
from agent_world.schema import StateDiff, Task

CALLS = 3
"""Of one run."""
RUNS = 200
READINGS = 480
"""Reading calls that runs are drawn from."""
WRITING = 4
"""Runs more, whose calls write as well."""
MOST = 0.1
"""Share of the runs that may earn the reward of a task; they know real keys, which an agent that guesses does not."""


KEPT = 8
"""Environments of which a process remembers the runs."""
_kept: dict[tuple[str, ...], list["RandomRun"]] = {}
"""By content of the bundle: its gate is opened again and again, and the runs are always the same."""


@dataclass(frozen=True, slots=True)
class RandomRun:
    shown: dict[str, Any]
    """What was seen under each name, later calls over earlier ones."""
    diff: StateDiff = field(default_factory=StateDiff)


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
    seen = [await instance.call(*_call(world, reading, rng)) for _ in range(READINGS if reading else 0)]
    if any(observed.impure for observed in seen):
        pool.soil(index)
    shown = [_fields(observed.value) if observed.ok else {} for observed in seen]
    runs = [RandomRun(_together(rng.choices(shown, k=CALLS))) for _ in range(RUNS)] if shown else []
    return [*runs, *[await _writing_run(world, pool, index, rng) for _ in range(WRITING)]]


async def _writing_run(world: World, pool: Pool, index: int, rng: random.Random) -> RandomRun:
    """Of any tools, every other one of those that write, in a clean instance."""
    writing = [action for action in world.actions if action.writes] or world.actions
    instance = await pool.clean(index)
    pool.soil(index)
    seen = [await instance.call(*_call(world, rng.choice((world.actions, writing)), rng)) for _ in range(CALLS)]
    return RandomRun(_together([_fields(observed.value) for observed in seen if observed.ok]), await instance.diff())


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


def _together(seen: list[dict[str, Any]]) -> dict[str, Any]:
    return {key: value for shown in seen for key, value in shown.items()}


def _fields(value: Any) -> dict[str, Any]:
    if not isinstance(value, dict):
        return {}
    items = value.get("items")
    first = items[0] if isinstance(items, list) and items and isinstance(items[0], dict) else {}
    return {**value, **first}


def _any(shown: Mapping[str, Any], field: Mapping[str, Any], rng: random.Random) -> Any:
    fit = [value for value in scalars(dict(shown)) if _is(value, kind_of(field))]
    return rng.choice(fit) if fit else None


def _is(value: Any, kind: str) -> bool:
    if isinstance(value, bool):
        return kind == "boolean"
    return isinstance(value, {"integer": int, "number": int | float, "string": str}.get(kind, list))
