"""A model writes programs: good ones become tasks, bad ones are repaired or given up, and none breaks the run."""

import json
from collections.abc import Sequence

import pytest

from agent_world.agents.model import open_model
from agent_world.agents.synthesizer.program_llm import IDLE, MOST_TURNS, SUBMISSIONS, brief, compose, described
from agent_world.agents.synthesizer.realise import Realised
from agent_world.agents.synthesizer.world import World
from agent_world.schema import Origin
from agent_world.settings import LocalRuntime
from agent_world.tools.runtime import Instance, open_runtime
from tests.openai_server import Reply, scripted_openai

PROGRAM = """def solve(tools):
    rows = tools.list_books_by_genre(genre="horror")["items"]
    return {"count": len([row for row in rows if row["pages"] > 300])}
"""
VERIFIER = """def verify(answer, reference, diff, expected_diff):
    assert answer.get("count") == reference["count"]
    assert diff["changes"] == expected_diff["changes"]
"""
GOOD = {
    "question": "How many horror books have more than 300 pages?", "program": PROGRAM,
    "answer": {"count": "integer"}, "verifier": VERIFIER,
}  # fmt: skip


def written(**changed: object) -> str:
    return json.dumps(GOOD | changed)


async def composed(world: World, instance: Instance, replies: Sequence[Reply], repeat: bool = False) -> Realised | str:
    async with scripted_openai(replies, repeat=repeat) as server:
        model = open_model(server.config)
        return await compose(world, 1, Origin(engine="procedural"), 0, instance, model)


async def test_a_good_program_becomes_a_task_with_the_answer_of_the_tools(world: World, instance: Instance) -> None:
    made = await composed(world, instance, [written()])
    assert isinstance(made, Realised)
    assert made.task.reference_answer == {"count": 1}
    assert (made.task.origin.engine, made.task.origin.model) == ("llm", "openai:scripted")
    assert made.task.verifier == VERIFIER


async def test_text_that_the_model_made_up_is_left_to_the_words_of_an_agent(world: World, instance: Instance) -> None:
    row = 'member_id="M99", name="Bob Stone", city="a town by the sea", postcode="02139", joined="2025-05-01"'
    program = f'def solve(tools):\n    tools.create_member({row}, level="adult")\n    return {{"count": 1}}\n'
    question = (
        "Add a member M99 called Bob Stone, 02139, 2025-05-01, adult; say in your words that the city is coastal."
    )
    made = await composed(world, instance, [written(program=program, question=question)])
    assert isinstance(made, Realised), made
    assert [(c.kind, c.expected or c.path) for c in made.task.rubric] == [
        ("state", {"ignore": ["members.city"]}), ("semantic", "state.members.city"),
    ]  # fmt: skip


BAD = {
    "no tool of this name": written(program="def solve(tools):\n    return {'count': tools.list_ghosts()['total']}\n"),
    "never ends": written(program="def solve(tools):\n    while True:\n        pass\n"),
    "no code": written(program="I would first look at the horror books, then count."),
    "no call": written(program="def solve(tools):\n    return {'count': 1 + len('')}\n"),
    "other fields": written(answer={"books": "integer"}),
    "an unknown type": written(answer={"count": "date"}),
    "a verifier that accepts everything": written(verifier=f"{VERIFIER.splitlines()[0]}\n    pass\n"),
    "a verifier that breaks": written(verifier=f"{VERIFIER.splitlines()[0]}\n    return 1 / 0\n"),
}  # fmt: skip


@pytest.mark.parametrize(
    "bad", [BAD[name] for name in BAD if name != "never ends"], ids=[n for n in BAD if n != "never ends"]
)
async def test_a_bad_program_is_repaired_from_its_error(world: World, instance: Instance, bad: str) -> None:
    before = await instance.state_hash()
    made = await composed(world, instance, [bad, written()])
    assert isinstance(made, Realised), made
    assert await instance.state_hash() == before


@pytest.mark.parametrize(
    "reply",
    ["", "I cannot help with that.", '{"question": "How many', "[]"],
    ids=["empty", "refusal", "cut off", "list"],
)
async def test_what_is_no_task_at_all_is_given_up_with_a_reason(world: World, instance: Instance, reply: str) -> None:
    made = await composed(world, instance, [reply], repeat=True)
    assert isinstance(made, str)
    assert made.startswith("the model wrote no program")


async def test_a_program_that_stays_wrong_is_given_up_after_a_bounded_number_of_tries(
    world: World, instance: Instance
) -> None:
    made = await composed(world, instance, [BAD["no tool of this name"]], repeat=True)
    assert isinstance(made, str)
    assert made.startswith(f"the model's program was not repaired in {SUBMISSIONS} tries: the program fails")


