"""Programmatic tasks (section 3.1.1): plans sampled from a grammar over the environment's own tools and data."""

import random

from agent_world.agents.synthesizer import plan as p
from agent_world.agents.synthesizer import plan_code
from agent_world.agents.synthesizer import program_acts as acts
from agent_world.agents.synthesizer import program_part_acts as part_acts
from agent_world.agents.synthesizer import program_reads as reads
from agent_world.agents.synthesizer import program_writes as writes
from agent_world.agents.synthesizer.draft import Draft
from agent_world.agents.synthesizer.plan_database import Undetermined
from agent_world.agents.synthesizer.plan_sql import solve_plan
from agent_world.agents.synthesizer.plan_words import Phrases
from agent_world.agents.synthesizer.program_parts import Room, Sketch
from agent_world.agents.synthesizer.program_reads import Shape
from agent_world.agents.synthesizer.program_rows import summing_row
from agent_world.agents.synthesizer.walks import Bias
from agent_world.agents.synthesizer.wording import Wording
from agent_world.agents.synthesizer.world import World
from agent_world.schema import Program

PLAIN: tuple[tuple[Shape, int], ...] = (
    (reads.count_matching, 3), (reads.reduce_matching, 3), (reads.name_matching, 2), (reads.extreme, 4),
)  # fmt: skip
"""Shapes of one look at a list, and their shares."""
READS: tuple[tuple[Shape, int], ...] = (
    (reads.share, 2), (reads.ranking, 2), (reads.versus, 2), (reads.best_group, 3), (reads.one_figure_or_another, 3),
)  # fmt: skip
WRITES: tuple[tuple[Shape, int], ...] = (
    (writes.one_value_or_another, 3), (writes.best_set, 3), (summing_row, 2),
)  # fmt: skip
MANY: tuple[tuple[Shape, int], ...] = (
    (writes.every_one, 3), (writes.this_or_that, 4), (writes.condition_in_condition, 3),
)  # fmt: skip
"""Shapes that write to several rows."""
ACTS: tuple[tuple[Shape, int], ...] = (
    (acts.every_one_open, 4), (acts.extreme_open, 4), (acts.one_deed_or_another, 4),
)  # fmt: skip
"""Business operations on rows whose state allows them."""
PARTS: tuple[tuple[Shape, int], ...] = ((part_acts.some_parts, 6), (part_acts.swapped_part, 6))
"""Business operations on parts of a row; two or three calls each."""
SIZES = {1: (2, 10), 2: (2, 20), 3: (3, 8), 4: (8, 16), 5: (19, 60)}
"""Rows of a group by level; from level 3 on each takes a call or more."""
HIDDEN = 0.5
"""Share of longer programs whose questions do not say by whom rows have a value."""
CALLS = {4: 6, 5: 19}
"""Calls that the values of its rows take at least."""


def propose_program(
    world: World, level: int, bias: Bias, rng: random.Random, words: random.Random | None = None
) -> Draft | None:
    """One candidate of about this level; None when the drawn shape finds nothing that fits. `words` decides how it is
    put, and nothing else."""
    least, most = SIZES[level]
    loops = level >= 3
    hidden, own = loops and rng.random() < HIDDEN, random.Random(rng.random())
    phrases = Phrases(Wording(world, words or own, hidden=hidden))
    room = Room(world, phrases, rng, most, least, loops=loops, calls=CALLS.get(level, 1), kinds=bias.kinds)
    options = shapes_of(world, level, bias)
    shape = rng.choices([s for s, _ in options], [w for _, w in options])[0]
    sketch = shape(room)
    return drafted(room, sketch, shape.__name__) if sketch else None


def shapes_of(world: World, level: int, bias: Bias) -> list[tuple[Shape, int]]:
    times = 3 if bias.kinds & {"create", "update", "delete"} else 1
    written = [(s, w * times) for s, w in (WRITES if level < 3 else (*WRITES, *MANY))]
    if level == 1:
        return [*PLAIN, *written[:2]]
    if world.operations:
        written += [(s, w * times) for s, w in (PARTS if level < 3 else (*ACTS, *PARTS) if level == 3 else ACTS)]
    return [*PLAIN, *READS, *written] if level == 2 else [*PLAIN[:2], PLAIN[3], *READS, *written]


def drafted(room: Room, sketch: Sketch, shape: str = "") -> Draft | None:
    """The plan as a program, with what SQL says of it; None where a phrase of it does not name one thing."""
    plan = p.Plan(nodes=sketch.nodes)
    try:
        expected, change = solve_plan(room.world.sql, plan, room.world.operations)
    except Undetermined:
        return None
    if not change.changes and not any(expected.values()):  # who does nothing would be right
        return None
    return Draft(
        solution=Program(source=plan_code.program(room.world, sketch.nodes, room.sources, room.singles)),
        question=room.intro + sketch.question,
        hidden=room.phrases.hid,
        expected=expected,
        types=p.fields(sketch.nodes),
        ordered=p.ordered(sketch.nodes),
        branches=p.branches(sketch.nodes),
        depth=p.depth(sketch.nodes),
        writes=p.changes(sketch.nodes),
        plan=plan,
        shape=shape,
        change=change,
    )
