"""Unit tests of tools that write: what they return, what they change in the files, and what they refuse."""

import random
from collections import Counter
from typing import Any

from agent_world.agents.coder.cases import (
    REWRITABLE,
    Case,
    assigned,
    call,
    checked,
    refused,
    telling,
    unknown,
    wrong_type,
)
from agent_world.agents.coder.data import Data, Row, cell
from agent_world.agents.coder.design import Design, link_of, numbered_key
from agent_world.agents.coder.spec import choices, least
from agent_world.schema import Column, Table
from agent_world.tools.sql import sql_name

BEFORE = "before = stored()"


def fresh(data: Data, table: Table, column: Column, rng: random.Random, old: Any = None) -> Any:
    """A value that may be stored in the column and differs from `old`, if there is one."""
    link = link_of(table, column.name)
    if link:
        known = data.values(data.table(link.table), link.target)
    else:
        known = list(choices(column)) or data.values(table, column.name)
    if column.type == "boolean":
        return not old
    usable = sorted(
        {v for v in known if v is not None and v != old and (not isinstance(v, str) or v.strip())}, key=repr
    )
    if usable:
        return rng.choice(usable)
    return {"integer": 7, "number": 7.5, "string": "another"}[column.type]


def _stored(table: Table, values: Row) -> Row:
    """The values as they lie in the file, in the file's order of columns."""
    return {c.name: cell(table, c.name, values[c.name]) for c in table.columns if c.name in values}


# --- Update --------------------------------------------------------------------------------------------


def update_cases(data: Data, design: Design, rng: random.Random) -> list[Case]:
    table, column = design.table, design.table.column(design.column or "")
    rows = telling(data, design, rng)
    names = ("changes one cell", "changes the last row", "changes another row", "changes one more row")
    found = []
    for name, row in zip(names, rows[:3], strict=False):
        new = fresh(data, table, column, rng, row[column.name])
        place, change = f"{table.name}/{row[design.key]}", _stored(table, {column.name: new})
        got = call(design, key=row[design.key], value=new)
        lines = (*checked(got, {**row, column.name: new}), *checked("changes(before)", {place: change}))
        found.append(Case(name, (BEFORE, *lines)))
    key, good = rows[0][design.key], fresh(data, table, column, rng, rows[0][column.name])
    missing = unknown(data.values(table, design.key), table.column(design.key))
    found.append(Case("refuses an unknown key", refused(design, "not_found", key=missing, value=good)))
    for name, code, bad in _bad_values(data, table, column):
        found.append(Case(f"refuses {name}", refused(design, code, key=key, value=bad)))
    return found


def _bad_values(data: Data, table: Table, column: Column) -> list[tuple[str, str, Any]]:
    """`(what is wrong, code, value)`."""
    found: list[tuple[str, str, Any]] = [("a wrong type", "invalid_value", wrong_type(column))]
    link = link_of(table, column.name)
    if link:
        parent = data.table(link.table)
        dangling = unknown(data.values(parent, link.target), parent.column(link.target))
        found.append(("a reference to nothing", "not_found", dangling))
    elif choices(column):
        found.append(("an unknown choice", "invalid_value", unknown(column.values, column)))
    elif least(data, table, column) is not None:
        found.append(("a negative number", "invalid_value", -1 if column.type == "integer" else -0.5))
    elif column.type == "string":
        found.append(("an empty text", "invalid_value", "  "))
    if column.type == "integer":
        found.append(("a Boolean for a number", "invalid_value", True))
    return found


# --- Create --------------------------------------------------------------------------------------------


def create_cases(data: Data, design: Design, rng: random.Random) -> list[Case]:
    table, own = design.table, numbered_key(design.table)
    new = new_row(data, design, rng)
    given = {c: v for c, v in new.items() if c != own}
    key = cell(table, design.key, new[design.key])
    last = f'check(stored("{table.name}")[-1]["{design.key}"], {key!r})'
    found = [
        Case("adds one row", _created(design, given, new)),
        Case("adds after the last", (*_given(design, given), f"tools.{design.name}(**given)", last)),
    ]
    nullable = [c.name for c in table.columns if c.nullable]
    if nullable:
        less = {c: v for c, v in given.items() if c not in nullable}
        found.append(Case("leaves the rest empty", _created(design, less, {**new, **dict.fromkeys(nullable)})))
    for column in dict.fromkeys(c for c in (design.key, table.label) if c and c != own):
        twin = {**given, column: data.rows[table.name][0][column]}
        found.append(Case(f"refuses a {column} that exists", _refused_create(design, "already_exists", twin)))
    return found + _bad_rows(data, design, given)


def _created(design: Design, given: Row, new: Row) -> tuple[str, ...]:
    table = design.table
    change = {f"{table.name}/{new[design.key]}": _stored(table, new)}
    got = checked(f"tools.{design.name}(**given)", new)
    return (*_given(design, given), BEFORE, *got, *checked("changes(before)", change))


def _given(design: Design, given: Row) -> tuple[str, ...]:
    return assigned("given", {design.arguments[f"new:{column}"]: value for column, value in given.items()})


