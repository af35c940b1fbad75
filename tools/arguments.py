"""The arguments of a call against the tool's input schema, before anything runs."""

import json
from collections.abc import Mapping
from typing import Any

from jsonschema import Draft202012Validator
from jsonschema.exceptions import SchemaError, ValidationError

from agent_world.errors import SpecError
from agent_world.schema import ToolSpec


class ArgumentChecker:
    """Checks the arguments of one tool. Raises `SpecError` for a schema that is none."""

    def __init__(self, spec: ToolSpec) -> None:
        try:
            Draft202012Validator.check_schema(spec.input_schema)
        except SchemaError as error:
            path = "/".join(map(str, error.path))
            raise SpecError(f"Tool {spec.name}: inputSchema {path}: {error.message}.") from error
        self._validator = Draft202012Validator(spec.input_schema)
        self._properties: dict[str, Any] = spec.input_schema.get("properties", {})
        self._required = list(spec.input_schema.get("required", ()))

    def fault(self, arguments: Any) -> str | None:
        """What is wrong, in a sentence that a model can act on; None when nothing is.

        A Boolean is no integer; an argument that the schema does not name is refused.
        """
        if not isinstance(arguments, Mapping):
            return "The arguments must be a JSON object."
        try:
            json.dumps(arguments, allow_nan=False)
        except (TypeError, ValueError, RecursionError):
            return "The arguments must be JSON values."
        unknown = [name for name in arguments if name not in self._properties]
        if unknown:
            return f"There is no argument {unknown[0]!r}. {self._usage()}"
        missing = [name for name in self._required if name not in arguments]
        if missing:
            return f"Argument {missing[0]!r} is missing. {self._usage()}"
        errors = sorted(self._validator.iter_errors(dict(arguments)), key=lambda e: list(map(str, e.absolute_path)))
        return _explain(errors[0]) if errors else None

    def ready(self, arguments: Mapping[str, Any]) -> dict[str, Any]:
        """The arguments as the tool gets them: 3.0 is 3 where the schema says integer."""
        return {name: self._exact(name, value) for name, value in arguments.items()}

    def _exact(self, name: str, value: Any) -> Any:
        whole = isinstance(value, float) and value.is_integer()
        return int(value) if whole and self._properties[name].get("type") == "integer" else value

    def _usage(self) -> str:
        optional = [name for name in self._properties if name not in self._required]
        known = ", ".join(self._required) or "none"
        return f"Required: {known}." + (f" Optional: {', '.join(optional)}." if optional else "")


def _explain(error: ValidationError) -> str:
    where = ".".join(map(str, error.absolute_path)) or "arguments"
    given = json.dumps(error.instance, ensure_ascii=False)[:80]
    if error.validator == "type":
        kinds: Any = error.validator_value
        wanted = kinds if isinstance(kinds, str) else " or ".join(kinds)
        return f"Argument {where!r} must be of type {wanted}, not {given}."
    return f"Argument {where!r}: {error.message[:200]}."
