"""What became of each part of a source: no row, field or file goes without a line."""

from typing import Literal

from agent_world.schema import Record

How = Literal["table", "linking table", "text", "repeats another table", "empty", "left out"]


class Placed(Record):
    """One part of the source and where it is now."""

    path: str
    """`db.json: users[].payment_methods`, with the file first."""
    found: int
    """Objects, values or lines there."""
    how: How
    table: str = ""
    """The table it is in; for what repeats another table, that one."""
    rows: int = 0
    note: str = ""


class ImportReport(Record):
    """`import.json` of a bundle."""

    placed: tuple[Placed, ...]
    keys: tuple[str, ...] = ()
    """Foreign keys that hold for every row: `orders.user_id -> users.user_id`."""

    @property
    def lost(self) -> list[Placed]:
        """Parts of which not every object became a row; empty for a sound import."""
        return [p for p in self.placed if p.how in ("table", "linking table") and p.rows != p.found]
