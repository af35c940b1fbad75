"""The life of a row, read from the names and the values of its table: the states it goes through, the dates that frame
it, whose it is. What the data does not show is not guessed."""

import re
from dataclasses import dataclass
from functools import cached_property

from agent_world.agents.coder.data import Data
from agent_world.schema import Column, ForeignKey, Table
from agent_world.tools.sql import sql_name
from agent_world.tools.tables import snake_case

OPEN = frozenset({
    "open", "new", "pending", "waiting", "requested", "placed", "ordered", "booked", "reserved", "scheduled",
    "planned", "draft", "submitted", "active", "in_progress", "queued", "confirmed", "on_loan", "borrowed", "rented",
    "assigned", "processing", "received", "unpaid", "created", "shipped",
})  # fmt: skip
"""States in which a row still has something before it."""
VERBS = {
    "closed": "close", "completed": "complete", "done": "complete", "finished": "finish", "returned": "return",
    "accepted": "accept", "approved": "approve", "resolved": "resolve", "delivered": "deliver", "passed": "pass",
    "paid": "pay", "settled": "settle", "fulfilled": "fulfill", "cancelled": "cancel", "canceled": "cancel",
    "rejected": "reject", "declined": "decline", "denied": "deny", "failed": "fail", "withdrawn": "withdraw",
    "refunded": "refund", "released": "release", "archived": "archive", "expired": "expire",
}  # fmt: skip
"""Final states, and what is done to reach them; the wished for before the others."""
FROM = {"refunded": ("paid", "delivered"), "returned": ("delivered", "borrowed", "rented", "on_loan")}
"""Final states that follow on others than the open ones, where there are such."""
FLAGS = {"confirmed": "confirm", "approved": "approve", "resolved": "resolve", "paid": "pay", "archived": "archive",
         "cancelled": "cancel", "completed": "complete", "done": "complete", "closed": "close", "delivered": "deliver",
         "returned": "return", "shipped": "ship", "verified": "verify", "published": "publish"}  # fmt: skip
STATES = re.compile(r"(^|_)(status|state|stage|phase|result|outcome|decision)$")
DATE = re.compile(r"\d{4}-\d\d-\d\d")
DUE = re.compile(r"(^|_)(due|deadline|expires|expiry|renewal|valid_until)($|_)")
END = re.compile(
    r"(^|_)(returned|return|closed|ended|end|until|finished|completed|decided|inspected|resolved|delivered|cancelled|"
    r"checkout|check_out|settled|paid)($|_)"
)
START = re.compile(
    r"(^|_)(lent|loaned|loan|start|started|begin|from|borrowed|ordered|order|booked|reserved|opened|created|added|"
    r"requested|placed|rented|rental|since|submitted|check_in|checkin|issued|assigned)($|_)"
)
HELD_BY = re.compile(r"(^|_)(owner|assignee|assigned_to|agent|handler|responsible|inspector|manager|caretaker)$")
ROOM = re.compile(r"(^|_)(copies|capacity|slots|beds|max_(loans|bookings|members|guests|tickets|players|students))$")
"""Columns of a thing that say how many can have it at a time."""
AVAILABLE = re.compile(r"(^|_)(available|in_stock|bookable|on_sale|for_rent|lendable)($|_)")
"""Boolean columns of a thing that say whether it can be had."""
IN_STOCK = re.compile(r"(^|_)(stock|in_stock|on_hand|units_left|remaining)$")
"""Columns of a thing that say how much of it is left."""
QUANTITY = re.compile(r"(^|_)(quantity|qty|units|pieces)$")


