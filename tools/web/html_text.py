"""Parsing HTML, and the text of its elements as a reader sees it."""

import re
from collections.abc import Iterator

import lxml.html
from lxml.html import HtmlElement

UNSEEN = frozenset({"script", "style", "template", "noscript", "head"})
BREAKS = frozenset({"br", "li", "p", "div", "tr", "td"})
HIDDEN = re.compile(r"display\s*:\s*none|visibility\s*:\s*hidden", re.IGNORECASE)
FOOTNOTE = re.compile(r"\[\s*(\d{1,3}|[a-z]{1,2}|note \d+|citation needed)\s*\]", re.IGNORECASE)
DEEPEST = 100


def parse_html(text: str) -> HtmlElement:
    """An empty page is a page too."""
    return lxml.html.document_fromstring(text or "<html></html>", ensure_head_body=True)


def seen_text(element: HtmlElement) -> str:
    """Text without scripts, styles, what is hidden by its own style, and marks of footnotes; items of a list in it
    are told apart by `; `."""
    items = element.xpath("./ul/li | ./ol/li | ./div/ul/li | ./div/ol/li")
    if len(items) > 1:
        return "; ".join(filter(None, (_joined(item) for item in items)))
    return _joined(element)


def _joined(element: HtmlElement) -> str:
    return " ".join("".join(_parts(element, 0)).split())


def _parts(element: HtmlElement, depth: int) -> Iterator[str]:
    if element.text:
        yield element.text
    for child in element.iterchildren():
        if isinstance(child.tag, str) and depth < DEEPEST and not _unseen(child):
            if child.tag in BREAKS:
                yield " "
            yield from _parts(child, depth + 1)
            if child.tag in BREAKS:
                yield " "
        if child.tail:
            yield child.tail


def _unseen(element: HtmlElement) -> bool:
    if element.tag in UNSEEN or element.get("hidden") is not None or HIDDEN.search(element.get("style") or ""):
        return True
    return element.tag == "sup" and bool(FOOTNOTE.fullmatch(element.text_content().strip()))
