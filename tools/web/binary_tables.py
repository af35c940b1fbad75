"""Tables in files that are no text: XLSX, SQLite, PDF."""

import io
import json
import os
import subprocess
import sys
from typing import Any

from agent_world.errors import UsageError
from agent_world.tools.state.model import Unreadable
from agent_world.tools.state.sqlite import sqlite_tables
from agent_world.tools.web.bounds import open_archive
from agent_world.tools.web.grid import Grid, shape, sheet

MOST_SHEET_ROWS, MOST_SHEET_COLUMNS = 200_000, 1_000
"""A sheet says itself how large it is, and may lie."""
PDF_S = 60.0


def xlsx_grids(body: bytes, name: str, stated: str | None = None) -> list[Grid]:
    """A table a sheet. Dates become ISO 8601 text."""
    try:
        import openpyxl
    except ImportError as error:
        raise UsageError("Reading XLSX needs openpyxl; install agent-world[browser].") from error
    open_archive(body).close()
    book = openpyxl.load_workbook(io.BytesIO(body), read_only=True, data_only=True)
    try:
        sheets = [one for one in book.worksheets if one.sheet_state == "visible"]
        found = (sheet(one.title if len(sheets) > 1 else name, _rows(one), empty=None) for one in sheets)
        return [grid for grid in found if grid]
    finally:
        book.close()


def _rows(one: Any) -> list[list[Any]]:
    one.reset_dimensions()
    rows = one.iter_rows(values_only=True, max_row=MOST_SHEET_ROWS, max_col=MOST_SHEET_COLUMNS)
    return [_trimmed([_plain(cell) for cell in row]) for row in rows]


def _trimmed(row: list[Any]) -> list[Any]:
    while row and row[-1] is None:
        row.pop()
    return row


def _plain(cell: Any) -> Any:
    return cell.isoformat() if hasattr(cell, "isoformat") else cell


def sqlite_grids(body: bytes, name: str, stated: str | None = None) -> list[Grid]:
    """Each ordinary table, by the guarded reader: code of the file's schema is not run. Blobs are left out."""
    try:
        tables, _ = sqlite_tables(body, {})
    except Unreadable as error:
        raise ValueError(str(error)) from error
    grids = []
    for table in tables:
        rows = [[None if isinstance(cell, dict) else cell for cell in row.values()] for row in table.rows]
        held = any(isinstance(cell, dict) for row in table.rows for cell in row.values())
        if rows:
            notes = ("blobs left out",) if held else ()
            grids.append(shape(table.name or name, list(table.rows[0]), rows, empty=None, notes=notes))
    return grids


def pdf_grids(body: bytes, name: str, stated: str | None = None) -> list[Grid]:
    """Ruled tables of a PDF, continued over pages. Read by a process of its own with limits: PDF is a language in
    which a small file can keep a reader busy for ever."""
    command = [sys.executable, "-m", "agent_world.tools.web.pdf_reader"]
    environment = {"PATH": os.environ.get("PATH", "")}  # no keys of ours
    try:
        result = subprocess.run(command, input=body, capture_output=True, timeout=PDF_S, env=environment, check=False)
    except subprocess.TimeoutExpired as error:
        raise ValueError(f"its tables were not found within {PDF_S:g} s") from error
    if result.returncode == 3:
        raise UsageError("Reading PDF needs pdfplumber; install agent-world[pdf].")
    if result.returncode:
        raise ValueError((result.stderr.decode(errors="replace").strip().splitlines() or ["it cannot be read"])[-1])
    found = (sheet(name, lines, empty="") for lines in json.loads(result.stdout))
    return [grid for grid in found if grid and grid.rows and len(grid.header) > 1]
