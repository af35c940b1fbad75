"""Policies that know nothing: what an environment's tasks give away to somebody who does not solve them."""

import json
import random
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from agent_world.agents.policy import Message, ToolCall, Tools, Turn

_FIELD = re.compile(r'"([^"]+)": (\[?)(\w+)')
_BLANKS: dict[str, Any] = {"integer": 0, "number": 0, "string": "", "boolean": False}


@dataclass(frozen=True, slots=True)
class IdlePolicy:
    """Does nothing, and fills the form of the answer with zeros and empty texts."""

    name: str = "idle"

    async def act(self, conversations: Sequence[Sequence[Message]], tools: Sequence[Tools]) -> list[Turn]:
        return [Turn(content=json.dumps(_blanks(conversation))) for conversation in conversations]


@dataclass(frozen=True, slots=True)
class ChancePolicy:
    """Calls random tools with values that it has read, then answers in the form asked for with values it has seen.

    Same seed and conversation, same turn.
    """

    seed: int = 0
    calls: int = 3
    name: str = "chance"

    async def act(self, conversations: Sequence[Sequence[Message]], tools: Sequence[Tools]) -> list[Turn]:
        return [self._next(c, t) for c, t in zip(conversations, tools, strict=True)]

    def _next(self, conversation: Sequence[Message], tools: Tools) -> Turn:
        rng = random.Random(f"{self.seed}:{len(conversation)}:{_asked(conversation)}")
        seen = list(_seen(conversation))
        if tools and sum(m["role"] == "assistant" for m in conversation) < self.calls:
            function = rng.choice(list(tools))["function"]
            parameters = function["parameters"]
            wanted = {n: parameters["properties"][n] for n in parameters.get("required", ())}
            words = [(None, word) for word in re.findall(r"[\w.-]*\w", _asked(conversation).partition("\n")[0])]
            given = {name: _argument(name, schema, [*seen, *words], rng) for name, schema in wanted.items()}
            return Turn(tool_calls=(ToolCall(function["name"], given),))
        answer = _blanks(conversation)
        for key, blank in answer.items():
            fit = [v for k, v in seen if k == key and _alike(v, blank)] or [v for _, v in seen if _alike(v, blank)]
            if isinstance(blank, list):
                answer[key] = sorted({str(v) for k, v in seen if k is not None and k + "s" == key})
            elif fit:
                answer[key] = rng.choice(fit)
        return Turn(content=json.dumps(answer, ensure_ascii=False))


def _asked(conversation: Sequence[Message]) -> str:
    return next((str(m["content"]) for m in conversation if m["role"] == "user"), "")


def _blanks(conversation: Sequence[Message]) -> dict[str, Any]:
    """The form of the answer that the opening message ends with, filled with nothing."""
    form = _asked(conversation).rpartition("Answer as JSON: ")[2]
    return {key: [] if many else _BLANKS.get(kind) for key, many, kind in _FIELD.findall(form)}


def _seen(conversation: Sequence[Message]) -> Iterator[tuple[str | None, Any]]:
    """Field and value of all that tools showed."""
    for message in conversation:
        if message["role"] == "tool":
            try:
                yield from _fields(json.loads(message["content"]), None)
            except ValueError:
                continue  # an observation that was cut


def _fields(value: Any, name: str | None) -> Iterator[tuple[str | None, Any]]:
    if isinstance(value, dict):
        for key, inner in value.items():
            yield from _fields(inner, str(key))
    elif isinstance(value, list):
        for inner in value:
            yield from _fields(inner, name)
    elif value is not None:
        yield name, value


def _argument(name: str, schema: Mapping[str, Any], seen: Sequence[tuple[str | None, Any]], rng: random.Random) -> Any:
    if schema.get("enum"):
        return rng.choice(schema["enum"])
    blank = _BLANKS.get(str(schema.get("type")), "")
    fit = [value for key, value in seen if key == name and _alike(value, blank)]
    fit = fit or [value for _, value in seen if _alike(value, blank)]
    return rng.choice(fit) if fit else rng.randint(0, 99) if isinstance(blank, int) else blank


def _alike(value: Any, blank: Any) -> bool:
    if isinstance(value, bool) or isinstance(blank, bool):
        return isinstance(value, bool) and isinstance(blank, bool)
    return isinstance(value, int | float) if isinstance(blank, int) else isinstance(value, type(blank))
