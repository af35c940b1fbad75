"""Many pages, a third of which never end: no process, context or page is left behind."""

import asyncio

import pytest

from agent_world.errors import WebError
from agent_world.settings import WebSettings
from agent_world.tools.web.browser import MOST_IDLE, open_browser
from tests.tools.web.processes import chromium_processes, memory_mb
from tests.tools.web.sites import Answer, serve_answers

pytestmark = [pytest.mark.browser, pytest.mark.slow]
PAGES, MANY = 40, 120
TABLE = "<table><tr><th>a</th><th>b</th></tr><tr><td>1</td><td>2</td></tr></table>"
SETTINGS = WebSettings(allow_private=True, page_timeout_s=1.0, recycle_pages=25)


async def test_a_third_of_many_pages_time_out_and_nothing_is_left_behind() -> None:
    """Most of those never answer; some have scripts that never let go."""
    answers = {f"/{n}": Answer(TABLE, delay_s=6.0 if n % 3 == 0 else 0.0) for n in range(PAGES)}
    answers |= {f"/{n}": Answer("<script>while (true) {}</script>") for n in range(0, PAGES, 30)}
    peak = 0
    with serve_answers(answers) as site:
        async with open_browser(SETTINGS) as browser:
            first = browser._running.browser

            async def read(place: int) -> bool:
                nonlocal peak
                try:
                    return bool((await browser.read(f"{site.address}/{place}")).tables)
                except WebError:  # on a busy machine, others come too late as well
                    return False
                finally:
                    if place % 20 == 0:
                        peak = max(peak, chromium_processes())

            await read(1)
            alone = chromium_processes()
            groups = [await asyncio.gather(*map(read, range(n, n + 10))) for n in range(0, PAGES, 10)]
            done = [found for group in groups for found in group]
            assert not any(done[::3])
            assert any(done)
            assert browser._running.browser is not first
            assert not first.is_connected()
            assert len(browser._running.browser.contexts) == len(browser._idle) <= MOST_IDLE
            assert await settled(alone + 2 * MOST_IDLE)
        assert peak <= 4 * alone
    assert await settled(0)


async def settled(most: int) -> bool:
    """Whether no more than `most` processes are left, once those that are ending have ended."""
    for _ in range(100):
        if chromium_processes() <= most:
            return True
        await asyncio.sleep(0.1)
    return False


async def test_memory_does_not_grow_with_the_number_of_pages() -> None:
    """Measured once over 240 pages: this process went from 67 to 71 MB, each new browser began where the first had."""
    page = f"<table><tr><th>a</th><th>b</th></tr>{'<tr><td>1</td><td>2</td></tr>' * 60}</table>"
    settings = SETTINGS.model_copy(update={"page_timeout_s": 60.0, "recycle_pages": 40})
    measured: list[tuple[float, float]] = []
    with serve_answers({f"/{n}": Answer(page) for n in range(MANY)}) as site:
        async with open_browser(settings) as browser:
            for start in range(0, MANY, MOST_IDLE):
                pages = (browser.read(f"{site.address}/{n}") for n in range(start, start + MOST_IDLE))
                assert all([page.tables for page in await asyncio.gather(*pages)])
                if start % 20 == 16:
                    measured.append(memory_mb())
    own, browsers = zip(*measured, strict=True)  # two of each browser
    assert max(own[-2:]) - max(own[:2]) < 20, measured
    assert max(browsers[-2:]) < 1.5 * max(browsers[:2]), measured


async def test_a_browser_that_dies_is_replaced() -> None:
    with serve_answers({"/": Answer(TABLE)}) as site:
        async with open_browser(SETTINGS.model_copy(update={"page_timeout_s": 5.0})) as browser:
            await browser._running.browser.close()
            assert (await browser.read(f"{site.address}/")).tables
    assert await settled(0)
