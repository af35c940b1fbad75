"""The grammar of programs, reading half: filter, aggregate, list, extreme, join, count per row, compare and branch.

A shape draws its parts from the environment's tools and rows, so that its conditions are not trivial, and says what
the answer is by the rows alone. Each returns None when the environment has nothing that fits.
"""

import random
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

from agent_world.agents.synthesizer import program_frames as frames
from agent_world.agents.synthesizer.joins import Join, parents
from agent_world.agents.synthesizer.meaning import CountAsk, Group, ReduceAsk
from agent_world.agents.synthesizer.moves import reduced, statable
from agent_world.agents.synthesizer.sources import (
    Rows,
    cell,
    find_rows,
    find_test,
    label_of,
    numeric,
    one_extreme,
)
from agent_world.agents.synthesizer.wording import Wording, capital
from agent_world.agents.synthesizer.words import (
    additive,
    column_words,
    degree,
    field_words,
    plural,
    role_words,
    singular,
)
from agent_world.agents.synthesizer.world import Row, World


@dataclass(frozen=True, slots=True)
class Sketch:
    """A program's body, its question, and its answer as the rows have it."""

    lines: tuple[str, ...]
    question: str
    types: Mapping[str, str]
    expected: dict[str, Any]
    branches: int = 0
    ordered: frozenset[str] = frozenset()
    writes: bool = False


@dataclass(frozen=True, slots=True)
class Room:
    """What a shape may use: the world, its words, chance, and how many rows a loop may run over."""

    world: World
    wording: Wording
    rng: random.Random
    most: int
    least: int = 2
    kinds: frozenset[str] = field(default_factory=frozenset)


Shape = Callable[[Room], Sketch | None]


def narrowed(room: Room, rows: Rows) -> tuple[Group, list[Row], str]:
    """Usually a further condition on the group: the group in words, its rows, and the code of the filter."""
    test = find_test(room.world, rows.table, rows.rows, rows.columns, room.rng)
    used = {w.column for w in rows.group.where}
    if test is None or test.where.column in used or (rows.group.where and room.rng.random() < 0.25):
        return rows.group, rows.rows, ""
    group = Group(rows.group.table, (*rows.group.where, test.where))
    return group, [r for r in rows.rows if test.holds(r)], f" if {test.code(rows.cell(test.where.column))}"


def count_matching(room: Room) -> Sketch | None:
    rows = find_rows(room.world, room.rng, room.most, room.least)
    if rows is None:
        return None
    test = find_test(room.world, rows.table, rows.rows, rows.columns, room.rng)
    if test is None or test.where.column in {w.column for w in rows.group.where}:
        return None
    lines = (*rows.lines, f"found = [row for row in rows if {test.code(rows.cell(test.where.column))}]")
    group = Group(rows.group.table, (*rows.group.where, test.where))
    expected = {"count": sum(map(test.holds, rows.rows))}
    question = room.wording.ask(CountAsk(group))
    return Sketch((*lines, 'return {"count": len(found)}'), question, {"count": "integer"}, expected)


def reduce_matching(room: Room) -> Sketch | None:
    rows = find_rows(room.world, room.rng, room.most, room.least)
    if rows is None:
        return None
    group, kept, test = narrowed(room, rows)
    columns = [c for c in rows.columns if numeric(room.world, rows.table, c)]
    columns = [
        c for c in columns if c not in {w.column for w in group.where} and all(r.get(c) is not None for r in kept)
    ]
    if len(kept) < 2 or not columns:
        return None
    column, function = room.rng.choice(columns), room.rng.choice(("sum", "mean", "max", "min"))
    if function == "sum" and not additive(column_words(column)):
        function = "mean"
    whole = rows.table.column(column).type == "integer" and function != "mean"
    key = f"{function}_{column}" if function in ("max", "min") else {"sum": "total", "mean": "average"}[function]
    lines = (*rows.lines, f"values = [{rows.cell(column)} for row in rows{test}]")
    value = reduced(function, [r[column] for r in kept])
    code = {"sum": "sum(values)", "mean": "sum(values) / len(values)"}.get(function, f"{function}(values)")
    rounding = function in ("sum", "mean") and not whole
    last = f"return {{{key!r}: round({code}, 2)}}" if rounding else f"return {{{key!r}: {code}}}"
    question = room.wording.ask(ReduceAsk(group, column, function, rounded=rounding))
    return Sketch((*lines, last), question, {key: "integer" if whole else "number"}, {key: value})


