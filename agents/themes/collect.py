"""Themes from all sources of section 3.1: MCP servers (M1), tool documentation (M2), PRDs (M3)."""

import asyncio
from dataclasses import dataclass

from agent_world.agents.themes.make import make_theme, rejected_tools
from agent_world.agents.themes.prd import read_prd
from agent_world.agents.themes.provenance import Places, is_live, place_of, recall_themes, signed
from agent_world.agents.themes.rules import deduplicate, junk
from agent_world.agents.themes.servers import read_servers
from agent_world.agents.themes.sources import extra_sources
from agent_world.agents.themes.tool_docs import read_tool_docs
from agent_world.errors import UsageError
from agent_world.memory.embedder import Embedder
from agent_world.schema import Dropped, Theme
from agent_world.settings import (
    McpThemeSource,
    PrdThemeSource,
    ServersThemeSource,
    Settings,
    ThemeSettings,
    ThemeSource,
    ToolDocsThemeSource,
)
from agent_world.tools.mcp_client import list_tools
from agent_world.tools.specs import read_tools


@dataclass(frozen=True, slots=True)
class Collected:
    """What all sources gave."""

    themes: list[Theme]
    dropped: list[Dropped]
    places: Places
    notes: list[str]
    """Sources that did not answer, or were gone, in words."""


async def collect_themes(settings: Settings) -> tuple[list[Theme], list[Dropped]]:
    """`collect`: themes and what was dropped."""
    collected = await collect(settings)
    return collected.themes, collected.dropped


async def collect(settings: Settings) -> Collected:
    """Themes of all sources, those of the workspace's `sources.yaml` too, in order of id; junk and repeats dropped with
    the reason.

    A file of the settings that cannot be read is a mistake in them: `UsageError`. A live source that does not answer,
    or an added file that is gone, gives what it gave to the workspace before; it stops nothing, unless no theme is
    left.
    """
    sound, dropped, places, notes = list[Theme](), list[Dropped](), Places(), list[str]()
    broken: UsageError | None = None
    for source in await asyncio.to_thread(sources_of, settings):
        try:
            themes, bad = await read_sound_themes(source, settings.theme_rules)
        except UsageError as error:
            if source in settings.themes and not is_live(source):
                raise
            themes, bad = await asyncio.to_thread(recall_themes, settings.workspace, place_of(source)), []
            broken = broken or error
            known = f" What it gave before is used: {', '.join(theme.id for theme in themes[:8])}." if themes else ""
            notes.append(f"{error}{known}")
            if not themes:
                bad = [Dropped(kind="theme", id=place_of(source), reason=str(error))]
        sound += themes
        dropped += bad
        places.update({(theme.source, theme.sha256): place_of(source) for theme in themes})
    if broken and not sound:
        raise broken
    if not sound:
        return Collected([], dropped, places, notes)
    embedder = Embedder(settings.workspace)
    kept, repeated = await asyncio.to_thread(deduplicate, sound, settings.theme_rules, embedder)
    return Collected(sorted(kept, key=lambda theme: theme.id), [*dropped, *repeated], places, notes)


def sources_of(settings: Settings) -> tuple[ThemeSource, ...]:
    """Those of the settings, and those added to the workspace."""
    return (*settings.themes, *extra_sources(settings.workspace))


async def read_sound_themes(source: ThemeSource, rules: ThemeSettings) -> tuple[list[Theme], list[Dropped]]:
    """`read_source_themes` without junk, which is dropped with the reason."""
    themes, dropped = await read_source_themes(source)
    reasons = [junk(theme, rules) for theme in themes]
    dropped += [
        Dropped(kind="theme", id=f"{theme.id} ({theme.source})", reason=reason)
        for theme, reason in zip(themes, reasons, strict=True)
        if reason
    ]
    return [theme for theme, reason in zip(themes, reasons, strict=True) if not reason], dropped


async def read_source_themes(source: ThemeSource) -> tuple[list[Theme], list[Dropped]]:
    """One source's themes, and what of it was dropped.

    Raises `UsageError` when it is missing, does not answer, or is not what it should be.
    """
    themes, dropped = await _read(source)
    return await asyncio.to_thread(signed, themes, source), dropped


async def _read(source: ThemeSource) -> tuple[list[Theme], list[Dropped]]:
    match source:
        case McpThemeSource():
            return await _from_server(source)
        case ServersThemeSource():
            return await read_servers(source)
        case ToolDocsThemeSource():
            return await asyncio.to_thread(read_tool_docs, source.path, source.name)
        case PrdThemeSource():
            return [await asyncio.to_thread(read_prd, source.path, source.name)], []


async def read_theme(source: ThemeSource) -> Theme:
    """The theme of a source that has just one. Raises `UsageError`."""
    themes, _ = await read_source_themes(source)
    if len(themes) != 1:
        raise UsageError(f"The source holds {len(themes)} themes, and one is wanted.")
    return themes[0]


async def _from_server(source: McpThemeSource) -> tuple[list[Theme], list[Dropped]]:
    listing = await list_tools(source.address or source.command, headers=source.headers)
    where = source.address or " ".join(source.command)
    intake = read_tools(list(listing.tools), where, server=source.name)
    if intake.rejected and not intake.tools:
        raise UsageError(f"{intake.rejected[0]}.")
    theme = make_theme(source.name, source.description or listing.instructions, "mcp", where, intake.specs)
    return [theme], rejected_tools(source.name, intake)
