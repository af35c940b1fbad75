"""Checks of a task that need no run: its wording, the form and size of its answer."""

import json
import re
from collections.abc import Mapping
from typing import Any

from jsonschema import Draft202012Validator

from agent_world.agents.synthesizer.world import World
from agent_world.agents.validator.literals import scalars, states
from agent_world.schema import Task

_BLANKS = {"integer": 0, "number": 0, "string": "", "boolean": False, "array": []}


def leak(world: World, task: Task) -> str:
    """A tool name, or an id of a table or column that is no word, in the question."""
    text = task.question.casefold()
    for tool in world.tools:
        if re.search(rf"(?<!\w){re.escape(tool.name.casefold())}(?!\w)", text):
            return f"the question names the tool {tool.name}"
        if _spoken(tool.name, text):
            return f"the question names the tool {tool.name} in words"
    names = {c.name for t in world.tables.values() for c in t.columns} | set(world.tables)
    found = [n for n in sorted(names) if "_" in n and re.search(rf"(?<!\w){re.escape(n.casefold())}(?!\w)", text)]
    return f"the question uses the id {found[0]}" if found else ""


def _spoken(name: str, text: str) -> bool:
    """`getBook`, `use get book`, `the get book tool`; `text` is in lower case."""
    parts = [re.escape(part) for part in re.findall(r"[A-Z]?[a-z0-9]+|[A-Z]+", name)]
    words = r"[\s_-]+".join(parts).lower()
    verbs = r"us(?:e|ing)|call(?:ing)?|run(?:ning)?|invok(?:e|ing)|execut(?:e|ing)|via"
    spoken = rf"\b(?:{verbs})\s+(?:the\s+)?(?:tool\s+)?{words}\b"
    titled = rf"\b{words}\s+(?:tool|function|endpoint|api|command|method)\b"
    joined = rf"(?<!\w){''.join(parts).lower()}(?!\w)"
    return len(parts) > 1 and any(re.search(form, text) for form in (spoken, titled, joined))


def form_fault(task: Task) -> str:
    """The answer schema is strict, and the reference answer is a value of it."""
    schema = task.answer_schema
    if schema.get("additionalProperties") is not False or set(schema["required"]) != set(schema["properties"]):
        return "the answer schema is not strict"
    error = next(iter(Draft202012Validator(schema).iter_errors(task.reference_answer)), None)
    return f"the reference answer does not fit its schema: {error.message}" if error else ""


def size_fault(task: Task, most: int) -> str:
    size = answer_size(task)
    return f"the answer has {size} characters" if size > most else ""


def answer_size(task: Task) -> int:
    """Characters of the reference answer as JSON."""
    return len(json.dumps(task.reference_answer, ensure_ascii=False))


def given_away(task: Task) -> str:
    """Unless the state changes, something of the answer must not be in the question."""
    if task.state_change.changes:
        return ""
    values = list(scalars(task.reference_answer))
    return "the question states the whole answer" if all(states(task.question, v) for v in values) else ""


def blank_answer(schema: Mapping[str, Any]) -> dict[str, Any]:
    """What one would fill in who has done nothing: zeros, empty texts, empty lists."""
    return {key: _BLANKS.get(kind_of(field)) for key, field in schema["properties"].items()}


def kind_of(field: Mapping[str, Any]) -> str:
    """The first JSON type that a field of an answer schema allows."""
    kind = field.get("type", "")
    return str(kind[0] if isinstance(kind, list) else kind)
