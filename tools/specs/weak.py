"""Schemas from bare lists of parameters, as registries' pages show them: names are known, types are not.

Such a page gives the type `string` to everything (14,893 of 14,893 parameters of a public crawl), so that word tells
nothing. A type is guessed where the name or the documentation says it plainly; every guess is a change of low
confidence.
"""

import re
from typing import Any

from agent_world.errors import SpecError
from agent_world.tools.specs.model import Change
from agent_world.tools.specs.types import read_type
from agent_world.tools.tables import snake_case

_INTEGERS = {
    "limit", "page", "page_size", "per_page", "page_number", "offset", "count", "max_results", "num_results", "top_k",
    "max_count", "max_items", "start_index", "max_tokens",
}  # fmt: skip
_BOOLEANS = {"dry_run", "verbose", "recursive", "overwrite", "ascending", "descending", "case_sensitive"}
_WORDS = "int|integer|number|float|bool|boolean|array|list|object|dict|string|str"


def weak_schema(parameters: list[Any], documentation: str, path: str) -> tuple[dict[str, Any], list[Change]]:
    """Raises `SpecError` where a parameter has no name."""
    changes = [Change(path=path, what="weak", why="a bare list of parameters, low confidence", effect="guess")]
    if not parameters:
        why = "an empty list may mean that none were found; other arguments are not refused"
        changes.append(Change(path=path, what="weak", why=why, effect="guess"))
        return {"type": "object", "properties": {}, "additionalProperties": True}, changes
    properties: dict[str, Any] = {}
    required: list[str] = []
    for number, parameter in enumerate(parameters):
        name = parameter.get("name") if isinstance(parameter, dict) else None
        if not isinstance(name, str) or not name.strip():
            raise SpecError(f"{path}/{number}: a parameter has no name")
        if name in properties:
            changes.append(Change(path=f"{path}/{number}", what="duplicate", why=f"{name!r} is listed twice"))
            continue
        properties[name] = _property(parameter, documentation, f"{path}/{number}", changes)
        if parameter.get("required") in (True, "true", "True"):
            required.append(name)
    schema: dict[str, Any] = {"type": "object", "properties": properties}
    return schema | ({"required": required} if required else {}), changes


def _property(parameter: dict[str, Any], documentation: str, path: str, changes: list[Change]) -> dict[str, Any]:
    about = parameter.get("description")
    out: dict[str, Any] = {"description": about} if isinstance(about, str) and about.strip() else {}
    listed = parameter.get("type")
    types = read_type(listed) if isinstance(listed, str) else None
    if types and types != ("string",):
        guess, source = types[0], "the page says so"
    else:
        guess, source = _guess(parameter["name"], f"{about or ''}\n{documentation}")
    if guess:
        changes.append(Change(path=f"{path}/type", what="type_guess", why=f"{guess}: {source}", effect="guess"))
        return {"type": guess, **out}
    changes.append(Change(path=f"{path}/type", what="weak", why=f"{listed!r} tells nothing; left open", effect="wider"))
    return out


def _guess(name: str, documentation: str) -> tuple[str, str]:
    """A JSON type and where it is from, or two empty texts."""
    said = re.search(rf"(?<!\w){re.escape(name)}\W{{0,3}}\((?:optional,? )?({_WORDS})\b", documentation, re.IGNORECASE)
    if said and (types := read_type(said[1])):
        return types[0], "the documentation says so"
    words = snake_case(name)
    if words in _INTEGERS:
        return "integer", "by its name"
    if words in _BOOLEANS or re.match(r"(is|has|should|enable)_\w", words):
        return "boolean", "by its name"
    return "", ""