async def test_a_program_that_never_ends_is_stopped_and_repaired(world: World) -> None:
    async with open_runtime(LocalRuntime(run_timeout_s=2)) as runtime:
        instance = await runtime.open(world.bundle.root)
        made = await composed(world, instance, [BAD["never ends"], written()])
        await instance.close()
    assert isinstance(made, Realised), made


# --- The loop ------------------------------------------------------------------------------------------------


def submitted(**changed: object) -> Reply:
    return {"name": "submit", "arguments": GOOD | changed}


async def test_a_model_looks_around_runs_and_submits_and_leaves_the_environment_as_it_was(world: World) -> None:
    async with open_runtime(LocalRuntime()) as runtime:
        instance = await runtime.open(world.bundle.root)
        before = await instance.state_hash()
        replies: list[Reply] = [
            [{"name": "get_book", "arguments": {"book_id": "B001"}},
             {"name": "update_book_copies", "arguments": {"book_id": "B001", "copies": 9}}],
            {"name": "run_program", "arguments": {"program": PROGRAM}},
            submitted(),
        ]  # fmt: skip
        async with scripted_openai(replies) as server:
            made = await compose(world, 1, Origin(engine="procedural"), 0, instance, open_model(server.config))
            told = server.requests[-1]["messages"]
            offered = [tool["function"]["name"] for tool in server.requests[0]["tools"]]
        assert await instance.state_hash() == before
        await instance.close()
    assert isinstance(made, Realised), made
    assert made.task.state_change.changes == (), "what it changed while looking around is no part of the task"
    seen = [message["content"] for message in told if message["role"] == "tool"]
    assert "Dracula" in seen[0]
    assert json.loads(seen[2]) == {"answer": {"count": 1}, "calls": 1, "changed rows": 0}
    assert {"get_book", "delete_loan", "run_program", "submit"} <= set(offered)


async def test_what_fails_on_trial_comes_back_as_an_observation(world: World, instance: Instance) -> None:
    bad = "def solve(tools):\n    return {'count': tools.list_ghosts()['total']}\n"
    replies: list[Reply] = [submitted(program=bad), {"name": "submit", "arguments": {"question": "?"}}, submitted()]
    async with scripted_openai(replies) as server:
        made = await compose(world, 1, Origin(engine="procedural"), 0, instance, open_model(server.config))
        told = [m["content"] for m in server.requests[-1]["messages"] if m["role"] == "tool"]
    assert isinstance(made, Realised), made
    assert told[0].startswith("That does not hold: the program fails")
    assert told[1].startswith("Not submitted: question")


@pytest.mark.parametrize(
    ("reply", "reason"),
    [
        ({"name": "get_book", "arguments": {"book_id": "B001"}}, f"nothing that holds in {MOST_TURNS} turns"),
        ("Let me think about it.", "the model wrote no program"),
    ],
    ids=["only looks around", "only talks"],
)
async def test_the_budget_ends_what_comes_to_nothing(
    world: World, instance: Instance, reply: Reply, reason: str
) -> None:
    async with scripted_openai([reply], repeat=True) as server:
        made = await compose(world, 1, Origin(engine="procedural"), 0, instance, open_model(server.config))
        asked = len(server.requests)
    assert isinstance(made, str)
    assert reason in made
    assert asked == (IDLE if isinstance(reply, str) else MOST_TURNS)


def test_the_model_is_told_types_listed_values_and_outputs(world: World) -> None:
    told = brief(world, 3)
    assert (
        "list_books_by_genre(genre: string, limit: integer = null, offset: integer = null) -> items[].book_id" in told
    )
    spec = {"properties": {"size": {"type": "string", "enum": ["S", "M"]}}, "required": ["size"]}
    tool = world.tools[0].model_copy(update={"input_schema": {"type": "object", **spec}})
    assert "(size: string of S|M)" in described(tool)


NESTED = """def solve(tools):
    first = tools.get_book(book_id="B001")
    if first["pages"] > 300:
        loans = tools.count_loans_by_book(book_id="B001")["count"]
        found = "many" if loans > 2 else "few"
    elif first["pages"] > 100:
        found = "some"
    else:
        found = "none"
    others = tools.list_books_by_genre(genre=first["genre"])["items"]
    return {"found": found, "copies": tools.get_book(book_id=others[1]["book_id"])["copies"]}
"""


async def test_difficulty_is_measured_on_the_calls_and_the_code(world: World, instance: Instance) -> None:
    verifier = VERIFIER.replace('answer.get("count") == reference["count"]', "answer == reference")
    answer = {"found": "string", "copies": "integer"}
    question = "Is Dracula borrowed often, and how many copies are there of the next book of its genre?"
    made = await composed(
        world, instance, [submitted(program=NESTED, verifier=verifier, answer=answer, question=question)]
    )
    assert isinstance(made, Realised), made
    found = made.task.difficulty
    assert (found.calls, found.branches, found.depth) == (4, 3, 2)
    assert (found.weak_edges, found.independent_edges) == (2, 2), "genre and key were shown; B001 is written"
