"""Figures over groups of rows, and comparisons of them that decide what a program does.

A condition on a figure is put where it holds for some groups of the kind and fails for others.
"""

from collections.abc import Sequence
from typing import Any

from agent_world.agents.synthesizer import plan as p
from agent_world.agents.synthesizer.access import Quality
from agent_world.agents.synthesizer.meaning import Comparison, Group, Where
from agent_world.agents.synthesizer.plan_database import Undetermined
from agent_world.agents.synthesizer.plan_sql import Reading
from agent_world.agents.synthesizer.program_parts import Crowd, Room
from agent_world.agents.synthesizer.program_tests import SIGNS, averages_of, size, splitting
from agent_world.agents.synthesizer.words import additive, column_words
from agent_world.agents.synthesizer.world import World

FUNCTIONS: tuple[p.Function, ...] = ("sum", "mean", "max", "min")
EXTREMES = {"highest", "lowest", "maximum", "minimum", "most", "fewest", "top"}


def measure(room: Room, crowd: Crowd, of: p.Selection, loops: bool | None = None) -> p.Measure | None:
    """A function over a quantity of the rows."""
    used = {t.attr for t in of.tests}
    pool = [q for q in averages_of(room, crowd, loops) if q.attr not in used]
    if not pool or size(crowd, of) < 2:
        return None
    quality = room.rng.choice(pool)
    function = fitting(room.rng.choice(FUNCTIONS), quality)
    if function == "sum" and (not _adds(quality) or (quality.attr.via and not quality.attr.children)):
        function = "mean"
    return p.Measure(function=function, of=of, attr=quality.attr)


def fitting(function: p.Function, quality: Quality) -> p.Function:
    """Nobody asks for the highest `lowest pressure`."""
    extreme = column_words(quality.attr.column).partition(" ")[0] in EXTREMES
    return "mean" if extreme and quality.attr.via and function in ("max", "min") else function


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
    function, quality = room.rng.choice(FUNCTIONS[1:]), room.rng.choice(pool)
    found = p.Measure(function=fitting(function, quality), of=crowd.whole, attr=quality.attr)
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
    if len(where) == 1 and where[0].comparison == "=" and not where[0].contains:
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
