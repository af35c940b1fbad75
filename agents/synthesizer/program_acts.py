"""The grammar of programs, business half: operations of a service, on rows that their conditions allow.

On every row of a group that is in the right state, on the extreme one of them, on parts that meet a condition, or one
operation or another by a figure. Which rows allow what is read from the rules that are kept with the tools.
"""

from dataclasses import dataclass

from agent_world.agents.synthesizer import plan as p
from agent_world.agents.synthesizer import program_orders as frames
from agent_world.agents.synthesizer.operations import after, arguments_for, in_order, open_to
from agent_world.agents.synthesizer.program_figures import decision
from agent_world.agents.synthesizer.program_parts import Crowd, Room, Sketch, draw_crowd
from agent_world.agents.synthesizer.program_reads import tell
from agent_world.agents.synthesizer.program_tests import figures_of, kept, splitting
from agent_world.agents.synthesizer.wording import capital
from agent_world.agents.synthesizer.words import plural, singular
from agent_world.agents.synthesizer.world import Action, Row


@dataclass(frozen=True, slots=True)
class Deed:
    """An operation on rows of a crowd, and those rows."""

    node: p.Act
    of: p.Selection
    rows: list[Row]


# --- On rows of a group ----------------------------------------------------------------------------------


def every_one_open(room: Room) -> Sketch | None:
    """The operation is done on each row of a group that is in the state for it, and meets a condition."""
    crowd, action = _crowd(room)
    deed = _on_each(room, crowd, action) if crowd and action else None
    if crowd is None or deed is None:
        return None
    question = room.phrases.pick(frames.ORDER, order=room.phrases.order(deed.node), tell=_how_many(room, crowd))
    return Sketch((tell("count", "integer", _count(deed)), deed.node), capital(question))


def extreme_open(room: Room) -> Sketch | None:
    """Of the rows in the state for it, the operation is done on the one that leads by a value."""
    crowd, action = _crowd(room)
    deed = _on_extreme(room, crowd, action) if crowd and action else None
    label = crowd.label if crowd else None
    if crowd is None or deed is None or label is None:
        return None
    words = room.phrases.field(crowd.table, label)
    said = room.phrases.pick(frames.TELL_NAME, words=words, noun=singular(crowd.table))
    question = room.phrases.pick(frames.ORDER, order=room.phrases.order(deed.node), tell=said)
    assert isinstance(deed.node.target, p.Pick)
    kind = crowd.source.rows.table.column(label).type
    name = tell(label, kind, p.Cell(row=deed.node.target, attr=p.Attr(column=label)))
    return Sketch((name, deed.node), capital(question))


def one_deed_or_another(room: Room) -> Sketch | None:
    """A figure over a group decides which operation is done."""
    crowd, first = _crowd(room)
    node = (decision(room, crowd) or decision(room, crowd, loops=False)) if crowd else None
    if crowd is None or first is None or node is None:
        return None
    test = room.phrases.condition(node)
    deeds: list[Deed] = []
    others = [a for a in room.world.operations if a.table.name == crowd.table and a.rule and not a.rule.parts]
    for action in [first, *room.rng.sample(others, len(others))] * 2:
        deed = room.rng.choice((_on_each, _on_extreme))(room, crowd, action)
        if deed is not None and all(deed.node != d.node for d in deeds):
            deeds.append(deed)
    if len(deeds) < 2:
        return None
    yes, no = deeds[:2]
    question = room.phrases.pick(
        frames.IF_ORDER, test=test, yes=room.phrases.order(yes.node), no=room.phrases.order(no.node),
        tell=_how_many(room, crowd),
    )  # fmt: skip
    ways = {w: (tell("count", "integer", _count(d)), d.node) for w, d in (("yes", yes), ("no", no))}
    return Sketch((node.model_copy(update=ways),), capital(question))


def _crowd(room: Room) -> tuple[Crowd | None, Action | None]:
    """A group of which the state and the key of each row can be had, and an operation that some row allows."""
    options = [a for a in room.world.operations if a.rule and not a.rule.parts]
    if not options or not room.loops:
        return None, None
    action = room.rng.choice(options)
    least = 2 if room.calls < 6 else room.least  # a few rows make a short program
    crowd = draw_crowd(room, table=action.table.name, least=least, most=room.most)
    if crowd is None or action.table.primary_key not in crowd.source.columns:
        return None, None
    return crowd, action


def _open(crowd: Crowd, action: Action) -> p.Selection | None:
    """The rows in the state for it."""
    rule = action.rule
    if rule is None or (rule.status and rule.status not in crowd.source.columns):
        return None
    if rule.status is None:
        return crowd.whole
    if rule.needs is None or rule.empty:
        return None
    attr = p.Attr(column=rule.status)
    if attr not in {quality.attr for quality in crowd.qualities}:  # the group is made by it
        return crowd.whole if all(open_to(rule, row) for row in crowd.rows) else None
    test = p.Test(attr=attr, comparison="=", value=rule.needs)
    return p.Selection(group=crowd.group, tests=(test,))


def _values(room: Room, action: Action, rows: list[Row]) -> tuple[tuple[str, p.Scalar], ...] | None:
    """Arguments that do for all rows."""
    found = arguments_for(room.world, action, rows[0], room.rng) if rows else None
    if found is None:
        return None
    for named in action.rule.references if action.rule else ():
        if named.shared and len({row.get(named.shared[0]) for row in rows}) > 1:
            return None
    if any(not in_order(action.rule, row, after(action, row, found)) for row in rows if action.rule):
        return None
    if len(rows) > 1 and action.rule and action.rule.capacity:
        return None
    return tuple((argument, p.Constant(value=value)) for argument, value in found.items())


def _on_each(room: Room, crowd: Crowd, action: Action) -> Deed | None:
    of = _open(crowd, action)
    if of is None:
        return None
    avoid = frozenset(t.attr for t in of.tests)
    test = splitting(room, crowd, avoid=avoid) if room.rng.random() < 0.5 or not of.tests else None
    more = of.model_copy(update={"tests": (*of.tests, test)}) if test else of
    of = more if kept(crowd, more) else of
    rows = kept(crowd, of)
    values = _values(room, action, rows)
    if not 1 <= len(rows) <= 12 or values is None or not of.tests:
        return None
    return Deed(p.Act(tool=action.name, target=of, values=values), of, rows)


def _on_extreme(room: Room, crowd: Crowd, action: Action) -> Deed | None:
    of = _open(crowd, action)
    rows = kept(crowd, of) if of else []
    if of is None or len(rows) < 2:
        return None
    pool = [q for loops in (True, False) for q in figures_of(room, crowd, loops)]
    for quality in room.rng.sample(pool, len(pool)):
        value = {id(row): v for row, v in zip(crowd.rows, quality.values, strict=True)}
        values = [value[id(row)] for row in rows]
        highest = room.rng.random() < 0.6
        edge = max(values) if highest else min(values)
        if values.count(edge) != 1:
            continue
        row = rows[values.index(edge)]
        given = _values(room, action, [row])
        if given is not None:
            pick = p.Pick(of=of, by=quality.attr, highest=highest)
            return Deed(p.Act(tool=action.name, target=pick, values=given), of, [row])
    return None


def _count(deed: Deed) -> p.Scalar:
    if isinstance(deed.node.target, p.Selection):
        return p.Measure(function="count", of=deed.of)
    return p.Constant(value=1)


def _how_many(room: Room, crowd: Crowd) -> str:
    return room.phrases.pick(frames.TELL_DEEDS, many=plural(crowd.table))
