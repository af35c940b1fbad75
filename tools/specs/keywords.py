"""What becomes of each keyword: one small function a keyword, `(cleaner, out, value, place)`.

A value of the wrong kind is mended where its meaning is plain, else left out; both are noted.
"""

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any

from agent_world.tools.specs import values
from agent_world.tools.specs.patterns import python_pattern
from agent_world.tools.specs.types import in_order, read_type
from agent_world.tools.specs.values import keyword_of, leave_out

if TYPE_CHECKING:
    from agent_world.tools.specs.clean import Cleaner, Place

Handler = Callable[["Cleaner", dict[str, Any], Any, "Place"], None]


# --- Schemas inside schemas --------------------------------------------------------------------------


def _one(cleaner: "Cleaner", out: dict[str, Any], value: Any, place: "Place") -> None:
    out[keyword_of(place)] = cleaner.schema(value, place)


def _many(cleaner: "Cleaner", out: dict[str, Any], value: Any, place: "Place") -> None:
    if isinstance(value, Mapping):
        cleaner.note(place, "keyword", "one schema where a list is due; read as a list of one")
        value = [value]
    if not isinstance(value, list) or not value:
        return leave_out(cleaner, place, "it must be a list of schemas")
    out[keyword_of(place)] = [cleaner.schema(item, place.at(i)) for i, item in enumerate(value)]
    return None


def _named(cleaner: "Cleaner", out: dict[str, Any], value: Any, place: "Place") -> None:
    if not isinstance(value, Mapping):
        return leave_out(cleaner, place, "it must be an object of schemas")
    out[keyword_of(place)] = {name: cleaner.schema(item, place.at(name)) for name, item in value.items()}
    return None


def _properties(cleaner: "Cleaner", out: dict[str, Any], value: Any, place: "Place") -> None:
    """Also lifts `required: true` from a property to the object, where draft 4 and later have it."""
    if isinstance(value, list) and all(isinstance(v, Mapping) and isinstance(v.get("name"), str) for v in value):
        cleaner.note(place, "keyword", "a list of named properties, read as an object")
        value = {item["name"]: {k: v for k, v in item.items() if k != "name"} for item in value}
    if not isinstance(value, Mapping):
        return leave_out(cleaner, place, "it must be an object of schemas")
    found = {}
    for name, item in value.items():
        inner = place.at(name)
        if isinstance(item, Mapping):
            item = _lifted(cleaner, out, name, item, inner)
        found[name] = cleaner.schema(item, inner)
    out["properties"] = found
    return None


def _lifted(
    cleaner: "Cleaner", out: dict[str, Any], name: str, item: Mapping[str, Any], place: "Place"
) -> Mapping[str, Any]:
    flag = item.get("required", not item["optional"] if isinstance(item.get("optional"), bool) else None)
    if isinstance(flag, str) and flag.lower() in ("true", "false"):
        flag = flag.lower() == "true"
    if not isinstance(flag, bool):
        return item
    if flag and name not in (known := out.setdefault("required", [])):
        known.append(name)
    word = "required" if flag else "optional"
    cleaner.note(place, "required", f"marked {word} on itself; the object says so", "narrower" if flag else "same")
    return {k: v for k, v in item.items() if not (k == "optional" or (k == "required" and not isinstance(v, list)))}


def _pattern_properties(cleaner: "Cleaner", out: dict[str, Any], value: Any, place: "Place") -> None:
    if not isinstance(value, Mapping):
        return leave_out(cleaner, place, "it must be an object of schemas")
    found = {}
    for pattern, item in value.items():
        readable = python_pattern(pattern, nested=False)
        if readable is None:
            cleaner.note(place.at(pattern), "pattern", "a pattern that cannot be run here; left out", "guess")
            continue
        if readable != pattern:
            cleaner.note(place.at(pattern), "pattern", f"written as Python reads it: {readable}")
        found[readable] = cleaner.schema(item, place.at(pattern))
    out["patternProperties"] = found
    return None


def _items(cleaner: "Cleaner", out: dict[str, Any], value: Any, place: "Place") -> None:
    """A list is `prefixItems` since 2020-12, and `additionalItems` is then `items`."""
    if not isinstance(value, list):
        return _one(cleaner, out, value, place)
    if "prefixItems" in place.node:
        return leave_out(cleaner, place, "a list beside prefixItems")
    if value:
        out["prefixItems"] = [cleaner.schema(item, place.at(i)) for i, item in enumerate(value)]
    rest = place.node.get("additionalItems")
    if rest is not None:
        out["items"] = cleaner.schema(rest, place.at("additionalItems"))
    cleaner.note(place, "dialect", "a list of items is written prefixItems")
    return None


def _additional_items(cleaner: "Cleaner", out: dict[str, Any], value: Any, place: "Place") -> None:
    if not isinstance(place.node.get("items"), list):
        cleaner.note(place, "dialect", "without a list of items it says nothing; left out")


def _dependencies(cleaner: "Cleaner", out: dict[str, Any], value: Any, place: "Place") -> None:
    if not isinstance(value, Mapping):
        return leave_out(cleaner, place, "it must be an object")
    cleaner.note(place, "dialect", "written dependentRequired and dependentSchemas")
    for name, item in value.items():
        if isinstance(item, (str, list)):
            names = [item] if isinstance(item, str) else [n for n in item if isinstance(n, str)]
            out.setdefault("dependentRequired", {})[name] = list(dict.fromkeys(names))
        else:
            out.setdefault("dependentSchemas", {})[name] = cleaner.schema(item, place.at(name))
    return None


