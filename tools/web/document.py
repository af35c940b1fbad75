"""From a rendered HTML document to a `Page`."""

import hashlib
from collections.abc import Iterable
from dataclasses import replace
from urllib.parse import urldefrag, urljoin, urlsplit

from lxml.html import HtmlElement

from agent_world.tools.web.embedded import data_downloads, json_ld, json_ld_grids, script_grids, stated_licence
from agent_world.tools.web.fetch import Received
from agent_world.tools.web.grid import Grid
from agent_world.tools.web.html_tables import html_grids
from agent_world.tools.web.html_text import parse_html
from agent_world.tools.web.opening import looks_like_a_file
from agent_world.tools.web.page import Link, LinkKind, Page, RawTable
from agent_world.tools.web.paging import numbered_next, says_next
from agent_world.tools.web.records import definition_grids, record_grids


def read_document(html: str, text: str, document: Received, data: Iterable[Received] = ()) -> Page:
    """`html` and `text` as rendered, `document` as received, `data` what its scripts fetched."""
    tree = parse_html(html)
    for unseen in tree.xpath("//template | //noscript"):
        unseen.drop_tree()
    title = " ".join((tree.findtext(".//title") or "").split())
    things = json_ld(tree)
    licence = _licence(tree) or stated_licence(things)
    parts = [document.sha256, *(r.sha256 for r in sorted(data, key=lambda r: r.address))]
    sha256 = parts[0] if len(parts) == 1 else hashlib.sha256("".join(parts).encode()).hexdigest()

    def raw(grid: Grid, form: str) -> RawTable:
        return RawTable(
            grid.title,
            grid.header,
            grid.rows,
            document.address,
            document.as_of,
            sha256,
            licence,
            grid.kind,
            grid.notes,
            form=form,
            retrieved=document.retrieved,
        )

    subject = _subject(tree) or title
    shown = [*html_grids(tree, title), *definition_grids(tree, subject), *record_grids(tree, subject)]
    linked = json_ld_grids(things, subject)
    found = [(grid, "html") for grid in shown] + [(grid, "jsonld") for grid in linked]
    found += [(grid, "script") for grid in script_grids(tree, title, [*shown, *linked])]
    tables = tuple(raw(grid, form) for grid, form in found if grid.kind == "table")
    facts = tuple(raw(grid, form) for grid, form in found if grid.kind == "record")
    links = _links(tree, document.address, data_downloads(things))
    return Page(document.address, title, text, tables, links, licence, document.as_of, facts)


def _subject(tree: HtmlElement) -> str:
    """What the page is about: its first heading, which lacks the site's name that titles have."""
    return next((text for h1 in tree.iter("h1") if (text := " ".join(h1.text_content().split()))), "")


def _licence(tree: HtmlElement) -> str | None:
    for meta in tree.xpath("//meta[@name='license' or @name='dcterms.license' or @name='licence']/@content"):
        if meta.strip():
            return str(meta.strip())
    for link in tree.xpath("//*[(self::a or self::link) and contains(concat(' ', @rel, ' '), ' license ')]"):
        stated = " ".join(link.text_content().split()) or (link.get("href") or "").strip()
        if stated:
            return str(stated)
    return None


def _links(tree: HtmlElement, address: str, files: Iterable[tuple[str, str]]) -> tuple[Link, ...]:
    """Links to http(s) in order, each address once; links to the page itself are left out. `files` are downloads."""
    base = urljoin(address, next(iter(tree.xpath("//base/@href")), ""))
    found: dict[str, Link] = {}
    for element in tree.xpath("//a[@href] | //link[@rel='next' and @href]"):
        target = _absolute(base, element.get("href"))
        if target is None or target == urldefrag(address).url:
            continue
        link = Link(" ".join(element.text_content().split()), target, _kind(element, target))
        if target not in found or (link.kind == "next" and found[target].kind == "page"):
            found[target] = link
    numbers = {target: link.text for target, link in found.items()}
    if all(link.kind != "next" for link in found.values()) and (
        further := numbered_next(urldefrag(address).url, numbers)
    ):
        found[further] = replace(found[further], kind="next")
    for name, file in files:
        if (target := _absolute(base, file)) and target != urldefrag(address).url:
            found[target] = Link(name, target, "download")
    return tuple(found.values())


def _absolute(base: str, target: str) -> str | None:
    try:
        whole = urldefrag(urljoin(base, target.strip())).url
        return whole if urlsplit(whole).scheme in ("http", "https") else None
    except ValueError:
        return None


def _kind(element: HtmlElement, target: str) -> LinkKind:
    if says_next(element):
        return "next"
    text = " ".join(element.text_content().split())
    return "download" if element.get("download") is not None or looks_like_a_file(target, text) else "page"
