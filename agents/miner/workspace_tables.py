"""Places for the agent's own work: watch lists, reviews and the like, which refer to mined rows and may be written.

All rows are made up and marked so (`synthetic`); they hold the awkward cases that real records rarely show: nothing
due, two entries for one row, limits of a scale. Mined facts are never touched.
"""

import random
from dataclasses import dataclass

from agent_world.agents.miner.database import Database, Entry
from agent_world.schema import ColumnType, Derivation, FileFormat, ForeignKey, Json
from agent_world.tools.tables import DataTable, singular

ROWS = 12
PEOPLE = ("Amara", "Bruno", "Chen", "Dalia", "Emil", "Farah", "Goran", "Hana", "Idris", "Jonas", "Keiko", "Lucia")


@dataclass(frozen=True, slots=True)
class Field:
    name: str
    type: ColumnType
    options: tuple[Json, ...] = ()
    """Values to draw from; a date column has none."""
    optional: bool = False


@dataclass(frozen=True, slots=True)
class Kind:
    name: str
    fields: tuple[Field, ...]


def _text(name: str, *options: str) -> Field:
    return Field(name, "string", options)


PRIORITY = _text("priority", "low", "normal", "high")
KINDS = (
    Kind(
        "watchlist_entries",
        (
            _text("owner", *PEOPLE),
            PRIORITY,
            Field("alerts_sent", "integer", (0, 1, 2, 5)),
            Field("due_on", "string", optional=True),
        ),
    ),
    Kind(
        "reviews",
        (
            _text("reviewer", *PEOPLE),
            Field("stars", "integer", (1, 2, 3, 4, 5)),
            _text("verdict", "keep", "check", "replace"),
            Field("reviewed_on", "string"),
        ),
    ),
    Kind(
        "follow_ups",
        (
            _text("assignee", *PEOPLE),
            _text("status", "open", "waiting", "closed"),
            Field("hours_spent", "number", (0.0, 0.5, 1.0, 1.5, 2.25, 8.0)),
            Field("closed_on", "string", optional=True),
        ),
    ),
    Kind(
        "shortlist_entries",
        (
            _text("added_by", *PEOPLE),
            Field("place", "integer", (1, 2, 3, 4)),
            Field("confirmed", "boolean", (True, False)),
            Field("added_on", "string"),
        ),
    ),
    Kind(
        "inspections",
        (
            _text("inspector", *PEOPLE),
            _text("result", "passed", "failed", "pending"),
            Field("score", "integer", (0, 40, 65, 80, 95, 100)),
            Field("inspected_on", "string", optional=True),
        ),
    ),
    Kind(
        "change_requests",
        (
            _text("requested_by", *PEOPLE),
            PRIORITY,
            _text("status", "new", "accepted", "rejected"),
            Field("decided_on", "string", optional=True),
        ),
    ),
)


def next_workspace(database: Database, format: FileFormat, seed: str) -> Entry | None:
    """A workspace table of a kind that the database lacks, on the mined table that has fewest of them."""
    taken = set(database.names())
    free = [kind for kind in KINDS if kind.name not in taken]
    if not free or not database.mined():
        return None
    kind = free[random.Random(f"{seed}:kind").randrange(len(free))]
    target = _target(database)
    return build_workspace(kind, target, format, f"{seed}:{kind.name}")


def _target(database: Database) -> Entry:
    """The table of things people name: it has names or a key of its own, and many rows."""
    on = [e.derivation.table for e in database.entries if e.derivation and e.derivation.kind == "workspace"]

    def worth(entry: Entry) -> tuple[int, bool, int, str]:
        own_key = entry.table.key not in ("id",) and entry.table.type(entry.table.key) == "string"
        return -on.count(entry.name), bool(entry.table.label) or own_key, len(entry.table.rows), entry.name

    return max(database.mined(), key=worth)


def build_workspace(kind: Kind, target: Entry, format: FileFormat, seed: str) -> Entry:
    """`ROWS` rows (fewer for a tiny target); the first two concern the same row of the target."""
    rng = random.Random(seed)
    key, reference = f"{singular(kind.name)}_id", reference_name(target, kind)
    keys = target.table.values(target.table.key)
    about = rng.sample(keys, min(ROWS - 1, len(keys)))
    about = [about[0], *about][:ROWS]
    rows = [
        (f"{kind.name[0].upper()}{number:03d}", value, *(_draw(field, rng, number) for field in kind.fields))
        for number, value in enumerate(about, 1)
    ]
    table = DataTable(
        kind.name,
        (key, reference, *(field.name for field in kind.fields)),
        ("string", target.table.type(target.table.key), *(field.type for field in kind.fields)),
        tuple(rows),
        key=key,
    )
    link = ForeignKey(column=reference, table=target.name, target=target.table.key)
    derivation = Derivation(kind="workspace", table=target.name)
    return Entry(table, format, (link,), derivation)


def reference_name(target: Entry, kind: Kind) -> str:
    """`tailnum` for planes.tailnum, `airline_carrier`, `flight_id` for flights.id."""
    one, key = singular(target.name), target.table.key
    name = key if key == one or key.startswith(f"{one}_") else f"{one}_{key}"
    return f"{name}_ref" if name in {field.name for field in kind.fields} else name


def _draw(field: Field, rng: random.Random, number: int) -> Json:
    """The second row has what is optional left out; so have some others."""
    if field.optional and (number == 2 or rng.random() < 0.2):
        return None
    if field.options:
        return rng.choice(field.options)
    year, months = (2026, (2, 3, 4)) if field.name == "due_on" else (2025, (10, 11, 12))
    return f"{year}-{rng.choice(months):02d}-{rng.randint(1, 28):02d}"
