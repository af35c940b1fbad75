"""Themes from all sources of section 3.1: MCP servers (M1), tool documentation (M2), PRDs (M3)."""

import asyncio

from agent_world.agents.themes.make import make_theme, rejected_tools
from agent_world.agents.themes.prd import read_prd
from agent_world.agents.themes.provenance import place_of, signed
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


async def collect_themes(
    settings: Settings, places: dict[tuple[str, str], str] | None = None
) -> tuple[list[Theme], list[Dropped]]:
    """Themes of all sources, those of the workspace's `sources.yaml` too, in order of id; junk and repeats dropped with
    the reason. A source that cannot be read is a mistake in the settings: `UsageError`. `places` is filled with the
    path, address or command of each, by source and sha256."""
    sound: list[Theme] = []
    dropped: list[Dropped] = []
    for source in await asyncio.to_thread(sources_of, settings):
        themes, bad = await read_sound_themes(source, settings.theme_rules)
        sound += themes
        dropped += bad
        if places is not None:
            places.update({(theme.source, theme.sha256): place_of(source) for theme in themes})
    if not sound:
        return [], dropped
    embedder = Embedder(settings.workspace)
    kept, repeated = await asyncio.to_thread(deduplicate, sound, settings.theme_rules, embedder)
    return sorted(kept, key=lambda theme: theme.id), [*dropped, *repeated]


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
