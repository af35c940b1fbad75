"""Tables derived from mined rows: a summary a group, or of each pair that occurs (a linking table)."""

from collections.abc import Iterator
from itertools import combinations

from agent_world.agents.miner.database import Database, Entry
from agent_world.agents.miner.score import entropy
from agent_world.schema import ColumnType, Derivation, FileFormat, ForeignKey, Json
from agent_world.tools.tables import DataTable, distinct, singular

FEWEST_GROUPS, MOST_GROUPS = 2, 60
NUMBERED_GROUPS = frozenset(
    ("year", "month", "season", "week", "quarter", "category", "class", "level", "grade", "rank")
)
"""Names of whole numbers by which people group; others are measures."""
POSITIONS = frozenset(("lat", "lon", "long", "latitude", "longitude", "id", "number", "rank", "flight"))
DATES = frozenset(("year", "month", "day", "hour", "first", "last"))
STATISTICS = frozenset(("mean", "average", "lowest", "highest", "cheapest", "dearest", "largest", "most"))
NO_MEASURE = POSITIONS | DATES | STATISTICS
"""Words of columns whose mean tells nothing."""


def next_summary(database: Database) -> Derivation | None:
    """The most telling summary that the database does not hold yet."""
    made = {(e.derivation.table, e.derivation.group) for e in database.entries if e.derivation}
    taken = set(database.names())
    found = [
        d for d in _possible(database) if (d.table, d.group) not in made and summary_name(d) not in taken
    ]  # fmt: skip
    return max(found, key=lambda d: (_worth(database, d), d.table, d.group)) if found else None


def summary_name(derivation: Derivation) -> str:
    return f"{derivation.table}_by_{'_and_'.join(derivation.group)}"


def summarize(database: Database, derivation: Derivation, format: FileFormat) -> Entry:
    """The summary of the rows as they are now: count, and mean, least and greatest measure of each group."""
    source = database.entry(derivation.table)
    groups: dict[tuple[Json, ...], list[Json]] = {}
    for row in source.table.records():
        group = tuple(row[column] for column in derivation.group)
        if None not in group:
            groups.setdefault(group, []).append(row[derivation.measure] if derivation.measure else None)
    ordered = sorted(groups, key=lambda g: [(str(type(v)), v) for v in g])
    lines = [(*group, len(groups[group]), *_statistics(groups[group], derivation.measure)) for group in ordered]
    return Entry(_table(source.table, derivation, lines), format, _foreign_keys(source, derivation), derivation)


def _table(source: DataTable, derivation: Derivation, lines: list[tuple[Json, ...]]) -> DataTable:
    columns = [*derivation.group, f"{singular(source.name)}_count"]
    types: list[ColumnType] = [*(source.type(c) for c in derivation.group), "integer"]
    if derivation.measure:
        columns += [f"{word}_{derivation.measure}" for word in ("average", "lowest", "highest")]
        types += ["number", source.type(derivation.measure), source.type(derivation.measure)]
    key = derivation.group[0]
    if len(derivation.group) > 1:
        key = "pair_id"
        columns, types = [key, *columns], ["integer", *types]
        lines = [(number, *line) for number, line in enumerate(lines, 1)]
    headers = {column: title for column, title in source.headers.items() if column in columns}
    return DataTable(summary_name(derivation), tuple(columns), tuple(types), tuple(lines), key=key, headers=headers)


def _statistics(values: list[Json], measure: str | None) -> tuple[Json, ...]:
    if measure is None:
        return ()
    known = [v for v in values if v is not None]
    return (round(sum(known) / len(known), 2), min(known), max(known)) if known else (None, None, None)


def _foreign_keys(source: Entry, derivation: Derivation) -> tuple[ForeignKey, ...]:
    """A group that is a reference in the source is one in the summary too."""
    return tuple(key for key in source.foreign_keys if key.column in derivation.group)


def _possible(database: Database) -> Iterator[Derivation]:
    for entry in database.mined():
        measure = _measure(entry)
        grouping = [column for column in entry.table.columns if _groups(entry, column)]
        for column in grouping:
            yield Derivation(kind="summary", table=entry.name, group=(column,), measure=measure)
        for pair in combinations(grouping, 2):
            if _pairs(entry.table, pair) * 2 <= len(entry.table.rows):
                yield Derivation(kind="summary", table=entry.name, group=pair, measure=measure)


def _worth(database: Database, derivation: Derivation) -> float:
    """A pair links two tables; a group that has a table of its own is told by that table already."""
    entry = database.entry(derivation.table)
    referring = {key.column for key in entry.foreign_keys}
    known = sum(column in referring for column in derivation.group)
    size = len(entry.table.rows)
    bonus = 3.0 if known == len(derivation.group) == 2 else 2.0 if known == 0 and len(derivation.group) == 1 else 1.0
    return bonus + min(size, 200) / 100 + (0.5 if derivation.measure else 0)


def _groups(entry: Entry, column: str) -> bool:
    table = entry.table
    values = table.values(column)
    if column in (table.key, table.label) or table.type(column) == "number" or len(values) < 8:
        return False
    referring = column in {key.column for key in entry.foreign_keys}
    if table.type(column) == "integer" and not referring and column not in NUMBERED_GROUPS:
        return False
    return FEWEST_GROUPS <= len(distinct(values)) <= min(MOST_GROUPS, len(values) // 2)


def _pairs(table: DataTable, pair: tuple[str, ...]) -> int:
    return len(set(zip(*(table.values(column) for column in pair), strict=True)))


def _measure(entry: Entry) -> str | None:
    """The numeric column that says most, no position, date or number plate."""
    table, referring = entry.table, {key.column for key in entry.foreign_keys}
    numeric = [
        column
        for column, kind in zip(table.columns, table.types, strict=True)
        if kind in ("integer", "number") and column != table.key and column not in referring
        and not NO_MEASURE & set(column.split("_"))
    ]  # fmt: skip
    return max(numeric, key=lambda c: (round(entropy(table.values(c)), 6), c)) if numeric else None
