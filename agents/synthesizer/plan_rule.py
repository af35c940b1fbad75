"""A business operation computed by SQL: its conditions as queries, what it does as statements.

Written from the rule that is kept with the tool, with no code in common with the tool's own.
"""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from agent_world.agents.synthesizer.plan_database import Tables, Undetermined, quoted
from agent_world.agents.synthesizer.world import Action
from agent_world.schema import BusinessRule, NamedParts, NewRow
from agent_world.tools.sql import sql_name


def rule_statements(tables: Tables, action: Action, given: Mapping[str, Any]) -> list[str]:
    """What the operation does with these arguments. Raises `Undetermined` where its conditions do not hold."""
    rule, table = action.rule, action.table
    assert rule is not None
    assert action.key is not None
    where = f"{sql_name(table.primary_key)} = {quoted(given[action.key])}"
    columns = [column.name for column in table.columns]
    found = tables.all(f"SELECT {', '.join(map(sql_name, columns))} FROM {sql_name(table.name)} WHERE {where}")
    if len(found) != 1:
        raise Undetermined(f"{len(found)} rows of {table.name} are to be changed by {action.name} where one is meant")
    row = dict(zip(columns, found[0], strict=True))
    _check_row(tables, rule, table.name, row, given)
    parts = _parts(tables, rule.parts, row, given[rule.parts.argument]) if rule.parts else []
    statements = list(_swapped(tables, rule, parts, given)) if rule.swap else []
    statements += _spread(rule, row, given)
    cells = {column: given[argument] for argument, column in rule.sets.items() if argument in given}
    cells |= {rule.status: rule.after} if rule.status and rule.after is not None else {}
    if cells:
        values = ", ".join(f"{sql_name(column)} = {quoted(value)}" for column, value in cells.items())
        statements.append(f"UPDATE {sql_name(table.name)} SET {values} WHERE {where}")
    return statements


def _check_state(rule: BusinessRule, row: Mapping[str, Any]) -> None:
    filled = next((column for column in rule.empty if row[column] is not None), None)
    if filled:
        raise Undetermined(f"the {filled} is {row[filled]!r} already")
    if rule.status is None:
        return
    state = row[rule.status]
    if rule.needs is not None and state != rule.needs:
        raise Undetermined(f"the {rule.status} is {state!r} where it has to be {rule.needs!r}")
    if rule.among and state not in rule.among:
        raise Undetermined(f"the {rule.status} is {state!r} where it has to be one of {', '.join(rule.among)}")
    if rule.needs is None and not rule.among and state == rule.after:
        raise Undetermined(f"the {rule.status} is {rule.after!r} already")


def check_days(rule: BusinessRule, row: Mapping[str, Any], new: Mapping[str, Any]) -> None:
    """Raises `Undetermined` where new values come in the wrong order, or do not differ where they have to."""
    for first, second in rule.ordered:
        days = [new.get(column, row.get(column)) for column in (first, second)]
        if None not in days and days[0] > days[1]:
            raise Undetermined(f"the {second} {days[1]!r} is before the {first} {days[0]!r}")
    for argument in (*rule.differ, *rule.later):
        column = rule.sets[argument]
        late = argument in rule.later and row[column] is not None and new[column] <= row[column]
        if late or (argument in rule.differ and new[column] == row[column]):
            raise Undetermined(f"the {column} {new[column]!r} is no new one for {row[column]!r}")


def check_room(tables: Tables, rule: BusinessRule, table: str, given: Mapping[str, Any]) -> None:
    """Raises `Undetermined` where what is referred to cannot take one more row of `table`."""
    limit = rule.capacity
    if limit is None:
        return
    value = quoted(given[limit.argument])
    tests = [f"{sql_name(limit.column)} = {value}"]
    tests += [f"{sql_name(limit.empty)} IS NULL"] if limit.empty else []
    if limit.status:
        tests.append(f"{sql_name(limit.status)} IN ({', '.join(map(quoted, limit.states))})")
    held = tables.one(f"SELECT count(*) FROM {sql_name(table)} WHERE {' AND '.join(tests)}")
    place = f"FROM {sql_name(limit.table)} WHERE {sql_name(limit.key)} = {value}"
    room = tables.one(f"SELECT {sql_name(limit.limit)} {place}")
    if room is None or held >= room:
        raise Undetermined(f"{given[limit.argument]!r} of {limit.table} cannot take another row of {table}")


def new_row(tables: Tables, action: Action, given: Mapping[str, Any]) -> dict[str, Any]:
    """The row that an operation adds with these arguments. Raises `Undetermined` where its conditions do not hold."""
    rule, table = action.rule, action.table
    assert rule is not None
    assert rule.adds is not None
    row: dict[str, Any] = dict.fromkeys(column.name for column in table.columns)
    row |= rule.adds.fixed | {column: given[argument] for argument, column in rule.sets.items()}
    check_days(rule, {}, row)
    check_room(tables, rule, table.name, given)
    _check_had(tables, rule, given)
    for link in table.foreign_keys:
        test = f"{sql_name(link.target)} = {quoted(row[link.column])}"
        if row[link.column] is not None and not tables.one(f"SELECT count(*) FROM {sql_name(link.table)} WHERE {test}"):
            raise Undetermined(f"{row[link.column]!r} is none of the {link.table}")
    if rule.adds.numbered:
        row[table.primary_key] = _next_key(tables, action, rule.adds)
    return row


