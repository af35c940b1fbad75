"""How a designed tool looks from outside: description, JSON Schemas, annotations, and what it does to the data."""

import re
from typing import Any

from agent_world.agents.coder.candidates import measures
from agent_world.agents.coder.data import Data, decimals
from agent_world.agents.coder.design import Design, link_of, numbered_key
from agent_world.agents.coder.words import article, its, listed, noun, nouns, own, role, words
from agent_world.schema import Column, Operation, Table, ToolAnnotations, ToolSpec

MOST = 10
"""Most rows in one answer."""
TOP = 5
"""Rows that a ranking gives unless told otherwise."""
SHOWN = 4
"""Most columns of a row in a list: enough to choose by; the getter has the rest."""
ENUM = 15
NAMES = re.compile(r"(^|_)(name|title)$")
"""Columns that people call a row by, also where two rows share a name."""
Schema = dict[str, Any]
PAGED = ("search", "list", "related")


def spec_of(data: Data, design: Design) -> ToolSpec:
    properties, required = _inputs(data, design)
    meta: dict[str, Any] = {"agent_world/operation": operation(data, design).model_dump(mode="json")}
    if design.mirrors:
        meta["agent_world/mirrors"] = {"tool": design.mirrors, "left_out": list(design.left_out)}
    return ToolSpec(
        name=design.name,
        description=describe(data, design),
        input_schema=_object(properties, required),
        output_schema=_output(data, design),
        annotations=ToolAnnotations(read_only=not design.writes, destructive=design.kind == "delete"),
        meta=meta,
    )


# --- What a row shows ---------------------------------------------------------------------------------


def shown(data: Data, design: Design) -> tuple[str, ...]:
    """Columns of each row of a list: what it is called, what was asked for, and a little more."""
    table = design.table
    firm = [table.primary_key, table.label, design.column if design.kind in ("search", "top") else None]
    links = [k.column for k in table.foreign_keys if k.column != design.by]
    numbers = measures(data, table)
    others = [c.name for c in table.columns if c.name != design.by and c.values]
    more = [] if design.kind == "top" else [*links[:1], *numbers[:1], *others[:1], *links[1:], *numbers[1:]]
    called = [c.name for c in table.columns if c.type == "string" and NAMES.search(c.name)] if not table.label else []
    most = (SHOWN if design.kind != "top" else 3) + len(called[:2])
    return tuple(dict.fromkeys(name for name in [firm[0], *called[:2], *firm[1:], *more] if name))[:most]


def joined_name(design: Design) -> str:
    """Under which key a joined lookup shows the parent's label."""
    assert design.link is not None
    name = f"{role(design.link.column)}_{design.column}"
    return name if name not in {c.name for c in design.table.columns} else f"{name}_2"


# --- Words --------------------------------------------------------------------------------------------


def describe(data: Data, design: Design) -> str:
    table, column = design.table, own(design.table, design.column) if design.column else ""
    one, many, key = noun(table), nouns(table), own(table, design.key)
    by = words(role(design.by)) if design.link and design.by else words(design.by or "")
    rows = f"Returns at most {MOST} at a time with {_columns(data, design)}; `total` counts all."
    only = f" Optionally only those of one {by}." if design.by else ""
    match design.kind:
        case "get":
            return f"Get one {one} by its {key}, with all its fields. Fails with not_found for an unknown {key}."
        case "joined":
            return f"Get one {one} by its {key}, together with the {words(joined_name(design))} it refers to."
        case "search":
            return f"Find {many} whose {column} contains a text, ignoring case. {rows}"
        case "list" | "related":
            return f"List the {many} of one {by}, in stored order. {rows}" if design.by else f"List all {many}. {rows}"
        case "count":
            return f"Count the {many} of one {by}."
        case "aggregate":
            word = {"mean": "Average", "sum": "Total", "max": "Highest", "min": "Lowest"}[design.function or ""]
            rounded = f" Rounded to {places(data, design)} decimals." if design.function in ("mean", "sum") else ""
            return f"{word} {column} over all {many}; missing values are left out.{only}{rounded}"
        case "top":
            return f"The {many} with the highest {column}, highest first: at most {MOST}, {TOP} by default.{only}"
        case _:
            return _describe_write(data, design, one, many, key, column)


def _describe_write(data: Data, design: Design, one: str, many: str, key: str, column: str) -> str:
    if design.kind == "create":
        given = f"It gets the next {key}." if numbered_key(design.table) else f"Its {key} must be new."
        return f"Add {article(one)} and return it. {given}"
    if design.kind == "update":
        return f"Set the {column} of {article(one)}, by its {key}. Returns the {one} as it is then."
    if design.kind == "delete":
        used = " Refused with in_use while other records refer to it." if data.children(design.table) else ""
        return f"Remove {article(one)} by its {key} and return it.{used}"
    assert design.link is not None
    target = words(role(design.link.column))
    return f"Move all {many} of one {target} to another one. Returns how many were moved."


def _columns(data: Data, design: Design) -> str:
    return listed(tuple(own(design.table, name) for name in shown(data, design)))


def places(data: Data, design: Design) -> int:
    """Decimals to which a mean or a sum is rounded: 4, or as many as the data has."""
    return max(4, decimals(data.values(design.table, design.column or "")))


# --- Schemas ------------------------------------------------------------------------------------------


