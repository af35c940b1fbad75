"""A typed table: what becomes of a table as the web shows it, before it is written into a database."""

import re
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

from agent_world.schema import Column, ColumnType, FileFormat, ForeignKey, Json, Table
from agent_world.tools.tables.cells import CODE_NAME, clean, typed, without_markers
from agent_world.tools.tables.names import foreign, singular, unique_names
from agent_world.tools.tables.numbers import shared_unit

if TYPE_CHECKING:
    from agent_world.tools.web.page import RawTable

CATEGORIES = 15
"""A text column with at most this many values, each twice on average, is a category."""
KEY_NAME = re.compile(
    r"(^|_)(id|code|iata|icao|faa|iso|key|symbol|ticker|fips|isbn|slug|abbr|abbreviation|tailnum)($|_)"
)
LONGEST_KEY = 40
"""Mean characters of a text key, at most."""
NUMBERED = re.compile(r"(^|_)(id|no|nr|number|rank|index|key|year)($|_)")
NAME = re.compile(r"(^|_)(name|title|label|model|city|country|team|player|station|item|product)($|_)")


@dataclass(frozen=True, slots=True)
class DataTable:
    """Rows under named, typed columns. `key` is unique and never null."""

    name: str
    columns: tuple[str, ...]
    types: tuple[ColumnType, ...]
    rows: tuple[tuple[Json, ...], ...]
    key: str
    label: str | None = None
    notes: tuple[str, ...] = ()
    """What reading had to change: renamed headers, dropped columns, a made key."""
    headers: Mapping[str, str] = field(default_factory=dict)
    """How the source heads a column, for those whose name says it in another script or spelling."""

    def values(self, column: str) -> list[Json]:
        place = self.columns.index(column)
        return [row[place] for row in self.rows]

    def type(self, column: str) -> ColumnType:
        return self.types[self.columns.index(column)]

    def records(self) -> list[dict[str, Json]]:
        return [dict(zip(self.columns, row, strict=True)) for row in self.rows]

    def pick(self, columns: Sequence[str]) -> "DataTable":
        """Only these columns, in this order; the key must be among them."""
        places = [self.columns.index(column) for column in columns]
        rows = tuple(tuple(row[p] for p in places) for row in self.rows)
        label = self.label if self.label in columns else None
        types = tuple(self.types[p] for p in places)
        headers = {column: self.headers[column] for column in columns if column in self.headers}
        return replace(self, columns=tuple(columns), types=types, rows=rows, label=label, headers=headers)

    def keep(self, rows: Iterable[tuple[Json, ...]]) -> "DataTable":
        return replace(self, rows=tuple(rows))


def read_table(raw: "RawTable", name: str) -> DataTable:
    """Type the columns, drop empty and repeated rows, find the key. May have no rows left; facts are never altered."""
    names, notes = unique_names(raw.header)
    notes = [*raw.notes, *notes]
    width = len(names)
    cells = [[clean(cell) for cell in row[:width]] + [None] * (width - len(row)) for row in raw.rows]
    cells = [row for row in cells if [str(c) for c in row] != [clean(h) for h in raw.header]]
    columns = [without_markers(values) for values in zip(*cells, strict=True)] if cells else [[] for _ in names]
    names, columns = _without_units(names, columns, notes)
    headers = {
        name: " ".join(str(title).split()) for name, title in zip(names, raw.header, strict=True) if foreign(title)
    }
    types: dict[str, ColumnType] = {}
    kept: dict[str, list[Json]] = {}
    for title, values in zip(names, columns, strict=True):
        if all(v is None for v in values):
            notes.append(f"empty column {title} dropped")
        else:
            types[title], kept[title] = typed(title, values)
    rows = _without_repeats(zip(*kept.values(), strict=True))
    if len(rows) < len(cells):
        notes.append(f"{len(cells) - len(rows)} empty or repeated rows dropped")
    headers = {column: headers[column] for column in kept if column in headers}
    table = DataTable(
        name, tuple(kept), tuple(types.values()), tuple(rows), key="", notes=tuple(notes), headers=headers
    )
    return _with_key(table)


