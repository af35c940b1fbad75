"""The grammar of programs, writing half: conditional, bulk and best-of writes, and deletions."""

from agent_world.agents.synthesizer import program_frames as frames
from agent_world.agents.synthesizer.meaning import Group
from agent_world.agents.synthesizer.shapes import Room, Sketch
from agent_world.agents.synthesizer.sources import (
    Rows,
    call,
    cell,
    find_row,
    find_rows,
    find_test,
    label_of,
    numeric,
    one_extreme,
)
from agent_world.agents.synthesizer.wording import capital
from agent_world.agents.synthesizer.words import degree, field_words, plural, singular, value_text
from agent_world.agents.synthesizer.world import Action, Row
from agent_world.agents.synthesizer.writes import new_value, referenced


def _updaters(room: Room, table: str) -> list[tuple[Action, str, str]]:
    """Update tools of a table that need its key and one value: action, argument, column."""
    found = []
    for action in room.world.of("update", table=table):
        needed = [a for a in action.values if a in action.required] or list(action.values)[:1]
        if len(needed) == 1 and action.key is not None:
            found.append((action, needed[0], action.values[needed[0]]))
    return found


def conditional_set(room: Room) -> Sketch | None:
    """Look, then write one value or another. Over many samples both branches occur."""
    tables = sorted({a.table.name for a in room.world.of("update")})
    if not tables:
        return None
    found = find_row(room.world, room.rng, table=room.rng.choice(tables))
    updaters = _updaters(room, found.subject.table) if found else []
    if found is None or not updaters or found.action.table.primary_key not in found.columns:
        return None
    action, argument, column = room.rng.choice(updaters)
    table = found.action.table
    columns = sorted(c for c in found.columns if c != column and c not in (table.label, table.primary_key))
    test = find_test(room.world, table, room.world.rows[table.name], columns, room.rng)
    yes = new_value(room.world, table, column, found.row.get(column), room.rng)
    no = new_value(room.world, table, column, found.row.get(column), room.rng)
    if test is None or yes is None or yes == no or found.row.get(test.where.column) is None or action.key is None:
        return None
    key = cell(found.action, table.primary_key)
    value = f"{yes!r} if {test.code(cell(found.action, test.where.column))} else {no!r}"
    update = call(action, {action.key: key, argument: "value"})
    lines = (*found.lines, f"value = {value}", f"after = {update}")
    if column not in action.paths:
        return None
    lines = (*lines, f"return {{{column!r}: {cell(action, column, 'after')}}}")
    compared = room.wording.pick(frames.COMPARED[test.where.comparison], value=value_text(test.where.value))
    question = room.wording.pick(
        frames.IF_SET, who=room.wording.subject(found.subject), test=compared,
        what=field_words(room.world, table.name, test.where.column), field=field_words(room.world, table.name, column),
        yes=value_text(yes), no=value_text(no),
    )  # fmt: skip
    expected = {column: yes if test.holds(found.row) else no}
    return Sketch(lines, capital(question), {column: table.column(column).type}, expected, branches=1, writes=True)


def bulk_set(room: Room) -> Sketch | None:
    """Update each row of a group that meets a condition."""
    rows = find_rows(room.world, room.rng, max(room.most, 10), room.least)
    updaters = _updaters(room, rows.table.name) if rows else []
    if rows is None or not updaters or rows.table.primary_key not in rows.columns:
        return None
    action, argument, column = room.rng.choice(updaters)
    group, kept, test = _chosen(room, rows, avoid=column)
    value = new_value(room.world, rows.table, column, None, room.rng)
    if not 1 <= len(kept) <= room.most or value is None or any(r.get(column) == value for r in kept) or not action.key:
        return None
    update = call(action, {action.key: rows.cell(rows.table.primary_key), argument: repr(value)})
    lines = (*rows.lines, f"chosen = [row for row in rows{test}]", "for row in chosen:", f"    {update}")
    question = room.wording.pick(
        frames.BULK_SET, field=field_words(room.world, rows.table.name, column), value=value_text(value),
        group=room.wording.the_group(group), many=plural(rows.table.name),
    )  # fmt: skip
    lines = (*lines, 'return {"count": len(chosen)}')
    return Sketch(
        lines, capital(question), {"count": "integer"}, {"count": len(kept)}, branches=1 if test else 0, writes=True
    )


