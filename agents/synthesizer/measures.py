"""Numbers that the rows of a group have: their own, their parent's, how many children they have, or a fold of those.

`value_of` foretells a number by the rows; `measure` makes the calls that show it. What cannot be called is no option.
"""

import re
from collections.abc import Iterator
from typing import Any

from agent_world.agents.synthesizer.derived import hinted
from agent_world.agents.synthesizer.meaning import Measure
from agent_world.agents.synthesizer.moves import reduced, statable
from agent_world.agents.synthesizer.script import Cell, Script, Site
from agent_world.agents.synthesizer.sources import category, numeric
from agent_world.agents.synthesizer.words import additive, column_words, timed
from agent_world.agents.synthesizer.world import PAGE, Action, Row, World
from agent_world.schema import Ref, Table

FOLDED = ("mean", "sum", "max", "min")
DATE = re.compile(r"\d{4}-\d\d-\d\d")


def ranked(world: World, table: Table) -> list[Measure]:
    """What rows of a table can be ranked by, as far as tools show it. Worked out once a world."""
    if table.name not in world.measures:
        world.measures[table.name] = _ranked(world, table)
    return list(world.measures[table.name])


def _ranked(world: World, table: Table) -> list[Measure]:
    days = {c.name for c in table.columns if dated(world, table, c.name) and not hinted(c.name)}
    own = [c.name for c in table.columns if rankable(world, table, c.name) or c.name in days]
    found = [Measure("own", column) for column in own if reachable(world, table, column)]
    for link, parent in links(world, table):
        columns = [c.name for c in parent.columns if rankable(world, parent, c.name)]
        found += [Measure("parent", column, parent.name, link) for column in columns]
    return [*found, *_of_children(world, table)]


def compared(world: World, table: Table) -> list[Measure]:
    """What can be compared with a value: the numbers, and categories of the row or of a parent."""
    found = [Measure("own", c.name) for c in table.columns if category(table, c.name)]
    found = [m for m in found if reachable(world, table, m.column)]
    for link, parent in links(world, table):
        found += [Measure("parent", c.name, parent.name, link) for c in parent.columns if category(parent, c.name)]
    return [*(m for m in ranked(world, table) if m.kind != "fold"), *found]


def _of_children(world: World, table: Table) -> Iterator[Measure]:
    for child, key in world.children(table.name):
        if key.target != table.primary_key or (child.derivation and child.derivation.kind == "summary"):
            continue
        if counters(world, child, key.column):
            yield Measure("children", table=child.name, link=key.column)
        for column in (c.name for c in child.columns if rankable(world, child, c.name)):
            for function in FOLDED:
                fits = (function != "sum" or additive(column_words(column))) and not timed(column_words(column))
                found = Measure("fold", column, child.name, key.column, function)
                if fits and (aggregates(world, found) or lists(world, found)):
                    yield found


def links(world: World, table: Table) -> list[tuple[str, Table]]:
    """Foreign keys that a get tool follows."""
    found = []
    for key in table.foreign_keys:
        parent = world.tables[key.table]
        gets = [a for a in world.of("get", table=key.table) if a.key and parent.primary_key == key.target]
        if gets and reachable(world, table, key.column):
            found.append((key.column, parent))
    return found


def reachable(world: World, table: Table, column: str) -> bool:
    return any(column in a.paths for a in world.of("get", "list", "related", "search", table=table.name))


def clear(world: World, table: Table, column: str) -> bool:
    """Not so where `the number of loans` of a book could be its column `loans`, or how many rows refer to it."""
    return all(child.name != column for child, _ in world.children(table.name))


def rankable(world: World, table: Table, column: str) -> bool:
    """A number that the highest of can be asked for: nobody asks for the lowest `highest price`."""
    return numeric(world, table, column) and clear(world, table, column) and not hinted(column)


def dated(world: World, table: Table, column: str) -> bool:
    """A column of days."""
    if table.column(column).type != "string" or column in (table.primary_key, table.label):
        return False
    values = world.values(table.name, column)
    return len(values) > 1 and all(DATE.fullmatch(str(value)) for value in values)


def _filters(world: World, table: str, link: str, *kinds: str) -> list[tuple[Action, str]]:
    return [
        (action, argument)
        for action in world.of(*kinds, table=table)
        for argument, column in action.filters.items()
        if column == link and not set(action.required) - {argument}
    ]


def counters(world: World, child: Table, link: str) -> list[tuple[Action, str]]:
    return [(a, n) for a, n in _filters(world, child.name, link, "count", "related", "list") if not a.inside]


def aggregates(world: World, measure: Measure) -> list[tuple[Action, str]]:
    found = _filters(world, measure.table, measure.link, "aggregate")
    return [
        (a, n) for a, n in found if (a.operation.column, a.operation.function) == (measure.column, measure.function)
    ]


