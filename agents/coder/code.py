"""How a designed tool works: its source, one plain function on top of the helpers of tools.py."""

import json
import textwrap

from agent_world.agents.coder.data import Data
from agent_world.agents.coder.design import Design, link_of, numbered_key
from agent_world.agents.coder.head import KINDS
from agent_world.agents.coder.spec import (
    MOST,
    PAGED,
    TOP,
    choices,
    describe,
    joined_name,
    least,
    optional,
    places,
    shown,
)
from agent_world.agents.coder.words import noun, nouns, words
from agent_world.schema import Column, Table

Lines = list[str]
WIDTH = 116


def source_of(data: Data, design: Design) -> str:
    """The decorated function: signature, docstring, body."""
    body = {
        "get": _get, "joined": _joined, "search": _search, "list": _list, "related": _list, "count": _count,
        "aggregate": _aggregate, "top": _top, "create": _create, "update": _update, "delete": _delete,
        "reassign": _reassign,
    }[design.kind](data, design)  # fmt: skip
    head = ["@_strict", *_wrapped(f"def {design.name}(", _parameters(data, design), "):"), *_docstring(data, design)]
    return "\n".join([*head, *(f"    {line}" for line in body)]) + "\n"


def _docstring(data: Data, design: Design) -> Lines:
    text = textwrap.wrap(describe(data, design).replace("\\", "/").replace('"', "'"), WIDTH - 10)
    lines = [f'    """{text[0]}', *(f"    {line}" for line in text[1:])]
    return [*lines, '    """'] if len(text) > 1 else [lines[0] + '"""']


def _wrapped(start: str, parts: Lines, end: str) -> Lines:
    """One line where it fits, else broken between the parts."""
    line = start + ", ".join(parts) + end
    if len(line) <= WIDTH:
        return [line]
    lines = [start]
    for part in parts:
        if len(lines) > 1 and len(lines[-1]) + len(part) + 2 <= WIDTH:
            lines[-1] += f" {part},"
        else:
            lines.append(f"    {part},")
    return [*lines, end]


def _text(value: str) -> str:
    return json.dumps(value, ensure_ascii=False)


def _parameters(data: Data, design: Design) -> Lines:
    firm, loose = [], []
    for part, name in design.arguments.items():
        kind = KINDS[_column(data, design, part).type]
        if optional(design, part):
            loose.append(f"{name}: {kind} | None = None")
        else:
            firm.append(f"{name}: {kind}")
    if design.kind in PAGED:
        loose += [f"limit: int = {MOST}", "offset: int = 0"]
    if design.kind == "top":
        loose.append(f"limit: int = {TOP}")
    return [*firm, *loose]


def _column(data: Data, design: Design, part: str) -> Column:
    """The column that an argument stands for."""
    if part in ("from", "to") and design.link:
        return data.table(design.link.table).column(design.link.target)
    names = {"key": design.key, "by": design.by, "query": design.column, "value": design.column}
    return design.table.column(names.get(part) or part.removeprefix("new:"))


# --- Reading -------------------------------------------------------------------------------------------


def _find(table: Table, column: str, argument: str) -> str:
    return f'_find("{table.name}", "{column}", {argument}, "{noun(table)}")'


def _get(data: Data, design: Design) -> Lines:
    return [f"return {_find(design.table, design.key, design.arguments['key'])}"]


def _joined(data: Data, design: Design) -> Lines:
    link, name = design.link, joined_name(design)
    assert link is not None
    parent = data.table(link.table)
    unset = [f'if row["{link.column}"] is None:', f'    return {{**row, "{name}": None}}']
    return [
        f"row = {_find(design.table, design.key, design.arguments['key'])}",
        *(unset if design.table.column(link.column).nullable else []),
        f"found = {_find(parent, link.target, _cell(link.column))}",
        f'return {{**row, "{name}": found["{design.column}"]}}',
    ]


def _cell(column: str) -> str:
    return f'row["{column}"]'


def _search(data: Data, design: Design) -> Lines:
    query = design.arguments["query"]
    return [
        f'wanted = _checked("{query}", {query}, str).casefold()',
        f'found = [row for row in _rows("{design.table.name}") if wanted in (row["{design.column}"] or "").casefold()]',
        f"return _page(found, {_names(data, design)}, limit, offset)",
    ]


def _list(data: Data, design: Design) -> Lines:
    if design.by is None:
        return [f'return _page(_rows("{design.table.name}"), {_names(data, design)}, limit, offset)']
    argument = design.arguments["by"]
    return [
        *_parent_exists(data, design, argument),
        f'found = [row for row in _rows("{design.table.name}") if row["{design.by}"] == {argument}]',
        f"return _page(found, {_names(data, design)}, limit, offset)",
    ]


def _names(data: Data, design: Design) -> str:
    return "[" + ", ".join(f'"{name}"' for name in shown(data, design)) + "]"


def _parent_exists(data: Data, design: Design, argument: str) -> Lines:
    if design.link is None:
        return []
    return [_find(data.table(design.link.table), design.link.target, argument)]


def _count(data: Data, design: Design) -> Lines:
    argument = design.arguments["by"]
    return [
        *_parent_exists(data, design, argument),
        f'return {{"count": sum(row["{design.by}"] == {argument} for row in _rows("{design.table.name}"))}}',
    ]


