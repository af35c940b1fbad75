"""Which calls a walk can make next: every way in which a read tool's arguments can be bound.

An argument is a reference to what an earlier step showed (strong or weak edges) or a value of a real row that the
question will state (independent). A move is only offered when the rows say that it gives one row, or a number.
"""

import random
from collections.abc import Iterator, Sequence
from typing import Any

from agent_world.agents.synthesizer.derived import day_part, hinted
from agent_world.agents.synthesizer.meaning import CountAsk, Group, ReduceAsk, Subject, SubjectKind, Where
from agent_world.agents.synthesizer.trail import Found, Move, Thing, Trail
from agent_world.agents.synthesizer.world import Action, Row, World
from agent_world.schema import Argument, Value

LONGEST = 60
"""Most characters of a text value that a question states."""


def read_moves(world: World, trail: Trail, action: Action, rng: random.Random) -> list[Move]:
    """Bound moves first, then one fresh one; none twice."""
    match action.kind:
        case "get":
            found = [*_get_bound(world, trail, action), *_get_fresh(world, trail, action, rng)]
        case "search":
            found = list(_search(world, trail, action, rng))
        case _:
            found = [*_group_bound(world, trail, action), *_group_fresh(world, trail, action, rng)]
    return [move for move in found if not trail.repeats(move)]


def statable(value: Any) -> bool:
    """Whether a question can state the value plainly."""
    if value is None or value == "":
        return False
    return not isinstance(value, str) or (len(value) <= LONGEST and "\n" not in value and value == value.strip())


def known(row: Row, action: Action, step: int, subject: Subject) -> Thing:
    return Thing(subject, row, step, action.item_paths())


# --- One row by its key ---------------------------------------------------------------------------------


def _get_bound(world: World, trail: Trail, action: Action) -> Iterator[Move]:
    assert action.key is not None
    key, step = action.table.primary_key, len(trail.moves)
    for thing in trail.things:
        if thing.subject.table == action.table.name and key in thing.paths and set(action.paths) - set(thing.paths):
            yield _get(action, {action.key: thing.ref(key)}, known(thing.row, action, step, thing.subject), "strong")
    for thing in trail.things:
        for link in world.tables[thing.subject.table].foreign_keys:
            if link.table != action.table.name or link.target != key or thing.row.get(link.column) is None:
                continue
            rows = world.where(link.table, key, thing.row[link.column])
            if len(rows) == 1 and link.column in thing.paths:
                parent = Subject("parent", link.table, link.column, of=thing.subject)
                kind = "strong" if world.opaque(link.table) else "weak"
                yield _get(action, {action.key: thing.ref(link.column)}, known(rows[0], action, step, parent), kind)


def _get(action: Action, arguments: dict[str, Argument], thing: Thing, kind: str) -> Move:
    return Move(action, arguments, kind, thing=thing)


def _get_fresh(world: World, trail: Trail, action: Action, rng: random.Random) -> Iterator[Move]:
    assert action.key is not None
    row = rng.choice(world.rows[action.table.name])
    value = row[action.table.primary_key]
    if statable(value):
        subject = Subject("key", action.table.name, action.table.primary_key, value)
        yield Move(action, {action.key: Value(value=value)}, thing=known(row, action, len(trail.moves), subject))


# --- Rows by a text they contain --------------------------------------------------------------------------


def _search(world: World, trail: Trail, action: Action, rng: random.Random) -> Iterator[Move]:
    arguments = [a for a in action.required if a in action.filters] or list(action.filters)[:1]
    if len(arguments) != 1 or set(action.required) - set(arguments):
        return
    argument, table = arguments[0], action.table
    column = action.filters[argument]
    row = rng.choice(world.rows[table.name])
    value, step = row.get(column), len(trail.moves)
    if not isinstance(value, str) or not statable(value):
        return
    if len(world.containing(table.name, column, value)) == 1:
        kind: SubjectKind = "label" if column == table.label else "value"
        subject = Subject(kind, table.name, column, value)
        yield Move(action, {argument: Value(value=value)}, thing=known(row, action, step, subject))
    fragment = _fragment(value, rng)
    hits = len(world.containing(table.name, column, fragment)) if fragment else 0
    if fragment and hits > 1 and rng.random() < 0.4:
        group = Group(table.name, (Where(column, fragment, contains=True),))
        yield Move(action, {argument: Value(value=fragment)}, found=Found(CountAsk(group), step, "total", hits))


def _fragment(text: str, rng: random.Random) -> str | None:
    words = [w.strip(",.;:()[]'\"") for w in text.split()]
    words = [w for w in words if len(w) >= 4 and w.isalpha()]
    return rng.choice(words) if words else None


