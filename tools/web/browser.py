"""Reads pages with a real Chromium, so that tables which scripts fill are seen too.

The browser has no network of its own: each of its requests is answered by our `Fetcher`, under the same rules as
ours (http(s) only, no private address unless allowed, size cap, timeout), and whatever escaped that would end at a
proxy that does not exist. Dialogs are dismissed, downloads and service workers refused.

One browser serves a process. A site has contexts of its own, so that nothing passes from site to site; a context whose
page failed in any way is closed, a sound one serves a few pages more. After `web.recycle_pages` pages, or when it has
crashed, the browser is started afresh. So memory and the number of processes stay flat.
"""

import asyncio
import os
import shutil
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import AsyncExitStack, asynccontextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

from agent_world.errors import UsageError, WebError
from agent_world.settings import WebSettings
from agent_world.tools.web import guard
from agent_world.tools.web.document import read_document
from agent_world.tools.web.fetch import Fetcher, Received, open_fetcher
from agent_world.tools.web.html_text import parse_html, seen_text
from agent_world.tools.web.more import bring_more
from agent_world.tools.web.page import Page
from agent_world.tools.web.visit import Visit

if TYPE_CHECKING:
    import playwright.async_api as playwright

SYSTEM_BROWSERS = ("chromium", "chromium-browser", "google-chrome-stable", "google-chrome")
FLAGS = (
    "--disable-dev-shm-usage",
    "--disable-gpu",
    "--renderer-process-limit=2",
    "--proxy-server=http://127.0.0.1:9",
    "--proxy-bypass-list=<-loopback>",
    "--host-resolver-rules=MAP * ~NOTFOUND",
    "--force-webrtc-ip-handling-policy=disable_non_proxied_udp",
)
HTML_AND_TEXT = "() => [document.documentElement.outerHTML, document.body ? document.body.innerText : '']"
TAB_PAGES = 25
"""Pages that one context serves, at most."""
MOST_IDLE = 4
LONGEST_CLOSE_S = 10.0
LONGEST_SCRIPT_WAIT_S = 5.0
"""How long a page's scripts may take to fill its tables, and to bring further rows; what is there by then is taken."""
SPARE_S = 1.0


@dataclass(slots=True)
class _Running:
    """A started Chromium."""

    browser: "playwright.Browser"
    pages: int = 0
    active: int = 0


@dataclass(slots=True, eq=False)
class _Tab:
    """A page in a context of its own, for one site."""

    site: str
    running: _Running
    context: "playwright.BrowserContext"
    page: "playwright.Page"
    pages: int = 0


