"""The `llm` engine of programmatic tasks: a model writes question, program and verifier, and repairs what fails.

    write -> run in the sandbox -> verify -> task
      ^            |                 |
      +--- error --+-----------------+        at most ROUNDS times

What a model writes is a proposal and hostile: it runs in a sandbox only, its answer is what the tools said, and the
gate decides. Nothing that a model says, or does not say, breaks the run: the draft is given up with a reason.
"""

import ast
import hashlib
import json
from collections.abc import Mapping
from typing import Any

from pydantic import BaseModel, Field

from agent_world.agents.model import Model
from agent_world.agents.synthesizer.answers import answer_schema
from agent_world.agents.synthesizer.draft import Draft
from agent_world.agents.synthesizer.realise import Realised, difficulty
from agent_world.agents.synthesizer.world import World
from agent_world.agents.validator.literals import states
from agent_world.agents.validator.replay import Run, replay
from agent_world.errors import ModelError
from agent_world.schema import Origin, Program, StateDiff, Task
from agent_world.tools.grading import rubric_for
from agent_world.tools.runtime import Instance

ROUNDS = 4
"""Times a model may write one task, the first included."""
SAMPLES = 2
"""Rows of each table that the model is shown, so that it writes of what is there."""
TYPES = ("string", "integer", "number", "boolean", "[string]", "[integer]", "[number]")


class Composed(BaseModel):
    question: str = Field(min_length=20, description="The request as a person would type it; no tool or column names.")
    program: str = Field(min_length=20, description="Python: def solve(tools) -> dict; tools.NAME(**arguments).")
    answer: dict[str, str] = Field(min_length=1, description=f"Fields of the answer and their types, of {TYPES}.")
    verifier: str = Field(
        min_length=20,
        description="Python: def verify(answer, reference, diff, expected_diff); asserts the answer's fields against "
        "the reference and diff['changes'] against expected_diff['changes']; returns nothing.",
    )


async def compose(
    world: World, level: int, origin: Origin, round: int, instance: Instance, model: Model
) -> Realised | str:
    """A task in a model's words and code, or the reason why there is none. The instance is left clean."""
    dialogue = [("system", _RULES), ("user", _brief(world, level))]
    problem = ""
    for _ in range(ROUNDS):
        try:
            found = await model.structured(Composed, dialogue)
        except ModelError as error:
            return f"the model wrote no program: {error}"
        made = await _tried(found, world, origin, round, instance, model.name)
        await instance.reset()
        if isinstance(made, Realised):
            return made
        problem = made
        dialogue = [
            *dialogue[:2],
            ("assistant", found.model_dump_json()),
            ("user", f"That does not hold: {problem}. Reply with the whole task, repaired."),
        ]
    return f"the model's program was not repaired in {ROUNDS} tries: {problem}"


async def _tried(
    found: Composed, world: World, origin: Origin, round: int, instance: Instance, model: str
) -> Realised | str:
    unknown = sorted(set(found.answer.values()) - set(TYPES))
    if unknown:
        return f"{unknown[0]!r} is none of the types {', '.join(TYPES)}"
    solution = Program(source=found.program)
    run = await replay(instance, solution)
    if run.error or run.answer is None:
        return f"the program fails: {run.error}"
    if not run.calls:
        return "the program calls no tool"
    if set(run.answer) != set(found.answer):
        return f"the program answers {sorted(run.answer)}, the task asks for {sorted(found.answer)}"
    change = await instance.diff()
    fault = await _verifier_fault(found.verifier, run.answer, change, instance)
    if fault:
        return fault
    return Realised(_task(found, solution, run, change, world, origin, round, model), run.calls)


async def _verifier_fault(verifier: str, answer: Mapping[str, Any], change: StateDiff, instance: Instance) -> str:
    """It has to accept the answer of the program, and to refuse another state and an empty answer."""
    right, said = change.model_dump(mode="json"), dict(answer)
    other: dict[str, Any] = {"changes": [*right["changes"], {"table": "_other", "key": "1", "kind": "added"}]}
    cases: tuple[tuple[dict[str, Any], dict[str, Any], bool], ...] = (
        (said, right, True),
        ({}, right, False),
        (said, other, False),
    )
    for given, diff, wanted in cases:
        arguments = {"answer": given, "reference": said, "diff": diff, "expected_diff": right}
        result = await instance.run(verifier, "verify", arguments)
        if wanted and not result.ok:
            return f"the verifier refuses the program's own answer: {result.error}"
        if not wanted and not (result.error or "").startswith("AssertionError"):
            return "the verifier has to fail by an assertion on an empty answer, and on any other change of the state"
    return ""


def _task(
    found: Composed,
    solution: Program,
    run: Run,
    change: StateDiff,
    world: World,
    origin: Origin,
    round: int,
    model: str,
) -> Task:
    assert run.answer is not None
    draft = Draft(solution, found.question, {}, types=found.answer, branches=found.program.count("if "))
    text = json.dumps([found.question, run.answer, found.program], sort_keys=True)
    schema, answer = answer_schema(found.answer), {key: run.answer[key] for key in found.answer}
    own = own_words(world, found.question, found.program, change)
    rubric = rubric_for(answer, schema, change, judged=own) if own else ()
    return Task(
        id=f"{world.id}-{hashlib.sha256(text.encode()).hexdigest()[:10]}",
        environment=world.id,
        strategy="program",
        question=" ".join(found.question.split()),
        answer_schema=schema,
        reference_answer=answer,
        solution=solution,
        rubric=tuple(c for c in rubric if c.kind in ("state", "semantic")),
        verifier=found.verifier,
        state_change=change,
        difficulty=difficulty(draft, run),
        origin=origin.model_copy(update={"engine": "llm", "model": model}),
        round=round,
    )


def own_words(world: World, question: str, program: str, change: StateDiff) -> tuple[str, ...]:
    """Columns (`table.column`) to which the program writes words that it made up itself: text of three words and more
    that stands in the program, and neither in the question nor in the column already. Their sense is for a judge."""
    made_up = {
        n.value for n in ast.walk(ast.parse(program)) if isinstance(n, ast.Constant) and isinstance(n.value, str)
    }
    return tuple(
        sorted(
            {
                f"{row.table}.{column}"
                for row in change.changes
                for column, text in (row.after or {}).items()
                if isinstance(text, str) and len(text.split()) > 2 and text in made_up and not states(question, text)
                and row.table in world.tables and text not in world.values(row.table, column)
            }
        )
    )  # fmt: skip


def _brief(world: World, level: int) -> str:
    tools = "\n".join(
        f"- {t.name}({', '.join(t.input_schema.get('properties', {}))}): {t.description}" for t in world.tools
    )
    rows = "\n".join(
        f"- {name}: {json.dumps(found[:SAMPLES], ensure_ascii=False, default=str)}"
        for name, found in sorted(world.rows.items())
    )
    calls = {1: "1 or 2", 2: "3 or 4", 3: "5 to 9", 4: "10 to 19", 5: "20 or more"}[level]
    return (
        f"Environment: {world.environment.name}. {world.environment.description}\nTools:\n{tools}\n"
        f"Some rows:\n{rows}\nWrite one task whose program makes {calls} tool calls."
    )


_RULES = (
    "You write tasks for an assistant with tools. A task is a question that a person would ask, a program that solves "
    "it by the tools alone (loops, branches, aggregation), and a verifier. Every name and number that the program "
    "uses stands in the question; the question names no tool, no table and no column; it has one right answer."
)
