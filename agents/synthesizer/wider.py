"""Groups that no single call of a list tool gives: those of several values, of a word in a name, or of a condition.

Programs that loop need groups of a size; these make them of lists that are too short or too long by themselves.
"""

import random
import re
from collections.abc import Iterator
from dataclasses import dataclass, replace

from agent_world.agents.synthesizer.gather import APART
from agent_world.agents.synthesizer.meaning import Comparison, Group, Subject, Where
from agent_world.agents.synthesizer.moves import statable
from agent_world.agents.synthesizer.sources import Rows, category, cell, numeric, whole
from agent_world.agents.synthesizer.world import PAGE, Action, Row, World
from agent_world.agents.validator.replay import meets
from agent_world.schema import Table

SEVERAL = (2, 8)
"""Values of which the rows are put together."""
COMMON = 60
"""Values with the most rows, of which they are drawn."""
TRIES = 8
LONGEST = 160
"""Rows that are looked through for those that meet a condition."""
SIGNS: tuple[Comparison, ...] = (">", "<")


@dataclass(frozen=True, slots=True)
class Wish:
    """What is looked for: rows within `least` and `most`, for the program's variable `name`."""

    world: World
    rng: random.Random
    least: int
    most: int
    name: str

    def fits(self, count: int) -> bool:
        return self.least <= count <= self.most


def wider(wish: Wish, table: str | None) -> Rows | None:
    """A group of a size that is wished for; None where no tool has the rows."""
    actions = [a for a in wish.world.of("list", "related", "search", table=table) if a.paths]
    for action in wish.rng.sample(actions, len(actions)):
        top = wish.most if action.whole else min(wish.most, PAGE)
        options = list(_options(replace(wish, most=top), action))
        if options:
            return wish.rng.choice(options)
    return None


def _options(wish: Wish, action: Action) -> Iterator[Rows]:
    if not action.required and action.kind != "search":
        yield from _narrowed(wish, action, {}, (), wish.world.rows[action.table.name])
    for argument, column in action.filters.items():
        if set(action.required) - {argument}:
            continue
        if action.kind == "search":
            yield from _containing(wish, action, argument, column)
        elif _opaque(wish.world, action, column):
            yield from _of_named(wish, action, argument, column)
        else:
            yield from _of_several(wish, action, argument, column)
            yield from _of_one(wish, action, argument, column)


def _opaque(world: World, action: Action, column: str) -> bool:
    """Whether nobody knows the values of the column by heart."""
    link = world.foreign_key(action.table.name, column)
    return link is not None and world.opaque(link.table)


def _containing(wish: Wish, action: Action, argument: str, column: str) -> Iterator[Rows]:
    """Rows whose text contains a word, which is what a search finds; a word that is no part of another one there."""
    table = action.table.name
    words = [word for word, count in wish.world.words(table, column).items() if count >= wish.least]
    words = [word for word in words if _stands_alone(wish.world, table, column, word)]
    for word in wish.rng.sample(words, min(1, len(words))):
        rows = wish.world.containing(table, column, word)
        where = (Where(column, word, contains=True),)
        if wish.fits(len(rows)):
            line = f"{wish.name} = {whole(action, {argument: repr(word)}, len(rows))}"
            yield Rows((line,), Group(table, where), rows, action, wish.name)
        else:
            yield from _narrowed(wish, action, {argument: repr(word)}, where, rows)


def _stands_alone(world: World, table: str, column: str, word: str) -> bool:
    held = re.compile(rf"\b{re.escape(word)}\b", re.IGNORECASE)
    return all(held.search(str(row[column])) for row in world.containing(table, column, word))


def _of_several(wish: Wish, action: Action, argument: str, column: str) -> Iterator[Rows]:
    """Rows of a few values together."""
    table, counted = action.table.name, wish.world.values(action.table.name, column)
    known = [v for v in counted if statable(v) and not isinstance(v, bool) and not APART.search(str(v))]
    known = sorted((v for v in known if action.accepts(argument, v)), key=lambda v: (-counted[v], repr(v)))[:COMMON]
    for _ in range(TRIES):
        count = min(len(known), wish.rng.randint(*SEVERAL))
        chosen = tuple(sorted(wish.rng.sample(known, count), key=repr))
        if count >= SEVERAL[0] and wish.fits(sum(counted[v] for v in chosen)):
            rows = [row for value in chosen for row in wish.world.where(table, column, value)]
            items = whole(action, {argument: "value"}, max(counted[v] for v in chosen))
            line = f"{wish.name} = [item for value in {list(chosen)!r} for item in {items}]"
            yield Rows((line,), Group(table, (Where(column, among=chosen),)), rows, action, wish.name)
            return


