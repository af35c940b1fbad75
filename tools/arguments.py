"""The arguments of a call against the tool's input schema, before anything runs.

Strictness: an argument that the schema does not speak of is refused, unless the schema says `additionalProperties` or
`patternProperties`; inside nested objects JSON Schema's own rule holds (what is not declared is allowed). `format` is
not enforced; `ArgumentChecker.formats` lists what is declared. Patterns come from outside, and some take exponential
time: the value at which all patterns of a call together have taken `PATTERN_S` is refused.
"""

import json
import math
import time
from collections.abc import Mapping
from contextvars import ContextVar
from typing import Any, cast

from jsonschema import Draft202012Validator
from jsonschema.exceptions import SchemaError
from jsonschema.validators import extend

from agent_world.errors import SpecError
from agent_world.schema import ToolSpec
from agent_world.tools.argument_faults import fault_of, nearest
from agent_world.tools.specs.guard import check_json
from agent_world.tools.specs.refs import Found, References, Resolver
from agent_world.tools.specs.types import as_object
from agent_world.tools.specs.walk import Schema, children, is_annotation, known_names, rebuilt

PATTERN_S = 0.2
MOST_VALUES = 1_000_000
_PYTHON: dict[str, tuple[type, ...]] = {
    "string": (str,), "integer": (int,), "number": (int, float), "boolean": (bool,), "null": (type(None),),
}  # fmt: skip


def _pattern(validator: Any, pattern: str, instance: Any, schema: Any) -> Any:
    import regex
    from jsonschema.exceptions import ValidationError

    if not isinstance(instance, str):
        return
    try:
        left = _patterns_end.get() - time.monotonic()
        if left <= 0:
            raise TimeoutError
        if not regex.search(pattern, instance, timeout=min(left, PATTERN_S)):
            yield ValidationError(f"must match the pattern {pattern}")
    except TimeoutError:
        yield ValidationError(f"cannot be matched against the pattern {pattern} in {PATTERN_S:g} s")


def _unique(validator: Any, wanted: Any, instance: Any, schema: Any) -> Any:
    """In time that grows as the list does: jsonschema's own compares each with each."""
    from jsonschema.exceptions import ValidationError

    if not wanted or not isinstance(instance, list):
        return
    if len({json.dumps(_whole(item), sort_keys=True) for item in instance}) < len(instance):
        yield ValidationError(f"{instance!r} has non-unique elements")


def _whole(value: Any) -> Any:
    """1.0 is 1; true is neither."""
    if isinstance(value, float) and value.is_integer():
        return int(value)
    if isinstance(value, dict):
        return {key: _whole(item) for key, item in value.items()}
    return [_whole(item) for item in value] if isinstance(value, list) else value


_patterns_end: ContextVar[float] = ContextVar("_patterns_end", default=math.inf)
"""When the patterns of the call that is being checked must be done."""
_Validator: Any = cast(Any, extend)(Draft202012Validator, {"pattern": _pattern, "uniqueItems": _unique})


