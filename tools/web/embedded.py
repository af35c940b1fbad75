"""Data that a page carries beside what it shows: JSON-LD, JSON in scripts, arrays of objects in JavaScript.

JavaScript is parsed by `chompjs`, never run. Nothing here is trusted: sizes are bounded, what does not parse is passed
over, since a page with a broken script is still a page.
"""

import re
from collections.abc import Iterable, Iterator
from typing import Any

from lxml.html import HtmlElement

from agent_world.tools.web.grid import Grid
from agent_world.tools.web.json_tables import json_grids, parse_json, records
from agent_world.tools.web.records import record

LARGEST_SCRIPT = 2_000_000
MOST_TABLES = 12
LEAST_ROWS, LEAST_COLUMNS = 3, 2
"""Of a table in a script: smaller lists are a page's own settings."""
SHOWN_ALREADY = 0.8
"""Share of a script's values that stand in one table of the page: it is the source of that table."""
ASSIGNED = re.compile(r"(?:^|[\s;,{(.\]])([A-Za-z_$][\w$]*)[\"']?\]?\s*(?:=(?![=>])|:)\s*(?=[\[{])")
MARKS = re.compile(r"""\\.|["'`\[\]{}]""", re.DOTALL)
STRING = re.compile(r"""\"(?:[^"\\]|\\.)*"|'(?:[^'\\]|\\.)*'|`(?:[^`\\]|\\.)*`""", re.DOTALL)
CALL = re.compile(r"[\w$\])]\s*\(|=>|\b(?:function|new)\b")
NAMED_VALUE = re.compile(r"[:\[,]\s*([A-Za-z_$][\w$.]*)\s*(?=[,\]}])")
MOST_TRIES = 200
DATA_TYPES = ("application/json", "text/json", "application/x-json")
THINGS_WITHOUT_FACTS = {
    "breadcrumblist", "website", "webpage", "organization", "searchaction", "imageobject", "listitem",
    "article", "newsarticle", "blogposting", "collectionpage", "sitenavigationelement",
}  # fmt: skip
"""Types of JSON-LD that describe the page rather than what it is about."""


def json_ld(document: HtmlElement) -> list[dict[str, Any]]:
    """All things that the page's JSON-LD describes, those of `@graph` and of lists one by one."""
    found: list[dict[str, Any]] = []
    for script in document.iter("script"):
        if (script.get("type") or "").partition(";")[0].strip().lower() == "application/ld+json":
            found += _things(_parsed(script.text or ""), 0)
    return found


def json_ld_grids(things: Iterable[dict[str, Any]], page_title: str) -> list[Grid]:
    """Things of one type are a table; a single one is a record of its page."""
    by_type: dict[str, list[dict[str, Any]]] = {}
    for thing in things:
        kind = _type(thing)
        if kind and kind.lower() not in THINGS_WITHOUT_FACTS:
            by_type.setdefault(kind, []).append(_facts(thing))
    grids: list[Grid] = []
    for kind, rows in by_type.items():
        if len(rows) > 1:
            grids += records(kind, rows)
        else:
            for flat in records(kind, rows)[:1]:
                texts = ("" if cell is None else str(cell) for cell in flat.rows[0])
                grids += filter(None, [record(kind, page_title, zip(flat.header, texts, strict=True))])
    return grids


def data_downloads(things: Iterable[dict[str, Any]]) -> list[tuple[str, str]]:
    """Names and addresses of files that a `Dataset` says it is distributed as."""
    found = []
    for thing in things:
        parts = thing.get("distribution")
        for part in parts if isinstance(parts, list) else [parts]:
            if isinstance(part, dict) and isinstance(address := part.get("contentUrl"), str):
                found.append((str(part.get("name") or thing.get("name") or ""), address))
    return found


def stated_licence(things: Iterable[dict[str, Any]]) -> str | None:
    for thing in things:
        licence = thing.get("license")
        licence = licence.get("name") or licence.get("url") if isinstance(licence, dict) else licence
        if isinstance(licence, str) and licence.strip():
            return licence.strip()
    return None


