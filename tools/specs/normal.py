"""A foreign schema as the schema of a tool's arguments: an object schema of JSON Schema 2020-12."""

from collections.abc import Mapping
from typing import Any

from agent_world.errors import SpecError
from agent_world.tools.specs.clean import Cleaner
from agent_world.tools.specs.inline import inlined
from agent_world.tools.specs.keywords import HANDLERS
from agent_world.tools.specs.model import Change
from agent_world.tools.specs.refs import References
from agent_world.tools.specs.shape import Shaper
from agent_world.tools.specs.types import as_object
from agent_world.tools.specs.walk import IN_PLACE, Schema, known_names


def dialect_of(schema: Any) -> str:
    found = schema.get("$schema") if isinstance(schema, Mapping) else None
    return found if isinstance(found, str) else ""


def normal_schema(
    given: Any, path: str, references: References | None = None, dialect: str = ""
) -> tuple[Schema, dict[str, Schema], list[Change]]:
    """Any schema in the normal form, the definitions it still refers to, and all changes.

    Raises `SpecError` naming the path of a reference whose target is missing.
    """
    dialect = dialect or dialect_of(given)
    cleaner = Cleaner(references or References(given, draft4="draft-04" in dialect), dialect)
    root, defs = cleaner.clean_all(given, path)
    root, kept, said = inlined(root, defs)
    shaper = Shaper()
    for what in said:
        shaper.note(path, "reference", what, "wider" if "cut" in what else "same")
    if defs:
        shaper.note(
            path, "definitions", f"{len(defs)} definitions referred to, {len(defs) - len(kept)} written in place"
        )
    kept = {name: shaper.shape(schema, f"$defs/{name}") for name, schema in kept.items()}
    return shaper.shape(root, path), kept, cleaner.changes + shaper.changes


def argument_schema(
    given: Any, path: str, references: References | None = None, dialect: str = ""
) -> tuple[dict[str, Any], list[Change]]:
    """The schema of a call's arguments. Raises `SpecError` where it does not describe an object."""
    first: list[Change] = []
    if isinstance(given, str) and (found := as_object(given)) is not None:
        first.append(Change(path=path, what="json_text", why="the schema was given as text holding JSON"))
        given = found
    if isinstance(given, Mapping) and _is_bare_map(given):
        why = "a bare map of arguments, read as the properties of an object"
        first.append(Change(path=path, what="keyword", why=why, effect="guess"))
        given = {"type": "object", "properties": given}
    elif not isinstance(given, (Mapping, bool)):
        raise SpecError(f"{path}: the arguments' schema must be an object, not {_kind(given)}")
    schema, defs, changes = normal_schema(given, path, references, dialect)
    shaper = Shaper()
    whole = _as_object(schema, path, shaper)
    if defs:
        whole["$defs"] = defs
    if not IN_PLACE.isdisjoint(whole):
        shaper.name_required(whole, path, known_names(whole, defs))
    return whole, first + changes + shaper.changes


def _is_bare_map(given: Mapping[str, Any]) -> bool:
    """`{"city": {"type": "string"}}`: no keyword of a schema, and every value looks like one."""
    keys_differ = bool(given) and not any(key in HANDLERS for key in given)
    return keys_differ and all(isinstance(item, Mapping) and "type" in item for item in given.values())


def _kind(given: Any) -> str:
    return "null" if given is None else f"a {type(given).__name__}"


def _as_object(schema: Schema, path: str, shaper: Shaper) -> dict[str, Any]:
    if isinstance(schema, bool):
        if not schema:
            raise SpecError(f"{path}: the schema `false` accepts no arguments at all")
        shaper.note(path, "object_type", "the schema `true` is written as an object with any properties")
        return {"type": "object", "properties": {}, "additionalProperties": True}
    whole = {"type": "object", "properties": {}} | schema
    types = schema.get("type")
    if types != "object":
        listed = [types] if isinstance(types, str) else types or ["null"]
        if "object" not in listed and listed != ["null"]:
            raise SpecError(f"{path}/type: arguments are an object, the schema says {types}")
        shaper.note(f"{path}/type", "object_type", "arguments are always an object")
        whole["type"] = "object"
    if "properties" not in schema:
        shaper.note(f"{path}/properties", "no_arguments", "no properties are listed; written as none")
        shaper.name_required(whole, path, known_names(whole, {}))
    return whole
