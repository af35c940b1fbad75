"""Requests of a question against what the gold solution changes: each is done, nothing else is, as far as words decide.

What a tool does beside what it was called for (a deletion that takes dependent rows with it, the rules of a business
operation) is the environment's own; compared are the rows that calls aim at.
"""

import json
import re
from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from agent_world.agents.synthesizer.operation_words import verb_of
from agent_world.agents.synthesizer.words import column_words, plural, singular, value_text
from agent_world.agents.synthesizer.world import WRITES, Action, World
from agent_world.agents.validator.literals import own_arguments, states
from agent_world.agents.validator.replay import Call
from agent_world.agents.validator.request_words import DONE, OTHERWISE, Kind
from agent_world.agents.validator.requests import Request, requests_of
from agent_world.schema import RowChange, Task

_KIND: dict[str, Kind] = {"added": "add", "removed": "remove", "changed": "set"}
_MANY = re.compile(r"\b(all|each|every|both|any|those|these|them|their|whichever|everything|everyone)\b", re.IGNORECASE)
_STOP = re.compile(r"\b(of|for|among|in|from|where|linked|belong\w*|and (?:tell|report|say|give|then|let|state))\b")
_ID = r"[\w#][\w#.-]*\w|\d"
_LIST = r"[\w#.-]*\d[\w.-]*(?:,? and |, )(?:[\w#.-]*\d[\w.-]*(?:,? and |, |(?=\W|$)))+"
"""Several keys, one after another."""
_HEAD = r"(?:^ *|, | and )(?:the |both |all |these |those |our |my )*"
_LISTED = (
    r"(?: (?:with|whose|that has|that have|having)(?: the)?(?: \w+){0,3}? (?:IDs?|keys?|numbers?|codes?)(?: is| are)?)?"
    r":? ((?:[\w#.-]*\d[\w.-]*(?:,? and |, | or |(?=\W|$)))+)"
)
"""How keys stand behind a noun."""
_PART = re.compile(r",|;| and ")


def requested_fault(world: World, task: Task, calls: Sequence[Call]) -> str:
    """Why requests and changes do not fit together; empty when they do, or when words do not decide."""
    changes, asked = task.state_change.changes, requests_in(world, task)
    if changes and not asked and not _operated(world, task, calls):
        return "the gold solution changes the state, and the question asks for no change"
    sure = [request for request in asked if not request.conditional]
    if sure and not changes:
        return f"the question says {sure[0].said!r}, and the gold solution changes nothing"
    if asked and not changes and _either_way(world, task):
        return (
            "the question asks for a change whether its condition holds or not, and the gold solution changes nothing"
        )
    made = Made(world, changes, calls, own_arguments(world, task))
    if not changes or not asked or made.free:
        return ""
    return (
        _unasked(made, asked) or _undone(made, sure) or _left_out(made, sure) or _too_many(made, task.question, asked)
        or _crossed(made, task.question, asked)
    )  # fmt: skip


def requests_in(world: World, task: Task) -> list[Request]:
    nouns = [noun for table in world.tables for noun in (singular(table), plural(table))]
    deeds = [verb_of(action) for action in world.operations]
    return requests_of(task.question, nouns, deeds, _of_data(world))


def _operated(world: World, task: Task, calls: Sequence[Call]) -> bool:
    """Whether the question asks by its verb for a business operation that is done: `return`, `exchange`."""
    done = {tool for tool, _, _ in calls}
    verbs = [verb_of(action) for action in world.operations if action.name in done]
    return any(re.search(rf"\b{re.escape(verb)}\b", task.question, re.IGNORECASE) for verb in verbs)


def _either_way(world: World, task: Task) -> bool:
    """Whether changes are asked for on both sides of an `otherwise`."""
    sides = OTHERWISE.split(task.question, maxsplit=1)
    parts = [task.model_copy(update={"question": side.strip(" ,;:.")}) for side in sides]
    return len(parts) == 2 and all(requests_in(world, part) for part in parts)


def _of_data(world: World) -> set[str]:
    """Words for what was done that are values or names of columns as well: `closed`, `added by`."""
    found: set[str] = set()
    for table in world.tables.values():
        for column in table.columns:
            cells = world.values(table.name, column.name)
            found |= {word for word in DONE if word in cells or word in column.name.split("_")}
    return found


