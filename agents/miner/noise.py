"""Realistic noise and edge cases, in tables that are marked synthetic as a whole: mined tables get none.

Of each kind one row a round: a near-duplicate (another spelling of one entry), a row in which all that is optional is
missing, a name in another script or with combining marks, a date at a boundary.
"""

import random
import unicodedata
from dataclasses import replace

from agent_world.agents.miner.database import Entry
from agent_world.agents.miner.workspace_tables import KINDS, PEOPLE, ROWS, Kind
from agent_world.schema import Json

NAMES = (
    *("Zoë Müller", "Łukasz Żak", "José Ñáñez", "Søren Ærø", "Nguyễn Ánh", "Ólafur Þór", "D’Arcy O’Neil", "İpek Şahin"),
    *("Олена Шевченко", "山田花子", "ليلى حداد", unicodedata.normalize("NFD", "Amélie Noël")),
)
"""The last one holds combining marks: equal to the eye, not to the byte."""
DATES = ("2024-02-29", "1999-12-31", "2000-01-01", "2025-12-31", "2026-01-01", "1970-01-01", "2038-01-19")
"""Leap day, ends of years, of centuries, and of clocks."""
MOST_ROWS = 2 * ROWS
"""A table of so many rows gets no more."""


def unsettled(entry: Entry, seed: str) -> tuple[Entry, str] | None:
    """A workspace table with its awkward rows of one more round, and what was added in words. None for other tables."""
    kind = next((kind for kind in KINDS if kind.name == entry.name), None)
    if kind is None or entry.derivation is None or entry.derivation.kind != "workspace" or not entry.table.rows:
        return None
    if len(entry.table.rows) >= MOST_ROWS:
        return None
    rng = random.Random(f"{seed}:{entry.name}:noise")
    made = {
        "a near-duplicate": _near_duplicate(entry, kind, rng),
        "missing values": _changed(entry, rng, {field.name: None for field in kind.fields if field.optional}),
        "a name in Unicode": _changed(entry, rng, {kind.fields[0].name: rng.choice(NAMES)}, people=kind),
        "a boundary date": _changed(entry, rng, {name: rng.choice(DATES) for name in _dates(kind)}),
    }
    rows = list(entry.table.rows)
    told = []
    for name, row in made.items():
        if row is not None and row[1:] not in {known[1:] for known in rows}:
            rows.append((_key(entry, len(rows) + 1), *row[1:]))
            told.append(name)
    if not told:
        return None
    return replace(entry, table=entry.table.keep(rows)), f"{len(told)} made-up rows in {entry.name}: {', '.join(told)}"


def _near_duplicate(entry: Entry, kind: Kind, rng: random.Random) -> tuple[Json, ...] | None:
    """An entry once more, its person's name spelled in another way."""
    place = _person(entry, kind)
    if place is None:
        return None
    row = list(rng.choice(entry.table.rows))
    name = str(row[place])
    row[place] = next(other for other in (name.upper(), name.lower(), f"{name}.") if other != name)
    return tuple(row)


def _changed(
    entry: Entry, rng: random.Random, values: dict[str, Json], people: Kind | None = None
) -> tuple[Json, ...] | None:
    """An entry once more with other values; None where there is nothing to change."""
    if not values or (people and _person(entry, people) is None):
        return None
    row = dict(zip(entry.table.columns, rng.choice(entry.table.rows), strict=True)) | values
    return tuple(row[column] for column in entry.table.columns)


def _person(entry: Entry, kind: Kind) -> int | None:
    first = kind.fields[0]
    return entry.table.columns.index(first.name) if first.options == PEOPLE else None


def _dates(kind: Kind) -> list[str]:
    return [field.name for field in kind.fields if not field.options]


def _key(entry: Entry, number: int) -> str:
    """Keys go on as they began: `R013`."""
    return f"{str(entry.table.rows[0][0])[0]}{number:03d}"
