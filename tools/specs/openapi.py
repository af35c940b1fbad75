"""OpenAPI 3.0 and 3.1 documents as tools: one an operation, its parameters and body as one object of arguments.

Where each argument goes is kept in the tool's meta (`HTTP`), so that a call can be turned into a request again.
"""

import re
from collections.abc import Iterator, Mapping
from typing import Any

from agent_world.errors import SpecError
from agent_world.tools.specs.forms import Item, RawTool
from agent_world.tools.specs.guard import check_json
from agent_world.tools.specs.model import Change, Rejected
from agent_world.tools.specs.refs import References

METHODS = ("get", "put", "post", "delete", "options", "head", "patch", "trace")
_PLACES = ("path", "query", "header", "cookie")
_RESERVED = {"accept", "content-type", "authorization"}
"""Headers that OpenAPI says are described elsewhere."""
_PLAIN = frozenset(
    {"additionalProperties", "description", "example", "examples", "externalDocs", "properties", "required", "title",
     "type", "xml"}
)  # fmt: skip
"""What the schema of a body may hold whose properties become arguments."""


def read_openapi(document: Mapping[str, Any], where: str, server: str) -> Iterator[Item]:
    version = document.get("openapi", document.get("swagger"))
    if not isinstance(version, str) or not re.match(r"3\.[01]", version):
        reason = f"OpenAPI {str(version)[:20]} is not read, only 3.0 and 3.1; convert it first"
        yield Rejected(where=where, server=server, tool="", field="openapi", reason=reason)
        return
    info = document.get("info")
    title = info.get("title") if isinstance(info, Mapping) else None
    server = server or (title if isinstance(title, str) else "")
    paths = document.get("paths")
    if not isinstance(paths, Mapping) or not paths:
        yield Rejected(where=where, server=server, tool="", field="paths", reason="it lists no operations")
        return
    reader = _Reader(document, server, "openapi-3.0" if version.startswith("3.0") else "")
    for path, entry in paths.items():
        if not str(path).startswith("x-"):
            yield from reader.operations(str(path), entry, where)


class _Reader:
    def __init__(self, document: Mapping[str, Any], server: str, dialect: str) -> None:
        self._document = document
        self._server = server
        self._dialect = dialect
        self._references = References(document)

    def operations(self, path: str, entry: Any, where: str) -> Iterator[Item]:
        try:
            entry = self._resolved(entry, f"paths/{path}")
        except SpecError as error:
            yield Rejected(where=where, server=self._server, tool=path, field=f"paths/{path}", reason=str(error))
            return
        for method in [m for m in METHODS if m in entry]:
            name = f"{method.upper()} {path}"
            try:
                yield self._tool(path, method, entry)
            except SpecError as error:
                field = f"paths/{path}/{method}"
                yield Rejected(where=where, server=self._server, tool=name, field=field, reason=str(error))

    def _resolved(self, item: Any, path: str) -> Mapping[str, Any]:
        """The object itself, or what its `$ref` stands for. Raises `SpecError`."""
        for _ in range(10):
            if not isinstance(item, Mapping):
                raise SpecError(f"{path}: it must be an object")
            if not isinstance(item.get("$ref"), str):
                return item
            found = self._references.find(item["$ref"], self._references.resolver())
            if found is None or isinstance(found, str):
                raise SpecError(f"{path}: {found or item['$ref'][:80] + ' is another document, which is not fetched'}")
            item = found.contents
        raise SpecError(f"{path}: its references never end")

    def _tool(self, path: str, method: str, entry: Mapping[str, Any]) -> RawTool:
        operation = self._resolved(entry[method], method)
        check_json(dict(operation))
        label = f"{method.upper()} {path}"
        identifier = operation.get("operationId")
        name = identifier if isinstance(identifier, str) and identifier.strip() else label
        arguments = _Arguments()
        for parameter in self._parameters(entry, operation):
            arguments.add(parameter)
        body_type = self._body(operation, arguments)
        words = [operation.get(key) for key in ("description", "summary")]
        return RawTool(
            server=self._server, label=label, name=name, given={"path": path, "method": method, "operation": operation},
            description=next((w for w in words if isinstance(w, str) and w.strip()), label),
            schema=arguments.schema(), schema_key="arguments", output=self._output(operation),
            annotations={"readOnlyHint": method in ("get", "head"), "destructiveHint": method == "delete"},
            references=self._references, dialect=self._dialect or "2020-12",
            http=self._http(path, method, entry, operation, arguments, body_type), changes=tuple(arguments.changes),
        )  # fmt: skip

    def _parameters(self, entry: Mapping[str, Any], operation: Mapping[str, Any]) -> list[Mapping[str, Any]]:
        """Those of the path, replaced by the operation's own of the same name and place."""
        found: dict[tuple[str, str], Mapping[str, Any]] = {}
        for owner in (entry, operation):
            listed = owner.get("parameters") or []
            if not isinstance(listed, list):
                raise SpecError("parameters: they must be a list")
            for number, item in enumerate(listed):
                parameter = self._resolved(item, f"parameters/{number}")
                name, place = parameter.get("name"), parameter.get("in")
                if not isinstance(name, str) or not name or place not in _PLACES:
                    raise SpecError(f"parameters/{number}: it needs a name and a place (in) of {', '.join(_PLACES)}")
                found[name, str(place)] = parameter
        return list(found.values())

    def _body(self, operation: Mapping[str, Any], arguments: "_Arguments") -> str | None:
        """Its media type. An object without combinations gives its properties as arguments, else it is one argument."""
        if operation.get("requestBody") is None:
            return None
        body = self._resolved(operation["requestBody"], "requestBody")
        media, described = _media(body.get("content"))
        if media is None:
            return None
        schema = described.get("schema", {})
        try:
            whole: Any = self._resolved(schema, "requestBody")
        except SpecError:
            whole = None  # a missing target is told with its path when the schema is read
        required = body.get("required") is True
        if isinstance(whole, Mapping) and _is_plain_object(whole):
            arguments.add_body(whole, required)
        else:
            arguments.put("body", schema, {"in": "body", "pointer": ""}, required)
        return media

    def _output(self, operation: Mapping[str, Any]) -> Any:
        """Schema of the first successful JSON response."""
        responses = operation.get("responses")
        if not isinstance(responses, Mapping):
            return None
        for code in [c for c in responses if str(c).startswith("2")] + ["default"]:
            try:
                media, described = _media(self._resolved(responses.get(code), "responses").get("content"))
            except SpecError:
                continue
            if media and "json" in media and isinstance(described.get("schema"), Mapping):
                return described["schema"]
        return None

    def _http(
        self, path: str, method: str, entry: Mapping[str, Any], operation: Mapping[str, Any], arguments: "_Arguments",
        body_type: str | None,
    ) -> dict[str, Any]:  # fmt: skip
        servers: Any = next((o["servers"] for o in (operation, entry, self._document) if o.get("servers")), [])
        urls = [s["url"] for s in servers if isinstance(s, Mapping) and "url" in s] if isinstance(servers, list) else []
        security = operation.get("security", self._document.get("security")) or []
        names = [sorted(map(str, s)) for s in security if isinstance(s, Mapping)] if isinstance(security, list) else []
        return {
            "method": method.upper(), "path": path, "servers": urls, "security": names,
            "body_type": body_type, "arguments": arguments.places,
            "rest": "body" if arguments.open_body else None,
        }  # fmt: skip


