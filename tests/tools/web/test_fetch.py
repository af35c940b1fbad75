import time
from collections.abc import Iterator

import pytest

from agent_world.errors import WebError
from agent_world.settings import WebSettings
from agent_world.tools.web.fetch import Received, open_fetcher
from agent_world.tools.web.guard import is_public
from tests.tools.web.sites import Answer, Site, serve_answers

LOCAL = WebSettings(allow_private=True, page_timeout_s=10.0, max_bytes=10_000)
HASTY = LOCAL.model_copy(update={"page_timeout_s": 0.5})


@pytest.fixture
def site() -> Iterator[Site]:
    with serve_answers() as found:
        yield found


async def get(address: str, settings: WebSettings = LOCAL) -> Received:
    async with open_fetcher(settings) as fetcher:
        return await fetcher.get(address)


@pytest.mark.parametrize(
    "ip",
    [
        *(
            "127.0.0.1",
            "10.0.0.1",
            "172.16.3.4",
            "192.168.1.1",
            "169.254.169.254",
            "0.0.0.0",
            "100.64.0.1",
            "224.0.0.1",
        ),
        *("::1", "fe80::1%eth0", "fd00::1", "::ffff:127.0.0.1", "2002:7f00:1::"),
    ],
)
def test_private_loopback_and_link_local_addresses_are_not_public(ip: str) -> None:
    assert not is_public(ip)


@pytest.mark.parametrize("ip", ["1.1.1.1", "2606:4700:4700::1111"])
def test_other_addresses_are_public(ip: str) -> None:
    assert is_public(ip)


@pytest.mark.parametrize("host", ["127.0.0.1", "localhost", "[::1]", "2130706433", "0x7f.1", "[::ffff:127.0.0.1]"])
async def test_loopback_is_refused_in_every_spelling_unless_allowed(host: str) -> None:
    with pytest.raises(WebError, match=r"web\.allow_private"):
        await get(f"http://{host}:9/", WebSettings())


@pytest.mark.parametrize(
    "address", ["file:///etc/hostname", "ftp://x/y", "data:text/html,x", "http://", "//x", "http://[1"]
)
async def test_anything_but_http_is_refused(address: str) -> None:
    with pytest.raises(WebError, match=r"refused|not a web address"):
        await get(address)


async def test_robots_txt_is_obeyed_and_read_once(site: Site) -> None:
    site.answers["/robots.txt"] = Answer("User-agent: *\nDisallow: /closed", "text/plain")
    site.answers["/open"] = Answer("fine", headers={"Last-Modified": "Thu, 05 Mar 2020 10:00:00 GMT"})
    async with open_fetcher(LOCAL) as fetcher:
        found = await fetcher.get(f"{site.address}/open")
        with pytest.raises(WebError, match=r"robots\.txt"):
            await fetcher.get(f"{site.address}/closed/page")
    assert (found.body, found.as_of) == (b"fine", "2020-03-05T10:00:00Z")
    assert site.asked == ["/robots.txt", "/open"]


async def test_a_site_whose_robots_txt_fails_is_left_alone(site: Site) -> None:
    site.answers["/robots.txt"] = Answer(status=503)
    with pytest.raises(WebError, match="503"):
        await get(f"{site.address}/open")


async def test_a_body_over_the_limit_is_refused_before_it_is_all_read(site: Site) -> None:
    site.answers["/big"] = Answer(b"x" * 30_000_000)
    started = time.monotonic()
    with pytest.raises(WebError, match="larger than 10000 bytes"):
        await get(f"{site.address}/big")
    assert time.monotonic() - started < 2


@pytest.mark.parametrize(
    ("answer", "message"),
    [
        (Answer(status=404), "answered 404"),
        (Answer(delay_s=1.5), "did not answer within 0.5 s"),
        (Answer(status=302, headers={"Location": "/page"}), "more than 5 redirects"),
        (Answer(status=302, headers={"Location": "file:///etc/hostname"}), "only http and https"),
    ],
)
async def test_what_goes_wrong_is_said_in_one_sentence(site: Site, answer: Answer, message: str) -> None:
    site.answers["/page"] = answer
    with pytest.raises(WebError, match=message):
        await get(f"{site.address}/page", HASTY if answer.delay_s else LOCAL)


async def test_a_redirect_is_followed_and_its_end_is_the_address(site: Site) -> None:
    site.answers["/old"] = Answer(status=301, headers={"Location": "/new"})
    site.answers["/new"] = Answer("here")
    assert (await get(f"{site.address}/old")).address == f"{site.address}/new"


async def test_an_unreachable_host_is_said_plainly(site: Site) -> None:
    with pytest.raises(WebError, match="cannot be reached"):
        await get("http://127.0.0.1:9/")
    with pytest.raises(WebError, match="not known"):
        await get("http://no-such-host.invalid/", WebSettings())


async def test_the_pause_between_requests_to_a_host_is_kept(site: Site) -> None:
    site.answers["/page"] = Answer("x")
    async with open_fetcher(LOCAL.model_copy(update={"delay_s": 0.2})) as fetcher:
        started = time.monotonic()
        for _ in range(3):
            await fetcher.get(f"{site.address}/page")
    assert time.monotonic() - started >= 0.4