def _group(data: Data, design: Design) -> Lines:
    """Rows of the table, of one group if it is given."""
    lines = [f'rows = _rows("{design.table.name}")']
    if design.by:
        argument = design.arguments["by"]
        inner = [
            *_parent_exists(data, design, argument),
            f'rows = [row for row in rows if row["{design.by}"] == {argument}]',
        ]
        lines += [f"if {argument} is not None:", *(f"    {line}" for line in inner)]
    return lines


def _aggregate(data: Data, design: Design) -> Lines:
    column, digits = design.column, places(data, design)
    value = {
        "mean": f"round(sum(values) / len(values), {digits})", "sum": f"round(sum(values), {digits})",
        "max": "max(values)", "min": "min(values)",
    }[design.function or ""]  # fmt: skip
    if design.function == "sum" and design.table.column(column or "").type == "integer":
        value = "sum(values)"
    return [
        *_group(data, design),
        f'values = [row["{column}"] for row in rows{_known(design)}]',
        "if not values:",
        f'    raise ToolError("not_found", "There are no {nouns(design.table)} with a known {words(column or "")}.")',
        f'return {{"value": {value}}}',
    ]


def _known(design: Design) -> str:
    """The condition that the column is filled, where it need not be."""
    nullable = design.table.column(design.column or "").nullable
    return f' if row["{design.column}"] is not None' if nullable else ""


def _top(data: Data, design: Design) -> Lines:
    rows = f"[row for row in rows{_known(design)}]" if _known(design) else "rows"
    return [
        *_group(data, design),
        f'found = sorted({rows}, key=lambda row: row["{design.column}"], reverse=True)',
        f"return _page(found, {_names(data, design)}, limit)",
    ]


# --- Writing -------------------------------------------------------------------------------------------


def _create(data: Data, design: Design) -> Lines:
    table, own = design.table, numbered_key(design.table)
    names = {part.removeprefix("new:"): name for part, name in design.arguments.items()}
    lines: Lines = []
    for column, name in names.items():
        lines += _value(data, table, table.column(column), name, optional(design, f"new:{column}"))
    lines.append(f'rows = _rows("{table.name}")')
    for column in dict.fromkeys(c for c in (table.primary_key, table.label) if c and c != own):
        lines += [
            f'if any(row["{column}"] == {names[column]} for row in rows):',
            f'    raise ToolError("already_exists", f"There is already a {noun(table)} {{{names[column]}!r}}.")',
        ]
    if own:
        lines.append(f'new_key = max((row["{own}"] for row in rows), default=0) + 1')
    cells = [f'"{c.name}": {names.get(c.name, "new_key")}' for c in table.columns]
    return [*lines, *_wrapped("row = {", cells, "}"), f'_insert("{table.name}", row)', "return row"]


def _value(data: Data, table: Table, column: Column, name: str, may_be_missing: bool) -> Lines:
    """Checks of one value that is to be stored."""
    parts = [f'"{name}"', name, KINDS[column.type]]
    if least(data, table, column) is not None:
        parts.append("least=0")
    if choices(column) and not link_of(table, column.name):
        first, *rest = [_text(value) for value in choices(column)]
        parts += [f"choices=[{first}", *rest]
        parts[-1] += "]"
    lines = _wrapped(f"{name} = _checked(", parts, ")")
    link = link_of(table, column.name)
    if link:
        lines.append(_find(data.table(link.table), link.target, name))
    return [f"if {name} is not None:", *(f"    {line}" for line in lines)] if may_be_missing else lines


def _update(data: Data, design: Design) -> Lines:
    table, key, value = design.table, design.arguments["key"], design.arguments["value"]
    return [
        f"row = {_find(table, design.key, key)}",
        *_value(data, table, table.column(design.column or ""), value, False),
        f'_set("{table.name}", [{key}], "{design.column}", {value})',
        f'return {{**row, "{design.column}": {value}}}',
    ]


def _delete(data: Data, design: Design) -> Lines:
    table, key = design.table, design.arguments["key"]
    lines = [f"row = {_find(table, design.key, key)}"]
    for child, column, target in data.children(table):
        lines += [
            f'if any(other["{column}"] == row["{target}"] for other in _rows("{child.name}")):',
            f'    raise ToolError("in_use", f"The {noun(table)} {{{key}!r}} is still referred to by {child.name}.")',
        ]
    return [*lines, f'_remove("{table.name}", {key})', "return row"]


def _reassign(data: Data, design: Design) -> Lines:
    assert design.link is not None
    table, parent = design.table, data.table(design.link.table)
    old, new = design.arguments["from"], design.arguments["to"]
    return [
        _find(parent, design.link.target, old),
        _find(parent, design.link.target, new),
        f"if {old} == {new}:",
        f'    raise ToolError("invalid_value", "{old} and {new} must differ.")',
        f'found = [row for row in _rows("{table.name}") if row["{design.column}"] == {old}]',
        f'_set("{table.name}", [row["{design.key}"] for row in found], "{design.column}", {new})',
        'return {"moved": len(found)}',
    ]
