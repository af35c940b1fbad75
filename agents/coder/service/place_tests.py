"""Unit tests of an operation that takes a row on: its row is worked out by SQL, each condition is broken once."""

import random
from collections.abc import Iterator
from typing import Any

from agent_world.agents.coder.cases import Case, assigned, checked, unknown, wrong_type
from agent_world.agents.coder.data import Data, Row, cell
from agent_world.agents.coder.service.condition_tests import MOST_FILLS, Bad, bad_days
from agent_world.agents.coder.service.lifecycle import rooms
from agent_world.agents.coder.service.place import Place
from agent_world.agents.coder.service.real import Real
from agent_world.agents.coder.spec import choices, least
from agent_world.schema import ForeignKey
from agent_world.tools.sql import sql_name


def place_cases(real: Real, data: Data, place: Place, seed: int) -> list[Case]:
    """Empty where nothing that it may refer to has room left."""
    rng = random.Random(f"{seed}:{real.name}:tests")
    first, second = _given(data, place, rng), _given(data, place, rng)
    if first is None or second is None:
        return []
    found = [
        Case("adds one row", _adds(real, data, place, first)),
        Case("adds another row", _adds(real, data, place, second)),
    ]
    for shows, code, bad in _refusals(data, place, first):
        call = f'refused("{code}", tools.{real.name}, **given)'
        found.append(Case(shows, (*assigned("given", first | bad), call)))
    found += _until_full(real, data, place, first)
    tables = [place.table.name, *(k.table for k in place.table.foreign_keys if k.column in place.sets.values())]
    broken = f"broken({list(dict.fromkeys(tables))!r}, tools.{real.name}, **given)"
    return [*found, Case("without its tables is broken", (*assigned("given", first), broken))]


def _given(data: Data, place: Place, rng: random.Random) -> dict[str, Any] | None:
    """Arguments that must do."""
    given: dict[str, Any] = {}
    for name, column in place.sets.items():
        options = _options(data, place, name, column)
        if not options:
            return None
        given[name] = rng.choice(options)
    for first, second in place.ordered:
        names = {column: name for name, column in place.sets.items()}
        given[names[first]], given[names[second]] = sorted((given[names[first]], given[names[second]]))
    return given


def _options(data: Data, place: Place, name: str, column: str) -> list[Any]:
    table, kind = place.table, place.table.column(column)
    if name in place.unique:
        return [unknown(data.values(table, column), kind)]
    link = next((k for k in table.foreign_keys if k.column == column), None)
    if place.draw and place.draw.quantity == name:
        return [1]
    if link and (name in place.flags or (place.draw and place.draw.argument == name)):
        return _had(data, place, name, link)
    if place.limit and place.limit.argument == name:
        return sorted((key for key, room in rooms(data, table, place.limit) if room > 0), key=repr)
    known = data.values(data.table(link.table), link.target) if link else data.values(table, column)
    filled = {v for v in known if v is not None and (not isinstance(v, str) or v.strip())}
    return sorted(filled or {True, False} if kind.type == "boolean" else filled, key=repr)


def _had(data: Data, place: Place, name: str, link: ForeignKey) -> list[Any]:
    """Keys of what can be had, of which there is something left, and which has room."""
    tests = [f"{sql_name(place.flags[name])} = 1"] if name in place.flags else []
    tests += [f"{sql_name(place.draw.column)} > 0"] if place.draw and place.draw.argument == name else []
    found = [row[link.target] for row in data.select(data.table(link.table), f"WHERE {' AND '.join(tests)}")]
    if place.limit and place.limit.argument == name:
        free = {key for key, room in rooms(data, place.table, place.limit) if room > 0}
        found = [key for key in found if key in free]
    return sorted(found, key=repr)


def _row(data: Data, place: Place, given: dict[str, Any]) -> Row:
    """The row that must come out."""
    row = {**place.fixed, **{column: given[name] for name, column in place.sets.items()}}
    if place.prefix is not None:
        row[place.table.primary_key] = _next_key(data, place)
    kinds = {c.name: c.type for c in place.table.columns}
    return {c: float(row[c]) if kinds[c] == "number" and row[c] is not None else row[c] for c in kinds}


