"""The standard world: a small shop, as a bundle that every backend can open."""

import json
import sqlite3
from collections.abc import Callable
from pathlib import Path
from typing import Any

from agent_world.memory.store import Bundle
from agent_world.schema import (
    Column,
    DatabaseSchema,
    Environment,
    Origin,
    Table,
    Theme,
    ToolAnnotations,
    ToolSpec,
)

HERE = Path(__file__).parent
TOOLS = (HERE / "standard_tools.py").read_text()
ITEMS = [{"item_id": f"I{n}", "name": f"thing {n}", "count": n, "price": n + 0.5} for n in range(1, 6)]
_ARGUMENTS: dict[str, dict[str, str]] = {
    "ping": {},
    "get_item": {"item_id": "string"},
    "list_items": {"limit": "integer"},
    "set_count": {"item_id": "string", "count": "integer"},
    "add_sale": {"item_id": "string", "postcode": "string"},
    "peek": {},
    "remember": {},
    "say": {"size": "integer"},
    "wait": {"seconds": "number"},
    "execute": {"body": "string"},
    "chance": {},
    "now": {},
}
_OPTIONAL = {"list_items": {"limit"}}
_WRITES = {"set_count", "add_sale", "execute", "chance", "now"}


WriteWorld = Callable[[Path], Path]


def write_standard_world(root: Path) -> Path:
    """A JSON file of items, an SQLite file of sales, and the standard tools."""
    Bundle(root).write_tools([_spec(name) for name in _ARGUMENTS], TOOLS, "")
    return write_standard_data(root)


def write_standard_data(root: Path) -> Path:
    """The same without tools, for a backend that brings its own."""
    bundle = Bundle(root)
    bundle.database.mkdir(parents=True)
    (bundle.database / "items.json").write_text(json.dumps(ITEMS))
    _write_sales(bundle.database / "sales.sqlite")
    bundle.write_environment(_environment(bundle.id))
    return root


def write_bare_world(root: Path, source: str, **files: str | bytes) -> Path:
    """A bundle of this tools.py and these files, without schemas: every function of it may be called."""
    (root / "database").mkdir(parents=True)
    (root / "tools.py").write_text(source)
    for name, content in files.items():
        data = content if isinstance(content, bytes) else content.encode()
        (root / "database" / name.replace("__", ".")).write_bytes(data)
    return root


def write_server(folder: Path, script: str = "mcp_server.py") -> Path:
    """An MCP server of the standard tools, in a folder of its own; returns its script."""
    folder.mkdir(parents=True, exist_ok=True)
    for name in (script, "standard_tools.py"):
        (folder / name).write_text((HERE / name).read_text())
    listed = [_spec(name).model_dump(mode="json", by_alias=True, exclude_none=True) for name in _ARGUMENTS]
    (folder / "tools.json").write_text(json.dumps({"tools": listed}))
    return folder / script


def _spec(name: str) -> ToolSpec:
    arguments, optional = _ARGUMENTS[name], _OPTIONAL.get(name, set())
    schema: dict[str, Any] = {
        "type": "object",
        "properties": {argument: {"type": kind} for argument, kind in arguments.items()},
        "required": [argument for argument in arguments if argument not in optional],
        "additionalProperties": False,
    }
    annotations = ToolAnnotations(read_only=name not in _WRITES)
    return ToolSpec(name=name, description=f"Standard tool {name}.", input_schema=schema, annotations=annotations)


def _write_sales(path: Path) -> None:
    connection = sqlite3.connect(path)
    with connection:
        connection.execute(
            "CREATE TABLE sales (sale_id INTEGER PRIMARY KEY, item_id TEXT NOT NULL, postcode TEXT NOT NULL)"
        )
        connection.execute("INSERT INTO sales (item_id, postcode) VALUES ('I1', '02138')")
    connection.close()


def _environment(identifier: str) -> Environment:
    origin = Origin(engine="procedural")
    theme = Theme(id="shop", name="Shop", description="A small shop.", kind="prd", source="agent_world.evals.bench")
    items = Table(
        name="items",
        file="items.json",
        format="json",
        rows=len(ITEMS),
        primary_key="item_id",
        columns=(
            Column(name="item_id", type="string", unique=True),
            Column(name="name", type="string"),
            Column(name="count", type="integer"),
            Column(name="price", type="number"),
        ),
    )
    sales = Table(
        name="sales",
        file="sales.sqlite",
        format="sqlite",
        rows=1,
        primary_key="sale_id",
        columns=(
            Column(name="sale_id", type="integer", unique=True),
            Column(name="item_id", type="string"),
            Column(name="postcode", type="string"),
        ),
    )
    database = DatabaseSchema(tables=(items, sales))
    return Environment(id=identifier, name="Shop", description="A small shop.", theme=theme, database=database,
                       origin=origin)  # fmt: skip
