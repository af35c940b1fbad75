"""Operations that a service would offer on tables whose rows have a life, where no real specification asks for them.

A follow-up is opened, assigned and closed; a loan is placed, renewed, transferred and returned. Each is what the data
shows: a column of states, a day left empty till the end, someone who has it in hand, room for so many.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass, replace

from agent_world.agents.coder.data import Data
from agent_world.agents.coder.service.change import Change
from agent_world.agents.coder.service.condition_tests import tested
from agent_world.agents.coder.service.life_plan import in_hand, with_end, with_sources
from agent_world.agents.coder.service.lifecycle import END, FLAGS, VERBS, Life, limit_of
from agent_world.agents.coder.service.place import Place, new_place, verb_for
from agent_world.agents.coder.service.real import Real
from agent_world.agents.coder.words import TAKEN, argument_name, is_summary, key_name, one
from agent_world.schema import ForeignKey, Table, ToolSpec

HOLDERS = re.compile(
    r"^(member|customer|client|user|owner|patient|tenant|employee|agent|driver|student|manager|team|squad|club|"
    r"department|branch|warehouse|employer|office)(_|$)"
)
"""What a row can be handed on to, by the name of the column."""
MOVED = frozenset({
    "player", "employee", "worker", "officer", "student", "pupil", "athlete", "driver", "patient", "agent", "vehicle",
    "car", "truck", "bus", "bike", "asset", "device", "machine", "account", "item", "animal", "horse", "member",
})  # fmt: skip
"""What can be handed on though nothing tells of its life, by the last word of its noun."""
RENEWED = frozenset({
    "loan", "rental", "subscription", "membership", "licence", "license", "policy", "contract", "lease",
})  # fmt: skip


@dataclass(frozen=True, slots=True)
class Offer:
    real: Real
    """The interface that a specification would have."""
    plan: Change | Place


def offers(data: Data, taken: frozenset[str]) -> Iterator[Offer]:
    """From each table in turn; none of a name that is taken."""
    tables = [t for t in data.tables if data.rows[t.name] and not is_summary(t)]
    queues = [_named(t, _of(data, Life(t, data)), taken) for t in tables]
    for place in range(max(map(len, queues), default=0)):
        yield from (queue[place] for queue in queues if place < len(queue))


def _named(table: Table, plans: Iterator[tuple[str, Change | Place]], taken: frozenset[str]) -> list[Offer]:
    found: dict[str, Offer] = {}
    for verb, plan in plans:
        name = f"{verb}_{one(table)}"
        if name not in taken and name not in found:
            found[name] = Offer(_interface(name, plan), plan)
    return list(found.values())


def _interface(name: str, plan: Change | Place) -> Real:
    arguments = [plan.key, *plan.sets] if isinstance(plan, Change) else [*plan.sets]
    schema = {"type": "object", "properties": {argument: {} for argument in arguments}, "required": arguments}
    return Real(ToolSpec(name=name, description="", input_schema=schema), (), offered=True)


def _of(data: Data, life: Life) -> Iterator[tuple[str, Change | Place]]:
    """The most useful first."""
    ends, place, moves = list(_ends(life)), new_place(data, life), list(_moves(data, life))
    found: list[tuple[str, Change | Place]] = [*ends[:1], *([(verb_for(life), place)] if place else [])]
    yield from [*found, *ends[1:], *moves, *_renewals(life)]


def _change(life: Life) -> Change:
    return Change(life.table, key_name(life.table, life.table.primary_key))


def _ends(life: Life) -> Iterator[tuple[str, Change]]:
    change = _change(life)
    if life.status:
        for final, verb in life.finals.items():
            ended = with_sources(life, replace(change, status=life.status.name, after=final))
            yield verb, with_end(life, ended, _argument(life)) if _ends_by(life, final) else ended
    elif life.flag:
        yield FLAGS[life.flag.name], replace(change, status=life.flag.name, needs=False, after=True)
    elif life.end:
        words = life.end.name.split("_")
        verb = next((VERBS[w] for w in words if w in VERBS), "return" if "return" in words else "close")
        yield verb, with_end(life, change, _argument(life))


def _argument(life: Life) -> str:
    return argument_name(life.table, life.end.name) if life.end else ""


def _ends_by(life: Life, final: str) -> bool:
    """Whether the day of the end is that of this final state: a day of return says nothing of what was cancelled."""
    if life.end is None or not END.search(life.end.name):
        return False
    named = {word for word in life.end.name.split("_") if word in VERBS}
    return not named or final in named


def _moves(data: Data, life: Life) -> Iterator[tuple[str, Change]]:
    if life.holder and life.lives:
        name = argument_name(life.table, life.holder.name)
        change = replace(_change(life), sets={name: life.holder.name}, differ=(name,))
        yield "assign", in_hand(life, change)
    for link in life.table.foreign_keys:
        moved = life.lives or one(life.table).rpartition("_")[2] in MOVED
        if moved and HOLDERS.search(link.column) and link.column != life.table.primary_key:
            yield from _transfer(data, life, link)


def _transfer(data: Data, life: Life, link: ForeignKey) -> Iterator[tuple[str, Change]]:
    name = f"to_{link.column}" if link.column not in TAKEN else f"to_{one(life.table)}_{link.column}"
    change = replace(_change(life), sets={name: link.column}, differ=(name,), limit=limit_of(data, life, link, name))
    if not tested(data, change):
        change = replace(change, limit=None)
    yield "transfer", in_hand(life, change)


def _renewals(life: Life) -> Iterator[tuple[str, Change]]:
    if life.due:
        name = argument_name(life.table, life.due.name)
        change = replace(_change(life), sets={name: life.due.name}, later=(name,), dates=(name,))
        noun = one(life.table).rpartition("_")[2]
        yield "renew" if noun in RENEWED else "reschedule", in_hand(life, change)
