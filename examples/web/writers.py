"""Files of a data set, byte for byte the same whenever they are written."""

import csv
import io
import json
import re
import sqlite3
import zipfile
from collections.abc import Callable
from contextlib import closing
from datetime import datetime

from agent_world.examples.web.catalogue import Form, Rows
from agent_world.examples.web.pdf import write_pdf

XLSX = "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet"
EPOCH = datetime(1980, 1, 1)
"""Stamped into workbooks and archives, which would otherwise carry the time of the request."""
SQL_TYPES = {int: "INTEGER", float: "REAL", bool: "INTEGER"}


def write_csv(found: Rows, name: str) -> bytes:
    """With a byte order mark, as spreadsheet programs write it."""
    text = io.StringIO()
    csv.writer(text).writerows([found.header, *found.rows])
    return text.getvalue().encode("utf-8-sig")


def write_json(found: Rows, name: str) -> bytes:
    return json.dumps(records(found), ensure_ascii=False, indent=1).encode()


def write_jsonl(found: Rows, name: str) -> bytes:
    return "".join(json.dumps(record, ensure_ascii=False) + "\n" for record in records(found)).encode()


def write_markdown(found: Rows, name: str) -> bytes:
    lines = [found.header, tuple("---" for _ in found.header), *found.rows]
    text = "\n".join("| " + " | ".join(_cell(cell) for cell in line) + " |" for line in lines)
    return f"# {name.replace('_', ' ').capitalize()}\n\n{text}\n".encode()


def _cell(value: object) -> str:
    return "" if value is None else str(value).replace("\\", "\\\\").replace("|", "\\|")


def write_xlsx(found: Rows, name: str) -> bytes:
    import openpyxl

    book = openpyxl.Workbook()
    book.properties.created = EPOCH
    for row in (found.header, *found.rows):
        book.active.append(row)
    first, stable = io.BytesIO(), io.BytesIO()
    book.save(first)
    with zipfile.ZipFile(first) as source, zipfile.ZipFile(stable, "w", zipfile.ZIP_DEFLATED) as target:
        for entry in source.namelist():
            data = re.sub(rb"(<dcterms:modified[^>]*>)[^<]*", rb"\g<1>1980-01-01T00:00:00Z", source.read(entry))
            target.writestr(zipfile.ZipInfo(entry, EPOCH.timetuple()[:6]), data)
    return stable.getvalue()


def write_zip(found: Rows, name: str) -> bytes:
    """An archive of the CSV file and a few words about it, as data portals give it."""
    stable = io.BytesIO()
    about = f"{name}.csv holds {len(found.rows)} rows of {len(found.header)} columns.\n"
    with zipfile.ZipFile(stable, "w", zipfile.ZIP_DEFLATED) as archive:
        for entry, data in (("readme.txt", about.encode()), (f"data/{name}.csv", write_csv(found, name))):
            archive.writestr(zipfile.ZipInfo(entry, EPOCH.timetuple()[:6]), data)
    return stable.getvalue()


def write_sqlite(found: Rows, name: str) -> bytes:
    """A database of one table."""
    columns = ", ".join(f'"{title}" {_sql_type(found, place)}' for place, title in enumerate(found.header))
    with closing(sqlite3.connect(":memory:")) as database:
        with database:
            database.execute(f'CREATE TABLE "{name}" ({columns})')
            marks = ", ".join("?" * len(found.header))
            database.executemany(f'INSERT INTO "{name}" VALUES ({marks})', found.rows)
        return database.serialize()


def _sql_type(found: Rows, place: int) -> str:
    known = next((row[place] for row in found.rows if row[place] is not None), "")
    return SQL_TYPES.get(type(known), "TEXT")


def records(found: Rows) -> list[dict[str, object]]:
    return [dict(zip(found.header, row, strict=True)) for row in found.rows]


WRITERS: dict[Form, tuple[Callable[[Rows, str], bytes], str]] = {
    "csv": (write_csv, "text/csv; charset=utf-8"),
    "json": (write_json, "application/json"),
    "jsonl": (write_jsonl, "application/x-ndjson"),
    "md": (write_markdown, "text/markdown; charset=utf-8"),
    "xlsx": (write_xlsx, XLSX),
    "zip": (write_zip, "application/zip"),
    "sqlite": (write_sqlite, "application/vnd.sqlite3"),
    "pdf": (write_pdf, "application/pdf"),
    "export": (write_csv, "text/csv; charset=utf-8"),
    "direct": (write_csv, "text/csv; charset=utf-8"),
}
"""By form: content from rows and the data set's name, and the content type."""
