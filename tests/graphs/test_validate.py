"""Attempts by a model: how runs end, what is kept of them, and what decides."""

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

from agent_world.evals.rescore import rescore_file
from agent_world.graphs.deps import Deps, open_deps
from agent_world.graphs.validate import replay_all, validate, validate_all, verdict
from agent_world.memory.store import Bundle, read_records
from agent_world.schema import GateCheck, Task, Trajectory, Validation
from agent_world.settings import RoleConfig, Settings
from tests.library import library_tasks
from tests.openai_server import Cut, Reply, scripted_openai
from tests.worlds import make_library

GATED = Validation(status="gate only")


def runs(*rewards: float | None) -> list[dict[str, Any]]:
    named = {None: "infra", 1.0: "done", 0.0: "done"}
    return [{"number": n, "status": named[reward], "reward": reward} for n, reward in enumerate(rewards)]


@pytest.mark.parametrize(
    ("rewards", "status", "passes", "scored"),
    [
        ((1.0, 1.0, 0.0, 0.0, 0.0), "validated", 2, 5),
        ((1.0, 0.0, 0.0, 0.0, 0.0), "rejected", 1, 5),
        ((1.0, None, None, None, 0.0), "gate only", 1, 2),
        ((1.0, 1.0, None, None, None), "validated", 2, 2),
        ((0.0, 0.0, 0.0, 0.0, None), "rejected", 0, 4),
        ((None, None, None, None, None), "gate only", 0, 0),
    ],
)
def test_only_scored_runs_decide(rewards: Sequence[float | None], status: str, passes: int, scored: int) -> None:
    found = verdict(GATED, runs(*rewards), keep_at=2)
    assert (found.status, found.passes, found.attempts) == (status, passes, scored)


async def attempted(
    tmp_path: Path, replies: Sequence[Reply], *, repeat: bool = False
) -> tuple[Validation, list[Trajectory]]:
    """The record of `How many pages does book B007 have?` that a scripted model attempts, and its runs as kept."""
    async with open_deps(Settings(workspace=tmp_path)) as plain:
        bundle = make_library(plain.store.root / "library")
    task = library_tasks()[30]
    async with scripted_openai(replies, repeat=repeat) as server:
        settings = Settings(workspace=tmp_path, roles={"validator": RoleConfig(model=server.config)})
        async with open_deps(settings) as deps:
            found = (await validate(bundle, task, deps)).validation
    assert [path.name for path in (tmp_path / "validation").iterdir()] == [f"{task.id}.jsonl"]
    return found, read_records(tmp_path / "validation" / f"{task.id}.jsonl", Trajectory)


def statuses(kept: Sequence[Trajectory]) -> list[tuple[str, int, float | None]]:
    return [(run.status, run.calls, run.score.reward) for run in kept]


async def test_the_same_call_over_and_over_ends_as_a_loop_and_counts_as_failed(tmp_path: Path) -> None:
    """FAULTS PB-63: also where the tool always answers the same error."""
    call: Reply = {"name": "get_book", "arguments": {"book_id": "B999"}}
    found, kept = await attempted(tmp_path, [call], repeat=True)
    assert statuses(kept) == [("loop", 3, 0.0)] * 5
    assert (found.status, found.attempts) == ("rejected", 5)
    assert "loop, loop, loop, loop, loop" in found.checks[-1].detail
    assert kept[0].messages[-1]["content"] == json.dumps(
        {"error": {"code": "not_found", "message": "There is no book 'B999'."}}
    )


@pytest.mark.parametrize("arguments", ['{"book_id": "B007", "x": "abc', '{"book_id": "B007"}', ""])
async def test_a_call_that_the_token_limit_cut_is_not_executed(tmp_path: Path, arguments: str) -> None:
    """FAULTS PB-55: neither repaired to `{}` nor carried out where it happens to be whole."""
    found, kept = await attempted(tmp_path, [Cut("get_book", arguments)], repeat=True)
    assert statuses(kept) == [("truncated", 0, 0.0)] * 5
    assert found.status == "rejected"


async def test_a_run_out_of_turns_ends_by_its_budget(tmp_path: Path) -> None:
    calls: list[Reply] = [{"name": "get_book", "arguments": {"book_id": f"X{n}"}} for n in range(60)]
    _, kept = await attempted(tmp_path, calls)
    assert statuses(kept) == [("budget", 8, 0.0)] * 5


async def test_five_attempts_run_at_once_in_instances_of_their_own(tmp_path: Path) -> None:
    found, kept = await attempted(tmp_path, ['{"pages": 240}'], repeat=True)
    assert (found.status, found.passes, found.attempts) == ("validated", 5, 5)
    assert [run.seed for run in kept] == [0, 1, 2, 3, 4]


async def test_stored_attempts_are_scored_again_without_the_model(tmp_path: Path) -> None:
    await attempted(tmp_path, ['{"pages": 240}'], repeat=True)
    file = tmp_path / "validation" / f"{library_tasks()[30].id}.jsonl"
    async with open_deps(Settings(workspace=tmp_path)) as deps:
        deps.store.bundle("library").write_tasks(library_tasks()[30:31])
        found = await rescore_file(file, deps)
    assert (found.before.passed, found.after.passed, found.changes) == (5, 5, ())


async def test_what_the_gate_has_said_is_not_asked_again(tmp_path: Path) -> None:
    async with open_deps(Settings(workspace=tmp_path)) as deps:
        bundle = make_library(deps.store.root / "library")
        said = Validation(status="rejected", checks=(GateCheck(name="no leak", passed=False, detail="as before"),))
        assert (await validate(bundle, library_tasks()[30], deps, said)).validation == said


async def judged(tmp_path: Path, change: dict[str, Any]) -> tuple[list[Task], dict[str, str]]:
    async with open_deps(Settings(workspace=tmp_path)) as deps:
        bundle = _with_tasks(deps, change)
        before = (bundle.root / "tasks.jsonl").read_bytes()
        found = await validate_all(bundle, deps), await replay_all(bundle, deps)
        assert (bundle.root / "tasks.jsonl").read_bytes() == before
        return found


def _with_tasks(deps: Deps, change: dict[str, Any]) -> Bundle:
    bundle = make_library(deps.store.root / "library")
    tasks = library_tasks()[:3]
    bundle.write_tasks([*tasks[:2], tasks[2].model_copy(update=change)])
    return bundle


async def test_all_tasks_of_a_bundle_are_judged_anew_and_against_each_other(tmp_path: Path) -> None:
    tasks, faults = await judged(tmp_path, {"reference_answer": {"author": "Jane Austen"}})
    assert "gives another answer" in (tasks[2].validation.reason or "")
    assert list(faults.values()) == ["", "", "the gold solution gives another answer"]
    assert {task.validation.checks[-1].name for task in tasks} == {"differs from the others"}


async def test_a_task_that_repeats_another_is_rejected_with_the_one_it_repeats(tmp_path: Path) -> None:
    async with open_deps(Settings(workspace=tmp_path)) as deps:
        bundle = _with_tasks(deps, {})
        first = bundle.tasks()[0]
        bundle.write_tasks([first, first.model_copy(update={"id": "again"})])
        _, again = await validate_all(bundle, deps)
    assert again.validation.status == "rejected"
    assert again.validation.reason == f"differs from the others: same question as {first.id}"
