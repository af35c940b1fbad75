"""Business operations told from the real tool's name and words and the data: a change of a row under a precondition.

`cancel_pending_order(order_id, reason)`: `pending` is a value of the orders' status, so the order must be pending;
`cancelled` is one too, so that is what it becomes. `return_delivered_order_items(order_id, item_ids, ...)`: its words
say which status it gets; the items must be parts of the order. What is not told is not guessed.
"""

import re
from collections.abc import Iterator
from dataclasses import replace

from agent_world.agents.coder.data import Data
from agent_world.agents.coder.service.change import Change, NotServed, Parts, Reference, Spread, Swap
from agent_world.agents.coder.service.life_plan import ENDS, MOVES, RENEWS, with_life, with_life_argument
from agent_world.agents.coder.service.lifecycle import Life
from agent_world.agents.coder.service.real import Real, keyed, owner_key, parts
from agent_world.schema import Column, Table
from agent_world.tools.sql import sql_name
from agent_world.tools.tables import singular, snake_case

SETS = {"modify", "update", "change", "set", "edit", "replace", "swap"}
"""Verbs that put a new value in place; others ask for a change that is carried out later."""
STATUS = re.compile(r"(^|_)(status|state|stage|phase)($|_)")
BECOMES = re.compile(r"status\b[^.']{0,40}?\b(?:to|becomes?|as)\s+'([^']+)'")
CHOICES = re.compile(r"'([^']+)'(?:\s*,\s*'([^']+)')*\s*,?\s+or\s+'([^']+)'")
FLAG = re.compile(r"(^|_)(available|in_stock|active|open|enabled|bookable)($|_)")


def plan_change(real: Real, data: Data) -> Change | None:
    """None for a tool that changes nothing of a kind known here. Raises `NotServed`."""
    subject = _subject(real, data)
    if subject is None:
        return None
    table, key = subject
    life = Life(table, data)
    change = Change(table, key)
    change = _with_status(real, change)
    for name in real.required:
        if name != key:
            change = with_life_argument(real, life, change, name) or _with_argument(real, data, change, name)
    change = with_life(real, life, _with_effect(real, data, change))
    if change.simple:
        return None
    if not change.does_something:
        raise NotServed(f"what it changes of the {table.name} cannot be told from its words and the data")
    return change


def _subject(real: Real, data: Data) -> tuple[Table, str] | None:
    """The table that the name speaks of and the argument that names its row."""
    named = [(table, name) for name in real.required if real.scalar(name) and (table := keyed(data, name))]
    found = next(((table, name) for table, name in named if real.about(table)), None)
    if found is None and real.words[0] in ENDS | RENEWS | MOVES:  # `return_book(loan_id)`: the loan of the book
        about = {table.name for table in data.tables if real.about(table)}
        return next(((t, n) for t, n in named if about & {key.table for key in t.foreign_keys}), None)
    return found


# --- State ---------------------------------------------------------------------------------------------


def _with_status(real: Real, change: Change) -> Change:
    """By the column whose states the name or the new state speak of; `state` may also be where somebody lives."""
    options = []
    for column in change.table.columns:
        if column.type == "string" and column.values and STATUS.search(column.name):
            needs = next((v for v in column.values if _within(snake_case(v).split("_"), real.words)), None)
            after = _after(real, column)
            rank = (needs is not None, after in column.values, "status" in column.name)
            options.append((rank, column.name, needs, after if after != needs else None))
    _, name, needs, after = max(options, key=lambda option: option[0], default=((), None, None, None))
    return replace(change, status=name, needs=needs, after=after) if needs or after else change


def _within(some: list[str], words: tuple[str, ...]) -> bool:
    return any(list(words[i : i + len(some)]) == some for i in range(len(words) - len(some) + 1))


def _after(real: Real, column: Column) -> str | None:
    """The state that its words name; a participle of its verb among the states; what a sibling's words say likewise."""
    verb = real.words[0]
    said = BECOMES.search(real.spec.description)
    if said:
        return said[1]
    if verb in SETS:
        return None
    known = next((v for v in column.values if v.startswith(verb) and v.endswith("ed")), None)
    return known or next((_likewise(verb, *pair) for pair in _siblings(real)), None)


def _siblings(real: Real) -> Iterator[tuple[str, str]]:
    """Verb and new state of other tools, where the state is called by the verb: `return`, `return requested`."""
    for spec in real.siblings:
        verb, said = snake_case(spec.name).partition("_")[0], BECOMES.search(spec.description)
        same = set(snake_case(spec.name).split("_")[1:]) == set(real.words[1:])
        if same and said and verb in said[1].split():
            yield verb, said[1]


