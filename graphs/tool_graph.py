"""Making an environment's tool graph, for synthesis and for whoever wants to see it (section 3.1.1)."""

import asyncio
from typing import TYPE_CHECKING

from agent_world.agents.synthesizer.flows import observe
from agent_world.agents.synthesizer.graph import build_tool_graph, write_tool_graph
from agent_world.agents.synthesizer.llm import judge_edges
from agent_world.agents.synthesizer.world import World
from agent_world.agents.validator.pool import open_pool
from agent_world.errors import ModelError
from agent_world.graphs.deps import Deps
from agent_world.memory.store import Bundle

if TYPE_CHECKING:
    import networkx as nx


async def make_tool_graph(bundle: Bundle, deps: Deps) -> "nx.DiGraph":
    """From schemas and from running the tools, judged by a model where the synthesizer has one; kept in the bundle."""
    world = await asyncio.to_thread(World, bundle)
    graph = build_tool_graph(world)
    async with open_pool(bundle, deps.runtime, 1) as pool:
        await observe(graph, world, pool.instances[0])
    if deps.engine("synthesizer") == "llm":
        await _judge_edges(graph, world, deps)
    await asyncio.to_thread(_write, bundle, world, graph)
    return graph


async def _judge_edges(graph: "nx.DiGraph", world: World, deps: Deps) -> None:
    try:
        struck = await judge_edges(graph, world, deps.model("synthesizer"), deps.settings.workspace / "cache" / "edges")
        deps.note(f"the model struck {struck} doubtful edges of {world.id}")
    except ModelError as problem:
        deps.note(f"the tool graph of {world.id} stays as computed: {problem}")


def _write(bundle: Bundle, world: World, graph: "nx.DiGraph") -> None:
    """The head carries a hash over the other files, so it is written after them."""
    write_tool_graph(bundle, graph)
    bundle.write_environment(world.environment)
