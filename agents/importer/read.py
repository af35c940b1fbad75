"""Data files of others, read as collections of records: JSON, JSON Lines, CSV, TSV and SQLite."""

import csv
import hashlib
import json
import sqlite3
from collections.abc import Callable, Iterator, Mapping
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from agent_world.agents.importer.report import Placed
from agent_world.agents.importer.shape import key_field
from agent_world.errors import UsageError
from agent_world.schema import Json
from agent_world.tools.sql import sql_name
from agent_world.tools.strict_json import finite_float, refuse_constant, unique_keys
from agent_world.tools.tables import snake_case

Fields = dict[str, Json]


@dataclass(frozen=True, slots=True)
class Collection:
    """Records of one kind, in the source's order."""

    name: str
    path: str
    """Where in the source, the file first: `db.json: users`."""
    file: str
    records: list[Fields]
    key: str | None = None
    """The field by which the source itself addresses a record, where it does."""
    textual: bool = False
    """Whether cells are text whose types are to be found (CSV)."""


@dataclass(frozen=True, slots=True)
class Source:
    collections: list[Collection]
    left_out: list[Placed]
    """Files that hold no data."""
    hashes: dict[str, str]
    """File -> sha256 of its bytes."""


def read_source(place: Path, leave_out: tuple[str, ...] = ()) -> Source:
    """All data files of a folder (or one file), in order of their names; `leave_out` are patterns of file names.

    Raises `UsageError` that names the file that is missing, damaged, or holds what a table cannot.
    """
    if not place.exists():
        raise UsageError(f"There is no data at {place}; give a folder of data files, or one file.")
    source = Source([], [], {})
    folder = place if place.is_dir() else place.parent
    for path in sorted(p for p in place.rglob("*") if p.is_file()) if place.is_dir() else [place]:
        name = path.relative_to(folder).as_posix()
        reader = _READERS.get(path.suffix.lower())
        unwanted = any(path.match(pattern) for pattern in leave_out)
        if reader is None or unwanted:
            note = "as asked" if unwanted else f"no data file ({', '.join(sorted(_READERS))} are)"
            source.left_out.append(Placed(path=name, found=1, how="left out", note=note))
            continue
        source.hashes[name] = hashlib.sha256(path.read_bytes()).hexdigest()
        try:
            source.collections.extend(reader(path, name))
        except (ValueError, RecursionError, csv.Error, sqlite3.DatabaseError) as error:
            said = " ".join(str(error).split())[:200]
            raise UsageError(f"{path} cannot be read ({said}); mend it, or leave it out.") from error
    if not source.collections:
        raise UsageError(f"There is no data file in {place}; {', '.join(sorted(_READERS))} are read.")
    return source


# --- JSON --------------------------------------------------------------------------------------------


def _json(path: Path, name: str) -> Iterator[Collection]:
    yield from _collections(_parsed(path.read_text(encoding="utf-8-sig")), _stem(path), f"{name}: ", name)


def _json_lines(path: Path, name: str) -> Iterator[Collection]:
    lines = path.read_text(encoding="utf-8-sig").split("\n")
    values = [_parsed(line) for line in lines if line.strip()]
    yield from _collections(values, _stem(path), f"{name}: ", name)


def _parsed(text: str) -> Json:
    return json.loads(text, parse_constant=refuse_constant, parse_float=finite_float, object_pairs_hook=unique_keys)


def _collections(document: Json, name: str, path: str, file: str) -> Iterator[Collection]:
    """A list of records; an object of them by id; or an object that holds several of these."""
    if isinstance(document, list):
        records = [item if isinstance(item, dict) else {"value": item} for item in document]
        if records:
            yield Collection(name, path + "[]", file, records)
        return
    if not isinstance(document, dict):
        raise ValueError("it holds a single value, which is no table")
    key = key_field([document])
    if key is not None:
        yield Collection(name, path + "{}", file, keyed_records(document, key), key or "key")
        return
    inside = {k: v for k, v in document.items() if _holds_records(v)}
    rest = {k: v for k, v in document.items() if k not in inside}
    if rest:
        yield Collection(name, path, file, [rest])
    for title, value in inside.items():
        yield from _collections(value, snake_case(title) or name, f"{path}{title}", file)


def _holds_records(value: Json) -> bool:
    if isinstance(value, list):
        return bool(value) and all(isinstance(item, dict) for item in value)
    return isinstance(value, dict) and key_field([value]) is not None


def keyed_records(found: Mapping[str, Fields], key: str) -> list[Fields]:
    """The values of a map; where they do not hold their key, it becomes the field `key`."""
    return [dict(value) if key else {"key": k, **value} for k, value in found.items()]


# --- CSV and SQLite -------------------------------------------------------------------------------------


def _delimited(path: Path, name: str) -> Iterator[Collection]:
    with path.open(encoding="utf-8-sig", newline="") as file:
        lines = list(csv.reader(file, delimiter="\t" if path.suffix.lower() == ".tsv" else ",", strict=True))
    lines = [line for line in lines if line]
    if not lines:
        return
    header = lines[0]
    if len(set(header)) < len(header):
        raise ValueError("two columns have one name")
    for number, line in enumerate(lines[1:], 2):
        if len(line) != len(header):
            raise ValueError(f"row {number} has {len(line)} cells, the header {len(header)}")
    records: list[Fields] = [dict(zip(header, line, strict=True)) for line in lines[1:]]
    if records:
        yield Collection(_stem(path), f"{name}: rows", name, records, textual=True)


def _sqlite(path: Path, name: str) -> Iterator[Collection]:
    with closing(sqlite3.connect(f"file:{path}?mode=ro", uri=True)) as connection:
        listed = "SELECT name FROM sqlite_master WHERE type = 'table' AND name NOT LIKE 'sqlite_%' ORDER BY name"
        for (table,) in connection.execute(listed).fetchall():
            columns = connection.execute(f"PRAGMA table_info({sql_name(table)})").fetchall()
            names, kinds = [column[1] for column in columns], [column[2].upper() for column in columns]
            rows = connection.execute(f"SELECT {', '.join(map(sql_name, names))} FROM {sql_name(table)}").fetchall()
            keys = [column[1] for column in columns if column[5]]
            records = [dict(zip(names, map(_cell, row, kinds), strict=True)) for row in rows]
            if records:
                key = keys[0] if len(keys) == 1 else None
                yield Collection(snake_case(table) or "table", f"{name}: {table}", name, records, key)


def _cell(value: Any, kind: str) -> Json:
    if isinstance(value, bytes):
        raise ValueError("it holds binary cells, which no table of ours can")
    return bool(value) if kind in ("BOOLEAN", "BOOL") and value in (0, 1) else value


def _stem(path: Path) -> str:
    return snake_case(path.stem) or "records"


_READERS: dict[str, Callable[[Path, str], Iterator[Collection]]] = {
    ".json": _json, ".jsonl": _json_lines, ".ndjson": _json_lines, ".csv": _delimited, ".tsv": _delimited,
    ".sqlite": _sqlite, ".sqlite3": _sqlite, ".db": _sqlite,
}  # fmt: skip