@dataclass(frozen=True)
class Made:
    """What the calls of a gold solution change, as far as they aim at it."""

    world: World
    changes: Sequence[RowChange]
    calls: Sequence[Call]
    own: Collection[tuple[str, str]] = ()
    """Tools and arguments that write the agent's own words, of which no word of the question decides."""

    @cached_property
    def free(self) -> bool:
        """Whether a call writes in a way that only the environment's own rules know."""
        writing = [self.world.action(tool) for tool, _, _ in self.calls]
        known = [action for action in writing if action is not None and action.kind in WRITES]
        custom = any(action is not None and action.writes and action.kind not in WRITES for action in writing)
        unknown = {t.name for t in self.world.tools if not t.annotations.read_only and not self.world.action(t.name)}
        return custom or not known or any(tool in unknown for tool, _, _ in self.calls)

    @cached_property
    def aimed(self) -> list[RowChange]:
        """Rows changed that a call names, or whose table alone can be told."""
        found = []
        targets = [(a, target_of(a, args, seen.value)) for a, args, seen in self._writing()]
        for change in self.changes:
            if any(a.table.name == change.table and key in ("", change.key) for a, key in targets):
                found.append(change)
        return found

    @cached_property
    def cells(self) -> list[tuple[str, Any]]:
        """Column and new value of each cell that an update was called to write."""
        return [
            (column, args[name])
            for action, args, _ in self._writing()
            if action.kind == "update"
            for name, column in action.values.items()
            if name in args and (action.name, name) not in self.own
        ]

    def _writing(self) -> Iterable[tuple[Action, dict[str, Any], Any]]:
        for tool, arguments, seen in self.calls:
            action = self.world.action(tool)
            if action is not None and action.kind in WRITES:
                yield action, arguments, seen


def _unasked(made: Made, asked: Sequence[Request]) -> str:
    kinds = {kind for request in asked for kind in request.kinds}
    for change in made.aimed:
        if _KIND[change.kind] not in kinds:
            return f"{change.table} {change.key} is {change.kind}, and the question asks for no such change"
    return ""


def _undone(made: Made, sure: Sequence[Request]) -> str:
    done = {_KIND[change.kind] for change in made.changes}
    for request in sure:
        if not request.kinds & done:
            return f"the question says {request.said!r}, and the gold solution does no such thing"
    return ""


def _left_out(made: Made, sure: Sequence[Request]) -> str:
    """A request for a column, or for rows, that are not among those changed."""
    done = {_KIND[change.kind] for change in made.changes}
    for request in (r for r in sure if r.order):
        if request.kinds & done == {"set"} and made.cells and not _touches(made, request):
            return f"nothing is done for {request.text.strip()[:60]!r}"
        if request.kinds & done == {"set"} and _other_rows(made, request):
            return _other_rows(made, request)
        if request.kinds == {"remove"}:
            gone = {change.key for change in made.changes if change.kind == "removed"}
            missing = sorted(_named(made, request) - gone)
            if missing:
                return f"the question says {request.said!r} of {missing[0]}, which is not removed"
    return ""


def _other_rows(made: Made, request: Request) -> str:
    """A key that the request for a change of cells names, of a table whose other rows are changed; or one of a list of
    keys of which only some are."""
    changed = {(c.table, c.key) for c in made.changes}
    for table in sorted({c.table for c in made.aimed if c.kind == "changed"}):
        keys = {value_text(k): key_text(k) for k in made.world.values(table, made.world.tables[table].primary_key)}
        coded = {key for key in keys if any(c.isdigit() for c in key) and any(c.isalpha() for c in key)}
        named = [keys[word] for word in re.findall(_ID, request.text) if word in coded]
        listed = [set(re.findall(_ID, found[0])) & coded for found in re.finditer(_LIST, request.text)]
        missing = [
            keys[key] for part in listed if len(part) > 1 for key in sorted(part) if (table, keys[key]) not in changed
        ]
        if named and not any((table, key) in changed for key in named):
            missing = named
        if missing:
            return f"the question says {request.said!r} of {missing[0]}, which is not changed"
    return ""


