"""Which tools lead from rows to what belongs to them: their own columns, parents, children, and changes to them."""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from agent_world.agents.synthesizer import plan as p
from agent_world.agents.synthesizer.derived import hinted, superlative
from agent_world.agents.synthesizer.moves import reduced
from agent_world.agents.synthesizer.sources import Rows, call, category, numeric, whole
from agent_world.agents.synthesizer.world import Action, Row, World
from agent_world.schema import Column, ForeignKey, Table

DAY = re.compile(r"\d{4}-\d\d(-\d\d)?")
"""A day, or a month."""


@dataclass(frozen=True, slots=True)
class Source:
    """How a program gets at a group: a list tool, and the get tool that shows of each row what the list leaves out."""

    rows: Rows
    detail: Action | None = None

    @property
    def listed(self) -> list[str]:
        return self.rows.columns

    @property
    def columns(self) -> list[str]:
        """Own columns that can be had."""
        if self.detail is None:
            return self.listed
        return [c.name for c in self.rows.table.columns if c.name in self.detail.paths]


def detail_of(world: World, rows: Rows) -> Action | None:
    """A get tool of the table, where the list shows the key that it takes."""
    if rows.table.primary_key not in rows.columns:
        return None
    found = [a for a in world.of("get", table=rows.table.name) if a.key and set(rows.columns) <= set(a.paths)]
    return min(found, key=lambda a: (len(a.operation.outputs), a.name)) if found else None


def key_of(world: World, table: str) -> str:
    return world.tables[table].primary_key


def parent_link(world: World, table: str, attr: p.Attr) -> ForeignKey:
    """The foreign key that an attribute goes along, up or down."""
    return next(k for k in world.tables[attr.children or table].foreign_keys if k.column == attr.via)


def parent_action(world: World, link: ForeignKey) -> Action:
    return _getters(world, link)[0]


def parent_call(world: World, link: ForeignKey, key: str) -> str:
    """Code that fetches the row whose key (or name, which a search finds) the code `key` gives."""
    action = parent_action(world, link)
    if action.key:
        return call(action, {action.key: key})
    argument = next(a for a, c in action.filters.items() if c == link.target)
    return f"{whole(action, {argument: key}, 1)}[0]"


def _getters(world: World, link: ForeignKey) -> list[Action]:
    """Tools that show a parent: by its key, or where the link is its name, by that."""
    found = [a for a in world.of("get", table=link.table) if a.key and link.target == a.table.primary_key]
    if not found:
        seeking = [a for a in world.of("search", table=link.table) if link.target in a.filters.values()]
        found = [a for a in seeking if len(a.required) < 2 and link.target in a.paths]
    return sorted(found, key=lambda a: (len(a.operation.outputs), a.name))


def children_action(world: World, attr: p.Attr) -> Action:
    return _child_tools(world, attr)[0]


def _child_tools(world: World, attr: p.Attr) -> list[Action]:
    """Tools that count or list children by their foreign key alone; the counting ones first."""
    found = []
    for action in world.of("count", "related", "list", table=attr.children):
        taken = [a for a, c in action.filters.items() if c == attr.via]
        if not taken or set(action.required) - {taken[0]}:
            continue
        if attr.function == "count" or (attr.column in action.paths and (action.paged or action.inside)):
            found.append(action)
    return sorted(found, key=lambda a: (a.kind != "count" or attr.function != "count", a.name))


def updater(world: World, table: str, column: str) -> Action | None:
    """A tool that sets this column of one row, and needs nothing else."""
    for action in world.of("update", table=table):
        needed = {a for a in action.values if a in action.required} or set(list(action.values)[:1])
        if action.key and {action.values[a] for a in needed} == {column}:
            return action
    return None


def updatable(world: World, table: str) -> list[str]:
    columns = {c for a in world.of("update", table=table) for c in a.values.values()}
    return sorted(c for c in columns if updater(world, table, c))


def remover(world: World, table: str) -> Action:
    return next(a for a in world.of("delete", table=table) if a.key)


def adder(world: World, table: str) -> Action:
    return world.of("create", table=table)[0]


# --- Attributes ------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Quality:
    """An attribute, the column behind it, and its value for each row of the group."""

    attr: p.Attr
    table: Table
    """Table of the column."""
    column: Column | None
    """None for a number of children."""
    values: tuple[Any, ...]
    calls: int = 0
    """What it takes besides the list: a call a row, or one for each parent."""

    @property
    def loops(self) -> bool:
        return self.calls > 0

    @property
    def full(self) -> bool:
        """Whether every row has a value."""
        return None not in self.values

    @property
    def type(self) -> str:
        if self.column is None:
            return "integer"
        return "number" if self.attr.function == "mean" and self.attr.children else self.column.type


