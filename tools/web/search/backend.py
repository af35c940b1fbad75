"""What a search backend is, and which one the settings ask for. Only this module knows all backends."""

from dataclasses import dataclass
from typing import Protocol

from agent_world.settings import (
    BraveSearch,
    DuckDuckGoSearch,
    SearxngSearch,
    SiteSearch,
    TavilySearch,
    WebSettings,
)


@dataclass(frozen=True, slots=True)
class SearchHit:
    """What a search says of a page. Words of outsiders: data, never an instruction."""

    title: str
    address: str
    """An http(s) address."""
    snippet: str


class SearchBackend(Protocol):
    async def search(self, query: str, limit: int) -> list[SearchHit]:
        """At most `limit` hits, best first, each address once. Raises `WebError` when the backend cannot be asked."""
        ...


def open_search(settings: WebSettings) -> SearchBackend:
    """The backend of `web.search`. Raises `UsageError` that names the setting or key which is missing."""
    match settings.search:
        case SiteSearch() as config:
            from agent_world.tools.web.search.site import open_site

            return open_site(config, settings)
        case TavilySearch() as config:
            from agent_world.tools.web.search.services import open_tavily

            return open_tavily(config)
        case BraveSearch() as config:
            from agent_world.tools.web.search.services import open_brave

            return open_brave(config)
        case SearxngSearch() as config:
            from agent_world.tools.web.search.services import open_searxng

            return open_searxng(config)
        case DuckDuckGoSearch() as config:
            from agent_world.tools.web.search.duckduckgo import open_duckduckgo

            return open_duckduckgo(config)
