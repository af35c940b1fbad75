"""Which file format a table gets: its source's own where there is one, else one that people would keep it in."""

import random
from collections.abc import Mapping

from agent_world.agents.miner.material import MinedTable
from agent_world.schema import FileFormat

ALL: tuple[FileFormat, ...] = ("json", "csv", "sqlite", "jsonl", "markdown", "yaml")
LIKE: Mapping[str, tuple[FileFormat, ...]] = {
    "csv": ("csv",),
    "tsv": ("csv",),
    "tab": ("csv",),
    "json": ("json",),
    "geojson": ("json",),
    "jsonl": ("jsonl",),
    "ndjson": ("jsonl",),
    "sqlite": ("sqlite",),
    "sqlite3": ("sqlite",),
    "db": ("sqlite",),
    "md": ("markdown",),
    "markdown": ("markdown",),
    "xlsx": ("csv", "sqlite"),
    "pdf": ("csv", "markdown"),
    "jsonld": ("json", "jsonl"),
    "script": ("json", "jsonl"),
    "html": ("json", "markdown"),
}
"""By the form of the source."""
SMALL_ROWS = 40
"""A page's table up to this size is reference data, which people also keep in YAML."""


def likely_formats(mined: MinedTable, seed: str) -> tuple[FileFormat, ...]:
    """Best first; several are equally good, and which of them comes first differs from table to table."""
    found = LIKE.get(mined.form, ALL)
    if mined.form == "html" and len(mined.rows) <= SMALL_ROWS:
        found = (*found, "yaml")
    return turned(found, f"{seed}:{mined.name}:format")


def turned(formats: tuple[FileFormat, ...], seed: str) -> tuple[FileFormat, ...]:
    """The same, beginning elsewhere."""
    start = random.Random(seed).randrange(len(formats))
    return (*formats[start:], *formats[:start])
