"""The coding agent: writes an environment's tools with their unit tests (section 3.1, tools)."""
