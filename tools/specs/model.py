"""What intake gives: tools in the normal form, what was changed in them, and what could not be read."""

from collections import Counter
from dataclasses import dataclass
from typing import Annotated, Any, Literal

from pydantic import BeforeValidator

from agent_world.schema import Record, ToolSpec
from agent_world.tools.specs.guard import mended

ORIGINAL_NAME = "agent_world/original_name"
"""The tool's name on its server; an HTTP operation without an id is called `GET /path`."""
SERVER = "agent_world/server"
ORIGINAL = "agent_world/original"
"""The definition as it was given, as JSON text: `json.loads` gives back the very value."""
CHANGES = "agent_world/changes"
WEAK = "agent_world/weak_spec"
"""Set where the schema was made of a bare list of parameters: low confidence, types unknown unless guessed."""
HTTP = "agent_world/http"
"""Of an OpenAPI operation: method, path, servers, security, and where each argument goes."""
CONDITIONS = "agent_world/conditions"
"""What test calls taught about arguments that depend on each other."""

Text = Annotated[str, BeforeValidator(mended)]
"""Foreign text that can be written to a file whatever it held."""
Effect = Literal["same", "wider", "narrower", "guess"]
"""`same`: the same values are accepted. `wider`, `narrower`: more, fewer. `guess`: the original does not say."""
What = Literal[
    "absent", "annotation", "argument_name", "combined", "default", "definitions", "dialect", "duplicate", "identifier",
    "json_text", "keyword", "name", "no_arguments", "null_form", "null_value", "number", "object_type", "pattern",
    "reference", "required", "text", "transport", "type_guess", "type_name", "weak",
]  # fmt: skip


class Change(Record):
    """One difference between the definition as given and the normal form."""

    path: Text
    """Inside the tool's definition, steps joined by `/`."""
    what: What
    why: Text
    effect: Effect = "same"


class Rejected(Record):
    """A tool, or a whole listing, that could not be read."""

    where: Text
    """File, address or command."""
    server: Text
    tool: Text
    """Its name as given, or `tool 3`; empty for a whole listing."""
    field: Text
    reason: Text

    def __str__(self) -> str:
        place = ": ".join(part for part in (self.where, self.server, self.tool, self.field) if part)
        return f"{place}: {self.reason}"


@dataclass(frozen=True, slots=True)
class NormalTool:
    """`spec` is what everybody works with; server and original name together identify the tool."""

    server: str
    original_name: str
    spec: ToolSpec
    changes: tuple[Change, ...]
    weak: bool = False

    @property
    def equivalent(self) -> bool:
        """Whether the normal form accepts exactly what the original does."""
        return all(change.effect == "same" for change in self.changes)


@dataclass(frozen=True, slots=True)
class Intake:
    tools: tuple[NormalTool, ...]
    rejected: tuple[Rejected, ...]

    @property
    def specs(self) -> tuple[ToolSpec, ...]:
        return tuple(tool.spec for tool in self.tools)

    def names(self) -> dict[str, tuple[str, str]]:
        """Exposed name -> (server, original name)."""
        return {tool.spec.name: (tool.server, tool.original_name) for tool in self.tools}

    def summary(self) -> dict[str, Any]:
        """Counts: servers, tools, weak ones, rejections by reason, changes by what was changed."""
        changes = Counter(change.what for tool in self.tools for change in tool.changes)
        return {
            "servers": len({tool.server for tool in self.tools} | {r.server for r in self.rejected}),
            "tools": len(self.tools),
            "weak": sum(tool.weak for tool in self.tools),
            "equivalent": sum(tool.equivalent for tool in self.tools),
            "rejected": dict(Counter(r.reason for r in self.rejected).most_common()),
            "changes": dict(changes.most_common()),
        }
