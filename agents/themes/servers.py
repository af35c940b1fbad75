"""Themes from lists of MCP servers (M1 of section 3.1): the official registry's JSON, Smithery's, crawls.

Each entry is a theme. Forms read: `{"servers": [...]}` (the registry wraps an entry in `server`; Smithery has
`displayName`), a bare list, JSON Lines, and a single server's answer to `tools/list` with its `serverInfo`. A crawled
entry whose live `tools` are empty is read by the weaker list of its page (`crawled.tools`). An address is followed over
all its pages, by the registry's cursor or Smithery's page number.
"""

import asyncio
from collections.abc import AsyncIterator, Iterator, Mapping
from itertools import islice
from pathlib import Path
from typing import Any

import httpx

from agent_world.agents.themes.files import read_document
from agent_world.agents.themes.make import make_theme, rejected_tools
from agent_world.errors import UsageError
from agent_world.schema import Dropped, Theme, ToolSpec
from agent_world.settings import ServersThemeSource
from agent_world.tools.specs import read_tools
from agent_world.tools.specs.forms import SCHEMA_KEYS

TIMEOUT_S = 30.0
REMEDY = "see that it answers and is a registry's, or say by --kind mcp that it is a server itself"
_SERVER_KEYS = ("qualifiedName", "displayName")
"""Of Smithery's entries."""
MAX_PAGES = 500


async def read_servers(source: ServersThemeSource) -> tuple[list[Theme], list[Dropped]]:
    """A theme for each server in the order of the list; entries and tools that are none are dropped with the reason.

    Raises `UsageError` when the list cannot be read or holds no servers at all.
    """
    if source.path.startswith(("http://", "https://")):
        entries = [entry async for entry in _pages(source.path, source.limit)]
        where = source.path
    else:
        path = Path(source.path)
        entries = await asyncio.to_thread(lambda: list(islice(_file(path), source.limit)))
        where = path.name
    if not entries:
        raise UsageError(f"{source.path} holds no servers; it must be a registry's JSON or a crawl as JSON Lines.")
    return await asyncio.to_thread(_themes, entries, where)


def _themes(entries: list[Any], where: str) -> tuple[list[Theme], list[Dropped]]:
    themes: list[Theme] = []
    dropped: list[Dropped] = []
    for number, entry in enumerate(entries, 1):
        place = f"{where}, server {number}"
        name = _name(entry) if isinstance(entry, Mapping) else ""
        if not name:
            dropped.append(Dropped(kind="theme", id=place, reason="no server: it has no name"))
            continue
        tools, bad = _tools(entry, name, place)
        dropped += bad
        themes.append(make_theme(name, _description(entry), "mcp", f"{where}: {name}", tools))
    return themes, dropped


def _name(entry: Mapping[str, Any]) -> str:
    info = entry.get("serverInfo")
    candidates = [entry.get(key) for key in ("displayName", "title", "name", "qualifiedName", "server")]
    candidates += [info.get("title"), info.get("name")] if isinstance(info, Mapping) else []
    found = next((c.strip() for c in candidates if isinstance(c, str) and c.strip()), "")
    return found.rpartition("/")[2] if "/" in found and " " not in found else found


def _description(entry: Mapping[str, Any]) -> str:
    found = entry.get("description") or entry.get("instructions")
    return found if isinstance(found, str) else ""


def _tools(entry: Mapping[str, Any], name: str, place: str) -> tuple[tuple[ToolSpec, ...], list[Dropped]]:
    crawled = entry.get("crawled")
    weak = crawled.get("tools") if isinstance(crawled, Mapping) else None
    listed = entry.get("tools") or weak
    if not listed:
        return (), []
    intake = read_tools(listed, place, server=name)
    return intake.specs, rejected_tools(name, intake)


# --- Where lists come from ----------------------------------------------------------------------------


def _file(path: Path) -> Iterator[Any]:
    yield from _entries(read_document(path, "list of servers"))


async def _pages(address: str, limit: int | None) -> AsyncIterator[Any]:
    """Entries of all pages. Raises `UsageError` when a page does not come, or is none."""
    given = 0
    following: dict[str, str] = {}
    async with httpx.AsyncClient(timeout=TIMEOUT_S, follow_redirects=True) as client:
        for _ in range(MAX_PAGES):
            page = await _page(client, httpx.URL(address).copy_merge_params(following))
            for entry in _entries(page):
                yield entry
                given += 1
                if given == limit:
                    return
            following = _following(page)
            if not following:
                return


async def _page(client: httpx.AsyncClient, address: httpx.URL) -> Any:
    try:
        answer = await client.get(address, headers={"accept": "application/json"})
        answer.raise_for_status()
        return answer.json()
    except httpx.HTTPError as error:
        reason = str(error).splitlines()[0] if str(error) else type(error).__name__
        raise UsageError(f"The list of servers {address} cannot be read ({reason}); {REMEDY}.") from error
    except ValueError as error:
        raise UsageError(f"The list of servers {address} is not JSON; {REMEDY}.") from error


def _following(page: Any) -> dict[str, str]:
    """What to ask for the next page; nothing after the last."""
    if not isinstance(page, Mapping):
        return {}
    metadata, pagination = page.get("metadata"), page.get("pagination")
    if isinstance(metadata, Mapping):
        cursor = metadata.get("nextCursor") or metadata.get("next_cursor")
        return {"cursor": str(cursor)} if cursor else {}
    if isinstance(pagination, Mapping):
        current, last = pagination.get("currentPage"), pagination.get("totalPages")
        if isinstance(current, int) and isinstance(last, int) and current < last:
            return {"page": str(current + 1)}
    return {}


def _entries(document: Any) -> list[Any]:
    if isinstance(document, Mapping) and isinstance(document.get("servers"), list):
        return [_unwrapped(entry) for entry in document["servers"]]
    if isinstance(document, list):
        return [_unwrapped(entry) for entry in document]
    return [_unwrapped(document)] if isinstance(document, Mapping) and is_server(document) else []


def is_server(entry: Any) -> bool:
    """Whether it is a server's entry of any list, or a server's answer to `tools/list` with its name: not a tool."""
    if not isinstance(entry, Mapping):
        return False
    if isinstance(entry.get("server"), Mapping) or any(isinstance(entry.get(key), str) for key in _SERVER_KEYS):
        return True
    return bool(_name(entry)) and not any(key in entry for key in (*SCHEMA_KEYS, "function", "functions"))


def _unwrapped(entry: Any) -> Any:
    """The registry's `{"server": {...}, "_meta": ...}` without its wrapper."""
    inner = entry.get("server") if isinstance(entry, Mapping) else None
    return inner if isinstance(inner, Mapping) else entry
