"""A business operation as it is kept with its tool, for those who make and check tasks of it."""

from agent_world.agents.coder.service.change import Change
from agent_world.agents.coder.service.lifecycle import Draw, Limit
from agent_world.agents.coder.service.place import Place
from agent_world.schema import BusinessRule, Capacity, GivenToParts, NamedParts, NamedRow, NewParts, NewRow, Stock


def rule_of(change: Change) -> BusinessRule:
    named = [
        NamedRow(argument=name, table=r.table.name, key=r.table.primary_key, shared=r.shared)
        for name, r in change.references.items()
    ]
    return BusinessRule(
        status=change.status, needs=change.needs, among=change.among, after=change.after, sets=change.sets,
        choices=change.choices, references=tuple(named), parts=_parts(change), swap=_swap(change),
        spread=_spread(change), empty=change.empty, ordered=change.ordered, differ=change.differ, later=change.later,
        dates=change.dates, capacity=_capacity(change.limit),
    )  # fmt: skip


def rule_of_new(place: Place) -> BusinessRule:
    numbered = place.prefix is not None
    adds = NewRow(fixed=place.fixed, numbered=numbered, prefix=place.prefix or "", width=place.width)
    links = {argument: next(k for k in place.table.foreign_keys if k.column == place.sets[argument])
             for argument in place.flags}  # fmt: skip
    named = [
        NamedRow(argument=name, table=links[name].table, key=links[name].target, flag=flag)
        for name, flag in place.flags.items()
    ]
    return BusinessRule(
        sets=place.sets, ordered=place.ordered, dates=place.dates, capacity=_capacity(place.limit),
        references=tuple(named), stock=_stock(place.draw), adds=adds,
    )  # fmt: skip


def _stock(draw: Draw | None) -> Stock | None:
    if draw is None:
        return None
    return Stock(
        argument=draw.argument, table=draw.link.table, key=draw.link.target, column=draw.column, quantity=draw.quantity
    )


def _capacity(limit: Limit | None) -> Capacity | None:
    if limit is None:
        return None
    return Capacity(
        argument=limit.argument, table=limit.link.table, key=limit.link.target, limit=limit.column,
        column=limit.link.column, empty=limit.empty, status=limit.status, states=limit.states if limit.status else (),
    )  # fmt: skip


def _parts(change: Change) -> NamedParts | None:
    of = change.parts
    if of is None:
        return None
    link = of.link
    return NamedParts(argument=of.argument, table=of.table.name, link=link.column, target=link.target, column=of.column)


def _swap(change: Change) -> NewParts | None:
    swap = change.swap
    if swap is None:
        return None
    return NewParts(
        argument=swap.argument, table=swap.table.name, target=swap.target, same=swap.same, flag=swap.flag,
        copies=swap.copies, done=swap.done,
    )  # fmt: skip


def _spread(change: Change) -> GivenToParts | None:
    spread = change.spread
    if spread is None:
        return None
    link = spread.link
    return GivenToParts(
        argument=spread.argument, table=spread.table.name, link=link.column, target=link.target, column=spread.column
    )
