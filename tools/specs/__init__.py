"""Intake of tool specifications: whatever form they come in, one normal form (`schema.ToolSpec`) comes out."""

from agent_world.tools.specs.files import read_file
from agent_world.tools.specs.intake import read_servers, read_tools
from agent_world.tools.specs.model import (
    CHANGES,
    CONDITIONS,
    HTTP,
    ORIGINAL,
    ORIGINAL_NAME,
    SERVER,
    WEAK,
    Change,
    Intake,
    NormalTool,
    Rejected,
)
from agent_world.tools.specs.names import exposed_names, python_names

__all__ = [
    "CHANGES", "CONDITIONS", "HTTP", "ORIGINAL", "ORIGINAL_NAME", "SERVER", "WEAK", "Change", "Intake", "NormalTool",
    "Rejected", "exposed_names", "python_names", "read_file", "read_servers", "read_tools",
]  # fmt: skip
