"""Theme sources that were added to a workspace by hand (`agent-world themes add`), beside those of its settings."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any, Literal
from urllib.parse import urlsplit

import yaml
from pydantic import ValidationError

from agent_world.agents.themes.files import read_document
from agent_world.agents.themes.servers import is_server
from agent_world.agents.themes.tool_docs import FORMS, answer_of, is_tool, tools_in
from agent_world.errors import UsageError
from agent_world.memory.store import write_text
from agent_world.schema import Record
from agent_world.settings import (
    McpThemeSource,
    PrdThemeSource,
    ServersThemeSource,
    ThemeSource,
    ToolDocsThemeSource,
)

FILE = "sources.yaml"
_HEADER = "# Theme sources added to this workspace; the same form as `themes` in a configuration.\n"
_PAPERS = (".md", ".txt", ".html", ".htm", ".pdf")


class _Sources(Record):
    themes: tuple[ThemeSource, ...] = ()


def extra_sources(workspace: Path) -> tuple[ThemeSource, ...]:
    """Raises `UsageError` for a damaged file."""
    path = workspace / FILE
    if not path.exists():
        return ()
    try:
        return _Sources.model_validate(yaml.safe_load(path.read_text()) or {}).themes
    except (yaml.YAMLError, ValidationError, UnicodeDecodeError) as error:
        raise UsageError(f"{path} is damaged ({' '.join(str(error).split())[:200]}); mend or remove it.") from error


def add_source(workspace: Path, source: ThemeSource) -> None:
    """Remember `source`; one that is there already stays once."""
    known = extra_sources(workspace)
    if source in known:
        return
    body = _Sources(themes=(*known, source)).model_dump(mode="json", exclude_none=True)
    write_text(workspace / FILE, _HEADER + yaml.safe_dump(body, allow_unicode=True, sort_keys=False))


def guess_source(
    words: list[str], kind: str | None = None, name: str | None = None, headers: Mapping[str, str] | None = None
) -> ThemeSource:
    """What a person means by a path, an address, or the command of an MCP server: files are told by what they hold.

    Raises `UsageError`.
    """
    first = words[0]
    path, address = Path(first), first.startswith(("http://", "https://"))
    kind = kind or (_kind_of_address(first) if address else "mcp" if len(words) > 1 else kind_of_file(_existing(path)))
    match kind:
        case "prd":
            return PrdThemeSource(path=_existing(path), name=name)
        case "tool_docs":
            return ToolDocsThemeSource(path=_existing(path), name=name)
        case "servers":
            if name:
                raise UsageError(f"{first} is a list of servers, which have names of their own; leave --name out.")
            return ServersThemeSource(path=first if address else str(_existing(path)))
        case "mcp":
            if address:
                title = name or urlsplit(first).hostname or first
                return McpThemeSource(address=first, name=title, headers=dict(headers or {}))
            return McpThemeSource(command=tuple(words), name=name or Path(words[-1]).name)
        case _:
            raise UsageError(f"There is no kind of source {kind!r}; it is one of mcp, servers, tool_docs, prd.")


def _kind_of_address(address: str) -> str:
    last = urlsplit(address).path.rstrip("/").rpartition("/")[2].lower()
    return "mcp" if last in ("mcp", "sse") else "servers"


def kind_of_file(path: Path) -> Literal["prd", "tool_docs", "servers"]:
    """Raises `UsageError` for a file that holds none of them."""
    if path.name.lower().endswith(_PAPERS):
        return "prd"
    document = answer_of(read_document(path, "theme source"))
    if isinstance(document, Mapping):
        if "mcpServers" in document:
            raise UsageError(f"{path} is a client's configuration; add its servers one by one: themes add -- COMMAND.")
        if isinstance(document.get("servers"), list) or "serverInfo" in document:
            return "servers"
        if isinstance(document.get("paths"), Mapping) or tools_in(document) is not None:
            return "tool_docs"
        entries: list[Any] = [document]
    else:
        entries = document if isinstance(document, list) else []
    if any(map(is_tool, entries)):
        return "tool_docs"
    if any(map(is_server, entries)):
        return "servers"
    raise UsageError(
        f"{path} holds no themes: it is no list of servers (a registry's JSON, a crawl), and none of the forms of tool "
        f"documentation ({FORMS}); a PRD ends in {', '.join(_PAPERS)}, or is named by --kind prd."
    )


def _existing(path: Path) -> Path:
    if not path.is_file():
        raise UsageError(
            f"There is no file {path}; give the path of a theme source, an address, or a server's command after --."
        )
    return path.resolve()
