"""Tests of a tool by what it says that it does to the data: no code, and no test, of whoever wrote it.

An operation (`get` on books by `book_id`, `count` of loans by member) is asked of the raw files in SQL, for some rows,
and the tool has to agree. How it shows rows is left to it: values are looked up at the output paths that it declares.
"""

import random
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

from agent_world.agents.coder.cases import Case, assigned, unknown
from agent_world.agents.coder.data import Data, Row, cell
from agent_world.agents.coder.draft import UnitTest
from agent_world.agents.coder.writing_tests import free_rows
from agent_world.schema import Column, Operation, Table, ToolSpec
from agent_world.tools.sql import sql_name

SAMPLES = 3
WHOLE = 5
"""So few rows are shown whole by any list."""
NOTHING = 1e-3
"""Share by which a rounded figure may be off."""
ORACLE_HEAD = '''def shown(got, path):
    """All values at a dotted path of a result; `[]` steps into a list."""
    found = [got]
    for step in path.split("."):
        name, inside = step.removesuffix("[]"), step.endswith("[]")
        found = [one[name] for one in found] if name else found
        found = [item for one in found for item in one] if inside else found
    return found


def tried(function, calls):
    """The first of the calls that is not refused, with its result and what it changed; a refusal changes nothing."""
    refusals = []
    for given in calls:
        before = stored()
        try:
            got = function(**given)
        except tools.ToolError as error:
            assert changes(before) == {}, f"{given} was refused, and yet the database changed"
            refusals.append(f"{error.code}: {error}" if hasattr(error, "code") else str(error))
        else:
            return given, got, changes(before)
    raise AssertionError(f"each of {calls} was refused: {refusals[0]}")


def same(cell, value, kind):
    """Whether a stored cell holds a value; CSV and Markdown cells are text."""
    if isinstance(cell, str) and kind != "string":
        return cell == (str(value).lower() if kind == "boolean" else str(value)) or (
            kind == "number" and float(cell or "nan") == value
        )
    return cell == value


def never(function, /, **given):
    """The call is refused, and changes nothing."""
    before = stored()
    try:
        got = function(**given)
    except tools.ToolError:
        assert changes(before) == {}, "refused, and yet the database changed"
    else:
        raise AssertionError(f"{given} was not refused: got {got!r}")'''
"""Helpers of these tests, for the head of tool_tests.py."""


@dataclass(frozen=True, slots=True)
class Asked:
    """A tool and its operation, with the column of the table that each argument stands for."""

    spec: ToolSpec
    operation: Operation
    table: Table
    columns: dict[str, str]

    @property
    def key(self) -> str | None:
        """The argument that takes the key of the table."""
        return next((name for name, column in self.columns.items() if column == self.table.primary_key), None)

    def column(self, name: str) -> Column:
        return self.table.column(self.columns[name])


def oracle_tests(data: Data, spec: ToolSpec, seed: int) -> tuple[UnitTest, ...]:
    """Empty for a tool of which nothing can be foretold: no operation, or arguments that stand for nothing."""
    asked = _asked(data, spec)
    if asked is None or not data.rows[asked.table.name]:
        return ()
    maker = MAKERS.get(asked.operation.kind)
    rng = random.Random(f"{seed}:{spec.name}:oracle")
    cases = list(maker(data, asked, rng)) if maker else []
    return tuple(case.unit_test(spec.name).model_copy(update={"oracle": True}) for case in cases)


def _asked(data: Data, spec: ToolSpec) -> Asked | None:
    operation = spec.operation
    if operation is None:
        return None
    table = data.table(operation.table)
    columns: dict[str, str] = {}
    for name, target in operation.inputs.items():
        owner, _, column = target.partition(".")
        links = [k.column for k in table.foreign_keys if (k.table, k.target) == (owner, column)]
        own = operation.column if operation.column in links and operation.kind != "create" else None
        found = column if owner == table.name else own or next(iter(links), None)
        if found is None:
            return None
        columns[name] = found
    known = set(spec.input_schema.get("required", ())) <= set(columns)
    return Asked(spec, operation, table, columns) if known else None


def _required(asked: Asked) -> list[str]:
    return [name for name in asked.columns if name in asked.spec.input_schema.get("required", ())]


def _call(asked: Asked, given: dict[str, Any]) -> str:
    return f"tools.{asked.spec.name}({', '.join(f'{name}={value!r}' for name, value in given.items())})"


