"""SQLite files for tests."""

import sqlite3
from pathlib import Path


def sqlite_bytes(path: Path, *statements: str) -> bytes:
    """Run `statements` on the database at `path`, made if needed; its bytes."""
    connection = sqlite3.connect(path)
    with connection:
        for statement in statements:
            connection.execute(statement)
    connection.close()
    return path.read_bytes()
