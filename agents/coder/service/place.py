"""A new row as a service takes it on: a loan is placed, a visit scheduled, a case opened.

It starts in the first state, with nothing of its end filled in; what it refers to must exist, and must have room for
one more where the data says how much there is. A key that counts up is given by itself.
"""

import re
from collections import Counter
from dataclasses import dataclass, field, replace
from typing import Any

from agent_world.agents.coder.data import Data, Row
from agent_world.agents.coder.design import numbered_key
from agent_world.agents.coder.service.change import NotServed
from agent_world.agents.coder.service.life_plan import DAYS
from agent_world.agents.coder.service.lifecycle import (
    OPEN,
    QUANTITY,
    Draw,
    Life,
    Limit,
    flag_of,
    limit_of,
    stock_of,
)
from agent_world.agents.coder.service.real import Real, keyed, parts
from agent_world.agents.coder.words import argument_name
from agent_world.schema import Column, Table
from agent_world.tools.tables import snake_case

PLACES = frozenset({
    "place", "book", "borrow", "order", "reserve", "schedule", "rent", "lend", "checkout", "request", "submit",
    "open", "file", "start", "issue", "loan", "hire",
})  # fmt: skip
"""Verbs by which a service takes something on."""
FIRST = ("new", "pending", "requested", "submitted", "placed", "ordered", "booked", "reserved", "scheduled", "planned",
         "open", "draft", "queued", "active", "on_loan", "borrowed", "rented")  # fmt: skip
"""States in which something begins, the first of which there is."""
BEGINS = {"scheduled": "schedule", "planned": "plan", "booked": "book", "reserved": "reserve", "ordered": "place",
          "placed": "place", "requested": "request", "submitted": "submit", "rented": "rent"}  # fmt: skip
"""State in which it begins -> verb."""
VERB_OF = {
    "order": "place", "loan": "place", "booking": "place", "reservation": "place", "inspection": "schedule",
    "appointment": "schedule", "visit": "schedule", "meeting": "schedule", "interview": "schedule",
    "shipment": "schedule", "delivery": "schedule", "request": "submit", "claim": "submit", "application": "submit",
    "complaint": "submit", "rental": "start", "subscription": "start", "membership": "start",
}  # fmt: skip
"""What is done to take on what is called so: by the last word of its noun."""
ACCRUED = re.compile(r"(^|_)(spent|sent|used|fine|fines|paid|score|late|renewals|attempts|done)($|_)")
"""Numbers that come in the course of its life, and start at nothing."""
PATTERN = re.compile(r"([A-Za-z][A-Za-z_-]*)(\d+)")


@dataclass(frozen=True, slots=True)
class Place:
    table: Table
    sets: dict[str, str] = field(default_factory=dict)
    """Argument -> column."""
    fixed: dict[str, Any] = field(default_factory=dict)
    """Columns that are given by themselves."""
    prefix: str | None = None
    """Of a key that counts up (empty: a bare number); None where the key is an argument."""
    width: int = 0
    ordered: tuple[tuple[str, str], ...] = ()
    dates: tuple[str, ...] = ()
    limit: Limit | None = None
    flags: dict[str, str] = field(default_factory=dict)
    """Argument -> column that must be true of what it names."""
    draw: Draw | None = None

    @property
    def unique(self) -> tuple[str, ...]:
        """Arguments that no row may have yet: the key, and a name that is no key of another table."""
        links = {key.column for key in self.table.foreign_keys}
        own = {self.table.primary_key, *({self.table.label or ""} if not self.table.synthetic else ())}
        return tuple(name for name, column in self.sets.items() if column in own - links)


def counted(data: Data, table: Table) -> tuple[str, int] | None:
    """Prefix and digits of keys that count up: `F001`, `F002`."""
    if numbered_key(table):
        return "", 0
    found = [PATTERN.fullmatch(str(value)) for value in data.values(table, table.primary_key)]
    if table.column(table.primary_key).type != "string" or not all(found):
        return None
    kinds = {(match[1], len(match[2])) for match in found if match}
    return kinds.pop() if len(kinds) == 1 else None


def starting(life: Life) -> dict[str, Any]:
    """What a row has by itself when it begins: its first state, and nothing of its end."""
    found: dict[str, Any] = {}
    if life.status:
        first = [v for name in FIRST for v in life.status.values if snake_case(v) == name]
        found[life.status.name] = (first or list(life.open))[0]
    elif life.flag:
        found[life.flag.name] = False
    if life.end:
        found[life.end.name] = None
    for column in life.table.columns:
        if column.name in found or column.name == life.table.primary_key:
            continue
        value = _at_first(life, column)
        if value is not None:
            found[column.name] = value
    return found


def _at_first(life: Life, column: Column) -> Any:
    """0 for what comes in the course of its life."""
    number = column.type in ("integer", "number") and ACCRUED.search(column.name)
    links = {key.column for key in life.table.foreign_keys}
    return (0 if column.type == "integer" else 0.0) if number and column.name not in links else None


def new_place(data: Data, life: Life) -> Place | None:
    """As a service without specifications would offer it; None for a table whose rows nobody takes on."""
    table = life.table
    begins = life.status or life.flag or life.end
    if not table.foreign_keys or not begins or parts(data, table):  # an order without a line is none
        return None
    fixed, key = starting(life), counted(data, table)
    columns = [c for c in table.columns if c.name not in fixed and not (key and c.name == table.primary_key)]
    sets = {argument_name(table, c.name): c.name for c in columns if not c.nullable or c is life.due}
    if life.due and life.due.nullable:
        sets = {name: column for name, column in sets.items() if column != life.due.name}
    fixed |= {c.name: None for c in columns if c.name not in sets.values()}
    return completed(data, life, Place(table, sets, fixed, *(key or (None, 0))))


