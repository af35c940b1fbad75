"""Gold answers, what somebody might answer, and the points: a table that must hold in both directions."""

from typing import Any, Literal

from agent_world.agents.synthesizer.answers import answer_schema, verifier_source
from agent_world.agents.synthesizer.draft import Draft
from agent_world.schema import Chain, Difficulty, Origin, Program, StateDiff, Task
from agent_world.tools.grading import rubric_for

ANYTHING = "number or text"
"""A field whose schema lets a number be written out."""

Row = tuple[str, Any, Any, int]
TABLE: tuple[Row, ...] = (
    # kind, gold, answer, points
    ("integer", 10, 10, 1),
    ("integer", 10, 10.0, 1),
    ("integer", 10, 100, 0),
    ("integer", 10, "you get 100 back", 0),
    ("integer", 10, "10", 0),
    ("integer", 3, "3", 0),
    ("integer", 0, False, 0),
    ("integer", 1, True, 0),
    ("integer", 0, -0.0, 1),
    ("integer", -5, 5, 0),
    ("integer", 150, 15, 0),
    ("integer", 1500, 1499, 0),
    ("integer", 9007199254740993, 9007199254740992, 0),
    ("integer", 9007199254740993, 9007199254740993, 1),
    ("integer", 12, 10**400, 0),
    ("number", 12.0, 12, 1),
    ("number", 12.5, 12.50, 1),
    ("number", 12.5, 12.6, 0),
    ("number", 3.857, 3.858, 0),
    ("number", 0.1, 10**400, 0),
    ("string", "READY", "READY", 1),
    ("string", "READY", " READY\n", 1),
    ("string", "READY", "READY now", 0),
    ("string", "READY", "READ", 0),
    ("string", "READY", "ready", 0),
    ("string", "Café", "Cafe\u0301", 1),
    ("string", "02138", "2138", 0),
    ("string", "B001", "B0011", 0),
    ("string", "null", None, 0),
    ("boolean", True, True, 1),
    ("boolean", True, "true", 0),
    ("boolean", False, 0, 0),
    ("[number]", [12.0, 15.0], [12, 15], 1),
    ("[number]", [2.5, 1], [1.0, 2.5], 1),
    ("[integer]", [12, 15], [15, 12], 1),
    ("[integer]", [12, 15], [12], 0),
    ("[integer]", [12, 15], [12, 15, 15], 0),
    ("[integer]", [12, 15], [12, 15, 16], 0),
    ("[integer]", [1, 1, 2], [1, 2, 2], 0),
    ("[string]", ["a", "b"], ["b", "a"], 1),
    ("[string]", ["a", "b"], "a, b", 0),
    ("[string]", ["ab"], ["a", "b"], 0),
)
WRITTEN: tuple[Row, ...] = (
    ("number", 3.857, 3.8572, 1),
    (ANYTHING, 0, "$0.00", 1),
    (ANYTHING, -5, "5", 0),
    (ANYTHING, -5, "-$5.00", 1),
    (ANYTHING, 150, "15", 0),
    (ANYTHING, 150, "€150", 1),
    (ANYTHING, 1200.5, "1,200.50", 1),
    (ANYTHING, 9007199254740993, "9007199254740992", 0),
    (ANYTHING, 10, "you get 100 back", 0),
    (ANYTHING, 10, "10 or 100", 0),
    (ANYTHING, 10, "", 0),
)
"""In this direction alone, and for a rubric: the tolerance is the gold's, and a verifier goes by JSON types."""


def task_of(answer: dict[str, Any], types: dict[str, str], strategy: Literal["graph", "program"] = "graph") -> Task:
    """A task without a solution whose checker is the one that synthesis writes."""
    schema = answer_schema({key: kind for key, kind in types.items() if kind != ANYTHING})
    for key in (k for k, kind in types.items() if kind == ANYTHING):
        schema["properties"][key] = {"type": ["number", "string"]}
        schema["required"].append(key)
    draft = Draft(solution=Program(source=""), question="", expected={}, types=types)
    program = strategy == "program"
    return Task(
        id="t", environment="library", strategy=strategy, question="?", answer_schema=schema, reference_answer=answer,
        solution=Program(source="def solve(tools): ...") if program else Chain(steps=(), answer={}),
        rubric=() if program else rubric_for(answer, schema, StateDiff()),
        verifier=verifier_source(draft, answer, StateDiff()) if program else None,
        difficulty=Difficulty(level=1, calls=1, distinct_tools=1), origin=Origin(engine="procedural"),
    )  # fmt: skip
