"""Which of the theme's real tools are made to work here, and why the others are not."""

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass

from agent_world.agents.coder.data import Data
from agent_world.agents.coder.draft import WrittenTool
from agent_world.agents.coder.service.calculate import is_calculator, write_calculator
from agent_world.agents.coder.service.change import NotServed, plan_change
from agent_world.agents.coder.service.change_code import write_change
from agent_world.agents.coder.service.details import (
    Details,
    details_of,
    helper_source,
    plan_details,
    write_details,
)
from agent_world.agents.coder.service.find import plan_find, write_find
from agent_world.agents.coder.service.real import Real, keyed
from agent_world.schema import Theme, ToolSpec


@dataclass(frozen=True, slots=True)
class Served:
    tools: tuple[WrittenTool, ...]
    helpers: tuple[str, ...]
    """Functions that they share, for the head of tools.py."""
    shown: frozenset[str]
    """Tables that one of them shows by key, so that no plain getter is needed."""


def serve(data: Data, theme: Theme, seed: int) -> Served:
    """The tools in the theme's order."""
    wholes = _wholes(data, theme)
    used: dict[str, Details] = {}
    tools: list[WrittenTool] = []
    for real in reals(theme):
        try:
            made = _make(real, data, seed, wholes, used) if real.writable else None
        except NotServed:
            made = None
        if made is not None:
            tools.append(made)
    return Served(tuple(tools), tuple(helper_source(details) for details in used.values()), frozenset(wholes))


def reals(theme: Theme) -> list[Real]:
    return [Real(spec, theme.tools) for spec in theme.tools]


def _wholes(data: Data, theme: Theme) -> dict[str, Details]:
    """By table, how the service shows a row with its parts."""
    found = [plan_details(real, data) for real in reals(theme) if real.writable]
    return {details.table.name: details for details in reversed(found) if details}


def _make(
    real: Real, data: Data, seed: int, wholes: Mapping[str, Details], used: dict[str, Details]
) -> WrittenTool | None:
    if is_calculator(real):
        return write_calculator(real, seed)
    details = plan_details(real, data)
    if details is not None:
        details = wholes[details.table.name]
        used[details.table.name] = details
        return write_details(real, data, details, seed)
    find = plan_find(real, data)
    if find is not None:
        return write_find(real, data, find, seed)
    change = plan_change(real, data)
    if change is None:
        return None
    details = wholes.get(change.table.name) or details_of(data, change.table)
    tool = write_change(real, data, change, details, seed)
    if tool is not None:
        used[change.table.name] = details
    return tool


def unserved(data: Data, theme: Theme, made: Iterable[ToolSpec]) -> dict[str, str]:
    """Real tool -> why no tool of the environment is it; for all that none of `made` mirrors."""
    known = {str(spec.meta.get("agent_world/mirrors", {}).get("tool")) for spec in made}
    return {real.name: _reason(real, data) for real in reals(theme) if real.name not in known}


def _reason(real: Real, data: Data) -> str:
    if not real.writable:
        return "its name, or an argument's, cannot be had in Python code"
    try:
        change = plan_change(real, data)
    except NotServed as reason:
        return str(reason)
    if change is not None:
        return "no row of the data fulfils its conditions, or its tests failed"
    tests: tuple[tuple[str, Callable[[], bool]], ...] = (
        ("no table of the data is what it is about", lambda: not any(real.about(t) for t in data.tables)),
        ("its arguments name no row of the data", lambda: not any(keyed(data, name) for name in real.required)),
    )
    return next((reason for reason, holds in tests if holds()), "the data does not decide what it answers")