def _touches(made: Made, request: Request) -> bool:
    """Whether the request speaks of a cell that is changed; or, where it may only change cells, of no column at all."""
    columns = {column for column, _ in made.cells}
    others = {column.name for table in made.world.tables.values() for column in table.columns} - columns
    if any(_mentions(request.text, column) for column in columns):
        return True
    if any(_is_object(request, column) for column in others):
        return False
    if any(states(request.text, value) for _, value in made.cells):
        return True
    return "remove" not in request.kinds and not any(_mentions(request.text, column) for column in others)


def _is_object(request: Request, column: str) -> bool:
    """Whether it is the column that the verb is about: `set the pages of ...`."""
    rest = request.text[len(request.said) :].replace("-", " ")
    return re.match(rf" (?:the |its |number of )*{re.escape(column_words(column))}\b", rest, re.IGNORECASE) is not None


def _named(made: Made, request: Request) -> set[str]:
    """Keys that the request lists right behind what it calls their table: `loans 17 and 19`."""
    near = _STOP.split(request.text[len(request.said) :], maxsplit=1)[0]
    found: set[str] = set()
    for name, table in made.world.tables.items():
        keys = {value_text(key): key_text(key) for key in made.world.values(name, table.primary_key)}
        for noun in (singular(name), plural(name)):
            for listed in re.finditer(rf"{_HEAD}{re.escape(noun)}{_LISTED}", near, re.IGNORECASE):
                found |= {keys[word] for word in re.findall(_ID, listed[1]) if word in keys}
    return found


def _too_many(made: Made, question: str, asked: Sequence[Request]) -> str:
    """More rows of a table than a question that speaks of single ones asks for."""
    for table in sorted({change.table for change in made.aimed}):
        rows = {change.key for change in made.aimed if change.table == table}
        many = re.search(rf"\b{re.escape(plural(table))}\b", question, re.IGNORECASE) or _MANY.search(question)
        if not many and len(rows) > max(1, len(asked)):
            return f"{len(rows)} rows of {table} are changed, and the question asks for {len(asked)}"
    for removal in [r for r in asked if r.kinds == {"remove"}]:
        if not _named(made, removal):
            return ""
    named = {key for r in asked if "remove" in r.kinds for key in _named(made, r)}
    extra = sorted(c.key for c in made.aimed if c.kind == "removed" and named and c.key not in named)
    return f"{extra[0]} is removed, and the question names {', '.join(sorted(named))} only" if extra else ""


def _crossed(made: Made, question: str, asked: Sequence[Request]) -> str:
    """A cell written whose column the question does not speak of and whose value is none of its own; or two values
    exchanged."""
    mentioned = {column for column, _ in made.cells if _mentions(question, column)}
    taken = {value_text(value) for column, value in made.cells if column in mentioned}
    parts = [part for request in asked for part in _PART.split(request.text)]
    for column, value in made.cells:
        if column not in mentioned and (value_text(value) in taken or not states(question, value)):
            return f"{column} is set to {value!r}, and the question does not speak of it"
        stating = [part for part in parts if states(part, value)]
        others = [c for c in mentioned if c != column]
        if (
            column in mentioned
            and stating
            and all(not _mentions(part, column) and any(_mentions(part, other) for other in others) for part in stating)
        ):
            return f"{column} is set to {value!r}, which the question says of another column"
    return ""


def _mentions(text: str, column: str) -> bool:
    """Whether a column is spoken of: by its words, without a technical ending too."""
    plain, words = text.replace("-", " ").casefold(), column_words(column).casefold()
    forms = {words, column.replace("_", " ").casefold(), words.removesuffix(" id"), words.removesuffix(" code")}
    return any(re.search(rf"(?<!\w){re.escape(form)}s?(?!\w)", plain) for form in forms if form)


def target_of(action: Action, arguments: dict[str, Any], shown: Any) -> str:
    """Key of the row that a call writes, as a state difference has it; empty when it cannot be told."""
    column = action.table.primary_key
    given = {action.key: column} if action.key else action.values
    value = next((arguments[name] for name, c in given.items() if c == column and name in arguments), None)
    if value is None and isinstance(shown, dict):
        value = shown.get(action.paths.get(column, ""))
    return "" if value is None else key_text(value)


def key_text(value: Any) -> str:
    return value if isinstance(value, str) else json.dumps(value, sort_keys=True)
