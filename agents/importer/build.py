"""From a folder of data that others made to a bundle: read, flatten, link, write, and say what went where."""

import os
import shutil
from collections.abc import Sequence
from pathlib import Path

from agent_world.agents.importer.nested import FlatTable, Flattened, flatten
from agent_world.agents.importer.read import Source as Files
from agent_world.agents.importer.read import read_source
from agent_world.agents.importer.repeats import without_repeats
from agent_world.agents.importer.report import ImportReport
from agent_world.agents.miner.database import Database, Entry
from agent_world.errors import UsageError
from agent_world.memory.store import Bundle, write_record
from agent_world.schema import Environment, FileFormat, ForeignKey, Origin, Source, Theme, ToolSpec
from agent_world.tools.specs import read_file
from agent_world.tools.tables import DataTable, broken, possible_links, snake_case
from agent_world.tools.tables.table import label_column

REPORT = "import.json"
LARGE = 300
"""Rows from which a table is kept in SQLite, whose files are read and written faster."""
LICENCES = ("LICENSE", "LICENSE.txt", "LICENSE.md", "LICENCE", "COPYING")


def import_database(
    place: Path,
    root: Path,
    *,
    name: str,
    specs: Path | None = None,
    description: str = "",
    licence: str | None = None,
    leave_out: tuple[str, ...] = (),
) -> tuple[Bundle, ImportReport]:
    """Write the bundle `root` of the data files in `place`; `specs` are the interfaces of the service they belong to.

    Every object of the source is a row, or the report says what it is instead. Raises `UsageError` for data, a name or
    specifications that will not do; nothing is left of `root` then.
    """
    identifier = snake_case(name)
    if not identifier:
        raise UsageError(f"The name {name!r} has no letters; give the environment one that has.")
    if root.exists():
        raise UsageError(f"There is already an environment at {root}; remove it, or choose another name.")
    given = (*leave_out, specs.name) if specs and specs.resolve().is_relative_to(place.resolve()) else leave_out
    source = read_source(place, given)
    done = flatten(source.collections)
    without_repeats(done)
    database = _database(done)
    report = _report(source, done, database)
    theme = _theme(identifier, name, description, place, specs, database)
    draft = Bundle(root.parent / f".import-{os.getpid()}" / root.name)
    try:
        database.write(draft)
        write_record(draft.root / REPORT, report)
        draft.write_environment(
            Environment(
                id=identifier, name=name, description=theme.description, theme=theme, database=database.schema(),
                sources=_sources(place, source, done, database, licence), origin=Origin(engine="procedural"),
            )
        )  # fmt: skip
        draft.root.rename(root)
    finally:
        shutil.rmtree(draft.root.parent, ignore_errors=True)
    return Bundle(root), report


# --- Tables with keys --------------------------------------------------------------------------------


def _database(done: Flattened) -> Database:
    tables = [_data_table(table) for table in done.tables]
    keys = _foreign_keys(done.tables, tables)
    database = Database()
    for table in tables:
        database = database.with_entry(Entry(table, _format(table, len(database.entries)), keys[table.name]))
    problems = database.problems()
    if problems:
        raise AssertionError("; ".join(problems))
    return database


def _data_table(flat: FlatTable) -> DataTable:
    kinds = tuple(cells.kind for cells in flat.columns.values())
    rows = tuple(zip(*(cells.values for cells in flat.columns.values()), strict=True))
    table = DataTable(flat.name, tuple(flat.columns), kinds, rows, key=flat.key)
    return DataTable(flat.name, tuple(flat.columns), kinds, rows, key=flat.key, label=label_column(table))


def _format(table: DataTable, turn: int) -> FileFormat:
    """Formats in turn; CSV cannot tell an empty text from nothing, so a table with one is JSON."""
    if len(table.rows) >= LARGE:
        return "sqlite"
    empty = any(value == "" for row in table.rows for value in row)
    return "csv" if turn % 2 and not empty else "json"


def _foreign_keys(flat: Sequence[FlatTable], tables: Sequence[DataTable]) -> dict[str, tuple[ForeignKey, ...]]:
    """To the owner of a part, and every other reference to a key that holds for all rows; no circles."""
    found: dict[str, list[ForeignKey]] = {table.name: [] for table in tables}
    for part in flat:
        if part.owner:
            key = ForeignKey(column=part.owner, table=part.owner_table, target=part.owner_key, owner=not part.listing)
            found[part.name].append(key)
    by_name = {table.name: table for table in tables}
    for link in possible_links(tables):
        key = ForeignKey(column=link.column, table=link.other, target=link.target)
        taken = any(k.column == link.column for k in found[link.table])
        own = link.target == by_name[link.other].key and not _leads(found, link.other, link.table)
        if own and not taken and not broken(by_name[link.table], key, by_name[link.other]):
            found[link.table].append(key)
    return {name: tuple(sorted(keys, key=lambda k: k.column)) for name, keys in found.items()}


def _leads(keys: dict[str, list[ForeignKey]], start: str, goal: str) -> bool:
    return start == goal or any(_leads(keys, key.table, goal) for key in keys[start])


# --- What is said about it ----------------------------------------------------------------------------


def _report(source: Files, done: Flattened, database: Database) -> ImportReport:
    keys = [f"{e.name}.{k.column} -> {k.table}.{k.target}" for e in database.entries for k in e.foreign_keys]
    report = ImportReport(placed=(*done.placed, *source.left_out), keys=tuple(keys))
    if report.lost:
        raise AssertionError(f"rows were lost: {report.lost[0]}")
    return report


def _sources(
    place: Path, source: Files, done: Flattened, database: Database, licence: str | None
) -> tuple[Source, ...]:
    folder = place if place.is_dir() else place.parent
    licence = licence or next((_licence(folder / name) for name in LICENCES if (folder / name).is_file()), None)
    sizes = {p.table: p.rows for p in done.placed if p.how in ("table", "linking table")}
    return tuple(
        Source(
            file=database.entry(table.name).file, address=f"{folder.name}/{table.file}", rows=sizes[table.name],
            sha256=source.hashes[table.file], licence=licence,
        )
        for table in done.tables
    )  # fmt: skip


def _licence(path: Path) -> str:
    lines = [line.strip() for line in path.read_text(encoding="utf-8", errors="replace").splitlines()]
    return next((line for line in lines if line), path.name)[:80]


def _theme(identifier: str, name: str, description: str, place: Path, specs: Path | None, database: Database) -> Theme:
    names = tuple(entry.name.replace("_", " ") for entry in database.entries)
    text = description or f"Records of {', '.join(names[:-1])}{' and ' if len(names) > 1 else ''}{names[-1]}."
    return Theme(
        id=identifier, name=name, description=text, kind="tool_docs" if specs else "prd", source=place.name,
        keywords=names[:8], tools=_tools(specs) if specs else (),
    )  # fmt: skip


def _tools(path: Path) -> tuple[ToolSpec, ...]:
    found = read_file(path)
    if not found.tools:
        raise UsageError(f"{path} holds no tool specification that can be read; see agent-world specs {path}.")
    return tuple(spec.model_copy(update={"meta": {}}) for spec in found.specs)
