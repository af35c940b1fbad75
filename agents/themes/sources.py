"""Theme sources that were added to a workspace by hand (`agent-world themes add`), beside those of its settings."""

from pathlib import Path

import yaml
from pydantic import ValidationError

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
_LISTS = (".jsonl", ".jsonl.gz", ".json.gz")
_PAPERS = (".md", ".txt", ".html", ".htm", ".pdf")
_DOCS = (".json", ".yaml", ".yml")


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


def guess_source(words: list[str], kind: str | None, name: str | None) -> ThemeSource:
    """What a person means by a path, an address, or the command of an MCP server. Raises `UsageError`."""
    first = words[0]
    path, address = Path(first), first.startswith(("http://", "https://"))
    if kind is None:
        kind = _kind(words, path, address)
    match kind:
        case "prd":
            return PrdThemeSource(path=_existing(path))
        case "tool_docs":
            return ToolDocsThemeSource(path=_existing(path))
        case "servers":
            return ServersThemeSource(path=first if address else str(_existing(path)))
        case "mcp":
            title = name or (first if address else Path(words[-1]).name)
            return (
                McpThemeSource(address=first, name=title)
                if address
                else McpThemeSource(command=tuple(words), name=title)
            )
        case _:
            raise UsageError(f"There is no kind of source {kind!r}; it is one of mcp, servers, tool_docs, prd.")


def _kind(words: list[str], path: Path, address: bool) -> str:
    name = path.name.lower()
    if len(words) > 1:
        return "mcp"
    if address:
        return "mcp" if name in ("mcp", "sse") else "servers"
    if name.endswith(_LISTS):
        return "servers"
    if name.endswith(_PAPERS):
        return "prd"
    if name.endswith(_DOCS):
        return "tool_docs"
    raise UsageError(f"What {words[0]!r} is cannot be told; say it by --kind mcp, servers, tool_docs or prd.")


def _existing(path: Path) -> Path:
    if not path.is_file():
        raise UsageError(f"There is no file {path}; give the path of a theme source.")
    return path.resolve()
