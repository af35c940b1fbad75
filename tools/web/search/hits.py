"""What all backends do with the hits of their service."""

import re
from collections.abc import Iterable

from agent_world.errors import WebError
from agent_world.tools.web import guard
from agent_world.tools.web.search.backend import SearchHit

TAG = re.compile(r"</?(strong|b|em|mark)>", re.IGNORECASE)
"""Services mark the words that were sought."""


def sound(hits: Iterable[tuple[str, str, str]], limit: int) -> list[SearchHit]:
    """Of `(title, address, snippet)`, the first `limit` with a web address, each address once."""
    found: dict[str, SearchHit] = {}
    for title, address, snippet in hits:
        if len(found) < limit and address not in found and _is_web(address):
            found[address] = SearchHit(_plain(title), address, _plain(snippet))
    return list(found.values())


def _plain(text: str) -> str:
    return " ".join(TAG.sub("", text).split())


def _is_web(address: str) -> bool:
    try:
        guard.parse(address)
    except WebError:
        return False
    return True
