"""Themes from the three kinds of source of section 3.1: live MCP servers, tool documentation, PRDs."""

import asyncio
import json
import re
from pathlib import Path
from typing import Any

from agent_world.agents.themes.words import salient
from agent_world.errors import UsageError
from agent_world.schema import Dropped, Theme, ToolSpec
from agent_world.settings import McpThemeSource, PrdThemeSource, Settings, ThemeSource, ToolDocsThemeSource
from agent_world.tools.mcp_client import list_tools
from agent_world.tools.specs import Rejected, read_tools
from agent_world.tools.tables import snake_case

KEYWORDS = 12
LONGEST_DESCRIPTION = 600


async def collect_themes(settings: Settings) -> tuple[list[Theme], list[Dropped]]:
    """Themes of all sources in order of id; those about the same thing once, the rest dropped with the reason, and so
    are tools that cannot be read.

    A source that cannot be read is a mistake in the settings: `UsageError`.
    """
    themes: dict[str, Theme] = {}
    dropped: list[Dropped] = []
    for source in settings.themes:
        theme, rejected = await _read(source)
        first = themes.get(theme.id)
        if first is None:
            themes[theme.id] = theme
            dropped += [Dropped(kind="tool", id=f"{theme.id}/{r.tool}", reason=str(r)) for r in rejected]
        else:
            reason = f"same theme as {first.source}"
            dropped.append(Dropped(kind="theme", id=f"{theme.id} ({theme.source})", reason=reason))
    return [themes[i] for i in sorted(themes)], dropped


async def read_theme(source: ThemeSource) -> Theme:
    """One source's theme. Raises `UsageError` when it is missing, does not answer, or is not what it should be."""
    return (await _read(source))[0]


Read = tuple[Theme, tuple[Rejected, ...]]


async def _read(source: ThemeSource) -> Read:
    match source:
        case McpThemeSource():
            return await _from_server(source)
        case ToolDocsThemeSource():
            return await asyncio.to_thread(_from_tool_docs, source)
        case PrdThemeSource():
            return await asyncio.to_thread(_from_prd, source), ()


async def _from_server(source: McpThemeSource) -> Read:
    listing = await list_tools(source.command)
    tools, rejected = _specs(list(listing.tools), " ".join(source.command), source.name)
    description = source.description or listing.instructions or _sentences(tools)
    return _theme(source.name, description, "mcp", " ".join(source.command), tools, _tool_text(tools)), rejected


def _from_tool_docs(source: ToolDocsThemeSource) -> Read:
    try:
        found = json.loads(_text(source.path, "tool documentation"))
    except ValueError as error:
        raise UsageError(f"{source.path} is not JSON ({error}); mend it or take it out of themes.") from error
    if not isinstance(found, dict) or not isinstance(found.get("functions"), list) or not found.get("name"):
        raise UsageError(f"{source.path} must be an object with name, description and functions (a list).")
    tools, rejected = _specs(found["functions"], source.path.name, str(found["name"]))
    description = str(found.get("description") or _sentences(tools))
    return _theme(str(found["name"]), description, "tool_docs", source.path.name, tools, _tool_text(tools)), rejected


def _from_prd(source: PrdThemeSource) -> Theme:
    text = _text(source.path, "PRD")
    lines = [line.strip() for line in text.splitlines() if line.strip()]
    if not lines:
        raise UsageError(f"{source.path} is empty; a PRD needs a heading and a few sentences.")
    name = lines[0].lstrip("# ").strip()
    name = re.sub(r"^(PRD|Product requirements?( document)?)\s*[:–—-]\s*", "", name, flags=re.IGNORECASE)
    prose = [line for line in lines[1:] if not line.startswith(("#", "|", "-", "*", ">", "_"))]
    return _theme(name, prose[0] if prose else name, "prd", source.path.name, (), text)


def _theme(name: str, description: str, kind: Any, source: str, tools: tuple[ToolSpec, ...], text: str) -> Theme:
    about = f"{name} {name} {description} {text}"
    identifier = snake_case(name) or "theme"
    description = " ".join(description.split())[:LONGEST_DESCRIPTION]
    return Theme(
        id=identifier, name=name, description=description, kind=kind, source=source,
        keywords=salient(about, KEYWORDS), tools=tools,
    )  # fmt: skip


def _specs(listed: list[Any], where: str, server: str) -> tuple[tuple[ToolSpec, ...], tuple[Rejected, ...]]:
    """Raises `UsageError` where tools are listed and none can be read."""
    intake = read_tools(listed, where, server)
    if intake.rejected and not intake.tools:
        raise UsageError(f"{intake.rejected[0]}.")
    return intake.specs, intake.rejected


def _text(path: Path, what: str) -> str:
    try:
        return path.read_text(encoding="utf-8-sig")
    except FileNotFoundError as error:
        raise UsageError(f"There is no {what} {path}; mend its path under themes.") from error
    except (OSError, UnicodeDecodeError) as error:
        raise UsageError(f"Cannot read the {what} {path}: {error}.") from error


def _tool_text(tools: tuple[ToolSpec, ...]) -> str:
    return " ".join(f"{tool.name} {tool.description}" for tool in tools)


def _sentences(tools: tuple[ToolSpec, ...]) -> str:
    return " ".join(tool.description.split(". ")[0].rstrip(".") + "." for tool in tools if tool.description)
