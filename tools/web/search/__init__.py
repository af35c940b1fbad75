"""Searching the web: a site's own search, or a search service, all behind one Protocol."""

from agent_world.tools.web.search.backend import SearchBackend, SearchHit, open_search

__all__ = ["SearchBackend", "SearchHit", "open_search"]
