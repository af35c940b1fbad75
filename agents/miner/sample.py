"""A part of the mined rows that still joins: every reference of a kept row leads to a kept row."""

import math
import random
from collections import Counter
from collections.abc import Mapping, Sequence

from agent_world.agents.miner.material import Material, MinedTable
from agent_world.schema import ForeignKey, Json
from agent_world.tools.tables import DataTable, distinct

SMALL = 40
"""Tables up to this size are taken whole: look-up lists are of little use in parts."""
ROWS_PER_PARENT = 4
"""Rows that share a parent are preferred until there are about so many of each: a lone row makes a dull join."""


def sample(
    material: Material, share: float, max_rows: int, seed: str, keep: Mapping[str, DataTable] | None = None
) -> dict[str, DataTable]:
    """About `share` of what may be kept (`max_rows` a table), in the order of the source, plus the rows of `keep`.

    Deterministic in its arguments. Rows are selected, never altered. Foreign keys of the material hold in the result.
    """
    tables = {table.name: table for table in material.tables}
    order = children_first(material.tables)
    allowed = _allowed(tables, list(reversed(order)), max_rows, seed, keep or {})
    chosen: dict[str, set[Json]] = {name: set() for name in tables}
    for name in order:
        table = tables[name]
        size = len(allowed[name])
        wanted = size if size <= SMALL else min(size, max_rows, max(SMALL, math.ceil(share * min(size, max_rows))))
        chosen[name] |= _keys(keep, name)
        for key in _preference(table, allowed[name], wanted, f"{seed}:{name}"):
            if len(chosen[name]) >= wanted:
                break
            chosen[name].add(key)
        for foreign, key in _references(table, chosen[name], tables):
            chosen[foreign].add(key)
    return {name: _part(tables[name], chosen[name]) for name in tables}


def children_first(tables: Sequence[MinedTable]) -> list[str]:
    """Names in an order in which every table comes before those it refers to."""
    order: list[str] = []
    left = {table.name: {key.table for key in table.foreign_keys} for table in tables}
    while left:
        ready = sorted(name for name in left if not any(name in parents for parents in left.values()))
        order += ready
        left = {name: parents for name, parents in left.items() if name not in ready}
    return order


def _allowed(
    tables: Mapping[str, MinedTable], parents_first: list[str], max_rows: int, seed: str, keep: Mapping[str, DataTable]
) -> dict[str, set[Json]]:
    """Keys of the rows that may be taken: a parent too large is cut to its most referenced rows, children follow."""
    allowed: dict[str, set[Json]] = {}
    for name in parents_first:
        table = tables[name]
        keys = [key for key, row in _rows(table) if _leads_somewhere(table, row, tables, allowed)]
        uses = _uses(table, tables)
        if len(keys) > max_rows and uses:
            random.Random(f"{seed}:{name}:parents").shuffle(keys)
            kept = _keys(keep, name)
            keys = sorted(keys, key=lambda k: (k not in kept, -uses[k]))[:max_rows]
        allowed[name] = set(keys)
    return allowed


def _leads_somewhere(
    table: MinedTable, row: dict[str, Json], tables: Mapping[str, MinedTable], allowed: Mapping[str, set[Json]]
) -> bool:
    return all(
        row[key.column] is None or _parents(key, tables).get(row[key.column]) in allowed[key.table]
        for key in table.foreign_keys
    )


def _uses(table: MinedTable, tables: Mapping[str, MinedTable]) -> Counter[Json]:
    """How often each row, by its key, is referred to."""
    counts: Counter[Json] = Counter()
    for other in tables.values():
        for key in other.foreign_keys:
            if key.table == table.name:
                parents = _parents(key, tables)
                counts.update(parents[v] for v in other.table().values(key.column) if v in parents)
    return counts


def _parents(key: ForeignKey, tables: Mapping[str, MinedTable]) -> dict[Json, Json]:
    """From a referred value to the primary key of its row."""
    parent = tables[key.table].table()
    return dict(zip(parent.values(key.target), parent.values(parent.key), strict=True))


def _references(table: MinedTable, keys: set[Json], tables: Mapping[str, MinedTable]) -> list[tuple[str, Json]]:
    rows = [row for key, row in _rows(table) if key in keys]
    found = []
    for key in table.foreign_keys:
        parents = _parents(key, tables)
        found += [(key.table, parents[value]) for value in distinct(row[key.column] for row in rows)]
    return found


def _preference(table: MinedTable, allowed: set[Json], wanted: int, seed: str) -> list[Json]:
    """Keys in the order in which to take them: rows of frequent parents first, else shuffled by the seed."""
    rng = random.Random(seed)
    rows = [(key, row) for key, row in _rows(table) if key in allowed]
    rng.shuffle(rows)
    most = max(1, wanted // ROWS_PER_PARENT)
    frequent = {key.column: _frequent(rows, key.column, most, rng) for key in table.foreign_keys}
    rows.sort(key=lambda found: sum(found[1][c] not in frequent[c] for c in frequent))
    return [key for key, _ in rows]


def _frequent(rows: Sequence[tuple[Json, dict[str, Json]]], column: str, most: int, rng: random.Random) -> set[Json]:
    """Some of the values that occur most: drawn from twice as many, so that themes differ."""
    counts = Counter(row[column] for _, row in rows if row[column] is not None)
    ranked = [value for value, _ in counts.most_common(2 * most)]  # ties in the shuffled order of the rows
    return set(rng.sample(ranked, min(most, len(ranked))))


def _rows(table: MinedTable) -> list[tuple[Json, dict[str, Json]]]:
    return [(row[table.key], row) for row in table.table().records()]


def _keys(tables: Mapping[str, DataTable] | None, name: str) -> set[Json]:
    return set(tables[name].values(tables[name].key)) if tables and name in tables else set()


def _part(table: MinedTable, keys: set[Json]) -> DataTable:
    whole = table.table()
    place = whole.columns.index(whole.key)
    return whole.keep(row for row in whole.rows if row[place] in keys)