def _refused_create(design: Design, code: str, given: Row) -> tuple[str, ...]:
    return (*_given(design, given), f'refused("{code}", tools.{design.name}, **given)')


def new_row(data: Data, design: Design, rng: random.Random) -> Row:
    table, own = design.table, numbered_key(design.table)
    row = {}
    for column in table.columns:
        if column.name == own:
            row[own] = data.ask(f"SELECT MAX({sql_name(own)}) FROM {sql_name(table.name)}") + 1
        elif column.name in (table.primary_key, table.label):
            row[column.name] = unknown(data.values(table, column.name), column)
        else:
            row[column.name] = fresh(data, table, column, rng)
    return row


def _bad_rows(data: Data, design: Design, given: Row) -> list[Case]:
    """One test for each kind of bad value, over all columns that can have it."""
    kinds: dict[tuple[str, str], Row] = {}
    for column in design.table.columns:
        if column.name in given:
            for name, code, bad in _bad_values(data, design.table, column):
                kinds.setdefault((name, code), {})[design.arguments[f"new:{column.name}"]] = bad
    return [
        Case(
            f"refuses {name}",
            (
                *_given(design, given),
                *assigned("bad", bad),
                "for name, value in bad.items():",
                f'    refused("{code}", tools.{design.name}, **{{**given, name: value}})',
            ),
        )
        for (name, code), bad in kinds.items()
    ]


# --- Delete and move -----------------------------------------------------------------------------------


def delete_cases(data: Data, design: Design, rng: random.Random) -> list[Case]:
    table = design.table
    missing = unknown(data.values(table, design.key), table.column(design.key))
    found = [Case("refuses an unknown key", refused(design, "not_found", key=missing))]
    used = [row for row in data.rows[table.name] if _references(data, table, row)]
    free = free_rows(data, table)
    if used:
        found.append(Case("refuses a row in use", refused(design, "in_use", key=rng.choice(used)[design.key])))
    for child, column, target in data.children(table):
        here = [row for row in used if _counted(data, child.name, column, row[target])]
        if here:
            row = min(here, key=lambda r: _references(data, table, r))  # one that no other table holds back, if any
            name = f"refuses a row that {child.name} refer to by {column}"
            alone = _freed(data, table, row, (child.name, column))
            found.append(Case(name, (*alone, *refused(design, "in_use", key=row[design.key]))))
    if free:
        row, last = rng.choice(free), free[-1]
        place = f"{table.name}/{row[design.key]}"
        lines = (*checked(call(design, key=row[design.key]), row), *checked("changes(before)", {place: None}))
        again = (call(design, key=last[design.key]), *refused(design, "not_found", key=last[design.key]))
        found += [Case("removes one row", (BEFORE, *lines)), Case("removes a row only once", again)]
    return found


def _freed(data: Data, table: Table, row: Row, but: tuple[str, str]) -> tuple[str, ...]:
    """Lines that take away the rows of other tables which hold the row as well."""
    others = [
        (child, column, cell(child, column, row[target]))
        for child, column, target in data.children(table)
        if child.name != but[0] and child.format in REWRITABLE and _counted(data, child.name, column, row[target])
    ]
    return tuple(
        f'rewrite("{child.name}", [row for row in stored("{child.name}") if row["{column}"] != {value!r}])'
        for child, column, value in others
    )


def free_rows(data: Data, table: Table) -> list[Row]:
    """Those that no other row refers to."""
    return [row for row in data.rows[table.name] if not _references(data, table, row)]


def _references(data: Data, table: Table, row: Row) -> int:
    """By how many foreign keys others refer to the row."""
    return sum(_counted(data, t.name, column, row[target]) > 0 for t, column, target in data.children(table))


def _counted(data: Data, table: str, column: str, value: Any) -> int:
    found: int = data.ask(f"SELECT count(*) FROM {sql_name(table)} WHERE {sql_name(column)} = ?", value)
    return found


def reassign_cases(data: Data, design: Design, rng: random.Random) -> list[Case]:
    assert design.link is not None
    table, parent, target = design.table, data.table(design.link.table), design.link.target
    seen = Counter(v for v in data.values(table, design.column or "") if v is not None)
    old = max(seen, key=lambda v: (seen[v], repr(v)))
    keys = [key for key in data.values(parent, target) if key is not None]
    others = [key for key in keys if key != old]
    new = rng.choice(others) if others else old
    missing = unknown(keys, parent.column(target))
    found = [
        Case("refuses an unknown origin", refused(design, "not_found", **{"from": missing, "to": old})),
        Case("refuses an unknown destination", refused(design, "not_found", **{"from": old, "to": missing})),
        Case("refuses to move to itself", refused(design, "invalid_value", **{"from": old, "to": old})),
    ]
    if not others:
        return found
    moved = data.select(table, f"WHERE {sql_name(design.column or '')} = ?", old)
    change = _stored(table, {design.column or "": new})
    expected = {f"{table.name}/{row[design.key]}": change for row in moved}
    got = checked(call(design, **{"from": old, "to": new}), {"moved": len(moved)})
    return [Case("moves all of them", (BEFORE, *got, *checked("changes(before)", expected))), *found]
