"""Unit tests of tools that read. What is expected comes from SQL on the oracle's copy of the data."""

import random
from collections import Counter
from typing import Any

from agent_world.agents.coder.cases import REWRITABLE, Case, call, checked, paged, refused, telling, unknown
from agent_world.agents.coder.data import Data, Row
from agent_world.agents.coder.design import Design
from agent_world.agents.coder.spec import MOST, TOP, joined_name, optional, places, shown
from agent_world.tools.sql import sql_name

SQL_FUNCTIONS = {"mean": "AVG", "sum": "SUM", "max": "MAX", "min": "MIN"}


def get_cases(data: Data, design: Design, rng: random.Random) -> list[Case]:
    names = ("returns the whole row", "returns the last row", "returns another row", "returns one more row")
    rows = telling(data, design, rng)
    found = [
        Case(name, checked(call(design, key=row[design.key]), _joined(data, design, row)))
        for name, row in zip(names, rows, strict=False)
    ]
    key = design.table.column(design.key)
    missing = unknown(data.values(design.table, design.key), key)
    return [*found, Case("refuses an unknown key", refused(design, "not_found", key=missing))]


def _joined(data: Data, design: Design, row: Row) -> Row:
    if design.kind != "joined" or design.link is None:
        return row
    parent, value = data.table(design.link.table), row[design.link.column]
    sql = (
        f"SELECT {sql_name(design.column or '')} FROM {sql_name(parent.name)} WHERE {sql_name(design.link.target)} = ?"
    )
    return {**row, joined_name(design): None if value is None else data.ask(sql, value)}


# --- Lists ---------------------------------------------------------------------------------------------


def search_cases(data: Data, design: Design, rng: random.Random) -> list[Case]:
    texts = [v for v in data.values(design.table, design.column or "") if v]
    whole, part = rng.choice(texts), _part(texts)
    every = _containing(data, design, part)
    columns = shown(data, design)
    found = [
        Case(
            "finds a whole text",
            checked(call(design, query=whole), paged(_containing(data, design, whole), columns, MOST)),
        ),
        Case("ignores case", checked(call(design, query=part.swapcase()), paged(every, columns, MOST))),
        Case("pages through", checked(call(design, query=part, limit=2, offset=1), paged(every, columns, 2, 1))),
        Case("finds nothing", checked(call(design, query="zq#zq"), paged([], columns, MOST))),
        Case("refuses an empty text", refused(design, "invalid_value", query=" ")),
    ]
    return [*found, *_other_case(design, data.rows[design.table.name][-1], columns)]


def _other_case(design: Design, row: Row, columns: tuple[str, ...]) -> list[Case]:
    """A text with letters of both cases, whatever the data has."""
    table, column = design.table.name, design.column or ""
    if design.table.format not in REWRITABLE:
        return []
    put = (f'rows = stored("{table}")', f'rows[-1]["{column}"] = "Of ZqXzQ"', f'rewrite("{table}", rows)')
    expected = paged([{**row, column: "Of ZqXzQ"}], columns, MOST)
    return [Case("ignores the case of what is stored", (*put, *checked(call(design, query="zQxZ"), expected)))]


def _containing(data: Data, design: Design, text: str) -> list[Row]:
    return data.select(design.table, f"WHERE instr(fold({sql_name(design.column or '')}), fold(?)) > 0", text)


def _part(texts: list[str]) -> str:
    """The three letters that most texts share, in the case in which they occur most."""
    seen = Counter(p for text in texts for p in {text[i : i + 3] for i in range(len(text) - 2)} if p.isalpha())
    return max(seen, key=lambda p: (seen[p], p)) if seen else texts[0]


def list_cases(data: Data, design: Design, rng: random.Random) -> list[Case]:
    columns = shown(data, design)
    if design.by is None:
        rows = data.select(design.table)
        return [
            Case("gives the first rows", checked(call(design), paged(rows, columns, MOST))),
            Case("pages through", checked(call(design, limit=3, offset=2), paged(rows, columns, 3, 2))),
            Case("ends after the last row", checked(call(design, offset=len(rows)), paged(rows, columns, 0))),
        ]
    big, small = _extremes(data, design)
    many, few = _group(data, design, big), _group(data, design, small)
    found = [
        Case("gives the largest group", checked(call(design, by=big), paged(many, columns, MOST))),
        Case("gives the smallest group", checked(call(design, by=small), paged(few, columns, MOST))),
        Case("pages through", checked(call(design, by=big, limit=2, offset=1), paged(many, columns, 2, 1))),
        Case("ends after the last row", checked(call(design, by=big, offset=len(many)), paged(many, columns, 0))),
        Case("refuses a page that is none", _no_page(design, big)),
    ]  # fmt: skip
    return found + _outside(data, design, paged([], columns, MOST))


def _no_page(design: Design, by: Any) -> tuple[str, ...]:
    zero, before = (refused(design, "invalid_value", by=by, **bad) for bad in ({"limit": 0}, {"offset": -1}))
    return (*zero, *before)


