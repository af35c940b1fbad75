"""A model's task on trial: its program runs in the sandbox, its verifier is tested, its difficulty is measured.

What a model writes is a proposal and hostile: it runs in a sandbox only, its answer is what the tools said, and the
gate decides.
"""

import ast
import hashlib
import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any

from pydantic import BaseModel, Field

from agent_world.agents.synthesizer.answers import answer_schema
from agent_world.agents.synthesizer.draft import Draft
from agent_world.agents.synthesizer.realise import Realised, difficulty
from agent_world.agents.synthesizer.world import World
from agent_world.agents.validator.literals import scalars, states
from agent_world.agents.validator.replay import Call, Run, replay
from agent_world.schema import Origin, Program, StateDiff, Task
from agent_world.tools.grading import rubric_for
from agent_world.tools.runtime import Instance

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


async def tried(
    found: Composed, world: World, origin: Origin, round: int, instance: Instance, model: str
) -> Realised | str:
    unknown = sorted(set(found.answer.values()) - set(TYPES))
    if unknown:
        return f"{unknown[0]!r} is none of the types {', '.join(TYPES)}"
    solution = Program(source=found.program)
    await instance.reset()
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
    draft = measured(Draft(solution, found.question, {}, types=found.answer), found.program, run.calls)
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


# --- Difficulty ----------------------------------------------------------------------------------------------


def measured(draft: Draft, source: str, calls: Sequence[Call]) -> Draft:
    """With the branches that the program has and how deep they stand, and with the edges that its calls went along."""
    tree = ast.parse(source)  # parsed, never executed here
    taken = edges_of(calls, set(_constants(tree)))
    return replace(
        draft, branches=sum(isinstance(node, ast.If | ast.IfExp) for node in ast.walk(tree)), depth=depth_of(tree),
        weak_edges=taken.count("weak"), independent_edges=taken.count("independent"),
    )  # fmt: skip


def depth_of(node: ast.AST) -> int:
    """How deep branches stand in branches; an `elif` stands beside its `if`."""
    inside = [depth_of(child) for child in _below(node)]
    if isinstance(node, ast.If) and len(node.orelse) == 1 and isinstance(node.orelse[0], ast.If):
        beside = depth_of(node.orelse[0])
        return max(beside, 1 + max((depth_of(child) for child in node.body), default=0))
    return int(isinstance(node, ast.If | ast.IfExp)) + max(inside, default=0)


def _below(node: ast.AST) -> Iterator[ast.AST]:
    return ast.iter_child_nodes(node)


def _constants(tree: ast.AST) -> Iterator[Any]:
    for node in ast.walk(tree):
        if isinstance(node, ast.Constant) and isinstance(node.value, str | int | float):
            yield node.value


def edges_of(calls: Sequence[Call], written: set[Any]) -> list[str]:
    """Of each call: `weak` where a value of it was shown by an earlier call and does not stand in the program, else
    `independent`. What can come from nowhere else is not told apart: that is the tool graph's to know."""
    shown: set[Any] = set()
    found = []
    for _, arguments, seen in calls:
        given = set(scalars(list(arguments.values())))
        found.append("weak" if (given & shown) - written else "independent")
        shown |= {value for value in scalars(seen.value) if not isinstance(value, bool)}
    return found
