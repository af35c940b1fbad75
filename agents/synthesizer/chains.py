"""Graph-based tasks: a walk becomes a chain of calls, a typed answer and a question (section 3.1.1)."""

import random
from dataclasses import dataclass, field
from typing import Any

import networkx as nx

from agent_world.agents.synthesizer.draft import Draft, Keys
from agent_world.agents.synthesizer.meaning import Ask, CountAsk, FieldAsk, Meaning, WinnerAsk
from agent_world.agents.synthesizer.trail import Found, Move, Thing, Trail
from agent_world.agents.synthesizer.walks import Bias, comparable, fields, named_by, roster, subjects, walk
from agent_world.agents.synthesizer.wording import Wording
from agent_world.agents.synthesizer.words import singular
from agent_world.agents.synthesizer.world import World
from agent_world.schema import Argument, Chain, Ref, Step

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
        key = self.keys.new(found.path, _short(found.ask.group.table))
        self.answer[key] = Ref(step=found.step, path=found.path)
        self.types[key] = "integer" if isinstance(found.ask, CountAsk) else "number"
        self.expected[key] = found.expected
        self.asks.append(found.ask)


def _short(table: str) -> str:
    return table if "_by_" in table else singular(table).replace(" ", "_")


def propose_chain(world: World, graph: nx.DiGraph, level: int, bias: Bias, rng: random.Random) -> Draft | None:
    """One candidate of about this level; None when the walk led nowhere."""
    if rng.random() < ROSTERS and not bias.kinds & {"create", "update", "delete"}:
        found = roster(world, level, rng)
        if found is not None:
            trail, column = found
            plan = Plan(world, trail)
            return _draft(plan, trail, rng, level) if _compare(plan, trail.things, column, rng) else None
    trail_or_none = walk(world, graph, level, bias, rng)
    if trail_or_none is None:
        return None
    plan = Plan(world, trail_or_none)
    _ask_leaves(plan, trail_or_none, level, rng)
    return _draft(plan, trail_or_none, rng, level) if plan.answer else None


def _ask_leaves(plan: Plan, trail: Trail, level: int, rng: random.Random) -> None:
    leaves = trail.leaves()
    written = [m for m in leaves if m.command]
    asked = [m for m in leaves if not m.command]
    if level <= 2:
        keep = 2 if level == 2 and rng.random() < 0.6 else 1
        asked = asked[-keep:] if not written or rng.random() < 0.2 else []
    elif rng.random() < 0.5:
        asked = _compare_leaves(plan, asked, rng)
    for move in asked:
        _ask(plan, move, level, rng)
    for move in written:
        for column in move.command.tells if move.command else ():
            plan.tell(move.thing, column)


def _ask(plan: Plan, move: Move, level: int, rng: random.Random) -> None:
    if move.found is not None:
        plan.count(move.found)
    elif move.thing is not None:
        columns = fields(plan.world, move.thing, rng, 1 if rng.random() < (0.85 if level < 3 else 0.6) else 2)
        if columns:
            plan.asks.append(FieldAsk(move.thing.subject, columns))
            for column in columns:
                plan.tell(move.thing, column)


def _compare_leaves(plan: Plan, leaves: list[Move], rng: random.Random) -> list[Move]:
    """Two rows of one table at the ends of a walk are compared; the leaves that remain are returned."""
    for i, one in enumerate(leaves):
        for other in leaves[i + 1 :]:
            if not one.thing or not other.thing or one.action is not other.action:
                continue
            columns = [
                c
                for c in comparable(plan.world, one.action)
                if one.thing.row.get(c) is not None and other.thing.row.get(c) is not None
            ]
            columns = [c for c in columns if one.thing.row[c] != other.thing.row[c]]
            if columns and _compare(plan, [one.thing, other.thing], rng.choice(columns), rng):
                return [m for m in leaves if m is not one and m is not other]
    return leaves


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


def _draft(plan: Plan, trail: Trail, rng: random.Random, level: int) -> Draft:
    commands = [m.command for m in trail.moves if m.command]
    needed = _needed(trail, plan)
    hidden = rng.random() < HIDDEN[level]
    wording = Wording(plan.world, rng, hidden=hidden)
    question = wording.question(Meaning(tuple(plan.asks), tuple(commands)))
    steps, answer = renumber(trail.steps, plan.answer, needed)
    return Draft(
        solution=Chain(steps=steps, answer=answer),
        question=question,
        expected=plan.expected,
        types=plan.types,
        weak_edges=sum(trail.moves[i].kind != "strong" for i in needed),
        hidden=hidden,
        writes=bool(commands),
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


def renumber(
    steps: tuple[Step, ...], answer: dict[str, Ref], kept: list[int]
) -> tuple[tuple[Step, ...], dict[str, Argument]]:
    """Only the steps `kept`, with all references moved along."""
    place = {old: new for new, old in enumerate(kept)}

    def moved(argument: Argument) -> Argument:
        return Ref(step=place[argument.step], path=argument.path) if isinstance(argument, Ref) else argument

    found = tuple(
        Step(tool=steps[i].tool, arguments={name: moved(a) for name, a in steps[i].arguments.items()}) for i in kept
    )
    return found, {key: moved(ref) for key, ref in answer.items()}