def completed(data: Data, life: Life, place: Place) -> Place:
    """With the conditions that follow from what it sets."""
    own = {column: name for name, column in place.sets.items()}
    dates = tuple(name for name, column in place.sets.items() if column in {c.name for c in life.dates})
    pairs = [(life.start, life.due)] if life.start and life.due else []
    ordered = tuple((a.name, b.name) for a, b in pairs if {a.name, b.name} <= set(own) and life.in_order(a, b))
    links = [k for k in place.table.foreign_keys if k.column in own]
    limits = [found for k in links if (found := limit_of(data, life, k, own[k.column]))]
    flags = {own[k.column]: flag for k in links if (flag := flag_of(data, k))}
    return replace(
        place, ordered=ordered, dates=dates, limit=next(iter(limits), None), flags=flags, draw=_draw(data, place, own)
    )


def _draw(data: Data, place: Place, own: dict[str, str]) -> Draw | None:
    """What is taken from stock: the quantity of the one thing in stock that the row refers to."""
    amounts = [c.name for c in place.table.columns if c.type == "integer" and QUANTITY.search(c.name) and c.name in own]
    stocks = [(k, stock) for k in place.table.foreign_keys if k.column in own and (stock := stock_of(data, k))]
    if len(amounts) != 1 or len(stocks) != 1:
        return None
    link, column = stocks[0]
    return Draw(own[link.column], link, column, own[amounts[0]], data.table(link.table).primary_key)


def verb_for(life: Life) -> str:
    last = snake_case(life.table.name).rpartition("_")[2]
    noun = last.removesuffix("s")
    state = snake_case(str(starting(life).get(life.status.name))) if life.status else ""
    return VERB_OF.get(noun) or BEGINS.get(state) or ("open" if life.status or life.end else "add")


# --- Of a real tool ----------------------------------------------------------------------------------------


def plan_place(real: Real, data: Data) -> Place | None:
    """For `borrow_book(book_id, member_id, date)`: the table of which it makes a row. None for another kind of tool.
    Raises `NotServed`."""
    if real.words[0] not in PLACES or not all(real.scalar(name) for name in real.required):
        return None
    reasons: list[str] = []
    for table in _tables(real, data):
        try:
            return _placed(real, data, Life(table, data))
        except NotServed as reason:
            reasons.append(str(reason))
    if reasons:
        raise NotServed(reasons[0])
    return None


def _tables(real: Real, data: Data) -> list[Table]:
    """Those that the name speaks of, and those whose rows refer to what it speaks of; the latter with a life."""
    about = [table for table in data.tables if real.about(table)]
    names = {table.name for table in about}
    refer = [t for t in data.tables if t not in about and names & {k.table for k in t.foreign_keys}]
    found = [t for t in [*about, *refer] if t.foreign_keys and data.rows[t.name] and not t.synthetic]
    return [t for t in found if t in about or Life(t, data).lives]


def _placed(real: Real, data: Data, life: Life) -> Place:
    table, fixed, key = life.table, starting(life), counted(data, life.table)
    sets: dict[str, str] = {}
    for name in real.required:
        column = _column(life, name, sets)
        if column is None:
            raise NotServed(f"the {table.name} have no place for its argument {name}")
        sets[name] = column
    if not {k.column for k in table.foreign_keys} & set(sets.values()):
        raise NotServed(f"none of its arguments says what the new row of {table.name} refers to")
    given = table.primary_key in sets.values()
    left = {c.name: c for c in table.columns if c.name not in sets.values()}
    fixed = {name: value for name, value in fixed.items() if name in left}
    for name, other in left.items():
        if name in fixed or (name == table.primary_key and key and not given):
            continue
        if not other.nullable and name != table.primary_key:
            fixed[name] = _usual(life, other)
        elif name == table.primary_key:
            raise NotServed(f"the {name} of a new row of {table.name} is none of its arguments, and does not count up")
        else:
            fixed[name] = None
    return completed(data, life, Place(table, sets, fixed, *(key if key and not given else (None, 0))))


def _usual(life: Life, column: Column) -> Any:
    """The one value that all rows have which are still open. Raises `NotServed`."""
    rows = [row for row in life.data.rows[life.table.name] if _open(life, row)]
    seen = Counter(row[column.name] for row in rows)
    if len(seen) != 1 or not rows:
        raise NotServed(f"the {column.name} of a new row of {life.table.name} is none of its arguments")
    return next(iter(seen))


def _open(life: Life, row: Row) -> bool:
    if life.status:
        return snake_case(str(row[life.status.name])) in OPEN
    return life.end is not None and row[life.end.name] is None


def _column(life: Life, name: str, taken: dict[str, str]) -> str | None:
    """By its name; as the key of what the row refers to; a day is the one on which it begins, or is due."""
    plain, table = snake_case(name), life.table
    free = [c for c in table.columns if c.name not in taken.values()]
    exact = next((c.name for c in free if c.name == plain), None)
    if exact:
        return exact
    parent = keyed(life.data, name)
    links = [k.column for k in table.foreign_keys if parent and k.table == parent.name]
    known = [column for column in links if column in {c.name for c in free}]
    if known:
        return known[0]
    if plain in DAYS | {"start_date", "from_date"} or plain.endswith("_date"):
        days = [life.due] if plain.startswith("due") else [life.start, life.due]
        return next((day.name for day in days if day and day.name not in taken.values()), None)
    return None
