"""Many variants of an answer put to one checker at once.

Graph tasks go through the grader as they are. For a verifier, all cases are decided in one sandbox run by the
grader's own rules (schema first; a failed assertion is 0, silence is 1, anything else says nothing): the same
verdicts as one run a case, at a twentieth of the cost. The gold answer is graded apart, exactly as in an episode.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from agent_world.schema import Criterion, StateDiff, Task
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
    arguments = {
        "cases": [[c.answer, c.diff.model_dump(mode="json")] for c in cases],
        "reference": task.reference_answer,
        "expected_diff": task.state_change.model_dump(mode="json"),
    }
    result = await instance.run((task.verifier or "") + _ALL, "_verify_all", arguments)
    said = result.value if result.ok and isinstance(result.value, list) else ["broken"] * len(cases)
    reward = {"passed": 1.0, "failed": 0.0}
    return {id(case): reward.get(word) for case, word in zip(cases, said, strict=True)}
