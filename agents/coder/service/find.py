"""A key by what people know: `find_user_id_by_email(email)`, by one column or several that together mean one row."""

import random
from dataclasses import dataclass
from typing import Any

from agent_world.agents.coder.cases import REWRITABLE, Case, checked
from agent_world.agents.coder.data import Data, Row
from agent_world.agents.coder.draft import WrittenTool
from agent_world.agents.coder.service.details import READS, closed, function, tool_spec, written
from agent_world.agents.coder.service.real import Real
from agent_world.agents.coder.words import listed, noun, words
from agent_world.schema import Operation, Table
from agent_world.tools.sql import sql_name

LEAST_SINGLE = 0.9
"""Share of the rows that their values must tell apart for a search by them to make sense."""


@dataclass(frozen=True, slots=True)
class Find:
    table: Table
    columns: tuple[str, ...]
    """Of the arguments, which are called the same."""


def plan_find(real: Real, data: Data) -> Find | None:
    if real.words[0] not in READS or "by" not in real.words or not real.required:
        return None
    wanted = real.words[: real.words.index("by")]
    for table in [t for t in data.tables if t.primary_key.rpartition("_")[2] in wanted]:
        columns = {c.name for c in table.columns if c.type == "string" and c.name != table.primary_key}
        if real.about(table) and set(real.required) <= columns and data.rows[table.name]:
            known = [tuple(row[c].casefold() for c in real.required) for row in _full(data, table, real.required)]
            if len(set(known)) >= LEAST_SINGLE * len(data.rows[table.name]):
                return Find(table, real.required)
    return None


def _full(data: Data, table: Table, columns: tuple[str, ...]) -> list[Row]:
    return [row for row in data.rows[table.name] if all(row[c] for c in columns)]


def write_find(real: Real, data: Data, plan: Find, seed: int) -> WrittenTool:
    table, key = plan.table, plan.table.primary_key
    known = listed(tuple(words(column) for column in plan.columns))
    text = (
        f"Find the {words(key)} of the {noun(table)} with this {known}, ignoring case. Fails with not_found where "
        "there is none, and with ambiguous where there are several."
    )
    shown = {c: {"type": "string", "minLength": 1, "description": f"The {words(c)}, in full."} for c in plan.columns}
    output = closed({key: {"type": table.column(key).type}})
    operation = Operation(
        kind="custom", table=table.name, function="find", inputs={c: f"{table.name}.{c}" for c in plan.columns},
        outputs={key: f"{table.name}.{key}"},
    )  # fmt: skip
    spec = tool_spec(real, text, closed(shown), output, operation, reads=True)
    source = function(real, text, _body(plan), {c: table.column(c) for c in plan.columns})
    return written(real, spec, source, _cases(real, data, plan, random.Random(f"{seed}:{real.name}:tests")), seed)


def _body(plan: Find) -> list[str]:
    table, key = plan.table, plan.table.primary_key
    lines = [f'_checked("{c}", {c}, str)' for c in plan.columns]
    lines.append(f'$$found = _rows("{table.name}")')
    lines += [
        f'$$found = [$$row for $$row in $$found if ($$row["{c}"] or "").casefold() == {c}.casefold()]'
        for c in plan.columns
    ]
    said = " and ".join(f"{words(c)} {{{c}!r}}" for c in plan.columns)
    return [
        *lines,
        "if not $$found:",
        f'    raise ToolError("not_found", f"There is no {noun(table)} with {said}.")',
        "if len($$found) > 1:",
        f'    raise ToolError("ambiguous", f"There are {{len($$found)}} {noun(table)} rows with {said}.")',
        f'return {{"{key}": $$found[0]["{key}"]}}',
    ]


def _cases(real: Real, data: Data, plan: Find, rng: random.Random) -> list[Case]:
    table, key = plan.table, plan.table.primary_key
    rows = [row for row in _full(data, table, plan.columns) if len(_same(data, plan, row)) == 1]
    named = (("finds one", rng.choice(rows)), ("finds the first", rows[0]), ("finds the last", rows[-1]))
    found = [Case(name, checked(_call(real, _known(plan, row)), {key: row[key]})) for name, row in named]
    last = rows[-1]
    swapped = {c: last[c].swapcase() for c in plan.columns}
    found.append(Case("ignores case", checked(_call(real, swapped), {key: last[key]})))
    for column in plan.columns:
        bad = {**_known(plan, last), column: "no-such-" + column}
        found.append(Case(f"refuses an unknown {column}", _refused(real, "not_found", bad)))
    found.append(Case("refuses an empty text", _refused(real, "invalid_value", {**swapped, plan.columns[0]: " "})))
    for column in plan.columns:
        found.append(
            Case(
                f"refuses a wrong type of {column}", _refused(real, "invalid_value", {**_known(plan, last), column: 7})
            )
        )
    if table.format in REWRITABLE:
        found += _rewritten(real, plan, last)
    several = next((r for r in _full(data, table, plan.columns) if len(_same(data, plan, r)) > 1), None)
    if several:
        found.append(Case("refuses what several have", _refused(real, "ambiguous", _known(plan, several))))
    given = _arguments(_known(plan, last))
    return [*found, Case("without its tables is broken", (f"broken({[table.name]!r}, tools.{real.name}, {given})",))]


def _rewritten(real: Real, plan: Find, row: Row) -> list[Case]:
    """On rows as the files do not have them: the other way about in case, and two that are called the same."""
    table, key = plan.table, plan.table.primary_key
    swapped = {c: f"{row[c].swapcase()}Qq" for c in plan.columns}
    other = [f'rows = stored("{table.name}")', f"rows[-1] |= {swapped!r}", f'rewrite("{table.name}", rows)']
    given, asked = _arguments(_known(plan, row)), {c: f"{row[c]}qQ" for c in plan.columns}
    cased = Case("ignores the case of what is stored", (*other, *checked(_call(real, asked), {key: row[key]})))
    same = [
        other[0],
        f"rows[0] |= {_known(plan, row)!r}",
        other[2],
        f'refused("ambiguous", tools.{real.name}, {given})',
    ]
    return [cased, Case("refuses what two are called", tuple(same))]


def _known(plan: Find, row: Row) -> dict[str, Any]:
    return {column: row[column] for column in plan.columns}


def _same(data: Data, plan: Find, row: Row) -> list[Row]:
    where = " AND ".join(f"fold({sql_name(c)}) = fold(?)" for c in plan.columns)
    return data.select(plan.table, f"WHERE {where}", *(row[c] for c in plan.columns))


def _arguments(given: dict[str, Any]) -> str:
    return ", ".join(f"{name}={value!r}" for name, value in given.items())


def _call(real: Real, given: dict[str, Any]) -> str:
    return f"tools.{real.name}({_arguments(given)})"


def _refused(real: Real, code: str, given: dict[str, Any]) -> tuple[str, ...]:
    return (f'refused("{code}", tools.{real.name}, {_arguments(given)})',)
