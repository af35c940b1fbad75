"""Hand-written tasks on the library of `tests/worlds.py`, one of every shape; their gold is run, not written."""

from collections.abc import Mapping
from typing import Any, Literal

from agent_world.agents.episode import conversation
from agent_world.agents.policy import Message
from agent_world.agents.validator.replay import replay
from agent_world.memory.store import Bundle
from agent_world.schema import (
    Argument,
    Chain,
    Difficulty,
    Origin,
    Program,
    Ref,
    Solution,
    Step,
    Task,
    Trajectory,
    Value,
)
from agent_world.tools.grading import rubric_for
from agent_world.tools.runtime import Runtime

TITLE = {"Dracula": "B001", "Emma": "B003", "The Time Machine": "B008", "Kidnapped": "B012"}
VERIFIER = (
    "def verify(answer, reference, diff, expected_diff):\n    assert answer == reference and diff == expected_diff\n"
)
LENT_OF_GENRE = """
def solve(tools):
    total = 0
    for book in tools.list_books_by_genre(genre="horror")["items"]:
        total += tools.count_loans_by_book(book_id=book["book_id"])["count"]
    return {"total": total}
"""


def specs() -> list[tuple[str, str, Solution, dict[str, str], int]]:
    """`(id, question, solution, answer types, level)`."""
    found: list[tuple[str, str, Solution, dict[str, str], int]] = []
    for title, key in TITLE.items():
        name = title.lower().replace(" ", "_")
        get = Chain(steps=(_step("get_book", book_id=key),), answer={"genre": Ref(step=0, path="genre")})
        found.append((f"genre_{name}", f"Which genre is book {key}?", get, {"genre": "string"}, 1))
        lent = Chain(
            steps=(
                _step("search_books", title=title),
                Step(tool="count_loans_by_book", arguments={"book_id": Ref(step=0, path="items.0.book_id")}),
            ),
            answer={"count": Ref(step=1, path="count")},
        )
        found.append((f"lent_{name}", f"How often was {title} lent?", lent, {"count": "integer"}, 2))
    more = Chain(
        steps=(_step("update_book_copies", book_id="B001", copies=9),), answer={"copies": Ref(step=0, path="copies")}
    )
    found.append(("more_dracula", "Set the copies of book B001 to 9.", more, {"copies": "integer"}, 1))
    gone = Chain(steps=(_step("delete_loan", loan_id=5),), answer={"book_id": Ref(step=0, path="book_id")})
    found.append(("delete_loan", "Delete loan 5; which book was it?", gone, {"book_id": "string"}, 1))
    question = "How often were books of the genre horror lent in all?"
    found.append(("lent_horror", question, Program(source=LENT_OF_GENRE), {"total": "integer"}, 3))
    return found


async def library_tasks(bundle: Bundle, runtime: Runtime) -> list[Task]:
    return [(await _gold(bundle, runtime, *spec))[0] for spec in specs()]


async def gold_runs(bundle: Bundle, runtime: Runtime) -> list[Trajectory]:
    """Gold conversations of the same tasks, for a replaying policy."""
    found = []
    for spec in specs():
        task, messages = await _gold(bundle, runtime, *spec)
        found.append(
            Trajectory(
                task=task.id, environment=bundle.id, policy="gold", messages=tuple(messages), calls=0, status="done"
            )
        )
    return found


async def _gold(
    bundle: Bundle, runtime: Runtime, name: str, question: str, solution: Solution, types: Mapping[str, str], level: int
) -> tuple[Task, list[Message]]:
    instance = await runtime.open(bundle.root)
    try:
        run = await replay(instance, solution)
        change = await instance.diff()
    finally:
        await instance.close()
    assert run.error is None
    assert run.answer is not None
    schema: dict[str, Any] = {
        "type": "object", "properties": {key: {"type": kind} for key, kind in types.items()},
        "required": list(types), "additionalProperties": False,
    }  # fmt: skip
    strategy: Literal["graph", "program"] = "graph" if isinstance(solution, Chain) else "program"
    task = Task(
        id=name, environment=bundle.id, strategy=strategy, question=question, answer_schema=schema,
        reference_answer=run.answer, solution=solution, state_change=change, origin=Origin(engine="procedural"),
        rubric=rubric_for(run.answer, schema, change) if strategy == "graph" else (),
        verifier=VERIFIER if strategy == "program" else None,
        difficulty=Difficulty(level=level, calls=len(run.calls), distinct_tools=len({c[0] for c in run.calls})),
    )  # fmt: skip
    return task, conversation(task, bundle.tools(), run.calls, run.answer)


def _step(tool: str, **arguments: Any) -> Step:
    bound: dict[str, Argument] = {name: Value(value=value) for name, value in arguments.items()}
    return Step(tool=tool, arguments=bound)
