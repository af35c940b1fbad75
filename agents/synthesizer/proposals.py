"""What to try next: which strategy, which level, steered by guidelines. A proposal is coordinates, and so is its draft.

The same world and the same coordinates give the same draft, so graph state and files need to hold no drafts.
"""

import random
from collections.abc import Sequence
from typing import Literal

import networkx as nx
from typing_extensions import TypedDict

from agent_world.agents.synthesizer.chains import propose_chain
from agent_world.agents.synthesizer.draft import Draft
from agent_world.agents.synthesizer.programs import propose_program
from agent_world.agents.synthesizer.walks import Bias
from agent_world.agents.synthesizer.world import World
from agent_world.schema import Guideline

Strategy = Literal["graph", "program"]
LEVELS = {1: 0.36, 2: 0.30, 3: 0.18, 4: 0.09, 5: 0.07}
"""Shares of the levels where nothing else is asked for."""
SHAPES = 12
"""Draws for one proposal before it is given up; every fourth goes one level down."""
WRITES = frozenset({"create", "update", "delete"})


class Proposal(TypedDict):
    strategy: Strategy
    level: int
    seed: str
    guideline: str
    """Id, or empty."""


def propose(
    strategy: Strategy, numbers: range, seed: str, levels: Sequence[int], guidelines: Sequence[Guideline]
) -> list[Proposal]:
    """One proposal a number. Guidelines take turns; one that names levels or strategies keeps to them."""
    fit = [g for g in guidelines if not g.strategies or strategy in g.strategies] or list(guidelines)
    found: list[Proposal] = []
    for number in numbers:
        mark = f"{seed}:{strategy}:{number}"
        guideline = fit[number % len(fit)] if fit else None
        allowed = levels or _levels(guideline)
        weights = [LEVELS[level] for level in allowed]
        level = random.Random(f"{mark}:level").choices(list(allowed), weights)[0]
        found.append(Proposal(strategy=strategy, level=level, seed=mark, guideline=guideline.id if guideline else ""))
    return found


def _levels(guideline: Guideline | None) -> Sequence[int]:
    """What stops early or takes steps in the wrong order needs longer tasks."""
    if guideline is None or guideline.levels:
        return guideline.levels if guideline else tuple(LEVELS)
    return (2, 3, 4) if guideline.failure in ("stopped_early", "wrong_order") else tuple(LEVELS)


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
    for attempt in range(SHAPES):
        rng = random.Random(f"{proposal['seed']}:{attempt}")
        level = max(1, proposal["level"] - attempt // 4)
        if proposal["strategy"] == "graph":
            draft = propose_chain(world, graph, level, bias, rng)
        else:
            draft = propose_program(world, level, bias, rng)
        if draft is not None:
            return draft
    return None
