"""A chain of calls computed by SQL over the raw tables, from what each tool is known to do."""

from collections.abc import Mapping
from typing import Any

from agent_world.agents.synthesizer.plan_database import Tables, Undetermined, difference, quoted
from agent_world.agents.synthesizer.plan_rule import drawn, new_row, rule_statements
from agent_world.agents.synthesizer.world import PAGE, Action, World, inside_of
from agent_world.agents.validator.literals import references
from agent_world.agents.validator.replay import MissingPath, at, folded
from agent_world.schema import Answer, Chain, Fold, Ref, StateDiff, Step
from agent_world.tools.sql import sql_name

TOP = 5
"""Rows of a ranking where the call does not say how many."""
_FUNCTIONS = {"sum": "sum", "min": "min", "max": "max"}


def solve_chain(world: World, chain: Chain, says_one: bool = True) -> tuple[dict[str, Any], StateDiff]:
    """Answer and state change. Raises `Undetermined` for a tool that nothing is known of, or a step that names
    several rows where the chain takes the first: of a search, and with `says_one` of a list too."""
    tables = world.sql
    before = {table: tables.rows(table) for table in tables.schema}
    tables.connection.execute("SAVEPOINT chain")
    try:
        outputs: list[Any] = []
        for number, step in enumerate(chain.steps):
            outputs.append(_run(world, tables, step, outputs))
            if _takes_first(world, chain, number, says_one) and len(outputs[-1]["items"]) != 1:
                raise Undetermined(f"step {number + 1} finds {len(outputs[-1]['items'])} rows where one is meant")
        answer = {key: _bound(argument, outputs) for key, argument in chain.answer.items()}
        changes = tuple(c for t in sorted(before) for c in difference(t, before[t], tables.rows(t)))
    finally:
        tables.connection.execute("ROLLBACK TO chain")
        tables.connection.execute("RELEASE chain")
    return answer, StateDiff(changes=changes)


def _takes_first(world: World, chain: Chain, step: int, says_one: bool) -> bool:
    action = world.action(chain.steps[step].tool)
    if action is None or (action.kind != "search" and not says_one):
        return False  # a list that is gone through: the best of it may be the first
    used = [ref.path for ref in references(chain) if ref.step == step]
    return bool(used) and all(path.startswith("items.0.") for path in used)


def _bound(argument: Answer, outputs: list[Any]) -> Any:
    try:
        if isinstance(argument, Fold):
            return folded(argument, [_bound(ref, outputs) for ref in argument.of])
        if not isinstance(argument, Ref):
            return argument.value
        return at(outputs[argument.step], argument.path, f"step {argument.step + 1}")
    except MissingPath as problem:
        raise Undetermined(f"by SQL, {problem}") from problem


def _run(world: World, tables: Tables, step: Step, outputs: list[Any]) -> Any:
    action = world.action(step.tool)
    known = action is not None and (action.rule or action.operation.function in ("top", "reassign"))
    if action is None or (action.kind == "custom" and not known):
        raise Undetermined(f"nothing is known of what {step.tool} does")
    given = {argument: _bound(value, outputs) for argument, value in step.arguments.items()}
    if action.rule is not None and action.rule.adds is not None:
        return _placed(tables, action, given)
    if action.rule is not None:
        for statement in rule_statements(tables, action, given):
            tables.connection.execute(statement)
        return _one(tables, action, given)
    match action.kind:
        case "create":
            return _created(tables, action, given)
        case "get" | "update" | "delete":
            return _one(tables, action, given)
        case "count":
            return {"count": tables.one(f"SELECT count(*) {_rows(action, given)}")}
        case "aggregate":
            function = _FUNCTIONS.get(action.operation.function or "", "avg")
            return {
                "value": tables.one(
                    f"SELECT {function}(r.{sql_name(action.operation.column or '')}) {_rows(action, given)}"
                )
            }
    if action.operation.function == "reassign":
        return _moved(tables, action, given)
    rows = _page(action, _found(tables, action, f"SELECT * {_rows(action, given)}"), given)
    paths = {path: target for path, target in action.operation.outputs.items() if "[]" in path}
    shown = {path.rpartition("[].")[2]: target for path, target in paths.items()}
    total = tables.one(f"SELECT count(*) {_rows(action, given)}")
    return {"items": [_shown(tables, action, row, shown) for row in rows], "total": total}


def _page(action: Action, rows: list[dict[str, Any]], given: Mapping[str, Any]) -> list[dict[str, Any]]:
    """What one call shows: of a ranking the first `limit`, of a list the page from `offset` on."""
    if action.operation.function == "top":
        column = action.operation.column or ""
        known = sorted((row for row in rows if row[column] is not None), key=lambda row: row[column], reverse=True)
        return known[: given.get("limit", TOP)]
    start = given.get("offset", 0)
    return rows[start : start + given.get("limit", PAGE)]


def _moved(tables: Tables, action: Action, given: Mapping[str, Any]) -> dict[str, Any]:
    """All rows of one parent go to another."""
    table, column = sql_name(action.table.name), sql_name(action.operation.column or "")
    source = next(value for argument, value in given.items() if argument.startswith("from"))
    target = next(value for argument, value in given.items() if argument.startswith("to"))
    moved = tables.one(f"SELECT count(*) FROM {table} WHERE {column} = {quoted(source)}")
    tables.connection.execute(f"UPDATE {table} SET {column} = {quoted(target)} WHERE {column} = {quoted(source)}")
    return {"moved": moved}


