"""Each search service, spoken to in its own protocol: a double of it listens on loopback."""

import time
from datetime import UTC, datetime, timedelta
from email.utils import format_datetime
from pathlib import Path
from typing import Any

import pytest
from starlette.responses import JSONResponse, PlainTextResponse, Response

from agent_world.errors import UsageError, WebError
from agent_world.settings import SiteSearch, WebSettings
from agent_world.tools.web.search import SearchBackend, open_search
from tests.tools.web.search_doubles import PAGES, brave, duckduckgo, searxng, serving, tavily

SERVICES = {"tavily": (tavily, "tvly-right"), "brave": (brave, "right"), "searxng": (searxng, None)}


def backend(kind: str, address: str, **more: Any) -> SearchBackend:
    return open_search(WebSettings.model_validate({"search": {"kind": kind, "base_url": address, **more}}))


def keyed(kind: str, address: str, **more: Any) -> SearchBackend:
    key = SERVICES[kind][1]
    return backend(kind, address, **({"api_key": key} if key else {}), **more)


def busy(status: int, **headers: str) -> Response:
    return PlainTextResponse("busy", status, {k.replace("_", "-"): v for k, v in headers.items()})


@pytest.mark.parametrize("kind", SERVICES)
async def test_hits_of_every_service_come_in_one_form(kind: str) -> None:
    async with serving(SERVICES[kind][0]) as double:
        hits = await keyed(kind, double.address).search("large cities & rivers", 3)
    assert [(hit.title, hit.address) for hit in hits] == [page[:2] for page in PAGES[:3]]
    assert hits[0].snippet == "About cities 1"
    assert "large cities & rivers" in double.asked[0].values()


async def test_each_service_is_asked_as_its_api_says(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TAVILY_API_KEY", "tvly-right")
    monkeypatch.setenv("BRAVE_API_KEY", "right")
    async with serving(tavily) as double:
        await backend("tavily", f"{double.address}/").search("q", 50)
        assert double.asked == [{"query": "q", "max_results": 20, "search_depth": "basic"}]
    async with serving(brave) as double:
        await backend("brave", double.address).search("x" * 900, 3)
        assert (double.asked[0]["count"], double.asked[0]["q"]) == ("3", "x" * 400)
        assert await backend("brave", double.address).search("nothing", 3) == []
    async with serving(searxng) as double:
        hits = await backend("searxng", double.address, language="de").search("q", 20)
        assert double.asked == [{"q": "q", "format": "json", "language": "de"}]
        assert len({hit.address for hit in hits}) == 20
        assert all(hit.address.startswith("https:") for hit in hits)


@pytest.mark.parametrize("kind", SERVICES)
async def test_a_limited_rate_and_a_service_that_is_down_are_waited_out(kind: str) -> None:
    async with serving(SERVICES[kind][0]) as double:
        double.failures = [busy(429, retry_after="0"), busy(503, retry_after="0")]
        assert len(await keyed(kind, double.address).search("q", 2)) == 2
        assert len(double.asked) == 3
        double.failures = [busy(429, retry_after="0") for _ in range(9)]
        with pytest.raises(WebError, match=r"limits the rate \(429\), 3 times in a row; try again later\.$"):
            await keyed(kind, double.address, retries=2).search("q", 2)
        assert len(double.asked) == 6


async def test_the_pause_that_a_service_wishes_for_is_kept() -> None:
    soon = format_datetime(datetime.now(UTC) - timedelta(seconds=5), usegmt=True)
    async with serving(brave) as double:
        double.failures = [busy(429, retry_after="1"), busy(429, retry_after=soon)]
        started = time.monotonic()
        await keyed("brave", double.address).search("q", 1)
        assert time.monotonic() - started >= 1
        double.failures = [busy(429, x_ratelimit_remaining="0, 0", x_ratelimit_reset="1, 1419704")]
        with pytest.raises(WebError, match="asks for a pause of 1419704 s"):
            await keyed("brave", double.address).search("q", 1)


@pytest.mark.parametrize(("kind", "variable"), [("tavily", "TAVILY_API_KEY"), ("brave", "BRAVE_API_KEY")])
async def test_a_missing_or_wrong_key_names_the_variable(
    monkeypatch: pytest.MonkeyPatch, kind: str, variable: str
) -> None:
    monkeypatch.delenv(variable, raising=False)
    with pytest.raises(UsageError, match=rf"set {variable} in the environment, or web\.search\.api_key"):
        open_search(WebSettings.model_validate({"search": {"kind": kind}}))
    async with serving(SERVICES[kind][0]) as double:
        with pytest.raises(WebError, match=rf"invalid.*check {variable}") as raised:
            await backend(kind, double.address, api_key="sk-wrong").search("q", 1)
    assert "sk-wrong" not in str(raised.value)
    assert len(double.asked) == 1


async def test_an_instance_without_json_says_what_to_set() -> None:
    async with serving(lambda double: searxng(double, ("html",))) as double:
        with pytest.raises(WebError, match=r"add json to search\.formats"):
            await backend("searxng", double.address).search("q", 1)


@pytest.mark.parametrize("kind", SERVICES)
@pytest.mark.parametrize("answer", [PlainTextResponse("<html>"), JSONResponse([]), JSONResponse({"results": [{}]})])
async def test_an_answer_in_another_form_is_one_sentence(kind: str, answer: Response) -> None:
    if kind == "brave" and answer.body.startswith(b"{"):
        answer = JSONResponse({"web": {"results": [{}]}})
    async with serving(SERVICES[kind][0]) as double:
        double.failures = [answer]
        with pytest.raises(WebError, match="another form"):
            await keyed(kind, double.address).search("q", 1)


async def test_a_service_that_nobody_runs_is_said_plainly() -> None:
    with pytest.raises(WebError, match=r"SearXNG cannot be reached at 127\.0\.0\.1"):
        await backend("searxng", "http://127.0.0.1:9").search("q", 1)


def test_a_bare_address_is_still_a_sites_own_search() -> None:
    assert WebSettings.model_validate({"search": "http://x/?q={query}"}).search == SiteSearch(
        address="http://x/?q={query}"
    )


def duck(proxy: str, certificate: Path | None, **more: Any) -> SearchBackend:
    config = {"kind": "duckduckgo", "proxy": proxy, "ca_file": certificate, "region": "de-de", **more}
    return open_search(WebSettings.model_validate({"search": config}))


async def test_duckduckgo_is_read_through_its_package(tmp_path: Path) -> None:
    pytest.importorskip("ddgs")
    with duckduckgo(tmp_path, [202]) as (proxy, certificate, forms):
        hits = await duck(proxy, certificate).search("large cities", 4)
    assert [(hit.title, hit.address) for hit in hits] == [page[:2] for page in PAGES[:4]]
    assert hits[0].snippet == "About cities 1"
    assert [(form["q"], form["l"], form["host"], form["path"]) for form in forms] == [
        (["large cities"], ["de-de"], ["html.duckduckgo.com"], ["/html/"])
    ] * 2


async def test_duckduckgo_that_refuses_is_asked_a_bounded_number_of_times(tmp_path: Path) -> None:
    pytest.importorskip("ddgs")
    with duckduckgo(tmp_path, [202, 429, 500]) as (proxy, certificate, forms):
        with pytest.raises(WebError, match="2 times in a row"):
            await duck(proxy, certificate, retries=1).search("q", 1)
        assert len(forms) == 2
        with pytest.raises(WebError, match="cannot be reached"):  # an unknown certificate is not trusted
            await duck(proxy, None, retries=0).search("q", 1)