def count_cases(data: Data, design: Design, rng: random.Random) -> list[Case]:
    big, small = _extremes(data, design)
    other = rng.choice([v for v in data.values(design.table, design.by or "") if v is not None])
    sql = f"SELECT count(*) FROM {sql_name(design.table.name)} WHERE {sql_name(design.by or '')} = ?"
    named = {"counts the largest group": big, "counts the smallest group": small, "counts another group": other}
    unlike = {name: value for i, (name, value) in enumerate(named.items()) if value not in list(named.values())[:i]}
    found = [
        Case(name, checked(call(design, by=value), {"count": data.ask(sql, value)})) for name, value in unlike.items()
    ]
    return found + _outside(data, design, {"count": 0})


def _outside(data: Data, design: Design, nothing: Any) -> list[Case]:
    """A group that has no rows, and one that does not exist."""
    column = design.table.column(design.by or "")
    if design.link is None:
        if column.type == "boolean":
            return []
        value = unknown(data.values(design.table, column.name), column)
        return [Case("gives nothing for an unknown group", checked(call(design, by=value), nothing))]
    parent = data.table(design.link.table)
    keys = data.values(parent, design.link.target)
    missing = unknown(keys, parent.column(design.link.target))
    found = [Case("refuses an unknown group", refused(design, "not_found", by=missing))]
    used = set(data.values(design.table, column.name))
    empty = next((key for key in keys if key is not None and key not in used), None)
    if empty is not None:
        found.append(Case("gives nothing for an empty group", checked(call(design, by=empty), nothing)))
    return found


def _extremes(data: Data, design: Design) -> tuple[Any, Any]:
    """The value with the most rows and the one with the fewest."""
    seen = Counter(v for v in data.values(design.table, design.by or "") if v is not None)
    ordered = sorted(seen, key=lambda v: (-seen[v], repr(v)))
    return ordered[0], ordered[-1]


def _group(data: Data, design: Design, value: Any, rest: str = "") -> list[Row]:
    return data.select(design.table, f"WHERE {sql_name(design.by or '')} = ? {rest}", value)


# --- Numbers -------------------------------------------------------------------------------------------


def aggregate_cases(data: Data, design: Design, rng: random.Random) -> list[Case]:
    found = [Case("covers all rows", _value(data, design))]
    if design.table.format in REWRITABLE:
        nothing = (f'rewrite("{design.table.name}", [])', *refused(design, "not_found"))
        found.append(Case("refuses where there are no rows", nothing))
    if design.by is None:
        return [*found, Case("refuses an argument it does not have", _no_argument(design))]
    seen = Counter(row[design.by] for row in data.rows[design.table.name] if row[design.column or ""] is not None)
    del seen[None]
    groups = sorted(seen, key=lambda v: (-seen[v], repr(v)))
    for name, value in zip(("covers the largest group", "covers another group"), (groups[0], groups[-1]), strict=True):
        found.append(Case(name, _value(data, design, value)))
    return found + _no_values(data, design)


def _no_values(data: Data, design: Design) -> list[Case]:
    """Groups without a number: one that does not exist, and one that has no rows."""
    column = design.table.column(design.by or "")
    if column.type == "boolean":
        return []
    known = data.values(design.table, column.name)
    if design.link:
        known = data.values(data.table(design.link.table), design.link.target)
    missing = unknown(known, column)
    found = [Case("refuses an unknown group", refused(design, "not_found", by=missing))]
    rows = [row for row in data.rows[design.table.name] if row[design.column or ""] is not None]
    empty = next((key for key in known if key is not None and all(row[column.name] != key for row in rows)), None)
    if empty is not None:
        found.append(Case("refuses a group without values", refused(design, "not_found", by=empty)))
    return found


def _no_argument(design: Design) -> tuple[str, ...]:
    return (
        "try:",
        f"    tools.{design.name}(other=1)",
        "except TypeError:",
        "    return",
        'raise AssertionError("taken")',
    )


def _value(data: Data, design: Design, *by: Any) -> tuple[str, ...]:
    where = f"WHERE {sql_name(design.by or '')} = ?" if by else ""
    function = SQL_FUNCTIONS[design.function or ""]
    sql = f"SELECT {function}({sql_name(design.column or '')}) FROM {sql_name(design.table.name)} {where}"
    expected = data.ask(sql, *by)
    got = call(design, by=by[0]) if by else call(design)
    if isinstance(expected, int) or design.function in ("max", "min"):
        return checked(got, {"value": expected})
    return (f"close({got}, {expected!r}, places={places(data, design)})",)


def top_cases(data: Data, design: Design, rng: random.Random) -> list[Case]:
    columns, column = shown(data, design), sql_name(design.column or "")
    order = f"ORDER BY {column} DESC, rowid"
    rows = data.select(design.table, f"WHERE {column} IS NOT NULL {order}")
    found = [
        Case("gives the highest first", checked(call(design), paged(rows, columns, TOP))),
        Case("gives only the first", checked(call(design, limit=1), paged(rows, columns, 1))),
        Case("gives at most ten", checked(call(design, limit=10), paged(rows, columns, MOST))),
        Case("refuses a limit of zero", refused(design, "invalid_value", limit=0)),
    ]
    if design.by and optional(design, "by"):
        big, _ = _extremes(data, design)
        group = _group(data, design, big, f"AND {column} IS NOT NULL {order}")
        found.append(Case("keeps to one group", checked(call(design, by=big), paged(group, columns, TOP))))
    return found
