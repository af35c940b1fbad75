"""What acts in an episode: a policy turns conversations into turns.

The policies that need no training are here: scripted, replaying, random, and a chat model behind an API. Those with
weights are in `training/policies.py`.
"""

import asyncio
import json
import random
import time
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Protocol

from agent_world.agents.model import LangChainModel, first_line
from agent_world.schema import Trajectory

Message = dict[str, Any]
"""An OpenAI chat message; the arguments of a tool call are a JSON string."""
Tools = Sequence[Mapping[str, Any]]
"""OpenAI function specs, as `ToolSpec.public` gives them."""


@dataclass(frozen=True, slots=True)
class ToolCall:
    name: str
    arguments: dict[str, Any]


@dataclass(frozen=True, slots=True)
class Turn:
    """One assistant turn: tool calls, or a final response in `content`."""

    content: str = ""
    tool_calls: tuple[ToolCall, ...] = ()
    truncated: bool = False
    """The token limit cut it, so nothing in it is executed."""
    failure: str | None = None
    """The policy's own machinery gave no turn (an unreachable server); the episode is not scored."""


class Policy(Protocol):
    """Acts for many episodes at once. A turn that cannot be read is plain `content`, never an exception."""

    @property
    def name(self) -> str: ...

    async def act(self, conversations: Sequence[Sequence[Message]], tools: Sequence[Tools]) -> list[Turn]:
        """The next assistant turn of each conversation; `tools[i]` are those of `conversations[i]`."""
        ...


def assistant_message(turn: Turn, number: int) -> Message:
    """The message of a turn; call ids count up within an episode, `number` being the first free one."""
    message: Message = {"role": "assistant", "content": turn.content}
    if turn.tool_calls:
        message["tool_calls"] = [
            {
                "id": f"call_{number + i}",
                "type": "function",
                "function": {"name": call.name, "arguments": json.dumps(call.arguments, ensure_ascii=False)},
            }
            for i, call in enumerate(turn.tool_calls)
        ]
    return message


def read_turn(message: Mapping[str, Any]) -> Turn:
    """The turn of an assistant message; the inverse of `assistant_message`."""
    functions = [call["function"] for call in message.get("tool_calls") or ()]
    calls = tuple(ToolCall(f["name"], json.loads(f["arguments"])) for f in functions)
    return Turn(content=message.get("content") or "", tool_calls=calls)


@dataclass(frozen=True, slots=True)
class ScriptedPolicy:
    """Takes the same turns in every episode, whatever is observed; the last one for ever."""

    turns: tuple[Turn, ...]
    name: str = "scripted"

    async def act(self, conversations: Sequence[Sequence[Message]], tools: Sequence[Tools]) -> list[Turn]:
        return [self.turns[min(_turns_taken(c), len(self.turns) - 1)] for c in conversations]


class ReplayPolicy:
    """Repeats recorded conversations, found by their question: the gold policy when the record is gold."""

    name = "replay"

    def __init__(self, trajectories: Iterable[Trajectory]) -> None:
        self._recorded = {_asked(t.messages): [m for m in t.messages if m["role"] == "assistant"] for t in trajectories}

    async def act(self, conversations: Sequence[Sequence[Message]], tools: Sequence[Tools]) -> list[Turn]:
        return [self._next(conversation) for conversation in conversations]

    def _next(self, conversation: Sequence[Message]) -> Turn:
        recorded, taken = self._recorded.get(_asked(conversation), []), _turns_taken(conversation)
        return read_turn(recorded[taken]) if taken < len(recorded) else Turn(failure="nothing recorded to replay")


@dataclass(frozen=True, slots=True)
class RandomPolicy:
    """Calls random tools with random arguments, then gives a random answer. Same seed and conversation, same turn."""

    seed: int = 0
    name: str = "random"

    async def act(self, conversations: Sequence[Sequence[Message]], tools: Sequence[Tools]) -> list[Turn]:
        return [self._next(c, t) for c, t in zip(conversations, tools, strict=True)]

    def _next(self, conversation: Sequence[Message], tools: Tools) -> Turn:
        rng = random.Random(f"{self.seed}:{len(conversation)}:{_asked(conversation)}")
        if not tools or rng.random() < 0.3:
            return Turn(content=json.dumps({"answer": rng.randint(0, 99)}))
        function = rng.choice(list(tools))["function"]
        properties = function["parameters"].get("properties", {})
        return Turn(tool_calls=(ToolCall(function["name"], {n: _random_value(s, rng) for n, s in properties.items()}),))


@dataclass(frozen=True, slots=True)
class ChatModelPolicy:
    """A chat model behind an API, tools bound; its failures end single episodes, not the run."""

    model: LangChainModel
    concurrency: int = 8

    @property
    def name(self) -> str:
        return self.model.name

    async def act(self, conversations: Sequence[Sequence[Message]], tools: Sequence[Tools]) -> list[Turn]:
        gate = asyncio.Semaphore(self.concurrency)

        async def one(conversation: Sequence[Message], specs: Tools) -> Turn:
            async with gate:
                return await self._turn(conversation, specs)

        return await asyncio.gather(*(one(c, t) for c, t in zip(conversations, tools, strict=True)))

    async def _turn(self, conversation: Sequence[Message], tools: Tools) -> Turn:
        started = time.monotonic()
        # Broad, at the edge of the run: each provider's SDK has its own exceptions, and all mean "no turn".
        try:
            async with asyncio.timeout(self.model.config.timeout_s):
                message = await self.model.chat.bind_tools([dict(t) for t in tools]).ainvoke(list(conversation))
        except Exception as error:
            return Turn(failure=f"{self.name} did not answer ({type(error).__name__}: {first_line(error)})")
        finally:
            self.model.usage.calls += 1
            self.model.usage.seconds += time.monotonic() - started
        self.model.usage.add(message)
        cut = (message.response_metadata or {}).get("finish_reason") in ("length", "max_tokens")
        if message.invalid_tool_calls:
            return Turn(content=str(message.invalid_tool_calls[0].get("args")), truncated=cut)
        calls = tuple(ToolCall(c["name"], dict(c["args"])) for c in message.tool_calls)
        return Turn(content=str(message.text), tool_calls=calls, truncated=cut)


def _turns_taken(conversation: Iterable[Message]) -> int:
    return sum(message["role"] == "assistant" for message in conversation)


def _asked(conversation: Iterable[Mapping[str, Any]]) -> str:
    return next((str(m["content"]) for m in conversation if m["role"] == "user"), "")


def _random_value(schema: Mapping[str, Any], rng: random.Random) -> Any:
    if schema.get("enum"):
        return rng.choice(schema["enum"])
    match schema.get("type"):
        case "integer":
            return rng.randint(0, 99)
        case "number":
            return round(rng.uniform(0, 99), 2)
        case "boolean":
            return rng.random() < 0.5
        case _:
            return rng.choice(["a", "north", "42", "2025-01-01"])
