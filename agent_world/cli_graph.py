"""`tasks graph`: the tool graph of an environment as counts and as a picture."""

import asyncio
import json
from collections import Counter
from typing import TYPE_CHECKING, Any

from rich import print as say

from agent_world.cli_options import DEFAULT, Config, Machine, Overrides, find_bundle
from agent_world.settings import Settings, load_settings

if TYPE_CHECKING:
    import networkx as nx

    from agent_world.memory.store import Bundle


def draw_tool_graph(
    environment: str, overrides: Overrides = None, config: Config = DEFAULT, machine: Machine = False
) -> None:
    """Draw which tool feeds which: report/tool_graph_ENV.svg of the workspace, and counts."""
    from agent_world.evals.pictures import picture_of_graph
    from agent_world.evals.records import read_tool_graph
    from agent_world.memory.store import write_text

    settings = load_settings(config, overrides or [])
    bundle = find_bundle(environment, settings)
    graph = asyncio.run(_graph_of(bundle, settings))
    path = settings.workspace / "report" / f"tool_graph_{bundle.id}.svg"
    drawn = read_tool_graph(bundle)
    assert drawn is not None  # `_graph_of` wrote it
    path.parent.mkdir(parents=True, exist_ok=True)
    write_text(path, picture_of_graph(drawn))
    found = {"environment": bundle.id, **counts_of(graph), "picture": str(path)}
    if machine:
        print(json.dumps(found, indent=1))
        return
    edges = found["edges"]
    kinds = f"{edges['strong']} strong (3), {edges['weak']} weak (2), {edges['independent']} independent (1)"
    say(f"{bundle.id}: {found['tools']} tools, {sum(edges.values())} edges: {kinds}.")
    say(f"{found['bindings']} bindings, {found['seen_to_flow']} of them seen to flow when the tools were run.")
    say(f"Picture: {path}")


def counts_of(graph: "nx.DiGraph") -> dict[str, Any]:
    """Tools, edges by kind, bindings, and how many of these running confirmed."""
    kinds = Counter(kind for _, _, kind in graph.edges(data="kind"))
    bindings = [b for _, _, found in graph.edges(data="bindings") for b in found]
    return {
        "tools": graph.number_of_nodes(),
        "edges": {kind: kinds[kind] for kind in ("strong", "weak", "independent")},
        "bindings": len(bindings),
        "seen_to_flow": sum("seen to flow" in b.evidence for b in bindings),
    }


async def _graph_of(bundle: "Bundle", settings: Settings) -> "nx.DiGraph":
    """The bundle's; made and written where there is none yet."""
    from agent_world.agents.synthesizer.graph import read_tool_graph
    from agent_world.graphs.deps import open_deps
    from agent_world.graphs.tool_graph import make_tool_graph

    if (bundle.root / "tool_graph.json").exists():
        return read_tool_graph(bundle)
    async with open_deps(settings) as deps:
        return await make_tool_graph(bundle, deps)
