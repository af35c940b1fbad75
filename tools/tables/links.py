"""Foreign keys between tables, found by what the values are and what the columns are called, and checked."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from agent_world.schema import ForeignKey, Json
from agent_world.tools.tables.cells import distinct
from agent_world.tools.tables.names import singular
from agent_world.tools.tables.table import DataTable

LEAST_SHARED = 0.6
"""Share of a column's distinct values that must occur in the other table for the two to join at all."""
LEAST_VALUES = 3


@dataclass(frozen=True, slots=True)
class Link:
    """`table.column` refers to `other.target`, a unique column; `shared` of its distinct values occur there."""

    table: str
    column: str
    other: str
    target: str
    shared: float
    similarity: float
    """Of the two names, 0 to 1."""

    @property
    def strength(self) -> float:
        return self.shared + self.similarity


def find_links(tables: Sequence[DataTable]) -> list[Link]:
    """At most one link a column, no two tables referring to each other in a circle; strongest first."""
    keys = {table.name: table.key for table in tables}
    kept: list[Link] = []
    for link in possible_links(tables):
        taken = any(link.table == k.table and (link.column == k.column or _twin(k, link, keys)) for k in kept)
        if not taken and not _reaches(kept, link.other, link.table):
            kept.append(link)
    return kept


def possible_links(tables: Sequence[DataTable]) -> list[Link]:
    """Every way in which two of the tables could join, strongest first."""
    found = [link for table in tables for other in tables if table is not other for link in _between(table, other)]
    size = {table.name: len(table.rows) for table in tables}
    keys = {table.name: table.key for table in tables}
    return sorted(
        found,
        key=lambda k: (-k.strength, -size[k.other], k.target != keys[k.other], k.table, k.column, k.other, k.target),
    )


def foreign_keys(table: str, links: Sequence[Link]) -> tuple[ForeignKey, ...]:
    own = sorted((link for link in links if link.table == table), key=lambda k: k.column)
    return tuple(ForeignKey(column=k.column, table=k.other, target=k.target) for k in own)


def broken(table: DataTable, key: ForeignKey, other: DataTable) -> list[Json]:
    """Values of the column that do not occur in the other table; empty means the foreign key holds."""
    there = set(other.values(key.target))
    return [v for v in distinct(table.values(key.column)) if v not in there]


def name_similarity(column: str, other: str, target: str) -> float:
    """1 for `planes.tailnum` ~ `tailnum`, or `airline_code` ~ airlines.code; less for a shared word; 0 for none."""
    one = singular(other)
    if column in (target, one, other, f"{one}_{target}", f"{other}_{target}") and target != "id":
        return 1.0
    if target == "id":
        return 1.0 if column in (one, f"{one}_id") else 0.0
    words, others = set(column.split("_")), {*target.split("_"), *one.split("_")}
    return 0.5 if words & (others - {"id", "name", "code"}) else 0.0


def _between(table: DataTable, other: DataTable) -> list[Link]:
    links = (_link(table, column, other, target) for column in table.columns for target in _targets(other))
    return [link for link in links if link]


def _targets(table: DataTable) -> list[str]:
    """The key, and other text columns whose values tell rows apart."""

    def unique(column: str) -> bool:
        values = table.values(column)
        return table.type(column) == "string" and None not in values and len(set(values)) == len(values)

    return [table.key, *(column for column in table.columns if column != table.key and unique(column))]


def _link(table: DataTable, column: str, other: DataTable, target: str) -> Link | None:
    kind = table.type(column)
    if kind != other.type(target) or kind not in ("string", "integer"):
        return None
    values, there = distinct(table.values(column)), set(other.values(target))
    if not values or not there:
        return None
    similarity = name_similarity(column, other.name, target)
    if kind == "integer" and column == other.name and column != target:
        similarity = 0.0  # professors.courses counts courses
    shared = sum(v in there for v in values) / len(values)
    mirrored = column == table.key and (target != other.key or len(there) < len(values))
    if mirrored or not _convincing(kind, len(values), shared, similarity):
        return None
    return Link(table.name, column, other.name, target, round(shared, 4), similarity)


def _convincing(kind: str, values: int, shared: float, similarity: float) -> bool:
    """Numbers coincide by chance, so their names must agree; text that all occurs there is evidence of its own."""
    if similarity == 1:
        return shared >= LEAST_SHARED
    if kind == "integer":
        return False
    return shared == 1 and (values >= LEAST_VALUES or similarity > 0)


def _twin(kept: Link, link: Link, keys: Mapping[str, str]) -> bool:
    """Rows that match by key match: that their names match too is no second link."""
    return kept.other == link.other and kept.column == keys[kept.table] and kept.target == keys[kept.other]


def _reaches(links: Sequence[Link], start: str, goal: str) -> bool:
    """Whether references lead from one table to the other."""
    return start == goal or any(_reaches(links, k.other, goal) for k in links if k.table == start)
