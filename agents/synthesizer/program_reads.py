"""The grammar of programs, reading half: each shape draws its parts from the environment's tools and rows.

Count, reduce, list, extreme (or a value of its parent), share, difference and ratio of two groups, best of several
groups, and one figure or another by a condition. A shape returns None when the environment has nothing that fits.
"""

from collections.abc import Callable
from typing import Literal

from agent_world.agents.synthesizer import frames as words
from agent_world.agents.synthesizer import plan as p
from agent_world.agents.synthesizer import program_frames as frames
from agent_world.agents.synthesizer import program_orders as orders
from agent_world.agents.synthesizer.access import Quality
from agent_world.agents.synthesizer.meaning import CountAsk, ReduceAsk
from agent_world.agents.synthesizer.moves import statable
from agent_world.agents.synthesizer.program_figures import decision, key_of_measure, measure
from agent_world.agents.synthesizer.program_parts import Crowd, Room, Sketch, draw_crowd, sibling
from agent_world.agents.synthesizer.program_tests import (
    as_group,
    averages_of,
    figures_of,
    kept,
    kinds_of,
    narrowed,
    splitting,
)
from agent_world.agents.synthesizer.wording import capital
from agent_world.agents.synthesizer.words import additive, column_words, degree, field_words, many_of, plural, singular

MOST_RANKED = 8
"""Rows put in order, at most."""
Shape = Callable[[Room], Sketch | None]


def tell(key: str, kind: str, value: p.Expression) -> p.Tell:
    return p.Tell(key=key, type=kind, value=value)


def asked(room: Room, found: p.Measure | p.Share | p.Versus) -> str:
    """A question for a figure."""
    figure = room.phrases.figure(found, rounded=False)
    rounding = room.phrases.pick(frames.ROUND) if room.phrases.fraction(found) else ""
    return capital(room.phrases.pick(words.TELL + frames.WHAT_IS, what=figure)) + rounding


def count_matching(room: Room) -> Sketch | None:
    crowd = draw_crowd(room)
    test = splitting(room, crowd) if crowd else None
    if crowd is None or test is None:
        return None
    of = p.Selection(group=crowd.group, tests=(test,))
    group = as_group(of)
    if group is not None and not room.loops:
        question = room.phrases.wording.ask(CountAsk(group))
    else:
        does = room.phrases.does(crowd.table, test)
        question = capital(room.phrases.pick(frames.COUNT, group=room.phrases.the(crowd.whole), does=does))
    return Sketch((tell("count", "integer", p.Measure(function="count", of=of)),), question)


def reduce_matching(room: Room) -> Sketch | None:
    crowd = draw_crowd(room)
    of = narrowed(room, crowd) if crowd else None
    found = measure(room, crowd, of) if crowd and of else None
    if crowd is None or of is None or found is None or found.attr is None:
        return None
    group = as_group(of)
    if group is not None and found.attr.own and not room.loops:
        rounded = room.phrases.kind(found) == "number" and found.function in ("sum", "mean")
        question = room.phrases.wording.ask(ReduceAsk(group, found.attr.column, found.function, rounded=rounded))
    else:
        question = asked(room, found)
    return Sketch((tell(key_of_measure(found), room.phrases.kind(found), found),), question)


def name_matching(room: Room) -> Sketch | None:
    crowd = draw_crowd(room)
    label = crowd.label if crowd else None
    if crowd is None or label is None:
        return None
    test = splitting(room, crowd) if room.loops else None
    of = p.Selection(group=crowd.group, tests=(test,)) if test else narrowed(room, crowd)
    rows = kept(crowd, of)
    if (room.loops and test is None) or not 1 <= len(rows) <= 8 or not all(statable(r[label]) for r in rows):
        return None
    key = plural(label).replace(" ", "_").removesuffix("_entries")
    key = key if key.endswith("s") else f"{key}s"
    what = field_words(room.world, crowd.table, label)
    group = as_group(of)
    said = room.phrases.wording.the_group(group) if group and not room.loops else room.phrases.the(of)
    question = capital(room.phrases.pick(frames.NAMES, what=what, whats=many_of(what), group=said))
    kind = crowd.source.rows.table.column(label).type
    return Sketch((tell(key, f"[{kind}]", p.Listing(of=of, attr=p.Attr(column=label))),), question)