class ArgumentChecker:
    """Checks the arguments of one tool. Raises `SpecError` for a schema that is none."""

    def __init__(self, spec: ToolSpec) -> None:
        schema = spec.input_schema
        try:
            _Validator.check_schema(schema)
        except SchemaError as error:
            path = "/".join(map(str, error.path))
            raise SpecError(f"Tool {spec.name}: inputSchema {path}: {error.message}.") from error
        _check_references(spec.name, schema)
        self._schema = schema
        self._validator = _Validator(schema)
        self._defs: dict[str, Any] = schema.get("$defs", {})
        self._names = list(dict.fromkeys([*schema.get("properties", ()), *sorted(known_names(schema, self._defs))]))
        self._required = list(schema.get("required", ()))
        self._open = bool(schema.get("additionalProperties", False)) or "patternProperties" in schema
        self._simple = _simple_types(schema)
        self.formats = _formats(schema, "")
        """Argument path -> the format that is declared for it and not enforced."""

    def fault(self, arguments: Any) -> str | None:
        """What is wrong, in a line that a model can act on; None when nothing is.

        It names the argument, what was wanted and what was given. A Boolean is no integer; 3.0 is one.
        """
        if self._plainly_right(arguments):
            return None
        if isinstance(arguments, str) and as_json_object(arguments):
            return "The arguments must be a JSON object, not text that holds one; give the object itself."
        if not isinstance(arguments, Mapping):
            return "The arguments must be a JSON object."
        try:
            check_json(dict(arguments), MOST_VALUES)
        except SpecError as error:
            return f"The arguments must be JSON values: {error}."
        return self._unknown(arguments) or self._missing(arguments) or self._unfit(arguments)

    def ready(self, arguments: Mapping[str, Any]) -> dict[str, Any]:
        """Sound arguments as the tool gets them: 3.0 is 3 where the schema says integer, at any depth."""
        if not any(isinstance(value, (float, dict, list)) for value in arguments.values()):
            return dict(arguments)
        whole: dict[str, Any] = self._exact(dict(arguments), self._schema)
        return whole

    def _plainly_right(self, arguments: Any) -> bool:
        """A quick yes for flat schemas of plain types; no says nothing."""
        if self._simple is None or type(arguments) is not dict:
            return False
        for name, value in arguments.items():
            allowed = self._simple.get(name)
            if allowed is None or type(value) not in allowed or (type(value) is float and not math.isfinite(value)):
                return False
        return all(name in arguments for name in self._required)

    def _unknown(self, arguments: Mapping[str, Any]) -> str | None:
        unknown = [] if self._open else [name for name in arguments if name not in self._names]
        if not unknown:
            return None
        meant = nearest(unknown[0], self._names)
        hint = f"; {meant!r} may be meant" if meant else ""
        return f"There is no argument {str(unknown[0])[:80]!r}{hint}. {self._usage()}"

    def _missing(self, arguments: Mapping[str, Any]) -> str | None:
        missing = [name for name in self._required if name not in arguments]
        return f"Argument {missing[0]!r} is missing. {self._usage()}" if missing else None

    def _unfit(self, arguments: Mapping[str, Any]) -> str | None:
        _patterns_end.set(time.monotonic() + PATTERN_S)
        try:
            errors = list(self._validator.iter_errors(dict(arguments)))
        except RecursionError:
            return "The arguments are nested too deeply."
        return fault_of(errors) if errors else None

    def _usage(self) -> str:
        optional = [name for name in self._names if name not in self._required]
        known = ", ".join(self._required) or "none"
        return f"Required: {known}." + (f" Optional: {', '.join(optional)}." if optional else "")

    def _exact(self, value: Any, schema: Any) -> Any:
        if not isinstance(schema, dict):
            return value
        if isinstance(target := schema.get("$ref"), str):
            value = self._exact(value, self._defs.get(target.removeprefix("#/$defs/")))
        if isinstance(value, float) and value.is_integer():
            types = schema.get("type", ())
            whole = "integer" in types and "number" not in ([types] if isinstance(types, str) else types)
            value = int(value) if whole else value
        elif isinstance(value, dict):
            value = {name: self._exact(item, _property(schema, name)) for name, item in value.items()}
        elif isinstance(value, list):
            value = [self._exact(item, _item(schema, i)) for i, item in enumerate(value)]
        return self._in_branches(value, schema)

    def _in_branches(self, value: Any, schema: dict[str, Any]) -> Any:
        for branch in schema.get("allOf", ()):
            value = self._exact(value, branch)
        for keyword in ("anyOf", "oneOf"):
            fitting = (b for b in schema.get(keyword, ()) if self._validator.evolve(schema=b).is_valid(value))
            value = self._exact(value, next(fitting, None))
        return value


def _check_references(tool: str, whole: dict[str, Any]) -> None:
    """Raises `SpecError` naming the path of a reference that stands for nothing."""
    references = References(whole)

    def visit(schema: Schema, path: str, resolver: Resolver) -> Schema:
        if isinstance(schema, dict):
            resolver = references.inside(schema, resolver)
            ref = schema.get("$ref")
            found = references.find(ref, resolver) if isinstance(ref, str) else None
            if isinstance(ref, str) and (not isinstance(found, Found) or found.moved):
                raise SpecError(f"Tool {tool}: {path}/$ref: {ref[:80]!r} does not exist in this schema.")
        return rebuilt(schema, lambda child, step, in_place: visit(child, f"{path}/{step}", resolver))

    if references.resolver() is not None:
        visit(whole, "inputSchema", references.resolver())


def as_json_object(text: str) -> bool:
    try:
        return as_object(text) is not None
    except SpecError:
        return True


def _simple_types(schema: dict[str, Any]) -> dict[str, tuple[type, ...]] | None:
    """Argument -> Python types, for those whose schema is a plain type and words; None where the object says more."""
    plain = {"type", "properties", "required", "additionalProperties", "$defs", "minProperties"}
    if any(keyword not in plain and not is_annotation(keyword) for keyword in schema) or schema.get("minProperties"):
        return None
    found = {}
    for name, item in schema.get("properties", {}).items():
        types = item.get("type") if isinstance(item, dict) else None
        listed = [types] if isinstance(types, str) else types or []
        rest = (
            any(k not in ("type", "format") and not is_annotation(k) for k in item) if isinstance(item, dict) else True
        )
        if listed and not rest and all(t in _PYTHON for t in listed):
            found[name] = tuple(kind for t in listed for kind in _PYTHON[t])
    return found


def _property(schema: dict[str, Any], name: str) -> Any:
    if name in schema.get("properties", {}):
        return schema["properties"][name]
    import re

    fitting = (s for pattern, s in schema.get("patternProperties", {}).items() if re.search(pattern, name))
    return next(fitting, schema.get("additionalProperties"))


def _item(schema: dict[str, Any], index: int) -> Any:
    first = schema.get("prefixItems", [])
    return first[index] if index < len(first) else schema.get("items")


def _formats(schema: Any, path: str) -> dict[str, str]:
    if isinstance(schema, bool):
        return {}
    found = {path or "arguments": schema["format"]} if isinstance(schema.get("format"), str) else {}
    for name, item in schema.get("properties", {}).items():
        found |= _formats(item, f"{path}.{name}" if path else name)
    for keyword, item, in_place in children(schema):
        if keyword != "properties":
            found |= _formats(item, path if in_place else f"{path}[]" if "tems" in keyword else f"{path}.*")
    return found
