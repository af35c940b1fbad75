"""The forms that tool definitions come in, each taken apart into `RawTool`s, nothing normalised yet.

- MCP: a list, `{"tools": [...]}`, or the JSON-RPC answer around it; each with `inputSchema`
- OpenAI functions: bare, `{"type": "function", "function": {...}}`, or the flat form of Responses
- Anthropic: `input_schema`
- OpenAPI 2.0, 3.0 and 3.1 (`openapi.py`, `swagger.py`)
- registries' records of servers: `tools` as the live server gave them, else the weak list of `crawled`
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

from agent_world.errors import SpecError
from agent_world.tools.specs.model import Change, Rejected
from agent_world.tools.specs.refs import References
from agent_world.tools.specs.types import as_object

SCHEMA_KEYS = ("inputSchema", "input_schema", "parameters")
_LISTS = ("tools", "functions")


@dataclass(frozen=True, slots=True)
class RawTool:
    """One definition, taken out of its form."""

    server: str
    label: str
    """`tool 3`: for messages, where the name cannot serve."""
    name: str
    given: Any
    """As it was, whole."""
    description: Any = ""
    schema: Any = None
    schema_key: str = ""
    """Empty where there is none."""
    output: Any = None
    annotations: Any = None
    title: Any = None
    weak: bool = False
    references: References | None = None
    dialect: str = ""
    http: dict[str, Any] | None = None
    changes: tuple[Change, ...] = field(default=())


Item = RawTool | Rejected


def read_document(document: Any, where: str, server: str) -> Iterator[Item]:
    """All tools of a document of any known form."""
    if isinstance(document, Mapping):
        yield from _read_mapping(document, where, server)
    elif isinstance(document, list) and any(_is_server(item) for item in document):
        for number, item in enumerate(document):
            if isinstance(item, Mapping):
                yield from _read_mapping(item, where, server_name(item) or f"{server or where} {number}")
            else:
                yield Rejected(where=where, server=server, tool="", field=str(number), reason="it is no server")
    elif isinstance(document, list):
        yield from _read_list(document, where, server)
    else:
        yield _unknown(where, server)


def server_name(record: Mapping[str, Any]) -> str:
    """What tells a server from others: the file it was crawled to, else its own name."""
    info = record.get("serverInfo")
    found = (
        record.get("file"),
        record.get("server"),
        record.get("name"),
        info.get("name") if isinstance(info, Mapping) else None,
    )
    name = next((item for item in found if isinstance(item, str) and item.strip()), "")
    return name.removesuffix("_labeled.json") if name == record.get("file") else name


def _is_server(item: Any) -> bool:
    return isinstance(item, Mapping) and (any(isinstance(item.get(key), list) for key in _LISTS) or is_openapi(item))


def is_openapi(document: Any) -> bool:
    return isinstance(document, Mapping) and ("openapi" in document or "swagger" in document)


def _unknown(where: str, server: str) -> Rejected:
    reason = "it is no known form: MCP tools/list, OpenAI or Anthropic tools, OpenAPI, or a list of parameters"
    return Rejected(where=where, server=server, tool="", field="", reason=reason)


def _read_mapping(document: Mapping[str, Any], where: str, server: str) -> Iterator[Item]:
    from agent_world.tools.specs.openapi import read_openapi

    if isinstance(document.get("result"), Mapping) and "result" not in document["result"]:
        yield from _read_mapping(document["result"], where, server)
    elif isinstance(document.get("error"), Mapping) and "jsonrpc" in document:
        reason = f"the server answered with an error: {str(document['error'].get('message'))[:200]}"
        yield Rejected(where=where, server=server, tool="", field="error", reason=reason)
    elif is_openapi(document):
        yield from read_openapi(document, where, server)
    elif any(key in document for key in _LISTS):
        yield from _read_listing(document, where, server or server_name(document))
    elif any(key in document for key in (*SCHEMA_KEYS, "function")) or "name" in document:
        yield from _read_list([document], where, server)
    else:
        yield _unknown(where, server)


def _read_listing(document: Mapping[str, Any], where: str, server: str) -> Iterator[Item]:
    key = next(key for key in _LISTS if key in document)
    crawled = document.get("crawled")
    listed = document[key]
    if not listed and isinstance(crawled, Mapping) and crawled.get("tools"):
        key, listed = "crawled/tools", crawled["tools"]
    if not isinstance(listed, list):
        yield Rejected(where=where, server=server, tool="", field=key, reason="it must be a list of tools")
        return
    if not listed:
        yield Rejected(where=where, server=server, tool="", field=key, reason="it lists no tools")
    yield from _read_list(listed, where, server)


def _read_list(listed: list[Any], where: str, server: str) -> Iterator[Item]:
    for number, item in enumerate(listed):
        label = f"tool {number}"
        try:
            yield _read_tool(item, server, label)
        except SpecError as error:
            yield Rejected(where=where, server=server, tool=_name_of(item) or label, field="", reason=str(error))


def _name_of(item: Any) -> str:
    inner = item.get("function", item) if isinstance(item, Mapping) else None
    name = inner.get("name") if isinstance(inner, Mapping) else None
    return name if isinstance(name, str) and name.strip() else ""


def _read_tool(given: Any, server: str, label: str) -> RawTool:
    """Raises `SpecError` with the reason where it is no tool."""
    item = as_object(given) if isinstance(given, str) else given
    if not isinstance(item, Mapping):
        raise SpecError(f"a tool must be an object with a name, not {'null' if item is None else type(item).__name__}")
    if isinstance(item.get("function"), Mapping):
        item = item["function"]
    name = _name_of(item)
    if not name:
        raise SpecError("it has no name")
    keys = [key for key in SCHEMA_KEYS if item.get(key) is not None]
    if not keys and isinstance(item.get("type"), str) and item["type"] not in ("function", "tool"):
        raise SpecError(f"a built-in of its vendor ({item['type'][:40]}), which says nothing of its arguments")
    spare = tuple(
        Change(path=key, what="duplicate", why=f"{keys[0]} is used", effect="guess")
        for key in keys[1:] if item[key] != item[keys[0]]
    )  # fmt: skip
    schema = item[keys[0]] if keys else None
    return RawTool(
        server=server, label=label, name=name, given=given, description=item.get("description"), schema=schema,
        schema_key=keys[0] if keys else "", output=item.get("outputSchema", item.get("output_schema")),
        annotations=item.get("annotations"), title=item.get("title"), weak=isinstance(schema, list), changes=spare,
    )  # fmt: skip
