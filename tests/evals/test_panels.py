"""The panels of figure 4: counted from what lies in a workspace, drawn the same each time, empty where nothing is."""

import json
from pathlib import Path

import pytest

from agent_world.cli import main
from agent_world.evals.panels import Panels, panels_of, write_panels
from agent_world.memory.store import Bundle, Store, write_record
from agent_world.schema import ArenaResult, Chain, Difficulty, Origin, Rate, Task
from tests.worlds import make_library


def workspace(root: Path, attempts: tuple[int, ...] = ()) -> Path:
    bundle: Bundle = make_library(Store(root).root / "library")
    tasks = [_task(calls) for calls in (1, 12)]
    tried = [
        task.model_copy(update={"validation": task.validation.model_copy(update={"attempts": 5, "passes": passes})})
        for task, passes in zip(tasks, attempts, strict=False)
    ]
    bundle.write_tasks(tried or tasks)
    return root


def _task(calls: int) -> Task:
    return Task(
        id=f"library-{calls}", environment="library", strategy="graph", question="?", answer_schema={},
        reference_answer={}, solution=Chain(steps=(), answer={}), origin=Origin(engine="procedural"),
        difficulty=Difficulty(level=1, calls=calls, distinct_tools=1),
    )  # fmt: skip


def by_letter(found: Panels) -> dict[str, dict[str, int]]:
    return {panel.letter: panel.bars for panel in found.panels}


def test_each_panel_counts_what_lies_there_and_says_who_made_it(tmp_path: Path) -> None:
    found = panels_of(workspace(tmp_path))
    bars = by_letter(found)
    assert bars["a"] == {"Culture": 1}
    assert bars["b"]["6-10"] == 1, "the library has ten tools"
    assert sum(bars["c"].values()) == 10
    assert bars["d"] == {"csv": 1, "json": 1, "sqlite": 1}
    assert sum(bars["e"].values()) == 2
    assert [panel.n for panel in found.panels] == [1, 1, 10, 3, 2, 0]
    assert found.panels[5].origin == "no model has tried a task"
    assert found.panels[1].origin == "10 procedural"
    assert all(panel.paper for panel in found.panels)


def test_difficulty_is_by_the_validators_attempts_and_else_by_the_arena(tmp_path: Path) -> None:
    tried = panels_of(workspace(tmp_path / "tried", attempts=(5, 2))).panels[5]
    assert tried.bars == {"0": 0, "1": 0, "2": 1, "3": 0, "4": 0, "5": 1}
    assert (tried.n, tried.mean, tried.most) == (2, 3.5, 5)
    rate = Rate(value=0.25, low=0.0, high=0.6, passed=1, scored=4, unscored=0)
    root = workspace(tmp_path / "arena")
    stage = ArenaResult(
        stage="round 1", round=1, policy="tiny", overall=rate, by_environment={}, by_type={}, by_strategy={},
        by_level={}, statuses={}, trajectories="",
    )  # fmt: skip
    write_record(root / "arena" / "round_1.json", stage)
    last = panels_of(root).panels[5]
    assert (last.bars, last.origin) == ({"solved": 1, "not solved": 3}, "policy tiny in the arena, round 1")


def test_pictures_are_the_same_bytes_each_time_and_the_verb_prints_json(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    root = workspace(tmp_path)
    settings = tmp_path / "settings.yaml"
    settings.write_text(f"workspace: {root}\n")
    assert main(["stats", "--panels", "--json", "-c", str(settings)]) == 0
    found = panels_of(root)
    assert Panels.model_validate(json.loads(capsys.readouterr().out)) == found
    first = {path.name: path.read_bytes() for path in (root / "panels").iterdir()}
    assert sorted(first) == [*(f"{letter}.svg" for letter in "abcdef"), "panels.json"]
    assert {path.name: path.read_bytes() for path in write_panels(found, root).iterdir()} == first
