"""What chance earns: calls of random tools on real rows, and an answer put together from what they show."""

import random
from typing import Any

from agent_world.agents.synthesizer.world import Action, World
from agent_world.agents.validator.battery import Case
from agent_world.agents.validator.form import kind_of
from agent_world.agents.validator.literals import scalars
from agent_world.schema import StateDiff, Task
from agent_world.tools.runtime import Instance

CALLS = 3


async def random_case(world: World, task: Task, instance: Instance, number: int) -> tuple[Case, bool]:
    """One run on a clean instance, and whether it has written to it."""
    rng = random.Random(f"random calls:{task.id}:{number}")
    shown: dict[str, Any] = {}
    wrote = False
    for _ in range(CALLS if world.actions else 0):
        action, arguments = random_call(world, rng)
        seen = await instance.call(action.name, arguments)
        wrote |= action.writes
        if seen.ok:
            shown.update(_fields(seen.value))
    answer = {key: shown.get(key, _any(shown, field, rng)) for key, field in task.answer_schema["properties"].items()}
    return Case(f"random run {number + 1}", answer, await instance.diff() if wrote else StateDiff()), wrote


def random_call(world: World, rng: random.Random) -> tuple[Action, dict[str, Any]]:
    """Every other call a reading one, so that something is seen. Arguments come from rows of the tool's table."""
    reading = [action for action in world.actions if not action.writes]
    action = rng.choice(reading if reading and rng.random() < 0.5 else world.actions)
    rows = world.rows[action.table.name]
    row, other = (rng.choice(rows), rng.choice(rows)) if rows else ({}, {})
    named = {**({action.key: action.table.primary_key} if action.key else {}), **action.filters}
    given = {a: row.get(c) for a, c in named.items()} | {a: other.get(c) for a, c in action.values.items()}
    return action, {a: value for a, value in given.items() if a in action.required and value is not None}


def _fields(value: Any) -> dict[str, Any]:
    if not isinstance(value, dict):
        return {}
    items = value.get("items")
    first = items[0] if isinstance(items, list) and items and isinstance(items[0], dict) else {}
    return {**value, **first}


def _any(shown: dict[str, Any], field: dict[str, Any], rng: random.Random) -> Any:
    fit = [value for value in scalars(shown) if _is(value, kind_of(field))]
    return rng.choice(fit) if fit else None


def _is(value: Any, kind: str) -> bool:
    if isinstance(value, bool):
        return kind == "boolean"
    return isinstance(value, {"integer": int, "number": int | float, "string": str}.get(kind, list))
