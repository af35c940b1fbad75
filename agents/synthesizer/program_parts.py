"""What shapes of programs are drawn from: groups of rows, conditions that split them, figures, thresholds that decide.

No condition is trivial: one on rows holds for some of them and fails for some, at a threshold near a quantile of
their values; one on a figure is put where it holds for some groups of the kind and fails for others.
"""

import random
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

from agent_world.agents.synthesizer import plan as p
from agent_world.agents.synthesizer.access import Quality, Source, counts, dated, detail_of, qualities, sorts
from agent_world.agents.synthesizer.meaning import Comparison, Group, Subject, Where
from agent_world.agents.synthesizer.moves import statable
from agent_world.agents.synthesizer.plan_sql import Reading, Undetermined, compare
from agent_world.agents.synthesizer.plan_words import Phrases
from agent_world.agents.synthesizer.sources import Found, find_rows
from agent_world.agents.synthesizer.words import additive, column_words
from agent_world.agents.synthesizer.world import Row, World

MARGIN = 0.15
"""Least share of rows on either side of a condition."""
SIGNS: tuple[Comparison, ...] = (">", "<", ">=", "<=")
FUNCTIONS: tuple[p.Function, ...] = ("sum", "mean", "max", "min")


@dataclass(slots=True)
class Room:
    """What a shape may use: the world, its words, chance, how many rows a loop runs over; and the groups it drew."""

    world: World
    phrases: Phrases
    rng: random.Random
    most: int
    least: int = 2
    loops: bool = False
    """Whether the values looked at are to take a call a row."""
    kinds: frozenset[str] = field(default_factory=frozenset)
    sources: dict[Group, Source] = field(default_factory=dict)
    singles: dict[Subject, Found] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Sketch:
    """A plan and its question."""

    nodes: tuple[p.Node, ...]
    question: str


@dataclass(frozen=True, slots=True)
class Crowd:
    """A group that a program can get, with all that its rows can be asked for."""

    source: Source
    qualities: tuple[Quality, ...]

    @property
    def group(self) -> Group:
        return self.source.rows.group

    @property
    def whole(self) -> p.Selection:
        return p.Selection(group=self.group)

    @property
    def table(self) -> str:
        return self.source.rows.table.name

    @property
    def rows(self) -> list[Row]:
        return self.source.rows.rows

    @property
    def label(self) -> str | None:
        """The column by which an answer can name a row."""
        table = self.source.rows.table
        for column in (table.label, table.primary_key):
            if column and column in self.source.columns and all(r.get(column) is not None for r in self.rows):
                return column
        return None


def draw_crowd(room: Room, table: str | None = None, name: str = "rows", most: int = 0, least: int = 0) -> Crowd | None:
    rows = find_rows(room.world, room.rng, most or room.most, least or room.least, table=table, name=name)
    if rows is None:
        return None
    source = Source(rows, detail_of(room.world, rows) if room.loops else None)
    room.sources[rows.group] = source
    return Crowd(source, tuple(qualities(room.world, source)))


def sibling(room: Room, crowd: Crowd) -> Crowd | None:
    """Another group of the same kind: the same tool and column, another value."""
    where = crowd.group.where
    if len(where) != 1 or where[0].subject is not None:
        return None
    for _ in range(8):
        other = draw_crowd(room, crowd.table, "others")
        if other is None or other.group == crowd.group or other.source.rows.action is not crowd.source.rows.action:
            continue
        if [w.column for w in other.group.where] == [where[0].column] and other.group.where[0].subject is None:
            return other
    return None


# --- Values and conditions -------------------------------------------------------------------------------


def figures_of(room: Room, crowd: Crowd, loops: bool | None = None) -> list[Quality]:
    """Quantities of the rows; those that take a call a row, where the room wants loops."""
    wanted = room.loops if loops is None else loops
    return [q for q in crowd.qualities if q.loops == wanted and counts(room.world, q)]


def averages_of(room: Room, crowd: Crowd, loops: bool | None = None) -> list[Quality]:
    """Quantities whose mean says something: no parts of dates, no places, no maxima."""
    return [q for q in figures_of(room, crowd, loops) if not _placed(q) and q.attr.function != "max"]


