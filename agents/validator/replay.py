"""Run a reference solution in an instance: the calls it makes, and the answer that comes of what they showed."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from agent_world.schema import Argument, Chain, Ref, Solution
from agent_world.tools.runtime import Instance, Observation

Call = tuple[str, dict[str, Any], Observation]


@dataclass(frozen=True, slots=True)
class Run:
    """What one run of a solution gave. `error` is one line; None when every call succeeded and there is an answer."""

    answer: dict[str, Any] | None
    calls: tuple[Call, ...]
    error: str | None = None


class MissingPath(Exception):
    """An earlier output does not hold what a reference names."""


async def replay(instance: Instance, solution: Solution) -> Run:
    """Never raises for what the solution does; a failing call ends it with an error."""
    if isinstance(solution, Chain):
        return await _replay_chain(instance, solution)
    result = await instance.run(solution.source, "solve", {})
    if not result.ok:
        return Run(None, result.calls, result.error or "the program failed")
    if not isinstance(result.value, dict):
        return Run(None, result.calls, "the program gave no object")
    cut = [name for name, _, seen in result.calls if seen.truncated]
    return Run(result.value, result.calls, f"the output of {cut[0]} was cut" if cut else None)


async def _replay_chain(instance: Instance, chain: Chain) -> Run:
    calls: list[Call] = []
    try:
        for step in chain.steps:
            arguments = {name: bound(argument, calls) for name, argument in step.arguments.items()}
            seen = await instance.call(step.tool, arguments)
            calls.append((step.tool, arguments, seen))
            if not seen.ok:
                return Run(None, tuple(calls), f"{step.tool} failed: {seen.error}")
            if seen.truncated:
                return Run(None, tuple(calls), f"the output of {step.tool} was cut")
        answer = {key: bound(argument, calls) for key, argument in chain.answer.items()}
    except MissingPath as problem:
        return Run(None, tuple(calls), str(problem))
    return Run(answer, tuple(calls))


def bound(argument: Argument, calls: list[Call]) -> Any:
    if not isinstance(argument, Ref):
        return argument.value
    return at(calls[argument.step][2].value, argument.path, calls[argument.step][0])


def at(value: Any, path: str, tool: str) -> Any:
    """Raises `MissingPath`."""
    for part in path.split(".") if path else ():
        if isinstance(value, Mapping) and part in value:
            value = value[part]
        elif isinstance(value, list) and part.isdigit() and int(part) < len(value):
            value = value[int(part)]
        else:
            raise MissingPath(f"the output of {tool} has no {path}")
    return value
