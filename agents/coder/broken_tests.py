"""The unit test that every tool has: each table that a sound call reads is taken away once, and damaged once."""

import random
from typing import Any

from agent_world.agents.coder.cases import Case
from agent_world.agents.coder.data import Data
from agent_world.agents.coder.design import Design, link_of, numbered_key
from agent_world.agents.coder.writing_tests import free_rows, fresh, new_row


def broken_case(data: Data, design: Design, rng: random.Random) -> Case:
    given, tables = _sound_call(data, design, rng)
    arguments = "".join(f", {design.arguments[part]}={value!r}" for part, value in given.items())
    return Case("without its tables is broken", (f"broken({tables!r}, tools.{design.name}{arguments})",))


def _sound_call(data: Data, design: Design, rng: random.Random) -> tuple[dict[str, Any], list[str]]:
    """Arguments by part with which the tool reads every one of the tables."""
    table, link = design.table, design.link
    rows = data.rows[table.name]
    both = list(dict.fromkeys([table.name, *([link.table] if link else [])]))
    match design.kind:
        case "get":
            return {"key": rows[0][design.key]}, [table.name]
        case "joined":
            row = next(row for row in rows if link and row[link.column] is not None)
            return {"key": row[design.key]}, both
        case "search":
            return {"query": next(v for v in data.values(table, design.column or "") if v)}, [table.name]
        case "create":
            own, row = numbered_key(table), new_row(data, design, rng)
            return {f"new:{name}": value for name, value in row.items() if name != own}, _with_parents(design)
        case "update":
            column = table.column(design.column or "")
            value = fresh(data, table, column, rng, rows[0][column.name])
            return {"key": rows[0][design.key], "value": value}, both if link_of(table, column.name) else [table.name]
        case "delete":
            row = free_rows(data, table)[0]
            return {"key": row[design.key]}, list(
                dict.fromkeys([table.name, *(child.name for child, _, _ in data.children(table))])
            )
        case "reassign":
            return _ends(data, design), both
    return _by(data, design), both if design.by else [table.name]


def _with_parents(design: Design) -> list[str]:
    return list(dict.fromkeys([design.table.name, *(key.table for key in design.table.foreign_keys)]))


def _by(data: Data, design: Design) -> dict[str, Any]:
    if design.by is None:
        return {}
    return {"by": next(v for v in data.values(design.table, design.by) if v is not None)}


def _ends(data: Data, design: Design) -> dict[str, Any]:
    assert design.link is not None
    keys = [k for k in data.values(data.table(design.link.table), design.link.target) if k is not None]
    old = next(v for v in data.values(design.table, design.column or "") if v is not None)
    return {"from": old, "to": next((key for key in keys if key != old), old)}
