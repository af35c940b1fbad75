"""The offline web without a browser: pages as the server sends them, read by the reader that the browser uses."""

from dataclasses import dataclass, field
from pathlib import Path
from types import TracebackType

import httpx

from agent_world.agents.miner.crawl import Crawler
from agent_world.agents.miner.fit import terms_of
from agent_world.agents.miner.material import Mine
from agent_world.errors import WebError
from agent_world.examples.web.app import build_app
from agent_world.schema import Theme
from agent_world.settings import MiningSettings
from agent_world.tools.web.document import read_document
from agent_world.tools.web.fetch import Received
from agent_world.tools.web.opening import require_page
from agent_world.tools.web.page import Page
from agent_world.tools.web.search import SearchHit

PEAKS = Theme(
    id="peaks", name="Peak bagger's log", description="High peaks of the Adirondacks: elevation and hike.", kind="prd",
    source="x.md", keywords=("peak", "hike", "elevation", "mountain"),
)  # fmt: skip


@dataclass(slots=True)
class Shelf:
    """Browser and search of the offline web, in this process. What was asked is written down."""

    opened: list[str] = field(default_factory=list)
    _web: httpx.AsyncClient = field(
        default_factory=lambda: httpx.AsyncClient(
            transport=httpx.ASGITransport(build_app()), base_url="http://shelf.test"
        )
    )

    async def read(self, address: str) -> Page:
        answer = await self._get(address)
        require_page(answer)
        return read_document(answer.body.decode(), "", answer)

    async def fetch(self, address: str) -> Received:
        return await self._get(address)

    async def search(self, query: str, limit: int) -> list[SearchHit]:
        answer = await self._web.get("/search", params={"q": query, "format": "json"})
        return [SearchHit(**hit) for hit in answer.json()["results"][:limit]]

    async def _get(self, address: str) -> Received:
        self.opened.append(address)
        answer = await self._web.get(address)
        if answer.status_code != 200:
            raise WebError(f"{address} answered {answer.status_code}.")
        return Received(address, 200, answer.headers, answer.content)

    async def __aenter__(self) -> "Shelf":
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        await self._web.aclose()


def crawler(shelf: Shelf, folder: Path, theme: Theme = PEAKS, **settings: int) -> Crawler:
    return Crawler(shelf, terms_of(theme), Mine(folder), MiningSettings.model_validate(settings))
