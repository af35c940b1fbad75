"""Databases that others made, as bundles: files are read, nested objects become related tables, nothing is lost."""

from agent_world.agents.importer.build import import_database
from agent_world.agents.importer.report import ImportReport, Placed

__all__ = ["ImportReport", "Placed", "import_database"]
