"""The tools that a live server lists against those that a bundle knows: one must be the other."""

import json
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING

from agent_world.errors import SandboxError
from agent_world.schema import ToolSpec
from agent_world.tools.specs import ORIGINAL_NAME, Intake, read_tools

if TYPE_CHECKING:
    from mcp.types import Tool


def listed_specs(tools: "Iterable[Tool]", where: str) -> Intake:
    """In the normal form, and those that could not be read."""
    return read_tools(
        {"tools": [tool.model_dump(mode="json", by_alias=True, exclude_none=True) for tool in tools]}, where
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
