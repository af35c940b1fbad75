"""The oracle of preconditions: by SQL, which rows and values fulfil them, and which break just one of them."""

from collections.abc import Iterator, Sequence
from typing import Any

from agent_world.agents.coder.cases import Case, assigned
from agent_world.agents.coder.data import Data, Row
from agent_world.agents.coder.service.change import Change
from agent_world.agents.coder.service.lifecycle import rooms
from agent_world.tools.sql import sql_name

Bad = tuple[str, str, dict[str, Any]]
"""What is broken, the code of the refusal, and the arguments that break it."""
MOST_FILLS = 6
"""Calls that a test makes to use up the room there is."""


def allowed_rows(data: Data, change: Change) -> list[Row]:
    """Rows whose state allows the change."""
    tests, values = _state_tests(change)
    tests += [f"{sql_name(column)} IS NULL" for column in change.empty]
    return data.select(change.table, f"WHERE {' AND '.join(tests)}" if tests else "", *values)


def _state_tests(change: Change) -> tuple[list[str], list[Any]]:
    column = sql_name(change.status or "")
    if change.status and change.needs is not None:
        return [f"{column} = ?"], [change.needs]
    if change.status and change.among:
        return [f"{column} IN ({', '.join('?' * len(change.among))})"], list(change.among)
    return ([f"{column} != ?"], [change.after]) if change.status and change.after is not None else ([], [])


def bad_states(data: Data, change: Change) -> Iterator[Bad]:
    key, tests = change.table.primary_key, _state_tests(change)
    empty = [f"{sql_name(column)} IS NULL" for column in change.empty]
    if tests[0]:
        where = " AND ".join([f"NOT ({tests[0][0]})", *empty])
        found = data.select(change.table, f"WHERE {where}", *tests[1])
        if found:
            yield "refuses another state", "wrong_state", {change.key: found[0][key]}
    for column in change.empty:
        where = " AND ".join([f"{sql_name(column)} IS NOT NULL", *tests[0]])
        found = data.select(change.table, f"WHERE {where}", *tests[1])
        if found:
            yield f"refuses one whose {column} is filled", "wrong_state", {change.key: found[0][key]}


# --- Values ----------------------------------------------------------------------------------------------


def fitting_values(data: Data, change: Change, row: Row, name: str) -> list[Any]:
    """New values for the argument's column that meet its conditions; different ones from the row's, if there are."""
    column = change.sets[name]
    known = {v for v in data.values(change.table, column) if v is not None and (v != "" or name in change.may_be_empty)}
    if name in change.dates:
        known |= {day for day in (*row.values(), "2031-05-06") if name in change.later or _follows(change, row, column)}
        known = {day for day in known if isinstance(day, str) and _is_day(day)}
    if change.limit and change.limit.argument == name:
        known = {key for key, room in rooms(data, change.table, change.limit) if room > 0}
    fit = sorted((v for v in known if _fits(change, row, name, v)), key=repr)
    return [v for v in fit if v != row[column]] or ([] if name in change.differ else fit or [row[column]])


def _follows(change: Change, row: Row, column: str) -> bool:
    return any(column == second and row.get(first) for first, second in change.ordered)


def _is_day(text: str) -> bool:
    return len(text) == 10 and text[4] == text[7] == "-" and text.replace("-", "").isdigit()


def _fits(change: Change, row: Row, name: str, value: Any) -> bool:
    column = change.sets[name]
    if name in change.later and row[column] is not None and value <= row[column]:
        return False
    return all(_in_order(row | {column: value}, pair) for pair in change.ordered if column in pair)


def _in_order(row: Row, pair: tuple[str, str]) -> bool:
    first, second = (row[column] for column in pair)
    return first is None or second is None or first <= second


def bad_values(data: Data, change: Change, row: Row) -> Iterator[Bad]:
    """Each breaks one condition for the row."""
    arguments = {column: name for name, column in change.sets.items()}
    yield from bad_days(change.dates, change.ordered, arguments, row)
    for name in change.differ:
        yield f"refuses the {name} that it has", "invalid_value", {name: row[change.sets[name]]}
    for name in change.later:
        if row[change.sets[name]] is not None:
            yield f"refuses a {name} that is no later", "invalid_value", {name: row[change.sets[name]]}
            yield f"refuses an earlier {name}", "invalid_value", {name: "1901-02-03"}
    if change.limit:
        full = [key for key, room in rooms(data, change.table, change.limit) if room <= 0]
        full = [key for key in full if key != row[change.limit.link.column]]
        if full:
            yield "refuses what has no room left", "not_available", {change.limit.argument: full[0]}


def bad_days(
    dates: Sequence[str], ordered: Sequence[tuple[str, str]], arguments: dict[str, str], row: Row
) -> Iterator[Bad]:
    """`arguments`: column -> argument."""
    for name in dates:
        yield f"refuses a {name} in another form", "invalid_value", {name: "31.12.2025"}
        yield f"refuses a {name} that does not exist", "invalid_value", {name: "2025-02-30"}
    for first, second in ordered:
        if second in arguments and (row[first] or "") > "1901-02-03":
            yield f"refuses a {second} before the {first}", "invalid_value", {arguments[second]: "1901-02-03"}
        elif first in arguments and row[second]:
            yield f"refuses a {first} after the {second}", "invalid_value", {arguments[first]: "2999-12-31"}


# --- Room ------------------------------------------------------------------------------------------------


def filled_up(data: Data, change: Change, tool: str) -> list[Case]:
    """Rows are given to one until it has no room left; the next is refused."""
    limit = change.limit
    if limit is None:
        return []
    key = change.table.primary_key
    for parent, room in sorted(rooms(data, change.table, limit), key=lambda pair: (pair[1], repr(pair[0]))):
        others = [row for row in allowed_rows(data, change) if row[limit.link.column] != parent]
        if 0 < room <= MOST_FILLS and len(others) > room:
            fills = [{change.key: row[key], limit.argument: parent} for row in others[: room + 1]]
            lines = (*assigned("fills", fills[:-1]), "for given in fills:", f"    tools.{tool}(**given)")
            last = (*assigned("given", fills[-1]), f'refused("not_available", tools.{tool}, **given)')
            return [Case("is full after so many", (*lines, *last))] if len(change.sets) == 1 else []
    return []


def tested(data: Data, change: Change) -> bool:
    """Whether its limit, if it has one, can be put to the test."""
    if change.limit is None:
        return True
    full = any(room <= 0 for _, room in rooms(data, change.table, change.limit))
    return full or bool(filled_up(data, change, "tool"))