def qualities(world: World, source: Source) -> list[Quality]:
    """Own columns first, then those of parents, then figures over children; each with a value for most rows."""
    found = [*_own(world, source), *_of_parents(world, source), *_of_children(world, source)]
    return [q for q in found if sum(v is not None for v in q.values) > len(q.values) / 2]


def _own(world: World, source: Source) -> list[Quality]:
    table, rows, listed = source.rows.table, source.rows.rows, set(source.listed)
    used = {w.column for w in source.rows.group.where}
    return [
        Quality(
            p.Attr(column=c), table, table.column(c), tuple(r.get(c) for r in rows), 0 if c in listed else len(rows)
        )
        for c in source.columns
        if c != table.primary_key
        and c not in used
        and not superlative(c)
        and all(world.clear_cell(table.name, c, row) for row in rows)
    ]


def _of_parents(world: World, source: Source) -> list[Quality]:
    found = []
    used = {w.column for w in source.rows.group.where}
    for link in source.rows.table.foreign_keys:
        tools = _getters(world, link) if link.column in source.columns and link.column not in used else []
        parents = [_parent(world, link, row, tools[0]) for row in source.rows.rows] if tools else []
        if not parents or any(parent is None for parent in parents):
            continue
        table = world.tables[link.table]
        for column in sorted(tools[0].paths):
            if column in (table.primary_key, table.label) or superlative(column):
                continue
            if not all(world.clear_cell(table.name, column, parent) for parent in parents if parent):
                continue
            values = tuple(parent.get(column) if parent else None for parent in parents)
            attr = p.Attr(column=column, via=link.column)
            calls = len({row.get(link.column) for row in source.rows.rows})
            found.append(Quality(attr, table, table.column(column), values, calls))
    return found


def _parent(world: World, link: ForeignKey, row: Row, tool: Action) -> Row | None:
    """None where there is none, or where the tool would find others too."""
    if tool.kind == "search" and len(world.containing(link.table, link.target, str(row.get(link.column)))) != 1:
        return None
    rows = world.where(link.table, link.target, row.get(link.column)) if row.get(link.column) is not None else []
    return rows[0] if len(rows) == 1 else None


def _of_children(world: World, source: Source) -> list[Quality]:
    found = []
    for table, link in world.children(source.rows.table.name):
        if link.target not in source.columns:
            continue
        groups = [world.where(table.name, link.column, row[link.target]) for row in source.rows.rows]
        count = p.Attr(via=link.column, children=table.name)
        if not all(
            _accepts(a, link.column, r[link.target]) for a in _child_tools(world, count)[:1] for r in source.rows.rows
        ):
            continue
        if _child_tools(world, count) and _clear(world, source, table, link, "count"):
            found.append(Quality(count, table, None, tuple(map(len, groups)), len(groups)))
        for column in [c.name for c in table.columns if numeric(world, table, c.name) and not hinted(c.name)]:
            for function in ("sum", "max"):
                if not _clear(world, source, table, link, function, column):
                    continue
                attr = p.Attr(column=column, via=link.column, children=table.name, function=function)
                if _child_tools(world, attr) and all(groups):
                    found.append(Quality(attr, table, table.column(column), _figures(attr, groups), len(groups)))
    return found


def _clear(world: World, source: Source, child: Table, link: ForeignKey, function: str, column: str = "") -> bool:
    """Whether no column of these rows gives another value for the figure."""
    table = source.rows.table
    disputed = world.disputed(table.name, child.name, link.column, function, column)
    return not disputed or not any(row.get(table.primary_key) in disputed for row in source.rows.rows)


def _accepts(action: Action, column: str, value: Any) -> bool:
    """Whether the tool takes the value, where it takes some values only."""
    argument = next(a for a, c in action.filters.items() if c == column)
    allowed = action.tool.input_schema.get("properties", {}).get(argument, {}).get("enum")
    return allowed is None or value in allowed


def _figures(attr: p.Attr, groups: Sequence[list[Row]]) -> tuple[Any, ...]:
    columns: list[list[Any]] = [[row.get(attr.column) for row in group] for group in groups]
    if any(value is None for column in columns for value in column):
        return (None,) * len(groups)
    return tuple(round(reduced(attr.function, column), 2) for column in columns)


def counts(world: World, quality: Quality) -> bool:
    """Whether it is a quantity that can be compared and averaged."""
    return quality.column is None or numeric(world, quality.table, quality.column.name)


def sorts(world: World, quality: Quality) -> bool:
    """Whether it puts rows into few kinds."""
    return quality.column is not None and quality.attr.children == "" and category(quality.table, quality.column.name)


def dated(quality: Quality) -> bool:
    """Whether it is a day or a month that is mostly known."""
    if not quality.attr.column.endswith(("date", "_on", "_day", "month")):
        return False
    known = [v for v in quality.values if v is not None]
    return len(known) > len(quality.values) / 2 and all(isinstance(v, str) and DAY.fullmatch(v) for v in known)
