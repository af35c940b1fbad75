"""The rubric of a task, built from its reference answer: code decides every criterion but those on words of the
agent's own."""

from collections.abc import Collection, Iterator, Mapping, Sequence
from typing import Any

from agent_world.schema import Criterion, StateDiff
from agent_world.tools.grading.criteria import STATE, written

_TIGHT = 1e-6
_MOST_DECIMALS = 4


def rubric_for(
    answer: Mapping[str, Any],
    answer_schema: Mapping[str, Any],
    state_change: StateDiff,
    *,
    ordered: Collection[str] = (),
    free_text: Collection[str] = (),
    judged: Collection[str] = (),
) -> tuple[Criterion, ...]:
    """Criteria that accept `answer` and what means the same, and nothing else (section 3.1.1).

    `answer_schema` fixes which fields there are and their JSON types, so `"3"` is no answer where it says integer.
    Lists are compared as sets but for the fields named in `ordered`. The state criterion is always there: for a
    question that asks for no change it says that nothing changed. `free_text` names columns (`table.column`) whose
    wording is the agent's own; they are left out of the state comparison. So are those in `judged`, of which a judge
    decides whether what was written there says what is wanted.
    """
    if set(answer) != set(answer_schema.get("properties", {})):
        raise ValueError("The answer schema must state exactly the fields of the reference answer.")
    shape = Criterion(id="schema", kind="schema", description="The answer has exactly the fields asked for, typed.")
    fields = [_criterion(name, value, name in ordered) for name, value in answer.items()]
    what = f"exactly {len(state_change.changes)} rows changed as asked" if state_change.changes else "nothing changed"
    own = sorted({*free_text, *judged})
    ignored = {"ignore": own} if own else None
    state = Criterion(id="state", kind="state", expected=ignored, description=f"In the database, {what}.")
    return (shape, *fields, state, *_by_judge(state_change, sorted(judged)))


def _by_judge(change: StateDiff, columns: Sequence[str]) -> Iterator[Criterion]:
    """One criterion for each column with words of the agent's own that the change writes to."""
    for column in columns:
        texts = [text for text in written(change, column) if text]
        if texts:
            said = "; ".join(f'"{text}"' for text in texts)
            yield Criterion(
                id=f"words of {column}", kind="semantic", path=f"{STATE}{column}",
                description=f"What was written says what the request wants written; for example {said}.",
            )  # fmt: skip


def tolerance_for(value: Any) -> float:
    """Absolute tolerance for a number (or the numbers in a value): none for integers, next to none up to two
    decimals, half of the last decimal beyond (of the fourth at most), since such figures come of a division."""
    if isinstance(value, list | tuple):
        return max((tolerance_for(item) for item in value), default=0.0)
    if isinstance(value, dict):
        return max((tolerance_for(item) for item in value.values()), default=0.0)
    if not isinstance(value, float) or value.is_integer():
        return 0.0
    decimals = len(f"{value:.12f}".rstrip("0").partition(".")[2])
    return _TIGHT if decimals <= 2 else float(f"5e-{min(decimals, _MOST_DECIMALS) + 1}")


def _criterion(name: str, value: Any, ordered: bool) -> Criterion:
    described = f"{name} is right"
    tolerance = tolerance_for(value)
    if isinstance(value, int | float) and not isinstance(value, bool):
        kind = "number"
    elif isinstance(value, list) and not ordered:
        kind, described = "set", f"{name} has the right members, in any order"
    else:
        kind = "equal"
    return Criterion.model_validate(
        {"id": name, "kind": kind, "path": name, "expected": value, "tolerance": tolerance, "description": described}
    )
