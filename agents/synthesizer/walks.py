"""Biased random walks over the tool graph (section 3.1.1), from a seed.

A walk starts at a tool that produces output and needs no strong predecessor; the next tool is drawn by the weight of
the edge to it. Each step is a `Move`: a call whose arguments are bound to what was seen, or to a real row.
"""

import random
from dataclasses import dataclass

import networkx as nx

from agent_world.agents.synthesizer.derived import day_part, superlative
from agent_world.agents.synthesizer.graph import starts
from agent_world.agents.synthesizer.meaning import Subject
from agent_world.agents.synthesizer.moves import read_moves
from agent_world.agents.synthesizer.trail import Move, Thing, Trail
from agent_world.agents.synthesizer.world import WRITES, Action, World
from agent_world.agents.synthesizer.writes import askable, given, write_moves

LENGTHS = (1, 2)
"""Calls of a short walk (pruning may shorten it)."""
ROSTER = 2
"""Rows compared in one short question."""
DEEPEST = 4
"""Most relations in one referring phrase."""


@dataclass(frozen=True, slots=True)
class Bias:
    """What steers a walk beyond the weights of the edges."""

    kinds: frozenset[str] = frozenset()
    """Operation kinds that a guideline asks for: three times as likely."""
    writes: float = 0.28
    """Share of walks that end in a change of state."""

    @property
    def writing(self) -> float:
        """Share of walks that change something, with what the guideline asks for."""
        return min(0.6, self.writes * (2 if self.kinds & {"create", "update", "delete"} else 1))

    def writing_in(self, world: World) -> float:
        """More where a service has business of its own."""
        return min(0.6, self.writing * (1.6 if world.operations else 1.0))

    def of(self, action: Action) -> float:
        """Derived tables are asked about less often: people know them less."""
        return (3.0 if action.kind in self.kinds else 1.0) * (0.5 if action.table.synthetic else 1.0)


def walk(world: World, graph: nx.DiGraph, bias: Bias, rng: random.Random) -> Trail | None:
    """A short one. None when it got stuck before it showed anything."""
    wanted = rng.randint(*LENGTHS)
    writers = [*world.of(*WRITES), *world.operations, *world.placings]
    writing = bool(writers) and rng.random() < bias.writing_in(world)
    trail = Trail()
    here: str | None = None
    for _ in range(wanted - writing):
        move = _next_read(world, graph, trail, here, bias, rng)
        if move is None:
            break
        trail.add(move)
        here = move.action.name
    if writing:
        move = _next_write(world, graph, trail, here, writers, bias, rng)
        if move is not None:
            trail.add(move)
            if move.after is not None:
                trail.add(move.after)
    return trail if trail.moves else None


def _next_read(
    world: World, graph: nx.DiGraph, trail: Trail, here: str | None, bias: Bias, rng: random.Random
) -> Move | None:
    readers = [a for a in world.actions if a.walkable and not a.writes]
    if here is None:
        free = set(starts(graph))
        readers = [a for a in readers if a.name in free or not a.paths] or readers
        weights = [bias.of(a) for a in readers]
    else:
        weights = [bias.of(a) * _weight(graph, here, a.name) for a in readers]
    for action in _drawn(readers, weights, rng, tries=6):
        move = _choose(read_moves(world, trail, action, rng), rng)
        if move is not None:
            return move
    return None


def _weight(graph: nx.DiGraph, here: str, there: str) -> float:
    return float(graph.edges[here, there]["weight"]) ** 2 if here != there else 1.0


def _drawn(actions: list[Action], weights: list[float], rng: random.Random, tries: int) -> list[Action]:
    return [rng.choices(actions, weights)[0] for _ in range(tries)] if actions else []


def _choose(moves: list[Move], rng: random.Random) -> Move | None:
    """By the weight of the edge that each uses; rows rather than numbers in the middle of a walk."""
    fit = [m for m in moves if _depth(m) <= DEEPEST]
    if not fit:
        return None
    weights = [{"strong": 9.0, "weak": 4.0}.get(m.kind, 1.0) * (1.5 if m.thing else 1.0) for m in fit]
    return rng.choices(fit, weights)[0]


def _depth(move: Move) -> int:
    if move.thing is not None:
        return move.thing.subject.depth
    if move.found is not None:
        return 1 + max((w.subject.depth for w in move.found.ask.group.where if w.subject), default=0)
    return 1


def _next_write(
    world: World,
    graph: nx.DiGraph,
    trail: Trail,
    here: str | None,
    writers: list[Action],
    bias: Bias,
    rng: random.Random,
) -> Move | None:
    weights = [bias.of(a) * (_weight(graph, here, a.name) if here else 1.0) for a in writers]
    for action in _drawn(writers, weights, rng, tries=6):
        moves = write_moves(world, trail, action, rng)
        if moves:
            return rng.choice(moves)
    return None


def roster(world: World, rng: random.Random) -> tuple[Trail, str] | None:
    """Two rows of one table looked up by name or key, to be compared by the returned column."""
    lookups = [a for a in world.of("get", "search") if comparable(world, a)]
    if not lookups:
        return None
    action = rng.choice(lookups)
    trail = Trail()
    for _ in range(ROSTER * 3):
        single = [m for m in read_moves(world, trail, action, rng) if m.thing and m.kind == "independent"]
        if single:
            trail.add(single[0])
        if len(trail.moves) == ROSTER:
            break
    columns = [c for c in comparable(world, action) if _decides(world, trail.things, c)]
    return (trail, rng.choice(columns)) if len(trail.moves) >= 2 and columns else None


def comparable(world: World, action: Action) -> list[str]:
    """Numeric columns that the tool shows and that are no keys."""
    table = action.table
    keys = {table.primary_key, *(k.column for k in table.foreign_keys)}
    return sorted(
        c.name
        for c in table.columns
        if c.type in ("integer", "number")
        and c.name in action.paths
        and c.name not in keys
        and not day_part(table, c.name)
        and not superlative(c.name)
    )


def _decides(world: World, things: list[Thing], column: str) -> bool:
    """Whether each row has the number, and no other of that name, and the extremes are reached once."""
    numbers = [t.row.get(column) for t in things if world.clear_cell(t.subject.table, column, t.row)]
    known = [n for n in numbers if isinstance(n, int | float) and not isinstance(n, bool)]
    if len(known) < len(things) or len(known) < 2:
        return False
    return known.count(max(known)) == 1 and known.count(min(known)) == 1


def named_by(world: World, things: list[Thing]) -> str | None:
    """A column that tells the rows apart and that all of them show."""
    table = world.tables[things[0].subject.table]
    for column in (table.label, table.primary_key):
        if column and all(column in t.paths and t.row.get(column) is not None for t in things):
            return column
    return None


def fields(world: World, thing: Thing, rng: random.Random, count: int) -> tuple[str, ...]:
    """Columns worth asking for, in the order of the table."""
    shown = [c.name for c in world.tables[thing.subject.table].columns if askable(world, thing, c.name)]
    wanted = [c for c in shown if not given(thing.row[c], thing.subject.literals())]
    chosen = set(rng.sample(wanted, min(count, len(wanted))))
    return tuple(c for c in wanted if c in chosen)


def subjects(things: list[Thing]) -> tuple[Subject, ...]:
    return tuple(t.subject for t in things)
