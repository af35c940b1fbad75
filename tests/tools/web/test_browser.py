"""A real Chromium on real pages: the offline web's, and some that misbehave."""

import asyncio
import time
from collections.abc import AsyncIterator, Iterator
from pathlib import Path

import pytest
import pytest_asyncio

from agent_world.errors import UsageError, WebError
from agent_world.examples.web import serve
from agent_world.settings import WebSettings
from agent_world.tools.web.browser import Browser, open_browser
from agent_world.tools.web.extract import download_tables
from agent_world.tools.web.page import Page, RawTable
from tests.tools.web.processes import chromium_processes
from tests.tools.web.sites import Answer, Site, free_port, serve_answers

pytestmark = [pytest.mark.browser, pytest.mark.asyncio(loop_scope="module")]
SETTINGS = WebSettings(allow_private=True, max_bytes=2_000_000)
HASTY = SETTINGS.model_copy(update={"page_timeout_s": 2.0})
TABLE = "<table><tr><th>a</th><th>b</th></tr><tr><td>1</td><td>2</td></tr></table>"


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def web() -> AsyncIterator[str]:
    async with serve("127.0.0.1", free_port()) as address:
        yield address


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def browser() -> AsyncIterator[Browser]:
    async with open_browser(SETTINGS) as found:
        yield found


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def hasty() -> AsyncIterator[Browser]:
    """One that waits two seconds for a page."""
    async with open_browser(HASTY) as found:
        yield found


@pytest.fixture
def site() -> Iterator[Site]:
    with serve_answers() as found:
        yield found


async def listing(browser: Browser, address: str) -> list[Page]:
    """A listing followed to its end."""
    pages = [await browser.read(address)]
    while following := [link for link in pages[-1].links if link.kind == "next"]:
        pages.append(await browser.read(following[0].address))
    return pages


async def test_a_table_over_several_pages_is_read_to_its_end(web: str, browser: Browser) -> None:
    pages = await listing(browser, f"{web}/flights/flights")
    tables = [table for page in pages for table in page.tables]
    assert [len(table.rows) for table in tables] == [50, 50, 50, 50]
    assert {table.header for table in tables} == {
        ("id", "carrier", "flight", "tailnum", "origin", "dest", "dep_delay", "distance")
    }
    assert tables[0].rows[0] == ("1", "UA", "1545", "N14228", "EWR", "IAH", "2", "1400")
    assert (tables[0].title, tables[0].licence, tables[0].as_of) == ("Flights", "CC0", "2020-03-05T00:00:00Z")
    assert len({table.sha256 for table in tables}) == 4


async def test_a_table_that_a_script_fills_is_waited_for(web: str, browser: Browser) -> None:
    first, again = [(await browser.read(f"{web}/star-wars/characters")).tables[0] for _ in range(2)]
    assert first.header[:3] == ("name", "species", "homeworld")
    assert len(first.rows) == 87
    assert first.rows[0][:5] == ("Luke Skywalker", "Human", "Tatooine", "male", "172")
    assert first == again


@pytest.mark.parametrize(
    ("path", "rows", "first"),
    [
        ("/flights/planes", 188, ("N11107", "2002")),
        ("/penguins/penguins", 172, (1, "Adelie")),
        ("/cereals/cereals", 65, ("100% Bran", "N")),
    ],
)
async def test_downloads_are_offered_as_links_and_read_as_tables(
    web: str, browser: Browser, path: str, rows: int, first: tuple[object, ...]
) -> None:
    page = await browser.read(web + path)
    (link,) = [link for link in page.links if link.kind == "download"]
    (table,) = download_tables(await browser.fetch(link.address))
    assert (len(table.rows), table.rows[0][:2], page.tables) == (rows, first, ())
    assert table.licence == page.licence
    with pytest.raises(WebError, match="download it instead"):
        await browser.read(link.address)


