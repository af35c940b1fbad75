"""A world of summaries: makers with figures over their cars, some of which the cars bear out no longer, and sales."""

import json
from pathlib import Path
from typing import Any

from agent_world.agents.synthesizer.world import World
from agent_world.memory.store import Bundle, write_text
from agent_world.schema import (
    Column,
    ColumnType,
    DatabaseSchema,
    ForeignKey,
    Operation,
    Table,
    ToolAnnotations,
    ToolSpec,
)
from tests.worlds import make_library

MAKERS = [
    # maker, cars, cheapest_thousands, tallest_in, sold
    ("Alba", 3, 12.5, 70, 8), ("Brio", 4, 9.5, 66, 4), ("Cora", 3, 21.0, 60, 9), ("Dyna", 9, 15.5, 59, 7),
    ("Echo", 3, 11.0, 62, 5),
]  # fmt: skip
CARS = [
    # name, maker, price_thousands, height_in, new
    ("Alba One", "Alba", 12.5, 55, True), ("Alba Two", "Alba", 14.0, 57, False), ("Alba Van", "Alba", 31.5, 61, True),
    ("Brio Air", "Brio", 9.5, 54, False), ("Brio Max", "Brio", 18.0, 60, True), ("Brio Sun", "Brio", 16.5, 56, True),
    ("Brio Van", "Brio", 22.0, 64, False), ("Cora Eve", "Cora", 21.0, 52, False), ("Cora Ivy", "Cora", 24.0, 53, True),
    ("Cora Joy", "Cora", 27.5, 58, True), ("Dyna Pro", "Dyna", 15.5, 55, False), ("Dyna Sky", "Dyna", 19.0, 56, True),
    ("Echo Bay", "Echo", 11.0, 51, True), ("Echo Key", "Echo", 13.5, 59, False), ("Echo Sea", "Echo", 17.0, 62, True),
]  # fmt: skip
SALES = [
    # sale_id, car, year, month, day, buyer
    (f"S{n:03}", CARS[(n * 7) % len(CARS)][0], 2019 + n % 4, 1 + (n * 5) % 12, 1 + (n * 11) % 28,
     ("Ann", "Bob", "Cleo", "Dan")[n * 3 % 4])
    for n in range(1, 41)
]  # fmt: skip


def _table(name: str, key: str, columns: dict[str, ColumnType], rows: int, **more: Any) -> Table:
    made = tuple(Column(name=c, type=kind, unique=c == key) for c, kind in columns.items())
    return Table(name=name, file=f"{name}.json", format="json", rows=rows, primary_key=key, columns=made, **more)


TABLES = (
    _table("makers", "maker", {"maker": "string", "cars": "integer", "cheapest_thousands": "number",
                               "tallest_in": "integer", "sold": "integer"}, len(MAKERS)),
    _table("cars", "name", {"name": "string", "maker": "string", "price_thousands": "number", "height_in": "integer",
                            "new": "boolean"}, len(CARS), label="name",
           foreign_keys=(ForeignKey(column="maker", table="makers", target="maker"),)),
    _table("sales", "sale_id", {"sale_id": "string", "car": "string", "year": "integer", "month": "integer",
                                "day": "integer", "buyer": "string"}, len(SALES),
           foreign_keys=(ForeignKey(column="car", table="cars", target="name"),)),
)  # fmt: skip


def _tool(name: str, kind: Any, table: Table, inputs: dict[str, str], optional: tuple[str, ...] = ()) -> ToolSpec:
    lists = kind in ("list", "related", "search")
    outputs = {f"{'items[].' if lists else ''}{c.name}": f"{table.name}.{c.name}" for c in table.columns}
    column = next((target.partition(".")[2] for target in inputs.values()), None)
    properties = {a: {"type": table.column(a).type} for a in inputs} | {a: {"type": "integer"} for a in optional}
    operation = Operation(kind=kind, table=table.name, column=column, inputs=inputs,
                          outputs={} if kind == "count" else outputs)  # fmt: skip
    return ToolSpec(
        name=name,
        description=name.replace("_", " "),
        input_schema={"type": "object", "properties": properties, "required": list(inputs)},
        annotations=ToolAnnotations(read_only=kind not in ("create", "update", "delete")),
        meta={"agent_world/operation": operation.model_dump(mode="json")},
    )


def tools() -> list[ToolSpec]:
    makers, cars, sales = TABLES
    paged = ("limit", "offset")
    return [
        _tool("get_maker", "get", makers, {"maker": "makers.maker"}),
        _tool("list_makers", "list", makers, {}, paged),
        _tool("get_car", "get", cars, {"name": "cars.name"}),
        _tool("search_cars", "search", cars, {"name": "cars.name"}),
        _tool("list_cars_of_maker", "related", cars, {"maker": "makers.maker"}, paged),
        _tool("list_cars", "list", cars, {}, paged),
        _tool("get_sale", "get", sales, {"sale_id": "sales.sale_id"}),
        _tool("list_sales_of_buyer", "list", sales, {"buyer": "sales.buyer"}, paged),
        _tool("count_sales_of_car", "count", sales, {"car": "cars.name"}),
        _tool("create_sale", "create", sales, {c.name: f"sales.{c.name}" for c in sales.columns}),
        _tool("update_sale_buyer", "update", sales, {"sale_id": "sales.sale_id", "buyer": "sales.buyer"}),
    ]


def showroom(root: Path) -> World:
    """Its tools are specifications only: drafts are made of it, none is run."""
    bundle: Bundle = make_library(root)
    for table, rows in zip(TABLES, (MAKERS, CARS, SALES), strict=True):
        names = [c.name for c in table.columns]
        write_text(bundle.database / table.file, json.dumps([dict(zip(names, row, strict=True)) for row in rows]))
    bundle.write_tools(tools(), "", "")
    bundle.write_environment(bundle.environment().model_copy(update={"database": DatabaseSchema(tables=TABLES)}))
    return World(bundle)
