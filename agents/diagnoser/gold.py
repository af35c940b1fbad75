"""What a task's reference solution does, call by call: the yardstick of a failed episode."""

import json
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from agent_world.agents.validator.replay import Call, replay
from agent_world.memory.store import Bundle
from agent_world.schema import Chain, Ref, Task
from agent_world.tools.runtime import Runtime


@dataclass(frozen=True, slots=True)
class GoldCall:
    tool: str
    arguments: dict[str, Any]
    observation: str
    sources: dict[str, int]
    """Argument -> index of the earlier call whose output supplies its value; others are said by the question."""


async def gold_calls(tasks: Sequence[Task], bundle: Bundle, runtime: Runtime) -> dict[str, tuple[GoldCall, ...]]:
    """Run the reference solution of each task on a fresh database. A task whose gold fails has no entry.

    Raises `SandboxError` when nothing could be run at all.
    """
    found: dict[str, tuple[GoldCall, ...]] = {}
    if not tasks:
        return found
    instance = await runtime.open(bundle.root)
    try:
        for task in tasks:
            run = await replay(instance, task.solution)
            if run.error is None:
                found[task.id] = _with_sources(task, run.calls)
            if task.state_change.changes:
                await instance.reset()
    finally:
        await instance.close()
    return found


def _with_sources(task: Task, calls: Sequence[Call]) -> tuple[GoldCall, ...]:
    return tuple(
        GoldCall(tool, arguments, seen.text, _sources(task, index, arguments, calls))
        for index, (tool, arguments, seen) in enumerate(calls)
    )


def _sources(task: Task, index: int, arguments: dict[str, Any], calls: Sequence[Call]) -> dict[str, int]:
    """Known for a chain; for a program, the first earlier output that holds a value the question does not say."""
    if isinstance(task.solution, Chain):
        given = task.solution.steps[index].arguments
        return {name: argument.step for name, argument in given.items() if isinstance(argument, Ref)}
    found = {}
    for name, value in arguments.items():
        makers = [i for i, (_, _, seen) in enumerate(calls[:index]) if holds(seen.value, value)]
        if makers and not said(task.question, value):
            found[name] = makers[0]
    return found


def holds(output: Any, value: Any) -> bool:
    """Whether a JSON value occurs anywhere in an output."""
    match output:
        case dict():
            return any(holds(inner, value) for inner in output.values())
        case list():
            return any(holds(inner, value) for inner in output)
    return type(output) is type(value) and bool(output == value)


def said(question: str, value: Any) -> bool:
    text = value if isinstance(value, str) else json.dumps(value)
    return text.lower() in question.lower()