def ranking(room: Room) -> Sketch | None:
    """Rows in the order of a value that no two share, or the first few of them."""
    crowd = draw_crowd(room)
    label = crowd.label if crowd else None
    pool = [q for q in figures_of(room, crowd) if q.attr.column != label and q.attr.function != "max"] if crowd else []
    if crowd is None or label is None or not pool:
        return None
    quality, highest = room.rng.choice(pool), room.rng.random() < 0.6
    rows, values = crowd.rows, sorted(quality.values, reverse=highest)
    most = 0 if len(rows) <= MOST_RANKED else room.rng.randint(3, MOST_RANKED - 1)
    places = values[: most + 1] if most else values
    if len(places) < 3 or len(set(places)) < len(places) or not all(statable(row[label]) for row in rows):
        return None
    what, by = room.phrases.field(crowd.table, label), room.phrases.words_of_all(crowd.table, quality.attr)
    listing = p.Listing(of=crowd.whole, attr=p.Attr(column=label), by=quality.attr, highest=highest, first=most)
    key = many_of(label)
    question = room.phrases.pick(
        frames.RANK_FIRST if most else frames.RANK, whats=many_of(what), group=room.phrases.the(crowd.whole), by=by,
        best=degree(by.partition(" of their ")[0], highest, few=False), count=str(most),
    )  # fmt: skip
    kind = crowd.source.rows.table.column(label).type
    return Sketch((tell(key, f"[{kind}]", listing),), capital(question))


def extreme(room: Room) -> Sketch | None:
    """The row with the greatest or least value; sometimes a value of its parent, fetched afterwards."""
    crowd = draw_crowd(room)
    label = crowd.label if crowd else None
    pool = figures_of(room, crowd) if crowd else []
    pool = [
        q for q in pool if q.attr.column != label and _spread(q) and not (q.attr.children and q.attr.function == "max")
    ]
    if crowd is None or label is None or not pool:
        return None
    quality, highest = room.rng.choice(pool), room.rng.random() < 0.6
    pick = p.Pick(of=crowd.whole, by=quality.attr, highest=highest)
    slots = {
        "group": room.phrases.the(crowd.whole),
        "noun": singular(crowd.table),
        "most": room.phrases.most(crowd.table, quality.attr, highest),
    }
    parents = [q for q in crowd.qualities if q.attr.via and not q.attr.children and all(map(statable, q.values))]
    if parents and not room.loops and room.rng.random() < 0.5:
        return _of_parent(room, crowd, pick, room.rng.choice(parents), slots)
    name = field_words(room.world, crowd.table, label)
    kind = crowd.source.rows.table.column(label).type
    tells = [tell(label, kind, p.Cell(row=pick, attr=p.Attr(column=label)))]
    report = room.phrases.pick(frames.REPORT, told=name)
    if quality.attr.own and room.rng.random() < 0.6:
        figure = room.phrases.pick(("that value", "that figure", "the value"))
        report = room.phrases.pick(frames.REPORT_TWO, told=name, figure=figure)
        tells.append(tell(quality.attr.column, quality.type, p.Cell(row=pick, attr=quality.attr)))
    return Sketch(tuple(tells), capital(room.phrases.pick(frames.EXTREME, **slots, report=report)))


def _spread(quality: Quality) -> bool:
    return len(set(quality.values)) > 2 or len(quality.values) == 2


def _of_parent(room: Room, crowd: Crowd, pick: p.Pick, wanted: Quality, slots: dict[str, str]) -> Sketch:
    told = room.phrases.words(crowd.table, wanted.attr).replace(" of its ", " of the ")
    noun = slots["noun"]
    report = room.phrases.pick(orders.TELL_NAME, words=told, noun=noun)
    question = capital(room.phrases.pick(frames.EXTREME, **slots, report=report))
    value = p.Cell(row=pick, attr=wanted.attr)
    return Sketch((tell(wanted.attr.column, wanted.type, value),), question)


