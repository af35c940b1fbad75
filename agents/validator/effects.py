"""Task text against gold effects: what is asked for is done, what is done is asked for, what is said is known."""

import ast
import json
import re
from collections.abc import Iterator, Sequence
from typing import Any

from agent_world.agents.synthesizer.operation_words import verb_of
from agent_world.agents.synthesizer.words import column_words, value_text
from agent_world.agents.synthesizer.world import WRITES, Action, World
from agent_world.agents.validator.literals import scalars, states
from agent_world.agents.validator.replay import Call
from agent_world.schema import Program, Task

_CHANGE = re.compile(
    r"\b(do away|mov(e|ed|ing)|"
    r"set|put|new|enter|store|save|should|must|has to|is to|are to|gets|becomes?|needs|rid|gone|void|fix|drop|"
    r"no longer|from now on|rais(e|es|ed|ing)|"
    r"(add|assign|reassign|insert|adjust|edit|alter|discard|swap|transfer|shift|submit)(s|ed|ing|ped)?|"
    r"(chang|updat|delet|remov|eras|clear|cancel|creat|regist|renam|switch|amend|modif|revis|replac|wip|purg|withdraw|"
    r"scrap|dispos|reduc|increas|overwrit|introduc)\w*|"
    r"(take|takes|taken|cross|strike) .{1,200} (off|out|away|from)|make .{1,200} (the|its|a|an|for)|"
    r"(mark|record|log|file|enrol|book) .{1,200} (as|for|in|to|with|the)|correct (it|the) .*|"
    r"give (?!(me|us|its|their|the|it|that|only|just|both|all)\b).{1,200} (the|its|a|an) .*)\b",
    re.IGNORECASE | re.DOTALL,
)
"""Words without which nobody asks for a change."""
_REMOVAL = re.compile(r"\b(delete|remove|erase)\b", re.IGNORECASE)
_CONDITION = re.compile(r"\b(if|unless|otherwise|else|when|whenever|should|provided|whose|any)\b", re.IGNORECASE)
"""With these a request to remove may come to nothing."""
_QUOTED = re.compile(r'"([^"]+)"|“([^”]+)”')
_CODED = re.compile(r"(?<![\w.])\w[\w.,:/+-]*")
_MANNER = re.compile(r"\b\d+(st|nd|rd|th)\b|\b\d+ (decimal|digit|place)s?\b", re.IGNORECASE)


def effect_fault(world: World, task: Task, calls: Sequence[Call]) -> str:
    """A change that the question does not ask for, one that it asks for and nobody makes, or a call that changes
    nothing; empty when text and effects agree."""
    changes = task.state_change.changes
    asks = _CHANGE.search(task.question) or _names_operation(world, task.question)
    if changes and not asks:
        return "the gold solution changes the state, and the question asks for no change"
    wanted = _REMOVAL.search(_QUOTED.sub("", task.question))
    if wanted and not changes and not _CONDITION.search(task.question):
        return f"the question says {wanted[0]!r}, and the gold solution changes nothing"
    changed = {(change.table, change.key) for change in changes}
    for tool, arguments, seen in calls:
        action = world.action(tool)
        if action is None or action.kind not in WRITES or action.table.name in world.environment.database.volatile:
            continue
        key = _target(action, arguments, seen.value)
        done = (action.table.name, key) in changed if key else any(t == action.table.name for t, _ in changed)
        if not done:
            return f"{tool} changes nothing of {action.table.name} {key}".rstrip()
    return ""


def _names_operation(world: World, question: str) -> bool:
    """Whether the question asks for a business operation by its verb: `return`, `exchange`."""
    return any(re.search(rf"\b{re.escape(verb_of(a))}\b", question, re.IGNORECASE) for a in world.operations)


def question_fault(world: World, task: Task, calls: Sequence[Call], aside: Sequence[str] = ()) -> str:
    """A number, id or quoted text of the question that the gold solution neither uses nor sees, texts of `aside` left
    out: it is asked about something that the answer leaves out, or that does not exist."""
    known = " ".join([*_known(world, task, calls), *aside]).casefold()
    for literal in question_literals(task.question):
        if not re.search(rf"(?<!\w){re.escape(literal.casefold())}(?!\w)", known):
            return f"{literal!r} in the question is nothing that the gold solution uses or sees"
    return ""


def question_literals(question: str) -> list[str]:
    """Quoted texts, ids and numbers (of two digits and more, or with a fraction) in a question."""
    found = [first or second for first, second in _QUOTED.findall(question)]
    rest = _MANNER.sub(" ", _QUOTED.sub(" ", question))
    words = [word.rstrip(".,:/+-") for word in _CODED.findall(rest)]
    return found + [word for word in words if len(word) > 1 and any(c.isdigit() for c in word)]


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


def _known(world: World, task: Task, calls: Sequence[Call]) -> Iterator[str]:
    for table in world.tables.values():
        yield from (column_words(table.name), *(column_words(c.name) for c in table.columns))
    for _, arguments, seen in calls:
        yield from map(value_text, scalars(arguments))
        yield from map(value_text, scalars(seen.value))
    if isinstance(task.solution, Program):
        nodes = ast.walk(ast.parse(task.solution.source))  # parsed, never executed here
        yield from (value_text(n.value) for n in nodes if isinstance(n, ast.Constant) and n.value is not None)
    else:
        yield from map(value_text, scalars(task.solution.model_dump(mode="json")["answer"]))


def _target(action: Action, arguments: dict[str, Any], shown: Any) -> str:
    """Key of the row that a call writes, as a state difference has it; empty when it cannot be told."""
    column = action.table.primary_key
    given = {action.key: column} if action.key else action.values
    value = next((arguments[name] for name, c in given.items() if c == column and name in arguments), None)
    if value is None and isinstance(shown, dict):
        value = shown.get(action.paths.get(column, ""))
    if value is None:
        return ""
    return value if isinstance(value, str) else json.dumps(value, sort_keys=True)
