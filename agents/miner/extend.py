"""More for a database that is there: rows of listings that go on, a further table that joins; references checked."""

from collections.abc import Sequence
from dataclasses import replace

from agent_world.agents.miner.build import LEAST_LEFT, MOST_ROWS_KEPT, make_material
from agent_world.agents.miner.candidates import Candidate
from agent_world.agents.miner.crawl import place_of
from agent_world.agents.miner.fit import Terms
from agent_world.agents.miner.material import Material, MinedTable
from agent_world.agents.miner.procedural import LEAST_FIT, same_things
from agent_world.schema import ForeignKey
from agent_world.tools.tables import DataTable, broken, find_links


def extended(material: Material, candidates: Sequence[Candidate], terms: Terms, seed: str) -> Material | None:
    """With the best fitting candidate that joins with a table of the material; None where none does.

    Tables keep their rows and columns. One may get a reference to the new table, where every row of it holds.
    """
    known = {source.address for table in material.tables for source in table.sources}
    tables = [table.table() for table in material.tables]
    for candidate in candidates:
        read = any(source.address in known for source in candidate.sources)
        if candidate.fit < LEAST_FIT or read or same_things(candidate.table, tables):
            continue
        found = _joined(material, _as_material(candidate, material.names(), terms, seed))
        if found is not None:
            return found
    return None


def longer(material: Material, candidates: Sequence[Candidate]) -> Material:
    """With the rows that further pages of its tables' listings gave. Rows that are there stay as they are; new ones
    must refer to rows that are there."""
    for place, table in enumerate(material.tables):
        whole = {other.name: other.table() for other in material.tables}
        found = next((more for c in candidates if (more := _more_rows(table, c, material, whole))), None)
        if found is not None:
            material = Material(tables=(*material.tables[:place], found, *material.tables[place + 1 :]))
    return material


def _more_rows(
    table: MinedTable, candidate: Candidate, material: Material, whole: dict[str, DataTable]
) -> MinedTable | None:
    """The table continued by a candidate of the same listing; None where that is none, or would change anything."""
    listing = {place_of(source.address) for source in table.sources}
    found = candidate.table
    same = listing & {place_of(source.address) for source in candidate.sources} and found.key == table.key
    if not same or not set(table.columns) <= set(found.columns):
        return None
    more = found.pick(table.columns)
    if more.types != table.types or not set(table.rows) < set(more.rows):
        return None
    known = set(whole[table.name].values(table.key))
    refer = [
        (table.columns.index(key.column), {*whole[key.table].values(key.target), None}) for key in table.foreign_keys
    ]
    keys = more.values(table.key)
    new = [
        row for key, row in zip(keys, more.rows, strict=True)
        if key not in known and all(row[at] in there for at, there in refer)
    ]  # fmt: skip
    rows = (*table.rows, *new)[:MOST_ROWS_KEPT]
    targets = {key.target for other in material.tables for key in other.foreign_keys if key.table == table.name}
    grown = table.model_copy(update={"rows": rows, "sources": candidate.sources})
    told_apart = all(len({*values}) == len(values) for t in targets if (values := grown.table().values(t)))
    return grown if len(rows) > len(table.rows) and told_apart else None


def _as_material(candidate: Candidate, taken: Sequence[str], terms: Terms, seed: str) -> MinedTable:
    name = candidate.short if candidate.short not in taken else f"further_{candidate.short}"
    named = replace(candidate, table=replace(candidate.table, name=name), short=name)
    table = make_material([named], terms, seed).tables[0]
    return table.model_copy(update={"late_columns": ()})


def _joined(material: Material, new: MinedTable) -> Material | None:
    if new.name in material.names():
        return None
    tables = {table.name: table.table() for table in material.tables}
    own, others = _references(new, material, tables)
    if not own and not others:
        return None
    table = new.table()
    for key in own:
        there = {*tables[key.table].values(key.target), None}
        table = table.keep(row for row in table.rows if row[table.columns.index(key.column)] in there)
    kept = len(table.rows) >= max(2, LEAST_LEFT * len(new.rows))
    if not kept or any(broken(tables[name], key, table) for name, key in others):
        return None
    added = new.model_copy(update={"rows": table.rows, "foreign_keys": own})
    grown = [_referring(known, [key for name, key in others if name == known.name]) for known in material.tables]
    return Material(tables=(*grown, added))


def _referring(table: MinedTable, keys: Sequence[ForeignKey]) -> MinedTable:
    return table.model_copy(update={"foreign_keys": (*table.foreign_keys, *keys)})


def _references(
    new: MinedTable, material: Material, tables: dict[str, DataTable]
) -> tuple[tuple[ForeignKey, ...], list[tuple[str, ForeignKey]]]:
    """Of the new table to known ones, and of known ones to it; columns that refer already, or come later, stay."""
    table = new.table()
    links = find_links([table, *tables.values()])
    own = [k for k in links if k.table == new.name]
    into = {k.other for k in own}
    taken = {t.name: {key.column for key in t.foreign_keys} | {*t.late_columns} for t in material.tables}
    others = [
        (k.table, ForeignKey(column=k.column, table=new.name, target=k.target))
        for k in links
        if k.other == new.name and k.column not in taken[k.table] and k.table not in into
        and not broken(tables[k.table], ForeignKey(column=k.column, table=new.name, target=k.target), table)
    ]  # fmt: skip
    # References both ways would make a circle, which sampling rows cannot follow.
    kept = own if not others else []
    return tuple(ForeignKey(column=k.column, table=k.other, target=k.target) for k in kept), others
