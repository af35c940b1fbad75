"""Around every exchange with an instance's process, on any backend: checks before it, results after it."""

import asyncio
import json
from collections.abc import Mapping
from datetime import UTC, datetime
from functools import partial
from typing import Any, Protocol

from agent_world.errors import UsageError
from agent_world.tools.observation import error_observation, outcome_observation
from agent_world.tools.runtime import Observation, RunResult
from agent_world.tools.sandbox.aside import with_frame
from agent_world.tools.sandbox.channel import Answer, ChannelClosed
from agent_world.tools.sandbox.template import Template

MAX_CALLS = 10_000
"""Most tool calls of one program."""

JUDGED = 32
"""To judge arguments takes so many times as long as to read them."""

Call = tuple[str, dict[str, Any], Observation]


class Around(Protocol):
    """What a backend does around each tool call of a program."""

    async def before(self, tool: str) -> None: ...

    async def seen(self, tool: str, outcome: Answer) -> Observation: ...


class Conversation(Protocol):
    """The trusted end of a channel. Both raise `ChannelClosed` when the other end is gone or says what it must not."""

    async def send(self, message: dict[str, Any]) -> None: ...

    async def receive(self, request: int) -> Answer:
        """The next frame, which must be an answer to `request`."""
        ...


def nanoseconds(clock: str) -> int:
    """The setting `runtime.clock` since 1970. Raises `UsageError`."""
    try:
        moment = datetime.fromisoformat(clock)
    except ValueError as error:
        raise UsageError(f"Setting runtime.clock must be a time like 2026-01-15T09:00:00, not {clock!r}.") from error
    return int(moment.replace(tzinfo=moment.tzinfo or UTC).timestamp()) * 1_000_000_000


def judged(template: Template, tool: str, arguments: Mapping[str, Any]) -> tuple[Observation | None, dict[str, Any]]:
    """Why the call is not made, if so; else the arguments as the tool gets them."""
    checkers = template.checkers
    if not checkers:
        return None, dict(arguments)
    if tool not in checkers:
        return error_observation("unknown_tool", f"There is no tool {tool!r}."), {}
    found = checkers[tool].fault(arguments)
    if found:
        return error_observation("invalid_arguments", found), {}
    return None, checkers[tool].ready(arguments)


async def follow(
    channel: Conversation,
    template: Template,
    request: int,
    calls: list[Call],
    limit: int,
    around: Around | None = None,
) -> Answer:
    """Let a program's tool calls through, or refuse them, until its result comes. Adds to `calls`."""
    while "ask" in (frame := await channel.receive(request)):
        tool, arguments = frame["ask"], frame.get("arguments")
        if len(calls) >= MAX_CALLS or not isinstance(tool, str) or not isinstance(arguments, dict):
            raise ChannelClosed("too many or malformed tool calls")
        await asyncio.sleep(0)  # frames that lie ready must not keep others from their deadlines
        found, sound = await with_frame(JUDGED * frame.size, partial(judged, template, tool, arguments))
        if found is None:
            if around:
                await around.before(tool)
            await channel.send({"id": request, "arguments": sound})
            outcome = await channel.receive(request)
            if outcome.get("did") is not True:
                raise ChannelClosed("a tool call without a report")
            found = await (around.seen(tool, outcome) if around else observed(outcome, limit))
        else:
            await channel.send({"id": request, "error": json.loads(found.text)["error"]})
        calls.append((tool, arguments, found))
    return frame


async def observed(outcome: Answer, limit: int) -> Observation:
    """What an agent sees of a tool's answer."""
    return await with_frame(outcome.size, lambda: outcome_observation(outcome, limit))


def _sound(text: str) -> str:
    """Without halves of characters, which nobody could write down or send on."""
    return text.encode(errors="replace").decode()


def run_result(answer: dict[str, Any], calls: list[Call]) -> RunResult:
    """What a program's last frame says."""
    output = answer.get("output")
    text = _sound(output) if isinstance(output, str) else ""
    error = answer.get("error")
    if not isinstance(error, dict):
        return RunResult(ok=True, value=answer.get("value"), calls=tuple(calls), output=text)
    code, message = error.get("code"), _sound(str(error.get("message")))
    said = "crashed" if code == "crashed" else message
    return RunResult(ok=False, error=said, calls=tuple(calls), output=text)
