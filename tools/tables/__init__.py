"""Tables from the web made fit for a database: typed, keyed, linked, written as JSON, CSV or SQLite."""

from agent_world.tools.tables.cells import distinct
from agent_world.tools.tables.files import read_rows, to_bytes
from agent_world.tools.tables.links import Link, broken, find_links, foreign_keys, possible_links
from agent_world.tools.tables.names import plural, singular, snake_case
from agent_world.tools.tables.table import DataTable, describe, read_table

__all__ = [
    "DataTable",
    "Link",
    "broken",
    "describe",
    "distinct",
    "find_links",
    "foreign_keys",
    "plural",
    "possible_links",
    "read_rows",
    "read_table",
    "singular",
    "snake_case",
    "to_bytes",
]
