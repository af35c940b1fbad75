"""One visit of a page: answers the browser's requests, and knows when the page has settled."""

import asyncio
from contextlib import suppress
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from agent_world.errors import WebError
from agent_world.tools.web import guard
from agent_world.tools.web.fetch import Fetcher, Received
from agent_world.tools.web.opening import require_page
from agent_world.tools.web.text_tables import decode

if TYPE_CHECKING:
    import playwright.async_api as playwright

READ = frozenset({"script", "stylesheet", "xhr", "fetch"})
"""Kinds of sub-request that may matter to a table; images, fonts, media and frames are not asked for."""
DROPPED = frozenset({"content-encoding", "content-length", "transfer-encoding", "connection"})
MOST_REQUESTS = 60
STEP_S = 0.02
QUIET_STEPS = 5
"""A page without pending requests for this many steps is quiet."""


@dataclass  # without slots: the driver keeps a mark of its own on the object whose method it calls
class Visit:
    fetcher: Fetcher
    address: str
    failure: WebError | None = None
    """Why the document could not be had."""
    data: list[Received] = field(default_factory=list)
    """What the page's scripts fetched, as far as they got it."""
    led_away: bool = False
    """Whether the page tried to be left; a browser then stops reading one that has not come whole."""
    _document: Received | None = None
    _pending: int = 0
    _asked: int = 0

    def document(self) -> Received:
        if self._document is None:
            raise self.failure or WebError(f"{self.address} gave no page.")
        return self._document

    def sent(self) -> str:
        """The document's text as it was received."""
        return decode(self.document().body, self.document().charset)

    async def answer(self, route: "playwright.Route") -> None:
        """Handle one request of the browser. Only the first page is read: one that leads elsewhere by itself stays."""
        import playwright.async_api as playwright

        self._pending += 1
        try:
            await self._answer(route)
        except (WebError, playwright.Error) as error:
            with suppress(playwright.Error):  # the page may have gone meanwhile
                if isinstance(error, WebError) and self._document is None:
                    self.failure = error
                    await route.fulfill(status=204)  # stay where it is: a page of the browser's own costs a process
                else:
                    await route.abort("blockedbyclient")
        finally:
            self._pending -= 1

    async def _answer(self, route: "playwright.Route") -> None:
        request = route.request
        if request.is_navigation_request() and request.frame.parent_frame is None:
            if self._document is not None:
                self.led_away = True
                await route.fulfill(status=204)  # "no content": the page that leads away stays where it is
                return
            found = await self._open(request.url)
        elif request.resource_type in READ:
            found = await self._sub_request(request)
        else:
            raise WebError(f"{request.url} is not needed.")
        headers = {k: v for k, v in found.headers.items() if k.lower() not in DROPPED}
        await route.fulfill(status=found.status, headers=headers, body=found.body)

    async def _open(self, address: str) -> Received:
        # Its turn came before the visit began.
        found = await self.fetcher.get(address, waited=guard.origin(address) == guard.origin(self.address))
        require_page(found)
        self._document = found
        return found

    async def _sub_request(self, request: "playwright.Request") -> Received:
        self._asked += 1
        if self._asked > MOST_REQUESTS:
            raise WebError(f"{self.address} asks for more than {MOST_REQUESTS} parts.")
        # Even where private addresses are allowed, a page may not reach into them on another host.
        home = guard.origin(self.document().address)
        found = await self.fetcher.part(
            request.url, request.method, await request.all_headers(), request.post_data_buffer, home
        )
        if request.resource_type in ("xhr", "fetch"):
            self.data.append(found)
        return found

    async def settle(self, tab: "playwright.Page", limit_s: float) -> None:
        """Wait until the document has come whole and scripts have filled the tables: nothing pending for a moment, and
        no table without a row. One that never settles is taken as it is at the limit.

        The document is asked, not the driver: a page that leads away meanwhile would make that one wait for ever.
        """
        loop = asyncio.get_running_loop()
        end = loop.time() + limit_s
        while await tab.evaluate("() => document.readyState === 'loading'"):
            if loop.time() >= end:
                return
            await asyncio.sleep(STEP_S)
        if not await tab.evaluate("() => document.scripts.length > 0"):
            return
        while loop.time() < end:
            await self.quiet(QUIET_STEPS, end)
            if await tab.evaluate(EVERY_TABLE_HAS_ROWS):
                return
            await asyncio.sleep(STEP_S)

    async def quiet(self, steps: int, end: float) -> None:
        """Until nothing has been pending for so many steps, or the loop's clock says `end`."""
        loop, still = asyncio.get_running_loop(), 0
        while still < steps and loop.time() < end:
            await asyncio.sleep(STEP_S)
            still = 0 if self._pending else still + 1


EVERY_TABLE_HAS_ROWS = "() => [...document.querySelectorAll('table')].every(table => table.querySelector('td'))"