def _inputs(data: Data, design: Design) -> tuple[dict[str, Schema], list[str]]:
    """Properties, and which of them are required."""
    properties: dict[str, Schema] = {}
    required: list[str] = []
    for part, name in design.arguments.items():
        properties[name] = _argument(data, design, part)
        if not optional(design, part):
            required.append(name)
    if design.kind in PAGED:
        properties["limit"] = _whole(f"Most rows to return, up to {MOST}.", 1, MOST, MOST)
        properties["offset"] = _whole("Rows to skip.", 0, None, 0)
    if design.kind == "top":
        properties["limit"] = _whole(f"Most rows to return, up to {MOST}.", 1, MOST, TOP)
    return properties, required


def optional(design: Design, part: str) -> bool:
    if part == "by":
        return design.kind in ("aggregate", "top")
    return part.startswith("new:") and design.table.column(part.removeprefix("new:")).nullable


def _whole(description: str, least: int, most: int | None, default: int) -> Schema:
    bounds = {"minimum": least} | ({"maximum": most} if most else {})
    return {"type": "integer", "description": description, **bounds, "default": default}


def _argument(data: Data, design: Design, part: str) -> Schema:
    table, one = design.table, noun(design.table)
    if part == "query":
        text = f"Text that the {own(table, design.column or '')} contains; case does not matter."
        return {"type": "string", "minLength": 1, "description": text}
    if part == "key":
        return _typed(table.column(design.key), f"The {own(table, design.key)} of the {one}.")
    if part == "by":
        column = table.column(design.by or "")
        text = f"The {words(column.name)} of the {nouns(table)}."
        return _typed(column, text) | _choices(column)
    if part in ("from", "to"):
        assert design.link is not None
        parent = data.table(design.link.table)
        end = "now" if part == "from" else "afterwards"
        of = f"{words(role(design.link.column))} that the {nouns(table)} belong to"
        return _typed(parent.column(design.link.target), f"The {own(parent, design.link.target)} of the {of} {end}.")
    column = table.column(part.removeprefix("new:") if part != "value" else design.column or "")
    said = f"The new {own(table, column.name)}." if part == "value" else its(table, column.name)
    return _typed(column, said) | _limits(data, table, column)


def _typed(column: Column, description: str) -> Schema:
    return {"type": column.type, "description": description}


def _limits(data: Data, table: Table, column: Column) -> Schema:
    """What a written value must fulfil, beside its type."""
    if least(data, table, column) is not None:
        return {"minimum": 0}
    shortest = {"minLength": 1} if column.type == "string" and not choices(column) else {}
    return shortest | (_choices(column) if not link_of(table, column.name) else {})


def least(data: Data, table: Table, column: Column) -> int | None:
    """0 for a number that is never negative in the data."""
    values = [v for v in data.values(table, column.name) if v is not None]
    number = column.type in ("integer", "number") and column.name != table.primary_key
    return 0 if number and not link_of(table, column.name) and values and min(values) >= 0 else None


def choices(column: Column) -> tuple[str, ...]:
    return column.values if column.type == "string" and len(column.values) <= ENUM else ()


def _choices(column: Column) -> Schema:
    return {"enum": list(choices(column))} if choices(column) else {}


def _object(properties: dict[str, Schema], required: list[str]) -> Schema:
    return {"type": "object", "properties": properties, "required": required, "additionalProperties": False}


def _closed(properties: dict[str, Schema]) -> Schema:
    return _object(properties, list(properties))


def _output(data: Data, design: Design) -> Schema:
    table = design.table
    match design.kind:
        case "count":
            return _closed({"count": {"type": "integer", "minimum": 0}})
        case "reassign":
            return _closed({"moved": {"type": "integer", "minimum": 0}})
        case "aggregate":
            return _closed({"value": {"type": "number"}})
        case "search" | "list" | "related" | "top":
            row = _closed({name: _cell(table.column(name)) for name in shown(data, design)})
            items = {"type": "array", "items": row, "maxItems": MOST}
            return _closed({"items": items, "total": {"type": "integer", "minimum": 0}})
    row = {c.name: _cell(c) for c in table.columns}
    if design.kind == "joined":
        row[joined_name(design)] = {"type": ["string", "null"]}
    return _closed(row)


def _cell(column: Column) -> Schema:
    return {"type": [column.type, "null"] if column.nullable else column.type}


# --- What it does to the data ---------------------------------------------------------------------------


def operation(data: Data, design: Design) -> Operation:
    """`custom` is used for what the kinds do not cover: rankings (`top`) and moves (`reassign`)."""
    table = design.table
    custom = design.kind in ("top", "reassign")
    kind = "custom" if custom else "get" if design.kind == "joined" else design.kind
    return Operation(
        kind=kind,  # type: ignore[arg-type]
        table=table.name,
        column=design.column if design.kind != "joined" else None,
        function=design.kind if custom else design.function,
        inputs={name: _stands_for(design, part) for part, name in design.arguments.items()},
        outputs=_shows(data, design),
    )


def _stands_for(design: Design, part: str) -> str:
    table, link = design.table, design.link
    if link and (part in ("from", "to") or (part == "by" and design.kind in ("related", "count"))):
        return f"{link.table}.{link.target}"
    column = {"key": design.key, "by": design.by, "query": design.column, "value": design.column}.get(part)
    return f"{table.name}.{column or part.removeprefix('new:')}"


def _shows(data: Data, design: Design) -> dict[str, str]:
    table = design.table
    if design.kind in ("count", "aggregate", "reassign"):
        return {}
    if design.kind in ("search", "list", "related", "top"):
        return {f"items[].{name}": f"{table.name}.{name}" for name in shown(data, design)}
    row = {c.name: f"{table.name}.{c.name}" for c in table.columns}
    if design.kind == "joined":
        assert design.link is not None
        row[joined_name(design)] = f"{design.link.table}.{design.column}"
    return row
