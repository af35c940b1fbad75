"""Columns that sum up other rows: what a bare `highest` is the highest of, and of which rows it is no longer true.

Summaries come with the data (`time_zones.highest`, `teams.wins`), and their own rows are in the database too. A
question may speak of such a value only where it can say of what it is, and where the rows say the same as the value:
else a reader who looks at the rows and one who looks at the value come to two answers.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final, Literal

from agent_world.schema import Column, ForeignKey, Table

Row = Mapping[str, Any]
Function = Literal["", "count", "distinct", "sum", "max", "min", "mean"]
HINTS: Final[Mapping[str, Function]] = {
    "highest": "max", "largest": "max", "biggest": "max", "greatest": "max", "most": "max", "max": "max",
    "maximum": "max", "dearest": "max", "heaviest": "max", "tallest": "max", "longest": "max", "strongest": "max",
    "fastest": "max", "latest": "max", "newest": "max", "oldest": "max", "deepest": "max", "hottest": "max",
    "warmest": "max", "richest": "max", "widest": "max", "busiest": "max", "best": "max", "top": "max", "peak": "max",
    "lowest": "min", "smallest": "min", "least": "min", "fewest": "min", "min": "min", "minimum": "min",
    "cheapest": "min", "lightest": "min", "shortest": "min", "weakest": "min", "slowest": "min", "earliest": "min",
    "youngest": "min", "coldest": "min", "coolest": "min", "worst": "min", "narrowest": "min",
    "mean": "mean", "average": "mean", "avg": "mean", "median": "mean",
    "total": "sum", "sum": "sum", "combined": "sum", "overall": "sum",
}  # fmt: skip
"""First words of columns that sum up; a `median` is spoken of as such, but is no mean of the rows."""
UNIT_WORDS: Final = frozenset({"in", "ft", "lb", "lbs", "kg", "g", "km", "m", "cm", "mm", "usd", "eur", "thousands",
                               "millions", "value", "mph", "kmh"})  # fmt: skip
ENDS: Final[Mapping[str, Function]] = {"first": "min", "last": "max"}
TIMES: Final = ("year", "date", "day", "month")
"""What a `first` and a `last` are superlatives of."""
DAY_PARTS: Final = frozenset({"day", "month", "hour", "minute", "week", "quarter", "weekday"})
NAMED, LIKELY, SURE = 0.0, 0.5, 0.9
"""Share of rows that have to bear out a reading that the name states, that it allows, and that it says nothing of."""
LEAST = 3
"""Rows that can bear it out."""


@dataclass(frozen=True, slots=True)
class Derived:
    """`function` over `column` of the rows of `children` whose foreign key `via` leads to the row; no function where
    nothing tells what the value is of."""

    function: Function
    children: str = ""
    via: str = ""
    column: str = ""
    disputed: frozenset[Any] = frozenset()
    """Primary keys of the rows whose value is another one than their children give."""


def tokens(column: str) -> list[str]:
    return [part for part in column.lower().split("_") if part]


def hinted(column: str) -> Function:
    """The function that the name of a column speaks of; empty for other columns."""
    known = {**HINTS, **ENDS} if column.lower().endswith(TIMES) else HINTS
    return next((known[token] for token in tokens(column) if token in known), "")


def superlative(column: str) -> bool:
    """`highest_price`: a value of which nobody asks for the highest."""
    return hinted(column) in ("max", "min")


def bare(column: str) -> bool:
    """`highest`, `tallest_in`: a function of nothing that is named."""
    return all(token in HINTS or token in UNIT_WORDS for token in tokens(column))


def day_part(table: Table, column: str) -> bool:
    """A number that is but a part of a date or a time: the latest day of a month is not the latest of all."""
    return table.column(column).type == "integer" and bool(DAY_PARTS & set(tokens(column)[-1:]))


def derived_columns(
    tables: Mapping[str, Table], rows: Mapping[str, Sequence[Row]], where: Callable[[str, str, Any], Sequence[Row]]
) -> dict[tuple[str, str], Derived]:
    """Of all tables but derived ones, whose columns say themselves what they are of."""
    found: dict[tuple[str, str], Derived] = {}
    for table in tables.values():
        if table.derivation is not None and table.derivation.kind == "summary":
            continue
        read = _Reading(tables, table, rows[table.name], where)
        columns = {c.name: read.of(c) for c in table.columns if read.quantity(c)}
        sums_up = any(d and d.function in ("count", "distinct") for d in columns.values()) or bool(
            set(columns) & {child.name for child, _ in read.links}
        )
        for name, derived in columns.items():
            unclear = derived is None and (bare(name) or (sums_up and read.shared(name)))
            if derived or unclear:
                found[table.name, name] = derived or Derived("")
    return found


@dataclass(frozen=True, slots=True)
class _Reading:
    """How the columns of one table can be read over the rows that refer to it."""

    tables: Mapping[str, Table]
    table: Table
    rows: Sequence[Row]
    where: Callable[[str, str, Any], Sequence[Row]]

    @property
    def links(self) -> list[tuple[Table, ForeignKey]]:
        plain = [t for t in self.tables.values() if t.derivation is None]
        return [(t, k) for t in plain for k in t.foreign_keys if k.table == self.table.name]

    def quantity(self, column: Column) -> bool:
        keys = {self.table.primary_key, *(k.column for k in self.table.foreign_keys)}
        return column.type in ("integer", "number") and column.name not in keys

    def shared(self, name: str) -> bool:
        """Whether the rows that refer to this table have a quantity of this name, too."""
        return any(c.name == name and c.type in ("integer", "number") for child, _ in self.links for c in child.columns)

    def of(self, column: Column) -> Derived | None:
        best: tuple[float, Derived] | None = None
        for option, least in self._options(column):
            share, disputed = self._borne_out(column.name, option)
            if share >= least and (best is None or share > best[0]):
                best = share, Derived(option.function, option.children, option.via, option.column, disputed)
        return best[1] if best else None

    def _options(self, column: Column) -> Iterator[tuple[Derived, float]]:
        """Readings, and the share of rows that has to bear out each."""
        hint, words = hinted(column.name), set(tokens(column.name))
        for child, key in self.links:
            if not hint and column.type == "integer":
                counted = column.name == child.name or "count" in words
                yield Derived("count", child.name, key.column), NAMED if counted else SURE
                for other in child.columns:
                    link = next((k.table for k in child.foreign_keys if k.column == other.name), other.name)
                    if (link != other.name or other.type == "string") and column.name in (
                        other.name,
                        f"{other.name}s",
                        link,
                    ):
                        yield Derived("distinct", child.name, key.column, other.name), NAMED
            for other in child.columns:
                quantity = other.type in ("integer", "number") and other.name != child.primary_key
                if quantity and (hint or other.name == column.name):
                    yield Derived(hint or "sum", child.name, key.column, other.name), _least(column.name, other)

    def _borne_out(self, column: str, option: Derived) -> tuple[float, frozenset[Any]]:
        target = next(k.target for k in self.tables[option.children].foreign_keys if k.column == option.via)
        known, disputed = 0, set()
        for row in self.rows:
            value, children = row.get(column), self.where(option.children, option.via, row.get(target))
            wanted = figure(option.function, option.column, children)
            if value is None or (wanted is None and option.function != "count"):
                continue
            known += 1
            if wanted is None or abs(wanted - value) > (0.006 * abs(value) if option.function == "mean" else 1e-9):
                disputed.add(row[self.table.primary_key])
        return (1 - len(disputed) / known if known >= LEAST else 0.0), frozenset(disputed)


def _least(column: str, other: Column) -> float:
    """How sure it has to be that a column named like this is a figure over the other one."""
    if not hinted(column) or bare(column):
        return LIKELY
    return NAMED if set(tokens(other.name)) <= set(tokens(column)) else SURE


def figure(function: str, column: str, rows: Sequence[Row]) -> float | None:
    """None where no row has a value."""
    values = [row[column] for row in rows if row.get(column) is not None] if column else [1 for _ in rows]
    if not values:
        return None
    match function:
        case "count" | "sum":
            return sum(values)
        case "distinct":
            return len(set(values))
        case "max" | "min":
            return max(values) if function == "max" else min(values)
    return sum(values) / len(values)
