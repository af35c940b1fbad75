"""Rows of cells as found become a `Grid`: the header told from the rows, footers and remarks put aside and noted."""

import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from agent_world.tools.web.page import TableKind

MOST_CELLS = 4_000_000
"""A larger table is an attack or a mistake: a short file can ask for any number of empty cells."""
TOTAL = re.compile(r"((grand|sub|sub-)?\s*totals?|overall|sum|average|mean|gesamt|summe|insgesamt)\s*:?", re.IGNORECASE)
REMARK = re.compile(r"(sources?|notes?|remarks?|quelle|anmerkung(en)?)\b.*[:.]|[*†‡©#]", re.IGNORECASE)
LONGEST_NOTE = 200


@dataclass(frozen=True, slots=True)
class Grid:
    title: str
    header: tuple[str, ...]
    rows: tuple[tuple[Any, ...], ...]
    kind: TableKind = "table"
    notes: tuple[str, ...] = ()
    form: str = ""
    """Of the file within an archive."""


def shape(
    title: str,
    header: Sequence[str],
    rows: Sequence[Sequence[Any]],
    *,
    empty: Any,
    kind: TableKind = "table",
    notes: Sequence[str] = (),
) -> Grid:
    """Rows padded with `empty` to one width, every column with a header of its own. Raises `ValueError` where the
    table has more cells than `MOST_CELLS`."""
    width = max([len(header), *(len(row) for row in rows)])
    require_size(title, width, len(rows))
    names = _distinct([*(" ".join(name.split()) for name in header), *[""] * (width - len(header))])
    padded = tuple((*row, *[empty] * (width - len(row))) for row in rows)
    return Grid(title, names, padded, kind, tuple(notes))


def require_size(title: str, width: int, rows: int) -> None:
    """Raise `ValueError` for more cells than `MOST_CELLS`."""
    if width * max(1, rows) > MOST_CELLS:
        raise ValueError(f"the table {title!r} has more than {MOST_CELLS} cells")


def _distinct(names: Sequence[str]) -> tuple[str, ...]:
    """`id, name, id, ""` becomes `id, name, id_2, column_4`."""
    given = set(names)
    chosen: dict[str, None] = {}
    met: Counter[str] = Counter()
    for place, name in enumerate(names, 1):
        base = choice = name or f"column_{place}"
        while choice in chosen or (choice != name and choice in given):
            met[base] += 1
            choice = f"{base}_{met[base] + 1}"
        chosen[choice] = None
    return tuple(chosen)


def sheet(title: str, lines: Sequence[Sequence[Any]], *, empty: Any) -> Grid | None:
    """The table of a CSV file or of a sheet: lines above and below it become notes. None where there is none."""
    lines = [line for line in lines if any(_filled(cell) for cell in line)]
    if not lines:
        return None
    start, notes = _above(lines), []
    notes += [f"line above the table: {_said(line)}" for line in lines[:start]]
    header, body = list(lines[start]), list(lines[start + 1 :])
    if _is_data(header, body):
        notes.append("no header line: columns are numbered")
        header, body = [], [header, *body]
    body, more = without_summary(body)
    names = ["" if cell is None else str(cell) for cell in header]
    return shape(title, names, body, empty=empty, notes=[*notes, *more])


def without_summary(rows: Sequence[Sequence[Any]]) -> tuple[list[Sequence[Any]], list[str]]:
    """Rows without the totals and remarks at their end, which are no rows of the table; a note says each."""
    kept, notes = list(rows), list[str]()
    while len(kept) > 2 and (summary := _summary(kept[-1])):
        notes.append(f"{summary}: {_said(kept.pop())}")
    return kept, notes[::-1]


def _summary(row: Sequence[Any]) -> str | None:
    filled = [str(cell).strip() for cell in row if _filled(cell)]
    if len(row) > 1 and filled and TOTAL.fullmatch(filled[0]):
        return "total row left out"
    return "remark below the table" if len(row) > 2 and len(filled) == 1 and REMARK.match(filled[0]) else None


def _above(lines: Sequence[Sequence[Any]]) -> int:
    """How many lines stand above the header: titles and comments, which fill the first cell alone."""
    width = Counter(_width(line) for line in lines[:50]).most_common(1)[0][0]
    for place, line in enumerate(lines[:20]):
        comment = str(line[0]).startswith("#") and _width(line) != width
        if width < 2 or not (comment or _width(line) == 1):
            return place
    return 0


def _is_data(first: Sequence[Any], body: Sequence[Sequence[Any]]) -> bool:
    """Whether the first line looks like those below it, and holds numbers that are no years: there is no header."""
    numbers = [cell for cell in first if is_number(cell)]
    if not numbers or not body or all(re.fullmatch(r"(1[5-9]|20)\d\d", str(cell)) for cell in numbers):
        return False
    below = body[: min(len(body), 20)]

    def alike(place: int) -> bool:
        cells = [row[place] for row in below if place < len(row) and _filled(row[place])]
        return not cells or 2 * sum(is_number(c) == is_number(first[place]) for c in cells) > len(cells)

    return all(alike(place) for place in range(len(first)))


def is_number(cell: Any) -> bool:
    if isinstance(cell, bool):
        return False
    return isinstance(cell, int | float) or (
        isinstance(cell, str) and bool(re.fullmatch(r"\s*[-+−]?\d[\d.,  ]*\s*%?\s*", cell))
    )


def _width(line: Sequence[Any]) -> int:
    """Cells up to the last that is filled."""
    return max((place for place, cell in enumerate(line, 1) if _filled(cell)), default=0)


def _filled(cell: Any) -> bool:
    return cell is not None and str(cell).strip() != ""


def _said(line: Sequence[Any]) -> str:
    return " | ".join(str(cell).strip() for cell in line if _filled(cell))[:LONGEST_NOTE]