def _of_named(wish: Wish, action: Action, argument: str, column: str) -> Iterator[Rows]:
    """Rows of a few parents that people know by name: each is searched first."""
    world, table = wish.world, action.table.name
    link = world.foreign_key(table, column)
    owner, counted = world.tables[link.table] if link else None, world.values(table, column)
    find = next(iter(_finders(world, owner)), None) if owner else None
    if link is None or owner is None or find is None or link.target not in find[0].paths:
        return
    parents = [row for row in world.rows[owner.name] if counted[row[link.target]] and _called(world, owner, row)]
    parents = sorted(parents, key=lambda row: (-counted[row[link.target]], repr(row[link.target])))[:COMMON]
    for _ in range(TRIES):
        chosen = wish.rng.sample(parents, min(len(parents), wish.rng.randint(*SEVERAL)))
        chosen = sorted(chosen, key=lambda row: str(row[owner.label or ""]))
        if len(chosen) >= SEVERAL[0] and wish.fits(sum(counted[row[link.target]] for row in chosen)):
            rows = [row for one in chosen for row in world.where(table, column, one[link.target])]
            names = [row[owner.label or ""] for row in chosen]
            key = cell(find[0], link.target, f"{whole(find[0], {find[1]: 'value'}, 1)}[0]")
            items = whole(action, {argument: "key"}, max(counted[row[link.target]] for row in chosen))
            lines = (
                f"keys = [{key} for value in {names!r}]",
                f"{wish.name} = [item for key in keys for item in {items}]",
            )
            subjects = tuple(Subject("label", owner.name, owner.label or "", name) for name in names)
            yield Rows(lines, Group(table, (Where(column, subjects=subjects),)), rows, action, wish.name)
            return


def _finders(world: World, owner: Table) -> Iterator[tuple[Action, str]]:
    """Searches by the name of a row, and the argument that takes it."""
    for action in world.of("search", table=owner.name):
        for argument, column in action.filters.items():
            if column == owner.label and not set(action.required) - {argument}:
                yield action, argument


def _called(world: World, owner: Table, row: Row) -> bool:
    """Whether its name, put into a list of names, means this row alone."""
    name = row.get(owner.label or "")
    if not isinstance(name, str) or not statable(name) or APART.search(name):
        return False
    return len(world.containing(owner.name, owner.label or "", name)) == 1


def _of_one(wish: Wish, action: Action, argument: str, column: str) -> Iterator[Rows]:
    """Of the rows of a value that has too many, those that meet a condition."""
    table = action.table.name
    counted = wish.world.values(table, column)
    values = sorted((v for v, n in counted.items() if n > wish.most and statable(v)), key=repr)
    values = [v for v in values if action.accepts(argument, v)]
    if values:
        value = wish.rng.choice(values)
        rows = wish.world.where(table, column, value)
        yield from _narrowed(wish, action, {argument: repr(value)}, (Where(column, value),), rows)


def _narrowed(
    wish: Wish, action: Action, arguments: dict[str, str], where: tuple[Where, ...], rows: list[Row]
) -> Iterator[Rows]:
    """Of a list that is too long, the rows that meet a condition on what the list shows."""
    if not action.whole or not wish.most < len(rows) <= LONGEST:
        return
    found = _condition(wish, action, rows, {w.column for w in where})
    if found is None:
        return
    kept = [row for row in rows if meets(row.get(found.column), found.comparison, found.value)]
    shown = cell(action, found.column)
    test = f"{shown} is not None and {shown} {found.comparison} {found.value!r}"
    if found.comparison == "=":
        test = f"{shown} == {found.value!r}"
    line = f"{wish.name} = [row for row in {whole(action, arguments, len(rows))} if {test}]"
    yield Rows((line,), Group(action.table.name, (*where, found)), kept, action, wish.name)


def _condition(wish: Wish, action: Action, rows: list[Row], used: set[str]) -> Where | None:
    """On a quantity or a kind that the list shows."""
    world, table = wish.world, action.table
    columns = sorted(c for c in action.paths if c not in used and not _opaque(world, action, c))
    columns = [c for c in columns if numeric(world, table, c) or category(table, c)]
    for column in wish.rng.sample(columns, len(columns)):
        known = [row[column] for row in rows if statable(row.get(column))]
        for _ in range(TRIES if known else 0):
            sign: Comparison = "=" if category(table, column) else wish.rng.choice(SIGNS)
            value = wish.rng.choice(known)
            if wish.fits(sum(meets(row.get(column), sign, value) for row in rows)):
                return Where(column, value, comparison=sign)
    return None