@pytest.mark.parametrize(
    ("path", "rows", "pages"),
    [
        ("/seattle-pets/breeds", 76, 1),
        ("/processors/processors", 219, 1),
        ("/processors/codenames", 83, 2),
        ("/bolshie-goroda/goroda", 119, 3),
    ],
    ids=["a button", "scrolling", "numbers", "other words"],
)
async def test_a_listing_is_followed_in_whatever_way_it_goes_on(
    web: str, browser: Browser, path: str, rows: int, pages: int
) -> None:
    found = await listing(browser, web + path)
    tables = [table for page in found for table in page.tables]
    assert (len(found), sum(len(table.rows) for table in tables)) == (pages, rows)
    assert len({row[0] for table in tables for row in table.rows}) == rows


async def test_a_button_that_never_ends_is_pressed_a_bounded_number_of_times(site: Site, browser: Browser) -> None:
    more = "document.querySelector('table').insertRow().insertCell().textContent = 'x'"
    site.answers["/"] = Answer(f'{TABLE}<button onclick="{more}">Show more</button><script>1</script>')
    (table,) = (await browser.read(f"{site.address}/")).tables
    assert len(table.rows) == 1 + SETTINGS.more_steps


async def test_a_button_that_leads_elsewhere_or_says_something_else_changes_nothing(
    site: Site, browser: Browser
) -> None:
    away = "<form action='/away'><button>More</button></form><button onclick=\"fetch('/buy')\">Buy more</button>"
    site.answers["/"] = Answer(f"{TABLE}{away}<script>1</script>")
    assert (await browser.read(f"{site.address}/")).tables[0].rows == (("1", "2"),)
    assert {"/away", "/away?", "/buy"}.isdisjoint(site.asked)


async def test_a_page_says_where_else_to_look(web: str, browser: Browser) -> None:
    page = await browser.read(f"{web}/flights")
    assert page.title.startswith("Flight departures from New York City")
    assert {f"{web}/flights/{name}" for name in ("flights", "airlines", "planes", "airports")} <= {
        link.address for link in page.links
    }


async def test_orders_hidden_in_a_page_are_text_and_nothing_else(web: str, browser: Browser) -> None:
    pages = await listing(browser, f"{web}/coffee-house/products")
    assert all("ignore all previous instructions" in page.text for page in pages)
    tables: list[RawTable] = [table for page in pages for table in page.tables]
    assert [table.title for table in tables] == ["Products", "Products"]
    assert sum(len(table.rows) for table in tables) == 77
    assert not any("instructions" in str(cell) for table in tables for row in table.rows for cell in row)
    assert not any("9/collect" in link.address for page in pages for link in page.links)


async def test_robots_txt_closes_pages_to_the_browser(web: str, browser: Browser) -> None:
    with pytest.raises(WebError, match=r"robots\.txt"):
        await browser.read(f"{web}/drafts/")


async def test_robots_txt_closes_what_scripts_ask_for_too(site: Site, browser: Browser) -> None:
    asks = "<script>for (const part of ['/open', '/closed']) fetch(part).catch(() => 0)</script>"
    site.answers |= {"/robots.txt": Answer("User-agent: *\nDisallow: /closed"), "/": Answer(TABLE + asks)}
    assert (await browser.read(f"{site.address}/")).tables
    assert site.asked == ["/robots.txt", "/", "/open"]


@pytest.mark.parametrize("address", ["file:///etc/hostname", "chrome://version", "data:text/html,<p>x", "about:blank"])
async def test_only_the_web_is_read(browser: Browser, address: str) -> None:
    with pytest.raises(WebError):
        await browser.read(address)


async def test_private_addresses_are_refused_by_default(site: Site) -> None:
    async with open_browser(WebSettings()) as browser:
        with pytest.raises(WebError, match=r"web\.allow_private"):
            await browser.read(site.address)
    assert site.asked == []


async def test_a_page_cannot_reach_other_private_hosts(site: Site, browser: Browser) -> None:
    with serve_answers() as other:
        reach = (
            f"<img src='{other.address}/img'><iframe src='{other.address}/frame'></iframe>"
            f"<script src='{other.address}/script.js'></script>"
            f"<script>fetch('{other.address}/fetch', {{mode: 'no-cors'}}).catch(() => 0);"
            f"navigator.sendBeacon('{other.address}/beacon'); window.open('{other.address}/popup');"
            f"try {{ new WebSocket('{other.address.replace('http', 'ws')}/socket') }} catch (e) {{}}"
            f"setTimeout(() => location.href = '{other.address}/away', 50)</script>"
        )
        site.answers["/"] = Answer(TABLE + reach)
        page = await browser.read(f"{site.address}/")
        assert page.tables[0].rows == (("1", "2"),)
        await asyncio.sleep(0.2)
        assert other.asked == []