def share(room: Room) -> Sketch | None:
    crowd = draw_crowd(room, least=max(room.least, 4))
    test = splitting(room, crowd) if crowd else None
    if crowd is None or test is None:
        return None
    found = p.Share(of=crowd.whole, test=test)
    return Sketch((tell("percentage", "number", found),), asked(room, found))


def versus(room: Room) -> Sketch | None:
    """Two groups of one kind, by a figure of each."""
    one = draw_crowd(room)
    other = sibling(room, one) if one else None
    if one is None or other is None:
        return None
    left = measure(room, one, one.whole)
    if left is None or left.attr not in {q.attr for q in other.qualities if q.full}:
        return None
    right = left.model_copy(update={"of": other.whole})
    how: Literal["difference", "ratio"] = (
        "ratio" if left.function in ("sum", "mean") and room.rng.random() < 0.3 else "difference"
    )
    found = p.Versus(how=how, left=left, right=right)
    if how == "ratio" and any(
        v <= 0 for c in (one, other) for q in c.qualities if q.attr == left.attr for v in q.values
    ):
        return None
    kind = "number" if how == "ratio" else room.phrases.kind(left)
    return Sketch((tell(how, kind, found),), asked(room, found))


def best_group(room: Room) -> Sketch | None:
    """Rows by a kind of theirs: which kind is the most common, or has the greatest mean."""
    crowd = draw_crowd(room, least=max(room.least, 5))
    pool = [q for q in kinds_of(room, crowd) if len(set(q.values)) >= 3] if crowd else []
    if crowd is None or not pool:
        return None
    by = room.rng.choice(pool)
    spoken = room.phrases.words(crowd.table, by.attr).replace(" of its ", " of the ")
    figures = [q for q in averages_of(room, crowd, loops=False) if q.attr != by.attr]
    group, highest = room.phrases.the(crowd.whole), room.rng.random() < 0.7
    if figures and room.rng.random() < 0.5:
        of = room.rng.choice(figures)
        function: p.Function = "sum" if of.attr.own and additive(column_words(of.attr.column)) else "mean"
        if room.rng.random() < 0.6:
            function = "mean"
        best = p.Best(of=crowd.whole, by=by.attr, function=function, attr=of.attr, highest=highest)
        kind, key = ("number", "average") if function == "mean" else (of.type, "total")
        question = room.phrases.pick(
            frames.BEST_FIGURE, group=group, by=spoken, word=room.phrases.pick(words.REDUCTIONS[function]),
            what=room.phrases.words(crowd.table, of.attr), degree=degree("", highest, few=False),
            rounded=room.phrases.pick(frames.ROUNDED) if kind == "number" else "",
        )  # fmt: skip
    else:
        best, kind, key = p.Best(of=crowd.whole, by=by.attr, function="count"), "integer", "count"
        question = room.phrases.pick(frames.BEST_COUNT, group=group, by=spoken)
    tells = (tell(by.attr.column, by.type, best), tell(key, kind, best.model_copy(update={"figure": True})))
    return Sketch(tells, capital(question))


def one_figure_or_another(room: Room) -> Sketch | None:
    """A condition decides which figure is told; both are of the same type."""
    crowd = draw_crowd(room, least=max(room.least, 4))
    node = decision(room, crowd) if crowd else None
    if crowd is None or node is None:
        return None
    test = room.phrases.condition(node)
    found = [
        m for _ in range(6) if (m := measure(room, crowd, crowd.whole, loops=room.rng.random() < 0.5 and room.loops))
    ]
    pairs = [(a, b) for a in found for b in found if a != b and room.phrases.kind(a) == room.phrases.kind(b)]
    pairs = [(a, b) for a, b in pairs if node.left not in (a, b)]
    if not pairs:
        return None
    yes, no = room.rng.choice(pairs)
    kind = room.phrases.kind(yes)
    said = {"yes": room.phrases.figure(yes, rounded=False), "no": room.phrases.figure(no, rounded=False)}
    question = room.phrases.pick(frames.IF_ASK, test=test, **said)
    if kind == "number":
        question += " Round to two decimals where there are more."
    node = node.model_copy(update={"yes": (tell("figure", kind, yes),), "no": (tell("figure", kind, no),)})
    return Sketch((node,), capital(question))
