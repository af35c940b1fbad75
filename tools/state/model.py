"""Rows, keys and hashes: what a state is made of."""

import hashlib
import json
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

FILES = "files"
"""Table of the files that have no rows."""
MAX_BYTES = 16_000_000
"""Largest file of text that is read by rows."""
MAX_ROWS = 100_000
"""Most rows of one file."""
MAX_CELLS = 2_000_000
MAX_VALUES = 1_000_000
"""Most values of one JSON document, inner ones included: to parse them holds the interpreter for some 70 ms, in which
no deadline is looked at."""
MAX_COLUMNS = 20_000
_BATCH = 5000
"""Cells that are put into words at a time, for the same reason."""
MAX_DEPTH = 64
"""Deepest nesting of lists and objects in a value."""

Row = dict[str, Any]


class Unreadable(Exception):
    """A file is not what its name says; the message says why."""


class Rows(dict[str, Row]):
    """Rows by key, never changed once made, so that their digest is taken once."""

    _digest: str = ""

    def digest(self) -> str:
        """sha256 of `text` of all rows."""
        self._digest = self._digest or _sha256(*self._words())
        return self._digest

    def _words(self) -> Iterator[str]:
        opening, batch, cells = "{", Rows(), 0
        for key in sorted(self):
            batch[key] = self[key]
            cells += 1 + len(self[key])
            if cells >= _BATCH:
                yield opening + text(batch)[1:-1]
                opening, batch, cells = ", ", Rows(), 0
        last = text(batch)
        yield (opening if batch or opening == "{" else "") + last[1:]


class FileRows(Rows):
    """Files that have no rows of their own."""


@dataclass(frozen=True, slots=True)
class State:
    """Rows by table, then by key."""

    tables: Mapping[str, Mapping[str, Row]]
    definitions: Mapping[str, Mapping[str, Row]] = field(default_factory=dict)
    """What is said of tables: the SQL of an SQLite schema, the header of a CSV file; by file."""

    def hash(self) -> str:
        """sha256 over all rows; the order of rows in a table does not count, that of files neither."""
        return _sha256(text([[name, _digest(rows)] for name, rows in sorted(self.all().items())]))

    def all(self) -> dict[str, Mapping[str, Row]]:
        return {**self.tables, **self.definitions}


@dataclass(frozen=True, slots=True)
class Found:
    """A table as a file has it."""

    name: str | None
    """Within the file; None for what the file itself is."""
    rows: Sequence[Row]
    key: tuple[str, ...] = ()
    """The columns of its own primary key."""
    names: Sequence[str] | None = None
    """A key for each row, where the file gives them or order counts."""


def keyed(rows: Sequence[Row], key: Sequence[str], names: Sequence[str] | None, hidden: Collection[str]) -> Rows:
    """Rows by their keys, without the columns `hidden`. Rows with the same key get keys of their own, the same ones
    in whatever order the rows come."""
    kept = [{c: v for c, v in row.items() if c not in hidden} for row in rows] if hidden else rows
    keys = names if names is not None else [_key(row, key) for row in kept]
    found = Rows(zip(keys, kept, strict=True))
    return found if len(found) == len(kept) else _apart(keys, kept)


def _apart(keys: Iterable[str], rows: Iterable[Row]) -> Rows:
    groups: dict[str, list[Row]] = {}
    for key, row in zip(keys, rows, strict=True):
        groups.setdefault(key, []).append(row)
    found = Rows()
    for key, group in sorted(groups.items()):
        first, *others = sorted(group, key=text) if len(group) > 1 else group
        found[key] = first
        for number, row in enumerate(others, 2):
            found[unused(f"{key} ({number})", groups, found)] = row
    return found


def unused(name: str, *taken: Collection[str]) -> str:
    """The name, with a mark where it is taken."""
    while any(name in names for names in taken):
        name += "'"
    return name


def _key(row: Row, columns: Sequence[str]) -> str:
    values = [row.get(column) for column in columns]
    if not values or any(value is None for value in values):
        return "row " + _sha256(text(row))[:16]
    if len(values) > 1:
        return text(values)
    return values[0] if isinstance(values[0], str) else text(values[0])


def same(a: Any, b: Any) -> bool:
    """Equal with types: 1 is neither 1.0 nor true."""
    if a is b:
        return True
    if isinstance(a, dict | list) or isinstance(b, dict | list):
        return a == b and text(a) == text(b)
    return type(a) is type(b) and (a == b and text(a) == text(b) if isinstance(a, float) else a == b)


_ENCODER = json.JSONEncoder(sort_keys=True)


def text(value: Any) -> str:
    return _ENCODER.encode(value)


def check_depth(value: Any) -> None:
    """Raises `Unreadable` where lists and objects are nested deeper than `MAX_DEPTH`."""
    level = [value]
    for _ in range(MAX_DEPTH + 1):
        level = [inner for outer in level for inner in _inner(outer) if isinstance(inner, dict | list)]
        if not level:
            return
    raise Unreadable(f"nested more than {MAX_DEPTH} levels deep")


def _inner(value: Any) -> Iterator[Any]:
    yield from value.values() if isinstance(value, dict) else value if isinstance(value, list) else ()


def opaque(content: bytes, problem: str = "", most: int = 1_000_000) -> Row:
    """A file without rows: its text, or size and hash."""
    row: Row = {"problem": problem[:200].encode(errors="backslashreplace").decode()} if problem else {}
    try:
        found = content.decode() if len(content) <= most else None
    except UnicodeDecodeError:
        found = None
    if found is not None:
        return {**row, "text": found}
    return {**row, "sha256": hashlib.sha256(content).hexdigest(), "bytes": len(content)}


def _digest(rows: Mapping[str, Row]) -> str:
    return rows.digest() if isinstance(rows, Rows) else _sha256(text(rows))


def _sha256(*parts: str) -> str:
    found = hashlib.sha256()
    for part in parts:
        found.update(part.encode())
    return found.hexdigest()
