"""Type names as people and programs write them, as JSON Schema's seven."""

import json
import re
from typing import Any

from agent_world.tools.specs.guard import check_json

JSON_TYPES = ("string", "integer", "number", "boolean", "array", "object", "null")
_OTHERS = {
    "str": "string", "text": "string", "char": "string", "varchar": "string", "uuid": "string", "uri": "string",
    "url": "string", "date": "string", "datetime": "string", "date-time": "string", "time": "string", "bytes": "string",
    "path": "string", "file": "string", "enum": "string", "int": "integer", "int32": "integer", "int64": "integer",
    "long": "integer", "float": "number", "double": "number", "decimal": "number", "num": "number", "bool": "boolean",
    "dict": "object", "map": "object", "mapping": "object", "record": "object", "struct": "object", "json": "object",
    "list": "array", "tuple": "array", "set": "array", "sequence": "array", "none": "null", "nonetype": "null",
    "nil": "null",
}  # fmt: skip
_ANY = {"any", "unknown", "mixed", "*", "typing.any", ""}


def read_type(name: str) -> tuple[str, ...] | None:
    """JSON types that a name stands for, empty where it stands for anything; None where it is not known.

    Reads `STRING`, `str`, `List[int]` (an array), `Optional[str]`, `str | None`, `string?`.
    """
    text = re.sub(r"^(typing|builtins)\.", "", name.strip().lower())
    if text in JSON_TYPES:
        return (text,)
    if text in _ANY:
        return ()
    if text in _OTHERS:
        return (_OTHERS[text],)
    if "|" in text:
        return _union(text.split("|"))
    if inner := re.fullmatch(r"(?:optional\[(.+)\]|(.+)\?)", text):
        return _union([inner[1] or inner[2], "null"])
    if re.fullmatch(r".+\[\]", text):
        return ("array",)
    outer = re.fullmatch(r"(\w+)[\[<(].*[\])>]", text)
    return read_type(outer[1]) if outer and outer[1] not in ("union", "literal") else None


def _union(parts: list[str]) -> tuple[str, ...] | None:
    found: list[str] = []
    for part in parts:
        types = read_type(part)
        if not types:
            return types
        found += [t for t in types if t not in found]
    return tuple(found)


def in_order(types: list[str]) -> list[str]:
    """Each once, null last."""
    once = list(dict.fromkeys(types))
    return [t for t in once if t != "null"] + [t for t in once if t == "null"]


def fits(value: Any, types: str | list[str]) -> bool:
    """Whether a JSON value is of one of the types; 3.0 is an integer, `true` is not."""
    return any(_is(value, name) for name in ([types] if isinstance(types, str) else types))


def _is(value: Any, name: str) -> bool:
    if isinstance(value, bool):
        return name == "boolean"
    if isinstance(value, (int, float)):
        return name == "number" or (name == "integer" and (isinstance(value, int) or value.is_integer()))
    kinds: dict[str, type | tuple[()]] = {"string": str, "array": list, "object": dict, "null": type(None)}
    return isinstance(value, kinds.get(name, ()))


def as_object(text: str) -> dict[str, Any] | None:
    """The JSON object that a text holds, if it holds one. Raises `SpecError` where the guard's bounds are passed."""
    if not text.lstrip().startswith("{"):
        return None
    try:
        found = json.loads(text)
    except (ValueError, RecursionError):
        return None
    if not isinstance(found, dict):
        return None
    check_json(found)
    return found
