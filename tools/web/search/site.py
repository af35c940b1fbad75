"""Searches a site by its own search address."""

import json
from dataclasses import dataclass
from urllib.parse import quote_plus, urljoin

from pydantic import BaseModel, ValidationError

from agent_world.errors import UsageError, WebError
from agent_world.settings import SiteSearch, WebSettings
from agent_world.tools.web.fetch import open_fetcher
from agent_world.tools.web.search.backend import SearchHit
from agent_world.tools.web.search.hits import sound


class _Hit(BaseModel):
    title: str
    address: str
    snippet: str = ""


class _Answer(BaseModel):
    """What a search address answers; a site may add keys of its own."""

    results: list[_Hit]


@dataclass(frozen=True, slots=True)
class Site:
    address: str
    settings: WebSettings

    async def search(self, query: str, limit: int) -> list[SearchHit]:
        address = self.address.replace("{query}", quote_plus(query))
        async with open_fetcher(self.settings) as fetcher:
            found = await fetcher.raw(address, headers={"accept": "application/json"})
        if found.status >= 400:
            raise WebError(f"The search at {address} answered {found.status}; check web.search.")
        try:
            answer = _Answer.model_validate(json.loads(found.body))
        except (ValidationError, ValueError) as error:
            form = '{"results": [{"title", "address", "snippet"}]}'
            raise WebError(f"The search at {address} did not answer with JSON {form}; check web.search.") from error
        return sound([(hit.title, urljoin(found.address, hit.address), hit.snippet) for hit in answer.results], limit)


def open_site(config: SiteSearch, settings: WebSettings) -> Site:
    """Raises `UsageError` when the address has no place for the query."""
    if "{query}" not in config.address:
        raise UsageError(f"web.search is {config.address!r}; it must contain {{query}}, for example ...?q={{query}}.")
    return Site(config.address, settings)
