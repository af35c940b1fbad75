"""The grammar of programs: a new row that holds what was found."""

from agent_world.agents.synthesizer import plan as p
from agent_world.agents.synthesizer import program_orders as frames
from agent_world.agents.synthesizer.moves import statable
from agent_world.agents.synthesizer.program_parts import Room, Sketch, draw_crowd
from agent_world.agents.synthesizer.program_reads import tell
from agent_world.agents.synthesizer.program_tests import splitting
from agent_world.agents.synthesizer.wording import capital
from agent_world.agents.synthesizer.writes import unused


def summing_row(room: Room) -> Sketch | None:
    """A new row that holds what was found: a count or a figure over a group, and the row it is about."""
    world, rng = room.world, room.rng
    creates = [a for a in world.of("create") if a.paths]
    crowd = draw_crowd(room, least=max(room.least, 3))
    if not creates or crowd is None:
        return None
    action = rng.choice(creates)
    table = action.table
    test = splitting(room, crowd)
    if test is None:
        return None
    count = p.Measure(function="count", of=p.Selection(group=crowd.group, tests=(test,)))
    values: list[tuple[str, p.Scalar]] = []
    free = [a for a in action.values if action.values[a] not in (table.primary_key, table.label)]
    wanted = [
        a for a in free
        if table.column(action.values[a]).type == "integer" and room.phrases.counted(table.name, action.values[a])
    ]  # fmt: skip
    if not wanted:
        return None
    counted = rng.choice(wanted)
    model = rng.choice(world.rows[table.name])
    for argument, column in action.values.items():
        if argument == counted:
            values.append((column, count))
        elif argument in action.required:
            value = _fitting(room, table.name, column, model)
            if not statable(value):
                return None
            values.append((column, p.Constant(value=value)))
    node = p.Add(table=table.name, values=tuple(values))
    words = room.phrases.field(table.name, action.values[counted])
    said = room.phrases.pick(frames.TELL_FIELD, words=words)
    column = action.values[counted]
    question = room.phrases.pick(frames.ORDER, order=room.phrases.order(node), tell=said)
    return Sketch((tell(column, "integer", count), node), capital(question))


def _fitting(room: Room, table: str, name: str, model: dict[str, object]) -> object:
    """A value for a cell of a new row: a key that is free, a parent that exists, else one like others."""
    found = room.world.tables[table]
    column, link = found.column(name), room.world.foreign_key(table, name)
    if name == found.primary_key or column.unique:
        taken = {row.get(name) for row in room.world.rows[table]}
        return unused(model.get(name), taken, room.rng, named=name == found.label)
    if link is not None:
        return room.rng.choice(room.world.rows[link.table])[link.target]
    return model.get(name)
