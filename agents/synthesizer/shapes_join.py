"""The grammar of programs, joining half: for each row of a group, its parent or the number of its children."""

from agent_world.agents.synthesizer import program_frames as frames
from agent_world.agents.synthesizer.joins import Join, parents
from agent_world.agents.synthesizer.moves import reduced
from agent_world.agents.synthesizer.shapes import Room, Sketch
from agent_world.agents.synthesizer.sources import (
    Rows,
    Test,
    call,
    cell,
    find_rows,
    find_test,
    label_of,
    numeric,
    one_extreme,
)
from agent_world.agents.synthesizer.wording import capital
from agent_world.agents.synthesizer.words import article, field_words, plural, role_words, singular
from agent_world.agents.synthesizer.world import Row


def join_count(room: Room) -> Sketch | None:
    """For each row of a group, its parent: how many parents meet a condition, or the mean of a column of theirs."""
    found = _joined(room)
    if found is None:
        return None
    rows, join, fetched = found
    table = join.action.table
    columns = sorted(c for c in join.action.paths if c != table.primary_key)
    test = find_test(room.world, table, fetched, columns, room.rng)
    lines = (*rows.lines, f"parents = [{join.fetch(rows.cell(join.link.column))} for row in rows]")
    role = role_words(join.link.column, table.name) or singular(table.name)
    slots = {
        "group": room.wording.the_group(rows.group),
        "many": plural(rows.table.name),
        "parent": role,
        "a_parent": article(role),
    }
    if test is not None and room.rng.random() < 0.6:
        return _join_test(room, lines, join, test, fetched, slots)
    numbers = [c for c in columns if numeric(room.world, table, c) and all(p.get(c) is not None for p in fetched)]
    if not numbers:
        return None
    column = room.rng.choice(numbers)
    value = reduced("mean", [p[column] for p in fetched])
    code = f"values = [{cell(join.action, column, 'parent')} for parent in parents]"
    last = 'return {"average": round(sum(values) / len(values), 2)}'
    words = field_words(room.world, table.name, column)
    question = room.wording.pick(frames.JOIN_MEAN, **slots, field=words)
    return Sketch((*lines, code, last), capital(question), {"average": "number"}, {"average": value})


def _joined(room: Room) -> tuple[Rows, Join, list[Row]] | None:
    rows = find_rows(room.world, room.rng, room.most, room.least)
    if rows is None:
        return None
    whole = [
        j for j in parents(room.world, rows, rows.rows[0]) if all(r.get(j.link.column) is not None for r in rows.rows)
    ]
    if not whole:
        return None
    join = room.rng.choice(whole)
    if join.link.column in {w.column for w in rows.group.where}:
        return None
    fetched = [room.world.where(join.link.table, join.link.target, r[join.link.column])[0] for r in rows.rows]
    return rows, join, fetched


def _join_test(
    room: Room, lines: tuple[str, ...], join: Join, test: Test, fetched: list[Row], slots: dict[str, str]
) -> Sketch:
    code = f"found = [parent for parent in parents if {test.code(cell(join.action, test.where.column, 'parent'))}]"
    condition = room.wording.condition(join.action.table.name, test.where)
    question = room.wording.pick(frames.JOIN_COUNT, **slots, condition=condition)
    expected = {"count": sum(map(test.holds, fetched))}
    return Sketch((*lines, code, 'return {"count": len(found)}'), capital(question), {"count": "integer"}, expected)


def most_children(room: Room) -> Sketch | None:
    """For each row of a group, count its children by a tool: which row has the most."""
    world, rng = room.world, room.rng
    counters = [(a, n, c, k) for a in world.of("count", "related", "list") for n, c in a.filters.items()
                if (k := world.foreign_key(a.table.name, c)) and not set(a.required) - {n}]  # fmt: skip
    if not counters:
        return None
    action, argument, column, link = rng.choice(counters)
    rows = find_rows(world, rng, room.most, room.least, table=link.table)
    label = label_of(rows) if rows else None
    if rows is None or label is None or link.target not in rows.columns:
        return None
    counts = [{"n": len(world.where(action.table.name, column, r[link.target])), **r} for r in rows.rows]
    best = one_extreme(counts, "n", True)
    if best is None:
        return None
    path = "count" if action.kind == "count" else "total"
    lines = (
        *rows.lines,
        f"counts = [({call(action, {argument: rows.cell(link.target)})}[{path!r}], row) for row in rows]",
        "most = max(count for count, _ in counts)",
        "best = next(row for count, row in counts if count == most)",
        f'return {{{label!r}: {rows.cell(label, "best")}, "count": most}}',
    )
    role = role_words(column, link.table)
    question = room.wording.pick(
        frames.MOST_CHILDREN_AS if role else frames.MOST_CHILDREN, group=room.wording.the_group(rows.group), role=role,
        children=plural(action.table.name), noun=singular(rows.table.name),
        name=field_words(world, rows.table.name, label),
    )  # fmt: skip
    types = {label: rows.table.column(label).type, "count": "integer"}
    return Sketch(lines, capital(question), types, {label: best[label], "count": best["n"]})
