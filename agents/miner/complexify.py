"""Complexification (section 3.1, D(n+1) = phi(D(n), m)): a database made richer, mined facts unaltered.

A round brings in more of the mined rows (and columns, while no tools depend on them) and tables that further pages
gave, derives a summary or linking table from the real rows, adds a place for the agent's own work, and awkward rows to
this and such places of earlier rounds. Existing tables keep their columns and rows.
"""

from collections.abc import Mapping
from dataclasses import replace

from agent_world.agents.miner.database import Database, Entry
from agent_world.agents.miner.derive import next_summary, summarize
from agent_world.agents.miner.formats import ALL, likely_formats, turned
from agent_world.agents.miner.material import Material
from agent_world.agents.miner.noise import unsettled
from agent_world.agents.miner.notes import next_note
from agent_world.agents.miner.sample import sample
from agent_world.agents.miner.score import complexity
from agent_world.agents.miner.workspace_tables import next_workspace
from agent_world.schema import ComplexificationRound, FileFormat
from agent_world.tools.tables import DataTable

FIRST_SHARE = 0.6
"""Of the mined rows in the first database. Each round halves what is left out, so that something is always left for
growth in the loop, and themes about one topic still differ."""


def share_after(round: int) -> float:
    return 1.0 - (1.0 - FIRST_SHARE) / (1 << round)


def complexify(
    database: Database,
    material: Material,
    round: int,
    seed: str,
    max_rows: int,
    *,
    columns: bool = True,
    notes: bool = False,
) -> tuple[Database, ComplexificationRound | None]:
    """Round `round` (from 1). `columns` False is for a database whose tools exist already: `left_out` says what they
    keep out.

    None instead of a record where nothing is left to add: then the database comes back as it was.
    """
    grown, changes = _more_material(database, material, round, seed, max_rows, columns)
    formats = turned(ALL, f"{seed}:formats")
    if (summary := _summary(grown, grown.rarest(formats))) is not None:
        grown = grown.with_entry(summary)
        changes.append(_told(summary))
    written = any(entry.format == "markdown" for entry in grown.entries)
    own: FileFormat = "markdown" if notes and not written else grown.rarest(formats)
    if (place := next_workspace(grown, own, f"{seed}:{round}")) is not None:
        grown = grown.with_entry(place)
        changes.append(_told(place))
    if columns:  # tools have been tested on the values that there are
        grown, noise = _noise(grown, f"{seed}:{round}")
        changes += noise
    note = next_note(grown, f"{seed}:{round}") if notes and columns else None
    if note is not None:
        grown = grown.with_note(note)
        changes.append(f"{note.note.file}: a made-up note on rows of {note.note.table}")
    before, after = complexity(database), complexity(grown)
    if after <= before:
        return database, None
    files = (
        *(e.file for e in grown.entries if e.name not in database.names()),
        *(file.note.file for file in grown.notes if file not in database.notes),
    )
    return grown, ComplexificationRound(
        number=round, changes=tuple(changes), score_before=before, score_after=after, files=files
    )


def left_out(database: Database, material: Material, notes: bool) -> tuple[str, ...]:
    """What a round adds to a database without tools alone, as far as it would have something to add; and why."""
    known = {entry.name: entry.table.columns for entry in database.mined()}
    late = [f"{t.name}.{c}" for t in material.tables for c in t.columns if t.name in known and c not in known[t.name]]
    noisy = [e.name for e in database.entries if unsettled(e, "")]
    found = [f"mined columns {', '.join(late)}: the tools do not know them"] if late else []
    found += [f"awkward rows in {', '.join(noisy)}: the tools were tested without them"] if noisy else []
    return (*found, *(["a note: no tool would read it"] if notes else []))


def _more_material(
    database: Database, material: Material, round: int, seed: str, max_rows: int, columns: bool
) -> tuple[Database, list[str]]:
    """More mined rows and columns; summaries are made again, so that they agree with the rows."""
    mined = {entry.name: entry.table for entry in database.mined()}
    if not set(mined) <= {table.name for table in material.tables}:
        return database, []
    more = sample(material, share_after(round), max_rows, seed, keep=mined)
    tables = {name: _fitted(more[name], mined[name], columns) for name in mined}
    changes = [change for name in mined for change in _compared(mined[name], tables[name])]
    grown = database.replaced(tables)
    for new in material.tables:
        if new.name not in grown.names():
            grown = grown.with_entry(Entry(more[new.name], grown.rarest(likely_formats(new, seed)), new.foreign_keys))
            changes.append(f"mined table {new.name} of {len(more[new.name].rows)} rows from further pages")
    grown = grown.referring({table.name: table.foreign_keys for table in material.tables})
    for entry in grown.entries:
        if entry.derivation and entry.derivation.kind == "summary":
            grown = grown.replaced({entry.name: summarize(grown, entry.derivation, entry.format).table})
    return grown, changes


def _noise(database: Database, seed: str) -> tuple[Database, list[str]]:
    """Awkward rows in the places for work."""
    changes = []
    entries = []
    for entry in database.entries:
        found = unsettled(entry, seed)
        entries.append(found[0] if found else entry)
        changes += [found[1]] if found else []
    return database.of(tuple(entries)), changes


def _fitted(more: DataTable, now: DataTable, columns: bool) -> DataTable:
    return more if columns else replace(more.pick(now.columns), label=now.label)


def _compared(before: DataTable, after: DataTable) -> list[str]:
    changes = []
    if len(after.rows) > len(before.rows):
        changes.append(f"{len(after.rows) - len(before.rows)} more mined rows in {before.name}")
    new = [column for column in after.columns if column not in before.columns]
    if new:
        changes.append(f"mined column {', '.join(new)} added to {before.name}")
    return changes


def _summary(database: Database, format: FileFormat) -> Entry | None:
    derivation = next_summary(database)
    return summarize(database, derivation, format) if derivation else None


def _told(entry: Entry) -> str:
    derivation = entry.derivation
    assert derivation is not None
    if derivation.kind == "summary":
        return f"{entry.name}: {derivation.table} counted by {' and '.join(derivation.group)}"
    return f"{entry.name}: {len(entry.table.rows)} made-up rows for work on {derivation.table}"


def first_tables(material: Material, seed: str, max_rows: int) -> Mapping[str, DataTable]:
    """The database before any round: part of the rows, late columns left out."""
    tables = sample(material, FIRST_SHARE, max_rows, seed)
    return {
        mined.name: tables[mined.name].pick([c for c in mined.columns if c not in mined.late_columns])
        for mined in material.tables
    }
