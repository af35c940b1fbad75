"""Tables of an HTML page as plain grids: spans filled in, headers found, repeated headers told apart."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import lxml.html
from lxml.html import HtmlElement

MOST_COLUMNS = 200
"""A wider table is taken for layout or an attack by spans, and left out."""


@dataclass(frozen=True, slots=True)
class Grid:
    title: str
    header: tuple[str, ...]
    rows: tuple[tuple[Any, ...], ...]


def shape(title: str, header: Sequence[str], rows: Sequence[Sequence[Any]], *, empty: Any) -> Grid:
    """Rows padded with `empty` to one width, every column with a header of its own."""
    width = max([len(header), *(len(row) for row in rows)])
    names = _distinct([*(name.strip() for name in header), *[""] * (width - len(header))])
    return Grid(title, names, tuple((*row, *[empty] * (width - len(row))) for row in rows))


def _distinct(names: Sequence[str]) -> tuple[str, ...]:
    """`id, name, id, ""` becomes `id, name, id_2, column_4`."""
    seen: set[str] = set()
    for place, name in enumerate(names, 1):
        base = name or f"column_{place}"
        choice, n = base, 2
        while choice in seen or (choice != name and choice in names):
            choice, n = f"{base}_{n}", n + 1
        seen.add(choice)
        names = [*names[: place - 1], choice, *names[place:]]
    return tuple(names)


def html_grids(document: HtmlElement, page_title: str) -> list[Grid]:
    """Data tables in order: at least two columns and one row below the header. Layout tables, which hold tables
    themselves, are passed over for what they hold."""
    found = [_grid(table, page_title) for table in document.iter("table") if table.find(".//table") is None]
    return [grid for grid in found if grid is not None]


def _grid(table: HtmlElement, page_title: str) -> Grid | None:
    lines = [line for line in table.iter("tr") if line.find("td") is not None or line.find("th") is not None]
    cells = _spread(lines)
    if not cells:
        return None
    depth = _header_depth(lines, cells)
    header = [" ".join(dict.fromkeys(filter(None, column))) for column in zip(*cells[:depth], strict=True)]
    body = [row for row in cells[depth:] if any(row)]
    if not header:
        header = [""] * len(cells[0])
    return shape(_title(table, page_title), header, body, empty="") if body and len(header) > 1 else None


def _header_depth(lines: Sequence[HtmlElement], cells: Sequence[Sequence[str]]) -> int:
    """How many rows are header: those of `thead`, or leading ones of `th` alone, or a first row of distinct words."""
    depth = 0
    for line in lines:
        if line.getparent().tag != "thead" and line.find("td") is not None:
            break
        depth += 1
    if depth:
        return depth
    words = cells[0]
    wordy = all(word and not _numeric(word) for word in words)
    return 1 if wordy and len(set(words)) == len(words) and len(cells) > 1 else 0


def _numeric(word: str) -> bool:
    return word.replace(",", "").replace(".", "").lstrip("-+").isdigit()


def _spread(lines: Sequence[HtmlElement]) -> list[list[str]]:
    """The text of each cell, repeated over the rows and columns it spans, in rows of one width; none if too wide."""
    rows: list[list[str]] = []
    pending: dict[int, tuple[int, str]] = {}
    for line in lines:
        row: list[str] = []
        for cell in line.iterchildren("td", "th"):
            _take_pending(row, pending)
            text = " ".join(cell.text_content().split())
            for _ in range(_span(cell, "colspan")):
                if (down := _span(cell, "rowspan", zero=len(lines))) > 1:
                    pending[len(row)] = (down - 1, text)
                row.append(text)
        _take_pending(row, pending)
        rows.append(row)
        if len(row) > MOST_COLUMNS:
            return []
    width = max((len(row) for row in rows), default=0)
    return [row + [""] * (width - len(row)) for row in rows]


def _take_pending(row: list[str], pending: dict[int, tuple[int, str]]) -> None:
    """Append the cells that reach down from rows above to where `row` ends now."""
    while len(row) in pending:
        left, text = pending.pop(len(row))
        if left > 1:
            pending[len(row)] = (left - 1, text)
        row.append(text)


def _span(cell: HtmlElement, name: str, zero: int = 1) -> int:
    stated = (cell.get(name) or "1").strip()
    number = int(stated) if stated.isascii() and stated.isdigit() else 1
    return min(number, MOST_COLUMNS + 1 if name == "colspan" else 10_000) or zero


def _title(table: HtmlElement, page_title: str) -> str:
    """The caption, else the nearest heading above, else the page's title."""
    named = [*table.iterchildren("caption"), *reversed(table.xpath("preceding::*[self::h1 or self::h2 or self::h3]"))]
    texts = (" ".join(element.text_content().split()) for element in named)
    return next(filter(None, texts), page_title)


def parse_html(text: str) -> HtmlElement:
    """An empty page is a page too."""
    return lxml.html.document_fromstring(text or "<html></html>", ensure_head_body=True)
