"""The `llm` engine, first form: a model rewords questions, and judges edges that code was not sure of.

What a model says is a proposal: a reworded question is used only when it still states every literal and keeps degrees,
comparisons, conditions and negations, names no tool, and the task passes the gate again; otherwise the template's
wording stays.
"""

import hashlib
import json
from collections.abc import Sequence
from pathlib import Path

import networkx as nx
from pydantic import BaseModel, Field

from agent_world.agents.model import Model
from agent_world.agents.synthesizer.cues import changed_cue, plan_cue
from agent_world.agents.synthesizer.graph import WEIGHTS
from agent_world.agents.synthesizer.world import World
from agent_world.agents.validator.literals import states
from agent_world.memory.store import read_record, write_record
from agent_world.schema import Record, Task, Value

MOST_EDGES = 20
"""Edges put to the model in one question."""


class Reworded(BaseModel):
    question: str = Field(min_length=8, description="The request in other words, complete by itself.")


class Verdict(BaseModel):
    source: str
    target: str
    depends: bool = Field(description="Whether an input of the target would really be taken from the source's output.")


class Verdicts(BaseModel):
    verdicts: list[Verdict]


async def reword(task: Task, model: Model) -> Task | None:
    """The task with a question in the model's words; None when a literal got lost, or a word that makes it another
    question (`cues`). Raises `ModelError`."""
    rules = (
        "You reword requests to an assistant so that they read as if a person had typed them. Keep every name, code "
        "and number exactly as written, keep what is asked and in which order, add nothing, name no tool or field."
    )
    wanted = ", ".join(task.answer_schema["properties"])
    reply = await model.structured(
        Reworded, [("system", rules), ("user", f"Request: {task.question}\nThe answer will state: {wanted}.")]
    )
    question = " ".join(reply.question.split())
    if not all(states(question, value) for value in literals(task)):
        return None
    if changed_cue(task.question, question) or plan_cue(question, task.plan):
        return None
    origin = task.origin.model_copy(update={"engine": "llm", "model": model.name})
    return task.model_copy(update={"question": question, "origin": origin})


def literals(task: Task) -> list[object]:
    """Words and numbers of the question that must survive: all that stand in it as arguments of the solution."""
    if task.solution.kind == "chain":
        found = [a.value for s in task.solution.steps for a in s.arguments.values() if isinstance(a, Value)]
        return [value for value in found if states(task.question, value)]
    return [word.strip(".,;:?!\"'()") for word in task.question.split() if any(c.isdigit() for c in word)]


class Struck(Record):
    """What a model said of the doubtful edges of some tools."""

    model: str
    edges: tuple[tuple[str, str], ...]
    """Those that it struck, source and target."""


async def judge_edges(graph: nx.DiGraph, world: World, model: Model, cache: Path | None = None) -> int:
    """Let a model strike weak edges that schemas suggest but sense does not. Returns how many. Raises `ModelError`.

    In folder `cache` a verdict is kept under a hash of the tools, the edges in doubt and the model, and asked for once.
    """
    doubtful = [(u, v) for u, v, d in sorted(graph.edges(data=True)) if d["kind"] == "weak" and d["bindings"]]
    kept = cache / f"{_mark(doubtful, world, model)}.json" if cache and doubtful else None
    if kept is not None and kept.exists():
        struck = [edge for edge in read_record(kept, Struck).edges if edge in doubtful]
    else:
        struck = await _judged(doubtful, world, model)
        if kept is not None:
            write_record(kept, Struck(model=model.name, edges=tuple(struck)))
    for edge in struck:
        graph.add_edge(*edge, kind="independent", weight=WEIGHTS["independent"], bindings=())
    return len(struck)


async def _judged(doubtful: Sequence[tuple[str, str]], world: World, model: Model) -> list[tuple[str, str]]:
    struck: list[tuple[str, str]] = []
    for start in range(0, len(doubtful), MOST_EDGES):
        part = doubtful[start : start + MOST_EDGES]
        reply = await model.structured(Verdicts, [("system", _EDGE_RULES), ("user", _edges_text(part, world))])
        said = [(v.source, v.target) for v in reply.verdicts if not v.depends]
        struck += [edge for edge in dict.fromkeys(said) if edge in part]
    return struck


def _mark(doubtful: Sequence[tuple[str, str]], world: World, model: Model) -> str:
    tools = [tool.public() for tool in world.tools]
    text = json.dumps([model.name, _EDGE_RULES, tools, list(doubtful)], sort_keys=True, ensure_ascii=False)
    return hashlib.sha256(text.encode()).hexdigest()[:24]


_EDGE_RULES = (
    "For each pair of tools say whether a sensible user of the target tool would take one of its inputs from what the "
    "source tool returns. Judge every pair."
)


def _edges_text(edges: Sequence[tuple[str, str]], world: World) -> str:
    described = {t.name: t.description for t in world.tools}
    return "\n".join(f"source {u} ({described[u]}) -> target {v} ({described[v]})" for u, v in edges)
