"""The grammar of programs, business half, on parts of a row: those that meet a condition, or the leading one."""

from typing import Any

from agent_world.agents.synthesizer import plan as p
from agent_world.agents.synthesizer import program_orders as frames
from agent_world.agents.synthesizer.access import Source, counts
from agent_world.agents.synthesizer.meaning import Group, Subject, Where
from agent_world.agents.synthesizer.moves import statable
from agent_world.agents.synthesizer.operations import arguments_for, exchanges, open_to
from agent_world.agents.synthesizer.program_parts import Crowd, Room, Sketch
from agent_world.agents.synthesizer.program_reads import tell
from agent_world.agents.synthesizer.program_tests import figures_of, kept, splitting
from agent_world.agents.synthesizer.sources import Found, Rows, whole
from agent_world.agents.synthesizer.wording import capital
from agent_world.agents.synthesizer.words import field_words
from agent_world.agents.synthesizer.world import Action, Row


def some_parts(room: Room) -> Sketch | None:
    """Parts of a row that meet a condition; what they come to together is told."""
    options = [a for a in room.world.operations if a.rule and a.rule.parts and not a.rule.swap]
    found = _owner_of_parts(room, room.rng.choice(options)) if options else None
    if found is None:
        return None
    action, crowd, owner = found
    assert action.rule is not None
    of = action.rule.parts
    assert of is not None
    test = splitting(room, crowd, loops=False)
    if test is None:
        return None
    some = p.Selection(group=crowd.group, tests=(test,))
    names = [row[of.column] for row in kept(crowd, some)]
    values = _other_values(room, action, owner.row, p.Listing(of=some, attr=p.Attr(column=of.column)))
    figures = [q for q in figures_of(room, crowd, loops=False) if counts(room.world, q)]
    if values is None or not figures or len(set(names)) < len(names):
        return None
    total = p.Measure(function="sum", of=some, attr=room.rng.choice(figures).attr)
    node = p.Act(tool=action.name, target=p.One(subject=owner.subject), values=values)
    question = room.phrases.pick(frames.ORDER, order=room.phrases.order(node), tell="{tell}")
    told = room.phrases.pick(frames.TELL_FIGURE, figure=room.phrases.figure(total))
    kind = room.phrases.kind(total)
    return Sketch((tell("total", kind, total), node), capital(question.replace("{tell}", told)))


def swapped_part(room: Room) -> Sketch | None:
    """The part that leads by a value is exchanged for the one that leads among what it can be exchanged for."""
    options = [a for a in room.world.operations if a.rule and a.rule.parts and a.rule.swap and a.rule.swap.same]
    found = _owner_of_parts(room, room.rng.choice(options)) if options else None
    if found is None:
        return None
    action, crowd, owner = found
    rule = action.rule
    assert rule is not None
    assert rule.parts is not None
    assert rule.swap is not None
    old = _leader(room, crowd, crowd.whole)
    part = _row_of(crowd, old) if old else None
    stock = _stock(room, action, part) if part else None
    if old is None or part is None or stock is None:
        return None
    flag = rule.swap.flag
    if flag and p.Attr(column=flag) not in {quality.attr for quality in stock.qualities}:
        return None  # the list does not show which of them there are
    tests = (p.Test(attr=p.Attr(column=flag), comparison="=", value=True),) if flag else ()
    new = _leader(room, stock, p.Selection(group=stock.group, tests=tests))
    target = _row_of(stock, new) if new else None
    if new is None or target is None or target[rule.swap.target] == part[rule.parts.column]:
        return None
    if target[rule.swap.target] not in set(exchanges(room.world, rule, part, room.rng)):
        return None
    values = _other_values(room, action, owner.row, p.Cell(row=old, attr=p.Attr(column=rule.parts.column)))
    if values is None:
        return None
    given = dict(values) | {rule.swap.argument: p.Cell(row=new, attr=p.Attr(column=rule.swap.target))}
    ordered = tuple((a, given[a]) for a in action.required if a in given)
    node = p.Act(tool=action.name, target=p.One(subject=owner.subject), values=ordered)
    figure = p.Cell(row=new, attr=new.by)
    words = room.phrases.pick(frames.TELL_NEW, words=field_words(room.world, stock.table, new.by.column))
    question = room.phrases.pick(frames.ORDER, order=room.phrases.order(node), tell=words)
    kind = room.world.tables[stock.table].column(new.by.column).type
    return Sketch((tell(new.by.column, kind, figure), node), capital(question))