class _Arguments:
    """Arguments of one operation under distinct names."""

    def __init__(self) -> None:
        self.places: dict[str, dict[str, Any]] = {}
        self.changes: list[Change] = []
        self._properties: dict[str, Any] = {}
        self._required: list[str] = []
        self._extra: Any = None
        self.open_body = False
        """Whether arguments that have no place of their own go into the body."""

    def add(self, parameter: Mapping[str, Any]) -> None:
        name, place = parameter["name"], parameter["in"]
        if place == "header" and name.lower() in _RESERVED:
            self._note(name, f"the header {name} is set by the caller, not by an argument; left out")
            return
        media, described = _media(parameter.get("content"))
        schema = described.get("schema", {}) if media else parameter.get("schema", {})
        about = {k: parameter[k] for k in ("description", "deprecated", "example") if parameter.get(k) is not None}
        target = {"in": place, "name": name} | {k: parameter[k] for k in ("style", "explode") if k in parameter}
        target |= {"content_type": media} if media else {}
        required = parameter.get("required") is True or place == "path"
        self.put(name, _described(schema, about), target, required)

    def add_body(self, schema: Mapping[str, Any], body_required: bool) -> None:
        needed = schema.get("required")
        properties = schema.get("properties") or {}
        for name, item in properties.items():
            if isinstance(item, Mapping) and item.get("readOnly") is True:
                self._note(name, "read-only properties are not sent; left out")
                continue
            required = body_required and isinstance(needed, list) and name in needed
            self.put(name, item, {"in": "body", "pointer": "/" + name.replace("~", "~0").replace("/", "~1")}, required)
        if not body_required and needed:
            self._note("required", "the body may be left out, so its properties may be")
        self._extra = schema.get("additionalProperties")
        self.open_body = self._extra not in (None, False)

    def put(self, name: str, schema: Any, target: dict[str, Any], required: bool) -> None:
        """Under its own name, or with its place in front where that is taken."""
        argument = name
        while argument in self.places:
            argument = f"{target['in']}_{argument}"
        if argument != name:
            why = f"{name!r} of the {target['in']} is given as {argument!r}: the name occurs in several places"
            self.changes.append(Change(path=f"arguments/{argument}", what="argument_name", why=why))
        self.places[argument] = target
        self._properties[argument] = schema
        if required:
            self._required.append(argument)

    def schema(self) -> dict[str, Any]:
        out: dict[str, Any] = {"type": "object", "properties": self._properties}
        if self._required:
            out["required"] = self._required
        return out | ({"additionalProperties": self._extra} if self._extra is not None else {})

    def _note(self, name: str, why: str) -> None:
        self.changes.append(Change(path=f"arguments/{name}", what="transport", why=why))


def _described(schema: Any, about: dict[str, Any]) -> Any:
    if not about or not isinstance(schema, Mapping):
        return schema if schema is not None else {}
    return {**schema, **about}


def _media(content: Any) -> tuple[str | None, Mapping[str, Any]]:
    """The media type to use, JSON first, and its description."""
    if not isinstance(content, Mapping) or not content:
        return None, {}
    ranked = sorted(content, key=lambda name: (not re.search(r"[/+]json\b", str(name)), "form" not in str(name)))
    described = content[ranked[0]]
    return str(ranked[0]), described if isinstance(described, Mapping) else {}


def _is_plain_object(schema: Mapping[str, Any]) -> bool:
    plain = all(key in _PLAIN or str(key).startswith("x-") for key in schema)
    return plain and isinstance(schema.get("properties"), Mapping) and schema.get("type", "object") == "object"
