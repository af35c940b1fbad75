from collections.abc import Sequence
from pathlib import Path

import pytest

from agent_world.agents.episode import Limits, answer_form, opening, run_episodes
from agent_world.agents.policy import Message, RandomPolicy, ReplayPolicy, ScriptedPolicy, ToolCall, Tools, Turn
from agent_world.errors import SandboxError
from agent_world.memory.store import Bundle
from agent_world.schema import Task, Trajectory
from agent_world.tools.runtime import Instance, Runtime
from tests.library import gold, library_tasks
from tests.worlds import make_library

GET = ToolCall("get_book", {"book_id": "B001"})
NOWHERE = ToolCall("get_book", {"book_id": "B999"})


@pytest.fixture
def library(tmp_path: Path) -> Bundle:
    return make_library(tmp_path / "library")


def task_about(question: str) -> Task:
    return next(task for task in library_tasks() if question in task.question)


async def play(library: Bundle, runtime: Runtime, *turns: Turn, limits: Limits | None = None) -> Trajectory:
    """One episode on `How many pages does book B001 have?` (418) with these turns."""
    item = (task_about("pages does book B001"), library)
    return (await run_episodes(ScriptedPolicy(turns), [item], runtime, limits or Limits()))[0]


def test_the_opening_states_the_form_of_the_answer_and_names_no_tool(library: Bundle) -> None:
    messages = opening(task_about("pages does book B001"), library.tools())
    assert messages[1]["content"].endswith('?\nAnswer as JSON: {"pages": integer}')
    assert "get_book" not in str(messages)


def test_nested_answer_schemas_are_shown_in_short() -> None:
    names = {"type": "array", "items": {"type": "string"}}
    schema = {"type": "object", "properties": {"names": names, "n": {"type": ["integer", "null"]}}}
    assert answer_form(schema) == '{"names": [string], "n": integer or null}'


async def test_replayed_gold_conversations_all_earn_the_reward(library: Bundle, runtime: Runtime) -> None:
    tasks = library_tasks()[:12]
    recorded = await gold(tasks, library, runtime)
    done: list[tuple[int, int]] = []
    found = await run_episodes(
        ReplayPolicy(recorded),
        [(t, library) for t in tasks],
        runtime,
        Limits(batch=5),
        on_progress=lambda d, n: done.append((d, n)),
    )
    assert [t.score.reward for t in found] == [1.0] * 12
    assert [t.messages for t in found] == [t.messages for t in recorded]
    assert done[-1] == (12, 12)


async def test_a_right_answer_with_an_unasked_change_earns_nothing(library: Bundle, runtime: Runtime) -> None:
    change = Turn(tool_calls=(ToolCall("update_book_copies", {"book_id": "B001", "copies": 1}),))
    found = await play(library, runtime, change, Turn('{"pages": 418}'))
    assert (found.status, found.score.reward, len(found.diff.changes)) == ("done", 0.0, 1)


async def test_the_same_call_with_the_same_error_three_times_is_a_loop(library: Bundle, runtime: Runtime) -> None:
    found = await play(library, runtime, Turn(tool_calls=(NOWHERE,)))
    assert (found.status, found.calls, found.tool_errors, found.score.reward) == ("loop", 3, 3, 0.0)
    assert len(found.messages) == 2 + 2 * 3


async def test_a_cut_turn_is_not_executed(library: Bundle, runtime: Runtime) -> None:
    change = ToolCall("update_book_copies", {"book_id": "B001", "copies": 1})
    found = await play(library, runtime, Turn(tool_calls=(change,), truncated=True))
    assert (found.status, found.calls, found.diff.changes, found.score.reward) == ("truncated", 0, (), 0.0)


@pytest.mark.parametrize("text", ["", "418", '{"pages": 418', 'It has {"pages": 418}'])
async def test_a_turn_that_is_neither_call_nor_answer_ends_the_episode(
    library: Bundle, runtime: Runtime, text: str
) -> None:
    found = await play(library, runtime, Turn(text))
    assert (found.status, found.score.reward) == ("malformed", 0.0)


async def test_an_episode_out_of_turns_ends_by_its_budget(library: Bundle, runtime: Runtime) -> None:
    found = await play(library, runtime, Turn(tool_calls=(GET,)), limits=Limits(max_turns=2))
    assert (found.status, found.calls, found.score.reward) == ("budget", 2, 0.0)


async def test_unknown_tools_and_bad_arguments_are_observations(library: Bundle, runtime: Runtime) -> None:
    odd = Turn(tool_calls=(ToolCall("no_such", {}), ToolCall("get_book", {"book_id": 7})))
    found = await play(library, runtime, odd, Turn('{"pages": 418}'))
    assert "unknown_tool" in found.messages[3]["content"]
    assert "invalid_arguments" in found.messages[4]["content"]
    assert (found.tool_errors, found.score.reward) == (2, 1.0)


async def test_every_attempt_starts_from_the_first_state(library: Bundle, runtime: Runtime) -> None:
    task = task_about("Set the copies of book B001")
    change = Turn(tool_calls=(ToolCall("update_book_copies", {"book_id": "B001", "copies": 10}),))
    policy = ScriptedPolicy((change, Turn('{"copies": 10}')))
    found = await run_episodes(policy, [(task, library)] * 3, runtime)
    assert [t.score.reward for t in found] == [1.0] * 3
    assert len({t.model_dump_json() for t in found}) == 1


async def test_a_policy_that_gives_no_turn_leaves_the_episode_unscored(library: Bundle, runtime: Runtime) -> None:
    found = await play(library, runtime, Turn(failure="the server is away"))
    assert (found.status, found.score.reward) == ("infra", None)


class Unavailable:
    """A runtime that cannot open anything."""

    async def open(self, environment: Path, *, seed: int = 0, clock: str | None = None) -> Instance:
        raise SandboxError("no processes left")


async def test_a_runtime_that_cannot_open_leaves_the_episode_unscored(library: Bundle) -> None:
    found = await play(library, Unavailable(), Turn('{"pages": 418}'))
    assert (found.status, found.score.reward) == ("infra", None)


async def test_random_episodes_are_the_same_again(library: Bundle, runtime: Runtime) -> None:
    items = [(task, library) for task in library_tasks()[:8]]
    first, second = [await run_episodes(RandomPolicy(3), items, runtime) for _ in range(2)]
    assert first == second
    assert all(t.score.reward == 0.0 for t in first)


class Recorder:
    """Answers at once, and keeps what it was shown."""

    name = "recorder"
    tools: Sequence[Tools] = ()

    async def act(self, conversations: Sequence[Sequence[Message]], tools: Sequence[Tools]) -> list[Turn]:
        self.tools = tools
        return [Turn("{}") for _ in conversations]


async def test_a_policy_sees_nothing_of_a_tool_but_its_public_form(library: Bundle, runtime: Runtime) -> None:
    policy = Recorder()
    await run_episodes(policy, [(library_tasks()[0], library)], runtime)
    assert set(policy.tools[0][0]["function"]) == {"name", "description", "parameters"}
