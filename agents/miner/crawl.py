"""Searching and reading: best-first over pages, listings followed, downloads taken, everything logged.

What pages say is data. It is scored and typed; nothing in it is ever followed as an instruction.
"""

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Protocol

from typing_extensions import TypedDict

from agent_world.agents.miner.fit import Terms
from agent_world.agents.miner.material import Mine
from agent_world.errors import WebError
from agent_world.settings import MiningSettings
from agent_world.tools.web.page import Page, RawTable

if TYPE_CHECKING:
    from agent_world.tools.web.search import SearchBackend

LEAST_SCORE = 0.2
"""Leads below this are not opened."""
RANK_WEIGHT = 0.4
"""How much the last hit of a search loses against the first, their words being equal."""
OWN_WEIGHT, PARENT_WEIGHT = 0.5, 0.5
"""Of a link's own words, and of the page that it was found on."""
CONTEXT_CHARS = 600


class Lead(TypedDict):
    """An address worth opening, as it stands in the graph's state."""

    address: str
    text: str
    kind: str
    """`page` or `download`."""
    score: float


class Reader(Protocol):
    """What reading needs of a browser; both raise `WebError`."""

    async def read(self, address: str) -> Page: ...

    async def download(self, address: str) -> tuple[RawTable, ...]: ...


@dataclass(slots=True)
class Reading:
    """What one pass of reading found; goes on from the leads and addresses of earlier passes."""

    leads: list[Lead]
    seen: list[str]
    tables: list[str]
    """Raw files of the mine."""
    opened: int = 0
    failures: list[str] = field(default_factory=list)


async def search_leads(
    search: "SearchBackend", queries: Sequence[str], terms: Terms, mine: Mine, limit: int
) -> list[Lead]:
    """Hits of all queries, each address once, scored by rank and words. Raises `WebError` when search is down."""
    leads: dict[str, Lead] = {}
    for query in queries:
        hits = await search.search(query, limit)
        mine.log("search", "", query=query, hits=len(hits))
        for place, hit in enumerate(hits):
            text = f"{hit.title} {hit.snippet}"
            score = round(terms.score(text) * (1 - RANK_WEIGHT * place / max(1, limit)), 4)
            known = leads.get(hit.address)
            if known is None or score > known["score"]:
                leads[hit.address] = Lead(address=hit.address, text=hit.title, kind="page", score=score)
    return list(leads.values())


async def read_leads(browser: Reader, reading: Reading, terms: Terms, mine: Mine, settings: MiningSettings) -> None:
    """Open the best leads, at most `settings.pages` in all passes together; `reading` holds what comes of it."""
    while reading.leads and reading.opened < settings.pages:
        best = max(reading.leads, key=lambda lead: (lead["score"], lead["address"]))
        reading.leads.remove(best)
        if best["score"] < LEAST_SCORE:
            break
        if best["address"] not in reading.seen:
            await _open(browser, best, reading, terms, mine, settings)


async def _open(
    browser: Reader, lead: Lead, reading: Reading, terms: Terms, mine: Mine, settings: MiningSettings
) -> None:
    reading.seen.append(lead["address"])
    reading.opened += 1
    try:
        if lead["kind"] == "download":
            tables = await browser.download(lead["address"])
            mine.log("download", lead["address"], tables=len(tables), rows=sum(len(t.rows) for t in tables))
            _keep(tables, lead["text"], reading, mine)
        else:
            await _read(browser, lead["address"], reading, terms, mine, settings)
    except WebError as error:
        mine.log("failed", lead["address"], reason=str(error))
        reading.failures.append(str(error))


async def _read(
    browser: Reader, address: str, reading: Reading, terms: Terms, mine: Mine, settings: MiningSettings
) -> None:
    """A page, and the further pages of its listing."""
    page = await _page(browser, address, reading, mine)
    fit = terms.score(f"{page.title} {page.text[:CONTEXT_CHARS]}")
    _follow(page, fit, reading, terms)
    for _ in range(settings.listing_pages):
        following = next((k.address for k in page.links if k.kind == "next" and k.address not in reading.seen), None)
        if following is None or not page.tables or fit < LEAST_SCORE:
            break
        reading.seen.append(following)
        page = await _page(browser, following, reading, mine)


async def _page(browser: Reader, address: str, reading: Reading, mine: Mine) -> Page:
    page = await browser.read(address)
    mine.log("page", address, tables=len(page.tables), rows=sum(len(t.rows) for t in page.tables))
    _keep(page.tables, f"{page.title} {page.text[:CONTEXT_CHARS]}", reading, mine)
    return page


def _keep(tables: Sequence[RawTable], context: str, reading: Reading, mine: Mine) -> None:
    for table in tables:
        if table.rows:
            reading.tables.append(mine.add_table(table, context, len(reading.tables)))


def _follow(page: Page, fit: float, reading: Reading, terms: Terms) -> None:
    """Links become leads: those of a page that fits are worth more. A download brings its page's words along."""
    for link in page.links:
        if link.kind == "next" or link.address in reading.seen:
            continue
        download = link.kind == "download"
        own = terms.score(f"{link.text} {link.address.rpartition('/')[2]}")
        if download and not page.tables:
            own = 1.0  # what the page is about is in that file
        score = round(OWN_WEIGHT * own + PARENT_WEIGHT * fit, 4)
        text = f"{page.title} {page.text[:CONTEXT_CHARS]}" if download else link.text
        _add(reading.leads, Lead(address=link.address, text=text, kind="download" if download else "page", score=score))


def _add(leads: list[Lead], lead: Lead) -> None:
    """A lead met twice counts by its better score."""
    for place, known in enumerate(leads):
        if known["address"] == lead["address"]:
            if lead["score"] > known["score"]:
                leads[place] = lead
            return
    leads.append(lead)
