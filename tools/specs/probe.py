"""What test calls teach about a tool that its schema does not say: arguments that depend on each other, types.

Each call starts from the state that the instance was in, and leaves it so. A call is taken as understood when it gives
a result, or an error that other arguments of the same tool do not cure: `not_found` for a made-up id is no complaint
about which arguments were given.
"""

from collections.abc import Mapping, Sequence
from contextlib import suppress
from itertools import combinations
from typing import Any, Literal, Protocol

from agent_world.errors import SandboxError
from agent_world.schema import Record, ToolSpec
from agent_world.tools.runtime import Observation
from agent_world.tools.specs.model import CHANGES, CONDITIONS, Change
from agent_world.tools.specs.walk import is_annotation

MOST_OPTIONAL = 6
"""Optional arguments that are tried: 1 + 6 + 15 calls."""
_LEARNED = "test calls accept no other type"
_SAMPLES: dict[str, Any] = {
    "string": "sample", "integer": 1, "number": 1.5, "boolean": True, "array": [], "object": {}, "null": None,
}  # fmt: skip
_TRIED = ("string", "integer", "boolean", "array", "object")
_MISUSE = ("invalid_arguments", "exception", "crashed", "tool_error")
"""What no value of the right type would get; `tool_error` is all that MCP has, and may mean it."""


class Callable(Protocol):
    """The part of an `Instance` that probing needs."""

    async def call(self, tool: str, arguments: Mapping[str, Any]) -> Observation: ...

    async def snapshot(self) -> bytes: ...

    async def restore(self, snapshot: bytes) -> None: ...


class Condition(Record):
    """One learned rule about arguments that the schema calls optional."""

    kind: Literal["at_least_one", "exactly_one", "at_most_one", "needs", "required"]
    arguments: tuple[str, ...]
    """For `needs`, the first needs the second."""

    def __str__(self) -> str:
        names = " and ".join(map(repr, self.arguments))
        match self.kind:
            case "needs":
                return f"{self.arguments[0]!r} needs {self.arguments[1]!r}."
            case "required":
                return f"{names} must be given."
            case _:
                return f"Give {self.kind.replace('_', ' ')} of {names}."


async def learn(instance: Callable, spec: ToolSpec) -> ToolSpec:
    """The tool with all that test calls with made-up values teach."""
    return await learn_conditions(instance, await learn_types(instance, spec))


async def learn_conditions(instance: Callable, spec: ToolSpec, samples: Mapping[str, Any] | None = None) -> ToolSpec:
    """The tool with its learned conditions in meta and at the end of its description; the schema stays as it is.

    Tries no optional argument, each alone, and each two. `samples`: known good values by argument; others are made up
    from the schema.
    """
    properties = spec.input_schema.get("properties", {})
    required = list(spec.input_schema.get("required", ()))
    optional = [name for name in properties if name not in required][:MOST_OPTIONAL]
    values = {name: sample(schema) for name, schema in properties.items()} | dict(samples or {})
    trial = _Trial(instance, spec.name, {name: values[name] for name in required if name in values}, values)
    found = await _conditions(trial, optional) if len(optional) > 1 else []
    return told(spec, found) if found else spec


def told(spec: ToolSpec, conditions: Sequence[Condition]) -> ToolSpec:
    words = " ".join(map(str, conditions))
    meta = spec.meta | {CONDITIONS: [condition.model_dump(mode="json") for condition in conditions]}
    return spec.model_copy(update={"meta": meta, "description": f"{spec.description} {words}".strip()})


async def learn_types(instance: Callable, spec: ToolSpec, samples: Mapping[str, Any] | None = None) -> ToolSpec:
    """The tool with a type for each untyped argument, where test calls accept values of just one type.

    The confidence stays low, and each learned type is a change in meta.
    """
    properties = dict(spec.input_schema.get("properties", {}))
    given = dict(samples or {})
    changes = []
    for name in [n for n, schema in properties.items() if isinstance(schema, dict) and all(map(is_annotation, schema))]:
        kinds = await _accepted(instance, spec, name, given)
        if len(kinds) == 1:
            properties[name] = {"type": kinds[0], **properties[name]}
            why = f"{kinds[0]}: {_LEARNED}"
            changes.append(Change(path=f"{name}/type", what="type_guess", why=why, effect="guess"))
    if not changes:
        return spec
    meta = spec.meta | {CHANGES: [*spec.meta.get(CHANGES, []), *(change.model_dump() for change in changes)]}
    schema = spec.input_schema | {"properties": properties}
    return spec.model_copy(update={"input_schema": schema, "meta": meta})


def sample(schema: Any) -> Any:
    """A value for an argument: its default, an example or a choice, else a plain one of its type."""
    if not isinstance(schema, dict):
        return "sample"
    for found in (
        [schema["default"]] if "default" in schema else [],
        schema.get("examples", []),
        schema.get("enum", []),
    ):
        if found and found[0] is not None:
            return found[0]
    if "const" in schema:
        return schema["const"]
    types = schema.get("type", "string")
    kind = types if isinstance(types, str) else types[0]
    least = schema.get("minimum")
    return least if kind in ("integer", "number") and least is not None else _SAMPLES[kind]