async def test_a_page_that_leads_away_while_it_comes_is_read_all_the_same(site: Site, browser: Browser) -> None:
    away = "<script>setTimeout(() => location.href = '/away', 0)</script><script src='/slow.js'></script>"
    site.answers |= {"/": Answer(away + TABLE), "/slow.js": Answer("", "text/javascript", delay_s=0.3)}
    started = time.monotonic()
    assert (await browser.read(f"{site.address}/")).tables[0].rows == (("1", "2"),)
    assert time.monotonic() - started < SETTINGS.page_timeout_s
    assert "/away" not in site.asked


async def test_dialogs_do_not_hold_a_page_up(site: Site, browser: Browser) -> None:
    site.answers["/"] = Answer(f"<script>alert(1); confirm(2); prompt(3)</script>{TABLE}")
    assert (await browser.read(f"{site.address}/")).tables[0].rows == (("1", "2"),)


async def test_an_oversized_page_is_refused_quickly_and_the_next_is_read(site: Site, browser: Browser) -> None:
    site.answers |= {"/big": Answer("<p>x</p>" * 5_000_000), "/small": Answer(TABLE)}
    started = time.monotonic()
    with pytest.raises(WebError, match="larger than 2000000 bytes"):
        await browser.read(f"{site.address}/big")
    assert time.monotonic() - started < 3
    assert (await browser.read(f"{site.address}/small")).tables


@pytest.mark.parametrize(
    ("answer", "message"),
    [
        (Answer(status=500), "answered 500"),
        (Answer(delay_s=2.5), "did not answer within 2 s"),
        (Answer("<script>while (true) {}</script>"), "could not be shown"),
        (Answer("<script>setTimeout(() => { while (true) {} }, 0)</script><script src='/slow.js'></script>"), "shown"),
    ],
)
async def test_a_page_that_fails_is_one_error_and_the_next_is_read(
    site: Site, hasty: Browser, answer: Answer, message: str
) -> None:
    site.answers |= {"/bad": answer, "/good": Answer(TABLE), "/slow.js": Answer("", "text/javascript", delay_s=0.3)}
    with pytest.raises(WebError, match=message):
        await hasty.read(f"{site.address}/bad")
    assert (await hasty.read(f"{site.address}/good")).tables


async def test_a_table_that_is_never_filled_is_not_waited_for_without_end(site: Site, hasty: Browser) -> None:
    site.answers["/"] = Answer(f"<table id=x><caption>Never</caption></table>{TABLE}<script>1</script>")
    started = time.monotonic()
    assert len((await hasty.read(f"{site.address}/")).tables) == 1
    assert time.monotonic() - started < 5


async def test_reads_at_once_do_not_mix_and_processes_stay_few(web: str, browser: Browser) -> None:
    paths = ["/flights/airlines", "/star-wars/species", "/oscars/birthplaces"]
    await asyncio.gather(*(browser.read(web + path) for path in paths))
    before = chromium_processes()
    for _ in range(4):
        pages = await asyncio.gather(*(browser.read(web + path) for path in paths))
        assert [page.address for page in pages] == [web + path for path in paths]
        assert [page.tables[0].title for page in pages] == ["Airlines", "Species", "Birthplaces"]
    assert 0 < chromium_processes() <= before + 1


async def test_without_a_browser_the_remedy_is_named(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match=r"web\.browser or BROWSER_PATH"):
        async with open_browser(WebSettings(browser=tmp_path / "none")):
            pass
    broken = tmp_path / "broken"
    broken.write_text("#!/bin/sh\nexit 3\n")
    broken.chmod(0o755)
    with pytest.raises(UsageError, match="playwright install chromium"):
        async with open_browser(WebSettings(browser=broken)):
            pass
