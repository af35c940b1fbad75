"""Themes from tool documentation (M2 of section 3.1): OpenAI functions, OpenAPI, data sets of tools.

A data set (JSON Lines, a tool a line) is mapped back to the services that its tools belong to: by the field that names
them, else by what stands before the dot or the first underscore of names that several tools share.
"""

from collections import Counter
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from agent_world.agents.themes.files import is_lines, read_document, read_lines
from agent_world.agents.themes.make import make_theme, rejected_tools
from agent_world.errors import UsageError
from agent_world.schema import Dropped, Theme
from agent_world.tools.specs import read_tools

SERVICE_FIELDS = ("server", "service", "api_name", "api", "tool_name", "domain", "category")
"""Fields of a data set's line that name the service, the most telling first."""
LEAST_SHARED = 2
"""Tools that must share a prefix for it to name a service."""

Found = tuple[list[Theme], list[Dropped]]


def read_tool_docs(path: Path) -> Found:
    """Raises `UsageError` when the file is none of the forms."""
    if is_lines(path):
        return _data_set(path)
    document = read_document(path, "tool documentation")
    if isinstance(document, Mapping) and isinstance(document.get("paths"), Mapping):
        return _openapi(document, path)
    if not isinstance(document, Mapping) or not isinstance(document.get("functions"), list) or not document.get("name"):
        raise UsageError(
            f"{path} must be an object with name, description and functions (a list), or OpenAPI, or JSON Lines."
        )
    return _theme(str(document["name"]), str(document.get("description") or ""), document["functions"], path, "")


def _openapi(document: Mapping[str, Any], path: Path) -> Found:
    info = document.get("info")
    info = info if isinstance(info, Mapping) else {}
    name, about = str(info.get("title") or path.stem), str(info.get("description") or info.get("summary") or "")
    return _theme(name, about, document, path, "")


def _data_set(path: Path) -> Found:
    services: dict[str, list[Any]] = {}
    rows = [row for _, row in read_lines(path, "data set of tools")]
    prefixes = Counter(_prefix(row) for row in rows)
    for row in rows:
        services.setdefault(_service(row, prefixes, path.name.partition(".")[0]), []).append(row)
    themes: list[Theme] = []
    dropped: list[Dropped] = []
    for name in services:
        made, bad = _theme(name, "", services[name], path, f": {name}")
        themes += made
        dropped += bad
    return themes, dropped


def _service(row: Any, prefixes: Counter[str], default: str) -> str:
    if isinstance(row, Mapping):
        for field in SERVICE_FIELDS:
            if isinstance(row.get(field), str) and row[field].strip() and field != "name":
                return str(row[field]).strip()
        prefix = _prefix(row)
        if prefix and prefixes[prefix] >= LEAST_SHARED:
            return prefix
    return default


def _prefix(row: Any) -> str:
    name = row.get("name") if isinstance(row, Mapping) else None
    if not isinstance(name, str):
        return ""
    first, sign, _ = name.partition("." if "." in name else "_")
    return first if sign else ""


def _theme(name: str, description: str, document: Any, path: Path, suffix: str) -> Found:
    intake = read_tools(document, path.name, server=name)
    if intake.rejected and not intake.tools:
        raise UsageError(f"{path}: {intake.rejected[0]}")
    theme = make_theme(name, description, "tool_docs", f"{path.name}{suffix}", intake.specs)
    return [theme], rejected_tools(name, intake)
