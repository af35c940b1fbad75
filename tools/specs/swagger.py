"""OpenAPI 2.0, called Swagger: what it writes otherwise than version 3, which is told as version 3 has it.

- a parameter is its own schema, as is a field of a form (`formData`); a list's `collectionFormat` is a style
- the body is a parameter, of which there is one at most, and none beside a form
- the media types of bodies and results stand beside the operation (`consumes`, `produces`)
- the server's address comes in three parts: `schemes`, `host`, `basePath`
"""

from collections.abc import Mapping
from typing import Any, ClassVar

from agent_world.errors import SpecError
from agent_world.tools.specs.operations import Operations
from agent_world.tools.specs.requests import Arguments, is_json, preferred

_URL_ENCODED, _MULTIPART = "application/x-www-form-urlencoded", "multipart/form-data"
_OF_PARAMETER = frozenset({"name", "in", "required", "schema", "collectionFormat", "allowEmptyValue"})
_STYLES: dict[str, dict[str, Any]] = {
    "csv": {"explode": False},
    "multi": {"explode": True},
    "ssv": {"style": "spaceDelimited", "explode": False},
    "pipes": {"style": "pipeDelimited", "explode": False},
    "tsv": {"style": "tabDelimited", "explode": False},
}
"""As version 3 has them; it has none for tabs. The style that goes without saying is left out."""


class Swagger(Operations):
    """OpenAPI 2.0."""

    places: ClassVar = ("path", "query", "header", "body", "formData")

    def take(
        self, operation: Mapping[str, Any], parameters: list[Mapping[str, Any]], arguments: Arguments
    ) -> str | None:
        bodies = [p for p in parameters if p["in"] == "body"]
        fields = [p for p in parameters if p["in"] == "formData"]
        if len(bodies) > 1 or (bodies and fields):
            raise SpecError("parameters: a request has one body or the fields of one form, not more")
        for parameter in parameters:
            if parameter["in"] != "body":
                arguments.add({**parameter, "schema": _schema(parameter, arguments), **_style(parameter)})
        for body in bodies:
            self._body(body, arguments)
        return self._body_type(operation, bodies, fields)

    def _body(self, body: Mapping[str, Any], arguments: Arguments) -> None:
        schema = body.get("schema")
        if schema is None:
            arguments.note(body["name"], "the body has no schema; anything is accepted here", "absent", "guess")
        self.put_body(arguments, body["name"], {} if schema is None else schema, body.get("required") is True)

    def _body_type(
        self, operation: Mapping[str, Any], bodies: list[Mapping[str, Any]], fields: list[Mapping[str, Any]]
    ) -> str | None:
        listed = self._media(operation, "consumes")
        if bodies:
            return str(preferred(listed)) if listed else "application/json"
        if not fields:
            return None
        with_file = any(field.get("type") == "file" for field in fields)
        return _MULTIPART if with_file or (_MULTIPART in listed and _URL_ENCODED not in listed) else _URL_ENCODED

    def _media(self, operation: Mapping[str, Any], key: str) -> list[Any]:
        """The operation's own list, even where it is empty, else the document's."""
        listed = operation.get(key, self.document.get(key))
        return listed if isinstance(listed, list) else []

    def result(self, operation: Mapping[str, Any], response: Mapping[str, Any]) -> Any:
        schema, media = response.get("schema"), self._media(operation, "produces")
        if media and not any(map(is_json, media)):
            return None
        return None if isinstance(schema, Mapping) and schema.get("type") == "file" else schema

    def servers(self, entry: Mapping[str, Any], operation: Mapping[str, Any]) -> list[str]:
        host, base = (self.document.get(key) for key in ("host", "basePath"))
        base = base.rstrip("/") if isinstance(base, str) else ""
        if not isinstance(host, str) or not host:
            return [base] if base else []
        schemes = operation.get("schemes") or self.document.get("schemes")
        # Without any, it is that by which the document itself was fetched.
        listed = [s for s in schemes if isinstance(s, str)] if isinstance(schemes, list) else ["https"]
        return [f"{scheme}://{host}{base}" for scheme in listed]


def _schema(parameter: Mapping[str, Any], arguments: Arguments) -> dict[str, Any]:
    """The part of a parameter that says what it may be. A file is text of any bytes."""
    kept = {key: value for key, value in parameter.items() if key not in _OF_PARAMETER and _tells(key)}
    if kept.get("type") == "file":
        arguments.note(parameter["name"], "a file is given as text, of its bytes", "type_name", "guess")
        kept |= {"type": "string", "format": "binary"}
    return kept


def _tells(key: str) -> bool:
    return not key.startswith("x-") or key == "x-nullable"


def _style(parameter: Mapping[str, Any]) -> dict[str, Any]:
    """How the items of a list are written one after another; commas where nothing is said."""
    if parameter.get("type") != "array":
        return {}
    found = parameter.get("collectionFormat")
    return dict(_STYLES.get(found, _STYLES["csv"]) if isinstance(found, str) else _STYLES["csv"])
