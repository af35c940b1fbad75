"""Where the arguments of an HTTP operation go in its request: path, query, header, cookie or body."""

import re
from collections.abc import Collection, Mapping
from typing import Any

from agent_world.tools.specs.model import Change, Effect, What

_RESERVED = {"accept", "content-type", "authorization"}
"""Headers that OpenAPI says are described elsewhere."""
_PLAIN = frozenset(
    {"additionalProperties", "description", "example", "examples", "externalDocs", "properties", "required", "title",
     "type", "xml"}
)  # fmt: skip
"""What the schema of a body may hold whose properties become arguments."""


class Arguments:
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
            self.note(name, f"the header {name} is set by the caller, not by an argument; left out")
            return
        media, content = media_of(parameter.get("content"))
        schema = content.get("schema", {}) if media else parameter.get("schema", {})
        about = {k: parameter[k] for k in ("description", "deprecated", "example") if parameter.get(k) is not None}
        target = in_body(name) if place == "formData" else {"in": place, "name": name}
        target |= {k: parameter[k] for k in ("style", "explode") if k in parameter}
        target |= {"content_type": media} if media else {}
        required = parameter.get("required") is True or place == "path"
        if parameter.get("allowEmptyValue") is True:
            self.note(name, "it may be sent without a value too, which no argument does", effect="narrower")
        self.put(name, described(schema, about), target, required)

    def add_body(self, schema: Mapping[str, Any], body_required: bool) -> None:
        needed = schema.get("required")
        properties = schema.get("properties") or {}
        for name, item in properties.items():
            if isinstance(item, Mapping) and item.get("readOnly") is True:
                self.note(name, "read-only properties are not sent; left out")
                continue
            required = body_required and isinstance(needed, list) and name in needed
            self.put(name, item, in_body(name), required)
        if not body_required and needed:
            self.note("required", "the body may be left out, so its properties may be")
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

    def note(self, name: str, why: str, what: What = "transport", effect: Effect = "same") -> None:
        self.changes.append(Change(path=f"arguments/{name}", what=what, why=why, effect=effect))


def in_body(name: str) -> dict[str, Any]:
    """The place of a body's property, or of a form's field."""
    return {"in": "body", "pointer": "/" + name.replace("~", "~0").replace("/", "~1")}


def described(schema: Any, about: dict[str, Any]) -> Any:
    if not about or not isinstance(schema, Mapping):
        return schema if schema is not None else {}
    return {**schema, **about}


def media_of(content: Any) -> tuple[str | None, Mapping[str, Any]]:
    """The media type to use, JSON first, and its description."""
    if not isinstance(content, Mapping) or not content:
        return None, {}
    chosen = preferred(content)
    found = content[chosen]
    return str(chosen), found if isinstance(found, Mapping) else {}


def preferred(media: Collection[Any]) -> Any:
    """JSON before forms before all others, the first of each."""
    return min(media, key=lambda name: (not is_json(name), "form" not in str(name)))


def is_json(media: Any) -> bool:
    return re.search(r"[/+]json\b", str(media)) is not None


def is_plain_object(schema: Mapping[str, Any]) -> bool:
    plain = all(key in _PLAIN or str(key).startswith("x-") for key in schema)
    return plain and isinstance(schema.get("properties"), Mapping) and schema.get("type", "object") == "object"
