"""Tables of an HTML page as plain grids: spans filled in, headers found, footers and totals put aside."""

from collections.abc import Sequence

from lxml.html import HtmlElement

from agent_world.tools.web.grid import Grid, is_number, shape, without_summary
from agent_world.tools.web.html_text import seen_text

MOST_COLUMNS = 200
"""A wider table is taken for layout or an attack by spans, and left out."""


def html_grids(document: HtmlElement, page_title: str) -> list[Grid]:
    """Data tables in order: at least two columns and one row below the header. Layout tables, which hold tables
    themselves, are passed over for what they hold; infoboxes are records (`records.py`)."""
    found = [_grid(table, page_title) for table in document.iter("table") if table.find(".//table") is None]
    return [grid for grid in found if grid is not None]


def is_infobox(table: HtmlElement) -> bool:
    """Keys in `th`, one value beside each, no header: called an infobox, or short."""
    lines = table_lines(table)
    pairs = sum(_is_pair(line) for line in lines)
    if "infobox" in (table.get("class") or "").lower():
        return pairs >= 2
    return 3 <= pairs == len(lines) <= 30


def table_lines(table: HtmlElement) -> list[HtmlElement]:
    return [line for line in table.iter("tr") if line.find("td") is not None or line.find("th") is not None]


def _is_pair(line: HtmlElement) -> bool:
    return [cell.tag for cell in line.iterchildren("th", "td")] == ["th", "td"]


def _grid(table: HtmlElement, page_title: str) -> Grid | None:
    if is_infobox(table):
        return None
    lines = table_lines(table)
    body_lines = [line for line in lines if line.getparent().tag != "tfoot"]
    cells = _spread(body_lines)
    if not cells:
        return None
    title = heading(table, page_title)
    if len(cells) > 2 and _is_across(body_lines[0], len(cells[0])):  # a title in the table's first row
        title = title if table.find("caption") is not None else cells[0][0] or title
        body_lines, cells = body_lines[1:], cells[1:]
    depth = _header_depth(body_lines, cells)
    header = [" ".join(dict.fromkeys(filter(None, column))) for column in zip(*cells[:depth], strict=True)]
    pairs = zip(body_lines[depth:], cells[depth:], strict=True)
    header, rows = _with_groups(header or [""] * len(cells[0]), [(line, row) for line, row in pairs if any(row)])
    body, notes = without_summary([row for row in rows if row != header])
    notes += [f"footer left out: {seen_text(line)[:200]}" for line in lines if line.getparent().tag == "tfoot"]
    if not body or len(header) < 2:
        return None
    return shape(title, header, body, empty="", notes=notes)


def _with_groups(header: list[str], rows: Sequence[tuple[HtmlElement, list[str]]]) -> tuple[list[str], list[list[str]]]:
    """A row of one cell across the whole table names the group of the rows below it; groups become a column."""
    groups = [line for line, row in rows if len(header) > 1 and _is_across(line, len(header))]
    if not groups or len(groups) == len(rows):
        return header, [row for _, row in rows]
    named = len(groups) > 1
    group, grouped = "", list[list[str]]()
    for line, row in rows:
        if line in groups:
            group = row[0]
        else:
            grouped.append([group, *row] if named else row)
    return (["group", *header] if named else header), grouped


def _is_across(line: HtmlElement, width: int) -> bool:
    cells = list(line.iterchildren("td", "th"))
    return len(cells) == 1 and _span(cells[0], "colspan") >= width


def _header_depth(lines: Sequence[HtmlElement], cells: Sequence[Sequence[str]]) -> int:
    """How many rows are header: those of `thead`, or leading ones of `th` alone, or a first row of distinct words."""
    depth = 0
    for line in lines:
        group = depth > 0 and _is_across(line, len(cells[0]))
        if line.getparent().tag != "thead" and (group or line.find("td") is not None):
            break
        depth += 1
    if depth:
        return depth
    words = cells[0]
    wordy = all(word and not is_number(word) for word in words)
    return 1 if wordy and len(set(words)) == len(words) and len(cells) > 1 else 0


def _spread(lines: Sequence[HtmlElement]) -> list[list[str]]:
    """The text of each cell, repeated over the rows and columns it spans, in rows of one width; none if too wide."""
    rows: list[list[str]] = []
    pending: dict[int, tuple[int, str]] = {}
    for line in lines:
        row: list[str] = []
        for cell in line.iterchildren("td", "th"):
            _take_pending(row, pending)
            text = seen_text(cell)
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
    number = int(stated) if stated.isascii() and stated.isdigit() and len(stated) < 7 else 1
    return min(number, MOST_COLUMNS + 1 if name == "colspan" else 10_000) or zero


def heading(element: HtmlElement, page_title: str) -> str:
    """The caption, else the nearest heading above, else the page's title."""
    above = element.xpath("preceding::*[self::h1 or self::h2 or self::h3][normalize-space()][1]")
    named = [*element.iterchildren("caption"), *above]
    return next(filter(None, (seen_text(one) for one in named)), page_title)
