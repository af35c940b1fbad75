"""DuckDuckGo by the package `ddgs`, which reads the page that DuckDuckGo has for browsers without scripts."""

import asyncio
from dataclasses import dataclass
from math import ceil
from typing import Any

from agent_world.errors import UsageError, WebError
from agent_world.settings import DuckDuckGoSearch
from agent_world.tools.web.retry import Busy, persist
from agent_world.tools.web.search.backend import SearchHit
from agent_world.tools.web.search.hits import sound

NAME = "DuckDuckGo"


@dataclass(frozen=True, slots=True)
class DuckDuckGo:
    config: DuckDuckGoSearch
    engine: type[Any]
    """The package's engine itself: its front, `DDGS`, says the same of no result and of a refused request."""

    async def search(self, query: str, limit: int) -> list[SearchHit]:
        # The client of `ddgs` blocks; its own timeout ends the thread.
        found = await persist(NAME, self.config.retries, lambda: asyncio.to_thread(self._ask, query))
        return sound([(hit.title, hit.href, hit.body) for hit in found], limit)

    def _ask(self, query: str) -> list[Any]:
        from ddgs.exceptions import DDGSException, TimeoutException

        config = self.config
        verify = str(config.ca_file) if config.ca_file else True
        engine = self.engine(proxy=config.proxy, timeout=ceil(config.timeout_s), verify=verify)
        try:
            found = engine.search(query, region=config.region)
        except TimeoutException as error:
            raise Busy("did not answer in time") from error
        except DDGSException as error:
            raise WebError(f"{NAME} cannot be reached: {' '.join(str(error).split())[:200]}.") from error
        if found is None:  # any status but 200; a limited rate is 202 or 429 there
            raise Busy("refused the request, as it does when there are too many")
        return list(found)


def open_duckduckgo(config: DuckDuckGoSearch) -> DuckDuckGo:
    """Raises `UsageError` where the package is missing."""
    try:
        from ddgs.engines import ENGINES
    except ImportError as error:
        raise UsageError("Searching with DuckDuckGo needs ddgs; install agent-world[search].") from error
    return DuckDuckGo(config, ENGINES["text"]["duckduckgo"])
