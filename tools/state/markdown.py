"""Markdown: front matter as fields, tables as rows, and the lines of the rest under their headings."""

import re
from collections.abc import Iterator

from agent_world.tools.state.model import MAX_ROWS, Found, Row, Unreadable
from agent_world.tools.state.yaml_events import read_yaml

_FENCE = re.compile(r" {0,3}(```|~~~)")
_HEADING = re.compile(r" {0,3}#{1,6} ")
_CELLS = re.compile(r"(?<!\\)\|")
_DASHES = re.compile(r":?-+:?")


def markdown_tables(content: bytes) -> tuple[list[Found], dict[str, Row], str]:
    """Front matter and tables; the columns of each table; and the text around them, a mark in each table's place.

    Front matter that is no mapping, and a table with lines of unequal length or a column twice, stay text.
    Raises `Unreadable` for what is not UTF-8, or too long.
    """
    try:
        if content.count(b"\n") > MAX_ROWS:
            raise Unreadable(f"not Markdown to be read: more than {MAX_ROWS} lines")
        lines = content.decode("utf-8-sig").split("\n")
    except UnicodeDecodeError as error:
        raise Unreadable(f"not Markdown: {error}") from error
    found, rest = _front_matter(lines)
    columns: dict[str, Row] = {}
    kept: list[str] = []
    names: set[str] = {table.name or "" for table in found}
    for heading, block in _blocks(rest):
        table = _table(block)
        if table is None:
            kept += block
            continue
        name = _fresh(heading or "table", names)
        header, rows = table
        found.append(Found(name, rows, key=(header[0],)))
        columns[name] = {"columns": sorted(header)}
        kept.append(f"[table {name}]")
    return found, columns, "\n".join(kept)


def sections(lines: list[str]) -> list[str]:
    """The heading that each line stands under (its own, for a heading), empty before the first."""
    found, current, fenced = [], "", False
    for line in lines:
        if _FENCE.match(line):
            fenced = not fenced
        elif not fenced and _HEADING.match(line):
            current = line.strip().strip("#").strip()
        found.append(current)
    return found


def _front_matter(lines: list[str]) -> tuple[list[Found], list[str]]:
    if lines[0].rstrip() != "---":
        return [], lines
    end = next((n for n, line in enumerate(lines[1:], 1) if line.rstrip() in ("---", "...")), None)
    if end is None:
        return [], lines
    try:
        fields = read_yaml("\n".join(lines[1:end]).encode())
    except Unreadable:
        return [], lines  # then it is text, and compared as such
    return (
        ([Found("front matter", [fields], names=["value"])], lines[end + 1 :])
        if isinstance(fields, dict)
        else (
            [],
            lines,
        )
    )


def _blocks(lines: list[str]) -> Iterator[tuple[str, list[str]]]:
    """Runs of lines that could be a table, and each other line by itself, with its heading."""
    headings = sections(lines)
    fenced, start = False, 0
    while start < len(lines):
        fenced ^= bool(_FENCE.match(lines[start]))
        end = start + 1
        if not fenced and "|" in lines[start] and end < len(lines) and _is_rule(lines[end]):
            while end < len(lines) and "|" in lines[end]:
                end += 1
        yield headings[start], lines[start:end]
        start = end


def _is_rule(line: str) -> bool:
    return "-" in line and "|" in line and all(_DASHES.fullmatch(cell) for cell in _cells(line))


def _cells(line: str) -> list[str]:
    return [cell.strip() for cell in _CELLS.split(line.strip().removeprefix("|").removesuffix("|"))]


def _table(block: list[str]) -> tuple[list[str], list[Row]] | None:
    if len(block) < 2:
        return None
    header, _, *rows = (_cells(line) for line in block)
    if len(set(header)) < len(header) or any(len(row) != len(header) for row in rows):
        return None
    return header, [dict(zip(header, row, strict=True)) for row in rows]


def _fresh(name: str, taken: set[str]) -> str:
    number, found = 1, name
    while found in taken:
        number += 1
        found = f"{name} {number}"
    taken.add(found)
    return found
