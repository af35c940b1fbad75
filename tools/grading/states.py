"""State changes made from an expected one that a sound checker must refuse."""

from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass

from agent_world.schema import RowChange, StateDiff
from agent_world.tools.grading.spoilt import wrong

_MOST_ROWS = 8
"""Changes of a state that are left out or spoilt one by one; a larger change is spoilt in its first ones."""


@dataclass(frozen=True, slots=True)
class StateVariant:
    name: str
    """What was done, in plain words."""
    diff: StateDiff


def state_misses(
    expected: StateDiff, bystanders: Sequence[RowChange] = (), ignored: Collection[str] = ()
) -> list[StateVariant]:
    """State changes close to `expected`: each must score 0. `bystanders` are changes of rows that nobody asked for;
    columns (`table.column`) in `ignored` may hold anything."""
    found = []
    for extra in (RowChange(table="_other", key="1", kind="added", after={"id": 1}), *bystanders):
        what = f"one change too many ({extra.table} {extra.key} {extra.kind})"
        found.append(StateVariant(what, StateDiff(changes=(*expected.changes, extra))))
    if expected.changes:
        found.append(StateVariant("nothing done", StateDiff()))
    for index, change in enumerate(expected.changes[:_MOST_ROWS]):
        before, after = expected.changes[:index], expected.changes[index + 1 :]
        row = f"{change.table} {change.key}"
        if before or after:
            found.append(StateVariant(f"{row} left alone", StateDiff(changes=before + after)))
        for what, other in _spoilt(change, ignored):
            found.append(StateVariant(f"{row} {what}", StateDiff(changes=(*before, other, *after))))
    return found


def _spoilt(change: RowChange, ignored: Collection[str]) -> Iterator[tuple[str, RowChange]]:
    """The same change in another row, of another kind, with another value."""
    yield "taken for another row", change.model_copy(update={"key": f"{change.key}x"})
    yield from _other_kinds(change)
    cells = change.after or {}
    for column, value in cells.items():
        if f"{change.table}.{column}" not in ignored:
            spoilt = {**cells, column: wrong(value)[0][1]}
            yield f"with another {column}", change.model_copy(update={"after": spoilt})


def _other_kinds(change: RowChange) -> Iterator[tuple[str, RowChange]]:
    if change.kind != "removed":
        yield "removed", change.model_copy(update={"kind": "removed", "before": change.before or {}, "after": None})
    if change.kind != "added":
        yield "added", change.model_copy(update={"kind": "added", "before": None, "after": change.after or {}})
    if change.kind == "removed":
        before = dict(list((change.before or {}).items())[:1])
        emptied = {"kind": "changed", "before": before, "after": dict.fromkeys(before)}
        yield "emptied and not removed", change.model_copy(update=emptied)
