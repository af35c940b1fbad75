"""Tables as database files, byte for byte the same for the same table, and back.

JSON: a list of row objects. JSON Lines: a row object a line. YAML: a list of row mappings, each value in its JSON form
on a line of its own. CSV: a header line, null as an empty cell, booleans as `true` and `false`. SQLite: one
table named as the file, null as NULL, booleans as 0 and 1. Markdown: the table's name as a heading, then a pipe table
with cells as in CSV, in which a backslash stands before another one and before a bar, `n` for the end of a line, `r`
for a carriage return, and `s` for a space at an end.
"""

import csv
import io
import json
import re
import sqlite3
from collections.abc import Callable, Mapping, Sequence
from contextlib import closing
from pathlib import Path

from agent_world.schema import ColumnType, FileFormat, Json, Table
from agent_world.tools.tables.table import DataTable

SQL_TYPES: dict[ColumnType, str] = {"integer": "INTEGER", "number": "REAL", "string": "TEXT", "boolean": "BOOLEAN"}

YAML_WORDS = frozenset(("y", "n", "yes", "no", "on", "off", "true", "false", "null"))
YAML_UNSEEN = re.compile("[\x7f-\xa0\u2028\u2029\ufeff\ufffe\uffff]")


def to_bytes(table: DataTable, format: FileFormat) -> bytes:
    """The file's content."""
    return WRITERS[format](table)


def read_rows(database: Path, table: Table) -> DataTable:
    """The rows of a database's table, typed as its schema says."""
    path = database / table.file
    names = tuple(column.name for column in table.columns)
    types = tuple(column.type for column in table.columns)
    if table.format == "sqlite":
        rows = _from_sqlite(path, table.name, names, types)
    else:
        rows = _from_text(path.read_bytes().decode(), table.format, names, types)
    headers = {column.name: column.description for column in table.columns if column.description}
    return DataTable(table.name, names, types, tuple(rows), key=table.primary_key, label=table.label, headers=headers)


def _from_text(
    text: str, format: FileFormat, names: Sequence[str], types: Sequence[ColumnType]
) -> list[tuple[Json, ...]]:
    if format in ("csv", "markdown"):
        cells = _csv_cells(text, names) if format == "csv" else _markdown_cells(text)
        return [tuple(_parsed(cell, kind) for cell, kind in zip(row, types, strict=True)) for row in cells]
    if format == "yaml":
        records = _yaml_records(text)
    else:
        records = json.loads(text) if format == "json" else [json.loads(line) for line in text.split("\n") if line]
    return [tuple(row[name] for name in names) for row in records]


def _to_json(table: DataTable) -> bytes:
    return (json.dumps(table.records(), indent=1, ensure_ascii=False, allow_nan=False) + "\n").encode()


def _to_jsonl(table: DataTable) -> bytes:
    return "".join(json.dumps(r, ensure_ascii=False, allow_nan=False) + "\n" for r in table.records()).encode()


def _to_yaml(table: DataTable) -> bytes:
    lines = [
        f"{'  ' if place else '- '}{yaml_key(column)}: {yaml_scalar(value)}\n"
        for row in table.rows
        for place, (column, value) in enumerate(zip(table.columns, row, strict=True))
    ]
    return ("".join(lines) or "[]\n").encode()


def yaml_key(name: str) -> str:
    """Quoted where some reader of YAML would take it for something else than text."""
    return f'"{name}"' if name in YAML_WORDS else name


def yaml_scalar(value: Json) -> str:
    """JSON that every version of YAML reads as the same value: no sign that ends lines there, a point in each number
    with an exponent."""
    text = json.dumps(value, ensure_ascii=False, allow_nan=False)
    if isinstance(value, float) and "e" in text and "." not in text:
        return text.replace("e", ".0e")
    return YAML_UNSEEN.sub(lambda found: f"\\u{ord(found[0]):04x}", text)


def _yaml_records(text: str) -> list[dict[str, Json]]:
    records: list[dict[str, Json]] = []
    for line in text.split("\n"):
        if line in ("", "[]"):
            continue
        if line.startswith("- "):
            records.append({})
        name, _, value = line[2:].partition(": ")
        records[-1][name.strip('"')] = json.loads(value)
    return records


def _to_csv(table: DataTable) -> bytes:
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(table.columns)
    writer.writerows([_cell(value) for value in row] for row in table.rows)
    return text.getvalue().encode()


def _cell(value: Json) -> str:
    if value is None:
        return ""
    return ("true" if value else "false") if isinstance(value, bool) else str(value)


def _parsed(text: str, kind: ColumnType) -> Json:
    if text == "":
        return None
    if kind == "boolean":
        return text == "true"
    return {"integer": int, "number": float, "string": str}[kind](text)


def _to_markdown(table: DataTable) -> bytes:
    lines = [table.columns, ["---"] * len(table.columns), *([_escaped(_cell(v)) for v in row] for row in table.rows)]
    return "\n".join([f"# {table.name}", "", *(f"| {' | '.join(line)} |" for line in lines), ""]).encode()


def _escaped(text: str) -> str:
    for sign, stands in {"\\": "\\\\", "|": "\\|", "\n": "\\n", "\r": "\\r"}.items():
        text = text.replace(sign, stands)
    inner = text.strip(" ")
    before, after = len(text) - len(text.lstrip(" ")), len(text) - len(text.rstrip(" "))
    return "\\s" * before + inner + "\\s" * after if inner else "\\s" * len(text)


def _cells(line: str) -> list[str]:
    signs = {"n": "\n", "r": "\r", "s": " "}
    cells = [cell.strip(" ") for cell in re.split(r"(?<!\\)\|", line)[1:-1]]
    return [re.sub(r"\\(.)", lambda found: signs.get(found[1], found[1]), cell) for cell in cells]


def _csv_cells(text: str, names: Sequence[str]) -> list[list[str]]:
    return [[row[name] for name in names] for row in csv.DictReader(io.StringIO(text, newline=""))]


def _markdown_cells(text: str) -> list[list[str]]:
    return [_cells(line) for line in text.split("\n")[4:] if line]


def _to_sqlite(table: DataTable) -> bytes:
    def column(name: str, kind: ColumnType) -> str:
        rule = " PRIMARY KEY NOT NULL" if name == table.key else ""
        return f'"{name}" {SQL_TYPES[kind]}{rule}'

    columns = ", ".join(column(*pair) for pair in zip(table.columns, table.types, strict=True))
    with closing(sqlite3.connect(":memory:")) as connection:
        with connection:
            connection.execute(f'CREATE TABLE "{table.name}" ({columns})')
            marks = ", ".join("?" * len(table.columns))
            connection.executemany(f'INSERT INTO "{table.name}" VALUES ({marks})', table.rows)
        return connection.serialize()


def _from_sqlite(
    path: Path, name: str, columns: tuple[str, ...], types: tuple[ColumnType, ...]
) -> list[tuple[Json, ...]]:
    wanted = ", ".join(f'"{column}"' for column in columns)
    with closing(sqlite3.connect(f"file:{path}?mode=ro", uri=True)) as connection:
        found = connection.execute(f'SELECT {wanted} FROM "{name}" ORDER BY rowid').fetchall()
    return [
        tuple(bool(v) if t == "boolean" and v is not None else v for v, t in zip(row, types, strict=True))
        for row in found
    ]


WRITERS: Mapping[FileFormat, Callable[[DataTable], bytes]] = {
    "json": _to_json, "jsonl": _to_jsonl, "csv": _to_csv, "sqlite": _to_sqlite, "markdown": _to_markdown,
    "yaml": _to_yaml,
}  # fmt: skip
