"""Takes tables out of what was received: HTML, CSV, JSON and XLSX, each by a library that does that well."""

import csv
import io
import itertools
import json
import zipfile
from collections.abc import Callable, Iterable, Sequence
from pathlib import PurePosixPath
from typing import Any
from urllib.parse import unquote, urlsplit

from agent_world.errors import WebError
from agent_world.tools.web.fetch import Received
from agent_world.tools.web.html_tables import Grid, shape
from agent_world.tools.web.page import RawTable

DELIMITERS = ",;\t|"
MOST_UNPACKED_BYTES = 100_000_000
"""An XLSX file is a ZIP archive and may be far larger unpacked."""


def download_tables(found: Received, licence: str | None = None) -> tuple[RawTable, ...]:
    """Tables of a CSV, JSON or XLSX file, told apart by content type, then by ending. Raises `WebError`."""
    reader = _reader(found)
    if reader is None:
        kind = found.content_type or "no content type"
        raise WebError(f"{found.address} is not a CSV, JSON or XLSX file (it says {kind}).")
    name = PurePosixPath(unquote(urlsplit(found.address).path)).stem or "table"
    try:
        grids = reader(found.body, name)
    except (ValueError, csv.Error, KeyError, zipfile.BadZipFile) as error:
        raise WebError(f"{found.address} is damaged: {error}.") from error
    stated = found.headers.get("x-license") or licence
    return tuple(
        RawTable(grid.title, grid.header, grid.rows, found.address, found.as_of, found.sha256, stated)
        for grid in grids
        if grid.rows
    )


def _reader(found: Received) -> Callable[[bytes, str], list[Grid]] | None:
    ending = PurePosixPath(urlsplit(found.address).path).suffix.lower()
    kind = found.content_type
    if "spreadsheetml" in kind or ending == ".xlsx":
        return xlsx_grids
    if kind.endswith("json") or (ending == ".json" and kind != "text/html"):
        return json_grids
    if "csv" in kind or "tab-separated" in kind or (ending in (".csv", ".tsv") and kind != "text/html"):
        return csv_grids
    return None


def csv_grids(body: bytes, name: str) -> list[Grid]:
    """One table; all cells are text. A byte order mark is dropped, the delimiter found out."""
    text = _text(body)
    lines = list(csv.reader(io.StringIO(text, newline=""), delimiter=_delimiter(text)))
    lines = [line for line in lines if any(cell.strip() for cell in line)]
    return [shape(name, lines[0], lines[1:], empty="")] if lines else []


def _text(body: bytes) -> str:
    if body.startswith((b"\xff\xfe", b"\xfe\xff")):
        return body.decode("utf-16")
    try:
        return body.decode("utf-8-sig")
    except UnicodeDecodeError:
        return body.decode("cp1252", "replace")


def _delimiter(text: str) -> str:
    """The one under which most of the first rows have as many cells as the header, and most cells."""

    def fitness(mark: str) -> tuple[int, int]:
        head = list(itertools.islice(csv.reader(io.StringIO(text, newline=""), delimiter=mark), 20))
        width = len(head[0]) if head else 0
        return (sum(len(row) == width for row in head) if width > 1 else 0, width)

    return max(DELIMITERS, key=fitness)


def json_grids(body: bytes, name: str) -> list[Grid]:
    """A list of objects is a table; so is each such list that an object holds. Cells keep their types; an inner
    object becomes columns `outer.inner`, an inner list its JSON text, NaN and Infinity null."""
    value = json.loads(_text(body), parse_constant=lambda _: None)
    if _is_table(value):
        return [_records(name, value)]
    if isinstance(value, dict):
        return [_records(key, inner) for key, inner in value.items() if _is_table(inner)]
    return []


def _is_table(value: Any) -> bool:
    return isinstance(value, list) and bool(value) and all(isinstance(row, dict) for row in value)


def _records(name: str, rows: list[dict[str, Any]]) -> Grid:
    flat = [dict(_flatten(row)) for row in rows]
    header = list(dict.fromkeys(key for row in flat for key in row))
    return shape(name, header, [[row.get(key) for key in header] for row in flat], empty=None)


def _flatten(row: dict[str, Any], prefix: str = "") -> Iterable[tuple[str, Any]]:
    for key, value in row.items():
        if isinstance(value, dict):
            yield from _flatten(value, f"{prefix}{key}.")
        else:
            yield f"{prefix}{key}", json.dumps(value, ensure_ascii=False) if isinstance(value, list) else value


def xlsx_grids(body: bytes, name: str) -> list[Grid]:
    """A table a sheet, its first row the header. Dates become ISO 8601 text."""
    import openpyxl

    with zipfile.ZipFile(io.BytesIO(body)) as archive:
        if sum(entry.file_size for entry in archive.infolist()) > MOST_UNPACKED_BYTES:
            raise ValueError(f"it is larger than {MOST_UNPACKED_BYTES} bytes unpacked")
    book = openpyxl.load_workbook(io.BytesIO(body), read_only=True, data_only=True)
    try:
        return [grid for sheet in book.worksheets if (grid := _sheet(sheet, name, len(book.worksheets) > 1))]
    finally:
        book.close()


def _sheet(sheet: Any, name: str, several: bool) -> Grid | None:
    rows = [[_plain(cell) for cell in row] for row in sheet.iter_rows(values_only=True)]
    rows = [row for row in rows if any(cell is not None for cell in row)]
    if not rows:
        return None
    header: Sequence[str] = ["" if cell is None else str(cell) for cell in rows[0]]
    return shape(sheet.title if several else name, header, rows[1:], empty=None)


def _plain(cell: Any) -> Any:
    return cell.isoformat() if hasattr(cell, "isoformat") else cell