def _next_key(data: Data, place: Place) -> Any:
    key, table = sql_name(place.table.primary_key), sql_name(place.table.name)
    if not place.prefix:
        return data.ask(f"SELECT max({key}) FROM {table}") + 1
    most = data.ask(f"SELECT max(CAST(substr({key}, ?) AS INTEGER)) FROM {table}", len(place.prefix) + 1)
    return f"{place.prefix}{most + 1:0{place.width}d}"


def _adds(real: Real, data: Data, place: Place, given: dict[str, Any]) -> tuple[str, ...]:
    table, row = place.table, _row(data, place, given)
    key = row[table.primary_key]
    stored = {c: cell(table, c, v) for c, v in row.items()}
    got = checked(f"tools.{real.name}(**given)", row)
    last = f'check(stored("{table.name}")[-1]["{table.primary_key}"], {cell(table, table.primary_key, key)!r})'
    changes = {f"{table.name}/{key}": stored, **_left(data, place, given)}
    change = checked("changes(before)", changes)
    return (*assigned("given", given), "before = stored()", *got, *change, last)


def _stocked(data: Data, place: Place, given: dict[str, Any]) -> Row:
    draw = place.draw
    assert draw is not None
    where = f"WHERE {sql_name(draw.link.target)} = ?"
    return data.select(data.table(draw.link.table), where, given[draw.argument])[0]


def _left(data: Data, place: Place, given: dict[str, Any]) -> dict[str, Any]:
    """How the stock changes."""
    if place.draw is None:
        return {}
    row, parent, column = _stocked(data, place, given), data.table(place.draw.link.table), place.draw.column
    less = cell(parent, column, row[column] - given[place.draw.quantity])
    return {f"{parent.name}/{row[parent.primary_key]}": {column: less}}


def _cannot_be_had(data: Data, place: Place, given: dict[str, Any]) -> Iterator[Bad]:
    for name, flag in place.flags.items():
        link = next(k for k in place.table.foreign_keys if k.column == place.sets[name])
        found = data.select(data.table(link.table), f"WHERE {sql_name(flag)} = 0")
        yield f"refuses a {name} that is not {flag}", "not_available", {name: found[0][link.target]}
    if place.draw:
        much = _stocked(data, place, given)[place.draw.column] + 1
        yield "refuses more than there is", "not_available", {place.draw.quantity: much}
        yield "refuses nothing", "invalid_value", {place.draw.quantity: 0}


def _refusals(data: Data, place: Place, given: dict[str, Any]) -> Iterator[Bad]:
    table = place.table
    for name, column in place.sets.items():
        kind = table.column(column)
        link = next((k for k in table.foreign_keys if k.column == column), None)
        yield f"refuses a wrong type of {name}", "invalid_value", {name: wrong_type(kind)}
        if link:
            parent = data.table(link.table)
            missing = unknown(data.values(parent, link.target), parent.column(link.target))
            yield f"refuses an unknown {name}", "not_found", {name: missing}
        elif name in place.unique:
            yield f"refuses a {name} that exists", "already_exists", {name: data.rows[table.name][0][column]}
        elif choices(kind):
            yield f"refuses an unknown {name}", "invalid_value", {name: unknown(kind.values, kind)}
        elif least(data, table, kind) is not None:
            yield f"refuses a negative {name}", "invalid_value", {name: -1 if kind.type == "integer" else -0.5}
    names = {column: name for name, column in place.sets.items()}
    row = {column: given[name] for column, name in names.items()}
    yield from _cannot_be_had(data, place, given)
    yield from bad_days(place.dates, place.ordered, names, row)
    if place.limit:
        full = [key for key, room in rooms(data, table, place.limit) if room <= 0]
        name = place.limit.argument
        if name in place.flags or (place.draw and place.draw.argument == name):
            full = []  # another condition may refuse it first
        if full:
            yield "refuses what has no room left", "not_available", {place.limit.argument: full[0]}


def _until_full(real: Real, data: Data, place: Place, given: dict[str, Any]) -> list[Case]:
    """Rows are added till there is no room for one more."""
    if place.limit is None or place.unique or place.flags or place.draw:
        return []
    left = [(room, repr(key), key) for key, room in rooms(data, place.table, place.limit) if 0 < room <= MOST_FILLS]
    if not left:
        return []
    room, _, key = min(left)
    lines = (*assigned("given", given | {place.limit.argument: key}), f"for _ in range({room}):")
    end = f'refused("not_available", tools.{real.name}, **given)'
    return [Case("is full after so many", (*lines, f"    tools.{real.name}(**given)", end))]
