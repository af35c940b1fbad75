"""Reads pages with a real Chromium, so that tables which scripts fill are seen too.

The browser has no network of its own: each of its requests is answered by our `Fetcher`, under the same rules as
ours (http(s) only, no private address unless allowed, size cap, timeout), and whatever escaped that would end at a
proxy that does not exist. One browser and one context serve a process; pages are reused, so the number of processes
stays flat. Dialogs are dismissed, downloads and service workers refused.
"""

import asyncio
import os
import shutil
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack, asynccontextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

from agent_world.errors import UsageError, WebError
from agent_world.settings import WebSettings
from agent_world.tools.web import guard
from agent_world.tools.web.document import read_document
from agent_world.tools.web.extract import download_tables
from agent_world.tools.web.fetch import Fetcher, open_fetcher
from agent_world.tools.web.page import Page, RawTable
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
LONGEST_SCRIPT_WAIT_S = 5.0
"""How long a page's scripts may take to fill its tables; what is there by then is taken."""


@dataclass(slots=True)
class Browser:
    """Shared by all readers of a process. Its methods may run at once."""

    settings: WebSettings
    fetcher: Fetcher
    context: "playwright.BrowserContext"
    _idle: list["playwright.Page"] = field(default_factory=list)

    @property
    def version(self) -> str:
        return self.context.browser.version if self.context.browser else "unknown"

    async def read(self, address: str) -> Page:
        """The page as a person would see it. Raises `WebError` when it is refused, unreachable or no HTML page."""
        import playwright.async_api as playwright

        guard.parse(address)
        tab = self._idle.pop() if self._idle else await self._new_tab()
        visit = Visit(self.fetcher, address)
        wait = min(LONGEST_SCRIPT_WAIT_S, self.settings.page_timeout_s)
        try:
            # The outer limit holds for scripts that never let go: `evaluate` has none of its own.
            async with asyncio.timeout(self.settings.page_timeout_s + 2 * wait):
                html, text = await self._render(tab, visit, wait)
            document = visit.document()
        except (playwright.Error, TimeoutError) as error:
            await _close(tab)
            raise visit.failure or WebError(f"{address} could not be shown: {_first_line(error)}.") from error
        except BaseException:
            await _close(tab)
            raise
        self._idle.append(tab)
        return await asyncio.to_thread(read_document, html, text, document, tuple(visit.data))

    async def _render(self, tab: "playwright.Page", visit: Visit, wait: float) -> tuple[str, str]:
        """HTML and visible text when the page has settled; the tab is blank and without rules afterwards."""
        await tab.route("**/*", visit.answer)
        limit_ms = 1000 * (self.settings.page_timeout_s + wait)  # the fetch has its own limit and a clearer error
        await tab.goto(visit.address, wait_until="domcontentloaded", timeout=limit_ms)
        await visit.settle(tab, wait)
        html, text = await tab.evaluate(HTML_AND_TEXT)
        await tab.goto("about:blank")
        await tab.unroute("**/*")
        return html, text

    async def download(self, address: str) -> tuple[RawTable, ...]:
        """Tables of a CSV, JSON or XLSX file. Raises `WebError` when it is refused, unreachable or another kind."""
        found = await self.fetcher.get(address)
        return await asyncio.to_thread(download_tables, found)

    async def _new_tab(self) -> "playwright.Page":
        tab = await self.context.new_page()
        tab.on("dialog", _dismiss)
        tab.on("popup", _close)
        return tab


async def _close(tab: "playwright.Page") -> None:
    import playwright.async_api as playwright

    with suppress(playwright.Error):  # a crashed page is closed already
        await tab.close()


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
        chromium = await _launch(driver.chromium, settings)
        stack.push_async_callback(chromium.close)
        context = await chromium.new_context(service_workers="block", accept_downloads=False)
        yield Browser(settings, fetcher, context)


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
