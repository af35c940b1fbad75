"""Fetches one resource by HTTP: robots.txt obeyed, size capped, redirects checked hop by hop.

All traffic of the system's browsing passes here, the browser's own requests too, so the rules hold in one place.
"""

import asyncio
import hashlib
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from datetime import UTC, datetime
from email.message import Message
from email.utils import parsedate_to_datetime
from urllib.parse import urljoin

import httpx
from protego import Protego

from agent_world.errors import WebError
from agent_world.settings import WebSettings
from agent_world.tools.web import guard
from agent_world.tools.web.connect import PrivateAddress, Resolve, guarded_transport, look_up
from agent_world.tools.web.retry import wished_pause

AGENT = "agent-world"
REDIRECTS = 5
BUSY_TRIES = 3
DELAY_S = 1.0
"""Between two pages of a public host, where the settings say nothing."""
PART_SHARE, LONGEST_PART_DELAY_S = 0.1, 0.1
"""Of that pause, between the parts of one page: a browser asks for many, and people do not wait for each."""
LONGEST_DELAY_S = 30.0
"""A site may ask for a longer pause between requests; we give up waiting there."""
UNSENT = frozenset({"host", "connection", "accept-encoding", "content-length"})
"""Request headers that the HTTP client sets itself."""


@dataclass(frozen=True, slots=True)
class Received:
    """A response with its whole body, decoded from transfer and content encoding."""

    address: str
    status: int
    headers: httpx.Headers
    body: bytes
    retrieved: str = ""
    """When, ISO 8601 in UTC."""

    @property
    def content_type(self) -> str:
        return str(self.headers.get("content-type", "")).partition(";")[0].strip().lower()

    @property
    def charset(self) -> str | None:
        """The encoding that the sender stated."""
        header = Message()
        header["content-type"] = self.headers.get("content-type", "")
        return header.get_content_charset()

    @property
    def as_of(self) -> str | None:
        """`Last-Modified` as ISO 8601 in UTC, where it is given and valid."""
        stated = self.headers.get("last-modified")
        try:
            return parsedate_to_datetime(stated).astimezone(UTC).strftime("%Y-%m-%dT%H:%M:%SZ") if stated else None
        except ValueError:
            return None

    @property
    def sha256(self) -> str:
        return hashlib.sha256(self.body).hexdigest()


