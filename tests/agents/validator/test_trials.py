"""What the grader is tried with: random runs that give every task the same chance, a judge where code cannot decide."""

from collections.abc import AsyncIterator, Awaitable, Callable, Mapping
from pathlib import Path
from typing import Any

import pytest

from agent_world.agents.synthesizer.draft import Draft
from agent_world.agents.synthesizer.realise import Realised, realise
from agent_world.agents.synthesizer.world import World
from agent_world.agents.validator.gate import CHECKS, Gate, open_gate
from agent_world.agents.validator.random_runs import (
    CALLS,
    LUCK,
    NONE,
    RUNS,
    WRITING,
    RandomRun,
    by_luck,
    cases_of,
    known_runs,
    random_runs,
)
from agent_world.agents.validator.replay import replay
from agent_world.agents.validator.trials import Trial, trials
from agent_world.schema import Chain, Criterion, Origin, Ref, Step, Task, Value
from agent_world.settings import Settings, TaskSettings
from agent_world.tools.grading import rubric_for
from agent_world.tools.runtime import Observation, open_runtime
from tests.worlds import make_library

Make = Callable[[str], Awaitable[Task]]
TEXT = {
    "type": "object",
    "properties": {"note": {"type": "string"}},
    "required": ["note"],
    "additionalProperties": False,
}


async def test_a_task_that_chance_solves_is_refused_whatever_its_id(gate: Gate, make: Make) -> None:
    """5 of 12 members are adults, so that guessing earns the reward too often."""
    chain = Chain(
        steps=(Step(tool="get_member", arguments={"member_id": Value(value="M01")}),),
        answer={"level": Ref(step=0, path="level")},
    )
    answer = {"level": "adult"}
    schema = {**TEXT, "properties": {"level": {"type": "string"}}, "required": ["level"]}
    task = (await make("read")).model_copy(
        update={
            "question": "Which level has member M01?", "solution": chain, "answer_schema": schema,
            "reference_answer": answer, "rubric": rubric_for(answer, schema, (await make("read")).state_change),
        }
    )  # fmt: skip
    reasons = {(await gate.judge(task.model_copy(update={"id": f"library-{n}"}))).reason for n in range(5)}
    assert len(reasons) == 1
    (reason,) = reasons
    assert str(reason).startswith("chance does not solve it: ")
    assert "at most 2% may" in str(reason)


async def test_a_run_that_came_upon_a_row_of_the_solution_is_told_apart(gate: Gate, make: Make) -> None:
    """Among 20 books, some run reads the very book; who reads another one comes to another year."""
    task = await make("read")
    calls = (await replay(await gate.pool.clean(0), task.solution)).calls
    runs = await random_runs(gate.world, gate.pool, 1)
    lucky = by_luck(gate.world, runs, calls)
    assert NONE < lucky.count(False) < len(runs)
    earned = [luck for luck, case in zip(lucky, cases_of(runs, task), strict=True) if case.answer["year"] == 1815]
    assert earned
    assert all(earned)
    receipts = {check.name: check.detail for check in (await gate.judge(task)).checks}
    assert receipts["luck does not solve it"] == f"{len(runs) - len(earned)} of {len(runs)} score 0"
    assert receipts["chance does not solve it"] == f"{lucky.count(False)} of {lucky.count(False)} score 0"
    assert receipts["random calls score 0"] == "20 of 20 score 0"


async def test_where_nearly_all_runs_are_lucky_none_is_left_out(gate: Gate, make: Make) -> None:
    runs = await random_runs(gate.world, gate.pool, 1)
    found = {t.name: t for t in trials(gate.world, await make("read"), runs, [False] * 5 + [True] * (len(runs) - 5))}
    assert len(found["random calls score 0"].cases) == NONE
    assert len(found["chance does not solve it"].cases) == len(runs)
    assert found["chance does not solve it"].most == LUCK


