"""A bundle's database in memory: tables with where they are kept, and how it gets to disk and back."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from agent_world.memory.store import Bundle, write_bytes, write_text
from agent_world.schema import DatabaseSchema, Derivation, FileFormat, ForeignKey, Note, Table
from agent_world.tools.tables import DataTable, broken, describe, read_rows, to_bytes

ENDINGS: dict[FileFormat, str] = {
    "json": "json",
    "csv": "csv",
    "sqlite": "sqlite",
    "markdown": "md",
    "jsonl": "jsonl",
    "yaml": "yaml",
}


@dataclass(frozen=True, slots=True)
class Entry:
    table: DataTable
    format: FileFormat
    foreign_keys: tuple[ForeignKey, ...] = ()
    derivation: Derivation | None = None
    """How a synthetic table is made; None for mined ones."""

    @property
    def name(self) -> str:
        return self.table.name

    @property
    def file(self) -> str:
        return f"{self.name}.{ENDINGS[self.format]}"

    @property
    def synthetic(self) -> bool:
        return self.derivation is not None

    def describe(self) -> Table:
        table = describe(self.table, self.file, self.format, self.foreign_keys, self.synthetic)
        return table.model_copy(update={"derivation": self.derivation})


@dataclass(frozen=True, slots=True)
class NoteFile:
    note: Note
    text: str


@dataclass(frozen=True, slots=True)
class Database:
    entries: tuple[Entry, ...] = ()
    notes: tuple[NoteFile, ...] = ()

    def names(self) -> list[str]:
        return [entry.name for entry in self.entries]

    def entry(self, name: str) -> Entry:
        return next(entry for entry in self.entries if entry.name == name)

    def mined(self) -> list[Entry]:
        return [entry for entry in self.entries if not entry.synthetic]

    def tables(self) -> dict[str, DataTable]:
        return {entry.name: entry.table for entry in self.entries}

    def replaced(self, tables: Mapping[str, DataTable]) -> "Database":
        """With these tables in place of those of the same name."""
        return self.of(tuple(replace(e, table=tables.get(e.name, e.table)) for e in self.entries))

    def referring(self, keys: Mapping[str, tuple[ForeignKey, ...]]) -> "Database":
        """With these foreign keys in place of those of the tables named."""
        return self.of(tuple(replace(e, foreign_keys=keys.get(e.name, e.foreign_keys)) for e in self.entries))

    def with_entry(self, entry: Entry) -> "Database":
        return self.of((*self.entries, entry))

    def of(self, entries: tuple[Entry, ...]) -> "Database":
        """With these entries in place of all, and the same notes."""
        return replace(self, entries=entries)

    def with_note(self, note: NoteFile) -> "Database":
        return replace(self, notes=(*self.notes, note))

    def schema(self) -> DatabaseSchema:
        tables = tuple(entry.describe() for entry in self.entries)
        return DatabaseSchema(tables=tables, notes=tuple(file.note for file in self.notes))

    def problems(self) -> list[str]:
        """Keys that do not hold; empty for a sound database."""
        found = []
        for entry in self.entries:
            keys = entry.table.values(entry.table.key)
            if None in keys or len(set(keys)) < len(keys):
                found.append(f"{entry.name}.{entry.table.key} is no key")
            for key in entry.foreign_keys:
                if broken(entry.table, key, self.entry(key.table).table):
                    found.append(f"{entry.name}.{key.column} refers to rows that {key.table} lacks")
        return found

    def rarest(self, formats: Sequence[FileFormat]) -> FileFormat:
        """The first of those that are used least so far, so that formats vary."""
        used = [entry.format for entry in self.entries]
        return min(formats, key=used.count)

    def write(self, bundle: Bundle, only: Sequence[str] | None = None) -> None:
        for entry in self.entries:
            if only is None or entry.name in only:
                write_bytes(bundle.database / entry.file, to_bytes(entry.table, entry.format))
        for file in self.notes if only is None else ():
            write_text(bundle.database / file.note.file, file.text)


def load_database(bundle: Bundle, schema: DatabaseSchema) -> Database:
    return Database(
        tuple(
            Entry(read_rows(bundle.database, table), table.format, table.foreign_keys, table.derivation)
            for table in schema.tables
        ),
        tuple(NoteFile(note, (bundle.database / note.file).read_bytes().decode()) for note in schema.notes),
    )