@dataclass(slots=True)
class Fetcher:
    """Shared by all readers of a process. Methods raise `WebError` with one sentence on what was refused or failed."""

    settings: WebSettings
    client: httpx.AsyncClient
    public: httpx.AsyncClient
    """Connects to public addresses alone, whatever the settings allow."""
    _robots: dict[str, Protego] = field(default_factory=dict)
    _locks: dict[str, asyncio.Lock] = field(default_factory=dict)
    _last: dict[str, float] = field(default_factory=dict)
    _private: set[str] = field(default_factory=set)
    """Sites that were found at a private address."""

    async def get(self, address: str, waited: bool = False) -> Received:
        """A page or download that a person would open: robots.txt and the pause between requests apply, redirects
        to other sites are asked for too, and a status of 400 or more is an error. A site that is busy and says for
        how long (`Retry-After`) is asked again, twice at most. `waited`: its turn has come (`require_allowed`)."""
        for attempt in range(BUSY_TRIES):
            if attempt or not waited:
                await self.require_allowed(address)
            found = await self._request(address, polite=True)
            pause = wished_pause(found.headers) if found.status in (429, 503) else None
            if pause is None or pause > LONGEST_DELAY_S or attempt == BUSY_TRIES - 1:
                break
            await asyncio.sleep(pause)
        if found.status >= 400:
            raise WebError(f"{address} answered {found.status}; check the address.")
        return found

    async def raw(
        self,
        address: str,
        method: str = "GET",
        headers: Mapping[str, str] | None = None,
        body: bytes | None = None,
        home: str | None = None,
    ) -> Received:
        """One request under the address and size rules alone; any status is a result. With `home`, an origin, all
        other origins must be public, also where private addresses are allowed."""
        sent = {k: v for k, v in (headers or {}).items() if k.lower() not in UNSENT and not k.startswith(":")}
        return await self._request(address, method, sent, body, home)

    async def _request(
        self,
        address: str,
        method: str = "GET",
        headers: dict[str, str] | None = None,
        body: bytes | None = None,
        home: str | None = None,
        polite: bool = False,
    ) -> Received:
        try:
            async with asyncio.timeout(self.settings.page_timeout_s):
                return await self._follow(address, method, headers or {}, body, home, polite)
        except TimeoutError as error:
            limit = self.settings.page_timeout_s
            raise WebError(f"{address} did not answer within {limit:g} s (web.page_timeout_s).") from error
        except httpx.HTTPError as error:
            raise WebError(f"{address} cannot be reached: {str(error) or type(error).__name__}.") from error

    async def part(
        self, address: str, method: str, headers: Mapping[str, str], body: bytes | None, home: str
    ) -> Received:
        """What a page of the origin `home` asks for: as `raw`, with robots.txt obeyed and a small pause."""
        site = guard.origin(address)
        _require_permitted(await self._rules(site, home), address)
        await self._turn(site, min(LONGEST_PART_DELAY_S, PART_SHARE * self.delay(site)))
        return await self.raw(address, method, headers, body, home)

    async def require_allowed(self, address: str) -> None:
        """Obey robots.txt, and wait as long as the settings or the site ask for between two requests to a host."""
        site = guard.origin(address)
        rules = await self._rules(site)
        _require_permitted(rules, address)
        await self._turn(site, max(self.delay(site), min(rules.crawl_delay(AGENT) or 0.0, LONGEST_DELAY_S)))

    def delay(self, site: str) -> float:
        """Seconds between two pages of an origin, as far as the settings go."""
        if self.settings.delay_s is not None:
            return self.settings.delay_s
        return 0.0 if site in self._private else DELAY_S

    async def _turn(self, site: str, pause: float) -> None:
        """Wait until the last request to the site is so many seconds ago; those who wait come one after the other."""
        async with self._locks.setdefault(site, asyncio.Lock()):
            loop = asyncio.get_running_loop()
            if (rest := self._last.get(site, -pause) + pause - loop.time()) > 0:
                await asyncio.sleep(rest)
            self._last[site] = loop.time()

    async def _rules(self, site: str, home: str | None = None) -> Protego:
        async with self._locks.setdefault(f"{site}/robots.txt", asyncio.Lock()):
            if site not in self._robots:
                found = await self.raw(f"{site}/robots.txt", home=home)
                if found.status >= 500:
                    raise WebError(f"{site} is refused: its robots.txt answered {found.status}; try again later.")
                text = found.body.decode("utf-8", "replace") if found.status < 400 else ""
                self._robots[site] = Protego.parse(text)
        return self._robots[site]

    async def _follow(
        self, address: str, method: str, headers: dict[str, str], body: bytes | None, home: str | None, polite: bool
    ) -> Received:
        first = guard.origin(address)
        for _ in range(REDIRECTS + 1):
            site = guard.origin(address)
            if polite and site != first:
                _require_permitted(await self._rules(site), address)
            client = self.client if home in (None, site) else self.public
            found = await self._once(client, address, method, headers, body)
            target = found.headers.get("location")
            if found.status not in (301, 302, 303, 307, 308) or not target:
                return found
            address = urljoin(address, target)
            if found.status not in (307, 308):
                method, body = "GET", None
        raise WebError(f"{address} is refused: more than {REDIRECTS} redirects.")

    async def _once(
        self, client: httpx.AsyncClient, address: str, method: str, headers: dict[str, str], body: bytes | None
    ) -> Received:
        try:
            async with client.stream(method, address, headers=headers, content=body) as response:
                self._note_address(guard.origin(address), response)
                parts, size = [], 0
                async for part in response.aiter_bytes():
                    size += len(part)
                    if size > self.settings.max_bytes:
                        raise WebError(f"{address} is refused: it is larger than {self.settings.max_bytes} bytes.")
                    parts.append(part)
                now = datetime.now(UTC).isoformat(timespec="seconds")
                return Received(str(response.url), response.status_code, response.headers, b"".join(parts), now)
        except PrivateAddress as error:
            raise guard.refusal(address, error.ip) from error

    def _note_address(self, site: str, response: httpx.Response) -> None:
        stream = response.extensions.get("network_stream")
        found = stream.get_extra_info("server_addr") if stream else None
        if found and not guard.is_public(str(found[0])):
            self._private.add(site)


def _require_permitted(rules: Protego, address: str) -> None:
    if not rules.can_fetch(address, AGENT):
        raise WebError(f"{address} is refused by the site's robots.txt.")


@asynccontextmanager
async def open_fetcher(settings: WebSettings, resolve: Resolve = look_up) -> AsyncIterator[Fetcher]:
    """Environment proxies are not used: the address rules could not see past them."""

    def client(allow_private: bool) -> httpx.AsyncClient:
        transport = guarded_transport(resolve, allow_private)
        agent = {"user-agent": f"Mozilla/5.0 (compatible; {AGENT})"}
        return httpx.AsyncClient(transport=transport, timeout=settings.page_timeout_s, trust_env=False, headers=agent)

    async with client(settings.allow_private) as own, client(False) as public:
        yield Fetcher(settings, own, public)
