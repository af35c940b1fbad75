"""Preconditions of business operations as code and in words: states, days in order, room for one more.

What they share with the tests of the same operations is the plan alone; the tests work them out by SQL.
"""

from collections.abc import Mapping, Sequence

from agent_world.agents.coder.service.change import Change
from agent_world.agents.coder.service.lifecycle import Limit
from agent_world.agents.coder.words import listed, noun, nouns, words
from agent_world.schema import ForeignKey, Table
from agent_world.tools.tables import singular

Lines = list[str]
DATE_HELPER = '''def _date(name, value):
    """The day as it is stored; refuses with `invalid_value` what is no day as YYYY-MM-DD."""
    try:
        if datetime.date.fromisoformat(_checked(name, value, str)).isoformat() != value:
            raise ValueError
    except ValueError:
        raise ToolError("invalid_value", f"{name} must be a day as YYYY-MM-DD, not {value!r}.") from None
    return value'''
"""For the head of tools.py, where a tool takes a day."""


def dated(name: str) -> str:
    return f'{name} = _date("{name}", {name})'


# --- State of the row ------------------------------------------------------------------------------------


def state_lines(change: Change) -> Lines:
    """Refusals with `wrong_state`."""
    return [*_status_lines(change), *(line for column in change.empty for line in _empty_lines(change.table, column))]


def _status_lines(change: Change) -> Lines:
    column, row = change.status, noun(change.table)
    if not column:
        return []
    cell = f'$$row["{column}"]'
    if isinstance(change.needs, bool):
        said = "nothing is left to do" if change.after is not None else f"it must be {_flag(column, change.needs)}"
        test, now = (cell if not change.needs else f"not {cell}"), _flag(column, not change.needs)
        return [f"if {test}:", f'    raise ToolError("wrong_state", f"The {row} is {now} already; {said}.")']
    if change.needs is not None:
        test, said = f"$$state != {change.needs!r}", f"it must be {change.needs}"
    elif change.among:
        test, said = f"$$state not in {list(change.among)!r}", f"it must be {either(change.among)}"
    elif change.after is not None:
        test, said = f"$$state == {change.after!r}", "nothing is left to do"
    else:
        return []
    return [
        f"$$state = {cell}",
        f"if {test}:",
        f'    raise ToolError("wrong_state", f"The {row} is {{$$state!r}}; {said}.")',
    ]


def _flag(column: str, value: bool) -> str:
    return words(column) if value else f"not {words(column)}"


def _empty_lines(table: Table, column: str) -> Lines:
    said = f"The {noun(table)} is done with: its {day_words(column)} is {{$$done!r}}."
    return [
        f'$$done = $$row["{column}"]',
        "if $$done is not None:",
        f'    raise ToolError("wrong_state", f"{said}")',
    ]


def changed(change: Change) -> Lines:
    """Refusals of a new value that changes nothing, or is no later than the old one."""
    lines: Lines = []
    for name in change.differ:
        column = change.sets[name]
        said = f"The {noun(change.table)} has the {words(column)} {{{name}!r}} already."
        lines += [f'if {name} == $$row["{column}"]:', f'    raise ToolError("invalid_value", f"{said}")']
    for name in change.later:
        column = change.sets[name]
        said = f"{name} must be later than {{$$present!r}}, not {{{name}!r}}."
        null = "$$present is not None and " if change.table.column(column).nullable else ""
        lines += [
            f'$$present = $$row["{column}"]',
            f"if {null}{name} <= $$present:",
            f'    raise ToolError("invalid_value", f"{said}")',
        ]
    return lines


# --- Conditions that new rows have as well ---------------------------------------------------------------


def earlier(ordered: Sequence[tuple[str, str]], given: Mapping[str, str]) -> Lines:
    """Refusals of days in the wrong order. `given`: column -> the argument that is its new value."""
    lines: Lines = []
    for first, second in ordered:
        a, b = (given.get(column, f'$$row["{column}"]') for column in (first, second))
        late = f"{{{b}!r}}".replace('"', "'")
        said = f"The {day_words(second)}, {late}, is before the {day_words(first)}."
        lines += [f"if {b} < {a}:", f'    raise ToolError("invalid_value", f"{said}")']
    return lines


def fuller(table: Table, limit: Limit | None) -> Lines:
    """Refusal with `not_available` where no more rows can have what `other` is."""
    if limit is None:
        return []
    tests = [f'$$r["{limit.link.column}"] == {limit.argument}']
    if limit.empty:
        tests.append(f'$$r["{limit.empty}"] is None')
    if limit.status:
        tests.append(f'$$r["{limit.status}"] in {list(limit.states)!r}')
    what = f"The {parent_noun(limit.link)} {{{limit.argument}!r}}"
    room = f"{words(limit.column)}: {{$$other['{limit.column}']}}"
    return [
        f'$$held = [$$r for $$r in _rows("{table.name}") if {" and ".join(tests)}]',
        f'if len($$held) >= $$other["{limit.column}"]:',
        f'    raise ToolError("not_available", f"{what} is taken as often as it can be ({room}).")',
    ]


# --- Words -------------------------------------------------------------------------------------------------


def said_of(change: Change) -> Lines:
    """The conditions in plain words, for the description."""
    said: Lines = []
    status = words(change.status or "")
    if isinstance(change.needs, bool):
        said.append(f"Fails with wrong_state where it is {_flag(change.status or '', not change.needs)} already.")
    elif change.needs is not None:
        said.append(f"Fails with wrong_state unless its {status} is '{change.needs}'.")
    elif change.among:
        said.append(f"Fails with wrong_state unless its {status} is {either(change.among)}.")
    elif change.after is not None:
        said.append(f"Fails with wrong_state where its {status} is '{change.after}' already.")
    said += [f"Fails with wrong_state where its {day_words(column)} is set already." for column in change.empty]
    said += [f"The new {day_words(change.sets[name])} must be later than the present one." for name in change.later]
    said += said_of_order(change.ordered)
    return [*said, *said_of_limit(change.table, change.limit)]


def said_of_order(ordered: Sequence[tuple[str, str]]) -> Lines:
    return [f"The {day_words(second)} cannot be before the {day_words(first)}." for first, second in ordered]


def day_words(column: str) -> str:
    """`closed_on` is the date closed, `return_date` the return date."""
    parts = [part for part in column.split("_") if part not in ("on", "at")]
    return " ".join(parts) if {"date", "day"} & set(parts) else f"date {' '.join(parts)}"


def said_of_limit(table: Table, limit: Limit | None) -> Lines:
    if limit is None:
        return []
    column = words(limit.column)
    room = f"as it has {column}" if column.endswith("s") else f"as its {column} allows"
    return [f"Fails with not_available where the {parent_noun(limit.link)} has as many open {nouns(table)} {room}."]


def parent_noun(link: ForeignKey) -> str:
    """What a row is called that a key leads to."""
    return singular(link.table).replace("_", " ")


def either(values: Sequence[str]) -> str:
    """`'open' or 'waiting'`."""
    quoted = tuple(f"'{value}'" for value in values)
    return listed(quoted).replace(" and ", " or ")


def shown_state(value: str | int | float | bool) -> str:
    return f"'{value}'" if isinstance(value, str) else str(value).lower()