def bulk_remove(room: Room) -> Sketch | None:
    """Delete each row of a group that nothing refers to."""
    tables = sorted({a.table.name for a in room.world.of("delete") if not room.world.children(a.table.name)})
    rows = find_rows(room.world, room.rng, max(room.most, 10), 1, table=room.rng.choice(tables)) if tables else None
    if rows is None or rows.table.primary_key not in rows.columns:
        return None
    action = next(a for a in room.world.of("delete", table=rows.table.name))
    group, kept, test = _chosen(room, rows)
    if not 1 <= len(kept) <= room.most or not group.where or any(referenced(room.world, rows.table, r) for r in kept):
        return None
    if action.key is None:
        return None
    remove = call(action, {action.key: rows.cell(rows.table.primary_key)})
    lines = (*rows.lines, f"chosen = [row for row in rows{test}]", "for row in chosen:", f"    {remove}")
    question = room.wording.pick(frames.BULK_REMOVE, group=room.wording.the_group(group), many=plural(rows.table.name))
    lines = (*lines, 'return {"count": len(chosen)}')
    return Sketch(
        lines, capital(question), {"count": "integer"}, {"count": len(kept)}, branches=1 if test else 0, writes=True
    )


def _chosen(room: Room, rows: Rows, avoid: str = "") -> tuple[Group, list[Row], str]:
    """The group, often narrowed by a condition on another column."""
    used = {avoid, *(w.column for w in rows.group.where)}
    columns = [c for c in rows.columns if c not in used]
    test = find_test(room.world, rows.table, rows.rows, columns, room.rng)
    if test is None or (rows.group.where and len(rows.rows) <= room.most and room.rng.random() < 0.4):
        return rows.group, rows.rows, ""
    group = Group(rows.group.table, (*rows.group.where, test.where))
    return group, [r for r in rows.rows if test.holds(r)], f" if {test.code(rows.cell(test.where.column))}"


def best_set(room: Room) -> Sketch | None:
    """Find the extreme row of a group, then update that one."""
    rows = find_rows(room.world, room.rng, room.most, room.least)
    updaters = _updaters(room, rows.table.name) if rows else []
    label = label_of(rows) if rows else None
    if rows is None or label is None or not updaters or rows.table.primary_key not in rows.columns:
        return None
    action, argument, column = room.rng.choice(updaters)
    highest = room.rng.random() < 0.6
    columns = [c for c in rows.columns if numeric(room.world, rows.table, c) and c not in (column, label)]
    options = [(c, r) for c in columns if (r := one_extreme(rows.rows, c, highest))]
    if not options or action.key is None:
        return None
    by, row = room.rng.choice(options)
    value = new_value(room.world, rows.table, column, row.get(column), room.rng)
    if value is None:
        return None
    lines = (
        *rows.lines,
        f"best = {'max' if highest else 'min'}(rows, key=lambda row: {rows.cell(by)})",
        call(action, {action.key: rows.cell(rows.table.primary_key, "best"), argument: repr(value)}),
        f"return {{{label!r}: {rows.cell(label, 'best')}}}",
    )
    question = room.wording.pick(
        frames.TOP_SET, group=room.wording.the_group(rows.group), noun=singular(rows.table.name),
        degree=degree(field_words(room.world, rows.table.name, by), highest, few=False),
        what=field_words(room.world, rows.table.name, by),
        field=field_words(room.world, rows.table.name, column), value=value_text(value),
        name=field_words(room.world, rows.table.name, label),
    )  # fmt: skip
    return Sketch(lines, capital(question), {label: rows.table.column(label).type}, {label: row[label]}, writes=True)
