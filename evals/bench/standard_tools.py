"""The tools of the world in which backends are certified. Standard library only.

Read as text into a bundle's tools.py, and imported by `mcp_server.py`: either way these functions run inside an
instance alone. `execute` runs whatever Python it is given: it is how the suite attacks a backend.
"""

import datetime
import json
import os
import random
import secrets
import sqlite3
import time
import uuid
from time import time as early
from typing import Any

_in_memory: list[int] = []


class ToolError(Exception):
    def __init__(self, code: str, message: str) -> None:
        super().__init__(message)
        self.code = code


def ping() -> dict[str, Any]:
    """Answer at once."""
    return {"pong": 1}


def get_item(item_id: str) -> dict[str, Any]:
    """Get one item by its id."""
    for item in _items():
        if item["item_id"] == item_id:
            return item
    raise ToolError("not_found", f"There is no item {item_id!r}.")


def list_items(limit: int = 10) -> dict[str, Any]:
    """List the items, at most `limit`."""
    return {"items": _items()[:limit]}


def set_count(item_id: str, count: int) -> dict[str, Any]:
    """Set how many there are of an item."""
    items = _items()
    found = get_item(item_id)
    with open("items.json", "w", encoding="utf-8") as file:
        json.dump([{**item, "count": count} if item["item_id"] == item_id else item for item in items], file)
    return {**found, "count": count}


def add_sale(item_id: str, postcode: str) -> dict[str, Any]:
    """Record that an item was sold to a postcode."""
    connection = sqlite3.connect("sales.sqlite")
    with connection:
        row = connection.execute("INSERT INTO sales (item_id, postcode) VALUES (?, ?)", (item_id, postcode))
    connection.close()
    return {"sale_id": row.lastrowid}


def peek() -> dict[str, Any]:
    """Said to read only, yet it writes."""
    with open("peeked.txt", "a", encoding="utf-8") as file:
        file.write("x")
    return {"peeked": True}


def remember() -> dict[str, Any]:
    """Count the calls in the memory of this process."""
    _in_memory.append(1)
    return {"calls": len(_in_memory)}


def say(size: int) -> dict[str, Any]:
    """Give a text of this length."""
    return {"text": "x" * size}


def wait(seconds: float) -> dict[str, Any]:
    """Sleep."""
    time.sleep(seconds)
    return {"waited": seconds}


def execute(body: str) -> dict[str, Any]:
    """Run Python statements, as the body of a function; what they return is `value`."""
    lines = "".join(f"    {line}\n" for line in body.strip().splitlines())
    space: dict[str, Any] = {"ToolError": ToolError}
    exec(f"import os, sys, time, socket, threading\ndef tool():\n{lines}", space)
    return {"value": space["tool"]()}


def chance() -> dict[str, Any]:
    """All that may differ between two runs, some of it written to the database."""
    connection = sqlite3.connect("chance.sqlite")
    with connection:
        connection.execute("CREATE TABLE IF NOT EXISTS log (id TEXT, at TEXT DEFAULT current_timestamp, n INTEGER)")
        connection.execute("INSERT INTO log (id, n) VALUES (?, random())", (str(uuid.uuid4()),))
        rows = connection.execute("SELECT *, hex(randomblob(4)) FROM log").fetchall()
    connection.close()
    return {
        "random": [random.random(), random.Random().random(), random.SystemRandom().random(), secrets.token_hex(4)],
        "bytes": os.urandom(4).hex(),
        "uuid": [str(uuid.uuid4()), str(uuid.uuid1())],
        "hash": hash("text"),
        "set": list({"a", "b", "c", "d"}),
        "rows": rows,
        "pid": os.getpid(),
    }


def now() -> dict[str, Any]:
    """The time, by every way that Python and SQLite have to tell it."""
    connection = sqlite3.connect(":memory:")
    query = (
        "SELECT datetime('now'), datetime(), date('now'), strftime('%Y', 'now'), strftime('%Y'), current_timestamp, "
        "unixepoch('now'), current_date, time('now')"
    )
    sql = list(connection.execute(query).fetchone())
    connection.close()
    moment = datetime.datetime
    return {
        "seconds": [time.time(), time.time_ns() / 1e9, early()],
        "text": [time.strftime("%Y-%m-%dT%H:%M:%S"), moment.now().isoformat(), moment.utcnow().isoformat()],
        "dates": [str(datetime.date.today()), str(moment.now(datetime.timezone.utc))],  # noqa: UP017
        "sqlite": sql,
        "exact": type(moment.now()) is moment,
    }


def _items() -> list[dict[str, Any]]:
    with open("items.json", encoding="utf-8") as file:
        found: list[dict[str, Any]] = json.load(file)
    return found
