"""Write moves: the planner picks rows and values that satisfy the preconditions, and that change something."""

import random
from collections.abc import Iterable, Iterator
from typing import Any

from agent_world.agents.synthesizer.meaning import Command, CountAsk, Group, Subject, Where
from agent_world.agents.synthesizer.measures import counters
from agent_world.agents.synthesizer.moves import known, statable
from agent_world.agents.synthesizer.operations import added, after, arguments_for, doable, placeable
from agent_world.agents.synthesizer.trail import Found, Move, Thing, Trail
from agent_world.agents.synthesizer.world import Action, Row, World
from agent_world.schema import Argument, Column, Table, Value


def write_moves(world: World, trail: Trail, action: Action, rng: random.Random) -> list[Move]:
    match action.kind:
        case "create":
            return list(_create(world, trail, action, rng))
        case "update":
            return [
                m for target in _targets(world, trail, action, rng) for m in _update(world, trail, action, rng, *target)
            ]
    if action.rule is not None and action.rule.adds is not None:
        return list(_place(world, trail, action, rng))
    if action.rule is not None:
        return list(_operate(world, trail, action, rng))
    free = [t for t in _targets(world, trail, action, rng) if not referenced(world, action.table, t[0].row)]
    return [m for target in free for m in _delete(world, trail, action, rng, *target)]


def _targets(world: World, trail: Trail, action: Action, rng: random.Random) -> list[tuple[Thing, Argument, str]]:
    """Rows to write to: those shown so far, else one whose key the question states."""
    key, name = action.table.primary_key, action.table.name
    shown = [(t, t.ref(key), "strong") for t in trail.things if t.subject.table == name and key in t.paths]
    if shown:
        return list(shown)
    row = rng.choice(world.rows[name])
    if not statable(row[key]):
        return []
    thing = Thing(Subject("key", name, key, row[key]), row, len(trail.moves), {})
    return [(thing, Value(value=row[key]), "independent")]


def referenced(world: World, table: Table, row: Row) -> bool:
    """Whether another row refers to this one, so that a sound tool would refuse to delete it."""
    return any(world.where(t.name, k.column, row[k.target]) for t, k in world.children(table.name))


def _update(
    world: World, trail: Trail, action: Action, rng: random.Random, target: Thing, key: Argument, kind: str
) -> Iterator[Move]:
    needed = [a for a in action.values if a in action.required] or list(action.values)[:1]
    if len(needed) != 1 or action.key is None:
        return
    column = action.values[needed[0]]
    value = new_value(world, action.table, column, target.row.get(column), rng)
    if value is None:
        return
    after = known({**target.row, column: value}, action, len(trail.moves), target.subject)
    tells = _tells(world, after, rng, avoid={value, *target.subject.literals()})
    command = Command("set", action.table.name, target.subject, ((column, value),), tells)
    if not tells:
        return
    yield Move(action, {action.key: key, needed[0]: Value(value=value)}, kind, thing=after, command=command)


def _operate(world: World, trail: Trail, action: Action, rng: random.Random) -> Iterator[Move]:
    """On a row shown so far that allows it, else on one that the planner finds."""
    key, name = action.table.primary_key, action.table.name
    shown = [t for t in trail.things if t.subject.table == name and key in t.paths]
    fit = [(t, a) for t in shown if (a := arguments_for(world, action, t.row, rng)) is not None]
    if fit:
        thing, values = rng.choice(fit)
        given: Argument = thing.ref(key)
        subject, row, kind = thing.subject, thing.row, "strong"
    else:
        found = doable(world, action, rng)
        if found is None:
            return
        row, values = found
        subject, given, kind = Subject("key", name, key, row[key]), Value(value=row[key]), "independent"
    done = known(after(action, row, values), action, len(trail.moves), subject)
    stated = {v for value in values.values() for v in (value if isinstance(value, list) else [value])}
    tells = _tells(world, done, rng, avoid={*stated, *subject.literals()})
    if action.key is not None and tells:
        command = Command("do", name, subject, tuple(values.items()), tells, link=action.name)
        arguments: dict[str, Argument] = {action.key: given, **{a: Value(value=v) for a, v in values.items()}}
        yield Move(action, arguments, kind, thing=done, command=command)


def _place(world: World, trail: Trail, action: Action, rng: random.Random) -> Iterator[Move]:
    """A row is added; what it is called, or what it starts with, is asked for."""
    values = placeable(world, action, rng)
    if not values:
        return
    table, row = action.table, added(action, values)
    thing = known(row, action, len(trail.moves), Subject("key", table.name, table.primary_key, None))
    pairs = tuple((action.values[argument], value) for argument, value in values.items())
    command = Command("add", table.name, None, pairs, (table.primary_key,))
    yield Move(action, {a: Value(value=v) for a, v in values.items()}, thing=thing, command=command)


def _delete(
    world: World, trail: Trail, action: Action, rng: random.Random, target: Thing, key: Argument, kind: str
) -> Iterator[Move]:
    gone = known(target.row, action, len(trail.moves), target.subject)
    tells = _tells(world, gone, rng, avoid=set(target.subject.literals()))
    if action.key is not None and tells:
        command = Command("remove", action.table.name, target.subject, tells=tells)
        yield Move(action, {action.key: key}, kind, thing=gone, command=command)


