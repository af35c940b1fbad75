"""Searching and reading: best-first over pages, listings followed, downloads taken, everything logged.

What pages say is data. It is scored and typed; nothing in it is ever followed as an instruction.
"""

import asyncio
import re
from collections.abc import Collection, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

from typing_extensions import TypedDict

from agent_world.agents.miner.fit import Fit
from agent_world.agents.miner.material import Mine
from agent_world.errors import WebError
from agent_world.settings import MiningSettings
from agent_world.tools.web.opening import Download, Reader, open_address
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
PAGE_NUMBER = re.compile(r"/(page|pages|p|pg|seite|pagina|página|sida|side|strana)[-_/]?\d+/?$")
STRANGERS = 3
"""So many pages in a row that hold no record of the kind end the reading of a family."""


class Lead(TypedDict):
    """An address worth opening, as it stands in the graph's state."""

    address: str
    text: str
    kind: str
    """`page`, `download`, or `listing`: a page that continues one which was read."""
    score: float
    found_on: str
    """Address of the page with the link; empty for a hit of a search."""


@dataclass(slots=True)
class Reading:
    """What reading found so far; goes on from the leads and addresses of earlier passes."""

    leads: list[Lead]
    seen: list[str]
    tables: list[str]
    """Raw files of the mine."""
    opened: int = 0
    failures: list[str] = field(default_factory=list)


@dataclass(frozen=True, slots=True)
class Crawler:
    """Reads for one theme."""

    browser: Reader
    fit: Fit
    mine: Mine
    settings: MiningSettings

    async def read_leads(self, reading: Reading, most: int) -> None:
        """Open the best leads until `most` are opened in all passes together; `reading` holds what comes of it."""
        while reading.opened < most and (open_leads := [lead for lead in reading.leads if lead["kind"] != "listing"]):
            best = max(open_leads, key=lambda lead: (lead["score"], lead["address"]))
            reading.leads.remove(best)
            if best["score"] < LEAST_SCORE:
                break
            if best["address"] not in reading.seen:
                await self.open(best, reading)

    async def read_on(self, reading: Reading, places: Collection[str], most: int) -> None:
        """Continue the listings that lie at one of these places, as `read_leads` counts."""
        for lead in [lead for lead in reading.leads if lead["kind"] == "listing"]:
            if place_of(lead["address"]) in places and reading.opened < most:
                reading.leads.remove(lead)
                await self.open(lead, reading)

    async def open(self, lead: Lead, reading: Reading) -> str:
        """One lead, with the further pages that belong to it; how its text begins, for a page.

        What cannot be read is noted as a failure.
        """
        reading.seen.append(lead["address"])
        reading.opened += 1
        try:
            found = await open_address(self.browser, lead["address"], lead["kind"] == "download")
            if isinstance(found, Page):
                return await self._read(found, lead, reading)
            await self._keep_download(found, lead, reading)
        except WebError as error:
            self._failed(lead["address"], error, reading)
        return ""

    async def _read(self, page: Page, lead: Lead, reading: Reading) -> str:
        """A page, the further pages of its listing, and the other pages of its family."""
        self._kept(page, lead["address"], reading)
        fit = (await self._scores([_context(page)]))[0]
        await self._follow(page, fit, reading)
        if fit >= LEAST_SCORE:
            await self._listing(page, fit, reading)
            if page.records and lead["found_on"]:
                await self._family(lead, {record.title for record in page.records}, reading)
        return _context(page)

    async def _listing(self, page: Page, fit: float, reading: Reading) -> None:
        """Its further pages. Where the listing goes on beyond the bound, that is a lead for a later round."""
        for number in range(self.settings.listing_pages + 1):
            following = next(
                (k.address for k in page.links if k.kind == "next" and k.address not in reading.seen), None
            )
            if following is None or not page.tables:
                break
            if number == self.settings.listing_pages:
                _add(reading.leads, Lead(address=following, text="", kind="listing", score=fit, found_on=page.address))
                break
            reading.seen.append(following)
            page = await self._page(following, reading)

    async def _family(self, lead: Lead, kinds: set[str], reading: Reading) -> None:
        """Pages that were linked beside this one and lie beside it: each holds a record of one of these kinds."""
        place, strangers = _folder(lead["address"]), 0
        family = [o for o in reading.leads if o["found_on"] == lead["found_on"] and _folder(o["address"]) == place]
        left = self.settings.record_pages - sum(_folder(address) == place for address in reading.seen)
        for other in family[: max(0, left)]:
            reading.leads.remove(other)
            reading.seen.append(other["address"])
            try:
                page = await self._page(other["address"], reading)
            except WebError as error:
                self._failed(other["address"], error, reading)
                continue
            strangers = 0 if kinds & {record.title for record in page.records} else strangers + 1
            if strangers == STRANGERS:
                break

    async def _page(self, address: str, reading: Reading) -> Page:
        page = await self.browser.read(address)
        self._kept(page, address, reading)
        return page

    async def _keep_download(self, found: Download, lead: Lead, reading: Reading) -> None:
        tables = found.tables
        name = await asyncio.to_thread(self.mine.files.keep, found.received)
        rows = sum(len(table.rows) for table in tables)
        self.mine.log("download", lead["address"], tables=len(tables), rows=rows, file=name)
        self._keep(tables, lead["text"], reading)

    def _kept(self, page: Page, address: str, reading: Reading) -> None:
        tables = (*page.tables, *page.records)
        self.mine.log("page", address, tables=len(tables), rows=sum(len(t.rows) for t in tables))
        self._keep(tables, _context(page), reading)

    def _keep(self, tables: Sequence[RawTable], context: str, reading: Reading) -> None:
        for table in tables:
            if table.rows:
                reading.tables.append(self.mine.add_table(table, context, len(reading.tables)))

    def _failed(self, address: str, error: WebError, reading: Reading) -> None:
        self.mine.log("failed", address, reason=str(error))
        reading.failures.append(str(error))

    async def _follow(self, page: Page, fit: float, reading: Reading) -> None:
        """Links become leads: those of a page that fits are worth more. A download brings its page's words along."""
        links = [link for link in page.links if link.kind != "next" and link.address not in reading.seen]
        own = await self._scores([f"{link.text} {link.address.rpartition('/')[2]}" for link in links])
        for link, score in zip(links, own, strict=True):
            download = link.kind == "download"
            if download and not page.tables:
                score = 1.0  # what the page is about is in that file
            lead = Lead(
                address=link.address, text=_context(page) if download else link.text,
                kind="download" if download else "page", score=round(OWN_WEIGHT * score + PARENT_WEIGHT * fit, 4),
                found_on=page.address,
            )  # fmt: skip
            _add(reading.leads, lead)

    async def _scores(self, texts: Sequence[str]) -> list[float]:
        return await asyncio.to_thread(self.fit.scores, texts)


