"""Many variants of an answer put to one checker at once.

Graph tasks go through the grader as they are. For a verifier, all cases are decided in one sandbox run by the
grader's own rules (schema first; a failed assertion is 0, silence is 1, anything else says nothing): the same
verdicts as one run a case, at a twentieth of the cost. The gold answer is graded apart, exactly as in an episode.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from agent_world.agents.synthesizer.world import World
from agent_world.schema import Criterion, RowChange, StateDiff, Task
from agent_world.tools.grading import grade
from agent_world.tools.grading.criteria import check
from agent_world.tools.runtime import Instance, Runtime

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
        column = next((c for c in row or () if c != key and f"{name}.{c}" not in hidden | _own_words(task)), None)
        if row is None or column is None:
            continue
        other = RowChange(table=name, key=str(row.get(key)), kind="changed", before={column: row[column]})
        found.append(other.model_copy(update={"after": {column: f"{row[column]} x"}}))
        found.append(RowChange(table=name, key=str(row.get(key)), kind="removed", before=row))
    return found


def _own_words(task: Task) -> set[str]:
    """Columns (`table.column`) that the rubric leaves to the agent's own words."""
    ignoring = [c.expected["ignore"] for c in task.rubric if c.kind == "state" and isinstance(c.expected, dict)]
    return {column for columns in ignoring for column in columns}


async def rewards(
    task: Task, cases: Sequence[Case], *, runtime: Runtime, environment: Path, instance: Instance
) -> list[float | None]:
    """The reward of each case, as `grade` would give it. `instance` runs the verifier."""
    if task.strategy == "graph":
        scores = [await grade(task, c.answer, c.diff, runtime=runtime, environment=environment) for c in cases]
        return [score.reward for score in scores]
    fit = [c for c in cases if c.answer is not None and _shaped(task, c)]
    verdicts = await _verify(task, fit, instance) if fit else {}
    return [verdicts.get(id(c), 0.0) for c in cases]


def _shaped(task: Task, case: Case) -> bool:
    return bool(check(Criterion(id="schema", kind="schema"), task, case.answer or {}, case.diff).passed)


async def _verify(task: Task, cases: Sequence[Case], instance: Instance) -> dict[int, float | None]:
    diffs = {id(diff): diff.model_dump(mode="json") for diff in {id(c.diff): c.diff for c in cases}.values()}
    arguments = {
        "cases": [[c.answer, diffs[id(c.diff)]] for c in cases],
        "reference": task.reference_answer,
        "expected_diff": task.state_change.model_dump(mode="json"),
    }
    result = await instance.run((task.verifier or "") + _ALL, "_verify_all", arguments)
    said = result.value if result.ok and isinstance(result.value, list) else ["broken"] * len(cases)
    reward = {"passed": 1.0, "failed": 0.0}
    return {id(case): reward.get(word) for case, word in zip(cases, said, strict=True)}