def test_a_row_with_a_part_called_items_is_a_row(gate: Gate) -> None:
    seen = Observation(True, "", {"book_id": "B001", "items": [{"book_id": "B002"}]})
    shown = Observation(True, "", {"items": [{"book_id": "B003"}, {"book_id": "B004"}]})
    calls = [("get_book", {}, seen), ("search_books", {}, shown)]
    runs = [RandomRun({}, rows=frozenset({f"books {key}"})) for key in ("B001", "B002", "B003", "B004")]
    assert by_luck(gate.world, runs, calls) == [True, False, True, True]


async def test_random_runs_are_the_same_each_time_and_some_of_them_write(gate: Gate) -> None:
    runs = await random_runs(gate.world, gate.pool, 1)
    assert len(runs) == RUNS + WRITING
    assert runs == await random_runs(gate.world, gate.pool, 1)
    assert runs == await known_runs(gate.world, gate.pool, 1, gate.clock)
    assert await known_runs(gate.world, gate.pool, 1, gate.clock) is await known_runs(
        gate.world, gate.pool, 1, gate.clock
    )
    assert any(run.diff.changes for run in runs[RUNS:])
    assert not any(run.diff.changes for run in runs[:RUNS])
    assert CALLS == 3


def test_an_answer_of_chance_takes_fields_by_name_then_by_type(gate_task: Task) -> None:
    seen = [RandomRun({"year": 1900, "title": "Emma"}), RandomRun({"pages": 7, "title": "x"}), RandomRun({})]
    assert [case.answer for case in cases_of(seen, gate_task)] == [{"year": 1900}, {"year": 7}, {"year": None}]


@pytest.fixture
async def gate_task(make: Make) -> Task:
    return await make("read")


async def test_each_receipt_says_what_was_found(gate: Gate, make: Make) -> None:
    receipts = {check.name: check.detail for check in (await gate.judge(await make("write"))).checks}
    assert set(CHECKS) <= set(receipts)
    assert all(receipts.values())
    assert receipts["near misses score 0"].endswith("score 0")
    tried, _, of = receipts["near misses score 0"].split(" ")[:3]
    assert tried == of
    assert int(of) > 12
    assert receipts["gold replays"].split("state ")[1] == receipts["gold replays elsewhere"].split("state ")[1]
    read = {check.name: check.detail for check in (await gate.judge(await make("read"))).checks}
    assert read["gold replays"].split("state ")[1] != receipts["gold replays"].split("state ")[1]


def test_a_trial_without_a_case_is_nothing_that_was_tried() -> None:
    trial = Trial("harmless", 1, [])
    assert trial.verdict([]) == ("nothing was tried", "")


# --- Criteria that code cannot decide ---------------------------------------------------------------------


def judged_task(task: Task) -> Task:
    """It asks for a sentence, of which a judge decides whether it is right."""
    tone = Criterion(id="note", kind="semantic", path="note", description="The sentence says who wrote Emma.")
    rubric = rubric_for({"note": "Jane Austen"}, TEXT, task.state_change)
    chain = Chain(
        steps=(Step(tool="search_books", arguments={"title": Value(value="Emma")}),),
        answer={"note": Ref(step=0, path="items.0.author")},
    )
    return task.model_copy(
        update={
            "question": "Say in a sentence who wrote Emma.", "solution": chain, "answer_schema": TEXT,
            "reference_answer": {"note": "Jane Austen"}, "rubric": (*(c for c in rubric if c.id != "note"), tone),
        }
    )  # fmt: skip


@pytest.fixture
async def asked() -> list[Mapping[str, Any]]:
    return []


@pytest.fixture
async def judging(tmp_path: Path, asked: list[Mapping[str, Any]]) -> AsyncIterator[Gate]:
    async def judge(criterion: Criterion, task: Task, answer: Mapping[str, Any]) -> bool | None:
        asked.append(answer)
        return "town" in str(answer["written"]) if "written" in answer else "Jane Austen" in str(answer.get("note"))

    bundle = make_library(tmp_path / "judged")
    settings = Settings(workspace=tmp_path, tasks=TaskSettings(max_answer_chars=200))
    async with (
        open_runtime(settings.runtime) as runtime,
        open_gate(World(bundle), runtime, settings, judge) as opened,
    ):
        yield opened