def lists(world: World, measure: Measure) -> list[tuple[Action, str]]:
    found = _filters(world, measure.table, measure.link, "related", "list")
    return [(a, n) for a, n in found if measure.column in a.paths]


# --- Foretold ---------------------------------------------------------------------------------------------


def value_of(world: World, table: str, row: Row, measure: Measure) -> Any:
    """None where there is none, or where the question could mean another value."""
    if measure.kind == "own":
        return row.get(measure.column) if world.clear_cell(table, measure.column, row) else None
    if measure.kind == "parent":
        key = world.foreign_key(table, measure.link)
        rows = world.where(key.table, key.target, row.get(measure.link)) if key else []
        one = rows[0] if len(rows) == 1 and key and world.clear_cell(key.table, measure.column, rows[0]) else None
        return one.get(measure.column) if one else None
    rows = world.where(measure.table, measure.link, row.get(world.tables[table].primary_key))
    if measure.kind == "children":
        return len(rows)
    numbers = [r[measure.column] for r in rows if r.get(measure.column) is not None]
    return reduced(measure.function, numbers) if numbers and len(numbers) == len(rows) else None


def leader(world: World, sites: list[Site], measure: Measure, highest: bool) -> Site | None:
    """The only row with the greatest (or least) value, clearly ahead; None when a row lacks the value, or a column
    that counts the same gives another one."""
    values = [value_of(world, s.table, s.row, measure) for s in sites]
    if measure.kind in ("children", "fold") and sites and _otherwise(world, sites, measure, highest, values):
        return None
    if len(values) < 2 or any(not statable(v) for v in values):
        return None
    ordered = sorted(values, reverse=highest)
    first, second = ordered[0], ordered[1]
    clear = first != second and (isinstance(first, str) or abs(first - second) > 0.02 or measure.kind != "fold")
    return sites[values.index(first)] if clear else None


def _otherwise(world: World, sites: list[Site], measure: Measure, highest: bool, values: list[Any]) -> bool:
    """Whether another row leads by a column that sums up the same rows (`cars` of a manufacturer, and its cars)."""
    function = "count" if measure.kind == "children" else measure.function
    wanted = (function, measure.table, measure.link, measure.column)
    for (table, name), found in world.derived.items():
        if table == sites[0].table and (found.function, found.children, found.via, found.column) == wanted:
            said: list[Any] = [s.row.get(name) for s in sites]
            if any(v is None for v in (*said, *values)):
                return True
            best, most = (max if highest else min), (max(said) if highest else min(said))
            if said.count(most) != 1 or said.index(most) != values.index(best(values)):
                return True
    return False


# --- Called -----------------------------------------------------------------------------------------------


def measure(script: Script, site: Site, wanted: Measure) -> Cell | None:
    """Make the calls that show the number of this row. None when no tool does."""
    if wanted.kind == "own":
        return script.detail(site, wanted.column)
    if wanted.kind == "parent":
        parent = script.parent(site, wanted.link)
        return script.detail(parent, wanted.column) if parent else None
    key = script.world.tables[site.table].primary_key
    if script.detail(site, key) is None:
        return None
    return _count(script, site, wanted) if wanted.kind == "children" else _fold(script, site, wanted)


def _count(script: Script, site: Site, wanted: Measure) -> Cell | None:
    world, key = script.world, script.world.tables[site.table].primary_key
    for action, argument in counters(world, world.tables[wanted.table], wanted.link):
        if not action.accepts(argument, site.row[key]):
            continue
        step = script.call(action, {argument: site.given(key)}, script.kind_of(site.table))
        path = "count" if action.kind == "count" else "total"
        return Cell(value_of(world, site.table, site.row, wanted), (Ref(step=step, path=path),))
    return None


def _fold(script: Script, site: Site, wanted: Measure) -> Cell | None:
    world, key = script.world, script.world.tables[site.table].primary_key
    value = value_of(world, site.table, site.row, wanted)
    for action, argument in aggregates(world, wanted):
        if not action.accepts(argument, site.row[key]):
            continue
        step = script.call(action, {argument: site.given(key)}, script.kind_of(site.table))
        return Cell(value, (Ref(step=step, path="value"),))
    rows = world.where(wanted.table, wanted.link, site.row[key])
    for action, argument in lists(world, wanted):
        if (not action.paged and len(rows) > PAGE) or not action.accepts(argument, site.row[key]):
            continue
        sites = script.pages(action, {argument: site.given(key)}, rows, script.kind_of(site.table))
        cells = [s.cell(wanted.column) for s in sites]
        for cell in cells:
            script.claim(cell)
        return Cell(value, tuple(ref for cell in cells for ref in cell.refs), wanted.function)
    return None


def costly(sites: list[Site], wanted: Measure) -> bool:
    """Whether each row needs a call of its own."""
    return wanted.kind != "own" or any(wanted.column not in site.shown for site in sites)
