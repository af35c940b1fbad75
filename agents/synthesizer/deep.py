"""Long walks that make one coherent question (section 3.1.1): over groups of rows, to one of them, and on from there.

    a group or a row -> (for each row a number -> the first of them -> its parent or its children)* -> what is asked

Each hop is drawn by the weight of the edge of the tool graph that it uses. Where a hop is made for every row of a
group, the walk has a call for each, and the question says it once.
"""

import random
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any, TypeVar

import networkx as nx

from agent_world.agents.synthesizer.draft import Keys
from agent_world.agents.synthesizer.gather import Focus, Many, One, children, many_fresh, one_fresh, roster, union
from agent_world.agents.synthesizer.meaning import Ask, Command, Measure, Pick, Subject
from agent_world.agents.synthesizer.measures import (
    aggregates,
    costly,
    counters,
    leader,
    links,
    lists,
    measure,
    ranked,
)
from agent_world.agents.synthesizer.script import Cell, Script
from agent_world.agents.synthesizer.walks import Bias
from agent_world.agents.synthesizer.world import Action, World
from agent_world.schema import Answer

CALLS = {2: (2, 5), 3: (3, 9), 4: (10, 19), 5: (20, 40)}
"""Calls of a walk, by level."""
SIZES = {2: (2, 10), 3: (2, 10), 4: (4, 18), 5: (8, 38)}
"""Rows of a group, by level."""
PICKS = {2: (0, 1), 3: (0, 2), 4: (0, 2), 5: (0, 2)}
"""How often the first of a group is taken."""
ROSTER = {2: (2, 3), 3: (2, 4), 4: (4, 7), 5: (7, 12)}
"""Rows called by their names."""
HOPS = 6
T = TypeVar("T")


@dataclass(slots=True)
class Story:
    """A walk and what is asked of it, growing."""

    world: World
    graph: nx.DiGraph
    level: int
    bias: Bias
    rng: random.Random
    script: Script
    picks: list[Pick] = field(default_factory=list)
    asks: list[Ask] = field(default_factory=list)
    commands: list[Command] = field(default_factory=list)
    written: set[int] = field(default_factory=set)
    """Steps that change something."""
    choices: int = 0
    """How often what was found decides what comes next."""
    keys: Keys = field(default_factory=Keys)
    answer: dict[str, Answer] = field(default_factory=dict)
    types: dict[str, str] = field(default_factory=dict)
    expected: dict[str, Any] = field(default_factory=dict)
    ordered: set[str] = field(default_factory=set)
    """Keys of lists whose order counts."""

    @property
    def long(self) -> bool:
        return self.level >= 4

    def tell(self, word: str, table: str, answer: Answer, kind: str, expected: Any) -> str:
        """The key of the answer under which it is told."""
        key = self.keys.new(word, table)
        self.answer[key], self.types[key] = answer, kind
        if expected is not None:
            self.expected[key] = expected
        return key

    def edge(self, here: str, there: str) -> float:
        """Squared weight of the edge between two tools, as in any biased walk."""
        return float(self.graph.edges[here, there]["weight"]) ** 2 if here != there else 1.0

    def draw(self, options: Sequence[T], weights: Sequence[float]) -> T | None:
        return self.rng.choices(options, weights)[0] if options and sum(weights) > 0 else None


def go(story: Story) -> Focus | None:
    """From a start to the row or group that the question ends with; None where the walk got stuck."""
    focus = begin(story)
    left = story.rng.randint(*PICKS[story.level])
    for _ in range(HOPS):
        if focus is None:
            return None
        if isinstance(focus, Many):
            if not left:
                return focus
            focus, left = pick(story, focus), left - 1
        else:
            there = onward(story, focus) if left or story.rng.random() < 0.5 else None
            if there is None:
                return focus
            focus = there
    return focus


def begin(story: Story) -> Focus | None:
    """At a tool that lists a group, at a few rows called by name, or (in short walks mostly) at one row."""
    world, rng = story.world, story.rng
    if rng.random() < (0.1 if story.level > 2 else 0.5):
        action = _start(story, world.of("search", "get"))
        return one_fresh(story.script, action, rng) if action else None
    if rng.random() < 0.15:
        tables = [t for t in world.tables.values() if not (t.derivation and t.derivation.kind == "summary")]
        chosen = story.draw(tables, [4.0 if t.label else 1.0 for t in tables])
        return roster(story.script, chosen, rng.randint(*ROSTER[story.level]), rng) if chosen else None
    action = _start(story, [*world.of("list", "related", "search"), *world.of("custom")])
    if action is None:
        return None
    if rng.random() < {4: 0.4, 5: 0.65}.get(story.level, 0.1):
        several = union(story.script, action, SIZES[story.level], rng)
        if several is not None:
            return several
    return many_fresh(story.script, action, SIZES[story.level], rng)


