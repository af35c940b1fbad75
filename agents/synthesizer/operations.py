"""The planner of business operations: on which row one can be done, and with which arguments.

A cancel needs an open order; an exchange needs parts of the order, something of the same kind that is in stock, and a
payment method of the same owner. All of it is read from the rule that is kept with the tool.
"""

import random
from collections.abc import Iterator
from typing import Any

from agent_world.agents.synthesizer.moves import statable
from agent_world.agents.synthesizer.world import Action, Row, World
from agent_world.schema import BusinessRule

MOST_PARTS = 2
"""Parts that a question names."""
MODELS = 20
"""Rows tried as a model for new values."""


def open_to(rule: BusinessRule, row: Row) -> bool:
    """Whether the row's state allows the operation."""
    if any(row.get(column) is not None for column in rule.empty):
        return False
    if rule.status is None:
        return True
    state = row.get(rule.status)
    if rule.needs is not None:
        return bool(state == rule.needs)
    return state in rule.among if rule.among else bool(state != rule.after)


def in_order(rule: BusinessRule, old: Row, new: Row) -> bool:
    """Whether the days of the new row are in order, and what has to differ or to be later does."""
    pairs = [(new.get(first), new.get(second)) for first, second in rule.ordered]
    if any(first is not None and second is not None and first > second for first, second in pairs):
        return False
    if any(new.get(rule.sets[name]) == old.get(rule.sets[name]) for name in rule.differ):
        return False
    days = [(old.get(rule.sets[name]), new.get(rule.sets[name])) for name in rule.later]
    return all(before is None or (after is not None and after > before) for before, after in days)


def has_room(world: World, action: Action, arguments: dict[str, Any]) -> bool:
    """Whether what the new row, or the row from now on, refers to can take one more."""
    limit = action.rule.capacity if action.rule else None
    if limit is None:
        return True
    key = arguments[limit.argument]
    held = [r for r in world.where(action.table.name, limit.column, key) if not limit.empty or r[limit.empty] is None]
    held = [r for r in held if not limit.status or r[limit.status] in limit.states]
    return all(len(held) < parent[limit.limit] for parent in world.where(limit.table, limit.key, key))


def can_be_had(world: World, rule: BusinessRule, arguments: dict[str, Any]) -> bool:
    """Whether what a new row refers to is available, and there is enough of it."""
    for named in rule.references:
        rows = world.where(named.table, named.key, arguments[named.argument])
        if named.flag and not all(row[named.flag] for row in rows):
            return False
    stock = rule.stock
    if stock is None:
        return True
    rows = world.where(stock.table, stock.key, arguments[stock.argument])
    wanted = arguments[stock.quantity]
    return wanted is not None and wanted >= 1 and all(row[stock.column] >= wanted for row in rows)


def placeable(world: World, action: Action, rng: random.Random) -> dict[str, Any] | None:
    """Arguments with which a row can be added. None where none were found."""
    rule, table = action.rule, action.table
    assert rule is not None
    for _ in range(MODELS):
        model = rng.choice(world.rows[table.name])
        values: dict[str, Any] = {}
        for argument, column in rule.sets.items():
            link = world.foreign_key(table.name, column)
            values[argument] = rng.choice(world.rows[link.table])[link.target] if link else model.get(column)
        row = {column: values[argument] for argument, column in rule.sets.items()}
        fresh = table.primary_key not in row and can_be_had(world, rule, values)
        if (
            fresh
            and all(map(statable, values.values()))
            and in_order(rule, {}, row)
            and has_room(world, action, values)
        ):
            return values
    return None


def added(action: Action, arguments: dict[str, Any]) -> Row:
    """The row as it is added; a key that is given by itself is left out."""
    rule = action.rule
    assert rule is not None
    assert rule.adds is not None
    row: Row = dict.fromkeys(column.name for column in action.table.columns)
    return row | rule.adds.fixed | {column: arguments[argument] for argument, column in rule.sets.items()}


def arguments_for(world: World, action: Action, row: Row, rng: random.Random) -> dict[str, Any] | None:
    """All arguments but the key, such that the operation can be done on the row and changes something; lists name
    parts. None where it cannot be done."""
    rule = action.rule
    if rule is None or not open_to(rule, row):
        return None
    found: dict[str, Any] = {name: rng.choice(options) for name, options in sorted(rule.choices.items())}
    for maker in (_named, _new_values, _parts):
        more = maker(world, action, row, rng)
        if more is None:
            return None
        found |= more
    return {name: found[name] for name in action.required if name in found}