def _rows(action: Action, given: Mapping[str, Any]) -> str:
    conditions = []
    for argument, value in given.items():
        column = action.filters.get(argument)
        if column is None:
            continue
        if action.kind == "search":
            conditions.append(f"instr(fold(r.{sql_name(column)}), fold({quoted(value)})) > 0")
        else:
            conditions.append(f"r.{sql_name(column)} = {quoted(value)}")
    return f"FROM {sql_name(action.table.name)} r WHERE {' AND '.join(conditions) or '1'}"


def _found(tables: Tables, action: Action, sql: str) -> list[dict[str, Any]]:
    columns = [column.name for column in action.table.columns]
    return [dict(zip(columns, row, strict=True)) for row in tables.all(sql)]


def _one(tables: Tables, action: Action, given: Mapping[str, Any]) -> Any:
    """The row of a key: as it is, as it is after an update, or as it was before it was deleted."""
    table, key = sql_name(action.table.name), given.get(action.key or "")
    where = f"WHERE {sql_name(action.table.primary_key)} = {quoted(key)}"
    if action.kind == "update":
        cells = [f"{sql_name(c)} = {quoted(given[a])}" for a, c in action.values.items() if a in given]
        tables.connection.execute(f"UPDATE {table} SET {', '.join(cells)} {where}")
    rows = _found(tables, action, f"SELECT * FROM {table} {where}")
    if len(rows) != 1:
        raise Undetermined(f"{len(rows)} rows of {action.table.name} have the key {key!r}")
    outputs = {path: target for path, target in action.operation.outputs.items() if "[]" not in path}
    shown = _shown(tables, action, rows[0], outputs) | _inside(tables, action, rows[0])
    if action.kind == "delete":
        tables.connection.execute(f"DELETE FROM {table} {where}")
    return shown


def _inside(tables: Tables, action: Action, row: Mapping[str, Any]) -> dict[str, Any]:
    """What the tool shows with a row: its parts, or their keys."""
    shown: dict[str, Any] = {}
    for inner in inside_of(dict(tables.schema), action):
        link = next(iter(inner.filters.values()))
        value = quoted(row[action.table.primary_key])
        found = _found(
            tables, inner, f"SELECT * FROM {sql_name(inner.table.name)} r WHERE r.{sql_name(link)} = {value}"
        )
        path = next(iter(inner.paths.values()))
        columns = {column: place.partition("[]")[2].removeprefix(".") for column, place in inner.paths.items()}
        bare = path.endswith("[]")
        truths = [c.name for c in inner.table.columns if c.type == "boolean"]
        found = [{**r, **{c: bool(r[c]) for c in truths if r[c] is not None}} for r in found]
        items = [r[next(iter(columns))] if bare else {name: r[c] for c, name in columns.items()} for r in found]
        shown[path.partition("[]")[0]] = items
    return shown


def _created(tables: Tables, action: Action, given: Mapping[str, Any]) -> Any:
    row = {column: given.get(argument) for argument, column in action.values.items()}
    key = action.table.primary_key
    if row.get(key) is None and action.table.column(key).type == "integer":
        row[key] = tables.one(f"SELECT max({sql_name(key)}) + 1 FROM {sql_name(action.table.name)}")
    return _inserted(tables, action, row)


def _placed(tables: Tables, action: Action, given: Mapping[str, Any]) -> Any:
    """A row that a business operation adds, and what it takes from stock."""
    row = new_row(tables, action, given)
    for statement in drawn(action.rule, given) if action.rule else ():
        tables.connection.execute(statement)
    return _inserted(tables, action, row)


def _inserted(tables: Tables, action: Action, row: dict[str, Any]) -> Any:
    columns, values = ", ".join(map(sql_name, row)), ", ".join(quoted(v) for v in row.values())
    tables.connection.execute(f"INSERT INTO {sql_name(action.table.name)} ({columns}) VALUES ({values})")
    full = {column.name: row.get(column.name) for column in action.table.columns}
    return _shown(tables, action, full, action.operation.outputs)


def _shown(tables: Tables, action: Action, row: Mapping[str, Any], outputs: Mapping[str, str]) -> dict[str, Any]:
    """What the tool shows of a row: own columns, and those of the parent that a foreign key leads to."""
    shown: dict[str, Any] = {}
    for path, target in outputs.items():
        table, _, column = target.partition(".")
        value = row.get(column) if table == action.table.name else _of_parent(tables, action, row, table, column)
        kind = tables.schema[table].column(column).type
        _put(shown, path.split("."), bool(value) if kind == "boolean" and value is not None else value)
    return shown


def _of_parent(tables: Tables, action: Action, row: Mapping[str, Any], table: str, column: str) -> Any:
    link = next((k for k in action.table.foreign_keys if k.table == table), None)
    if link is None:
        return None
    where = f"WHERE {sql_name(link.target)} = {quoted(row.get(link.column))}"
    return tables.one(f"SELECT {sql_name(column)} FROM {sql_name(table)} {where}")


def _put(shown: dict[str, Any], path: list[str], value: Any) -> None:
    for part in path[:-1]:
        shown = shown.setdefault(part, {})
    shown[path[-1]] = value
