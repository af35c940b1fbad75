"""A help desk: teams with room for so many open tickets, tickets that are opened, due and closed, visits to confirm."""

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from agent_world.memory.store import Bundle, write_text
from agent_world.schema import Column, DatabaseSchema, Environment, ForeignKey, Origin, Table, Theme

TEAMS = [("A", "Front", 6), ("B", "Back", 2), ("C", "Field", 4)]
PEOPLE = ("Ann", "Bo", "Cy")
TICKETS = [
    # id, team, assignee, status, opened, due, closed, hours
    ("T01", "A", "Ann", "open", "2025-01-04", "2025-05-01", None, 0.0),
    ("T02", "A", "Bo", "waiting", "2025-01-06", "2025-04-11", None, 1.5),
    ("T03", "A", "Cy", "closed", "2025-01-09", "2025-02-20", "2025-02-11", 3.0),
    ("T04", "B", "Ann", "open", "2025-01-11", "2025-03-30", None, 0.5),
    ("T05", "B", "Bo", "open", "2025-01-20", "2025-04-02", None, 2.0),
    ("T06", "B", "Cy", "cancelled", "2025-01-21", "2025-03-03", None, 0.0),
    ("T07", "C", "Ann", "closed", "2025-01-23", "2025-03-05", "2025-03-01", 4.5),
    ("T08", "C", "Bo", "waiting", "2025-02-02", "2025-04-16", None, 0.5),
    ("T09", "C", "Cy", "closed", "2025-02-03", "2025-02-28", "2025-02-27", 2.0),
    ("T10", "A", "Ann", "cancelled", "2025-02-10", "2025-03-14", None, 0.0),
    ("T11", "A", "Bo", "closed", "2025-02-12", "2025-03-21", "2025-03-20", 5.0),
    ("T12", "A", "Cy", "open", "2025-02-15", "2025-04-20", None, 1.0),
]  # fmt: skip
VISITS = [(n, TICKETS[n % 12][0], f"2025-04-{n:02}", n % 2 == 0) for n in range(1, 11)]


def desk_schema() -> DatabaseSchema:
    def text(name: str, nullable: bool = False, values: tuple[str, ...] = (), unique: bool = False) -> Column:
        return Column(name=name, type="string", nullable=nullable, values=values, unique=unique)

    teams = Table(
        name="teams", file="teams.json", format="json", rows=len(TEAMS), primary_key="team_id", label="name",
        columns=(text("team_id", unique=True), text("name", unique=True), Column(name="capacity", type="integer")),
    )  # fmt: skip
    tickets = Table(
        name="tickets", file="tickets.json", format="json", rows=len(TICKETS), primary_key="ticket_id",
        columns=(
            text("ticket_id", unique=True), text("team_id", values=("A", "B", "C")), text("assignee", values=PEOPLE),
            text("status", values=("cancelled", "closed", "open", "waiting")), text("opened_on"), text("due_on"),
            text("closed_on", nullable=True), Column(name="hours_spent", type="number"),
        ),
        foreign_keys=(ForeignKey(column="team_id", table="teams", target="team_id"),),
    )  # fmt: skip
    visits = Table(
        name="visits", file="visits.json", format="json", rows=len(VISITS), primary_key="visit_id",
        columns=(
            Column(name="visit_id", type="integer", unique=True), text("ticket_id"), text("day"),
            Column(name="confirmed", type="boolean"),
        ),
        foreign_keys=(ForeignKey(column="ticket_id", table="tickets", target="ticket_id"),),
    )  # fmt: skip
    return DatabaseSchema(tables=(teams, tickets, visits))


ITEMS = [("I1", "Lamp", 5, True), ("I2", "Desk", 2, True), ("I3", "Chair", 0, True), ("I4", "Shelf", 9, False)]
STATES = ("pending", "delivered", "cancelled")
ORDERS = [(n, ITEMS[n % 4][0], 1 + n % 3, STATES[n % 3], f"2025-02-{n:02}") for n in range(1, 13)]


def store_schema() -> DatabaseSchema:
    items = Table(
        name="items", file="items.json", format="json", rows=len(ITEMS), primary_key="item_id", label="name",
        columns=(
            Column(name="item_id", type="string", unique=True), Column(name="name", type="string", unique=True),
            Column(name="stock", type="integer"), Column(name="available", type="boolean"),
        ),
    )  # fmt: skip
    orders = Table(
        name="orders", file="orders.json", format="json", rows=len(ORDERS), primary_key="order_id",
        columns=(
            Column(name="order_id", type="integer", unique=True), Column(name="item_id", type="string"),
            Column(name="quantity", type="integer"), Column(name="status", type="string", values=tuple(sorted(STATES))),
            Column(name="ordered_on", type="string"),
        ),
        foreign_keys=(ForeignKey(column="item_id", table="items", target="item_id"),),
    )  # fmt: skip
    return DatabaseSchema(tables=(items, orders))


def make_store(root: Path) -> Bundle:
    """Items in stock, and orders of them."""
    return write_world(Bundle(root), "Store", store_schema(), (ITEMS, ORDERS))


def make_desk(root: Path) -> Bundle:
    """Write it as the mined bundle `root`, without tools."""
    return write_world(Bundle(root), "Help desk", desk_schema(), (TEAMS, TICKETS, VISITS))


def write_world(
    bundle: Bundle, name: str, schema: DatabaseSchema, data: tuple[Sequence[tuple[Any, ...]], ...]
) -> Bundle:
    for table, rows in zip(schema.tables, data, strict=True):
        names = [column.name for column in table.columns]
        found = [dict(zip(names, row, strict=True)) for row in rows]
        write_text(bundle.database / table.file, json.dumps(found, indent=1) + "\n")
    theme = Theme(id=bundle.id, name=name, description=f"The {name.lower()}.", kind="prd", source="tests")
    bundle.write_environment(
        Environment(
            id=bundle.id, name=name, description=theme.description, theme=theme, database=schema,
            origin=Origin(engine="procedural"),
        )
    )  # fmt: skip
    return bundle
