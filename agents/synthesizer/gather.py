"""Where a walk can stand: on one row, or on a group of rows that the tools list whole."""

import random
import re
from dataclasses import dataclass
from typing import Any

from agent_world.agents.synthesizer.derived import superlative
from agent_world.agents.synthesizer.meaning import Group, Measure, Subject, Where
from agent_world.agents.synthesizer.moves import statable
from agent_world.agents.synthesizer.script import Given, Script, Site, said
from agent_world.agents.synthesizer.world import PAGE, Action, Row
from agent_world.schema import Table

APART = re.compile(r",| and | or ", re.IGNORECASE)
"""What a value must not hold that stands in a list of values."""
MOST_CALLED = 0.6
"""Share of the rows of a table that one question may call by their names."""


@dataclass(slots=True)
class One:
    subject: Subject
    site: Site
    tool: str
    """The last tool called."""


@dataclass(slots=True)
class Many:
    group: Group
    sites: list[Site]
    tool: str

    @property
    def table(self) -> str:
        return self.group.table


Focus = One | Many


# --- One row ----------------------------------------------------------------------------------------------


def one_fresh(script: Script, action: Action, rng: random.Random) -> One | None:
    """A row by its name, where a search finds just it, or by a key that people use."""
    rows = script.world.rows[action.table.name]
    row = rng.choice(rows) if rows else None
    if row is None:
        return None
    return by_name(script, action, row) if action.kind == "search" else _by_key(script, action, row)


def by_name(script: Script, action: Action, row: Row) -> One | None:
    label = action.table.label
    arguments = [a for a, c in action.filters.items() if c == label and not set(action.required) - {a}]
    if label is None or not arguments or not statable(row.get(label)):
        return None
    if len(script.world.containing(action.table.name, label, str(row[label]))) != 1:
        return None
    site = Site(action.table.name, row)
    site.show(action, script.call(action, {arguments[0]: said(row[label])}, "independent"))
    return One(Subject("label", action.table.name, label, row[label]), site, action.name)


def _by_key(script: Script, action: Action, row: Row) -> One | None:
    key = action.table.primary_key
    if action.key is None or not statable(row[key]) or script.world.opaque(action.table.name):
        return None
    site = Site(action.table.name, row)
    site.show(action, script.call(action, {action.key: said(row[key])}, "independent"))
    return One(Subject("key", action.table.name, key, row[key]), site, action.name)


def found(script: Script, table: str, row: Row) -> One | None:
    """This very row, by its name."""
    for action in script.world.of("search", table=table):
        one = by_name(script, action, row)
        if one is not None:
            return one
    return None


# --- Groups -----------------------------------------------------------------------------------------------


def many_fresh(script: Script, action: Action, sizes: tuple[int, int], rng: random.Random) -> Many | None:
    """All rows, those of a value, those that contain a word, or the first few of a ranking."""
    if action.kind == "search":
        return _containing(script, action, sizes, rng)
    if action.kind == "custom":
        return _top(script, action, sizes, rng)
    options: list[tuple[str, str] | None] = [f for f in action.filters.items() if not set(action.required) - {f[0]}]
    options += [None] if not action.required else []
    if not options or not action.paths:
        return None
    chosen = rng.choice(options)
    if chosen is None:
        rows = script.world.rows[action.table.name]
        if not fits(action, rows, sizes):
            return None
        return Many(Group(action.table.name), script.pages(action, {}, rows, "independent"), action.name)
    return _of_value(script, action, *chosen, sizes, rng)


def listable(value: Any) -> bool:
    """Whether the value can stand in a list of values."""
    return statable(value) and not isinstance(value, bool) and not APART.search(str(value))


def union(script: Script, action: Action, sizes: tuple[int, int], rng: random.Random) -> Many | None:
    """The rows of two to four values of a column, or of as many named parents, listed one after the other."""
    world, table = script.world, action.table.name
    options = [(a, c) for a, c in action.filters.items() if not set(action.required) - {a}]
    if not options or not action.paths or action.kind not in ("list", "related"):
        return None
    argument, column = rng.choice(options)
    counts = world.values(table, column)
    fit = (v for v in counts if listable(v) and fits(action, world.where(table, column, v), (1, 99)))
    values = sorted(fit, key=repr)
    chosen = rng.sample(values, min(len(values), rng.randint(2, 4)))
    if not 2 <= len(chosen) < len(counts) or not sizes[0] <= sum(counts[v] for v in chosen) <= sizes[1]:
        return None
    link = world.foreign_key(table, column)
    named = link is not None and world.opaque(link.table)
    sites: list[Site] = []
    owners: list[Subject] = []
    for value in chosen:
        given = said(value)
        if link is not None and named:
            owner = found(script, link.table, world.where(link.table, link.target, value)[0])
            if owner is None or script.detail(owner.site, link.target) is None:
                return None
            given = owner.site.given(link.target)
            owners.append(owner.subject)
        kind = script.kind_of(link.table) if link and named else "independent"
        sites += script.pages(action, {argument: given}, world.where(table, column, value), kind)
    where = Where(column, subjects=tuple(owners)) if named else Where(column, among=tuple(chosen))
    return Many(Group(table, (where,)), sites, action.name)


