"""Tool specifications of real services as our `ToolSpec`: every tool listed, names made fit, types kept as given."""

import re
from collections.abc import Iterable, Mapping
from typing import Any

from pydantic import ValidationError

from agent_world.errors import SpecError
from agent_world.schema import ToolAnnotations, ToolSpec

ORIGINAL_NAME = "agent_world/original_name"
WEAK = "agent_world/weak_spec"
"""Marks a schema made of a bare list of parameters: its types are unknown or unsure."""
LONGEST = 64


def read_specs(listed: Iterable[Any], where: str) -> tuple[ToolSpec, ...]:
    """Read MCP tools and OpenAI functions alike. Names that do not fit are mapped to distinct ones that do; the
    original stays under `_meta`. Raises `SpecError` naming the tool where one is no specification at all."""
    specs: list[ToolSpec] = []
    for number, tool in enumerate(listed):
        specs.append(_read(tool, f"{where}: tool {number}", {spec.name for spec in specs}))
    return tuple(specs)


def _read(tool: Any, where: str, taken: set[str]) -> ToolSpec:
    if isinstance(tool, Mapping) and isinstance(tool.get("function"), Mapping):
        tool = tool["function"]
    if not isinstance(tool, Mapping) or not isinstance(tool.get("name"), str) or not tool["name"].strip():
        raise SpecError(f"{where} has no name; it must be an object with name, description and parameters.")
    schema, weak = _input_schema(tool, f"{where} ({tool['name']})")
    name = fit_name(tool["name"], taken)
    meta = ({ORIGINAL_NAME: tool["name"]} if name != tool["name"] else {}) | ({WEAK: True} if weak else {})
    output = tool.get("outputSchema")
    try:
        return ToolSpec(
            name=name, description=str(tool.get("description") or ""), input_schema=schema,
            output_schema=output if isinstance(output, dict) else None,
            annotations=ToolAnnotations.model_validate(tool.get("annotations") or {}), meta=meta,
        )  # fmt: skip
    except ValidationError as error:
        raise SpecError(f"{where} ({tool['name']}): {error.errors()[0]['msg']}.") from error


def fit_name(name: str, taken: set[str]) -> str:
    """At most 64 of `[A-Za-z0-9_-]`, and none of `taken`."""
    base = re.sub(r"[^A-Za-z0-9_-]+", "_", name.strip()).strip("_")[:LONGEST] or "tool"
    fitted, number = base, 2
    while fitted in taken:
        suffix = f"_{number}"
        fitted, number = base[: LONGEST - len(suffix)] + suffix, number + 1
    return fitted


def _input_schema(tool: Mapping[str, Any], where: str) -> tuple[dict[str, Any], bool]:
    """The arguments' JSON Schema, and whether it is weak."""
    found: Any = next(
        (tool[key] for key in ("inputSchema", "input_schema", "parameters") if tool.get(key) is not None), {}
    )
    if isinstance(found, list):
        return _from_list(found, where), True
    if not isinstance(found, Mapping):
        raise SpecError(f"{where}: the parameters must be a JSON Schema object, not {type(found).__name__}.")
    return {"type": "object", "properties": {}, **found}, False


def _from_list(parameters: list[Any], where: str) -> dict[str, Any]:
    """`[{"name", "type", "required"}]`, as registries' pages show it."""
    properties: dict[str, Any] = {}
    required: list[str] = []
    for parameter in parameters:
        if not isinstance(parameter, Mapping) or not isinstance(parameter.get("name"), str):
            raise SpecError(f"{where}: a parameter has no name.")
        properties[parameter["name"]] = {k: parameter[k] for k in ("type", "description") if parameter.get(k)}
        if parameter.get("required"):
            required.append(parameter["name"])
    return {"type": "object", "properties": properties, "required": required}