def _start(story: Story, actions: list[Action]) -> Action | None:
    fit = [a for a in actions if not a.writes and a.paths]
    return story.draw(fit, [story.bias.of(a) * (0.5 if a.kind in ("search", "custom") else 1.0) for a in fit])


# --- From a group to one of its rows ------------------------------------------------------------------------


def pick(story: Story, many: Many) -> One | None:
    """The row that leads by a number; where each row needs a call for it, long walks prefer that."""
    world = story.world
    options = [
        (wanted, highest)
        for wanted in ranked(world, world.tables[many.table])
        for highest in (True, False)
        if wanted.function not in (("min",) if highest else ("max",))
        and not settled(many, wanted)
        and leader(world, many.sites, wanted, highest)
    ]
    chosen = story.draw(options, [measure_weight(story, many, m) * (1.5 if high else 1.0) for m, high in options])
    if chosen is None:
        return None
    wanted, highest = chosen
    site = leader(world, many.sites, wanted, highest)
    if site is None or not measure_all(story, many, wanted):
        return None
    story.picks.append(Pick(many.group, wanted, highest))
    story.choices += 1
    return One(Subject("that", many.table, ""), site, measure_tool(story.world, wanted) or many.tool)


def settled(many: Many, wanted: Measure) -> bool:
    """Whether the group is made by this very column, so that asking for it says nothing."""
    made_by = {w.column for w in many.group.where}
    if wanted.kind == "own":
        return wanted.column in made_by or many.group.measure == wanted
    return wanted.kind == "parent" and wanted.link in made_by


def measure_weight(story: Story, many: Many, wanted: Measure) -> float:
    tool = measure_tool(story.world, wanted) or many.tool
    each = costly(many.sites, wanted)
    depth = (8.0 if each else 0.3) if story.long else (0.6 if each else 1.0)
    kind = {"own": 1.0, "parent": 0.8, "children": 1.0, "fold": 0.5}[wanted.kind]
    return story.edge(many.tool, tool) * depth * kind


def measure_tool(world: World, wanted: Measure) -> str | None:
    """The tool that shows it first."""
    if wanted.kind == "parent":
        return next((a.name for a in world.of("get", table=wanted.table) if a.key), None)
    if wanted.kind == "children":
        return next((a.name for a, _ in counters(world, world.tables[wanted.table], wanted.link)), None)
    if wanted.kind == "fold":
        return next((a.name for a, _ in [*aggregates(world, wanted), *lists(world, wanted)]), None)
    return None


def measure_all(story: Story, many: Many, wanted: Measure) -> list[Cell]:
    """Call for every row, and claim what comes out. Empty where one cannot be called for."""
    cells = []
    for site in many.sites:
        cell = measure(story.script, site, wanted)
        if cell is None:
            return []
        story.script.claim(cell)
        cells.append(cell)
    return cells


# --- From one row to others ---------------------------------------------------------------------------------


def onward(story: Story, one: One) -> Focus | None:
    """To its parent or the group of its children; None where there is no way on."""
    world = story.world
    options: list[tuple[str, Action, str, str]] = []
    for link, parent in links(world, world.tables[one.site.table]):
        if fixed(story, one, link):
            continue
        options += [("parent", a, "", link) for a in world.of("get", table=parent.name) if a.key][:1]
    for action in world.of("list", "related"):
        for argument, column in action.filters.items():
            key = world.foreign_key(action.table.name, column)
            if key and key.table == one.site.table and not set(action.required) - {argument}:
                options.append(("children", action, argument, column))
    weights = [story.edge(one.tool, o[1].name) * (1.5 if o[0] == "children" else 0.7) for o in options]
    chosen = story.draw(options, weights)
    if chosen is None:
        return None
    kind, action, argument, column = chosen
    if kind == "children":
        return children(story.script, action, argument, column, one, SIZES[story.level])
    site = story.script.parent(one.site, column)
    if site is None or one.subject.depth > 1:
        return None
    return One(Subject("parent", site.table, column, of=one.subject), site, action.name)


def fixed(story: Story, one: One, link: str) -> bool:
    """Whether the row was found among those of one parent, so that to go back there leads in a circle."""
    if one.subject.kind != "that" or not story.picks:
        return False
    return any(w.column == link and not w.measure for w in story.picks[-1].group.where)