def _dependent_required(cleaner: "Cleaner", out: dict[str, Any], value: Any, place: "Place") -> None:
    if not isinstance(value, Mapping):
        return leave_out(cleaner, place, "it must be an object of lists of names")
    found = out.setdefault("dependentRequired", {})
    for name, item in value.items():
        names = list(dict.fromkeys(n for n in item if isinstance(n, str))) if isinstance(item, list) else None
        if names != item:
            cleaner.note(place.at(name), "keyword", "it must be a list of different names", "guess")
        found[name] = names or []
    return None


def _reference(cleaner: "Cleaner", out: dict[str, Any], value: Any, place: "Place") -> None:
    if not isinstance(value, str):
        return leave_out(cleaner, place, "a reference must be text")
    out.update(cleaner.refer(value, place))
    return None


def _recursive(cleaner: "Cleaner", out: dict[str, Any], value: Any, place: "Place") -> None:
    """`$dynamicRef`, `$recursiveRef`: no tool extends another's schema, so they are plain references."""
    if not isinstance(value, str) or "$ref" in place.node:
        return leave_out(cleaner, place, "a reference must be text, and one alone")
    cleaner.note(place, "reference", "a dynamic reference, read as $ref")
    out.update(cleaner.refer(value, place))
    return None


def _gone(cleaner: "Cleaner", out: dict[str, Any], value: Any, place: "Place") -> None:
    what = "definitions" if keyword_of(place) in ("$defs", "definitions", "components") else "dialect"
    why = "kept where something refers to it" if what == "definitions" else "the normal form is JSON Schema 2020-12"
    cleaner.note(place, "definitions" if what == "definitions" else "dialect", why)


def _identifier(cleaner: "Cleaner", out: dict[str, Any], value: Any, place: "Place") -> None:
    cleaner.note(place, "identifier", "what refers to it is resolved; left out")


# --- Types and choices -------------------------------------------------------------------------------


def _type(cleaner: "Cleaner", out: dict[str, Any], value: Any, place: "Place") -> None:
    listed = value if isinstance(value, list) else [value]
    found: list[str] = []
    for name in listed:
        types = read_type(name) if isinstance(name, str) else ("null",) if name is None and len(listed) > 1 else None
        if types is None:
            return leave_out(cleaner, place, f"{str(name)[:40]!r} is no type")
        if not types:
            cleaner.note(place, "type_name", f"{name!r} stands for any type")
            return None
        found += types
    if not found:
        return leave_out(cleaner, place, "an empty list of types")
    types_now: Any = in_order(found)
    types_now = types_now[0] if len(types_now) == 1 else types_now
    if types_now != value:
        plain = isinstance(value, list) and set(value) == set(found)
        cleaner.note(place, "null_form" if plain else "type_name", f"written {types_now}, for {str(value)[:60]}")
    out["type"] = types_now
    return None


def _enum(cleaner: "Cleaner", out: dict[str, Any], value: Any, place: "Place") -> None:
    if isinstance(value, Mapping) and value:
        cleaner.note(place, "keyword", "an object of choices; its keys are the choices", "guess")
        value = list(value)
    if not isinstance(value, list) or not value:
        return leave_out(cleaner, place, "it must be a list with a choice in it")
    out["enum"] = value
    return None


def _required(cleaner: "Cleaner", out: dict[str, Any], value: Any, place: "Place") -> None:
    known = out.get("required", [])
    names = [value] if isinstance(value, str) and value in (place.node.get("properties") or ()) else value
    if not isinstance(names, list):
        return leave_out(cleaner, place, "it must be a list of names")
    kept = list(dict.fromkeys(name for name in names if isinstance(name, str)))
    if kept != value:
        cleaner.note(
            place, "required", "written as a list of different names", "guess" if len(kept) != len(names) else "same"
        )
    out["required"] = [*kept, *(name for name in known if name not in kept)]
    return None


NULLABLE = ("nullable", "x-nullable")
"""OpenAPI 3.0's, and what many write in 2.0, which has none."""
HANDLERS: dict[str, Handler] = {
    **dict.fromkeys(("additionalProperties", "contains", "contentSchema", "else", "if", "not", "propertyNames", "then",
                     "unevaluatedItems", "unevaluatedProperties"), _one),
    **dict.fromkeys(("allOf", "anyOf", "oneOf", "prefixItems"), _many),
    "dependentSchemas": _named, "properties": _properties, "patternProperties": _pattern_properties,
    "items": _items, "additionalItems": _additional_items,
    "dependencies": _dependencies, "dependentRequired": _dependent_required,
    "$ref": _reference, "$dynamicRef": _recursive, "$recursiveRef": _recursive,
    **dict.fromkeys(("$defs", "definitions", "components", "$schema", "$vocabulary"), _gone),
    **dict.fromkeys(("$id", "$anchor", "$dynamicAnchor", "$recursiveAnchor", "id"), _identifier),
    "type": _type, "enum": _enum, "const": values.as_is, "default": values.as_is, "required": _required,
    **dict.fromkeys(("minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum"), values.bound),
    **dict.fromkeys(("minLength", "maxLength", "minItems", "maxItems", "minProperties", "maxProperties",
                     "minContains", "maxContains"), values.count),
    "multipleOf": values.multiple, "pattern": values.pattern,
    **dict.fromkeys(("title", "description", "format", "$comment", "contentEncoding", "contentMediaType"), values.text),
    **dict.fromkeys(("uniqueItems", "deprecated", "readOnly", "writeOnly"), values.flag),
    "examples": values.examples, "example": values.example,
    **dict.fromkeys((*NULLABLE, "optional"), values.read_elsewhere), "discriminator": values.discriminator,
}  # fmt: skip
