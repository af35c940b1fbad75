"""Figures of task synthesis: what is counted, what is held against a bound, and what a wrong folder is told."""

from pathlib import Path

import pytest

from agent_world.agents.synthesizer.draft import Draft
from agent_world.agents.synthesizer.forms import forms_of_walks, programs_said, wordings
from agent_world.agents.synthesizer.meaning import Command, FieldAsk, Meaning, Subject
from agent_world.agents.synthesizer.world import World
from agent_world.cli import main
from agent_world.evals.bench.tasks import environments_of, figures_of, give_tasks, overlap, row_of
from agent_world.memory.store import Store
from agent_world.schema import Chain, Difficulty, Origin, Task
from tests.worlds import make_library

EMMA = Subject("label", "books", "title", "Emma")


def task(number: int, question: str, level: int = 1, calls: int = 12, strategy: str = "graph") -> Task:
    return Task.model_validate(
        {
            "id": f"t{number}", "environment": "library", "strategy": strategy, "question": question,
            "answer_schema": {}, "reference_answer": {}, "solution": Chain(steps=(), answer={}),
            "origin": Origin(engine="procedural"),
            "difficulty": Difficulty(level=level, calls=calls, distinct_tools=1),
        }
    )  # fmt: skip


def test_figures_are_held_against_what_must_hold() -> None:
    tasks = [
        task(1, "How many books of genre horror are there in the library?", level=5, calls=30),
        task(2, "How many books of genre society are there in the library?", strategy="program"),
    ]
    row = row_of("library", tasks, 2.0)
    assert (row.graph, row.program, row.calls_mean) == (1, 1, 21.0)
    assert row.overlap == overlap(tasks) == 0.5
    figures = {f.name: f for f in figures_of([row], tasks, 20.0, {"ask": 40, "remove": 12}, same=True)}
    assert figures["tasks that passed the gate"].met is False, "200 of one environment"
    assert figures["time for them"].met is False
    assert figures["environments with both ways of synthesis"].met is True
    assert figures["calls, mean at level 5"].value == 30
    fewest = figures["surface forms of a kind of step, fewest"]
    assert (fewest.value, fewest.met, fewest.note) == (12, False, "of 'remove'")
    assert figures["same seed, same bytes"].met is True


def test_a_workspace_or_one_environment_is_measured_and_nothing_else(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    bundle = make_library(Store(tmp_path).root / "library")
    assert environments_of(tmp_path) == environments_of(bundle.root) == [bundle.root]
    assert main(["bench", "tasks", str(tmp_path / "elsewhere")]) == 2
    assert "There are no environments in" in capsys.readouterr().err


def test_forms_are_counted_with_the_meaning_fixed(tmp_path: Path) -> None:
    world = World(make_library(tmp_path / "library"))
    asking = Meaning(asks=(FieldAsk(EMMA, ("author",)),))
    assert all("author" in question and "Emma" in question for question in wordings(world, asking))
    both = Meaning(asks=asking.asks, commands=(Command("set", "books", EMMA, (("copies", 3),), ("author",)),))
    draft = Draft(Chain(steps=(), answer={}), "?", {}, meaning=both)
    found = forms_of_walks(world, [draft])
    assert set(found) == {"ask for a field", "change: set"}
    assert min(found.values()) >= 30
    assert programs_said(world, 1, "no such draft", draft) == set(), "another plan is no form of this one"


async def test_copies_are_given_tasks_and_the_workspace_stays_as_it_was(tmp_path: Path) -> None:
    bundle = make_library(Store(tmp_path).root / "library")
    before = bundle.content_hash()
    assert await give_tasks(bundle.root, tmp_path / "out", 3, seed=3) > 0
    made = Store(tmp_path / "out").bundle("library").tasks()
    assert sorted(task.strategy for task in made) == ["graph", "graph", "program"]
    assert bundle.content_hash() == before
    assert bundle.tasks() == []
