"""Search services asked by HTTP: Tavily, Brave and SearXNG.

Request and response forms: https://docs.tavily.com/documentation/api-reference/endpoint/search,
https://api-dashboard.search.brave.com/app/documentation/web-search, https://docs.searxng.org/dev/search_api.html.
Their address is the user's own setting, so the rules for addresses found on the web do not apply to it.
"""

import json
import os
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

import httpx
from pydantic import BaseModel, SecretStr, ValidationError

from agent_world.errors import UsageError, WebError
from agent_world.settings import BraveSearch, SearxngSearch, TavilySearch
from agent_world.tools.web.retry import Busy, persist, wished_pause
from agent_world.tools.web.search.backend import SearchHit
from agent_world.tools.web.search.hits import sound

MOST_HITS = 20
"""Tavily and Brave give no more in one answer."""
MOST_QUERY_CHARS = 400
"""Both refuse longer queries."""


class _TavilyHit(BaseModel):
    title: str
    url: str
    content: str = ""


class _Tavily(BaseModel):
    results: list[_TavilyHit]


class _BraveHit(BaseModel):
    title: str
    url: str
    description: str = ""


class _BraveWeb(BaseModel):
    results: list[_BraveHit]


class _Brave(BaseModel):
    web: _BraveWeb | None = None
    """Left out where nothing was found."""


class _SearxngHit(BaseModel):
    url: str
    title: str = ""
    content: str | None = ""


class _Searxng(BaseModel):
    results: list[_SearxngHit]


Triples = list[tuple[str, str, str]]


@dataclass(frozen=True, slots=True)
class Service:
    """One service: how it is asked, and how its answer is read."""

    name: str
    config: TavilySearch | BraveSearch | SearxngSearch
    request: Callable[[str, int], httpx.Request]
    read: Callable[[Any], Triples]
    """Raises `ValidationError` for an answer of another form."""
    remedies: Mapping[int, str] = field(default_factory=dict)
    """By status: what to do."""

    async def search(self, query: str, limit: int) -> list[SearchHit]:
        request = self.request(query[:MOST_QUERY_CHARS], max(1, min(limit, MOST_HITS)))
        async with httpx.AsyncClient(timeout=self.config.timeout_s) as client:
            body = await persist(self.name, self.config.retries, lambda: self._ask(client, request))
        try:
            return sound(self.read(json.loads(body)), limit)
        except (ValidationError, ValueError) as error:
            raise WebError(f"{self.name} answered in another form than its API has; check web.search.") from error

    async def _ask(self, client: httpx.AsyncClient, request: httpx.Request) -> bytes:
        try:
            response = await client.send(request)
        except (httpx.TimeoutException, httpx.RemoteProtocolError, httpx.ReadError) as error:
            raise Busy(f"did not answer ({type(error).__name__})") from error
        except httpx.HTTPError as error:
            raise WebError(f"{self.name} cannot be reached at {request.url.host}: {error}.") from error
        status = response.status_code
        if status == 429:
            raise Busy("limits the rate (429)", wished_pause(response.headers))
        if status >= 500:
            raise Busy(f"answered {status}", wished_pause(response.headers))
        if status != 200:
            remedy = self.remedies.get(status, "check web.search")
            raise WebError(f"{self.name} answered {status}{_detail(response)}; {remedy}.")
        return response.content


def _detail(response: httpx.Response) -> str:
    """The service's own words, where it has any: `detail.error` of Tavily, `error.detail` of Brave."""
    try:
        said = response.json()
    except ValueError:
        return ""
    inner = (said.get("detail") or said.get("error")) if isinstance(said, dict) else None
    words = (inner.get("error") or inner.get("detail")) if isinstance(inner, dict) else inner
    return f" ({' '.join(words.split())[:200].rstrip('.')})" if isinstance(words, str) else ""


def open_tavily(config: TavilySearch) -> Service:
    """Raises `UsageError` without a key."""
    key = _key(config.api_key, "TAVILY_API_KEY", "Tavily")

    def request(query: str, limit: int) -> httpx.Request:
        asked = {"query": query, "max_results": limit, "search_depth": config.depth}
        headers = {"authorization": f"Bearer {key}"}
        return httpx.Request("POST", f"{config.base_url.rstrip('/')}/search", json=asked, headers=headers)

    def read(answer: Any) -> Triples:
        return [(hit.title, hit.url, hit.content) for hit in _Tavily.model_validate(answer).results]

    wrong = "check TAVILY_API_KEY or web.search.api_key"
    used = "the plan's limit is reached"
    return Service("Tavily", config, request, read, {401: wrong, 403: wrong, 432: used, 433: used})


def open_brave(config: BraveSearch) -> Service:
    """Raises `UsageError` without a key."""
    key = _key(config.api_key, "BRAVE_API_KEY", "Brave Search")

    def request(query: str, limit: int) -> httpx.Request:
        asked: dict[str, str | int] = {"q": query, "count": limit, "result_filter": "web", "text_decorations": "false"}
        headers = {"x-subscription-token": key, "accept": "application/json"}
        address = f"{config.base_url.rstrip('/')}/res/v1/web/search"
        return httpx.Request("GET", address, params=asked, headers=headers)

    def read(answer: Any) -> Triples:
        web = _Brave.model_validate(answer).web
        return [(hit.title, hit.url, hit.description) for hit in web.results] if web else []

    wrong = "check BRAVE_API_KEY or web.search.api_key"
    return Service("Brave Search", config, request, read, {401: wrong, 403: wrong, 422: wrong})


def open_searxng(config: SearxngSearch) -> Service:
    def request(query: str, limit: int) -> httpx.Request:
        asked = {"q": query, "format": "json"} | ({"language": config.language} if config.language else {})
        return httpx.Request("GET", f"{config.base_url.rstrip('/')}/search", params=asked)

    def read(answer: Any) -> Triples:
        return [(hit.title, hit.url, hit.content or "") for hit in _Searxng.model_validate(answer).results]

    return Service("SearXNG", config, request, read, {403: "add json to search.formats in the instance's settings.yml"})


def _key(given: SecretStr | None, variable: str, service: str) -> str:
    key = given.get_secret_value() if given else os.environ.get(variable, "")
    if not key.strip():
        raise UsageError(f"{service} needs a key: set {variable} in the environment, or web.search.api_key.")
    return key.strip()