async def test_a_public_host_is_left_a_second_and_a_private_one_none_unless_settings_say(site: Site) -> None:
    async with open_fetcher(LOCAL) as fetcher:
        assert fetcher.delay(site.address) == 1.0
        await fetcher.require_allowed(f"{site.address}/page")
        assert fetcher.delay(site.address) == 0.0
        assert fetcher.delay("https://data.example") == 1.0
    async with open_fetcher(LOCAL.model_copy(update={"delay_s": 2.5})) as fetcher:
        await fetcher._rules(site.address)
        assert fetcher.delay(site.address) == fetcher.delay("https://data.example") == 2.5


async def test_parts_of_a_page_obey_robots_txt_and_come_after_a_small_pause(site: Site) -> None:
    site.answers |= {"/robots.txt": Answer("User-agent: *\nDisallow: /closed", "text/plain"), "/part": Answer("x")}
    async with open_fetcher(LOCAL.model_copy(update={"delay_s": 1.0})) as fetcher:
        started = time.monotonic()
        for _ in range(3):
            await fetcher.part(f"{site.address}/part", "GET", {}, None, site.address)
        assert time.monotonic() - started >= 0.2
        with pytest.raises(WebError, match=r"robots\.txt"):
            await fetcher.part(f"{site.address}/closed", "GET", {}, None, site.address)
    assert site.asked == ["/robots.txt", *["/part"] * 3]


async def test_what_is_checked_is_what_is_connected_to(site: Site) -> None:
    """DNS rebinding needs a second look at the name, after the check: there is none."""
    site.answers["/"] = Answer("secret")
    port, asked = int(site.address.rpartition(":")[2]), list[str]()

    async def resolve(host: str, port: int) -> list[str]:
        asked.append(host)
        return ["127.0.0.1"]

    async with open_fetcher(WebSettings(), resolve) as fetcher:
        with pytest.raises(WebError, match=r"127\.0\.0\.1 is a private"):
            await fetcher.get(f"http://name.example:{port}/")
    assert site.asked == []
    async with open_fetcher(LOCAL, resolve) as fetcher:
        asked.clear()
        assert (await fetcher.raw(f"http://name.example:{port}/")).body == b"secret"
    assert asked == ["name.example"]


async def test_every_address_of_a_name_must_be_public_and_the_next_is_tried(site: Site) -> None:
    site.answers["/"] = Answer("here")
    port = int(site.address.rpartition(":")[2])

    async def several(host: str, port: int) -> list[str]:
        return ["93.184.215.14", "127.0.0.1"] if host == "mixed.example" else ["127.0.0.9", "127.0.0.1"]

    async with open_fetcher(WebSettings(), several) as fetcher:
        with pytest.raises(WebError, match=r"127\.0\.0\.1 is a private"):
            await fetcher.get(f"http://mixed.example:{port}/")
    async with open_fetcher(LOCAL, several) as fetcher:
        assert (await fetcher.raw(f"http://local.example:{port}/")).body == b"here"


async def test_a_redirect_to_a_private_address_is_refused(site: Site) -> None:
    site.answers["/secret"] = Answer("secret")
    home = site.address.replace("127.0.0.1", "localhost")
    site.answers["/away"] = Answer(status=302, headers={"Location": f"{site.address}/secret"})
    async with open_fetcher(LOCAL) as fetcher:
        assert (await fetcher.raw(f"{home}/away")).body == b"secret"
        with pytest.raises(WebError, match=r"web\.allow_private"):
            await fetcher.raw(f"{home}/away", home=home)
    assert site.asked.count("/secret") == 1


async def test_a_redirect_to_another_site_obeys_that_sites_robots_txt(site: Site) -> None:
    with serve_answers({"/robots.txt": Answer("User-agent: *\nDisallow: /", "text/plain")}) as other:
        site.answers["/away"] = Answer(status=302, headers={"Location": f"{other.address}/page"})
        with pytest.raises(WebError, match=r"robots\.txt"):
            await get(f"{site.address}/away")
        assert other.asked == ["/robots.txt"]


async def test_the_pause_that_robots_txt_asks_for_is_kept(site: Site) -> None:
    site.answers |= {"/robots.txt": Answer("User-agent: *\nCrawl-delay: 0.3"), "/page": Answer("x")}
    async with open_fetcher(LOCAL) as fetcher:
        started = time.monotonic()
        await fetcher.get(f"{site.address}/page")
        await fetcher.get(f"{site.address}/page")
    assert time.monotonic() - started >= 0.3


async def test_a_busy_site_is_asked_again_a_bounded_number_of_times(site: Site) -> None:
    site.answers["/page"] = Answer(status=429, headers={"Retry-After": "0"})
    with pytest.raises(WebError, match="answered 429"):
        await get(f"{site.address}/page")
    assert site.asked.count("/page") == 3
    site.answers["/long"] = Answer(status=503, headers={"Retry-After": "3600"})
    with pytest.raises(WebError, match="answered 503"):
        await get(f"{site.address}/long")
    assert site.asked.count("/long") == 1