@dataclass(slots=True)
class Browser:
    """Shared by all readers of a process. Its methods may run at once."""

    settings: WebSettings
    fetcher: Fetcher
    _launch: Callable[[], Awaitable["playwright.Browser"]]
    _running: _Running
    _lock: asyncio.Lock = field(default_factory=asyncio.Lock)
    _idle: list[_Tab] = field(default_factory=list)

    @property
    def version(self) -> str:
        return self._running.browser.version

    async def read(self, address: str) -> Page:
        """The page as a person would see it. Raises `WebError` when it is refused, unreachable or no HTML page."""
        import playwright.async_api as playwright

        await self.fetcher.require_allowed(address)  # outside all limits: a site may ask for a long pause
        visit = Visit(self.fetcher, address)
        wait = min(LONGEST_SCRIPT_WAIT_S, self.settings.page_timeout_s)
        try:
            async with self._tab(guard.origin(address)) as tab:
                # The outer limit holds for scripts that never let go: `evaluate` has none of its own.
                async with asyncio.timeout(self.settings.page_timeout_s + 2 * wait + SPARE_S):
                    html, text = await self._render(tab, visit, wait)
            document = visit.document()
        except (playwright.Error, TimeoutError) as error:
            raise visit.failure or WebError(f"{address} could not be shown: {_first_line(error)}.") from error
        return await asyncio.to_thread(read_document, html, text, document, tuple(visit.data))

    @asynccontextmanager
    async def _tab(self, site: str) -> AsyncIterator["playwright.Page"]:
        """A blank page in a context of the site's own. Only one that was left in order is used again."""
        running = await self._lease()
        try:
            tab = await self._open(site, running)
            sound = False
            try:
                yield tab.page
                sound = True
            except WebError:
                sound = True
                raise
            finally:
                await self._put_back(tab, sound)
        finally:
            running.active -= 1
            await self._retire(running)

    async def _open(self, site: str, running: _Running) -> _Tab:
        for tab in self._idle:
            if tab.site == site and tab.running is running:
                self._idle.remove(tab)
                return tab
        context = await running.browser.new_context(service_workers="block", accept_downloads=False)
        try:
            page = await context.new_page()
        except BaseException:
            await _close(context)
            raise
        page.on("dialog", _dismiss)
        page.on("popup", _refuse)
        return _Tab(site, running, context, page)

    async def _put_back(self, tab: _Tab, sound: bool) -> None:
        tab.pages += 1
        if sound and tab.pages < TAB_PAGES and tab.running is self._running:
            self._idle.append(tab)
            tab = self._idle.pop(0) if len(self._idle) > MOST_IDLE else tab
        if tab not in self._idle and not await _close(tab.context):
            tab.running.pages = self.settings.recycle_pages  # it does not obey: the next page gets a fresh browser

    async def _lease(self) -> _Running:
        async with self._lock:
            if (old := self._running).pages >= self.settings.recycle_pages or not old.browser.is_connected():
                self._running = _Running(await self._launch())
                self._idle = []  # their contexts end with the browser
                await self._retire(old)
            self._running.pages += 1
            self._running.active += 1
            return self._running

    async def _retire(self, running: _Running) -> None:
        """Close a browser that has been replaced, as soon as nobody reads with it."""
        if running is not self._running and running.active == 0:
            await _close(running.browser)

    async def close(self) -> None:
        await _close(self._running.browser)

    async def _render(self, tab: "playwright.Page", visit: Visit, wait: float) -> tuple[str, str]:
        """HTML and visible text when the page has settled; the tab is blank and without rules afterwards, also where
        `WebError` says that there is no page."""
        import playwright.async_api as playwright

        await tab.route("**/*", visit.answer)
        limit_ms = 1000 * (self.settings.page_timeout_s + wait)  # the fetch has its own limit and a clearer error
        try:
            await tab.goto(visit.address, wait_until="commit", timeout=limit_ms)
        except playwright.Error:
            if visit.failure is None:
                raise
            await tab.unroute("**/*")  # nothing of the page has reached the tab, so it is as good as new
            raise visit.failure from None
        await visit.settle(tab, wait)
        await bring_more(tab, visit, self.settings.more_steps, wait)
        html, text = await tab.evaluate(HTML_AND_TEXT)
        if visit.led_away and html.count("<td") < (sent := visit.sent()).count("<td"):
            html, text = sent, seen_text(parse_html(sent))
        await tab.goto("about:blank")
        await tab.unroute("**/*")
        return html, text

    async def fetch(self, address: str) -> Received:
        """What the address gives, as received. Raises `WebError` when it is refused or unreachable."""
        return await self.fetcher.get(address)


async def _close(part: "playwright.Page | playwright.BrowserContext | playwright.Browser") -> bool:
    """Whether it is closed now."""
    import playwright.async_api as playwright

    try:
        async with asyncio.timeout(LONGEST_CLOSE_S):
            await part.close()
    except playwright.Error:
        return True  # it crashed, so it is closed already
    except TimeoutError:
        return False
    return True


async def _refuse(popup: "playwright.Page") -> None:
    await _close(popup)


async def _dismiss(dialog: "playwright.Dialog") -> None:
    import playwright.async_api as playwright

    with suppress(playwright.Error):  # the page may have gone meanwhile
        await dialog.dismiss()


@asynccontextmanager
async def open_browser(settings: WebSettings) -> AsyncIterator[Browser]:
    """Start Chromium; end it and its processes on every way out. Raises `UsageError` when none is found."""
    try:
        from playwright.async_api import async_playwright
    except ImportError as error:
        raise UsageError("Browsing needs playwright; install agent-world[browser].") from error
    async with AsyncExitStack() as stack:
        fetcher = await stack.enter_async_context(open_fetcher(settings))
        driver = await stack.enter_async_context(async_playwright())

        async def launch() -> "playwright.Browser":
            return await _launch(driver.chromium, settings)

        browser = Browser(settings, fetcher, launch, _Running(await launch()))
        stack.push_async_callback(browser.close)
        yield browser


async def _launch(chromium: "playwright.BrowserType", settings: WebSettings) -> "playwright.Browser":
    """The configured executable, else BROWSER_PATH, else Playwright's own browser, else the system's."""
    import playwright.async_api as playwright

    chosen = settings.browser or (Path(found) if (found := os.environ.get("BROWSER_PATH")) else None)
    if chosen is not None and not os.access(chosen, os.X_OK):
        raise UsageError(f"There is no browser {chosen}; set web.browser or BROWSER_PATH to a Chromium executable.")
    tried = [str(chosen)] if chosen else [None, *filter(None, map(shutil.which, SYSTEM_BROWSERS))]
    reason = ""
    for path in tried:
        try:
            return await chromium.launch(executable_path=path, args=list(FLAGS), handle_sigint=False)
        except playwright.Error as error:
            reason = reason if path is None else f" {path} did not start: {_first_line(error)}"
    raise UsageError(
        "No browser was found; run `playwright install chromium`, or install the system's chromium, "
        f"or set web.browser.{reason}"
    )


def _first_line(error: Exception) -> str:
    return (str(error).strip().splitlines() or [type(error).__name__])[0]
