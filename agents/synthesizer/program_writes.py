"""The grammar of programs, writing half: what is changed depends on what was found.

One value or another by a condition; every row that meets one; the extreme row; rows that a count puts over the limit;
a new row that sums up; conditions in conditions. Every order changes something, whichever way it goes.
"""

from dataclasses import dataclass

from agent_world.agents.synthesizer import plan as p
from agent_world.agents.synthesizer import program_orders as frames
from agent_world.agents.synthesizer.access import Quality, counts, sorts, updatable
from agent_world.agents.synthesizer.program_figures import decision
from agent_world.agents.synthesizer.program_parts import Crowd, Room, Sketch, draw_crowd
from agent_world.agents.synthesizer.program_reads import tell
from agent_world.agents.synthesizer.program_tests import condition_on, figures_of, kept, splitting
from agent_world.agents.synthesizer.sources import Found, find_row
from agent_world.agents.synthesizer.wording import capital
from agent_world.agents.synthesizer.words import plural, singular, value_text
from agent_world.agents.synthesizer.writes import new_value, referenced

VERBS = {"put": ("update", "updated"), "remove": ("delete", "deleted")}


@dataclass(frozen=True, slots=True)
class Order:
    """Something to be done to rows of a crowd, and how many rows it changes."""

    node: p.Put | p.Remove
    count: p.Scalar
    changed: int


# --- One row ---------------------------------------------------------------------------------------------


def one_value_or_another(room: Room) -> Sketch | None:
    """A cell is set to one value or another, by a value of its own row or by a figure over some group."""
    target = _single(room)
    if target is None:
        return None
    found, column = target
    table = found.action.table
    old = found.row.get(column)
    yes, no = (new_value(room.world, table, column, old, room.rng) for _ in range(2))
    if yes is None or no is None or yes == no:
        return None
    crowd = draw_crowd(room, least=max(room.least, 4)) if room.loops or room.rng.random() < 0.5 else None
    node = (decision(room, crowd) if crowd else None) if crowd or room.loops else _own_decision(room, found, column)
    if node is None:
        return None
    one, words = p.One(subject=found.subject), room.phrases.field(table.name, column)
    form = room.phrases.wording.rng.choice(frames.IF_SET)
    what_first = form.index("{what") < form.index("{test}")
    who = room.phrases.who(one)
    if _points_at(node, one):
        test = room.phrases.condition(node, "" if what_first else who)
        what = f"the {words} of {who}" if what_first else f"its {words}"
    else:
        test, what = room.phrases.condition(node), f"the {words} of {who}"
    extra, said = _figure_of(room, node, crowd)
    report = tell(column, table.column(column).type, p.Written(column=column))
    question = form.format(
        test=test, what=what, what_capital=capital(what), yes=value_text(yes), no=value_text(no),
        tell=said or room.phrases.pick(frames.TELL_FIELD, words=words),
    )  # fmt: skip
    told = extra or (report,)
    ways = {
        "yes": (p.Put(target=one, column=column, value=p.Constant(value=yes)), *told),
        "no": (p.Put(target=one, column=column, value=p.Constant(value=no)), *told),
    }
    return Sketch((node.model_copy(update=ways),), capital(question))


def _single(room: Room) -> tuple[Found, str] | None:
    """A row that a person can point at, and a column of it that a tool can set."""
    tables = [t for t in sorted(room.world.tables) if updatable(room.world, t)]
    found = find_row(room.world, room.rng, table=room.rng.choice(tables), name="it") if tables else None
    if found is None or found.action.table.primary_key not in found.columns:
        return None
    room.singles[found.subject] = found
    columns = [c for c in updatable(room.world, found.action.table.name) if c in found.columns]
    return (found, room.rng.choice(columns)) if columns else None


def _points_at(node: p.Branch, one: p.One) -> bool:
    return isinstance(node.left, p.Cell) and node.left.row == one


