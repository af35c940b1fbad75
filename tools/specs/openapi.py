"""OpenAPI documents as tools: one an operation, its parameters and body as one object of arguments.

Here versions 3.0 and 3.1; version 2.0, called Swagger, in `swagger`.
"""

import re
from collections.abc import Iterator, Mapping
from typing import Any, ClassVar

from agent_world.tools.specs.forms import Item
from agent_world.tools.specs.model import Rejected
from agent_world.tools.specs.operations import Operations
from agent_world.tools.specs.requests import Arguments, is_json, media_of
from agent_world.tools.specs.swagger import Swagger


def read_openapi(document: Mapping[str, Any], where: str, server: str) -> Iterator[Item]:
    key = "openapi" if "openapi" in document else "swagger"
    version = str(document[key])  # YAML reads 2.0 as a number
    info = document.get("info")
    title = info.get("title") if isinstance(info, Mapping) else None
    server = server or (title if isinstance(title, str) else "")
    reader: Operations
    if re.match(r"3\.[01]", version):
        reader = OpenApi(document, server, "openapi-3.0" if version.startswith("3.0") else "2020-12")
    elif re.fullmatch(r"2(\.0)?", version):
        reader = Swagger(document, server, "swagger-2.0")
    else:
        reason = f"OpenAPI {version[:20]} is not read, only 2.0, 3.0 and 3.1; convert it first"
        yield Rejected(where=where, server=server, tool="", field=key, reason=reason)
        return
    paths = document.get("paths")
    if not isinstance(paths, Mapping) or not paths:
        yield Rejected(where=where, server=server, tool="", field="paths", reason="it lists no operations")
        return
    for path, entry in paths.items():
        if not str(path).startswith("x-"):
            yield from reader.of_path(str(path), entry, where)


class OpenApi(Operations):
    """OpenAPI 3.0 and 3.1."""

    places: ClassVar = ("path", "query", "header", "cookie")

    def take(
        self, operation: Mapping[str, Any], parameters: list[Mapping[str, Any]], arguments: Arguments
    ) -> str | None:
        for parameter in parameters:
            arguments.add(parameter)
        if operation.get("requestBody") is None:
            return None
        body = self.resolved(operation["requestBody"], "requestBody")
        media, content = media_of(body.get("content"))
        if media is not None:
            self.put_body(arguments, "body", content.get("schema", {}), body.get("required") is True)
        return media

    def result(self, operation: Mapping[str, Any], response: Mapping[str, Any]) -> Any:
        media, content = media_of(response.get("content"))
        return content.get("schema") if media and is_json(media) else None

    def servers(self, entry: Mapping[str, Any], operation: Mapping[str, Any]) -> list[str]:
        listed: Any = next((o["servers"] for o in (operation, entry, self.document) if o.get("servers")), [])
        return [s["url"] for s in listed if isinstance(s, Mapping) and "url" in s] if isinstance(listed, list) else []
