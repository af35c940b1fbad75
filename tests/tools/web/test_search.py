from collections.abc import Iterator

import pytest

from agent_world.errors import UsageError, WebError
from agent_world.settings import SiteSearch, WebSettings
from agent_world.tools.web.search import SearchHit, open_search
from tests.tools.web.sites import Answer, Site, serve_answers


@pytest.fixture
def site() -> Iterator[Site]:
    with serve_answers() as found:
        yield found


def settings(site: Site) -> WebSettings:
    return WebSettings(search=SiteSearch(address=f"{site.address}/find?q={{query}}"), allow_private=True)


async def test_hits_come_in_order_with_absolute_addresses(site: Site) -> None:
    hits = (
        '{"results": [{"title": "A", "address": "/a", "snippet": "s"}, {"title": "B", "address": "http://b/"}], "n": 2}'
    )
    site.answers["/find?q=two+words+%26"] = Answer(hits, "application/json")
    search = open_search(settings(site))
    assert await search.search("two words &", 5) == [
        SearchHit("A", f"{site.address}/a", "s"),
        SearchHit("B", "http://b/", ""),
    ]
    assert len(await search.search("two words &", 1)) == 1


@pytest.mark.parametrize("body", ["<html>", "[]", '{"results": [{"title": "A"}]}'])
async def test_an_answer_in_another_form_names_the_setting(site: Site, body: str) -> None:
    site.answers["/find?q=x"] = Answer(body)
    with pytest.raises(WebError, match=r"check web\.search"):
        await open_search(settings(site)).search("x", 3)


async def test_a_failing_search_names_its_status(site: Site) -> None:
    with pytest.raises(WebError, match="answered 404"):
        await open_search(settings(site)).search("x", 3)


def test_an_address_without_place_for_the_query_is_wrong_usage() -> None:
    with pytest.raises(UsageError, match=r"\{query\}"):
        open_search(WebSettings(search=SiteSearch(address="http://127.0.0.1/search")))