def fits(action: Action, rows: list[Row], sizes: tuple[int, int]) -> bool:
    return sizes[0] <= len(rows) <= sizes[1] and (action.paged or len(rows) <= PAGE)


def _of_value(
    script: Script, action: Action, argument: str, column: str, sizes: tuple[int, int], rng: random.Random
) -> Many | None:
    world, table = script.world, action.table.name
    counts = world.values(table, column)
    values = sorted((v for v in counts if statable(v) and fits(action, world.where(table, column, v), sizes)), key=repr)
    if not values:
        return None
    value = rng.choice(values)
    rows, link = world.where(table, column, value), world.foreign_key(table, column)
    if link is None or not world.opaque(link.table):
        sites = script.pages(action, {argument: said(value)}, rows, "independent")
        return Many(Group(table, (Where(column, value),)), sites, action.name)
    owner = found(script, link.table, world.where(link.table, link.target, value)[0])
    return children(script, action, argument, column, owner, sizes) if owner else None


def children(
    script: Script, action: Action, argument: str, column: str, owner: One, sizes: tuple[int, int]
) -> Many | None:
    """The rows of the action's table whose foreign key `column` leads to `owner`."""
    link = script.world.foreign_key(action.table.name, column)
    if link is None or script.detail(owner.site, link.target) is None:
        return None
    rows = script.world.where(action.table.name, column, owner.site.row[link.target])
    if not fits(action, rows, sizes):
        return None
    given = {argument: owner.site.given(link.target)}
    sites = script.pages(action, given, rows, script.kind_of(link.table))
    return Many(Group(action.table.name, (Where(column, subject=owner.subject),)), sites, action.name)


def _containing(script: Script, action: Action, sizes: tuple[int, int], rng: random.Random) -> Many | None:
    arguments = [(a, c) for a, c in action.filters.items() if not set(action.required) - {a}]
    if len(arguments) != 1:
        return None
    (argument, column), table = arguments[0], action.table.name
    counts = script.world.words(table, column)
    fit = [w for w, n in sorted(counts.items()) if sizes[0] <= n <= sizes[1] and (action.paged or n <= PAGE)]
    if not fit:
        return None
    word = rng.choice(fit)
    sites = script.pages(action, {argument: said(word)}, script.world.containing(table, column, word), "independent")
    return Many(Group(table, (Where(column, word, contains=True),)), sites, action.name)


def _top(script: Script, action: Action, sizes: tuple[int, int], rng: random.Random) -> Many | None:
    """The first so many by a column, where the next one is clearly behind."""
    column = action.operation.column
    if action.operation.function != "top" or column is None or superlative(column):
        return None
    arguments: dict[str, Given] = {}
    where: tuple[Where, ...] = ()
    rows = script.world.rows[action.table.name]
    if action.filters and rng.random() < 0.5:
        argument, by = rng.choice(sorted(action.filters.items()))
        value = rng.choice(rows).get(by)
        if not statable(value):
            return None
        rows = script.world.where(action.table.name, by, value)
        arguments, where = {argument: said(value)}, (Where(by, value),)
    ordered = sorted((r for r in rows if r.get(column) is not None), key=lambda r: r[column], reverse=True)
    lengths = [
        n for n in range(max(2, sizes[0]), min(sizes[1], PAGE, len(ordered) - 1) + 1)
        if len({r[column] for r in ordered[: n + 1]}) == n + 1
        and all(script.world.clear_cell(action.table.name, column, r) for r in ordered[: n + 1])
    ]  # fmt: skip
    if not lengths:
        return None
    first = rng.choice(lengths)
    sites = script.pages(action, {**arguments, "limit": said(first)}, ordered[:first], "independent")
    group = Group(action.table.name, where, first=first, measure=Measure("own", column))
    return Many(group, sites, action.name)


def roster(script: Script, table: Table, count: int, rng: random.Random) -> Many | None:
    """A few rows called by their names or keys."""
    ones = []
    rows = script.world.rows[table.name]
    if table.label is None and table.column(table.primary_key).type == "integer":
        return None  # nobody has a list of such numbers in mind
    if count > MOST_CALLED * len(rows):
        return None  # so many are almost all
    for row in rng.sample(rows, min(len(rows), 3 * count)):
        for action in script.world.of("search", "get", table=table.name):
            one = by_name(script, action, row) if action.kind == "search" else _by_key(script, action, row)
            if one is not None and listable(one.subject.value):
                ones.append(one)
                break
        if len(ones) == count:
            break
    if len(ones) < count or len({o.subject.column for o in ones}) != 1:
        return None
    return Many(Group(table.name, named=tuple(o.subject for o in ones)), [o.site for o in ones], ones[0].tool)
