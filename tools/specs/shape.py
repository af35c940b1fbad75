"""Last pass, from the inside out: one form for what may be null, simple `allOf`s merged, objects made whole."""

from typing import Any

from agent_world.tools.specs.inline import joined
from agent_world.tools.specs.model import Change, Effect, What
from agent_world.tools.specs.walk import IN_PLACE, Schema, is_annotation, rebuilt

_OPEN = frozenset(
    {"additionalProperties", "patternProperties", "unevaluatedProperties", "unevaluatedItems", "items", "prefixItems",
     "contains", "minContains", "maxContains", "$ref", "if", "then", "else"}
)  # fmt: skip
"""Keywords whose meaning depends on what stands beside them: not merged."""


class Shaper:
    """Shapes one tool's schema; `changes` says what it did."""

    def __init__(self) -> None:
        self.changes: list[Change] = []

    def note(self, path: str, what: What, why: str, effect: Effect = "same") -> None:
        self.changes.append(Change(path=path, what=what, why=why, effect=effect))

    def shape(self, schema: Schema, path: str, fragment: bool = False) -> Schema:
        """`fragment`: part of a combination, which need not be whole by itself."""
        inner = rebuilt(schema, lambda child, step, in_place: self.shape(child, f"{path}/{step}", in_place))
        if isinstance(inner, bool):
            return inner
        inner = self._merge_all(inner, path)
        for keyword in ("anyOf", "oneOf"):
            if isinstance(inner, dict) and keyword in inner:
                inner = self._choose(inner, keyword, path)
        if isinstance(inner, dict) and not fragment:
            self._complete(inner, path)
        return inner

    # --- allOf -------------------------------------------------------------------------------------------

    def _merge_all(self, schema: dict[str, Any], path: str) -> dict[str, Any]:
        members = schema.get("allOf")
        if not members:
            return schema
        whole: dict[str, Any] | None = {k: v for k, v in schema.items() if k != "allOf"}
        for member in members:
            whole = _merged(whole, member) if whole is not None and isinstance(member, dict) else None
        if whole is None:
            return schema
        self.note(f"{path}/allOf", "combined", "its parts are merged into one schema")
        return whole

    # --- anyOf, oneOf ------------------------------------------------------------------------------------

    def _choose(self, schema: dict[str, Any], keyword: str, path: str) -> Schema:
        members = self._flat(schema[keyword], keyword)
        beside = {k: v for k, v in schema.items() if k != keyword}
        if any(not is_annotation(k) for k in beside):
            return schema
        values = [m for m in members if not _is_null(m)]
        if len(members) == 1:
            self.note(f"{path}/{keyword}", "combined", "one alternative is no choice")
            return joined(members[0], beside)
        if len(values) == 1 and len(members) == 2:
            both = _or_null(values[0], exclusive=keyword == "oneOf")
            if both is not None:
                self.note(f"{path}/{keyword}", "null_form", "null is written as a type")
                return joined(both, beside)
        if members != schema[keyword]:
            self.note(f"{path}/{keyword}", "combined", "alternatives of alternatives, side by side")
        return {**schema, keyword: members}

    def _flat(self, members: list[Schema], keyword: str) -> list[Schema]:
        """Alternatives of alternatives, side by side; those of a oneOf exclude each other and stay."""
        if keyword == "oneOf":
            return members
        found: list[Schema] = []
        for member in members:
            nested = member.get("anyOf") if isinstance(member, dict) else None
            only = nested and isinstance(member, dict) and all(k == "anyOf" or is_annotation(k) for k in member)
            found += nested if only and nested else [member]
        found = [part for member in found for part in _apart(member)]
        nulls = [m for m in found if _is_null(m)]
        return [m for m in found if not _is_null(m)] + nulls[:1]

    # --- objects -----------------------------------------------------------------------------------------

    def _complete(self, schema: dict[str, Any], path: str) -> None:
        if not IN_PLACE.isdisjoint(schema):
            return
        if "properties" in schema and "type" not in schema:
            schema["type"] = "object"
            self.note(f"{path}/type", "object_type", "it has properties, so it is an object", "narrower")
        if "properties" in schema:
            self.name_required(schema, path, set(schema["properties"]))

    def name_required(self, schema: dict[str, Any], path: str, known: set[str]) -> None:
        """Every required name gets a property, so that it can be seen and given."""
        for name in [n for n in schema.get("required", ()) if n not in known]:
            rest = schema.get("additionalProperties", True)
            closed = rest is not True or "unevaluatedProperties" in schema
            schema["properties"][name] = {} if isinstance(rest, bool) else rest
            why = f"{name!r} is required and not described; added without a type"
            self.note(f"{path}/required", "required", why, "wider" if closed else "same")


def _is_null(schema: Schema) -> bool:
    return (
        isinstance(schema, dict)
        and schema.get("type") == "null"
        and all(k == "type" or is_annotation(k) for k in schema)
    )


def _apart(schema: Schema) -> list[Schema]:
    """A type list with null as two alternatives."""
    types = schema.get("type") if isinstance(schema, dict) else None
    if not isinstance(schema, dict) or not isinstance(types, list) or "null" not in types:
        return [schema]
    if not IN_PLACE.isdisjoint(schema) or "enum" in schema or "const" in schema:
        return [schema]
    rest = [name for name in types if name != "null"]
    return [{**schema, "type": rest[0] if len(rest) == 1 else rest}, {"type": "null"}] if rest else [schema]


def _takes_null(schema: Schema) -> bool:
    if isinstance(schema, bool):
        return schema
    types = schema.get("type", "null")
    return "null" in ([types] if isinstance(types, str) else types)


def _or_null(schema: Schema, *, exclusive: bool) -> Schema | None:
    """The schema that takes null as well; None where only a combination says so."""
    if isinstance(schema, bool) or not IN_PLACE.isdisjoint(schema):
        return None
    if exclusive and _takes_null(schema):
        return None
    out = dict(schema)
    if "type" in out:
        types = [out["type"]] if isinstance(out["type"], str) else out["type"]
        out["type"] = types if "null" in types else [*types, "null"]
    if "enum" in out and None not in out["enum"]:
        out["enum"] = [*out["enum"], None]
    if out.get("const") is not None:
        out["enum"] = [out.pop("const"), None]
    return out


def _merged(one: dict[str, Any], two: dict[str, Any]) -> dict[str, Any] | None:
    """Both in one, where that means the same; None where it does not."""
    if not _OPEN.isdisjoint(one) or not _OPEN.isdisjoint(two):
        return None if one and any(not is_annotation(k) for k in one) else {**two, **one}
    out = dict(one)
    for keyword, value in two.items():
        if keyword not in out or out[keyword] == value:
            out[keyword] = value
        elif keyword == "properties":
            out["properties"] = _both(out["properties"], value)
        elif keyword == "required":
            out["required"] = list(dict.fromkeys([*out["required"], *value]))
        elif not is_annotation(keyword):
            return None
    return out


def _both(one: dict[str, Any], two: dict[str, Any]) -> dict[str, Any]:
    """A property that both describe must fit both."""
    out = dict(one)
    for name, schema in two.items():
        if name in out and out[name] != schema:
            merged = _merged(out[name], schema) if isinstance(out[name], dict) and isinstance(schema, dict) else None
            schema = {"allOf": [out[name], schema]} if merged is None else merged
        out[name] = schema
    return out
