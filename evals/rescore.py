"""Grade stored runs anew, by their last message and the state that they left: no model and no tool is asked again."""

import asyncio
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from agent_world.errors import SandboxError
from agent_world.graphs.deps import Deps
from agent_world.memory.store import Bundle, read_records
from agent_world.schema import Criterion, CriterionResult, Json, Rate, Record, Score, Task, Trajectory
from agent_world.tools.grading import Judge, grade, parse_answer
from agent_world.tools.grading.rates import rate_of
from agent_world.tools.runtime import Runtime

AT_ONCE = 8
"""Verifiers at work at the same time."""


class Change(Record):
    """A run whose score is another than it was."""

    environment: str
    task: str
    before: float | None
    after: float | None
    reason: str = ""


class RescoreSummary(Record):
    before: Rate
    after: Rate
    changes: tuple[Change, ...]


@dataclass(frozen=True, slots=True)
class Rescored:
    before: Rate
    after: Rate
    changes: tuple[Change, ...]
    runs: tuple[Trajectory, ...]
    """With their new scores."""

    def summary(self) -> RescoreSummary:
        return RescoreSummary(before=self.before, after=self.after, changes=self.changes)


async def rescore_file(file: Path, deps: Deps) -> Rescored:
    """Score the runs of a JSON Lines file by the tasks that the workspace holds now.

    A run of a task that is no longer there, and one that our machinery ended, is unscored. Verdicts of a judge are
    taken as they are stored. Raises `StoreError` for a damaged file.
    """
    runs = await asyncio.to_thread(read_records, file, Trajectory)
    known = {run.environment for run in runs} & set(deps.store.ids())
    bundles = {name: deps.store.bundle(name) for name in sorted(known)}
    tasks = {(name, task.id): task for name, bundle in bundles.items() for task in bundle.tasks()}
    room = asyncio.Semaphore(AT_ONCE)

    async def one(run: Trajectory) -> Trajectory:
        task = tasks.get((run.environment, run.task))
        async with room:
            score = await rescore(run, task, bundles.get(run.environment), deps.runtime)
        return run.model_copy(update={"score": score, "answer": final_answer(run)})

    scored = await asyncio.gather(*map(one, runs))
    return Rescored(rate_of(runs), rate_of(scored), tuple(_changes(runs, scored)), tuple(scored))


async def rescore(run: Trajectory, task: Task | None, bundle: Bundle | None, runtime: Runtime) -> Score:
    if run.status == "infra":
        return run.score
    if task is None or bundle is None:
        return _unscored("The workspace does not hold this task.")
    answer, judge = final_answer(run), _as_stored(run.score)
    try:
        return await grade(task, answer, run.diff, runtime=runtime, environment=bundle.root, judge=judge)
    except SandboxError as error:
        return _unscored(str(error))


def final_answer(run: Trajectory) -> dict[str, Any] | None:
    """The answer in a run's last message; None where it ended without one."""
    last = run.messages[-1] if run.messages else {}
    if run.status not in ("done", "malformed") or last.get("role") != "assistant" or last.get("tool_calls"):
        return None
    return parse_answer(last.get("content") or "")


def _as_stored(score: Score) -> Judge:
    verdicts = {result.id: result.passed for result in score.results}

    async def judge(criterion: Criterion, task: Task, answer: Mapping[str, Json]) -> bool | None:
        return verdicts.get(criterion.id)

    return judge


def _unscored(why: str) -> Score:
    return Score(reward=None, results=(CriterionResult(id="run", passed=None, detail=why),))


def _changes(before: Sequence[Trajectory], after: Sequence[Trajectory]) -> list[Change]:
    return [
        Change(
            environment=new.environment, task=new.task, before=old.score.reward, after=new.score.reward,
            reason=next((f"{r.id}: {r.detail}" for r in new.score.results if not r.passed), ""),
        )
        for old, new in zip(before, after, strict=True)
        if old.score.reward != new.score.reward
    ]  # fmt: skip