def name_matching(room: Room) -> Sketch | None:
    rows = find_rows(room.world, room.rng, room.most, room.least)
    label = label_of(rows) if rows else None
    if rows is None or label is None:
        return None
    group, kept, test = narrowed(room, rows)
    if not 1 <= len(kept) <= 8 or not all(statable(r[label]) for r in kept):
        return None
    key = plural(label).replace(" ", "_").removesuffix("_entries")
    key = key if key.endswith("s") else f"{key}s"
    lines = (*rows.lines, f"return {{{key!r}: [{rows.cell(label)} for row in rows{test}]}}")
    words = field_words(room.world, group.table, label)
    question = room.wording.pick(
        frames.NAMES, what=words, group=room.wording.the_group(group), many=plural(group.table)
    )
    kind = rows.table.column(label).type
    return Sketch(lines, capital(question), {key: f"[{kind}]"}, {key: [r[label] for r in kept]})


def extreme(room: Room) -> Sketch | None:
    """The row of a group with the greatest or least value; often a field of its parent, fetched afterwards."""
    rows = find_rows(room.world, room.rng, room.most, room.least)
    label = label_of(rows) if rows else None
    if rows is None or label is None:
        return None
    columns = [c for c in rows.columns if numeric(room.world, rows.table, c)]
    highest = room.rng.random() < 0.6
    options = [(c, r) for c in columns if (r := one_extreme(rows.rows, c, highest)) and c != label]
    if not options:
        return None
    column, row = room.rng.choice(options)
    lines = (*rows.lines, f"best = {'max' if highest else 'min'}(rows, key=lambda row: {rows.cell(column)})")
    names = {
        "degree": degree(field_words(room.world, rows.table.name, column), highest, few=False),
        "what": field_words(room.world, rows.table.name, column),
        "group": room.wording.the_group(rows.group),
    }
    joins = parents(room.world, rows, row)
    if joins and room.rng.random() < 0.6:
        return _extreme_parent(room, rows, row, lines, names, room.rng.choice(joins))
    told = [label, column]
    cells = ", ".join(f"{c!r}: {rows.cell(c, 'best')}" for c in told)
    types = {c: rows.table.column(c).type for c in told}
    question = room.wording.pick(
        frames.EXTREME, **names, noun=singular(rows.table.name), name=field_words(room.world, rows.table.name, label)
    )
    return Sketch((*lines, f"return {{{cells}}}"), capital(question), types, {c: row[c] for c in told})


def _extreme_parent(
    room: Room, rows: Rows, row: Row, lines: tuple[str, ...], names: dict[str, str], join: Join
) -> Sketch | None:
    parent = room.world.where(join.link.table, join.link.target, row[join.link.column])[0]
    table = join.action.table
    columns = [c for c in join.action.paths if statable(parent.get(c)) and c != table.primary_key]
    if not columns:
        return None
    column = room.rng.choice(sorted(columns))
    lines = (*lines, f"parent = {join.fetch(rows.cell(join.link.column, 'best'))}")
    lines = (*lines, f"return {{{column!r}: {cell(join.action, column, 'parent')}}}")
    role = role_words(join.link.column, table.name) or singular(table.name)
    wanted = field_words(room.world, table.name, column)
    question = room.wording.pick(
        frames.EXTREME_PARENT, **names, noun=singular(rows.table.name), parent=role, field=wanted
    )
    return Sketch(lines, capital(question), {column: table.column(column).type}, {column: parent[column]})


def compare_groups(room: Room) -> Sketch | None:
    """Two groups compared by size or mean; what is told depends on which is ahead."""
    world, rng = room.world, room.rng
    one = find_rows(world, rng, room.most, room.least)
    if one is None or len(one.group.where) != 1 or one.group.where[0].subject is not None:
        return None
    other = next((r for _ in range(8) if (r := _sibling(room, one))), None)
    columns = [c for c in one.columns if numeric(world, one.table, c)]
    label = label_of(one)
    if other is None or label is None or not columns or len(one.rows) == len(other.rows):
        return None
    column = rng.choice(columns)
    ahead = one if len(one.rows) > len(other.rows) else other
    best = one_extreme(ahead.rows, column, True)
    if best is None or column == label:
        return None
    lines = (
        *one.lines, *other.lines,
        "if len(rows) > len(others):", "    chosen = rows", "else:", "    chosen = others",
        f"best = max(chosen, key=lambda row: {one.cell(column)})",
        f"return {{{label!r}: {one.cell(label, 'best')}, \"count\": len(chosen)}}",
    )  # fmt: skip
    question = room.wording.pick(
        frames.COMPARE_GROUPS, one=room.wording.group(one.group), other=room.wording.group(other.group),
        what=field_words(world, one.table.name, column), name=field_words(world, one.table.name, label),
        noun=singular(one.table.name),
    )  # fmt: skip
    types = {label: one.table.column(label).type, "count": "integer"}
    return Sketch(lines, capital(question), types, {label: best[label], "count": len(ahead.rows)}, branches=1)


def _sibling(room: Room, one: Rows) -> Rows | None:
    other = find_rows(room.world, room.rng, room.most, room.least, table=one.table.name, name="others")
    if other is None or other.action is not one.action or other.group == one.group:
        return None
    same = [w.column for w in other.group.where] == [w.column for w in one.group.where]
    return other if same and other.group.where[0].subject is None else None
