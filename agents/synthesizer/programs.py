"""Programmatic tasks (section 3.1.1): programs sampled from a grammar over the environment's own tools and data."""

import random

from agent_world.agents.synthesizer import shapes, shapes_join, shapes_write
from agent_world.agents.synthesizer.chains import HIDDEN
from agent_world.agents.synthesizer.draft import Draft
from agent_world.agents.synthesizer.shapes import Room, Shape, Sketch
from agent_world.agents.synthesizer.sources import EVERY
from agent_world.agents.synthesizer.walks import Bias
from agent_world.agents.synthesizer.wording import Wording
from agent_world.agents.synthesizer.world import World
from agent_world.schema import Program

READS: tuple[tuple[Shape, int], ...] = (
    (shapes.count_matching, 3), (shapes.reduce_matching, 3), (shapes.name_matching, 2), (shapes.extreme, 4),
    (shapes.compare_groups, 2),
)  # fmt: skip
"""Shapes whose number of calls grows with the pages only, and their shares."""
LOOPS: tuple[tuple[Shape, int], ...] = ((shapes_join.join_count, 3), (shapes_join.most_children, 3))
WRITES: tuple[tuple[Shape, int], ...] = ((shapes_write.conditional_set, 4), (shapes_write.best_set, 3))
LOOP_WRITES: tuple[tuple[Shape, int], ...] = ((shapes_write.bulk_set, 3), (shapes_write.bulk_remove, 2))
SIZES = {1: (2, 10), 2: (2, 10), 3: (3, 8), 4: (7, 14), 5: (14, 40)}
"""Rows of a group (and so, in a loop, calls) by level."""


def propose_program(world: World, level: int, bias: Bias, rng: random.Random) -> Draft | None:
    """One candidate of about this level; None when the drawn shape finds nothing that fits."""
    hidden = rng.random() < HIDDEN[level]
    least, most = SIZES[level]
    room = Room(world, Wording(world, rng, hidden=hidden), rng, most, least, bias.kinds)
    options = _shapes(world, level, bias)
    shape = rng.choices([s for s, _ in options], [w for _, w in options])[0]
    sketch = shape(room)
    return _draft(sketch, hidden) if sketch else None


def _shapes(world: World, level: int, bias: Bias) -> list[tuple[Shape, int]]:
    writes = bias.kinds & {"create", "update", "delete"}
    few = [*READS, *((s, w * (3 if writes else 1)) for s, w in WRITES)]
    loops = [*LOOPS, *((s, w * (3 if writes else 1)) for s, w in LOOP_WRITES)]
    if level <= 2:
        return few
    return [*loops, *few] if level == 3 else loops


def _draft(sketch: Sketch, hidden: bool) -> Draft:
    return Draft(
        solution=Program(source=program_source(sketch.lines)),
        question=sketch.question,
        expected=sketch.expected,
        types=dict(sketch.types),
        ordered=sketch.ordered,
        branches=sketch.branches,
        hidden=hidden,
        writes=sketch.writes,
    )


def program_source(lines: tuple[str, ...]) -> str:
    body = "".join(f"    {line}\n" for line in lines)
    helper = EVERY if "every(" in body else ""
    return f"{helper}def solve(tools):\n{body}"
