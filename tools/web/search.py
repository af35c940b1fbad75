"""Searches a site by its own search address."""

import json
from dataclasses import dataclass
from typing import Protocol
from urllib.parse import quote_plus, urljoin

from pydantic import BaseModel, ValidationError

from agent_world.errors import UsageError, WebError
from agent_world.settings import WebSettings
from agent_world.tools.web.fetch import open_fetcher


@dataclass(frozen=True, slots=True)
class SearchHit:
    title: str
    address: str
    snippet: str


class SearchBackend(Protocol):
    async def search(self, query: str, limit: int) -> list[SearchHit]:
        """At most `limit` hits, best first. Raises `WebError` when the backend cannot be asked."""
        ...


class _Hit(BaseModel):
    title: str
    address: str
    snippet: str = ""


class _Answer(BaseModel):
    """What a search address answers; a site may add keys of its own."""

    results: list[_Hit]


@dataclass(frozen=True, slots=True)
class SiteSearch:
    settings: WebSettings

    async def search(self, query: str, limit: int) -> list[SearchHit]:
        address = self.settings.search.replace("{query}", quote_plus(query))
        async with open_fetcher(self.settings) as fetcher:
            found = await fetcher.raw(address, headers={"accept": "application/json"})
        if found.status >= 400:
            raise WebError(f"The search at {address} answered {found.status}; check web.search.")
        try:
            answer = _Answer.model_validate(json.loads(found.body))
        except (ValidationError, ValueError) as error:
            form = '{"results": [{"title", "address", "snippet"}]}'
            raise WebError(f"The search at {address} did not answer with JSON {form}; check web.search.") from error
        hits = [SearchHit(hit.title, urljoin(found.address, hit.address), hit.snippet) for hit in answer.results]
        return hits[:limit]


def open_search(settings: WebSettings) -> SearchBackend:
    """The site's own search. Raises `UsageError` when its address has no place for the query."""
    if "{query}" not in settings.search:
        raise UsageError(f"web.search is {settings.search!r}; it must contain {{query}}, for example ...?q={{query}}.")
    return SiteSearch(settings)