def _own_decision(room: Room, found: Found, column: str) -> p.Branch | None:
    """By another value of the row itself, at a quantile of the column."""
    table = found.action.table
    options = []
    for name in sorted(found.columns - {column, table.primary_key, table.label}):
        values = tuple(r.get(name) for r in room.world.rows[table.name])
        quality = Quality(p.Attr(column=name), table, table.column(name), values)
        usable = counts(room.world, quality) or sorts(room.world, quality)
        if usable and found.row.get(name) is not None and all(v is not None for v in values):
            options.append(quality)
    test = condition_on(room, room.rng.choice(options)) if options else None
    if test is None:
        return None
    left = p.Cell(row=p.One(subject=found.subject), attr=test.attr)
    return p.Branch(left=left, comparison=test.comparison, right=p.Constant(value=test.value), yes=(), no=())


def _figure_of(room: Room, node: p.Branch, crowd: Crowd | None) -> tuple[tuple[p.Tell, ...], str]:
    """The figure that decided, asked for as well: it shows that it was worked out."""
    if crowd is None or not isinstance(node.left, p.Share | p.Measure):
        return (), ""
    kind = "number" if isinstance(node.left, p.Share) else room.phrases.kind(node.left)
    key = "percentage" if isinstance(node.left, p.Share) else "figure" if node.left.attr else "count"
    figure = room.phrases.figure(node.left)
    return (tell(key, kind, node.left),), room.phrases.pick(frames.TELL_FIGURE, figure=figure)


def best_set(room: Room) -> Sketch | None:
    """The extreme row of a group is changed."""
    crowd = draw_crowd(room)
    order = _on_extreme(room, crowd) if crowd else None
    if crowd is None or order is None or crowd.label is None:
        return None
    assert isinstance(order.node.target, p.Pick)
    noun, label = singular(crowd.table), crowd.label
    said = room.phrases.pick(frames.TELL_NAME, words=room.phrases.field(crowd.table, label), noun=noun)
    question = room.phrases.pick(frames.ORDER, order=room.phrases.order(order.node), tell=said)
    kind = crowd.source.rows.table.column(label).type
    name = tell(label, kind, p.Cell(row=order.node.target, attr=p.Attr(column=label)))
    return Sketch((name, order.node), capital(question))


def _on_extreme(room: Room, crowd: Crowd) -> Order | None:
    columns = updatable(room.world, crowd.table)
    pool = [q for q in figures_of(room, crowd) if q.attr.column not in columns and len(set(q.values)) > 1]
    pool = [q for q in pool if not (q.attr.children and q.attr.function == "max")]
    key = room.world.tables[crowd.table].primary_key
    if not columns or not pool or key not in crowd.source.columns:
        return None
    column, quality, highest = room.rng.choice(columns), room.rng.choice(pool), room.rng.random() < 0.6
    edge = max(quality.values) if highest else min(quality.values)
    if quality.values.count(edge) != 1:
        return None
    old = crowd.rows[quality.values.index(edge)].get(column)
    value = new_value(room.world, room.world.tables[crowd.table], column, old, room.rng)
    if value is None:
        return None
    pick = p.Pick(of=crowd.whole, by=quality.attr, highest=highest)
    return Order(p.Put(target=pick, column=column, value=p.Constant(value=value)), p.Constant(value=1), 1)


# --- Many rows -------------------------------------------------------------------------------------------


def every_one(room: Room) -> Sketch | None:
    """Each row of a group that meets a condition is changed or deleted."""
    crowd = _changeable(room)
    order = _on_many(room, crowd) if crowd else None
    if crowd is None or order is None:
        return None
    question = room.phrases.pick(frames.ORDER, order=room.phrases.order(order.node), tell=_how_many(room, crowd, order))
    return Sketch((tell("count", "integer", order.count), order.node), capital(question))


def _changeable(room: Room) -> Crowd | None:
    """A group of a table whose rows a tool can change, within the rows that a loop may run over."""
    world = room.world
    deletable = {a.table.name for a in world.of("delete") if a.key and not world.children(a.table.name)}
    if room.kinds and not room.kinds & {"update"}:
        tables = sorted(deletable)
    else:
        tables = sorted({t for t in world.tables if updatable(world, t)} | deletable)
    tables = [t for t in tables if any(a.paths for a in world.of("list", "related", table=t))]
    if not tables:
        return None
    crowd = draw_crowd(room, table=room.rng.choice(tables), most=max(room.most, 10))
    return crowd if crowd and world.tables[crowd.table].primary_key in crowd.source.columns else None


