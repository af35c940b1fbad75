"""Tasks of the library of `tests/worlds.py`, and gold conversations for them, made by running the tools."""

from typing import Any

from agent_world.agents.episode import conversation
from agent_world.memory.store import Bundle
from agent_world.schema import (
    Chain,
    Difficulty,
    Origin,
    Ref,
    RowChange,
    Score,
    StateDiff,
    Step,
    Task,
    Trajectory,
    Value,
)
from agent_world.tools.grading import rubric_for
from agent_world.tools.runtime import Observation, Runtime
from tests.worlds import BOOKS, MEMBERS

TYPES = {int: "integer", float: "number", str: "string"}


def make_task(
    number: int, question: str, steps: list[tuple[str, dict[str, Any]]], answer: dict[str, Any], *changes: RowChange
) -> Task:
    """A task solved by `steps` with literal arguments; the answer is read from the last output."""
    schema = {
        "type": "object",
        "properties": {name: {"type": TYPES[type(value)]} for name, value in answer.items()},
        "required": list(answer),
        "additionalProperties": False,
    }
    diff = StateDiff(changes=changes)
    return Task(
        id=f"library-{number:03d}",
        environment="library",
        strategy="graph",
        question=question,
        answer_schema=schema,
        reference_answer=answer,
        solution=Chain(
            steps=tuple(Step(tool=t, arguments={n: Value(value=v) for n, v in a.items()}) for t, a in steps),
            answer={name: Ref(step=len(steps) - 1, path=name) for name in answer},
        ),
        rubric=rubric_for(answer, schema, diff),
        state_change=diff,
        difficulty=Difficulty(level=1, calls=len(steps), distinct_tools=len({t for t, _ in steps})),
        origin=Origin(engine="procedural"),
    )


def library_tasks() -> list[Task]:
    """Reads of every book and member, searches by title, and a change of copies: about 110 tasks of 1 or 2 calls."""
    tasks: list[Task] = []

    def add(
        question: str, steps: list[tuple[str, dict[str, Any]]], answer: dict[str, Any], *changes: RowChange
    ) -> None:
        tasks.append(make_task(len(tasks), question, steps, answer, *changes))

    for book, title, author, _, year, pages, copies, _ in BOOKS:
        get = ("get_book", {"book_id": book})
        add(f"How many pages does book {book} have?", [get], {"pages": pages})
        add(f"In what year did book {book} appear?", [get], {"year": year})
        add(f"Who is the author of book {book}?", [get], {"author": author})
        add(f"Find {title} and give its pages.", [("search_books", {"title": title}), get], {"pages": pages})
        changed = RowChange(
            table="books", key=book, kind="changed", before={"copies": copies}, after={"copies": copies + 7}
        )
        update = ("update_book_copies", {"book_id": book, "copies": copies + 7})
        add(f"Set the copies of book {book} to {copies + 7}.", [update], {"copies": copies + 7}, changed)
    for member, _, city, *_ in MEMBERS:
        add(f"In which city does member {member} live?", [("get_member", {"member_id": member})], {"city": city})
    return tasks


async def gold(tasks: list[Task], library: Bundle, runtime: Runtime) -> list[Trajectory]:
    """Run each task's chain in an instance of its own."""
    return [await _gold(task, library, runtime) for task in tasks]


async def _gold(task: Task, library: Bundle, runtime: Runtime) -> Trajectory:
    assert isinstance(task.solution, Chain)
    instance = await runtime.open(library.root)
    calls: list[tuple[str, dict[str, Any], Observation]] = []
    for step in task.solution.steps:
        arguments = {name: value.value for name, value in step.arguments.items() if isinstance(value, Value)}
        calls.append((step.tool, arguments, await instance.call(step.tool, arguments)))
    await instance.close()
    return Trajectory(
        task=task.id,
        environment="library",
        policy="gold",
        messages=tuple(conversation(task, library.tools(), calls, task.reference_answer)),
        calls=len(calls),
        status="done",
        answer=task.reference_answer,
        score=Score(reward=1.0),
    )
