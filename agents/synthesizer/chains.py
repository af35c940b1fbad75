"""Graph-based tasks: a walk becomes a chain of calls, a typed answer and a question (section 3.1.1).

Short walks (level 1) are here; the long ones are in `longer`.
"""

import random
from dataclasses import dataclass, field
from typing import Any

import networkx as nx

from agent_world.agents.synthesizer.draft import Draft, Keys
from agent_world.agents.synthesizer.longer import propose_deep
from agent_world.agents.synthesizer.meaning import Ask, CountAsk, FieldAsk, Meaning, WinnerAsk
from agent_world.agents.synthesizer.script import renumber
from agent_world.agents.synthesizer.trail import Found, Move, Thing, Trail
from agent_world.agents.synthesizer.walks import Bias, fields, named_by, roster, subjects, walk
from agent_world.agents.synthesizer.wording import Wording
from agent_world.agents.synthesizer.words import singular
from agent_world.agents.synthesizer.world import World
from agent_world.schema import Chain, Ref

ROSTERS = 0.18
"""Share of graph tasks that compare rows looked up one by one."""
HIDDEN = {1: 0.0, 2: 0.1, 3: 0.4, 4: 0.6, 5: 0.8}
"""Share of questions whose cues are hidden, by level."""


@dataclass(slots=True)
class Plan:
    """What is asked of a trail, growing: asks, and for each answer key where it is seen and what it should be."""

    world: World
    trail: Trail
    asks: list[Ask] = field(default_factory=list)
    keys: Keys = field(default_factory=Keys)
    answer: dict[str, Ref] = field(default_factory=dict)
    types: dict[str, str] = field(default_factory=dict)
    expected: dict[str, Any] = field(default_factory=dict)

    def tell(self, thing: Thing | None, column: str) -> None:
        if thing is None:
            return
        thing = next(t for t in self.trail.things if self._shows(t, thing, column))
        key = self.keys.new(column, _short(thing.subject.table))
        self.answer[key] = thing.ref(column)
        self.types[key] = self.world.tables[thing.subject.table].column(column).type
        if thing.row.get(column) is not None:
            self.expected[key] = thing.row[column]

    def _shows(self, seen: Thing, wanted: Thing, column: str) -> bool:
        """Whether an earlier step has it already, so that the later one can be pruned; not what a write tells."""
        written = self.trail.moves[wanted.step].command is not None
        return seen is wanted or (not written and seen.subject == wanted.subject and column in seen.paths)

    def count(self, found: Found) -> None:
        self.tell_number(found)
        self.asks.append(found.ask)

    def tell_number(self, found: Found) -> None:
        key = self.keys.new(found.path, _short(found.ask.group.table))
        self.answer[key] = Ref(step=found.step, path=found.path)
        self.types[key] = "integer" if isinstance(found.ask, CountAsk) else "number"
        self.expected[key] = found.expected


def _short(table: str) -> str:
    return table if "_by_" in table else singular(table).replace(" ", "_")


def propose_chain(world: World, graph: nx.DiGraph, level: int, bias: Bias, rng: random.Random) -> Draft | None:
    """One candidate of this level; None when the walk led nowhere."""
    if level > 1:
        return propose_deep(world, graph, level, bias, rng, hidden=rng.random() < HIDDEN[level])
    if rng.random() < ROSTERS and not bias.kinds & {"create", "update", "delete"}:
        found = roster(world, rng)
        if found is not None:
            trail, column = found
            plan = Plan(world, trail)
            return _draft(plan, trail, rng) if _compare(plan, trail.things, column, rng) else None
    trail_or_none = walk(world, graph, bias, rng)
    if trail_or_none is None:
        return None
    plan = Plan(world, trail_or_none)
    _ask_leaves(plan, trail_or_none, rng)
    return _draft(plan, trail_or_none, rng) if plan.answer else None


def _ask_leaves(plan: Plan, trail: Trail, rng: random.Random) -> None:
    """Of the last read, or of what was written."""
    leaves = trail.leaves()
    written = [m for m in leaves if m.command]
    shown = [m.after for m in written if m.after]
    asked = [m for m in leaves if not m.command and m not in shown][-1:]
    if written and rng.random() >= 0.2:
        asked = []
    for move in asked:
        _ask(plan, move, rng)
    for move in written:
        for column in move.command.tells if move.command else ():
            plan.tell(move.thing, column)
        if move.after is not None and move.after.found is not None:
            plan.tell_number(move.after.found)


def _ask(plan: Plan, move: Move, rng: random.Random) -> None:
    if move.found is not None:
        plan.count(move.found)
    elif move.thing is not None:
        columns = fields(plan.world, move.thing, rng, 1 if rng.random() < 0.85 else 2)
        if columns:
            plan.asks.append(FieldAsk(move.thing.subject, columns))
            for column in columns:
                plan.tell(move.thing, column)


def _compare(plan: Plan, things: list[Thing], column: str, rng: random.Random) -> bool:
    name = named_by(plan.world, things)
    if name is None or name == column or len({t.row[name] for t in things}) < len(things):
        return False
    highest = rng.random() < 0.6
    winner = (max if highest else min)(things, key=lambda t: t.row[column])
    plan.asks.append(WinnerAsk(subjects(things), column, highest, name))
    plan.tell(winner, name)
    plan.tell(winner, column)
    return True


def _draft(plan: Plan, trail: Trail, rng: random.Random) -> Draft:
    commands = [m.command for m in trail.moves if m.command]
    needed = _needed(trail, plan)
    wording = Wording(plan.world, rng)
    meaning = Meaning(tuple(plan.asks), tuple(commands))
    question = wording.question(meaning)
    steps, answer = renumber(trail.steps, plan.answer, needed)
    return Draft(
        solution=Chain(steps=steps, answer=answer),
        question=question,
        expected=plan.expected,
        types=plan.types,
        weak_edges=sum(trail.moves[i].kind == "weak" for i in needed),
        independent_edges=sum(trail.moves[i].kind == "independent" for i in needed),
        writes=bool(commands),
        meaning=meaning,
    )


def _needed(trail: Trail, plan: Plan) -> list[int]:
    """Steps that the answer, a comparison or a change of state depends on; the rest is pruned."""
    compared = {s for a in plan.asks if isinstance(a, WinnerAsk) for s in a.subjects}
    wanted = {ref.step for ref in plan.answer.values()}
    wanted |= {i for i, m in enumerate(trail.moves) if m.command or (m.thing and m.thing.subject in compared)}
    for i in range(len(trail.moves) - 1, -1, -1):
        if i in wanted:
            wanted |= trail.moves[i].uses()
    return sorted(wanted)