def _create(world: World, trail: Trail, action: Action, rng: random.Random) -> Iterator[Move]:
    table = action.table
    model = rng.choice(world.rows[table.name])
    values: dict[str, Any] = {}
    for argument, column in action.values.items():
        if argument in action.required or (column != table.primary_key and rng.random() < 0.5):
            values[argument] = cell_value(world, table, table.column(column), model, rng)
    if not all(statable(v) for v in values.values()) or len(values) < 1:
        return
    row = {**dict.fromkeys(c.name for c in table.columns), **{action.values[a]: v for a, v in values.items()}}
    subject = Subject("key", table.name, table.primary_key, row[table.primary_key])
    thing = known(row, action, len(trail.moves), subject)
    pairs = tuple((action.values[a], v) for a, v in values.items())
    arguments: dict[str, Argument] = {a: Value(value=v) for a, v in values.items()}
    if row[table.primary_key] is None and table.primary_key in thing.paths:
        command = Command("add", table.name, None, pairs, (table.primary_key,))
        yield Move(action, arguments, thing=thing, command=command)
        return
    for group, call, given_there, number in counted_after(world, table.name, row):
        step = len(trail.moves) + 1
        there: dict[str, Argument] = {a: Value(value=v) for a, v in given_there.items()}
        path = "count" if call.kind == "count" else "total"
        then = Move(call, there, "weak", found=Found(CountAsk(group), step, path, number))
        command = Command("add", table.name, None, pairs, counted=group)
        yield Move(action, arguments, thing=thing, command=command, after=then)


def counted_after(world: World, table: str, row: Row) -> Iterator[tuple[Group, Action, dict[str, Any], int]]:
    """Groups that a new row belongs to, the call that counts each, and the number when the row is there: the rows of a
    parent whose key people use, else all rows."""
    for link in world.tables[table].foreign_keys:
        value = row.get(link.column)
        if not statable(value) or world.opaque(link.table):
            continue
        for action, argument in counters(world, world.tables[table], link.column):
            parents = world.where(link.table, link.target, value)
            disputed = world.disputed(link.table, table, link.column, "count")
            if len(parents) == 1 and action.accepts(argument, value) and not disputed:
                number = len(world.where(table, link.column, value)) + 1
                yield Group(table, (Where(link.column, value),)), action, {argument: value}, number
                break
    for action in world.of("count", "list", table=table):
        if not action.required and not action.inside:
            yield Group(table), action, {}, len(world.rows[table]) + 1
            return


def _tells(world: World, thing: Thing, rng: random.Random, avoid: set[Any]) -> tuple[str, ...]:
    columns = [c for c in sorted(thing.paths) if askable(world, thing, c) and not given(thing.row[c], avoid)]
    return (rng.choice(columns),) if columns else ()


def given(value: Any, literals: Iterable[Any]) -> bool:
    """Whether a literal says the value already, in whole or as a part of a name."""
    text = str(value).casefold()
    return any(text == str(said).casefold() or (len(text) > 2 and text in str(said).casefold()) for said in literals)


def askable(world: World, thing: Thing, column: str) -> bool:
    """Whether a question can ask for this column of this row: shown, not empty, of use to a person."""
    table = world.tables[thing.subject.table]
    if column not in thing.paths or not statable(thing.row.get(column)):
        return False
    if not world.clear_cell(table.name, column, thing.row):
        return False
    if thing.subject.of is None and column == thing.subject.column:
        return False
    link = world.foreign_key(table.name, column)
    if link is not None:
        return not world.opaque(link.table)
    return column != table.primary_key or not world.opaque(table.name)


# --- Values that are new, but of the column's kind ---------------------------------------------------------


def new_value(world: World, table: Table, name: str, old: Any, rng: random.Random) -> Any:
    """Another value for a cell; None when there is no sensible one (a unique column)."""
    column = table.column(name)
    if column.unique or name in (table.primary_key, table.label):
        return None
    if column.type == "boolean":
        return not old
    link = world.foreign_key(table.name, name)
    rows = world.rows[link.table] if link else world.rows[table.name]
    source = link.target if link else name
    others = sorted({row[source] for row in rows if statable(row.get(source)) and row[source] != old}, key=repr)
    return rng.choice(others) if others else None


def cell_value(world: World, table: Table, column: Column, model: Row, rng: random.Random) -> Any:
    if column.name == table.primary_key or column.unique:
        taken = {row.get(column.name) for row in world.rows[table.name]}
        return unused(model.get(column.name), taken, rng, named=column.name == table.label)
    if column.name == table.label:
        return unused(model.get(column.name), set(), rng, named=True)
    link = world.foreign_key(table.name, column.name)
    if link is not None:
        return rng.choice(world.rows[link.table])[link.target]
    if statable(model.get(column.name)):
        return model[column.name]
    return new_value(world, table, column.name, None, rng)


def unused(like: Any, taken: set[Any], rng: random.Random, named: bool = False) -> Any:
    """A key or name that no row has, shaped like one that is there; None when none was found."""
    if isinstance(like, int) and not isinstance(like, bool):
        return max((k for k in taken if isinstance(k, int)), default=like) + rng.randint(1, 40)
    if isinstance(like, float) or not isinstance(like, str):
        return None
    for _ in range(50):
        if named:
            text = f"{rng.choice(('New', 'Old', 'North', 'South', 'Upper', 'Lower', 'Grand', 'Little'))} {like}"
        else:
            text = "".join(_other(character, rng) for character in like)
        if text not in taken:
            return text
    return None


def _other(character: str, rng: random.Random) -> str:
    if character.isdigit():
        return rng.choice("0123456789")
    if character.isascii() and character.isalpha():
        return rng.choice("ABCDEFGHJKLMNPRSTUVWXYZ" if character.isupper() else "abcdefghjkmnprstuvwxyz")
    return character