async def test_without_a_judge_a_task_that_needs_one_is_refused_with_the_remedy(gate: Gate, make: Make) -> None:
    reason = (await gate.judge(judged_task(await make("read")))).reason
    assert reason == "criteria can be decided: 1 semantic criteria and no judge: set roles.validator.model.name"


async def test_a_judge_decides_in_the_gate_what_code_cannot(
    judging: Gate, make: Make, asked: list[Mapping[str, Any]]
) -> None:
    validation = await judging.judge(judged_task(await make("read")))
    assert validation.reason is None
    assert {check.name: check.detail for check in validation.checks}["criteria can be decided"] == (
        "2 by code, 1 by a judge"
    )
    assert {"note": "Jane Austen"} in asked
    assert not any("_extra" in answer for answer in asked), "what code refuses, no judge is asked about"


async def test_a_judge_that_lets_anything_pass_makes_no_task(tmp_path: Path, make: Make) -> None:
    async def yes(criterion: Criterion, task: Task, answer: Mapping[str, Any]) -> bool | None:
        return True

    bundle = make_library(tmp_path / "yes")
    settings = Settings(workspace=tmp_path)
    async with open_runtime(settings.runtime) as runtime, open_gate(World(bundle), runtime, settings, yes) as opened:
        reason = (await opened.judge(judged_task(await make("read")))).reason
    assert reason == "no-op scores 0: doing nothing scores 1.0"


# --- Words of the agent's own -----------------------------------------------------------------------------

CITY = "a small town by the sea"


async def registered(gate: Gate, question: str) -> Task:
    """A new member whose city is put down in words that the question does not have."""
    given = {"member_id": "M99", "name": "Bob Stone", "city": CITY, "postcode": "02139", "joined": "2025-05-01",
             "level": "adult"}  # fmt: skip
    step = Step(tool="create_member", arguments={name: Value(value=value) for name, value in given.items()})
    chain = Chain(steps=(step,), answer={"name": Ref(step=0, path="name")})
    draft = Draft(solution=chain, question=question, expected={}, types={"name": "string"}, writes=True)
    made = await realise(draft, "library", Origin(engine="procedural"), 0, await gate.pool.clean(0))
    gate.pool.soil(0)
    assert isinstance(made, Realised), made
    task = made.task
    rubric = rubric_for(task.reference_answer, task.answer_schema, task.state_change, judged=("members.city",))
    return task.model_copy(update={"rubric": rubric})


ASKED = (
    "Add a member M99 called Bob Stone, postcode 02139, joined 2025-05-01, level adult; as city say in your own words "
    "that it is on the coast and small. Confirm with the name."
)


async def test_words_of_the_agents_own_are_for_the_judge(
    judging: Gate, gate: Gate, asked: list[Mapping[str, Any]]
) -> None:
    validation = await judging.judge(await registered(judging, ASKED))
    assert validation.reason is None
    assert {"written": [CITY]} in asked
    assert {"written": [""]} in asked, "nothing written is a near miss"
    assert "no judge" in str((await gate.judge(await registered(gate, ASKED))).reason)


async def test_what_code_can_decide_is_not_left_to_a_judge(judging: Gate) -> None:
    stated = await registered(judging, ASKED.replace("in your own words", f"{CITY}, namely"))
    assert "members.city is left to the agent's own words, and the question says" in str(
        (await judging.judge(stated)).reason
    )
    rubric = rubric_for(stated.reference_answer, stated.answer_schema, stated.state_change, free_text=("books.copies",))
    assert "books.copies is left to the agent's own words, and is no text of the database" in str(
        (await judging.judge(stated.model_copy(update={"rubric": rubric}))).reason
    )