def _placed(quality: Quality) -> bool:
    last = column_words(quality.attr.column).rpartition(" ")[2] if quality.attr.column else ""
    return last in ("year", "month", "day", "date", "hour", "minute", "latitude", "longitude", "place", "rank")


def kinds_of(room: Room, crowd: Crowd, loops: bool | None = None) -> list[Quality]:
    wanted = room.loops if loops is None else loops
    return [q for q in crowd.qualities if q.loops == wanted and sorts(room.world, q)]


def dates_of(room: Room, crowd: Crowd, loops: bool | None = None) -> list[Quality]:
    """Days, as text that sorts; some rows may have none."""
    wanted = room.loops if loops is None else loops
    return [q for q in crowd.qualities if q.loops == wanted and dated(q)]


def splitting(
    room: Room, crowd: Crowd, loops: bool | None = None, avoid: frozenset[p.Attr] = frozenset()
) -> p.Test | None:
    """A condition that some rows meet and some do not."""
    pool = [*figures_of(room, crowd, loops), *kinds_of(room, crowd, loops), *dates_of(room, crowd, loops)]
    for quality in room.rng.sample(pool, len(pool)):
        if quality.attr in avoid:
            continue
        test = condition_on(room, quality)
        if test is not None:
            return test
    return None


def condition_on(room: Room, quality: Quality) -> p.Test | None:
    """At a quantile of the values; None when none divides them."""
    if dated(quality):
        days = sorted(v for v in quality.values if v is not None)
        day = days[int(room.rng.uniform(0.2, 0.8) * len(days))]
        test = p.Test(attr=quality.attr, comparison=room.rng.choice(SIGNS[:2]), value=day)
        return test if splits(test, quality) else None
    if not counts(room.world, quality):
        values = sorted({v for v in quality.values if statable(v)}, key=str)
        options = [p.Test(attr=quality.attr, comparison="=", value=value) for value in values]
        fit = [t for t in options if splits(t, quality)]
        return room.rng.choice(fit) if fit else None
    sign = room.rng.choice(SIGNS)
    for value in _thresholds(quality, room.rng):
        test = p.Test(attr=quality.attr, comparison=sign, value=value)
        if splits(test, quality):
            return test
    return None


def _thresholds(quality: Quality, rng: random.Random) -> list[Any]:
    """A quantile of the values, the roundest first; nought says little ("over 0 seats")."""
    ordered = sorted(quality.values)
    at = ordered[int(rng.uniform(0.2, 0.8) * len(ordered))]
    near = [_typed(quality.type, float(f"{at:.{digits}g}")) for digits in (1, 2, 3, 4, 5)]
    return [value for value in (*near, at) if value]


def _typed(kind: str, value: float) -> Any:
    return int(value) if kind == "integer" else value


def splits(test: p.Test, quality: Quality) -> bool:
    share = sum(compare(v, test.comparison, test.value) for v in quality.values) / len(quality.values)
    return MARGIN <= share <= 1 - MARGIN


def narrowed(room: Room, crowd: Crowd, often: float = 0.75, avoid: frozenset[p.Attr] = frozenset()) -> p.Selection:
    """Often a condition on what the list shows anyway."""
    test = splitting(room, crowd, loops=False, avoid=avoid) if room.rng.random() < often else None
    return p.Selection(group=crowd.group, tests=(test,) if test else ())


def size(crowd: Crowd, of: p.Selection) -> int:
    return len(kept(crowd, of))


def kept(crowd: Crowd, of: p.Selection) -> list[Row]:
    values = {q.attr: q.values for q in crowd.qualities}
    return [
        row
        for i, row in enumerate(crowd.rows)
        if all(compare(values[t.attr][i], t.comparison, t.value) for t in of.tests)
    ]


def as_group(of: p.Selection) -> Group | None:
    """The same rows as a group, where all its conditions are on own columns."""
    if not all(t.attr.own for t in of.tests):
        return None
    return Group(
        of.table, (*of.group.where, *(Where(t.attr.column, t.value, comparison=t.comparison) for t in of.tests))
    )


# --- Figures and conditions on them ------------------------------------------------------------------------


