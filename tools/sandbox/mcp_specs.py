"""The tools that a live server lists against those that a bundle knows: one must be the other."""

import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from agent_world.errors import SandboxError
from agent_world.schema import ToolSpec
from agent_world.tools.arguments import ArgumentChecker
from agent_world.tools.specs import ORIGINAL_NAME, Rejected, read_tools
from agent_world.tools.specs.probe import as_listed

if TYPE_CHECKING:
    from mcp.types import Tool


@dataclass(frozen=True, slots=True)
class Offer:
    """The tools of a server that can be used, by name, and those that cannot."""

    specs: Mapping[str, ToolSpec]
    checkers: Mapping[str, ArgumentChecker]
    rejected: tuple[Rejected, ...]


class Offers:
    """Of one command's servers. The last list is kept: a fresh server, as each reset starts one, lists the same."""

    def __init__(self, where: str) -> None:
        """`where` is for messages."""
        self._where = where
        self._last: tuple[tuple[Tool, ...], tuple[ToolSpec, ...], Offer] | None = None

    def read(self, tools: "tuple[Tool, ...]", known: tuple[ToolSpec, ...]) -> Offer:
        """`known` are the tools of the bundle's tools.json, where there is one: they are what is used then.

        Raises `SandboxError` when the server offers something else.
        """
        if self._last is None or self._last[:2] != (tools, known):
            self._last = tools, known, self._offer(tools, known)
        return self._last[2]

    def _offer(self, tools: "tuple[Tool, ...]", known: tuple[ToolSpec, ...]) -> Offer:
        listing = {"tools": [tool.model_dump(mode="json", by_alias=True, exclude_none=True) for tool in tools]}
        listed = read_tools(listing, self._where)
        if known:
            check_same(known, listed.specs)
        specs = {spec.name: spec for spec in known or listed.specs}
        return Offer(specs, {name: ArgumentChecker(spec) for name, spec in specs.items()}, listed.rejected)


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
        if spec.input_schema != as_listed(ours[name]):
            raise SandboxError(f"Tool {name!r} takes other arguments than tools.json says; import it again.")


def _by_original(specs: Iterable[ToolSpec]) -> Mapping[str, ToolSpec]:
    return {original_name(spec): spec for spec in specs}
