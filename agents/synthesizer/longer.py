"""Long walks as drafts: walked, ended, pruned, measured against the level that is wanted, and told."""

import random

import networkx as nx

from agent_world.agents.synthesizer.deeds import act_on_each, act_on_row
from agent_world.agents.synthesizer.deep import CALLS, Story, go
from agent_world.agents.synthesizer.draft import Draft
from agent_world.agents.synthesizer.endings import ask_group, ask_row
from agent_world.agents.synthesizer.gather import One
from agent_world.agents.synthesizer.meaning import Meaning
from agent_world.agents.synthesizer.realise import level_of
from agent_world.agents.synthesizer.script import Script, renumber
from agent_world.agents.synthesizer.telling import Telling
from agent_world.agents.synthesizer.walks import Bias
from agent_world.agents.synthesizer.world import World
from agent_world.schema import Chain, Ref

WORDINGS = 4
"""Ways in which one question is put, so that one that reads like another task's can be put otherwise."""


def propose_deep(
    world: World, graph: nx.DiGraph, level: int, bias: Bias, rng: random.Random, hidden: bool
) -> Draft | None:
    """One candidate of exactly this level; None when the walk led nowhere, or to another level."""
    story = Story(world, graph, level, bias, rng, Script(world))
    if not _ended(story):
        return None
    kept = story.script.needed(story.answer, story.written)
    branches = max(0, story.choices - 1)
    fewest, most = CALLS[level]
    if not fewest <= len(kept) <= most or level_of(len(kept), hidden or branches > 0) != level:
        return None
    return _draft(story, kept, branches, hidden)


def _ended(story: Story) -> bool:
    """Whether the walk came to something that can be asked or done."""
    focus = go(story)
    if focus is None:
        return False
    if story.rng.random() < story.bias.writing_in(story.world):
        done = act_on_row(story, focus) if isinstance(focus, One) else act_on_each(story, focus)
        if done:
            return True
        if story.written:  # half of a change is none
            return False
    return ask_row(story, focus) if isinstance(focus, One) else ask_group(story, focus)


def _draft(story: Story, kept: list[int], branches: int, hidden: bool) -> Draft:
    meaning = Meaning(tuple(story.asks), tuple(story.commands), tuple(story.picks))
    told = [Telling(story.world, story.rng, hidden).question(meaning) for _ in range(WORDINGS)]
    steps, answer = renumber(story.script.steps, story.answer, kept)
    place = {old: new for new, old in enumerate(kept)}
    kinds = [story.script.kinds[i] for i in kept]
    return Draft(
        solution=Chain(steps=steps, answer=answer),
        question=told[0],
        others=tuple(told[1:]),
        expected=story.expected,
        types=story.types,
        ordered=frozenset(story.ordered),
        branches=branches,
        weak_edges=kinds.count("weak"),
        independent_edges=kinds.count("independent"),
        hidden=hidden,
        claims=tuple((Ref(step=place[ref.step], path=ref.path), value) for ref, value in story.script.claims),
        writes=bool(story.commands),
        meaning=meaning,
    )
