"""The graphs that `langgraph.json` lists, one a role and the loop.

Factories without arguments, compiled without a checkpointer: the LangGraph server brings its own.
"""

from typing import Any

from langgraph.graph.state import CompiledStateGraph

from agent_world.graphs import diagnose as diagnose_module
from agent_world.graphs import mine as mine_module
from agent_world.graphs import synthesize as synthesize_module
from agent_world.graphs import validate as validate_module
from agent_world.graphs import write_tools as write_tools_module
from agent_world.training import evolve as evolve_module

Graph = CompiledStateGraph[Any, Any, Any, Any]


def miner() -> Graph:
    return mine_module.build_graph()


def coder() -> Graph:
    return write_tools_module.build_graph()


def synthesizer() -> Graph:
    return synthesize_module.build_graph()


def validator() -> Graph:
    return validate_module.build_graph()


def diagnoser() -> Graph:
    return diagnose_module.build_graph()


def evolve() -> Graph:
    return evolve_module.build_graph()
