"""What to try next: which strategy, which level, steered by guidelines. A proposal is coordinates, and so is its draft.

The same world and the same coordinates give the same draft, so graph state and files need to hold no drafts.
"""

import random
from collections.abc import Mapping, Sequence
from typing import Literal

import networkx as nx
from typing_extensions import TypedDict

from agent_world.agents.synthesizer.chains import propose_chain
from agent_world.agents.synthesizer.chance import by_chance
from agent_world.agents.synthesizer.draft import Draft
from agent_world.agents.synthesizer.programs import propose_program
from agent_world.agents.synthesizer.walks import Bias
from agent_world.agents.synthesizer.world import World
from agent_world.schema import Guideline
from agent_world.settings import TaskSettings

Strategy = Literal["graph", "program"]
LEVELS: Mapping[int, float] = TaskSettings().level_shares
SHAPES = 12
"""Draws for one program before it is given up; every fourth goes one level down."""
WALKS = {1: 12, 2: 60, 3: 60, 4: 90, 5: 240}
"""Draws for one walk, by level: most miss the level that is wanted."""
WRITES = frozenset({"create", "update", "delete"})


class Proposal(TypedDict):
    strategy: Strategy
    level: int
    seed: str
    guideline: str
    """Id, or empty."""


def propose(
    strategy: Strategy,
    numbers: range,
    seed: str,
    levels: Sequence[int],
    guidelines: Sequence[Guideline],
    shares: Mapping[int, float] = LEVELS,
) -> list[Proposal]:
    """One proposal a number, its level by the `shares` (1 for a level without one that `levels` asks for). Guidelines
    take turns; one that names levels or strategies keeps to them."""
    fit = [g for g in guidelines if not g.strategies or strategy in g.strategies] or list(guidelines)
    found: list[Proposal] = []
    for number in numbers:
        mark = f"{seed}:{strategy}:{number}"
        guideline = fit[number % len(fit)] if fit else None
        allowed = levels or _levels(guideline, shares)
        weights = [shares.get(level) or 1.0 for level in allowed]
        level = random.Random(f"{mark}:level").choices(list(allowed), weights)[0]
        found.append(Proposal(strategy=strategy, level=level, seed=mark, guideline=guideline.id if guideline else ""))
    return found


def _levels(guideline: Guideline | None, shares: Mapping[int, float]) -> Sequence[int]:
    """What stops early or takes steps in the wrong order needs longer tasks."""
    if guideline is not None and guideline.levels:
        return guideline.levels
    if guideline is not None and guideline.failure in ("stopped_early", "wrong_order"):
        return (2, 3, 4)
    return [level for level, share in sorted(shares.items()) if share > 0]


def bias_of(guideline: Guideline | None) -> Bias:
    """The knobs that a guideline turns."""
    if guideline is None:
        return Bias()
    kinds = frozenset(guideline.operations)
    stateful = guideline.failure in ("state_not_tracked", "unauthorised_write")
    return Bias(kinds=kinds | WRITES if stateful else kinds, writes=0.5 if stateful else Bias().writes)


def draft_of(world: World, graph: nx.DiGraph, proposal: Proposal, guidelines: Sequence[Guideline] = ()) -> Draft | None:
    """None when nothing that fits was found within the draws."""
    bias = bias_of(next((g for g in guidelines if g.id == proposal["guideline"]), None))
    if proposal["strategy"] == "graph":
        return _walk_of(world, graph, proposal, bias)
    for attempt in range(SHAPES):
        rng = random.Random(f"{proposal['seed']}:{attempt}")
        draft = propose_program(world, max(1, proposal["level"] - attempt // 4), bias, rng)
        if draft is not None and not by_chance(world, draft):
            return draft
    return None


def _walk_of(world: World, graph: nx.DiGraph, proposal: Proposal, bias: Bias) -> Draft | None:
    """At the level wanted, else at the next lower one that the data allows."""
    for level in range(proposal["level"], 0, -1):
        for attempt in range(WALKS[level]):
            draft = propose_chain(world, graph, level, bias, random.Random(f"{proposal['seed']}:{level}:{attempt}"))
            if draft is not None and not by_chance(world, draft):
                return draft
    return None
