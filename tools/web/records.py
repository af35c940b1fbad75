"""Facts about what a page is about, as records: infoboxes and definition lists."""

from collections.abc import Iterable, Sequence

from lxml.html import HtmlElement

from agent_world.tools.web.grid import Grid, shape
from agent_world.tools.web.html_tables import heading, is_infobox, table_lines
from agent_world.tools.web.html_text import seen_text

PAGE = "page"
"""Header of a record's first cell: the page that it is about."""
GLOSSARY_CHARS = 60
GLOSSARY_TERMS = 12
MOST_FACTS = 100
BULLETS = "•·–- "
PLAIN_CLASSES = ("infobox", "vcard", "vevent", "biota", "wikitable", "plainlist")

Facts = list[tuple[str, str]]


def record_grids(document: HtmlElement, page_title: str) -> list[Grid]:
    """Infoboxes as one row each, with their page's title for a name."""
    boxes = [t for t in document.iter("table") if t.find(".//table") is None and is_infobox(t)]
    found = (record(_kind(box) or heading(box, page_title), page_title, _box_facts(box)) for box in boxes)
    return [grid for grid in found if grid is not None]


def record(kind: str, page_title: str, facts: Iterable[tuple[str, str]]) -> Grid | None:
    """One row. A key met twice keeps both values; None below two facts."""
    kept: dict[str, str] = {}
    for key, value in facts:
        if key and value and len(kept) < MOST_FACTS:
            kept[key] = f"{kept[key]}; {value}" if key in kept else value
    if len(kept) < 2:
        return None
    return shape(kind, [PAGE, *kept], [[page_title, *kept.values()]], empty="", kind="record")


def _kind(box: HtmlElement) -> str:
    """What else the box calls itself: `infobox geography vcard` is of the kind geography."""
    words = (box.get("class") or "").lower().replace("infobox-", "").replace("ib-", "").split()
    return next((word for word in words if word not in PLAIN_CLASSES), "")


def _box_facts(box: HtmlElement) -> Facts:
    """Keys below a heading of the box carry it where they are only a bullet of it: `Population Total`."""
    facts: Facts = []
    section = ""
    for line in table_lines(box):
        cells = list(line.iterchildren("th", "td"))
        texts = [seen_text(cell) for cell in cells]
        if [cell.tag for cell in cells] == ["th", "td"]:
            key = texts[0].strip().rstrip(":")
            bullet = key[:1] in BULLETS
            facts.append((f"{section} {key.lstrip(BULLETS)}".strip() if bullet else key, texts[1]))
        elif len(cells) == 1 and cells[0].tag == "th":
            section = texts[0]
    return facts


def definition_grids(document: HtmlElement, page_title: str) -> list[Grid]:
    """Definition lists: of repeated terms, a table with a row for each repetition; neighbours of mostly the same
    terms, a table together; long definitions or many terms, a table of two columns; else a record."""
    groups: list[list[tuple[HtmlElement, Facts]]] = []
    for one in document.iter("dl"):
        facts = _definitions(one)
        if len(facts) > 1 and groups and _alike(groups[-1][0][1], facts):
            groups[-1].append((one, facts))
        elif len(facts) > 1:
            groups.append([(one, facts)])
    return [grid for group in groups if (grid := _definition_grid(group, page_title))]


def _definition_grid(group: Sequence[tuple[HtmlElement, Facts]], page_title: str) -> Grid | None:
    first, facts = group[0]
    title = heading(first, page_title)
    rows = [row for _, one in group for row in _repetitions(one)]
    if len(rows) > 1:
        header = list(dict.fromkeys(key for row in rows for key in row))
        return shape(title, header, [[row.get(key, "") for key in header] for row in rows], empty="")
    if _is_glossary(facts):
        return shape(title, ["term", "definition"], facts, empty="")
    return record(title, page_title, facts)


def _alike(facts: Facts, others: Facts) -> bool:
    terms, more = ({key for key, _ in each} for each in (facts, others))
    return 2 * len(terms & more) >= len(terms | more)


def _definitions(one: HtmlElement) -> Facts:
    """`dt` and `dd` in order, also where `div`s hold the pairs; a term with several definitions has all of them."""
    facts: Facts = []
    terms: list[str] = []
    after_value = True
    for element in one.iter("dt", "dd"):
        if next(element.iterancestors("dl")) is not one:
            continue  # of a list within this one
        text = seen_text(element).rstrip(":")
        if element.tag == "dt":
            terms = [text] if after_value else [*terms, text]
            after_value = False
        elif after_value and facts and terms:
            facts[-1] = (facts[-1][0], f"{facts[-1][1]}; {text}")
        else:
            facts += [(term, text) for term in terms]
            after_value = True
    return [(key, value) for key, value in facts if key]


def _repetitions(facts: Facts) -> list[dict[str, str]]:
    """Rows: a new one begins where the first term comes again."""
    rows: list[dict[str, str]] = []
    for key, value in facts:
        if not rows or key == facts[0][0]:
            rows.append({})
        rows[-1][key] = f"{rows[-1][key]}; {value}" if key in rows[-1] else value
    return rows


def _is_glossary(facts: Sequence[tuple[str, str]]) -> bool:
    mean = sum(len(value) for _, value in facts) / len(facts)
    return len(facts) >= GLOSSARY_TERMS or (mean > GLOSSARY_CHARS and len(facts) > 2)
