"""Agent-World: a factory of stateful tool environments, and an arena in which agents and environments evolve.

    from agent_world import mine, write_tools, synthesize, validate, diagnose, evolve

Each is an async function of the module named below; importing the package imports none of them.
"""

import importlib
from typing import Any

_ENTRY_POINTS = {
    "mine": ("agent_world.graphs.mine", "mine_theme"),
    "write_tools": ("agent_world.graphs.write_tools", "write_tools"),
    "synthesize": ("agent_world.graphs.synthesize", "synthesize"),
    "validate": ("agent_world.graphs.validate", "validate"),
    "diagnose": ("agent_world.graphs.diagnose", "diagnose"),
    "evolve": ("agent_world.training.evolve", "evolve"),
    "open_deps": ("agent_world.graphs.deps", "open_deps"),
    "load_settings": ("agent_world.settings", "load_settings"),
}

__all__ = list(_ENTRY_POINTS)


def __getattr__(name: str) -> Any:
    if name not in _ENTRY_POINTS:
        raise AttributeError(f"module 'agent_world' has no attribute {name!r}")
    module, attribute = _ENTRY_POINTS[name]
    return getattr(importlib.import_module(module), attribute)
