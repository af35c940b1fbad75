"""A model writes programs: good ones become tasks, bad ones are repaired or given up, and none breaks the run."""

import json
from collections.abc import Sequence

import pytest

from agent_world.agents.model import open_model
from agent_world.agents.synthesizer.program_llm import ROUNDS, compose
from agent_world.agents.synthesizer.realise import Realised
from agent_world.agents.synthesizer.world import World
from agent_world.schema import Origin
from agent_world.settings import LocalRuntime
from agent_world.tools.runtime import Instance, open_runtime
from tests.openai_server import scripted_openai

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


async def composed(world: World, instance: Instance, replies: Sequence[str], repeat: bool = False) -> Realised | str:
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
    assert made.startswith(f"the model's program was not repaired in {ROUNDS} tries: the program fails")


async def test_a_program_that_never_ends_is_stopped_and_repaired(world: World) -> None:
    async with open_runtime(LocalRuntime(run_timeout_s=2)) as runtime:
        instance = await runtime.open(world.bundle.root)
        made = await composed(world, instance, [BAD["never ends"], written()])
        await instance.close()
    assert isinstance(made, Realised), made
