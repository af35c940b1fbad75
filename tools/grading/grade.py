"""Score an episode: 1 or 0, or unscored; nothing in between (section 3.2.1).

Graph tasks pass when every rubric criterion passes, programmatic ones when their verifier does, and the `semantic`
criteria of their rubric, if it has any. What code can decide, code decides; a judge is asked about these alone. A
verifier runs in a sandbox instance of its own, opened after the episode, so nothing that the agent did or its tools
left behind can reach it.
"""

from collections.abc import Awaitable, Callable, Mapping
from pathlib import Path
from typing import Any

from agent_world.schema import Criterion, CriterionResult, Score, StateDiff, Task
from agent_world.tools.grading.criteria import STATE, check, ignored_of, without, written
from agent_world.tools.runtime import RunResult, Runtime

Judge = Callable[[Criterion, Task, Mapping[str, Any]], Awaitable[bool | None]]
"""Decides a semantic criterion; None when it gave no verdict. A number is never read out of its prose."""

_RUNS = 2
"""A verifier that breaks (not: fails) is run once more before the episode is left unscored."""


async def grade(
    task: Task,
    answer: Mapping[str, Any] | None,
    diff: StateDiff,
    *,
    runtime: Runtime,
    environment: Path,
    judge: Judge | None = None,
) -> Score:
    """Score `answer` (None: there was no readable one) and the state change `diff` that the episode left.

    `environment` is the task's bundle. Raises `SandboxError` when a verifier could not be run at all.
    """
    if answer is None:
        return _score([CriterionResult(id="answer", passed=False, detail="The final response is no JSON object.")])
    if task.strategy == "program":
        results = await _by_verifier(task, answer, diff, runtime, environment)
        by_judge = [criterion for criterion in task.rubric if criterion.kind == "semantic"]
        return _score([*results, *[await decide(criterion, task, answer, diff, judge) for criterion in by_judge]])
    if not task.rubric:
        return _score([CriterionResult(id="rubric", passed=None, detail="The task has no rubric.")])
    return _score([await decide(criterion, task, answer, diff, judge) for criterion in task.rubric])


async def decide(
    criterion: Criterion, task: Task, answer: Mapping[str, Any], diff: StateDiff, judge: Judge | None
) -> CriterionResult:
    """One criterion by code, or by the judge. Of one about written text (path `state.TABLE.COLUMN`) the judge sees what
    was written, not the answer."""
    if criterion.kind != "semantic":
        return check(criterion, task, answer, diff)
    if criterion.path.startswith(STATE):
        answer = {"written": written(diff, criterion.path.removeprefix(STATE))}
    verdict = await judge(criterion, task, answer) if judge else None
    if not isinstance(verdict, bool):
        return CriterionResult(id=criterion.id, passed=None, detail="no verdict" if judge else "no judge")
    return CriterionResult(id=criterion.id, passed=verdict)


async def _by_verifier(
    task: Task, answer: Mapping[str, Any], diff: StateDiff, runtime: Runtime, environment: Path
) -> list[CriterionResult]:
    """By schema and verifier, which sees no column that the rubric leaves to the agent's own words."""
    shape = check(Criterion(id="schema", kind="schema"), task, answer, diff)
    if not shape.passed:
        return [shape]
    if not task.verifier:
        return [shape, CriterionResult(id="verifier", passed=None, detail="The task has no verifier.")]
    ignored = ignored_of(task)
    arguments = {
        "answer": dict(answer),
        "reference": task.reference_answer,
        "diff": without(diff, ignored).model_dump(mode="json"),
        "expected_diff": without(task.state_change, ignored).model_dump(mode="json"),
    }
    for _ in range(_RUNS):
        verdict = _verdict(await _run_alone(task.verifier, arguments, runtime, environment, task.origin.seed))
        if verdict.passed is not None:
            break
    return [shape, verdict]


async def _run_alone(
    source: str, arguments: Mapping[str, Any], runtime: Runtime, environment: Path, seed: int
) -> RunResult:
    instance = await runtime.open(environment, seed=seed)
    try:
        return await instance.run(source, "verify", arguments)
    finally:
        await instance.close()


def _verdict(result: RunResult) -> CriterionResult:
    """Only a failed assertion is a refusal; a verifier that breaks in another way has said nothing."""
    if result.ok and result.value is None:
        return CriterionResult(id="verifier", passed=True)
    if result.ok:
        return CriterionResult(id="verifier", passed=None, detail="The verifier returned a value; it must assert.")
    error = result.error or ""
    failed = error.startswith(("AssertionError:", "AssertionError (line"))
    return CriterionResult(id="verifier", passed=False if failed else None, detail=error)


def _score(results: list[CriterionResult]) -> Score:
    """0 when anything failed; else unscored when anything is undecided; else 1."""
    passed = [result.passed for result in results]
    reward = 0.0 if False in passed else None if None in passed else 1.0
    return Score(reward=reward, results=tuple(results))
