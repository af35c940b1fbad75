"""Stored runs graded again: the same scores without inference, and other ones where the task has changed."""

import asyncio
import json
from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from agent_world.agents.episode import Limits, run_episodes
from agent_world.agents.policy import Policy, ReplayPolicy, ScriptedPolicy, Turn
from agent_world.cli import main
from agent_world.evals.rescore import rescore_file
from agent_world.graphs.deps import Deps, open_deps
from agent_world.memory.store import Bundle, read_records, write_records
from agent_world.schema import Criterion, CriterionResult, Score, Task, Trajectory
from agent_world.settings import Settings
from tests.library_tasks import gold_runs, library_tasks
from tests.worlds import make_library


@pytest.fixture
async def deps(tmp_path: Path) -> AsyncIterator[Deps]:
    async with open_deps(Settings(workspace=tmp_path)) as opened:
        yield opened


async def stored(deps: Deps, path: Path) -> tuple[Bundle, list[Task]]:
    """Gold runs of all library tasks, and one run of each that says nothing."""
    bundle = make_library(deps.store.root / "library")
    tasks = await library_tasks(bundle, deps.runtime)
    bundle.write_tasks(tasks)
    policies: list[Policy] = [ReplayPolicy(await gold_runs(bundle, deps.runtime)), ScriptedPolicy((Turn("{}"),))]
    runs: list[Trajectory] = []
    for policy in policies:
        runs += await run_episodes(policy, [(task, bundle) for task in tasks], deps.runtime, Limits())
    write_records(path, runs)
    return bundle, tasks


async def test_nothing_changes_where_nothing_has_changed(deps: Deps, tmp_path: Path) -> None:
    _, tasks = await stored(deps, tmp_path / "runs.jsonl")
    found = await rescore_file(tmp_path / "runs.jsonl", deps)
    assert found.changes == ()
    assert (found.before.passed, found.before.scored) == (len(tasks), 2 * len(tasks))
    assert found.after == found.before
    assert list(found.runs) == read_records(tmp_path / "runs.jsonl", Trajectory)


async def test_a_changed_checker_and_a_task_that_is_gone_show(deps: Deps, tmp_path: Path) -> None:
    bundle, tasks = await stored(deps, tmp_path / "runs.jsonl")
    other = {"genre": "poetry"}
    rubric = tuple(c.model_copy(update={"expected": "poetry"}) if c.id == "genre" else c for c in tasks[0].rubric)
    changed = tasks[0].model_copy(update={"reference_answer": other, "rubric": rubric})
    bundle.write_tasks([changed, *tasks[2:]])
    found = await rescore_file(tmp_path / "runs.jsonl", deps)
    assert [(c.task, c.before, c.after) for c in found.changes] == [
        (tasks[0].id, 1.0, 0.0), (tasks[1].id, 1.0, None), (tasks[1].id, 0.0, None),
    ]  # fmt: skip
    assert "Expected 'poetry'" in found.changes[0].reason
    assert found.changes[1].reason == "run: The workspace does not hold this task."
    assert (found.after.scored, found.after.unscored) == (2 * len(tasks) - 2, 2)


async def test_verdicts_of_a_judge_are_taken_as_stored_and_infra_stays_unscored(deps: Deps, tmp_path: Path) -> None:
    bundle, tasks = await stored(deps, tmp_path / "runs.jsonl")
    tone = Criterion(id="tone", kind="semantic", description="Polite.")
    bundle.write_tasks([tasks[0].model_copy(update={"rubric": (*tasks[0].rubric, tone)}), *tasks[1:]])
    run = read_records(tmp_path / "runs.jsonl", Trajectory)[0]
    said = [run.model_copy(update={"score": Score(reward=0.0, results=(CriterionResult(id="tone", passed=verdict),))})
            for verdict in (True, False)]  # fmt: skip
    infra = run.model_copy(update={"status": "infra", "score": Score(reward=None)})
    write_records(tmp_path / "judged.jsonl", [*said, run, infra])
    found = await rescore_file(tmp_path / "judged.jsonl", deps)
    assert [r.score.reward for r in found.runs] == [1.0, 0.0, None, None]


async def test_stored_runs_are_rescored_from_the_command_line(
    deps: Deps, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    await stored(deps, tmp_path / "runs.jsonl")
    config = tmp_path / "c.yaml"
    config.write_text(f"workspace: {tmp_path}\n")
    words = ["tasks", "rescore", str(tmp_path / "runs.jsonl"), "-c", str(config)]
    assert await asyncio.to_thread(main, [*words, "--json"]) == 0
    summary = json.loads(capsys.readouterr().out)
    assert summary["after"]["passed"] == 11
    assert await asyncio.to_thread(main, [*words, "--out", str(tmp_path / "new.jsonl")]) == 0
    assert "Before: 11 of 22" in capsys.readouterr().out
    assert (tmp_path / "new.jsonl").read_bytes() == (tmp_path / "runs.jsonl").read_bytes()
    assert await asyncio.to_thread(main, ["tasks", "rescore", "nothing.jsonl", "-c", str(config)]) == 2