def script_grids(document: HtmlElement, page_title: str, shown: Iterable[Grid]) -> list[Grid]:
    """Tables in JSON and JavaScript of the page's scripts, without those that the page shows anyway."""
    seen = [_values(grid) for grid in shown]
    kept: list[Grid] = []
    for script in document.iter("script"):
        text = script.text or ""
        if script.get("src") is not None or not text.strip() or len(text) > LARGEST_SCRIPT:
            continue
        for grid in _grids(script, text, page_title):
            values = _values(grid)
            large = len(grid.rows) >= LEAST_ROWS and len(grid.header) >= LEAST_COLUMNS
            if large and not any(len(values & other) >= SHOWN_ALREADY * len(values) for other in seen):
                seen.append(values)
                kept.append(grid)
            if len(kept) == MOST_TABLES:
                return kept
    return kept


def _grids(script: HtmlElement, text: str, page_title: str) -> Iterator[Grid]:
    kind = (script.get("type") or "").partition(";")[0].strip().lower()
    if kind in DATA_TYPES:
        name = (script.get("id") or "").strip("_")
        yield from _tables(_parsed(text), page_title if name.isupper() or not name else name)
    elif kind in ("", "text/javascript", "application/javascript", "module"):
        for name, value in _assigned(text):
            yield from _tables(value, name)


def _tables(value: Any, name: str) -> list[Grid]:
    try:
        return json_grids(value, name)
    except ValueError:  # too many cells
        return []


def _assigned(text: str) -> Iterator[tuple[str, Any]]:
    """Names and values of objects and lists that JavaScript assigns, outermost first."""
    import chompjs

    end = tried = scanned = 0
    for found in ASSIGNED.finditer(text):
        start = found.end()
        if start < end:
            continue  # within the value before
        if tried == MOST_TRIES or scanned > 2 * LARGEST_SCRIPT:
            return
        stop = _stop(text, start)
        tried, scanned = tried + 1, scanned + stop - start
        if "{" not in text[start:stop] or not _is_plain(text[start:stop]):
            continue
        try:
            value: Any = chompjs.parse_js_object(text[start:stop])
        except (ValueError, RecursionError):
            continue  # a block of code, or not plain data
        if isinstance(value, list | dict) and value:
            end = stop
            yield found[1], value


def _is_plain(script: str) -> bool:
    """Whether all values are written out: what a call or a name would give is not known without running it."""
    bare = STRING.sub("0", script)
    named = {name for name in NAMED_VALUE.findall(bare)} - {"true", "false", "null"}
    return not named and not CALL.search(bare)


def _stop(text: str, start: int) -> int:
    """Where the bracketed value at `start` ends; brackets in strings do not count."""
    depth, quote = 0, ""
    for mark in MARKS.finditer(text, start):
        sign = mark[0]
        if quote:
            quote = "" if sign == quote else quote
        elif sign in "\"'`":
            quote = sign
        elif sign in "[{":
            depth += 1
        elif sign in "]}":
            depth -= 1
            if depth <= 0:
                return mark.end()
    return len(text)


def _values(grid: Grid) -> set[str]:
    return {str(cell) for row in grid.rows for cell in row if cell not in (None, "")}


def _parsed(text: str) -> Any:
    """None for what is no JSON."""
    try:
        return parse_json(text.strip().removeprefix("<!--").removesuffix("-->"))
    except ValueError:
        return None


def _things(value: Any, depth: int) -> list[dict[str, Any]]:
    if depth > 8:
        return []
    if isinstance(value, list):
        return [thing for one in value for thing in _things(one, depth + 1)]
    if not isinstance(value, dict):
        return []
    held = [*_things(value.get("@graph"), depth + 1)]
    elements = value.get("itemListElement")
    if _type(value) != "BreadcrumbList" and isinstance(elements, list):
        for place in elements:
            item = place.get("item", place) if isinstance(place, dict) else None
            held += _things(item, depth + 1) if isinstance(item, dict) else []
        return held
    return held or [value] if "@graph" in value else [value]


def _type(thing: dict[str, Any]) -> str:
    kind = thing.get("@type")
    kind = kind[0] if isinstance(kind, list) and kind else kind
    return kind.rpartition("/")[2] if isinstance(kind, str) else ""


def _facts(thing: dict[str, Any]) -> dict[str, Any]:
    """Without the marks of JSON-LD; `@id` is kept as `id` where there is none."""
    facts: dict[str, Any] = {}
    for key, value in thing.items():
        if key == "@id" and "id" not in thing:
            facts["id"] = value
        elif not key.startswith("@"):
            facts[key] = _facts(value) if isinstance(value, dict) else value
            if isinstance(value, list):
                facts[key] = [_facts(one) if isinstance(one, dict) else one for one in value]
    return facts
