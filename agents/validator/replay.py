"""Run a reference solution in an instance: the calls it makes, and the answer that comes of what they showed."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from agent_world.schema import Answer, Chain, Fold, Ref, Solution
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


def bound(argument: Answer, calls: Sequence[Call]) -> Any:
    """Raises `MissingPath`."""
    if isinstance(argument, Fold):
        return folded(argument, [bound(ref, calls) for ref in argument.of])
    if not isinstance(argument, Ref):
        return argument.value
    return at(calls[argument.step][2].value, argument.path, calls[argument.step][0])


def folded(fold: Fold, values: list[Any]) -> Any:
    """Raises `MissingPath` where the values are none to calculate with."""
    if fold.comparison is not None:
        values = [value for value in values if meets(value, fold.comparison, fold.value)]
    if fold.function in ("list", "count"):
        return values if fold.function == "list" else len(values)
    if not values or any(isinstance(v, bool) or not isinstance(v, int | float) for v in values):
        raise MissingPath(f"there is no {fold.function} of {values[:3]}")
    match fold.function:
        case "sum":
            return _rounded(sum(values))
        case "mean":
            return round(sum(values) / len(values), 2)
        case "range":
            return _rounded(max(values) - min(values))
    return min(values) if fold.function == "min" else max(values)


def _rounded(number: float) -> float:
    return round(number, 2) if isinstance(number, float) else number


def meets(given: Any, comparison: str, wanted: Any) -> bool:
    """A missing value meets no comparison but that with itself."""
    if comparison == "=":
        return bool(given == wanted)
    if given is None:
        return False
    outcome = {">": given > wanted, "<": given < wanted, ">=": given >= wanted, "<=": given <= wanted}
    return bool(outcome[comparison])


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