def _named(world: World, action: Action, row: Row, rng: random.Random) -> dict[str, Any] | None:
    """Rows of other tables, of the same owner where that is demanded; for parts, another than they have."""
    rule, found = action.rule, {}
    assert rule is not None
    for named in rule.references:
        rows = world.rows[named.table]
        if named.shared:
            rows = world.where(named.table, named.shared[1], row.get(named.shared[0]))
        taken = _given_so_far(world, rule, row) if rule.spread and rule.spread.argument == named.argument else set()
        fit = sorted(r[named.key] for r in rows if statable(r[named.key]) and r[named.key] not in taken)
        if not fit:
            return None
        found[named.argument] = rng.choice(fit)
    return found


def _given_so_far(world: World, rule: BusinessRule, row: Row) -> set[Any]:
    spread = rule.spread
    assert spread is not None
    return {part.get(spread.column) for part in world.where(spread.table, spread.link, row.get(spread.target))}


def _new_values(world: World, action: Action, row: Row, rng: random.Random) -> dict[str, Any] | None:
    """Values that another row has together: an address is taken whole."""
    sets = action.rule.sets if action.rule else {}
    if not sets:
        return {}
    rows = world.rows[action.table.name]
    for _ in range(MODELS):
        model = rng.choice(rows)
        values = {argument: model.get(column) for argument, column in sets.items()}
        new = {**row, **{column: values[argument] for argument, column in sets.items()}}
        sound = new != row and action.rule is not None and in_order(action.rule, row, new)
        if sound and all(map(statable, values.values())) and has_room(world, action, values):
            return values
    return None


def _parts(world: World, action: Action, row: Row, rng: random.Random) -> dict[str, Any] | None:
    """Some of the row's parts, each of which no other of its parts is called like; and what they are exchanged for."""
    rule = action.rule
    of = rule.parts if rule else None
    if rule is None or of is None:
        return {}
    parts = world.where(of.table, of.link, row.get(of.target))
    names = [part[of.column] for part in parts]
    single = [part for part in parts if names.count(part[of.column]) == 1 and statable(part[of.column])]
    chosen = rng.sample(single, min(len(single), rng.randint(1, MOST_PARTS)))
    if not chosen:
        return None
    found: dict[str, Any] = {of.argument: [part[of.column] for part in chosen]}
    if rule.swap:
        new = [next(iter(exchanges(world, rule, part, rng)), None) for part in chosen]
        if any(value is None for value in new) or len(set(new)) < len(new):
            return None
        found[rule.swap.argument] = new
    return found


def exchanges(world: World, rule: BusinessRule, part: Row, rng: random.Random) -> Iterator[Any]:
    """What a part can be exchanged for, in any order."""
    swap, of = rule.swap, rule.parts
    assert swap is not None
    assert of is not None
    rows = world.where(swap.table, swap.same[1], part.get(swap.same[0])) if swap.same else world.rows[swap.table]
    fit = [r for r in rows if (not swap.flag or r.get(swap.flag)) and r[swap.target] != part[of.column]]
    yield from (r[swap.target] for r in rng.sample(fit, len(fit)) if statable(r[swap.target]))


def doable(world: World, action: Action, rng: random.Random, tries: int = 12) -> tuple[Row, dict[str, Any]] | None:
    """A row that the operation can be done on, and its arguments."""
    rule = action.rule
    rows = [
        r for r in world.rows[action.table.name] if rule and open_to(rule, r) and statable(r[action.table.primary_key])
    ]
    for row in rng.sample(rows, min(tries, len(rows))):
        arguments = arguments_for(world, action, row, rng)
        if arguments is not None:
            return row, arguments
    return None


def after(action: Action, row: Row, arguments: dict[str, Any]) -> Row:
    """The row as the operation leaves it."""
    rule = action.rule
    assert rule is not None
    new = {column: arguments[argument] for argument, column in rule.sets.items() if argument in arguments}
    return {**row, **new, **({rule.status: rule.after} if rule.status and rule.after is not None else {})}