def _likewise(verb: str, other: str, state: str) -> str:
    return " ".join(verb if word == other else word for word in state.split())


# --- Arguments -----------------------------------------------------------------------------------------


def _with_argument(real: Real, data: Data, change: Change, name: str) -> Change:
    if real.listed(name):
        return _with_list(data, change, name)
    column = next((c for c in change.table.columns if c.name == snake_case(name)), None)
    if column is not None and column.name != change.table.primary_key:
        return _with_set(real, data, change, name, column)
    other = keyed(data, name)
    if other is not None and other is not change.table:
        reference = Reference(other, _shared(change.table, other))
        return replace(change, references={**change.references, name: reference})
    text = str(real.parameters[name].get("description", ""))
    said = CHOICES.search(text)
    if said and not text[: said.start()].rstrip().endswith(("such as", "e.g.", "for example", "like")):
        return replace(change, choices={**change.choices, name: tuple(re.findall(r"'([^']+)'", said[0]))})
    raise NotServed(f"the data has no place for its argument {name}")


def _with_set(real: Real, data: Data, change: Change, name: str, column: Column) -> Change:
    said = str(real.parameters[name].get("description", ""))
    empty = column.type == "string" and ("''" in said or "" in data.values(change.table, column.name))
    more = frozenset({name}) if empty else frozenset()
    return replace(change, sets={**change.sets, name: column.name}, may_be_empty=change.may_be_empty | more)


def _shared(table: Table, other: Table) -> tuple[str, str] | None:
    pairs = [
        (mine.column, theirs.column)
        for mine in table.foreign_keys
        for theirs in other.foreign_keys
        if (mine.table, mine.target) == (theirs.table, theirs.target)
    ]
    return pairs[0] if pairs else None


def _with_list(data: Data, change: Change, name: str) -> Change:
    wanted = snake_case(name)
    wanted = wanted.removesuffix("s") if wanted.endswith("_ids") else singular(wanted)
    if change.parts is not None and wanted == f"new_{change.parts.column}":
        return replace(change, swap=_swap(data, change.parts, name))
    for table, link in parts(data, change.table):
        if wanted in {c.name for c in table.columns} - {link.column}:
            return replace(change, parts=Parts(name, table, link, wanted))
    raise NotServed(f"the data has no place for its list {name}")


def _swap(data: Data, of: Parts, name: str) -> Swap:
    key = next((k for k in of.table.foreign_keys if k.column == of.column), None)
    if key is None:
        raise NotServed(f"the data does not say what {name} are")
    table = data.table(key.table)
    own = owner_key(table)
    same = next(
        (
            (k.column, own.column)
            for k in of.table.foreign_keys
            if own and (k.table, k.target) == (own.table, own.target)
        ),
        None,
    )
    flag = next((c.name for c in table.columns if c.type == "boolean" and FLAG.search(c.name)), None)
    shared = {c.name for c in of.table.columns} & {c.name for c in table.columns}
    fixed = {of.column, of.table.primary_key, *(same or ())}
    copies = tuple(c for c in sorted(shared - fixed) if _always_equal(data, of, table, key.target, c))
    return Swap(name, table, key.target, same, flag, copies, done=False)


def _always_equal(data: Data, of: Parts, table: Table, target: str, column: str) -> bool:
    part, other = sql_name(of.table.name), sql_name(table.name)
    join = f"{part} AS p JOIN {other} AS o ON p.{sql_name(of.column)} = o.{sql_name(target)}"
    differ = f"SELECT count(*) FROM {join} WHERE p.{sql_name(column)} IS NOT o.{sql_name(column)}"
    return bool(data.ask(differ) == 0)


def _with_effect(real: Real, data: Data, change: Change) -> Change:
    """What a verb that puts a value in place does beside setting columns: it swaps parts, or gives all a reference."""
    if real.words[0] not in SETS:
        return change
    if change.swap is not None:
        return replace(change, swap=replace(change.swap, done=True))
    if change.sets or change.after or len(change.references) != 1:
        return change
    ((name, reference),) = change.references.items()
    for table, link in parts(data, change.table):
        key = next((k for k in table.foreign_keys if k.table == reference.table.name and k is not link), None)
        if key is not None:
            return replace(change, spread=Spread(name, table, link, key.column))
    return change
