"""Many variants of an answer put to one checker at once.

Criteria of a rubric are checked by the grader's own functions, up to the first that fails. For a verifier, all cases
are decided in one sandbox run by the grader's rules (schema first; a failed assertion is 0, silence is 1, anything else
says nothing): the same verdicts as one run a case, at a twentieth of the cost. The gold answer is graded apart, exactly
as in an episode.
"""

import json
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from agent_world.agents.synthesizer.world import World
from agent_world.schema import Criterion, RowChange, StateDiff, Task
from agent_world.tools.grading import Judge
from agent_world.tools.grading.criteria import check, ignored_of, without
from agent_world.tools.grading.grade import decide
from agent_world.tools.runtime import Instance

_ALL = """

def _verify_all(cases, reference, expected_diff):
    import copy

    found = []
    for answer, diff in cases:
        try:
            said = verify(copy.deepcopy(answer), copy.deepcopy(reference), diff, copy.deepcopy(expected_diff))
            found.append("passed" if said is None else "broken")
        except AssertionError:
            found.append("failed")
        except Exception:
            found.append("broken")
    return found
"""


@dataclass(frozen=True, slots=True)
class Case:
    name: str
    answer: dict[str, Any] | None
    diff: StateDiff


def bystanders(world: World, task: Task) -> list[RowChange]:
    """Unauthorised writes that the grader must see: in the tables that the task writes to, or in the first table, a
    row that is none of the task's changed, and the same one removed."""
    touched = {(change.table, change.key) for change in task.state_change.changes}
    hidden = set(world.environment.database.volatile)
    names = sorted({table for table, _ in touched} & set(world.tables)) or sorted(world.tables)[:1]
    found: list[RowChange] = []
    for name in (n for n in names if n not in hidden):
        key = world.tables[name].primary_key
        row = next((r for r in world.rows[name] if (name, str(r.get(key))) not in touched), None)
        column = next((c for c in row or () if c != key and f"{name}.{c}" not in hidden | ignored_of(task)), None)
        if row is None or column is None:
            continue
        other = RowChange(table=name, key=str(row.get(key)), kind="changed", before={column: row[column]})
        found.append(other.model_copy(update={"after": {column: f"{row[column]} x"}}))
        found.append(RowChange(table=name, key=str(row.get(key)), kind="removed", before=row))
    return found


async def rewards(
    task: Task,
    cases: Sequence[Case],
    *,
    instance: Instance,
    judge: Judge | None = None,
) -> list[float | None]:
    """The reward of each case, as `grade` would give it. `instance` runs the verifier; the judge is asked where all
    else is right."""
    fit = {id(case): case for case in cases if case.answer is not None and _decided(task, case)}
    if task.strategy == "program" and fit:
        told = await _verify(task, list(fit.values()), instance)
        fit = {key: case for key, case in fit.items() if told[key] != 0.0}
    else:
        told = dict.fromkeys(fit, 1.0) if task.rubric else dict.fromkeys(fit)
    for key, case in fit.items():
        if told[key] == 1.0 and any(c.kind == "semantic" for c in task.rubric):
            told[key] = await _judged(task, case, judge)
    return [told.get(id(case), 0.0) for case in cases]


def _decided(task: Task, case: Case) -> bool:
    """Whether every criterion that code decides holds: what fails most and costs least comes first."""
    by_code = task.rubric if task.strategy == "graph" else ()
    ordered = sorted((c for c in by_code if c.kind not in ("semantic", "schema")), key=lambda c: c.kind == "state")
    schema = [Criterion(id="schema", kind="schema")] if task.strategy == "program" else []
    last = [*schema, *(c for c in by_code if c.kind == "schema")]
    return all(check(c, task, case.answer or {}, case.diff).passed for c in [*ordered, *last])


async def _judged(task: Task, case: Case, judge: Judge | None) -> float | None:
    results = [await decide(c, task, case.answer or {}, case.diff, judge) for c in task.rubric if c.kind == "semantic"]
    passed = [result.passed for result in results]
    return 0.0 if False in passed else None if None in passed else 1.0


async def _verify(task: Task, cases: Sequence[Case], instance: Instance) -> dict[int, float | None]:
    """All at once, each pair of answer and state once."""
    ignored = ignored_of(task)
    diffs = {id(d): without(d, ignored).model_dump(mode="json") for d in {id(c.diff): c.diff for c in cases}.values()}
    keys = [json.dumps([c.answer, diffs[id(c.diff)]], sort_keys=False) for c in cases]
    distinct = list(dict.fromkeys(keys))
    arguments = {
        "cases": [json.loads(key) for key in distinct],
        "reference": task.reference_answer,
        "expected_diff": without(task.state_change, ignored).model_dump(mode="json"),
    }
    result = await instance.run((task.verifier or "") + _ALL, "_verify_all", arguments)
    said = result.value if result.ok and isinstance(result.value, list) else ["broken"] * len(distinct)
    reward = {"passed": 1.0, "failed": 0.0}
    verdicts = {key: reward.get(word) for key, word in zip(distinct, said, strict=True)}
    return {id(case): verdicts[key] for case, key in zip(cases, keys, strict=True)}
