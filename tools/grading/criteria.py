"""The criteria of a rubric that code decides."""

from collections.abc import Collection, Mapping
from typing import Any

from jsonschema import Draft202012Validator

from agent_world.schema import Criterion, CriterionResult, RowChange, StateDiff, Task
from agent_world.tools.grading.compare import near, number, same, same_set

_MISSING = object()
STATE = "state."
"""Begins the path of a semantic criterion about text that was written: `state.TABLE.COLUMN`."""


def check(criterion: Criterion, task: Task, answer: Mapping[str, Any], diff: StateDiff) -> CriterionResult:
    """Decide any criterion but a `semantic` one."""
    if criterion.kind == "schema":
        detail = _schema_fault(task.answer_schema, answer)
    elif criterion.kind == "state":
        detail = _state_fault(task.state_change, diff, _ignored(criterion))
    else:
        detail = _value_fault(criterion, answer)
    return CriterionResult(id=criterion.id, passed=not detail, detail=detail)


def _schema_fault(schema: Mapping[str, Any], answer: Mapping[str, Any]) -> str:
    errors = sorted(Draft202012Validator(schema).iter_errors(dict(answer)), key=lambda e: list(map(str, e.path)))
    if errors:
        return str(errors[0].message)[:300]
    extra = sorted(set(answer) - set(schema.get("properties", {})))
    return f"Field {extra[0]!r} was not asked for." if extra else ""


def _value_fault(criterion: Criterion, answer: Mapping[str, Any]) -> str:
    given = _at(answer, criterion.path)
    if given is _MISSING:
        return f"There is no {criterion.path}."
    if criterion.kind == "number":
        expected = number(criterion.expected)
        right = expected is not None and near(expected, number(given), criterion.tolerance)
    elif criterion.kind == "set":
        right = same_set(criterion.expected, given, criterion.tolerance)
    else:
        right = same(criterion.expected, given, criterion.tolerance)
    return "" if right else f"Expected {criterion.expected!r}, got {given!r}."[:300]


def _at(answer: Mapping[str, Any], path: str) -> Any:
    value: Any = answer
    for part in path.split(".") if path else ():
        if isinstance(value, Mapping) and part in value:
            value = value[part]
        elif isinstance(value, list) and part.isdigit() and int(part) < len(value):
            value = value[int(part)]
        else:
            return _MISSING
    return value


def ignored_of(task: Task) -> frozenset[str]:
    """Columns (`table.column`) that the rubric leaves out of the state: they hold the agent's own words."""
    return frozenset().union(*(_ignored(c) for c in task.rubric if c.kind == "state"))


def written(diff: StateDiff, column: str) -> list[Any]:
    """What rows hold now in a column (`table.column`) that they were given or that was changed."""
    table, _, name = column.partition(".")
    return [c.after[name] for c in diff.changes if c.table == table and c.after and name in c.after]


def without(diff: StateDiff, ignored: Collection[str]) -> StateDiff:
    """The difference with these columns left out; a change in them alone is none."""
    return StateDiff(changes=tuple(_by_row(diff, ignored).values())) if ignored else diff


def _ignored(criterion: Criterion) -> frozenset[str]:
    return frozenset(criterion.expected["ignore"]) if isinstance(criterion.expected, dict) else frozenset()


def _state_fault(expected: StateDiff, given: StateDiff, ignored: Collection[str]) -> str:
    wanted, found = _by_row(expected, ignored), _by_row(given, ignored)
    for row in sorted(wanted.keys() | found.keys()):
        if row not in found:
            return f"{row[0]} {row[1]} should have been {wanted[row].kind}."
        if row not in wanted:
            return f"{row[0]} {row[1]} was {found[row].kind}, which was not asked for."
        if not _same_change(wanted[row], found[row]):
            return f"{row[0]} {row[1]} was {found[row].kind}, but not as asked."
    return ""


def _same_change(a: RowChange, b: RowChange) -> bool:
    return a.kind == b.kind and same(a.before, b.before) and same(a.after, b.after)


def _by_row(diff: StateDiff, ignored: Collection[str]) -> dict[tuple[str, str], RowChange]:
    """Changes by table and key; a change in ignored columns alone is none."""
    found = {}
    for change in diff.changes:
        before, after = (_without(change.table, side, ignored) for side in (change.before, change.after))
        if change.kind != "changed" or before or after:
            found[change.table, change.key] = change.model_copy(update={"before": before, "after": after})
    return found


def _without(table: str, row: dict[str, Any] | None, ignored: Collection[str]) -> dict[str, Any] | None:
    return None if row is None else {c: v for c, v in row.items() if f"{table}.{c}" not in ignored}
