"""Which lines of a text were added, removed and changed: a file is not rewritten where one line was put in.

Time and memory are linear in the size of the two texts, up to a logarithm, whatever they hold.
"""

import bisect
from collections import Counter
from collections.abc import Sequence

from agent_world.schema import RowChange
from agent_world.tools.state.markdown import sections
from agent_world.tools.state.model import Row

_ROUNDS = 32
"""Times that the stretches between matched lines are searched again."""
Pair = tuple[int, int]


def line_changes(table: str, before: str, after: str, *, headings: bool = False) -> list[RowChange]:
    """In order. A line is named by its number after the change, a removed one by its number before; with `headings`,
    by that of its section too. A last line without its line end says so."""
    old, new = _rows(before), _rows(after)
    old_names, new_names = _names(before, len(old), headings), _names(after, len(new), headings)
    changes: list[RowChange] = []
    for i, j, old_end, new_end in _gaps(_pairs([_token(r) for r in old], [_token(r) for r in new])):
        paired = min(old_end - i, new_end - j)
        for step in range(paired):
            was, now = old[i + step], new[j + step]
            gone = {c: v for c, v in was.items() if now.get(c) != v}
            come = {c: v for c, v in now.items() if was.get(c) != v}
            if gone or come:
                place = new_names[j + step]
                changes.append(RowChange(table=table, key=place, kind="changed", before=gone, after=come))
        for n in range(i + paired, old_end):
            changes.append(RowChange(table=table, key=f"{old_names[n]} before", kind="removed", before=old[n]))
        for n in range(j + paired, new_end):
            changes.append(RowChange(table=table, key=new_names[n], kind="added", after=new[n]))
    return changes


def _rows(text: str) -> list[Row]:
    lines = text.split("\n")
    last = lines.pop()
    rows: list[Row] = [{"text": line} for line in lines]
    return [*rows, {"text": last, "end": False}] if last else rows


def _names(text: str, count: int, headings: bool) -> list[str]:
    names = [f"line {number}" for number in range(1, count + 1)]
    if not headings:
        return names
    return [f"{n} ({s})" if s else n for n, s in zip(names, sections(text.split("\n")), strict=False)]


def _token(row: Row) -> tuple[str, bool]:
    return row["text"], "end" in row


def _gaps(matches: tuple[list[Pair], int, int]) -> list[tuple[int, int, int, int]]:
    """`(start before, start after, end before, end after)` of each stretch between matches."""
    found, (i, j) = [], (0, 0)
    pairs, size, other = matches
    for a, b in [*pairs, (size, other)]:
        if i < a or j < b:
            found.append((i, j, a, b))
        i, j = a + 1, b + 1
    return found


def _pairs(old: list[tuple[str, bool]], new: list[tuple[str, bool]]) -> tuple[list[Pair], int, int]:
    """As `_matches`, and the same both ways: what is added one way is removed the other."""
    if old <= new:
        return _matches(old, new)
    pairs, size, other = _matches(new, old)
    return [(b, a) for a, b in pairs], other, size


def _matches(old: Sequence[tuple[str, bool]], new: Sequence[tuple[str, bool]]) -> tuple[list[Pair], int, int]:
    """Equal lines in the same order on both sides: common ends first, then lines that occur once in each (patience
    diff), and so on between those."""
    pairs: list[Pair] = []
    waiting = [(0, len(old), 0, len(new), 0)]
    while waiting:
        low, high, other_low, other_high, depth = waiting.pop()
        while low < high and other_low < other_high and old[low] == new[other_low]:
            pairs.append((low, other_low))
            low, other_low = low + 1, other_low + 1
        while low < high and other_low < other_high and old[high - 1] == new[other_high - 1]:
            high, other_high = high - 1, other_high - 1
            pairs.append((high, other_high))
        anchors = _anchors(old, new, low, high, other_low, other_high) if depth < _ROUNDS else []
        pairs += anchors
        starts = [(low - 1, other_low - 1), *anchors]
        for (a, b), (c, d) in zip(starts, [*anchors, (high, other_high)], strict=True):
            if anchors and a + 1 < c and b + 1 < d:
                waiting.append((a + 1, c, b + 1, d, depth + 1))
    return sorted(pairs), len(old), len(new)


def _anchors(
    old: Sequence[tuple[str, bool]], new: Sequence[tuple[str, bool]], low: int, high: int, start: int, end: int
) -> list[Pair]:
    """Of the lines that occur once on each side, the longest series that is in the same order on both."""
    once = {line for line, count in Counter(old[low:high]).items() if count == 1}
    there = Counter(new[start:end])
    place = {line: n for n, line in enumerate(new[start:end], start) if there[line] == 1}
    return _rising([(n, place[old[n]]) for n in range(low, high) if old[n] in once and old[n] in place])


def _rising(pairs: list[Pair]) -> list[Pair]:
    """The longest subsequence whose second members rise."""
    ends: list[int] = []
    last: list[int] = []
    before: list[int] = []
    for index, (_, value) in enumerate(pairs):
        at = bisect.bisect_left(ends, value)
        before.append(last[at - 1] if at else -1)
        if at == len(ends):
            ends.append(value)
            last.append(index)
        else:
            ends[at], last[at] = value, index
    found, index = [], last[-1] if last else -1
    while index >= 0:
        found.append(pairs[index])
        index = before[index]
    return found[::-1]
