"""How many ways there are to say the same: surface forms of each kind of step, meaning fixed, words varied."""

import random
from collections.abc import Iterator, Sequence

from agent_world.agents.synthesizer.draft import Draft
from agent_world.agents.synthesizer.meaning import (
    Ask,
    CountAsk,
    FieldAsk,
    FoldAsk,
    Meaning,
    RankAsk,
    ReduceAsk,
    ShareAsk,
)
from agent_world.agents.synthesizer.programs import propose_program
from agent_world.agents.synthesizer.telling import Telling
from agent_world.agents.synthesizer.walks import Bias
from agent_world.agents.synthesizer.wording import Wording
from agent_world.agents.synthesizer.world import World

WORDINGS = 300
"""Times that one meaning is put into words."""
ENOUGH = 60
"""Forms after which nobody counts on."""
SAMPLES = 3
"""Meanings looked at of each kind."""
DRAWS = 60
"""Programs drawn at each level in search of all rules of the grammar."""
ASKS = {
    FieldAsk: "ask for a field", CountAsk: "ask for a number of rows", ReduceAsk: "ask for a figure over rows",
    FoldAsk: "ask for a figure over what was looked up", ShareAsk: "ask how many, or which, meet a condition",
    RankAsk: "ask for an order",
}  # fmt: skip


def steps_of(meaning: Meaning) -> Iterator[tuple[str, Meaning]]:
    """Each step of a question as a question of its own, with its kind."""
    for pick in meaning.picks:
        yield (
            f"take the first by {'a value of ' if pick.measure.kind == 'parent' else ''}its {pick.measure.kind}",
            (Meaning(picks=(pick,))),
        )
    for ask in meaning.asks:
        yield _kind(ask), Meaning(asks=(ask,))
    for command in meaning.commands:
        yield f"change: {command.kind}", Meaning(commands=(command,))


def _kind(ask: Ask) -> str:
    return ASKS.get(type(ask), "compare rows")


def forms_of_walks(world: World, drafts: Sequence[Draft]) -> dict[str, int]:
    """The least number of forms that a meaning of each kind has, of up to `SAMPLES` meanings."""
    found: dict[str, list[int]] = {}
    for draft in drafts:
        for kind, step in steps_of(draft.meaning) if draft.meaning else ():
            counts = found.setdefault(kind, [])
            if len(counts) < SAMPLES:
                counts.append(len(wordings(world, step)))
    return {kind: min(counts) for kind, counts in sorted(found.items())}


def wordings(world: World, meaning: Meaning) -> set[str]:
    """Questions that say this, as short walks or as long ones put it; no more than `ENOUGH`."""
    told: set[str] = set()
    long = bool(meaning.picks) or any(isinstance(a, FoldAsk | ShareAsk | RankAsk) for a in meaning.asks)
    long = long or any(c.kind in ("move", "set each") for c in meaning.commands)
    for number in range(WORDINGS):
        rng = random.Random(f"words:{number}")
        teller = Telling(world, rng, hidden=number % 2 == 0) if long else Wording(world, rng)
        told.add(teller.question(meaning))
        if len(told) == ENOUGH:
            break
    return told


def forms_of_programs(world: World, levels: Sequence[int] = (1, 2, 3)) -> dict[str, int]:
    """The same for the rules of the grammar of programs: one plan each, drawn again with other words."""
    found: dict[str, list[int]] = {}
    for level in levels:
        for number in range(DRAWS):
            seed = f"forms:{level}:{number}"
            draft = propose_program(world, level, Bias(), random.Random(seed))
            if draft is not None and len(found.setdefault(draft.shape, [])) < SAMPLES:
                found[draft.shape].append(len(programs_said(world, level, seed, draft)))
    return {f"program: {shape.replace('_', ' ')}": min(counts) for shape, counts in sorted(found.items())}


def programs_said(world: World, level: int, seed: str, draft: Draft) -> set[str]:
    """Questions for the plan of this draft, which was drawn by this seed; no more than `ENOUGH`."""
    told: set[str] = set()
    for number in range(WORDINGS):
        again = propose_program(world, level, Bias(), random.Random(seed), random.Random(f"words:{number}"))
        if again is not None and again.plan == draft.plan:
            told.add(again.question)
        if len(told) == ENOUGH:
            break
    return told