class _Trial:
    """Calls of one tool with chosen optional arguments, each remembered by its outcome."""

    def __init__(self, instance: Callable, tool: str, base: Mapping[str, Any], values: Mapping[str, Any]) -> None:
        self._instance = instance
        self._tool = tool
        self._base = base
        self._values = values
        self._known: dict[frozenset[str], str] = {}

    async def outcome(self, *names: str) -> str:
        """`ok`, or what is wrong, as code and message."""
        key = frozenset(names)
        if key not in self._known:
            arguments = {**self._base, **{name: self._values[name] for name in names}}
            self._known[key] = _outcome(await call_cleanly(self._instance, self._tool, arguments))
        return self._known[key]


async def call_cleanly(instance: Callable, tool: str, arguments: Mapping[str, Any]) -> Observation:
    """A call whose effects on the files are undone; without any, the process goes on as it is."""
    before = await instance.snapshot()
    changed = True
    try:
        seen = await instance.call(tool, arguments)
        with suppress(SandboxError):  # it left what no snapshot can hold
            changed = await instance.snapshot() != before
        return seen
    finally:
        if changed:
            await instance.restore(before)


def as_listed(spec: ToolSpec) -> dict[str, Any]:
    """The input schema without the types that were learned."""
    learned = {change["path"].removesuffix("/type") for change in spec.meta.get(CHANGES, ()) if _is_learned(change)}
    properties = {
        name: {key: value for key, value in schema.items() if key != "type"} if name in learned else schema
        for name, schema in spec.input_schema.get("properties", {}).items()
    }
    return {**spec.input_schema, "properties": properties} if learned else spec.input_schema


def _is_learned(change: Mapping[str, Any]) -> bool:
    return bool(change["what"] == "type_guess" and change["why"].endswith(_LEARNED))


def _outcome(seen: Observation) -> str:
    return "ok" if seen.ok else seen.text


async def _conditions(trial: _Trial, optional: Sequence[str]) -> list[Condition]:
    nothing = await trial.outcome()
    alone = {name: await trial.outcome(name) for name in optional}
    pairs = {pair: await trial.outcome(*pair) for pair in combinations(optional, 2)}
    if nothing != "ok":
        return _of_needed(nothing, alone, pairs)
    fine = [name for name in optional if alone[name] == "ok"]
    found = [Condition(kind="at_most_one", arguments=group) for group in _clashing(alone, pairs, fine)]
    for name in [n for n in optional if n not in fine]:
        helpers = [other for other in fine if pairs[_pair(name, other, optional)] == "ok"]
        found += [Condition(kind="needs", arguments=(name, helper)) for helper in helpers[:1] if len(helpers) == 1]
    return found


def _of_needed(complaint: str, alone: Mapping[str, str], pairs: Mapping[tuple[str, str], str]) -> list[Condition]:
    """A call without optional arguments is refused: which ones end the complaint."""
    cures = [name for name, outcome in alone.items() if outcome != complaint]
    if not cures:
        return []
    if len(cures) == 1:
        return [Condition(kind="required", arguments=tuple(cures))]
    clashes = [
        pair for pair in pairs if set(pair) <= set(cures) and pairs[pair] not in (alone[pair[0]], alone[pair[1]])
    ]
    every_pair = len(clashes) == len(cures) * (len(cures) - 1) // 2
    if every_pair and all(pairs[pair] != "ok" for pair in clashes):
        return [Condition(kind="exactly_one", arguments=tuple(cures))]
    refused = [pair for pair in clashes if pairs[pair] != "ok"]
    return [Condition(kind="at_least_one", arguments=tuple(cures))] + [
        Condition(kind="at_most_one", arguments=pair) for pair in refused
    ]


def _clashing(
    alone: Mapping[str, str], pairs: Mapping[tuple[str, str], str], fine: Sequence[str]
) -> list[tuple[str, str]]:
    return [pair for pair in pairs if set(pair) <= set(fine) and pairs[pair] != "ok"]


def _pair(one: str, two: str, order: Sequence[str]) -> tuple[str, str]:
    return (one, two) if order.index(one) < order.index(two) else (two, one)


async def _accepted(instance: Callable, spec: ToolSpec, name: str, samples: Mapping[str, Any]) -> list[str]:
    """Types of which some value is understood, whatever types the other required arguments have. What takes integers
    takes Booleans as well in many languages: that is an integer."""
    schema = spec.input_schema
    others = [n for n in schema.get("required", ()) if n != name and n not in samples]
    found = []
    for kind in _TRIED:
        for filler in _fillings(schema["properties"], others):
            seen = await call_cleanly(instance, spec.name, {**filler, **samples, name: _SAMPLES[kind]})
            if seen.ok or (seen.error not in _MISUSE):
                found.append(kind)
                break
    return [kind for kind in found if kind != "boolean"] if found == ["integer", "boolean"] else found


def _fillings(properties: Mapping[str, Any], names: Sequence[str]) -> list[dict[str, Any]]:
    """Values for the other required arguments: as their schemas say, and all of one type each."""
    first = {name: sample(properties.get(name)) for name in names}
    return [first, *({name: _SAMPLES[kind] for name in names} for kind in _TRIED[1:3])] if names else [{}]