def _check_had(tables: Tables, rule: BusinessRule, given: Mapping[str, Any]) -> None:
    for named in rule.references:
        where = f"{sql_name(named.key)} = {quoted(given[named.argument])}"
        if named.flag and not tables.one(f"SELECT {sql_name(named.flag)} FROM {sql_name(named.table)} WHERE {where}"):
            raise Undetermined(f"{given[named.argument]!r} of {named.table} cannot be had")
    stock = rule.stock
    if stock:
        where = f"{sql_name(stock.key)} = {quoted(given[stock.argument])}"
        left = tables.one(f"SELECT {sql_name(stock.column)} FROM {sql_name(stock.table)} WHERE {where}")
        if left is None or not 1 <= given[stock.quantity] <= left:
            raise Undetermined(f"{given[stock.quantity]} of {given[stock.argument]!r} are not to be had")


def drawn(rule: BusinessRule, given: Mapping[str, Any]) -> list[str]:
    """What an operation that adds a row changes beside it."""
    stock = rule.stock
    if stock is None:
        return []
    column, where = sql_name(stock.column), f"{sql_name(stock.key)} = {quoted(given[stock.argument])}"
    return [f"UPDATE {sql_name(stock.table)} SET {column} = {column} - {given[stock.quantity]} WHERE {where}"]


def _next_key(tables: Tables, action: Action, adds: NewRow) -> Any:
    key, table = sql_name(action.table.primary_key), sql_name(action.table.name)
    number = f"CAST(substr({key}, {len(adds.prefix) + 1}) AS INTEGER)" if adds.prefix else key
    following = tables.one(f"SELECT max({number}) FROM {table}") + 1
    return f"{adds.prefix}{following:0{adds.width}d}" if adds.prefix else following


def _check_row(
    tables: Tables, rule: BusinessRule, table: str, row: Mapping[str, Any], given: Mapping[str, Any]
) -> None:
    _check_state(rule, row)
    check_days(rule, row, {column: given[argument] for argument, column in rule.sets.items() if argument in given})
    check_room(tables, rule, table, given)
    for named in rule.references:
        test = f"{sql_name(named.key)} = {quoted(given[named.argument])}"
        if named.shared:
            test += f" AND {sql_name(named.shared[1])} = {quoted(row[named.shared[0]])}"
        if tables.one(f"SELECT count(*) FROM {sql_name(named.table)} WHERE {test}") != 1:
            raise Undetermined(f"{given[named.argument]!r} is none of the {named.table} that may be given")


def _parts(tables: Tables, of: NamedParts, row: Mapping[str, Any], wanted: Sequence[Any]) -> list[Any]:
    """Row numbers of the parts, each once."""
    taken: list[Any] = []
    for value in wanted:
        test = f"{sql_name(of.link)} = {quoted(row[of.target])} AND {sql_name(of.column)} = {quoted(value)}"
        found = [n for (n,) in tables.all(f"SELECT rowid FROM {sql_name(of.table)} WHERE {test}") if n not in taken]
        if not found:
            raise Undetermined(f"the row has no (further) part {value!r}")
        taken.append(found[0])
    if not taken:
        raise Undetermined("no part is named")
    return taken


def _swapped(tables: Tables, rule: BusinessRule, parts: list[Any], given: Mapping[str, Any]) -> Iterator[str]:
    swap, of = rule.swap, rule.parts
    assert swap is not None
    assert of is not None
    new = given[swap.argument]
    if len(new) != len(parts):
        raise Undetermined("there are not as many new parts as old ones")
    for part, value in zip(parts, new, strict=True):
        test = f"n.{sql_name(swap.target)} = {quoted(value)} AND o.rowid = {part}"
        if swap.same:
            test += f" AND o.{sql_name(swap.same[0])} = n.{sql_name(swap.same[1])}"
        if swap.flag:
            test += f" AND n.{sql_name(swap.flag)}"
        pair = f"FROM {sql_name(of.table)} o, {sql_name(swap.table)} n WHERE {test}"
        if tables.one(f"SELECT count(*) {pair}") != 1:
            raise Undetermined(f"{value!r} is nothing that the part can be exchanged for")
        if swap.done:
            copies = {of.column: swap.target, **{column: column for column in swap.copies}}
            values = [
                f"{sql_name(m)} = {quoted(tables.one(f'SELECT n.{sql_name(t)} {pair}'))}" for m, t in copies.items()
            ]
            yield f"UPDATE {sql_name(of.table)} SET {', '.join(values)} WHERE rowid = {part}"


def _spread(rule: BusinessRule, row: Mapping[str, Any], given: Mapping[str, Any]) -> list[str]:
    spread = rule.spread
    if spread is None:
        return []
    test = f"{sql_name(spread.link)} = {quoted(row[spread.target])}"
    value = quoted(given[spread.argument])
    return [f"UPDATE {sql_name(spread.table)} SET {sql_name(spread.column)} = {value} WHERE {test}"]