def _without_units(
    names: Sequence[str], columns: Sequence[list[Json]], notes: list[str]
) -> tuple[list[str], list[list[Json]]]:
    """A unit that all cells of a column carry goes into its name: `weight` of `12 kg` becomes `weight_kg` of 12."""
    named, bare = list(names), list(columns)
    for place, (name, values) in enumerate(zip(names, columns, strict=True)):
        if CODE_NAME.search(name) or not (found := shared_unit(values)):
            continue
        unit, word, bare[place] = found
        wanted = name if word in name.split("_") or name.endswith(word) else f"{name}_{word}"
        named[place] = wanted if wanted == name or wanted not in named else name
        notes.append(f"unit {unit} of every cell of {name} is in the name {named[place]}")
    return named, bare


def _without_repeats(rows: Iterable[tuple[Json, ...]]) -> list[tuple[Json, ...]]:
    return [row for row in dict.fromkeys(rows) if any(v is not None for v in row)]


def _with_key(table: DataTable) -> DataTable:
    key = primary_key(table)
    if key is None:
        table = _numbered(table)
        key = table.columns[0]
    table = replace(table, key=key)
    return replace(table, label=label_column(table))


def _numbered(table: DataTable) -> DataTable:
    name = "id" if "id" not in table.columns else f"{singular(table.name)}_id"
    rows = tuple((number, *row) for number, row in enumerate(table.rows, 1))
    return replace(
        table, columns=(name, *table.columns), types=("integer", *table.types), rows=rows,
        notes=(*table.notes, f"no column is a key: numbered rows in {name}"),
    )  # fmt: skip


def primary_key(table: DataTable) -> str | None:
    """The column that identifies a row: unique, never null, not a measure. None where there is none."""
    scored = [
        (score, -place, name) for place, name in enumerate(table.columns) if (score := _key_score(table, name)) > 0
    ]
    return max(scored)[2] if scored else None


def _key_score(table: DataTable, name: str) -> float:
    values, kind = table.values(name), table.type(name)
    if kind in ("number", "boolean") or not values or None in values or len(set(values)) < len(values):
        return 0
    own = name in (singular(table.name), table.name)
    first = 3.0 if table.columns[0] == name else 0.5
    if kind == "integer":
        return first + 3 if own or re.search(r"(^|_)id($|_)", name) else first if NUMBERED.search(name) else 0
    if sum(len(str(v)) for v in values) / len(values) > LONGEST_KEY:
        return 0
    return first + (4 if KEY_NAME.search(name) else 3 if own else 1 if NAME.search(name) else 0)


def label_column(table: DataTable) -> str | None:
    """The unique text column that people call a row by; the key itself where it is a name."""

    def fits(name: str) -> bool:
        values = table.values(name)
        return table.type(name) == "string" and None not in values and len(set(values)) == len(values)

    named = [name for name in table.columns if NAME.search(name) and not KEY_NAME.search(name) and fits(name)]
    return named[0] if named else None


def describe(
    table: DataTable, file: str, format: FileFormat, foreign_keys: tuple[ForeignKey, ...] = (), synthetic: bool = False
) -> Table:
    """The table's entry in a database schema."""
    columns = tuple(_column(table, name) for name in table.columns)
    return Table(
        name=table.name, file=file, format=format, rows=len(table.rows), columns=columns, primary_key=table.key,
        label=table.label, foreign_keys=foreign_keys, synthetic=synthetic,
    )  # fmt: skip


def _column(table: DataTable, name: str) -> Column:
    values = table.values(name)
    counts = Counter(v for v in values if v is not None)
    category = table.type(name) == "string" and len(counts) <= CATEGORIES and 2 * len(counts) <= len(values)
    return Column(
        name=name, type=table.type(name), nullable=None in values,
        unique=bool(values) and None not in values and len(counts) == len(values),
        values=tuple(sorted(counts)) if category else (), description=table.headers.get(name, ""),
    )  # fmt: skip