def _owner_of_parts(room: Room, action: Action) -> tuple[Action, Crowd, Found] | None:
    """The parts of a row that the operation can be done on, and that row, called by its key."""
    rule = action.rule
    of = rule.parts if rule else None
    if rule is None or of is None or action.key is None or room.world.opaque(action.table.name):
        return None
    key, world = action.table.primary_key, room.world
    lists = [a for a in world.of("related", table=of.table) if a.filters and of.link in a.filters.values()]
    for row in room.rng.sample(world.rows[action.table.name], min(30, len(world.rows[action.table.name]))):
        parts = world.where(of.table, of.link, row.get(of.target))
        if not lists or len(parts) < 2 or not open_to(rule, row) or not statable(row[key]):
            continue
        crowd = _listed(room, lists[0], of.link, row[of.target], parts, "parts")
        if of.column in crowd.source.columns:
            return (
                action,
                crowd,
                Found((), Subject("key", action.table.name, key, row[key]), row, frozenset(), action, ""),
            )
    return None


def _listed(room: Room, action: Action, column: str, value: Any, rows: list[Row], name: str) -> Crowd:
    argument = next(a for a, c in action.filters.items() if c == column)
    line = f"{name} = {whole(action, {argument: repr(value)}, len(rows))}"
    group = Group(action.table.name, (Where(column, value),))
    source = Source(Rows((line,), group, rows, action, name))
    room.sources[group] = source
    return Crowd.of_source(room.world, source)


def _stock(room: Room, action: Action, part: Row) -> Crowd | None:
    """What a part can be exchanged for, as a tool lists it."""
    swap = action.rule.swap if action.rule else None
    assert swap is not None
    assert swap.same is not None
    value = part.get(swap.same[0])
    rows = room.world.where(swap.table, swap.same[1], value)
    for found in room.world.of("related", "list", table=swap.table):
        if swap.same[1] in found.filters.values() and found.whole and swap.target in found.paths and statable(value):
            return _listed(room, found, swap.same[1], value, rows, "stock")
    return None


def _other_values(
    room: Room, action: Action, row: Row, parts: p.Scalar | p.Listing
) -> tuple[tuple[str, p.Scalar | p.Listing], ...] | None:
    rule = action.rule
    found = arguments_for(room.world, action, row, room.rng)
    if rule is None or rule.parts is None or found is None:
        return None
    swap = rule.swap.argument if rule.swap else ""
    given = {a: parts if a == rule.parts.argument else p.Constant(value=v) for a, v in found.items() if a != swap}
    return tuple(given.items())


def _leader(room: Room, crowd: Crowd, of: p.Selection) -> p.Pick | None:
    pool = figures_of(room, crowd, loops=False)
    rows = kept(crowd, of)
    for quality in room.rng.sample(pool, len(pool)):
        if not quality.attr.own:
            continue
        values = [row[quality.attr.column] for row in rows]
        highest = room.rng.random() < 0.5
        if len(values) > 1 and values.count(max(values) if highest else min(values)) == 1:
            return p.Pick(of=of, by=quality.attr, highest=highest)
    return None


def _row_of(crowd: Crowd, pick: p.Pick) -> Row:
    edge = max if pick.highest else min
    return edge(kept(crowd, pick.of), key=lambda row: row[pick.by.column])
