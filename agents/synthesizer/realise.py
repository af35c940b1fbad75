"""From a draft to a task: run the solution, take the answer from what the tools said, and measure the difficulty."""

import hashlib
import json
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

from agent_world.agents.synthesizer.answers import agrees, agrees_change, answer_schema, verifier_source
from agent_world.agents.synthesizer.draft import Draft
from agent_world.agents.validator.replay import Call, MissingPath, Run, bound, replay
from agent_world.schema import Difficulty, Origin, StateDiff, Task
from agent_world.tools.grading import rubric_for
from agent_world.tools.runtime import Instance


@dataclass(frozen=True, slots=True)
class Realised:
    task: Task
    calls: tuple[Call, ...]
    reworded: bool = False
    """Whether the first wording read like another task's, and a later one does not."""


async def realise(
    draft: Draft,
    environment: str,
    origin: Origin,
    round: int,
    instance: Instance,
    fresh: Callable[[str], bool] = lambda question: True,
) -> Realised | str:
    """The task, or the reason why the draft is none. The instance must be clean; it is left as the solution left it.

    `fresh` says whether a wording is unlike those of other tasks; the first such wording of the draft is taken.
    """
    run = await replay(instance, draft.solution)
    if run.answer is None or run.error:
        return f"gold fails: {run.error}"
    try:
        fault = disagreement(draft, run)
    except MissingPath as problem:
        return f"tools and rows disagree: {problem}"
    if fault:
        return fault
    change = await instance.diff() if draft.writes else StateDiff()
    if draft.change is not None and not agrees_change(draft.change, change):
        return "the program and SQL over the raw tables change different rows"
    question = next((q for q in (draft.question, *draft.others) if fresh(q)), draft.question)
    worded = replace(draft, question=question)
    return Realised(build_task(worded, run, change, environment, origin, round), run.calls, question != draft.question)


def disagreement(draft: Draft, run: Run) -> str:
    """What the tools said against what the rows say; empty when they agree."""
    assert run.answer is not None
    if set(run.answer) != set(draft.types):
        return "gold gives other fields than planned"
    for key, seen in run.answer.items():
        if seen is None or seen == "" or seen == []:
            return f"empty answer: {key}"
        if key in draft.expected and not agrees(*_comparable(draft, key, seen)):
            return f"tools and rows disagree: {key}"
    for ref, value in draft.claims:
        if not agrees(value, bound(ref, run.calls)):
            return f"tools and rows disagree: {ref.path} of {run.calls[ref.step][0]}"
    return ""


def _comparable(draft: Draft, key: str, seen: Any) -> tuple[Any, Any]:
    """Both answers, lists in one order where theirs does not count."""
    expected = draft.expected[key]
    if isinstance(expected, list) and isinstance(seen, list) and key not in draft.ordered:
        return sorted(expected, key=repr), sorted(seen, key=repr)
    return expected, seen


def build_task(draft: Draft, run: Run, change: StateDiff, environment: str, origin: Origin, round: int) -> Task:
    assert run.answer is not None
    answer = {key: run.answer[key] for key in draft.types}
    schema = answer_schema(draft.types, draft.ordered)
    program = draft.solution.kind == "program"
    return Task(
        id=f"{environment}-{_digest(draft, answer)}",
        environment=environment,
        strategy="program" if program else "graph",
        question=draft.question,
        answer_schema=schema,
        reference_answer=answer,
        solution=draft.solution,
        rubric=() if program else rubric_for(answer, schema, change, ordered=draft.ordered),
        verifier=verifier_source(draft, answer, change) if program else None,
        state_change=change,
        plan=draft.plan.model_dump(mode="json") if draft.plan else None,
        difficulty=difficulty(draft, run),
        origin=origin,
        round=round,
    )


def _digest(draft: Draft, answer: dict[str, Any]) -> str:
    text = json.dumps([draft.question, answer, draft.solution.model_dump(mode="json")], sort_keys=True)
    return hashlib.sha256(text.encode()).hexdigest()[:10]


def difficulty(draft: Draft, run: Run) -> Difficulty:
    """The paper's levers, measured on the gold run: length, tools, branches, weak edges, hidden cues."""
    calls = len(run.calls)
    return Difficulty(
        level=level_of(calls, draft.hidden or draft.branches > 0),
        calls=calls,
        distinct_tools=len({name for name, _, _ in run.calls}),
        branches=draft.branches,
        depth=draft.depth,
        weak_edges=draft.weak_edges,
        independent_edges=draft.independent_edges,
        hidden_cues=draft.hidden,
    )


def level_of(calls: int, harder: bool) -> int:
    """By the number of calls; hidden cues and branches make it one harder, but only 20 calls make a level 5."""
    level = next((n for n, most in ((1, 2), (2, 4), (3, 8), (4, 19)) if calls <= most), 5)
    return min(4, level + harder) if level < 5 else 5
