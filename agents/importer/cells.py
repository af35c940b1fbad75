"""Columns with the types that the source gives them: text stays text (postcodes, numbers as ids), numbers numbers."""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from agent_world.schema import ColumnType, Json
from agent_world.tools.tables import DataTable
from agent_world.tools.tables.cells import typed, without_markers
from agent_world.tools.tables.table import KEY_NAME, primary_key

LARGEST = 2**63 - 1
"""Of an integer that every format holds."""


@dataclass(frozen=True, slots=True)
class Cells:
    kind: ColumnType
    values: list[Json]


def cells_of(name: str, values: Sequence[Json], textual: bool) -> Cells:
    """One column. `textual`: the source has text alone, so types are what every cell allows."""
    if textual:
        kind, found = typed(name, without_markers(values))
        return Cells(kind, found)
    known = [value for value in values if value is not None]
    if known and all(isinstance(value, bool) for value in known):
        return Cells("boolean", list(values))
    if known and all(isinstance(value, int) and not isinstance(value, bool) for value in known):
        if all(abs(value) <= LARGEST for value in known):
            return Cells("integer", list(values))
    elif known and all(isinstance(value, int | float) and not isinstance(value, bool) for value in known):
        return Cells("number", [None if value is None else float(value) for value in values])
    return Cells("string", [None if value is None else _text(value) for value in values])


def _text(value: Json) -> str:
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)


def key_of(table: str, columns: Mapping[str, Cells], own: str | None, part: bool) -> str | None:
    """The column that tells rows apart: the source's own key where it is unique, else what looks like one.

    Parts of other rows have none but what is called a key: that the kinds of a few items differ is chance.
    """
    if own is not None and _unique(columns[own]):
        return own
    if not columns:
        return None
    rows = tuple(zip(*(cells.values for cells in columns.values()), strict=True))
    kinds = tuple(cells.kind for cells in columns.values())
    found = primary_key(DataTable(table, tuple(columns), kinds, rows, key=""))
    return None if found and part and not KEY_NAME.search(found) else found


def _unique(cells: Cells) -> bool:
    usable = cells.kind in ("integer", "string") and None not in cells.values
    return usable and len(set(cells.values)) == len(cells.values)
