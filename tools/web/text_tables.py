"""Tables in text: CSV and its relatives, JSON lines, Markdown. The encoding and the separator are found out."""

import codecs
import csv
import io
import itertools

from agent_world.tools.web.grid import Grid, sheet
from agent_world.tools.web.html_tables import html_grids
from agent_world.tools.web.html_text import parse_html
from agent_world.tools.web.json_tables import json_grids, parse_json, records

DELIMITERS = ",;\t|"
MARKS = (
    (codecs.BOM_UTF8, "utf-8-sig"),
    (codecs.BOM_UTF32_LE, "utf-32"),
    (codecs.BOM_UTF32_BE, "utf-32"),
    (codecs.BOM_UTF16_LE, "utf-16"),
    (codecs.BOM_UTF16_BE, "utf-16"),
)


def decode(body: bytes, stated: str | None = None) -> str:
    """By its byte order mark; else UTF-8 where that fits; else UTF-16 where every other byte is zero; else as the
    sender said; else Windows-1252, which has a letter for every byte."""
    for mark, encoding in MARKS:
        if body.startswith(mark):
            return body.decode(encoding, "replace")
    for likely in filter(None, (_wide(body), "utf-8", stated)):
        try:
            return body.decode(likely)
        except (UnicodeDecodeError, LookupError):
            continue
    return body.decode("cp1252", "replace")


def _wide(body: bytes) -> str | None:
    """UTF-16 without a mark: Latin text has a zero in every other byte."""
    head = body[:400]
    even, odd = head[::2].count(0), head[1::2].count(0)
    if max(even, odd) < 0.8 * (len(head) // 2) or min(even, odd) > 0.1 * len(head):
        return None
    return ("utf-16-le" if odd > even else "utf-16-be") if len(head) > 3 else None


def csv_grids(body: bytes, name: str, stated: str | None = None) -> list[Grid]:
    """One table; all cells are text."""
    text = decode(body, stated)
    marked = text[:6].lower()
    separator = text[4] if marked.startswith("sep=") and len(text) > 5 else _delimiter(text)
    text = text.partition("\n")[2] if marked.startswith("sep=") else text
    found = sheet(name, list(csv.reader(io.StringIO(text, newline=""), delimiter=separator)), empty="")
    return [found] if found else []


def looks_like_csv(text: str) -> bool:
    """Whether the first lines, at least two, all have the same number of cells, at least two."""
    even, _, lines = max(_evenness(text, mark) for mark in DELIMITERS)
    return even == lines > 1


def _delimiter(text: str) -> str:
    """The one under which most of the first rows have one width, and most cells."""
    return max(DELIMITERS, key=lambda mark: _evenness(text, mark)[:2])


def _evenness(text: str, mark: str) -> tuple[int, int, int]:
    """Of the first lines: how many have the commonest width, that width, and how many there are."""
    try:
        head = list(itertools.islice(csv.reader(io.StringIO(text, newline=""), delimiter=mark), 30))
    except csv.Error:  # a line without this mark is longer than a cell may be
        return (0, 0, 0)
    widths = [len(row) for row in head if row]
    common = max(set(widths), key=lambda w: (widths.count(w), w), default=0)
    return (widths.count(common) if common > 1 else 0, common, len(widths))


def json_file_grids(body: bytes, name: str, stated: str | None = None) -> list[Grid]:
    return json_grids(parse_json(decode(body, stated)), name)


def jsonl_grids(body: bytes, name: str, stated: str | None = None) -> list[Grid]:
    """One object a line. Lines of another kind are an error: the file is something else."""
    rows = [parse_json(line) for line in decode(body, stated).split("\n") if line.strip()]
    if any(not isinstance(row, dict) for row in rows):
        raise ValueError("not every line is a JSON object")
    return records(name, rows) if rows else []


def markdown_grids(body: bytes, name: str, stated: str | None = None) -> list[Grid]:
    """Tables of Markdown, and those in HTML that it may hold."""
    from markdown_it import MarkdownIt

    html = MarkdownIt("commonmark").enable("table").render(decode(body, stated))
    return html_grids(parse_html(html), name)
