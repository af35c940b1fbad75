"""What a real tool's verb does to the life of a row: it ends it, puts it off, hands it on, always under conditions.

`return_loan(loan_id, date)` fills the day of return, once and not before the day of lending; `close_case` needs an open
case; `transfer_loan(loan_id, member_id)` needs another member. Nothing of this kind ever removes a row.
"""

from dataclasses import replace

from agent_world.agents.coder.service.change import Change, NotServed
from agent_world.agents.coder.service.lifecycle import FLAGS, Life, limit_of
from agent_world.agents.coder.service.real import Real, keyed
from agent_world.tools.tables import snake_case

ENDS = frozenset({
    "close", "cancel", "complete", "finish", "end", "return", "resolve", "settle", "conclude", "terminate", "checkin",
})  # fmt: skip
RENEWS = frozenset({
    "renew", "extend", "postpone", "reschedule", "prolong", "defer",
})  # fmt: skip
MOVES = frozenset({
    "transfer", "assign", "reassign", "move", "trade", "handover", "relocate",
})  # fmt: skip
DAYS = frozenset({
    "date", "day", "on", "at", "when", "return_date", "end_date", "closing_date", "due", "new_date", "new_due_date",
    "until",
})  # fmt: skip
"""What a day is called by that has no column of that name."""
PEOPLE = frozenset({
    "assignee", "owner", "agent", "user", "to", "new_owner", "new_assignee", "person", "employee",
})  # fmt: skip


def with_life_argument(real: Real, life: Life, change: Change, name: str) -> Change | None:
    """The change with this argument, where its verb says what it is for; None where it does not."""
    verb, plain, table = real.words[0], snake_case(name), life.table
    if not real.scalar(name):
        return None
    if verb in MOVES:
        target = _target(life, plain)
        if target is None:
            return None
        link = next((key for key in table.foreign_keys if key.column == target), None)
        limit = limit_of(life.data, life, link, name) if link else None
        return _put(change, name, target, differ=(*change.differ, name), limit=limit or change.limit)
    column = next((c for c in life.dates if c.name == plain), None)
    if verb in RENEWS and life.due and (column is life.due or (column is None and plain in DAYS)):
        return _put(change, name, life.due.name, later=(*change.later, name), dates=(*change.dates, name))
    if verb in ENDS and life.end and (column is life.end or (column is None and plain in DAYS)):
        return with_end(life, change, name)
    return None


def with_end(life: Life, change: Change, name: str) -> Change:
    """The argument is the day on which it ends: filled once (a state decides instead where there is one), and in
    order with the day on which it began."""
    assert life.end
    ordered = ((life.start.name, life.end.name),) if life.start and life.in_order(life.start, life.end) else ()
    empty = () if life.status else (life.end.name,)
    return _put(
        change, name, life.end.name, dates=(*change.dates, name), ordered=(*change.ordered, *ordered),
        empty=(*change.empty, *empty),
    )  # fmt: skip


def _put(change: Change, argument: str, column: str, **more: object) -> Change:
    return replace(change, sets={**change.sets, argument: column}, **more)  # type: ignore[arg-type]


def _target(life: Life, name: str) -> str | None:
    """The column that says whose the row is: `to_member_id` of a loan is its member."""
    for start in ("new_", "to_", "target_"):
        name = name.removeprefix(start) if name != start.rstrip("_") else name
    parent = keyed(life.data, name)
    links = [key for key in life.table.foreign_keys if parent is not None and key.table == parent.name]
    exact = [c.name for c in life.table.columns if c.name == name and name != life.table.primary_key]
    if exact or links:
        return exact[0] if exact else links[0].column
    return life.holder.name if life.holder and name in PEOPLE | {life.holder.name} else None


def with_life(real: Real, life: Life, change: Change) -> Change:
    """The states from which it is done; refuses a verb that ends something where no column says so."""
    verb = real.words[0]
    if life.flag and change.status is None and verb == FLAGS[life.flag.name] and not life.status:
        change = replace(change, status=life.flag.name, needs=False, after=True)
    change = with_sources(life, change)
    if verb in ENDS and not change.parts and change.after is None and not change.empty:
        if life.end and verb != "cancel":
            raise NotServed(f"which day goes into the {life.end.name} is none of its arguments")
        raise NotServed(f"no column of the {life.table.name} says that something is done by that verb")
    if verb in MOVES | RENEWS and change.sets and change.status is None:
        return in_hand(life, change)
    return change


def with_sources(life: Life, change: Change) -> Change:
    """A final state is reached from those before it."""
    final = change.after in life.finals and life.status is not None and change.status == life.status.name
    if not final or change.needs is not None:
        return change
    sources = tuple(v for v in life.sources(str(change.after)) if v != change.after)
    if len(sources) == 1:
        return replace(change, needs=sources[0])
    return replace(change, among=sources)


def in_hand(life: Life, change: Change) -> Change:
    """Only what is not done with can be handed on or put off."""
    if life.status:
        if len(life.open) == 1:
            return replace(change, status=life.status.name, needs=life.open[0])
        return replace(change, status=life.status.name, among=life.open)
    return replace(change, empty=(life.end.name,)) if life.end else change