def _on_many(room: Room, crowd: Crowd) -> Order | None:
    world, table = room.world, room.world.tables[crowd.table]
    columns = updatable(world, crowd.table)
    column = room.rng.choice(columns) if columns else ""
    avoid = frozenset({p.Attr(column=column)})
    test = splitting(room, crowd, avoid=avoid) or splitting(room, crowd, loops=False, avoid=avoid)
    if test is None and (room.loops or not crowd.group.where):
        return None
    of = p.Selection(group=crowd.group, tests=(test,) if test else ())
    rows = kept(crowd, of)
    if not 1 <= len(rows) <= max(room.most, 10):
        return None
    count = p.Measure(function="count", of=of)
    removable = world.of("delete", table=crowd.table) and not any(referenced(world, table, r) for r in rows)
    if removable and (not column or room.rng.random() < 0.4):
        return Order(p.Remove(target=of), count, len(rows))
    used = {w.column for w in crowd.group.where}
    value = new_value(world, table, column, None, room.rng) if column and column not in used else None
    if value is None or any(row.get(column) == value for row in rows):
        return None
    return Order(p.Put(target=of, column=column, value=p.Constant(value=value)), count, len(rows))


def _how_many(room: Room, crowd: Crowd, order: Order) -> str:
    do, done = VERBS[order.node.kind]
    return room.phrases.pick(frames.TELL_COUNT, many=plural(crowd.table), do=do, did=done, done=done)


def this_or_that(room: Room) -> Sketch | None:
    """A figure over a group decides what is done: to many of its rows, to one, or to other ones."""
    crowd = _changeable(room)
    node = decision(room, crowd) or decision(room, crowd, loops=False) if crowd else None
    if crowd is None or node is None:
        return None
    test = room.phrases.condition(node)
    yes, no = _two_orders(room, crowd)
    if yes is None or no is None or yes.node == no.node:
        return None
    done = "changed or deleted" if yes.node.kind != no.node.kind else VERBS[yes.node.kind][1]
    do = "change or delete" if yes.node.kind != no.node.kind else VERBS[yes.node.kind][0]
    said = room.phrases.pick(frames.TELL_COUNT, many=plural(crowd.table), do=do, did=done, done=done)
    question = room.phrases.pick(
        frames.IF_ORDER, test=test, yes=room.phrases.order(yes.node), no=room.phrases.order(no.node), tell=said
    )
    return Sketch((node.model_copy(update={"yes": _way(yes), "no": _way(no)}),), capital(question))


def _two_orders(room: Room, crowd: Crowd) -> tuple[Order | None, Order | None]:
    makers = [_on_many, _on_many, _on_extreme]
    found = [order for _ in range(6) if (order := room.rng.choice(makers)(room, crowd))]
    yes = found[0] if found else None
    return yes, next((o for o in found if yes and o.node != yes.node), None)


def _way(order: Order) -> tuple[p.Node, ...]:
    return (tell("count", "integer", order.count), order.node)


def condition_in_condition(room: Room) -> Sketch | None:
    """Two figures decide between three orders."""
    crowd = _changeable(room)
    outer = decision(room, crowd) if crowd else None
    inner = decision(room, crowd, loops=False) if crowd else None
    if crowd is None or outer is None or inner is None or outer.left == inner.left:
        return None
    test, again = room.phrases.condition(outer), room.phrases.condition(inner)
    found: list[Order] = []
    for _ in range(9):
        order = room.rng.choice((_on_many, _on_extreme))(room, crowd)
        if order and all(order.node != o.node for o in found):
            found.append(order)
    if len(found) < 3:
        return None
    one, two, no = found[:3]
    done = ("change or delete", "changed or deleted")
    said = room.phrases.pick(frames.TELL_COUNT, many=plural(crowd.table), do=done[0], did=done[1], done=done[1])
    orders = {
        "no": room.phrases.order(no.node),
        "one": room.phrases.order(one.node),
        "two": room.phrases.order(two.node),
    }
    question = room.phrases.pick(frames.IF_IF_ORDER, test=test, inner=again, tell=said, **orders)
    inside = inner.model_copy(update={"yes": _way(one), "no": _way(two)})
    return Sketch((outer.model_copy(update={"yes": (inside,), "no": _way(no)}),), capital(question))