def _paths(asked: Asked, listed: bool) -> dict[str, str]:
    """Output path -> column of the table, of those that step into one list, or into none."""
    outputs = {path: target.partition(".") for path, target in asked.operation.outputs.items()}
    return {p: c for p, (t, _, c) in outputs.items() if t == asked.table.name and p.count("[]") == int(listed)}


# --- Reading -------------------------------------------------------------------------------------------------


def _get(data: Data, asked: Asked, rng: random.Random) -> Iterator[Case]:
    key, paths = asked.key, _paths(asked, listed=False)
    if key is None or _required(asked) != [key]:
        return
    rows = data.rows[asked.table.name]
    for number, row in enumerate(rng.sample(rows, min(SAMPLES, len(rows))), 1):
        right = tuple(f"check(shown(got, {path!r}), [{row[column]!r}])" for path, column in paths.items())
        yield Case(f"against the data {number}", (f"got = {_call(asked, {key: row[asked.table.primary_key]})}", *right))
    missing = unknown(data.values(asked.table, asked.table.primary_key), asked.column(key))
    yield Case("against the data refuses an unknown key", (f"never(tools.{asked.spec.name}, {key}={missing!r})",))


def _list(data: Data, asked: Asked, rng: random.Random) -> Iterator[Case]:
    """What is shown are rows that are asked for; few of them are shown whole."""
    paths = _paths(asked, listed=True)
    search = asked.operation.kind == "search"
    for number, given in enumerate(_filters(data, asked, rng), 1):
        rows = _matching(data, asked, given, search)
        lines = [f"got = {_call(asked, given)}"]
        for path, column in paths.items():
            values = [row[column] for row in rows]
            lines += [*assigned("left", values), f"for value in shown(got, {path!r}):"]
            lines += ['    assert value in left, f"{value!r} is none of the rows that are asked for"']
            lines += ["    left.remove(value)"]
            lines += ['assert not left, f"left out: {left!r}"'] if len(rows) <= WHOLE else []
        total = f'assert got.get("total", {len(rows)}) == {len(rows)}, "total is not {len(rows)}"'
        yield Case(f"against the data {number}", (*lines, "if isinstance(got, dict):", f"    {total}"))


def _filters(data: Data, asked: Asked, rng: random.Random) -> list[dict[str, Any]]:
    """Arguments as rows have them, such that there is something to be found."""
    names, found = _required(asked), []
    rows = [row for row in data.rows[asked.table.name] if all(row[asked.columns[n]] not in (None, "") for n in names)]
    for row in rng.sample(rows, min(SAMPLES, len(rows))):
        given = {name: row[asked.columns[name]] for name in names}
        found += [given] if given not in found else []
    return found


def _matching(data: Data, asked: Asked, given: dict[str, Any], search: bool = False) -> list[Row]:
    """A search finds parts of texts, whatever their case."""
    tests = []
    for name in given:
        column = sql_name(asked.columns[name])
        text = search and asked.column(name).type == "string"
        tests.append(f"instr(fold({column}), fold(?)) > 0" if text else f"{column} = ?")
    return data.select(asked.table, f"WHERE {' AND '.join(tests)}" if tests else "", *given.values())


def _count(data: Data, asked: Asked, rng: random.Random) -> Iterator[Case]:
    for number, given in enumerate(_filters(data, asked, rng), 1):
        right = f'check({_call(asked, given)}["count"], {len(_matching(data, asked, given))})'
        yield Case(f"against the data {number}", (right,))


def _aggregate(data: Data, asked: Asked, rng: random.Random) -> Iterator[Case]:
    functions: dict[str | None, Callable[[list[Any]], float]] = {
        "sum": sum, "min": min, "max": max, "mean": lambda values: sum(values) / len(values)
    }  # fmt: skip
    function = functions.get(asked.operation.function)
    column = next((c for c in asked.table.columns if c.name == asked.operation.column), None)
    if function is None or column is None or column.type not in ("integer", "number"):
        return
    for number, given in enumerate(_filters(data, asked, rng), 1):
        values = [row[column.name] for row in _matching(data, asked, given) if row[column.name] is not None]
        if values:
            expected = function(values)
            off = f"abs(value - {expected!r}) <= {NOTHING} * max(1, abs({expected!r}))"
            said = f'f"got {{value!r}}, where the rows say {expected!r}"'
            lines = (f'value = {_call(asked, given)}["value"]', f"assert {off}, {said}")
            yield Case(f"against the data {number}", lines)


