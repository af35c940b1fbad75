"""Takes over names and parameters of the theme's real service, where the data can answer its tools.

A real tool is matched by what it does (its verb), on what (its noun, or the column its parameter is called by), and by
its parameters: each required one must stand for an argument of the candidate.
"""

import builtins
import keyword
import re
from collections.abc import Sequence
from dataclasses import replace

from agent_world.agents.coder.design import Design
from agent_world.agents.coder.words import TAKEN, VAGUE, one
from agent_world.schema import Theme, ToolSpec
from agent_world.tools.tables import singular, snake_case

VERBS: dict[str, tuple[str, ...]] = {
    "get": ("get",), "lookup": ("get",), "fetch": ("get",), "show": ("get",), "describe": ("get",), "read": ("get",),
    "detail": ("get",), "info": ("get",), "find": ("search", "list", "related", "get"),
    "search": ("search", "list", "related"), "query": ("search",),
    "list": ("list", "related"), "all": ("list",), "browse": ("list",), "filter": ("list",), "by": ("list", "related"),
    "in": ("list", "related"), "count": ("count",), "number": ("count",), "average": ("aggregate",),
    "mean": ("aggregate",), "total": ("aggregate",), "top": ("top",), "highest": ("top",), "largest": ("top",),
    "most": ("top",), "best": ("top",), "add": ("create",), "create": ("create",), "register": ("create",),
    "new": ("create",), "update": ("update",), "set": ("update",), "change": ("update",), "edit": ("update",),
    "delete": ("delete",), "remove": ("delete",), "move": ("reassign",),
    "transfer": ("reassign",), "trade": ("update",), "rate": ("update",), "assign": ("update",),
    "reassign": ("update",),
}  # fmt: skip
QUERIES = {"text", "query", "q", "search", "term", "keyword", "name", "title", "search_term"}


def mirror(found: Sequence[Design], theme: Theme) -> list[Design]:
    """The candidates, those that match a real tool under its name and parameters. Each real tool is used once."""
    designs = list(found)
    taken: set[int] = set()
    for spec in theme.tools:
        scored = [(_score(spec, d), -place) for place, d in enumerate(designs) if place not in taken]
        score, place = max(scored, default=(0.0, 0))
        if score > 0:
            designs[-place] = _as_in(spec, designs[-place])
            taken.add(-place)
    return designs


def _tokens(name: str) -> list[str]:
    return [singular(token) for token in snake_case(name).split("_")]


def _score(spec: ToolSpec, design: Design) -> float:
    """0: no match. Higher: more of the name and of the parameters agrees."""
    tokens = _tokens(spec.name)
    kinds = [kind for token in tokens for kind in VERBS.get(token, ())]
    if design.kind not in kinds or design.kind == "joined":
        return 0
    names = _matched(spec, design)
    if names is None:
        return 0
    noun = set(one(design.table).split("_"))
    about = noun <= set(tokens)
    if not about and not _by_key(spec, design, names):
        return 0
    special = {*(design.column or "").split("_"), *(design.by or "").split("_")} - {""}
    surplus = len(set(tokens) - noun - set(VERBS))
    return 4 * about + 2 * len(special & set(tokens)) + len(names) - 0.5 * surplus - kinds.index(design.kind)


def _by_key(spec: ToolSpec, design: Design, names: dict[str, str]) -> bool:
    """Whether the parameters alone say which table is meant: they name its key, and nothing is left over."""
    named = names.get(design.arguments.get("key", ""), "")
    telling = named == design.key and named not in VAGUE
    return design.kind in ("get", "update", "delete") and telling and set(names.values()) == set(_required(spec))


def _required(spec: ToolSpec) -> list[str]:
    return list(spec.input_schema.get("required", ()))


def _matched(spec: ToolSpec, design: Design) -> dict[str, str] | None:
    """Our argument -> its parameter; None when a parameter of one side has no counterpart that it needs."""
    parameters = list(spec.input_schema.get("properties", {}))
    found: dict[str, str] = {}
    for part, argument in design.arguments.items():
        match = next((p for p in parameters if p not in found.values() and _same(part, argument, p, design)), None)
        if match:
            found[argument] = match
    ours = [name for part, name in design.arguments.items() if part != "by" or design.kind not in ("aggregate", "top")]
    if any(name not in found for name in ours if design.kind != "create"):
        return None
    if any(p not in found.values() and p not in ("limit", "offset") for p in _required(spec)):
        return None
    kept = [a for a in design.arguments.values() if a not in found]
    return None if set(kept) & set(found.values()) else found


def _same(part: str, argument: str, parameter: str, design: Design) -> bool:
    name = snake_case(parameter)
    if part == "query":
        return name in QUERIES or name == design.column
    if name == argument or name.replace("_", "") == argument.replace("_", ""):
        return True
    if part == "key":
        noun = one(design.table)
        known = (design.key, "id", "code", "key", f"{noun}_id", f"{noun}_code")
        return name in known and bool(_tail(design.key) & {_last(name), "id"})
    return name in (f"{argument}_id", f"{argument}_code", f"new_{argument}")


def _last(name: str) -> str:
    return name.rpartition("_")[2]


def _tail(column: str) -> set[str]:
    last = _last(column)
    return {last} | ({"code"} if last in ("iata", "icao", "faa", "iso", "abbreviation", "symbol") else set())


def _as_in(spec: ToolSpec, design: Design) -> Design:
    names = _matched(spec, design) or {}
    arguments = {p: names[a] if usable(names.get(a, "")) else a for p, a in design.arguments.items()}
    name = spec.name if usable(spec.name) and not hasattr(builtins, spec.name) else snake_case(spec.name)
    given = set(spec.input_schema.get("properties", {}))
    left_out = tuple(sorted(given - set(arguments.values()) - {"limit", "offset"}))
    return replace(design, name=name, arguments=arguments, mirrors=spec.name, left_out=left_out)


def usable(name: str) -> bool:
    """Whether a function or an argument of generated code can have this name. It may hide a built-in that the code
    does not use."""
    plain = re.fullmatch(r"[a-zA-Z][a-zA-Z0-9_]{0,60}", name) is not None
    return plain and not keyword.iskeyword(name) and name not in TAKEN - {"query"}
