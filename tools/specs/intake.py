"""The one way in: a document of any known form -> tools in the normal form, and all that could not be read."""

import json
from collections.abc import Iterable, Mapping
from dataclasses import replace
from typing import Any

from pydantic import ValidationError

from agent_world.errors import SpecError
from agent_world.schema import ToolAnnotations, ToolSpec
from agent_world.tools.specs import model
from agent_world.tools.specs.forms import Item, RawTool, is_openapi, read_document
from agent_world.tools.specs.guard import MOST_VALUES, check_json, has_lone_surrogates, json_text, mended
from agent_world.tools.specs.model import Change, Intake, NormalTool, Rejected
from agent_world.tools.specs.names import Identity, exposed_names
from agent_world.tools.specs.normal import argument_schema, normal_schema
from agent_world.tools.specs.types import as_object
from agent_world.tools.specs.weak import weak_schema


def read_tools(document: Any, where: str, server: str = "") -> Intake:
    """Read MCP `tools/list`, OpenAI functions, Anthropic tools, OpenAPI, server records, or lists of these.

    `where` (a file, address or command) is for messages; `server` names the server where the document does not. Every
    tool is in the result, as loaded or as rejected with the reason; this never raises over what a document holds.
    """
    return collect(_items(document, where, server), where)


def read_servers(documents: Iterable[tuple[str, Any]], where: str) -> Intake:
    """The same for many servers as one set, so that exposed names differ between them; pairs of server and document."""
    return collect((item for server, document in documents for item in _items(document, where, server)), where)


def _items(document: Any, where: str, server: str) -> Iterable[Item]:
    """Tools are bounded one by one, so a list is only looked into; the rest of a document is bounded whole."""
    try:
        if isinstance(document, str):
            document = as_object(document)
        if is_openapi(document):
            check_json(document, 100 * MOST_VALUES)
    except SpecError as error:
        return [Rejected(where=where, server=server, tool="", field="", reason=str(error))]
    return read_document(document, where, server)


def collect(items: Iterable[Item], where: str) -> Intake:
    """Normalise, then name: names depend on the whole set."""
    found: dict[Identity, tuple[RawTool, NormalTool]] = {}
    rejected: list[Rejected] = []
    for item in items:
        if isinstance(item, Rejected):
            rejected.append(item)
            continue
        identity = (item.server, item.name)
        if identity in found:
            rejected.append(_twice(item, found[identity][0], where))
            continue
        try:
            found[identity] = item, _normal_tool(item)
        except SpecError as error:
            rejected.append(_rejected(item, where, str(error)))
    names = exposed_names(list(found))
    return Intake(tuple(_named(tool, names[key]) for key, (_, tool) in found.items()), tuple(rejected))


def _twice(again: RawTool, first: RawTool, where: str) -> Rejected:
    same = "the same" if again.given == first.given else "another"
    reason = f"its server lists this name twice, with {same} definition; the first is used"
    return Rejected(where=where, server=again.server, tool=again.name, field="name", reason=reason)


def _rejected(item: RawTool, where: str, message: str) -> Rejected:
    """A message may begin with the field: `inputSchema/properties/q: ...`."""
    field, found, reason = message.partition(": ")
    if not found or " " in field.partition("/")[0]:
        field, reason = item.schema_key, message
    return Rejected(where=where, server=item.server, tool=item.name, field=field, reason=reason)


def _normal_tool(raw: RawTool) -> NormalTool:
    """Raises `SpecError`, with the field first where it is one field's fault."""
    check_json(raw.given)
    schema, changes = _arguments(raw)
    changes = [*raw.changes, *changes]
    parts: dict[str, Any] = {
        "description": _description(raw, changes),
        "input_schema": schema,
        "output_schema": _output(raw, changes),
        "annotations": _annotations(raw, changes),
        "meta": _meta(raw),
    }
    if has_lone_surrogates(json.dumps(parts, ensure_ascii=False)):
        parts = {key: mended(value) for key, value in parts.items()}
        why = "halves of broken characters are written U+FFFD"
        changes.append(Change(path="", what="text", why=why, effect="guess"))
    return NormalTool(raw.server, raw.name, ToolSpec(name="unnamed", **parts), tuple(changes), raw.weak)


def _arguments(raw: RawTool) -> tuple[dict[str, Any], list[Change]]:
    if raw.weak:
        return weak_schema(raw.schema, raw.description if isinstance(raw.description, str) else "", raw.schema_key)
    if not raw.schema_key:
        why = "no schema is given; read as a tool without arguments"
        return {"type": "object", "properties": {}}, [
            Change(path="inputSchema", what="absent", why=why, effect="guess")
        ]
    return argument_schema(raw.schema, raw.schema_key, raw.references, raw.dialect)


def _description(raw: RawTool, changes: list[Change]) -> str:
    if isinstance(raw.description, str) and raw.description.strip():
        return raw.description
    text = raw.title if isinstance(raw.title, str) else ""
    why = "there is none" + ("; the title is used" if text else "")
    if raw.description is not None and not isinstance(raw.description, str):
        why = f"a {type(raw.description).__name__} is no text"
    if text or raw.description != "":
        changes.append(Change(path="description", what="absent", why=why))
    return text


def _output(raw: RawTool, changes: list[Change]) -> dict[str, Any] | None:
    """A result's schema is a help, not a need: one that cannot be read is left out."""
    if raw.output is None:
        return None
    try:
        if not isinstance(raw.output, Mapping):
            raise SpecError("it is no object")
        schema, defs, found = normal_schema(raw.output, "outputSchema", raw.references, raw.dialect)
    except SpecError as error:
        changes.append(Change(path="outputSchema", what="keyword", why=f"left out: {error}", effect="guess"))
        return None
    changes += found
    whole: dict[str, Any] = {} if isinstance(schema, bool) else dict(schema)
    return whole | ({"$defs": defs} if defs else {})


def _annotations(raw: RawTool, changes: list[Change]) -> dict[str, Any]:
    if raw.annotations is None:
        return {}
    try:
        return ToolAnnotations.model_validate(raw.annotations, strict=True).model_dump(
            by_alias=True, exclude_unset=True
        )
    except ValidationError:
        changes.append(Change(path="annotations", what="annotation", why="they are not as MCP has them; left out"))
        return {}


def _meta(raw: RawTool) -> dict[str, Any]:
    meta: dict[str, Any] = {
        model.SERVER: raw.server,
        model.ORIGINAL_NAME: raw.name,
        model.ORIGINAL: json_text(raw.given),
    }
    if raw.weak:
        meta[model.WEAK] = True
    if raw.http:
        meta[model.HTTP] = raw.http
    return meta


def _named(tool: NormalTool, name: str) -> NormalTool:
    changes = tool.changes
    if name != tool.original_name:
        why = f"exposed as {name!r}: distinct, at most 64 of A-Z a-z 0-9 _ -"
        changes = (Change(path="name", what="name", why=why), *changes)
    meta = tool.spec.meta | {model.CHANGES: [change.model_dump() for change in changes]}
    return replace(tool, spec=tool.spec.model_copy(update={"name": name, "meta": meta}), changes=changes)
