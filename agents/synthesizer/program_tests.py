"""Conditions on the rows of a group: on a quantity, a kind, a day or a text of each row.

No condition is trivial: it holds for some rows and fails for some, at a threshold near a quantile of their values. A
row without the value does not meet it.
"""

import random
import re
from collections.abc import Iterator
from typing import Any

from agent_world.agents.synthesizer import plan as p
from agent_world.agents.synthesizer.access import Quality, counts, dated, sorts
from agent_world.agents.synthesizer.derived import hinted
from agent_world.agents.synthesizer.meaning import Comparison, Group, Where
from agent_world.agents.synthesizer.moves import statable
from agent_world.agents.synthesizer.plan_sql import compare
from agent_world.agents.synthesizer.program_parts import Crowd, Room
from agent_world.agents.synthesizer.words import column_words
from agent_world.agents.synthesizer.world import Row, World

MARGIN = 0.15
"""Least share of rows on either side of a condition."""
WORD = re.compile(r"\b[^\W\d_]{3,20}\b")
SIGNS: tuple[Comparison, ...] = (">", "<", ">=", "<=")


def figures_of(room: Room, crowd: Crowd, loops: bool | None = None) -> list[Quality]:
    """Quantities of the rows; those that take a call a row, where the room wants loops."""
    return [q for q in crowd.of(room, loops) if q.full and counts(room.world, q)]


def averages_of(room: Room, crowd: Crowd, loops: bool | None = None) -> list[Quality]:
    """Quantities whose mean says something: no parts of dates, no places, no maxima."""
    return [
        q
        for q in figures_of(room, crowd, loops)
        if not _placed(q) and q.attr.function != "max" and not hinted(q.attr.column)
    ]


def _placed(quality: Quality) -> bool:
    last = column_words(quality.attr.column).rpartition(" ")[2] if quality.attr.column else ""
    return last in ("year", "month", "day", "date", "hour", "minute", "latitude", "longitude", "place", "rank")


def kinds_of(room: Room, crowd: Crowd, loops: bool | None = None) -> list[Quality]:
    return [q for q in crowd.of(room, loops) if q.full and sorts(room.world, q)]


def dates_of(room: Room, crowd: Crowd, loops: bool | None = None) -> list[Quality]:
    """Days, as text that sorts; some rows may have none."""
    return [q for q in crowd.of(room, loops) if dated(q)]


def texts_of(room: Room, crowd: Crowd, loops: bool | None = None) -> list[Quality]:
    """Free text, a part of which tells some rows from others."""
    return [q for q in crowd.of(room, loops) if _free(room.world, q)] if room.loops else []


def _free(world: World, quality: Quality) -> bool:
    column = quality.column
    if column is None or column.type != "string" or column.name == quality.table.primary_key or dated(quality):
        return False
    return not sorts(world, quality) and world.foreign_key(quality.table.name, column.name) is None


def partly_known(room: Room, crowd: Crowd, loops: bool | None = None) -> list[Quality]:
    """Values that some rows lack: no figure can be made of them, but rows that have one can be told by it."""
    if not room.loops:
        return []
    pool = [q for q in crowd.of(room, loops) if not q.full and not dated(q)]
    return [q for q in pool if counts(room.world, q) or sorts(room.world, q)]


def splitting(
    room: Room, crowd: Crowd, loops: bool | None = None, avoid: frozenset[p.Attr] = frozenset()
) -> p.Test | None:
    """A condition that some rows meet and some do not."""
    pool = [*figures_of(room, crowd, loops), *kinds_of(room, crowd, loops), *dates_of(room, crowd, loops)]
    pool += [*partly_known(room, crowd, loops), *texts_of(room, crowd, loops)]
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
    if _free(room.world, quality):
        options = list(_parts(quality))
        return room.rng.choice(options) if options else None
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


def _parts(quality: Quality) -> Iterator[p.Test]:
    """Words that some values hold, or begin with: only such as mean the same as a part of a text, as a whole word, and
    with their case or without."""
    texts = [str(value) for value in quality.values if value is not None]
    words = sorted({word for text in texts for word in WORD.findall(text)})
    for word in words:
        held = re.compile(rf"\b{re.escape(word)}\b")
        for comparison, find in (("contains", held.search), ("starts with", held.match)):
            test = p.Test.model_validate({"attr": quality.attr, "comparison": comparison, "value": word})
            found = [text for text in texts if find(text)]
            if found == [t for t in texts if compare(t, comparison, word)] and splits(test, quality):
                yield test


def _thresholds(quality: Quality, rng: random.Random) -> list[Any]:
    """A quantile of the values, the roundest first; nought says little ("over 0 seats")."""
    ordered = sorted(v for v in quality.values if v is not None)
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
    if not all(t.attr.own and t.comparison != "starts with" for t in of.tests):
        return None
    return Group(of.table, (*of.group.where, *map(_where, of.tests)))


def _where(test: p.Test) -> Where:
    if test.comparison == "contains":
        return Where(test.attr.column, test.value, contains=True)
    assert test.comparison != "starts with"
    return Where(test.attr.column, test.value, comparison=test.comparison)
