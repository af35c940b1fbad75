"""From a name, a description and tools to a `schema.Theme`."""

import hashlib
from collections.abc import Sequence
from typing import Literal

from agent_world.agents.themes.words import salient
from agent_world.schema import Dropped, Theme, ToolSpec
from agent_world.tools.specs import Intake
from agent_world.tools.tables import snake_case

KEYWORDS = 12
LONGEST_DESCRIPTION = 600
LONGEST_ID = 48

Kind = Literal["mcp", "tool_docs", "prd"]


def make_theme(
    name: str, description: str, kind: Kind, source: str, tools: Sequence[ToolSpec] = (), text: str = ""
) -> Theme:
    """`text` is all else that is known of the theme: its words count among the keywords."""
    description = " ".join((description or sentences(tools)).split())[:LONGEST_DESCRIPTION]
    about = f"{name} {name} {description} {text or tool_text(tools)}"
    return Theme(
        id=theme_id(name), name=name, description=description, kind=kind, source=source,
        keywords=salient(about, KEYWORDS), tools=tuple(tools),
    )  # fmt: skip


def rejected_tools(name: str, intake: Intake) -> list[Dropped]:
    """What of a theme's tools could not be read, with the reasons."""
    return [Dropped(kind="tool", id=f"{theme_id(name)}/{r.tool}", reason=str(r)) for r in intake.rejected]


def theme_id(name: str) -> str:
    """Letters, digits and underscores, a letter first; a hash for a name that has none of them, so that two differ."""
    found = snake_case(name)[:LONGEST_ID].strip("_")
    return found or f"theme_{hashlib.sha256(name.encode()).hexdigest()[:8]}"


def tool_text(tools: Sequence[ToolSpec]) -> str:
    return " ".join(f"{tool.name} {tool.description}" for tool in tools)


def sentences(tools: Sequence[ToolSpec]) -> str:
    """The first sentence of every tool's description."""
    return " ".join(tool.description.split(". ")[0].rstrip(".") + "." for tool in tools if tool.description)
