"""Pieces of programs: code that fetches a row or a group of rows, with the words for it and the rows it will give."""

import random
from dataclasses import dataclass

from agent_world.agents.synthesizer.derived import day_part
from agent_world.agents.synthesizer.meaning import Group, Subject, Where
from agent_world.agents.synthesizer.moves import statable
from agent_world.agents.synthesizer.words import column_words, singular
from agent_world.agents.synthesizer.world import PAGE, Action, Row, World
from agent_world.schema import Table

EVERY = '''def every(tool, **arguments):
    """All items of a list tool, page by page."""
    items = []
    while True:
        page = tool(**arguments, limit=10, offset=len(items))
        items += page["items"]
        if not page["items"] or len(items) >= page["total"]:
            return items


'''


@dataclass(frozen=True, slots=True)
class Found:
    """Code that puts one row into `variable`."""

    lines: tuple[str, ...]
    subject: Subject
    row: Row
    columns: frozenset[str]
    action: Action
    variable: str


@dataclass(frozen=True, slots=True)
class Rows:
    """Code that puts a list of rows into `variable`, the group that they are, and what the database says it holds."""

    lines: tuple[str, ...]
    group: Group
    rows: list[Row]
    action: Action
    variable: str = "rows"

    @property
    def table(self) -> Table:
        return self.action.table

    @property
    def columns(self) -> list[str]:
        return [c.name for c in self.table.columns if c.name in self.action.paths]

    def cell(self, column: str, variable: str = "row") -> str:
        return cell(self.action, column, variable)


def cell(action: Action, column: str, variable: str = "row") -> str:
    """Python for a column of a row or item that the action showed."""
    path = action.paths[column].rpartition("[].")[2]
    if path.endswith("[]"):  # the list holds nothing but this column
        return variable
    return variable + "".join(f"[{part!r}]" for part in path.split("."))


def call(action: Action, arguments: dict[str, str]) -> str:
    return f"tools.{action.name}({', '.join(f'{name}={text}' for name, text in arguments.items())})"


def find_row(world: World, rng: random.Random, table: str | None = None, name: str = "row") -> Found | None:
    """A row looked up by its name where it can be searched, else by its key."""
    lookups = world.of("search", "get", table=table)
    for action in rng.sample(lookups, len(lookups)):
        rows = world.rows[action.table.name]
        row = rng.choice(rows) if rows else None
        if row is None:
            continue
        found = _by_search(world, action, row, name) if action.kind == "search" else _by_key(world, action, row, name)
        if found is not None:
            return found
    return None


def _by_search(world: World, action: Action, row: Row, name: str) -> Found | None:
    table = action.table
    label = table.label
    arguments = [a for a, c in action.filters.items() if c == label and not set(action.required) - {a}]
    if label is None or not arguments or not statable(row.get(label)):
        return None
    if len(world.containing(table.name, label, str(row[label]))) != 1:
        return None
    line = f"{name} = {whole(action, {arguments[0]: repr(row[label])}, 1)}[0]"
    return Found((line,), Subject("label", table.name, label, row[label]), row, frozenset(action.paths), action, name)


def _by_key(world: World, action: Action, row: Row, name: str) -> Found | None:
    key = action.table.primary_key
    if action.key is None or not statable(row[key]) or world.opaque(action.table.name):
        return None
    line = f"{name} = {call(action, {action.key: repr(row[key])})}"
    return Found((line,), Subject("key", action.table.name, key, row[key]), row, frozenset(action.paths), action, name)


def find_rows(
    world: World, rng: random.Random, most: int, least: int = 2, table: str | None = None, name: str = "rows"
) -> Rows | None:
    """A group that a list or related tool gives whole: all rows, those of a value, or those of a named parent."""
    lists = [a for a in world.of("list", "related", table=table) if a.paths]
    for action in rng.sample(lists, len(lists)):
        top = most if action.whole else min(most, PAGE)
        options: list[Rows | None] = [_all_rows(world, action, name)] if not action.required else []
        options += [_of_value(world, action, a, c, rng, name, (least, top)) for a, c in action.filters.items()]
        fit = [o for o in options if o and least <= len(o.rows) <= top]
        if fit:
            return rng.choice(fit)
    return None


def _all_rows(world: World, action: Action, name: str) -> Rows:
    lines = (f"{name} = {whole(action, {}, len(world.rows[action.table.name]))}",)
    return Rows(lines, Group(action.table.name), world.rows[action.table.name], action, name)


def _of_value(
    world: World, action: Action, argument: str, column: str, rng: random.Random, name: str, sizes: tuple[int, int]
) -> Rows | None:
    """The rows of one value that as many rows have as are wanted."""
    if set(action.required) - {argument}:
        return None
    table = action.table.name
    counted = world.values(table, column)
    values = sorted((v for v, n in counted.items() if sizes[0] <= n <= sizes[1] and statable(v)), key=repr)
    if not values:
        return None
    value = rng.choice(values)
    rows = world.where(table, column, value)
    link = world.foreign_key(table, column)
    if link is None or not world.opaque(link.table):
        line = f"{name} = {whole(action, {argument: repr(value)}, len(rows))}"
        return Rows((line,), Group(table, (Where(column, value),)), rows, action, name)
    parent = next(iter(world.where(link.table, link.target, value)), None)
    owner = _named_parent(world, link.table, link.target, parent, rng, name) if parent else None
    if owner is None:
        return None
    key = cell(owner.action, link.target, f"{name}_owner")
    lines = (*owner.lines, f"{name} = {whole(action, {argument: key}, len(rows))}")
    return Rows(lines, Group(table, (Where(column, subject=owner.subject),)), rows, action, name)


def _named_parent(world: World, table: str, key: str, row: Row, rng: random.Random, name: str) -> Found | None:
    for action in world.of("search", table=table):
        if key in action.paths:
            found = _by_search(world, action, row, f"{name}_owner")
            if found is not None:
                return found
    return None


def whole(action: Action, arguments: dict[str, str], size: int) -> str:
    """All items: in one call where they fit a page."""
    if action.paged and size > PAGE:
        return f"every({', '.join([f'tools.{action.name}', *(f'{n}={t}' for n, t in arguments.items())])})"
    path = next(iter(action.paths.values())).partition("[]")[0]
    return f"{call(action, arguments)}[{path!r}]"


# --- Columns ---------------------------------------------------------------------------------------------


def numeric(world: World, table: Table, column: str) -> bool:
    """A column of quantities: no keys, no days of a month, and no figures of which nobody can say what they are of."""
    found, derived = table.column(column), world.derived.get((table.name, column))
    return (
        (derived is None or derived.function != "")
        and not day_part(table, column)
        and found.type in ("integer", "number")
        and column != table.primary_key
        and world.foreign_key(table.name, column) is None
        and not found.unique
        and column != table.name  # a sale's `sales`
        and column_words(column) != singular(table.name)  # a flight's `flight` is its number, not a quantity
    )


def category(table: Table, column: str) -> bool:
    found = table.column(column)
    return found.type == "string" and bool(found.values) and column not in (table.primary_key, table.label)
