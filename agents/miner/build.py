"""From chosen candidates to material, and from material to the first bundle."""

import random
from collections.abc import Sequence

from agent_world.agents.miner.candidates import Candidate, with_short_names
from agent_world.agents.miner.complexify import first_tables
from agent_world.agents.miner.database import Database, Entry
from agent_world.agents.miner.fit import Terms
from agent_world.agents.miner.formats import likely_formats
from agent_world.agents.miner.material import Material, MinedTable
from agent_world.agents.miner.score import entropy
from agent_world.memory.store import Bundle
from agent_world.schema import Environment, ForeignKey, Origin, Provenance, Source, Theme
from agent_world.tools.tables import DataTable, broken, find_links, foreign_keys

MOST_COLUMNS = 8
ENOUGH_COLUMNS = 5
"""From six columns on, the first database leaves the least telling one for a later round."""
MOST_ROWS_KEPT = 2000
"""Of a table as material."""
LEAST_LEFT = 0.5
"""A link that would cost more than this share of a table's rows is not made."""
LONG_TEXT = 60


def make_material(chosen: Sequence[Candidate], terms: Terms, seed: str) -> Material:
    """Columns chosen, references found, rows with references to nowhere left out (selected, never altered)."""
    chosen = with_short_names(chosen)
    tables, keys = _joined([_cut(candidate.table, seed) for candidate in chosen])
    mined = []
    for candidate in chosen:
        table = tables[candidate.name]
        picked, late = _columns(table, keys, terms)
        table = table.pick(picked)
        mined.append(
            MinedTable(
                name=table.name, columns=table.columns, types=table.types, key=table.key, label=table.label,
                rows=table.rows, foreign_keys=keys[table.name], sources=candidate.sources, late_columns=late,
                headers=dict(table.headers), form=candidate.form,
            )
        )  # fmt: skip
    return Material(tables=tuple(mined))


def _cut(table: DataTable, seed: str) -> DataTable:
    if len(table.rows) <= MOST_ROWS_KEPT:
        return table
    chosen = sorted(random.Random(f"{seed}:{table.name}:cut").sample(range(len(table.rows)), MOST_ROWS_KEPT))
    return table.keep(table.rows[i] for i in chosen)


def _joined(tables: Sequence[DataTable]) -> tuple[dict[str, DataTable], dict[str, tuple[ForeignKey, ...]]]:
    """Tables whose foreign keys all hold. Dropping a row may break another link, so this goes round until none does."""
    by_name = {table.name: table for table in tables}
    links = find_links(tables)
    keys = {table.name: foreign_keys(table.name, links) for table in tables}
    while True:
        lacking = [(n, key) for n in by_name for key in keys[n] if broken(by_name[n], key, by_name[key.table])]
        if not lacking:
            return by_name, keys
        name, key = lacking[0]
        there = set(by_name[key.table].values(key.target)) | {None}
        place = by_name[name].columns.index(key.column)
        rows = [row for row in by_name[name].rows if row[place] in there]
        if len(rows) >= LEAST_LEFT * len(by_name[name].rows):
            by_name[name] = by_name[name].keep(rows)
        else:
            keys[name] = tuple(k for k in keys[name] if k != key)


def _columns(
    table: DataTable, keys: dict[str, tuple[ForeignKey, ...]], terms: Terms
) -> tuple[list[str], tuple[str, ...]]:
    """At most `MOST_COLUMNS` in the table's order, and those of them that come in later."""
    needed = {table.key, table.label, *(key.column for key in keys[table.name])}
    needed |= {key.target for own in keys.values() for key in own if key.table == table.name}
    free = [column for column in table.columns if column not in needed and len(set(table.values(column))) > 1]
    free.sort(key=lambda column: (-_worth(table, column, terms), column))
    room = max(0, MOST_COLUMNS - len(needed - {None}))
    picked = [column for column in table.columns if column in needed or column in free[:room]]
    late = free[:room][-1:] if len(picked) > ENOUGH_COLUMNS else []
    return picked, tuple(late)


def _worth(table: DataTable, column: str, terms: Terms) -> float:
    """A column named in the theme, well filled, with values that differ, not long text."""
    values = table.values(column)
    known = [v for v in values if v is not None]
    length = sum(len(str(v)) for v in known) / len(known)
    filled = len(known) / len(values)
    return 3 * terms.score(column) + filled + min(entropy(values), 4) / 4 - (1 if length > LONG_TEXT else 0)


def first_database(material: Material, seed: str, max_rows: int) -> Database:
    """Part of the rows, each table in a format like its source's."""
    tables = first_tables(material, seed, max_rows)
    database = Database()
    for mined in material.tables:
        form = database.rarest(likely_formats(mined, seed))
        database = database.with_entry(Entry(tables[mined.name], form, mined.foreign_keys))
    return database


def write_bundle(bundle: Bundle, theme: Theme, material: Material, database: Database, origin: Origin) -> Environment:
    """Write the files, then the head."""
    problems = database.problems()
    if problems:
        raise AssertionError(f"{bundle.id}: {'; '.join(problems)}")
    database.write(bundle)
    bundle.write_provenance(provenance_of(material, database))
    environment = Environment(
        id=bundle.id, name=theme.name, description=theme.description, theme=theme,
        sources=sources_of(material, database), database=database.schema(), origin=origin,
    )  # fmt: skip
    bundle.write_environment(environment)
    return environment


def sources_of(material: Material, database: Database) -> tuple[Source, ...]:
    """Where each mined file's rows came from."""
    return tuple(
        Source(**found.model_dump(exclude={"retrieved"})) for found in provenance_of(material, database).sources
    )


def provenance_of(material: Material, database: Database) -> Provenance:
    """And when."""
    found = (
        source.model_copy(update={"file": database.entry(mined.name).file})
        for mined in material.tables
        for source in mined.sources
    )
    return Provenance(sources=tuple(found))
