"""The tools that a live server lists against those that a bundle knows: one must be the other."""

import json
import re
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING

from agent_world.errors import SandboxError
from agent_world.schema import ToolAnnotations, ToolSpec

if TYPE_CHECKING:
    from mcp.types import Tool

ORIGINAL_NAME = "agent_world/original_name"


def listed_specs(tools: "Iterable[Tool]") -> tuple[ToolSpec, ...]:
    return tuple(_spec(tool) for tool in tools)


def _spec(tool: "Tool") -> ToolSpec:
    name = re.sub(r"[^A-Za-z0-9_-]+", "_", tool.name)[:64]
    return ToolSpec(
        name=name,
        description=tool.description or "",
        input_schema={"type": "object", "properties": {}, **tool.inputSchema},
        output_schema=tool.outputSchema,
        annotations=ToolAnnotations.model_validate(
            tool.annotations.model_dump(exclude_none=True) if tool.annotations else {}
        ),
        meta={ORIGINAL_NAME: tool.name} if name != tool.name else {},
    )


def bundle_specs(root: Path) -> tuple[ToolSpec, ...]:
    """The tools of a bundle's tools.json, which has been read before; none where there is no such file."""
    path = root / "tools.json"
    return tuple(map(ToolSpec.model_validate, json.loads(path.read_text())["tools"])) if path.exists() else ()


def original_name(spec: ToolSpec) -> str:
    found = spec.meta.get(ORIGINAL_NAME, spec.name)
    return found if isinstance(found, str) else spec.name


def check_same(known: Iterable[ToolSpec], listed: Iterable[ToolSpec]) -> None:
    """Raises `SandboxError` that names the first tool that is not on both sides with the same arguments."""
    ours, theirs = _by_original(known), _by_original(listed)
    for name in ours:
        if name not in theirs:
            raise SandboxError(f"Tool {name!r} of tools.json is not offered by the MCP server; import it again.")
    for name, spec in theirs.items():
        if name not in ours:
            raise SandboxError(f"The MCP server offers tool {name!r}, which tools.json lacks; import it again.")
        if spec.input_schema != ours[name].input_schema:
            raise SandboxError(f"Tool {name!r} takes other arguments than tools.json says; import it again.")


def _by_original(specs: Iterable[ToolSpec]) -> Mapping[str, ToolSpec]:
    return {original_name(spec): spec for spec in specs}
