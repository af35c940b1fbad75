"""Task text against gold effects: what is asked for is done, what is done is asked for, what is said is known."""

import ast
import re
from collections.abc import Iterator, Sequence
from typing import Any

from agent_world.agents.synthesizer.words import column_words, value_text
from agent_world.agents.synthesizer.world import WRITES, World
from agent_world.agents.validator.asked import requested_fault, target_of
from agent_world.agents.validator.literals import scalars, states
from agent_world.agents.validator.names import name_fault
from agent_world.agents.validator.replay import Call
from agent_world.schema import Program, Task

_QUOTED = re.compile(r'"([^"]+)"|“([^”]+)”')
_CODED = re.compile(r"(?<![\w.])\w[\w.,:/+-]*")
_MANNER = re.compile(r"\b\d+(st|nd|rd|th)\b|\b\d+ (decimal|digit|place)s?\b", re.IGNORECASE)


def effect_fault(world: World, task: Task, calls: Sequence[Call]) -> str:
    """A change that the question does not ask for, one that it asks for and nobody makes, or a call that changes
    nothing; empty when text and effects agree."""
    return _idle_call(world, task, calls) or requested_fault(world, task, calls)


def _idle_call(world: World, task: Task, calls: Sequence[Call]) -> str:
    changed = {(change.table, change.key) for change in task.state_change.changes}
    for tool, arguments, seen in calls:
        action = world.action(tool)
        if action is None or action.kind not in WRITES or action.table.name in world.environment.database.volatile:
            continue
        key = target_of(action, arguments, seen.value)
        done = (action.table.name, key) in changed if key else any(t == action.table.name for t, _ in changed)
        if not done:
            return f"{tool} changes nothing of {action.table.name} {key}".rstrip()
    return ""


def question_fault(world: World, task: Task, calls: Sequence[Call], aside: Sequence[str] = ()) -> str:
    """A number, id or quoted text of the question that the gold solution neither uses nor sees, texts of `aside` left
    out: it is asked about something that the answer leaves out, or that does not exist."""
    known = " ".join([*_known(world, task, calls), *aside]).casefold()
    for literal in question_literals(task.question):
        if not re.search(rf"(?<!\w){re.escape(literal.casefold())}(?!\w)", known):
            return f"{literal!r} in the question is nothing that the gold solution uses or sees"
    return name_fault(world, task.question, known)


def question_literals(question: str) -> list[str]:
    """Quoted texts, ids and numbers in a question."""
    found = [first or second for first, second in _QUOTED.findall(question)]
    rest = _MANNER.sub(" ", _QUOTED.sub(" ", question))
    words = [word.rstrip(".,:/+-") for word in _CODED.findall(rest)]
    return found + [word for word in words if any(c.isdigit() for c in word)]


def answer_fault(task: Task, calls: Sequence[Call]) -> str:
    """A text of the answer that no tool showed and the question does not state."""
    if not calls:
        return "the gold solution calls no tool"
    shown = {word for _, _, seen in calls for value in scalars(seen.value) for word in _words(value_text(value))}
    for value in scalars(task.reference_answer):
        if isinstance(value, str) and not states(task.question, value) and not set(_words(value)) <= shown:
            return f"{value!r} in the answer was shown by no tool"
    return ""


def _words(text: str) -> list[str]:
    return re.findall(r"\w+", text.casefold())


def _lengths(value: Any) -> Iterator[int]:
    """Of every list in a value: `the 3 loans of M01`."""
    if isinstance(value, list):
        yield len(value)
    for inner in value.values() if isinstance(value, dict) else value if isinstance(value, list) else ():
        yield from _lengths(inner)


def _known(world: World, task: Task, calls: Sequence[Call]) -> Iterator[str]:
    for table in world.tables.values():
        yield from (column_words(table.name), *(column_words(c.name) for c in table.columns))
        yield from (column.name.replace("_", " ") for column in table.columns)
    for _, arguments, seen in calls:
        yield from map(value_text, scalars(arguments))
        yield from map(value_text, scalars(seen.value))
        yield from map(str, _lengths([arguments, seen.value]))
    if isinstance(task.solution, Program):
        nodes = ast.walk(ast.parse(task.solution.source))  # parsed, never executed here
        yield from (value_text(n.value) for n in nodes if isinstance(n, ast.Constant) and n.value is not None)
    else:
        yield from map(value_text, scalars(task.solution.model_dump(mode="json")["answer"]))
