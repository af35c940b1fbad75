"""Tables in CSV and TSV."""

import csv
import io
from collections import Counter
from collections.abc import Iterator, Sequence

from agent_world.tools.state.model import MAX_CELLS, MAX_COLUMNS, Found, Row, Unreadable

MARKS = (",", ";", "\t", "|")


def csv_tables(content: bytes, key: Sequence[str], marks: Sequence[str] = MARKS) -> tuple[list[Found], Row]:
    """The table, and its columns in any order. Between cells stands the one of `marks` under which the header has
    the columns `key`, else the most frequent one. Raises `Unreadable`."""
    try:
        text = content.decode("utf-8-sig")
        mark = _mark(text, key, marks)
        if sum(map(text.count, f"{mark}\n\r")) > MAX_CELLS:  # before any time or memory is spent
            raise Unreadable(f"not CSV to be read: more than {MAX_CELLS} cells")
        lines = [line for line in _lines(text, mark) if line]
    except (ValueError, csv.Error) as error:
        raise Unreadable(f"not CSV: {error}") from error
    header = lines[0] if lines else []
    if len(header) > MAX_COLUMNS:
        raise Unreadable(f"not CSV to be read: more than {MAX_COLUMNS} columns")
    if len(set(header)) < len(header):
        twice = Counter(header).most_common(1)[0][0]
        raise Unreadable(f"not CSV: a column name occurs twice ({twice[:40]!r})")
    for number, line in enumerate(lines, 1):
        if len(line) != len(header):
            raise Unreadable(f"not CSV: lines of different length (row {number} has {len(line)} cells)")
    return [Found(None, [dict(zip(header, line, strict=True)) for line in lines[1:]])], {"columns": sorted(header)}


def _lines(text: str, mark: str) -> Iterator[list[str]]:
    return csv.reader(io.StringIO(text, newline=""), delimiter=mark, strict=True)


def _mark(text: str, key: Sequence[str], marks: Sequence[str]) -> str:
    first = text[:100_000].partition("\n")[0].rstrip("\r")
    headers = {mark: _header(first, mark) for mark in marks}
    if key:
        for mark, header in headers.items():
            if set(key) <= set(header):
                return mark
    return max(marks, key=lambda mark: len(headers[mark]))


def _header(line: str, mark: str) -> list[str]:
    try:
        return next(csv.reader([line], delimiter=mark), [])
    except csv.Error:
        return []
