"""Which of the theme's real tools are made to work here, and why the others are not."""

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field

from agent_world.agents.coder.data import Data
from agent_world.agents.coder.draft import WrittenTool
from agent_world.agents.coder.service.calculate import is_calculator, write_calculator
from agent_world.agents.coder.service.change import Change, NotServed
from agent_world.agents.coder.service.change_code import write_change
from agent_world.agents.coder.service.conditions import DATE_HELPER
from agent_world.agents.coder.service.details import (
    Details,
    details_of,
    helper_source,
    plan_details,
    write_details,
)
from agent_world.agents.coder.service.find import plan_find, write_find
from agent_world.agents.coder.service.life_plan import DAYS
from agent_world.agents.coder.service.lifecycle import Life
from agent_world.agents.coder.service.offers import offers
from agent_world.agents.coder.service.place import Place, plan_place
from agent_world.agents.coder.service.place_code import write_place
from agent_world.agents.coder.service.plan_change import plan_change
from agent_world.agents.coder.service.real import Real, keyed
from agent_world.schema import Theme, ToolSpec

OFFERS = 5
"""One tool in so many may be an operation that only the data asks for."""
Plan = Change | Place


@dataclass(frozen=True, slots=True)
class Served:
    tools: tuple[WrittenTool, ...]
    helpers: tuple[str, ...]
    """Functions that they share, for the head of tools.py."""
    shown: frozenset[str]
    """Tables that one of them shows by key, so that no plain getter is needed."""
    governed: frozenset[tuple[str, str]]
    """Table and column that only an operation may change, so that no plain update may; the column is empty where one
    takes rows on, so that no plain creation may."""

    @property
    def days(self) -> bool:
        return DATE_HELPER in self.helpers


@dataclass(slots=True)
class _Writer:
    """What has been written so far."""

    data: Data
    seed: int
    wholes: Mapping[str, Details]
    used: dict[str, Details] = field(default_factory=dict)
    plans: list[Plan] = field(default_factory=list)
    tools: list[WrittenTool] = field(default_factory=list)

    def plan(self, real: Real, plan: Plan) -> WrittenTool | None:
        if isinstance(plan, Place):
            tool = write_place(real, self.data, plan, self.seed)
        else:
            details = self.wholes.get(plan.table.name) or details_of(self.data, plan.table)
            tool = write_change(real, self.data, plan, details, self.seed)
            if tool is not None and details.whole:
                self.used[plan.table.name] = details
        if tool is not None:
            self.plans.append(plan)
        return tool

    def real(self, real: Real) -> WrittenTool | None:
        """Raises `NotServed`."""
        data = self.data
        if is_calculator(real):
            return write_calculator(real, self.seed)
        details = plan_details(real, data)
        if details is not None:
            details = self.wholes[details.table.name]
            self.used[details.table.name] = details
            return write_details(real, data, details, self.seed)
        find = plan_find(real, data)
        if find is not None:
            return write_find(real, data, find, self.seed)
        try:
            plan = plan_operation(real, data)
        except NotServed:
            dated = real.with_days(DAYS | {c.name for table in data.tables for c in Life(table, data).dates})
            if dated is None:
                raise
            real, plan = dated, plan_operation(dated, data)
        return self.plan(real, plan) if plan is not None else None


def serve(data: Data, theme: Theme, seed: int, most: int) -> Served:
    """The theme's tools in its order, then operations that the data asks for; `most`: of all tools there will be."""
    writer = _Writer(data, seed, _wholes(data, theme))
    for real in reals(theme):
        try:
            made = writer.real(real) if real.writable else None
        except NotServed:
            made = None
        if made is not None:
            writer.tools.append(made)
    _offer(writer, frozenset(spec.name for spec in theme.tools), most // OFFERS)
    helpers = [helper_source(details) for details in writer.used.values()]
    if any(plan.dates for plan in writer.plans):
        helpers.insert(0, DATE_HELPER)
    governed = frozenset(pair for plan in writer.plans for pair in _governed(plan))
    return Served(tuple(writer.tools), tuple(helpers), frozenset(writer.wholes), governed)


def _offer(writer: _Writer, taken: frozenset[str], most: int) -> None:
    """At most so many; none on a table of which the service has operations of its own."""
    own = {plan.table.name for plan in writer.plans}
    left = most
    for offer in offers(writer.data, taken):
        made = writer.plan(offer.real, offer.plan) if left > 0 and offer.plan.table.name not in own else None
        if made is not None:
            writer.tools.append(made)
            left -= 1


def _governed(plan: Plan) -> Iterator[tuple[str, str]]:
    if isinstance(plan, Place):
        yield plan.table.name, ""
    else:
        conditional = plan.after is not None or plan.conditional
        columns = [*plan.sets.values(), *([plan.status] if plan.status else [])] if conditional else []
        yield from ((plan.table.name, column) for column in columns)


def plan_operation(real: Real, data: Data) -> Plan | None:
    """None for a tool that is no operation of a kind known here. Raises `NotServed`."""
    try:
        placed = plan_place(real, data)
    except NotServed:
        changed = plan_change(real, data)
        if changed is not None:
            return changed
        raise
    return placed or plan_change(real, data)


def reals(theme: Theme) -> list[Real]:
    return [Real(spec, theme.tools) for spec in theme.tools]


def _wholes(data: Data, theme: Theme) -> dict[str, Details]:
    """By table, how the service shows a row with its parts."""
    found = [plan_details(real, data) for real in reals(theme) if real.writable]
    return {details.table.name: details for details in reversed(found) if details}


def unserved(data: Data, theme: Theme, made: Iterable[ToolSpec]) -> dict[str, str]:
    """Real tool -> why no tool of the environment is it; for all that none of `made` mirrors."""
    known = {str(spec.meta.get("agent_world/mirrors", {}).get("tool")) for spec in made}
    return {real.name: _reason(real, data) for real in reals(theme) if real.name not in known}


def _reason(real: Real, data: Data) -> str:
    if not real.writable:
        return "its name, or an argument's, cannot be had in Python code"
    try:
        change = plan_operation(real, data)
    except NotServed as reason:
        return str(reason)
    if change is not None:
        return "no row of the data fulfils its conditions, or its tests failed"
    tests: tuple[tuple[str, Callable[[], bool]], ...] = (
        ("no table of the data is what it is about", lambda: not any(real.about(t) for t in data.tables)),
        ("its arguments name no row of the data", lambda: not any(keyed(data, name) for name in real.required)),
    )
    return next((reason for reason, holds in tests if holds()), "the data does not decide what it answers")
