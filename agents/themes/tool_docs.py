"""Themes from tool documentation (M2 of section 3.1): OpenAI functions, OpenAPI, data sets of tools.

A data set (JSON Lines, a tool a line) is mapped back to the services that its tools belong to: by the field that names
them, else by what stands before the dot or the first underscore of names that several tools share.
"""

from collections import Counter
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from agent_world.agents.themes.files import Lines, read_document
from agent_world.agents.themes.make import make_theme, rejected_tools
from agent_world.errors import UsageError
from agent_world.schema import Dropped, Theme
from agent_world.tools.specs import read_tools
from agent_world.tools.specs.forms import SCHEMA_KEYS

SERVICE_FIELDS = ("server", "service", "api_name", "api", "tool_name", "domain", "category")
"""Fields of a data set's line that name the service, the most telling first."""
FORMS = (
    "a list of functions or tools (OpenAI, Anthropic, MCP), bare or under functions or tools with name and description "
    "beside it; OpenAPI; or a tool a line (JSON Lines)"
)
LEAST_SHARED = 2
"""Tools that must share a prefix for it to name a service."""

Found = tuple[list[Theme], list[Dropped]]


def read_tool_docs(path: Path, name: str | None = None) -> Found:
    """`name` is the theme's where the document has none. Raises `UsageError` when the file is none of the forms."""
    document = answer_of(read_document(path, "tool documentation"))
    if isinstance(document, Lines) and not name:
        return _data_set(document, path)
    if isinstance(document, Mapping) and isinstance(document.get("paths"), Mapping):
        return _openapi(document, path, name)
    listed = tools_in(document)
    if listed is None:
        raise UsageError(f"{path} is none of the forms of tool documentation: {FORMS}.")
    if any(_serves(row) for row in listed) and not name and isinstance(document, list):
        return _data_set(listed, path)
    told = document if isinstance(document, Mapping) and "function" not in document else {}
    title = name or _text(told, "name") or _text(told, "title") or _stem(path)
    return _theme(title, _text(told, "description") or _text(told, "instructions"), listed, path, "")


def answer_of(document: Any) -> Any:
    """What a JSON-RPC answer holds; anything else as it is."""
    inner = document.get("result") if isinstance(document, Mapping) and "jsonrpc" in document else None
    return inner if isinstance(inner, Mapping) else document


def tools_in(document: Any) -> list[Any] | None:
    """The tools of a bare list, of `functions` or `tools`, or of a tool alone; None where there are none."""
    if isinstance(document, Mapping):
        found = next((document[key] for key in ("functions", "tools") if isinstance(document.get(key), list)), None)
        if found is None and is_tool(document):
            return [document]
        return found
    return document if isinstance(document, list) and any(map(is_tool, document)) else None


def is_tool(item: Any) -> bool:
    """Whether it has what a tool has beside its name: a schema of arguments, or the wrapper of a function."""
    return isinstance(item, Mapping) and any(key in item for key in (*SCHEMA_KEYS, "function"))


def _serves(row: Any) -> bool:
    """Whether a tool's row names the service that it belongs to."""
    return isinstance(row, Mapping) and any(_text(row, field) for field in SERVICE_FIELDS)


def _text(row: Mapping[str, Any], field: str) -> str:
    found = row.get(field)
    return found.strip() if isinstance(found, str) else ""


def _stem(path: Path) -> str:
    return path.name.partition(".")[0].replace("_", " ").replace("-", " ").strip() or path.name


def _openapi(document: Mapping[str, Any], path: Path, name: str | None) -> Found:
    info = document.get("info")
    info = info if isinstance(info, Mapping) else {}
    title, about = str(info.get("title") or path.stem), str(info.get("description") or info.get("summary") or "")
    return _theme(name or title, about, document, path, "")


def _data_set(rows: Sequence[Any], path: Path) -> Found:
    services: dict[str, list[Any]] = {}
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
            if _text(row, field):
                return _text(row, field)
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