@dataclass(frozen=True)
class Life:
    table: Table
    data: Data

    @cached_property
    def status(self) -> Column | None:
        """The column of its states, if there is at least one that is open and one that is final."""
        for column in self.table.columns:
            if column.type == "string" and STATES.search(column.name) and 2 <= len(column.values) <= 12:
                names = {snake_case(value) for value in column.values}
                if names & OPEN and names & set(VERBS):
                    return column
        return None

    @cached_property
    def open(self) -> tuple[str, ...]:
        return tuple(v for v in self.status.values if snake_case(v) in OPEN) if self.status else ()

    @cached_property
    def finals(self) -> dict[str, str]:
        """Final state -> verb."""
        values = self.status.values if self.status else ()
        known = {snake_case(value): value for value in values}
        return {known[state]: verb for state, verb in VERBS.items() if state in known}

    def sources(self, final: str) -> tuple[str, ...]:
        """The states from which a final one is reached."""
        values = self.status.values if self.status else ()
        known = tuple(v for v in values if snake_case(v) in FROM.get(snake_case(final), ()))
        return known or self.open

    @cached_property
    def flag(self) -> Column | None:
        """A Boolean that tells whether the row is done with."""
        return next((c for c in self.table.columns if c.type == "boolean" and c.name in FLAGS), None)

    @cached_property
    def dates(self) -> tuple[Column, ...]:
        return tuple(c for c in self.table.columns if c.type == "string" and self._dated(c))

    def _dated(self, column: Column) -> bool:
        known = [v for v in self.data.values(self.table, column.name) if v is not None]
        own = column.name not in (self.table.primary_key, self.table.label)
        return own and bool(known) and all(DATE.fullmatch(v) for v in known)

    @cached_property
    def start(self) -> Column | None:
        return next((c for c in self.dates if not c.nullable and START.search(c.name)), None)

    @cached_property
    def end(self) -> Column | None:
        """The day on which it was done with; empty till then."""
        return next((c for c in self.dates if c.nullable and END.search(c.name)), None)

    @cached_property
    def due(self) -> Column | None:
        return next((c for c in self.dates if DUE.search(c.name)), None)

    @cached_property
    def holder(self) -> Column | None:
        """Who has it in hand, where that is no key of another table."""
        links = {key.column for key in self.table.foreign_keys}
        return next(
            (c for c in self.table.columns if c.type == "string" and c.name not in links and HELD_BY.search(c.name)),
            None,
        )

    @property
    def lives(self) -> bool:
        return bool(self.status or self.end or self.flag or self.due)

    def in_order(self, first: Column, second: Column) -> bool:
        """Whether all rows that have both dates have them in this order."""
        a, b = sql_name(first.name), sql_name(second.name)
        return bool(self.data.ask(f"SELECT count(*) FROM {sql_name(self.table.name)} WHERE {a} > {b}") == 0)


def room_of(data: Data, link: ForeignKey) -> str | None:
    """The column of the parent that says how many can have it at a time."""
    columns = data.table(link.table).columns
    return next((c.name for c in columns if c.type == "integer" and not c.nullable and ROOM.search(c.name)), None)


def flag_of(data: Data, link: ForeignKey) -> str | None:
    """The column that says whether the parent can be had; some can, some cannot."""
    table = data.table(link.table)
    flags = [c.name for c in table.columns if c.type == "boolean" and not c.nullable and AVAILABLE.search(c.name)]
    return next((name for name in flags if {True, False} <= set(data.values(table, name))), None)


def stock_of(data: Data, link: ForeignKey) -> str | None:
    """The column that says how much of the parent is left."""
    columns = data.table(link.table).columns
    return next((c.name for c in columns if c.type == "integer" and not c.nullable and IN_STOCK.search(c.name)), None)


@dataclass(frozen=True, slots=True)
class Draw:
    """So much as the argument `quantity` says is taken from `column` of the row that `argument` names."""

    argument: str
    link: ForeignKey
    column: str
    quantity: str
    key: str
    """Primary key of the table that it names a row of."""


@dataclass(frozen=True, slots=True)
class Limit:
    """Rows that refer to `link`'s row and are open are at most as many as its `column` says."""

    argument: str
    link: ForeignKey
    column: str
    empty: str | None
    status: str | None
    states: tuple[str, ...]


def limit_of(data: Data, life: Life, link: ForeignKey, argument: str) -> Limit | None:
    """Where the data shows such a column and keeps to it."""
    column = room_of(data, link)
    if column is None or life.table.synthetic or not (life.end or life.status):
        return None
    empty = life.end.name if life.end and not life.status else None
    status = life.status.name if life.status else None
    found = Limit(argument, link, column, empty, status, life.open)
    return found if all(room >= 0 for _, room in rooms(data, life.table, found)) else None


def rooms(data: Data, table: Table, limit: Limit) -> list[tuple[object, int]]:
    """Of each row that can be referred to, its key and how many more can have it."""
    link, own = limit.link, sql_name(limit.link.column)
    tests = [f"{own} = ?"]
    if limit.empty:
        tests.append(f"{sql_name(limit.empty)} IS NULL")
    if limit.status:
        tests.append(f"{sql_name(limit.status)} IN ({', '.join('?' * len(limit.states))})")
    sql = f"SELECT count(*) FROM {sql_name(table.name)} WHERE {' AND '.join(tests)}"
    states = limit.states if limit.status else ()
    parents = data.rows[link.table]
    return [(row[link.target], row[limit.column] - data.ask(sql, row[link.target], *states)) for row in parents]
