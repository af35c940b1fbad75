"""What differs between two states."""

from collections.abc import Mapping
from typing import Literal

from agent_world.schema import RowChange, StateDiff
from agent_world.tools.state.lines import line_changes
from agent_world.tools.state.model import FileRows, Row, State, same

_MARKDOWN = (".md", ".markdown")


def diff(before: State, after: State) -> StateDiff:
    """What changed, ordered by table and key (lines of a text by place). Empty exactly where the hashes are equal.

    A table that came or went without any row is a change with an empty key.
    """
    old, new = before.all(), after.all()
    changes: list[RowChange] = []
    for table in sorted({*old, *new}):
        if not old.get(table) and not new.get(table):
            changes += _of_empty(table, table in old, table in new)
        elif isinstance(old.get(table), FileRows) or isinstance(new.get(table), FileRows):
            changes += _of_files(table, old.get(table, {}), new.get(table, {}))
        else:
            changes += _of_rows(table, old.get(table, {}), new.get(table, {}))
    return StateDiff(changes=tuple(changes))


def _of_empty(table: str, was: bool, now: bool) -> list[RowChange]:
    if was == now:
        return []
    kind: Literal["added", "removed"] = "added" if now else "removed"
    return [RowChange(table=table, key="", kind=kind, before={} if was else None, after={} if now else None)]


def _of_rows(table: str, old: Mapping[str, Row], new: Mapping[str, Row]) -> list[RowChange]:
    if old is new:
        return []
    found = (_change(table, key, old.get(key), new.get(key)) for key in sorted({*old, *new}))
    return [change for change in found if change]


def _of_files(table: str, old: Mapping[str, Row], new: Mapping[str, Row]) -> list[RowChange]:
    """Rows of `files`; where a file is text before and after, its lines instead, under its own name."""
    texts = [key for key in sorted({*old, *new}) if "text" in old.get(key, {}) and "text" in new.get(key, {})]
    short = ({k: _without_text(row) if k in texts else row for k, row in rows.items()} for rows in (old, new))
    changes = _of_rows(table, *short)
    for key in texts:
        changes += line_changes(key, old[key]["text"], new[key]["text"], headings=key.lower().endswith(_MARKDOWN))
    return changes


def _without_text(row: Row) -> Row:
    return {column: value for column, value in row.items() if column != "text"}


def _change(table: str, key: str, old: Row | None, new: Row | None) -> RowChange | None:
    if old is None:
        return RowChange(table=table, key=key, kind="added", after=new)
    if new is None:
        return RowChange(table=table, key=key, kind="removed", before=old)
    if old is new:
        return None
    gone = {c: v for c, v in old.items() if c not in new or not same(new[c], v)}
    come = {c: v for c, v in new.items() if c not in old or not same(old[c], v)}
    return RowChange(table=table, key=key, kind="changed", before=gone, after=come) if gone or come else None