# --- Writing -------------------------------------------------------------------------------------------------


def _update(data: Data, asked: Asked, rng: random.Random) -> Iterator[Case]:
    key, table = asked.key, asked.table
    if key is None or key not in _required(asked):
        return
    calls, expected = [], {}
    rows = data.rows[table.name]
    for row in rng.sample(rows, min(2 * SAMPLES, len(rows))):
        given = {n: _value(data, asked, n, row, rng) for n in _required(asked) if n != key}
        if None not in given.values() and any(row[asked.columns[n]] != v for n, v in given.items()):
            calls.append({key: row[table.primary_key], **given})
            new = {asked.columns[n]: v for n, v in given.items() if row[asked.columns[n]] != v}
            expected[f"{table.name}/{row[table.primary_key]}"] = {c: cell(table, c, v) for c, v in new.items()}
    if calls:
        lines = [*assigned("calls", calls), *assigned("expected", expected)]
        lines += [f"given, got, changed = tried(tools.{asked.spec.name}, calls)"]
        lines += [f'place = f"{table.name}/{{given[{key!r}]}}"', "check(changed, {place: expected[place]})"]
        yield Case("against the data changes what it says", tuple(lines))
        missing = unknown(data.values(table, table.primary_key), asked.column(key))
        yield Case("against the data refuses an unknown key", (
            f"never(tools.{asked.spec.name}, **{calls[0] | {key: missing}!r})",
        ))  # fmt: skip


def _value(data: Data, asked: Asked, name: str, row: Row, rng: random.Random) -> Any:
    """Another value that the column may have."""
    column = asked.columns[name]
    link = next((k for k in asked.table.foreign_keys if k.column == column), None)
    known = data.values(data.table(link.table), link.target) if link else data.values(asked.table, column)
    allowed = asked.spec.input_schema.get("properties", {}).get(name, {}).get("enum")
    fit = sorted({v for v in known if v not in (None, "") and (allowed is None or v in allowed)}, key=repr)
    others = [v for v in fit if v != row[column]] or fit
    return rng.choice(others) if others else None


def _create(data: Data, asked: Asked, rng: random.Random) -> Iterator[Case]:
    table, names = asked.table, _required(asked)
    calls = []
    for row in rng.sample(data.rows[table.name], min(2 * SAMPLES, len(data.rows[table.name]))):
        given = {n: _value(data, asked, n, row, rng) for n in names}
        fresh = [n for n in names if asked.columns[n] in (table.primary_key, table.label)]
        given |= {n: unknown(data.values(table, asked.columns[n]), asked.column(n)) for n in fresh}
        calls += [given] if None not in given.values() else []
    if calls:
        lines = [*assigned("calls", calls), f"given, got, changed = tried(tools.{asked.spec.name}, calls)"]
        lines += [f'assert len(changed) == 1, f"one row of {table.name} is added, not {{changed!r}}"']
        lines += ["(place, row), = changed.items()", f'assert row and place.startswith("{table.name}/"), place']
        for name in names:
            kind = table.column(asked.columns[name]).type
            lines.append(f'assert same(row["{asked.columns[name]}"], given["{name}"], "{kind}"), row')
        yield Case("against the data adds one row", tuple(lines))


def _delete(data: Data, asked: Asked, rng: random.Random) -> Iterator[Case]:
    key, table = asked.key, asked.table
    free = free_rows(data, table)
    if key is None or _required(asked) != [key]:
        return
    if free:
        calls = [{key: row[table.primary_key]} for row in rng.sample(free, min(SAMPLES, len(free)))]
        lines = [*assigned("calls", calls), f"given, got, changed = tried(tools.{asked.spec.name}, calls)"]
        lines += [f'check(changed, {{f"{table.name}/{{given[{key!r}]}}": None}})']
        yield Case("against the data removes the row alone", tuple(lines))
    missing = unknown(data.values(table, table.primary_key), asked.column(key))
    yield Case("against the data refuses an unknown key", (f"never(tools.{asked.spec.name}, {key}={missing!r})",))


MAKERS: dict[str, Callable[[Data, Asked, random.Random], Iterator[Case]]] = {
    "get": _get, "search": _list, "list": _list, "related": _list, "count": _count, "aggregate": _aggregate,
    "create": _create, "update": _update, "delete": _delete,
}  # fmt: skip
