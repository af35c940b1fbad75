"""Where every environment has its place: second-tier clusters by Ward linkage, first-tier types over them (3.1)."""

from agent_world.agents.taxonomist.taxonomy import build_taxonomy

__all__ = ["build_taxonomy"]
