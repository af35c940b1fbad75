"""What mining brought home, on disk: tables as read, the crawl log, and the material that databases are drawn from.

WORKSPACE/mined/<theme>/crawl.jsonl      every search, page and download with its time and outcome
WORKSPACE/mined/<theme>/files/           downloads as received, notes/ what a model wrote down (files.py)
WORKSPACE/mined/<theme>/raw/<n>.json     each table as the web gave it
WORKSPACE/mined/<theme>/material.json    the chosen tables, typed and linked, with all their usable rows
WORKSPACE/mined/<theme>/frontier.json    what reading left over: leads not opened, addresses seen
WORKSPACE/mined/<theme>/before/<environment>/<n>/   everything as it was before round n of complexification
"""

import json
import shutil
from dataclasses import asdict, dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from agent_world.agents.miner.files import Files
from agent_world.memory.store import read_record, write_record, write_text
from agent_world.schema import ColumnType, ForeignKey, Json, Record, Retrieval
from agent_world.tools.tables import DataTable
from agent_world.tools.web.page import RawTable


class MinedTable(Record):
    """All usable rows of a chosen table; a database holds a part of them."""

    name: str
    columns: tuple[str, ...]
    types: tuple[ColumnType, ...]
    key: str
    label: str | None
    rows: tuple[tuple[Json, ...], ...]
    foreign_keys: tuple[ForeignKey, ...] = ()
    sources: tuple[Retrieval, ...]
    form: str = ""
    """What its source had it in: `csv`, `html` ... (`RawTable.form`)."""
    late_columns: tuple[str, ...] = ()
    """Columns that the first database leaves out and complexification brings in."""
    headers: dict[str, str] = {}
    """How the source heads a column, where its name says that in another script or spelling."""

    def table(self) -> DataTable:
        return DataTable(self.name, self.columns, self.types, self.rows, self.key, self.label, headers=self.headers)


class Material(Record):
    tables: tuple[MinedTable, ...]

    def names(self) -> list[str]:
        return [table.name for table in self.tables]


class Frontier(Record):
    """Where reading stopped, so that a later round can go on."""

    leads: tuple[dict[str, Json], ...] = ()
    seen: tuple[str, ...] = ()
    tables: tuple[str, ...] = ()
    """Files of tables read so far."""


@dataclass(frozen=True, slots=True)
class Mine:
    """The folder of one theme."""

    root: Path

    @property
    def files(self) -> Files:
        return Files(self.root)

    def clear(self) -> None:
        shutil.rmtree(self.root, ignore_errors=True)

    def log(self, kind: str, address: str, **facts: Json) -> None:
        """One line of the crawl log."""
        self.root.mkdir(parents=True, exist_ok=True)
        line = {"time": datetime.now(UTC).isoformat(timespec="milliseconds"), "kind": kind, "address": address, **facts}
        with (self.root / "crawl.jsonl").open("a", encoding="utf-8") as file:
            file.write(json.dumps(line, ensure_ascii=False) + "\n")

    def add_table(self, raw: RawTable, context: str, number: int) -> str:
        """Keep a table as read; returns its file name. `context` is the text around it: title and links."""
        name = f"{number:04d}.json"
        write_text(self.root / "raw" / name, json.dumps({"context": context, "raw": asdict(raw)}, ensure_ascii=False))
        return name

    def raw_table(self, name: str) -> tuple[RawTable, str]:
        found: dict[str, Any] = json.loads((self.root / "raw" / name).read_text())
        raw = found["raw"]
        rows = tuple(tuple(row) for row in raw["rows"])
        whole = {**raw, "header": tuple(raw["header"]), "rows": rows, "notes": tuple(raw.get("notes", ()))}
        return RawTable(**whole), found["context"]

    def write_material(self, material: Material) -> None:
        write_record(self.root / "material.json", material)

    def write_frontier(self, frontier: Frontier) -> None:
        write_record(self.root / "frontier.json", frontier)

    def frontier(self) -> Frontier:
        """Empty where the theme was not mined here."""
        path = self.root / "frontier.json"
        return read_record(path, Frontier) if path.exists() else Frontier()

    def material(self) -> Material:
        """Empty where the theme was not mined here (an imported bundle)."""
        path = self.root / "material.json"
        return read_record(path, Material) if path.exists() else Material(tables=())
