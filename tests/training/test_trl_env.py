import json
from collections.abc import Iterator

import pytest

from agent_world.errors import UsageError
from agent_world.memory.store import Bundle
from agent_world.settings import LocalRuntime
from agent_world.tools.sync import open_sync_runtime
from agent_world.training.trl_env import (
    RolloutEnvironment,
    Rollouts,
    SchemaTool,
    environment_factories,
    final_answer,
    reward,
    rows,
)
from tests.library import library_tasks
from tests.worlds import make_library

TASKS = library_tasks()


@pytest.fixture(scope="module")
def library(tmp_path_factory: pytest.TempPathFactory) -> Bundle:
    return make_library(tmp_path_factory.mktemp("bundles") / "library")


@pytest.fixture(scope="module")
def rollouts(library: Bundle) -> Iterator[Rollouts]:
    with open_sync_runtime(LocalRuntime(max_instances=8)) as runtime:
        yield Rollouts(runtime, {"library": library}, {task.id: task for task in TASKS})


def tools_of(environment: RolloutEnvironment) -> dict[str, SchemaTool]:
    """The tools as the trainer finds them: by attribute, known by `__name__`."""
    names = [name for name in dir(type(environment)) if name.startswith("tool_")]
    return {tool.__name__: tool for tool in (getattr(environment, name) for name in names)}


def answered(text: str) -> list[dict[str, str]]:
    return [{"role": "assistant", "content": text}]


def test_the_trainer_finds_the_tools_and_nothing_else(rollouts: Rollouts, library: Bundle) -> None:
    environment = environment_factories(rollouts)["library"]()
    public = [name for name in dir(environment) if not name.startswith("_") and not name.startswith("tool_")]
    assert public == ["reset"]
    assert [dict(tool) for tool in tools_of(environment).values()] == [spec.public() for spec in library.tools()]


def test_errors_are_json_observations_and_the_episode_goes_on(rollouts: Rollouts) -> None:
    environment = environment_factories(rollouts)["library"]()
    environment.reset(task_id=TASKS[0].id, environment="library")
    get = tools_of(environment)["get_book"]
    assert json.loads(get(book_id="B001"))["title"] == "Dracula"
    assert json.loads(get(book_id="B999"))["error"]["code"] == "not_found"
    assert json.loads(get(book=1, self=2))["error"]["code"] == "invalid_arguments"
    assert str(get) == "<tool get_book>"
    environment._close()


def test_rewards_are_graded_on_answer_and_state_and_close_the_instances(rollouts: Rollouts) -> None:
    make = environment_factories(rollouts)["library"]
    change = next(task for task in TASKS if task.state_change.changes)
    right, idle, wrong = make(), make(), make()
    for environment in (right, idle, wrong):
        environment.reset(task_id=change.id)
    arguments = {name: value.value for name, value in change.solution.steps[0].arguments.items()}
    tools_of(right)["update_book_copies"](**arguments)
    tools_of(wrong)["update_book_copies"](**arguments)
    text = json.dumps(change.reference_answer)
    found = reward([], [answered(text), answered(text), answered("no")], environments=[right, idle, wrong])
    assert found == [1.0, 0.0, 0.0]
    assert right._instance is None
    right.reset(task_id=change.id)
    assert reward([], [answered(text)], environments=[right]) == [0.0], "the second attempt starts anew"


def test_a_rollout_that_the_machinery_broke_is_unscored(rollouts: Rollouts) -> None:
    environment = environment_factories(rollouts)["library"]()
    environment.reset(task_id=TASKS[0].id)
    environment._broken = True
    assert reward([], [answered("{}")], environments=[environment]) == [None]
    environment._close()


def test_an_episode_ended_in_the_middle_of_a_call_has_no_answer() -> None:
    call = {"role": "assistant", "content": '{"pages": 1}', "tool_calls": [{"type": "function"}]}
    assert final_answer([call]) is None
    assert final_answer([call, {"role": "tool", "content": '{"pages": 1}'}]) is None
    assert final_answer([]) is None
    assert final_answer([call, *answered('{"pages": 1}')]) == {"pages": 1}


def test_rows_hold_the_question_and_name_the_environment(library: Bundle) -> None:
    row = rows(TASKS[:1], {"library": library})[0]
    assert row["environment"] == "library"
    assert "How many pages" in row["prompt"][-1]["content"]


def test_tasks_without_an_environment_are_listed_before_anything_runs(library: Bundle) -> None:
    strays = [task.model_copy(update={"environment": name}) for task, name in zip(TASKS, ("Library", ""), strict=False)]
    with pytest.raises(UsageError, match=r"2 tasks .*library-000, library-001"):
        rows([*TASKS[2:4], *strays], {"library": library})