# --- Groups of rows: list, related, count, aggregate -------------------------------------------------------


def _group_bound(world: World, trail: Trail, action: Action) -> Iterator[Move]:
    """One filter takes what an earlier step showed: a parent's key, or the same value of another row."""
    for argument, column in _single_filter(action):
        link = world.foreign_key(action.table.name, column)
        for thing in trail.things:
            table = thing.subject.table
            if link and table == link.table and link.target in thing.paths:
                value, where = thing.row[link.target], Where(column, subject=thing.subject)
                ref = thing.ref(link.target)
                kind = "strong" if world.opaque(link.table) else "weak"
            elif table == action.table.name and column in thing.paths and not action.table.column(column).unique:
                value, where, kind = thing.row.get(column), Where(column, subject=thing.subject, same=True), "weak"
                ref = thing.ref(column)
            else:
                continue
            if value is not None:
                rows = world.where(action.table.name, column, value)
                yield from _group(world, action, {argument: ref}, where, rows, len(trail.moves), kind)


def _single_filter(action: Action) -> list[tuple[str, str]]:
    """Filters that are enough by themselves."""
    return [(a, c) for a, c in action.filters.items() if not set(action.required) - {a}]


def _group_fresh(world: World, trail: Trail, action: Action, rng: random.Random) -> Iterator[Move]:
    step = len(trail.moves)
    if not action.required:
        yield from _group(world, action, {}, None, world.rows[action.table.name], step, "independent")
    chosen = _single_filter(action)
    if chosen:
        argument, column = rng.choice(chosen)
        row = rng.choice(world.rows[action.table.name])
        value = row.get(column)
        link = world.foreign_key(action.table.name, column)
        if statable(value) and (link is None or not world.opaque(link.table)):
            rows = world.where(action.table.name, column, value)
            yield from _group(
                world, action, {argument: Value(value=value)}, Where(column, value), rows, step, "independent"
            )


def _group(
    world: World,
    action: Action,
    arguments: dict[str, Argument],
    where: Where | None,
    rows: list[Row],
    step: int,
    kind: str,
) -> Iterator[Move]:
    if not _says_the_same(world, action, where, rows):
        return
    group = Group(action.table.name, (where,) if where else ())
    match action.kind:
        case "count":
            yield Move(action, arguments, kind, found=Found(CountAsk(group), step, "count", len(rows)))
        case "aggregate" if rows:
            yield from _aggregate(world, action, arguments, group, rows, step, kind)
        case "list" | "related":
            if not action.inside:
                yield Move(action, arguments, kind, found=Found(CountAsk(group), step, "total", len(rows)))
            if len(rows) == 1 and where is not None and not where.same:
                yield Move(action, arguments, kind, thing=known(rows[0], action, step, _only(action, where)))


def _says_the_same(world: World, action: Action, where: Where | None, rows: list[Row]) -> bool:
    """Whether the row that these belong to has no column that tells another number of them."""
    link = world.foreign_key(action.table.name, where.column) if where and rows and not where.same else None
    parents = world.where(link.table, link.target, rows[0].get(link.column)) if link else []
    if link is None or len(parents) != 1:
        return True
    function = (action.operation.function or "") if action.kind == "aggregate" else "count"
    column = (action.operation.column or "") if action.kind == "aggregate" else ""
    disputed = world.disputed(link.table, action.table.name, link.column, function, column)
    return parents[0].get(world.tables[link.table].primary_key) not in disputed


def _only(action: Action, where: Where) -> Subject:
    if where.subject is not None:
        return Subject("child", action.table.name, where.column, of=where.subject)
    return Subject("value", action.table.name, where.column, where.value)


def _aggregate(
    world: World, action: Action, arguments: dict[str, Argument], group: Group, rows: list[Row], step: int, kind: str
) -> Iterator[Move]:
    column, function = action.operation.column, action.operation.function or ""
    numbers = [row[column] for row in rows if column and isinstance(row.get(column), int | float)]
    if column is None or not numbers or len(rows) < 2 or hinted(column) or day_part(action.table, column):
        return
    if not all(world.clear_cell(action.table.name, column, row) for row in rows):
        return
    expected = reduced(function, numbers)
    yield Move(action, arguments, kind, found=Found(ReduceAsk(group, column, function), step, "value", expected))


def reduced(function: str, numbers: Sequence[float]) -> float:
    """What `sum`, `min`, `max` or (any other name) the mean of the numbers is."""
    if function == "sum":
        return sum(numbers)
    if function in ("min", "max"):
        return min(numbers) if function == "min" else max(numbers)
    return sum(numbers) / len(numbers)