async def search_leads(
    search: "SearchBackend", queries: Sequence[str], fit: Fit, mine: Mine, limit: int
) -> tuple[list[Lead], list[str]]:
    """Hits of all queries, each address once, scored by rank and words; and why queries failed, of those that did."""
    leads: dict[str, Lead] = {}
    failures: list[str] = []
    for query in queries:
        try:
            hits = await search.search(query, limit)
        except WebError as error:
            mine.log("search", "", query=query, failed=str(error))
            failures.append(str(error))
            continue
        mine.log("search", "", query=query, hits=len(hits))
        own = await asyncio.to_thread(fit.scores, [f"{hit.title} {hit.snippet}" for hit in hits])
        for place, (hit, words) in enumerate(zip(hits, own, strict=True)):
            score = round(words * (1 - RANK_WEIGHT * place / max(1, limit)), 4)
            known = leads.get(hit.address)
            if known is None or score > known["score"]:
                leads[hit.address] = Lead(address=hit.address, text=hit.title, kind="page", score=score, found_on="")
    return list(leads.values()), failures


def place_of(address: str) -> str:
    """Where all pages of a listing are: the address without its query, and without the page's number in its path."""
    parts = urlsplit(address)
    return PAGE_NUMBER.sub("", f"{parts.netloc}{parts.path}")


def _folder(address: str) -> str:
    return address.rpartition("/")[0]


def _context(page: Page) -> str:
    return f"{page.title} {page.text[:CONTEXT_CHARS]}"


def _add(leads: list[Lead], lead: Lead) -> None:
    """A lead met twice counts by its better score."""
    for place, known in enumerate(leads):
        if known["address"] == lead["address"]:
            if lead["score"] > known["score"]:
                leads[place] = lead
            return
    leads.append(lead)
