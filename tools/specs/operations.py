"""What documents of OpenAPI have in common, whatever their version: paths of operations, each read as one tool.

Where each argument goes is kept in the tool's meta (`HTTP`), so that a call can be turned into a request again.
"""

from abc import ABC, abstractmethod
from collections.abc import Iterator, Mapping
from typing import Any, ClassVar

from agent_world.errors import SpecError
from agent_world.tools.specs.forms import Item, RawTool
from agent_world.tools.specs.guard import check_json
from agent_world.tools.specs.model import Rejected
from agent_world.tools.specs.refs import References
from agent_world.tools.specs.requests import Arguments, is_plain_object

METHODS = ("get", "put", "post", "delete", "options", "head", "patch", "trace")


class Operations(ABC):
    """Of one document. A version says where arguments, results and servers are written."""

    places: ClassVar[tuple[str, ...]]
    """Where a parameter may be (`in`)."""

    def __init__(self, document: Mapping[str, Any], server: str, dialect: str) -> None:
        self.document = document
        self._server = server
        self._dialect = dialect
        self._references = References(document)

    @abstractmethod
    def take(
        self, operation: Mapping[str, Any], parameters: list[Mapping[str, Any]], arguments: Arguments
    ) -> str | None:
        """Fill `arguments`, parameters before the body; the body's media type. Raises `SpecError`."""

    @abstractmethod
    def result(self, operation: Mapping[str, Any], response: Mapping[str, Any]) -> Any:
        """The schema of a response's JSON, if it has one."""

    @abstractmethod
    def servers(self, entry: Mapping[str, Any], operation: Mapping[str, Any]) -> list[str]:
        """Addresses that the path is relative to."""

    def of_path(self, path: str, entry: Any, where: str) -> Iterator[Item]:
        try:
            entry = self.resolved(entry, f"paths/{path}")
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

    def resolved(self, item: Any, path: str) -> Mapping[str, Any]:
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

    def put_body(self, arguments: Arguments, name: str, schema: Any, required: bool) -> None:
        """An object without combinations gives its properties as arguments, anything else is the argument `name`."""
        try:
            whole: Any = self.resolved(schema, "body")
        except SpecError:
            whole = None  # a missing target is told with its path when the schema is read
        if isinstance(whole, Mapping) and is_plain_object(whole):
            arguments.add_body(whole, required)
        else:
            arguments.put(name, schema, {"in": "body", "pointer": ""}, required)

    def _tool(self, path: str, method: str, entry: Mapping[str, Any]) -> RawTool:
        operation = self.resolved(entry[method], method)
        check_json(dict(operation))
        label = f"{method.upper()} {path}"
        identifier = operation.get("operationId")
        name = identifier if isinstance(identifier, str) and identifier.strip() else label
        arguments = Arguments()
        body_type = self.take(operation, self._parameters(entry, operation), arguments)
        words = [operation.get(key) for key in ("description", "summary")]
        return RawTool(
            server=self._server, label=label, name=name, given={"path": path, "method": method, "operation": operation},
            description=next((w for w in words if isinstance(w, str) and w.strip()), label),
            schema=arguments.schema(), schema_key="arguments", output=self._output(operation),
            annotations={"readOnlyHint": method in ("get", "head"), "destructiveHint": method == "delete"},
            references=self._references, dialect=self._dialect, changes=tuple(arguments.changes),
            http={
                "method": method.upper(), "path": path, "servers": self.servers(entry, operation),
                "security": self._security(operation), "body_type": body_type, "arguments": arguments.places,
                "rest": "body" if arguments.open_body else None,
            },
        )  # fmt: skip

    def _parameters(self, entry: Mapping[str, Any], operation: Mapping[str, Any]) -> list[Mapping[str, Any]]:
        """Those of the path, replaced by the operation's own of the same name and place."""
        found: dict[tuple[str, str], Mapping[str, Any]] = {}
        for owner in (entry, operation):
            listed = owner.get("parameters") or []
            if not isinstance(listed, list):
                raise SpecError("parameters: they must be a list")
            for number, item in enumerate(listed):
                parameter = self.resolved(item, f"parameters/{number}")
                name, place = parameter.get("name"), parameter.get("in")
                if not isinstance(name, str) or not name or place not in self.places:
                    raise SpecError(
                        f"parameters/{number}: it needs a name and a place (in) of {', '.join(self.places)}"
                    )
                found[name, str(place)] = parameter
        return list(found.values())

    def _output(self, operation: Mapping[str, Any]) -> Any:
        """Schema of the first successful JSON response."""
        responses = operation.get("responses")
        if not isinstance(responses, Mapping):
            return None
        for code in [c for c in responses if str(c).startswith("2")] + ["default"]:
            try:
                schema = self.result(operation, self.resolved(responses.get(code), "responses"))
            except SpecError:
                continue
            if isinstance(schema, Mapping):
                return schema
        return None

    def _security(self, operation: Mapping[str, Any]) -> list[list[str]]:
        """Names of schemes: all of one inner list, any of the outer."""
        security = operation.get("security", self.document.get("security")) or []
        return [sorted(map(str, s)) for s in security if isinstance(s, Mapping)] if isinstance(security, list) else []