def measure(room: Room, crowd: Crowd, of: p.Selection, loops: bool | None = None) -> p.Measure | None:
    """A function over a quantity of the rows."""
    used = {t.attr for t in of.tests}
    pool = [q for q in averages_of(room, crowd, loops) if q.attr not in used]
    if not pool or size(crowd, of) < 2:
        return None
    quality = room.rng.choice(pool)
    function = room.rng.choice(FUNCTIONS)
    if function == "sum" and (not _adds(quality) or (quality.attr.via and not quality.attr.children)):
        function = "mean"
    return p.Measure(function=function, of=of, attr=quality.attr)


def _adds(quality: Quality) -> bool:
    return quality.attr.function != "max" and additive(column_words(quality.attr.column) if quality.attr.column else "")


def key_of_measure(found: p.Measure) -> str:
    if found.attr is None:
        return "count"
    if found.function in ("max", "min"):
        return f"{found.function}_{found.attr.column or found.attr.children}"
    return {"sum": "total", "mean": "average", "count": "count"}[found.function]


def decision(room: Room, crowd: Crowd, loops: bool | None = None) -> p.Branch | None:
    """A comparison that decides, without its two ways: of a share, a number of rows, or a mean."""
    test = splitting(room, crowd, loops)
    kind = room.rng.choice(("share", "count", "mean"))
    if test is None or kind == "mean":
        return _by_mean(room, crowd, loops)
    return _by_share(room, crowd, test) if kind == "share" else _by_count(room, crowd, test)


def _by_share(room: Room, crowd: Crowd, test: p.Test) -> p.Branch | None:
    share = p.Share(of=crowd.whole, test=test)
    seen = _across(room, crowd, share)
    options = [n for n in (25, 50, 75) if _decides(seen, n)] or [n for n in (20, 30, 40, 60, 70) if _decides(seen, n)]
    if not options:
        return None
    return _branch(share, room.rng.choice(SIGNS), room.rng.choice(options))


def _by_count(room: Room, crowd: Crowd, test: p.Test) -> p.Branch | None:
    count = p.Measure(function="count", of=p.Selection(group=crowd.group, tests=(test,)))
    return _at_quantile(room, crowd, count)


def _by_mean(room: Room, crowd: Crowd, loops: bool | None) -> p.Branch | None:
    pool = averages_of(room, crowd, loops)
    if not pool:
        return None
    found = p.Measure(function=room.rng.choice(FUNCTIONS[1:]), of=crowd.whole, attr=room.rng.choice(pool).attr)
    return _at_quantile(room, crowd, found)


def _at_quantile(room: Room, crowd: Crowd, found: p.Measure) -> p.Branch | None:
    seen = sorted(_across(room, crowd, found))
    middle = seen[len(seen) // 4 : len(seen) - len(seen) // 4]
    for value in room.rng.sample(middle, len(middle)):
        for digits in (1, 2, 3):
            near = float(f"{value:.{digits}g}")
            limit = int(near) if near.is_integer() else near
            if found.attr is None and not isinstance(limit, int):
                continue
            if _decides(seen, limit) and limit > (1 if found.attr is None else 0):
                return _branch(found, room.rng.choice(SIGNS[:2]), limit)
    return None


def _branch(left: Any, comparison: Comparison, value: Any) -> p.Branch:
    return p.Branch(left=left, comparison=comparison, right=p.Constant(value=value), yes=(), no=())


def _across(room: Room, crowd: Crowd, found: Any) -> list[Any]:
    """The figure for this group and for the others of its kind: what the threshold has to divide."""
    where = crowd.group.where
    groups = [crowd.group]
    if len(where) == 1:
        values = sorted(room.world.values(crowd.table, where[0].column), key=repr)[:40]
        groups = [Group(crowd.table, (Where(where[0].column, value),)) for value in values]
    seen = [value for g in groups if (value := _figure(room.world, _moved(found, g))) is not None]
    if len(set(seen)) < 3:  # one group alone: thresholds to either side of it
        return [round(seen[0] * factor, 2) for factor in (0.8, 0.9, 1.1, 1.25)] if seen else []
    return seen


def _moved(found: Any, group: Group) -> Any:
    return found.model_copy(update={"of": found.of.model_copy(update={"group": group})})


def _figure(world: World, found: Any) -> Any:
    try:
        return Reading(world.sql).value(found)
    except Undetermined:
        return None


def _decides(seen: Sequence[Any], limit: Any) -> bool:
    """Whether some groups lie above the limit and some below, and none on it."""
    return bool(seen) and min(seen) < limit < max(seen) and limit not in seen
