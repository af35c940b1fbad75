"""Linking tables that say once more what a foreign key says: found, and not stored twice."""

from agent_world.agents.importer.nested import FlatTable, Flattened
from agent_world.agents.importer.report import Placed


def without_repeats(done: Flattened) -> None:
    """A list of keys inside a record (a user's orders) goes where the other table's column (an order's user) gives
    exactly the same pairs."""
    for table in [t for t in done.tables if t.listing]:
        twin = next((found for other in done.tables if other is not table and (found := _column(table, other))), None)
        if twin is not None:
            other, column = twin
            done.tables.remove(table)
            done.placed = [_repeated(p, table, other, column) for p in done.placed]


def _column(table: FlatTable, other: FlatTable) -> tuple[str, str] | None:
    """`(other, its column)` that with its key makes the same pairs."""
    value = next(name for name in table.columns if name not in (table.key, table.owner))
    pairs = sorted(zip(table.columns[table.owner or ""].values, table.columns[value].values, strict=True), key=repr)
    if table.columns[value].kind != other.columns[other.key].kind:
        return None
    for name, cells in other.columns.items():
        if name != other.key and cells.kind == table.columns[table.owner or ""].kind:
            there = zip(cells.values, other.columns[other.key].values, strict=True)
            if sorted(((o, v) for o, v in there if o is not None), key=repr) == pairs:
                return other.name, name
    return None


def _repeated(placed: Placed, table: FlatTable, other: str, column: str) -> Placed:
    if placed.table != table.name:
        return placed
    note = f"the same pairs as {other}.{column} gives, so they are not stored twice"
    return placed.model_copy(update={"how": "repeats another table", "table": other, "rows": 0, "note": note})
