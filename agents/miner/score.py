"""How complex a database is, as one number that complexification must raise (section 3.1)."""

import math
from collections import Counter
from collections.abc import Sequence

from agent_world.agents.miner.database import Database
from agent_world.schema import Json

TABLE, LINK, FORMAT, ROWS, ENTROPY, NOTE = 1.0, 1.5, 0.5, 1.0, 0.1, 0.5
"""Weights: of a table, a foreign key, a file format, a tenfold of rows, a bit of entropy in a column, a note."""


def complexity(database: Database) -> float:
    """Tables, links, formats, rows (logarithm) and the entropy of each column's values, weighted."""
    entries = database.entries
    if not entries:
        return 0.0
    rows = sum(len(entry.table.rows) for entry in entries)
    bits = sum(entropy(entry.table.values(column)) for entry in entries for column in entry.table.columns)
    score = (
        TABLE * len(entries)
        + LINK * sum(len(entry.foreign_keys) for entry in entries)
        + FORMAT * (len({entry.format for entry in entries}) + bool(database.notes))
        + NOTE * len(database.notes)
        + ROWS * math.log10(1 + rows)
        + ENTROPY * bits
    )
    return round(score, 3)


def entropy(values: Sequence[Json]) -> float:
    """Shannon entropy of the values, in bits."""
    total = len(values)
    return -sum(n / total * math.log2(n / total) for n in Counter(values).values()) if total else 0.0
