"""A scripted OpenAI-compatible chat server on loopback: the real client speaks the real protocol to it.

A local double of a strong model, named as such: it answers with the given replies in order.
"""

import asyncio
import json
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from typing import Any

import uvicorn
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import JSONResponse, Response, StreamingResponse
from starlette.routing import Route

from agent_world.settings import ModelConfig


@dataclass(frozen=True, slots=True)
class Cut:
    """A tool call that the token limit cut: its arguments are this text."""

    name: str
    arguments: str


@dataclass(frozen=True, slots=True)
class Fault:
    """What a server may do instead of answering."""

    status: int = 200
    """An error status, as `429` and `500`."""
    cut: bool = False
    """The connection ends in the middle of an answer."""


Reply = str | Cut | dict[str, Any] | list[dict[str, Any]] | Fault
"""Text, one or several tool calls as `{"name": ..., "arguments": {...}}` (arguments as text are sent as they are), or a
fault."""


@dataclass(slots=True)
class ScriptedServer:
    replies: list[Reply]
    base_url: str = ""
    requests: list[dict[str, Any]] = field(default_factory=list)

    @property
    def config(self) -> ModelConfig:
        return ModelConfig(name="openai:scripted", base_url=self.base_url, api_key="none", timeout_s=20, retries=2)

    async def chat(self, request: Request) -> Response:
        asked = await request.json()
        self.requests.append(asked)
        if not self.replies:
            return JSONResponse({"error": {"message": "the script has no more replies"}}, status_code=400)
        reply = self.replies.pop(0) if len(self.replies) > 1 or not self.repeat else self.replies[0]
        if isinstance(reply, Fault) and not (reply.cut and asked.get("stream")):
            return _failing(reply)
        if asked.get("stream"):
            return StreamingResponse(_events(reply), media_type="text/event-stream")
        choice = {
            "index": 0,
            "message": _message(reply),
            "finish_reason": _finish(reply),
        }
        usage = {"prompt_tokens": 7, "completion_tokens": 3, "total_tokens": 10}
        body = {"id": "chatcmpl-1", "object": "chat.completion", "created": 0, "model": "scripted", "choices": [choice]}
        return JSONResponse(body | {"usage": usage})

    repeat: bool = False
    """Answer with the last reply for ever."""


async def _events(reply: Reply) -> AsyncIterator[bytes]:
    """An answer in two pieces; a cut one ends after the first."""
    whole = "a half ... " if isinstance(reply, Fault) else reply
    delta = _message(whole)
    for number, call in enumerate(delta.get("tool_calls", [])):
        call["index"] = number
    yield _chunk(delta, None)
    if isinstance(reply, Fault):
        raise ConnectionResetError("cut short")
    yield _chunk({}, _finish(whole))
    yield b"data: [DONE]\n\n"


def _chunk(delta: dict[str, Any], finish: str | None) -> bytes:
    choice = {"index": 0, "delta": delta, "finish_reason": finish}
    head = {"id": "chatcmpl-1", "object": "chat.completion.chunk", "created": 0, "model": "scripted"}
    return f"data: {json.dumps(head | {'choices': [choice]})}\n\n".encode()


def _finish(reply: str | Cut | dict[str, Any] | list[dict[str, Any]]) -> str:
    return "stop" if isinstance(reply, str) else "length" if isinstance(reply, Cut) else "tool_calls"


def _failing(fault: Fault) -> Response:
    if fault.cut:

        async def half() -> AsyncIterator[bytes]:
            yield b'{"id": "chatcmpl-1", "object": "chat.completion", "choices": [{"index": 0, "mess'
            raise ConnectionResetError("cut short")

        return StreamingResponse(half(), media_type="application/json")
    headers = {"retry-after-ms": "1"}  # the client waits so long before it asks again
    return JSONResponse({"error": {"message": f"status {fault.status}"}}, fault.status, headers)


def _message(reply: str | Cut | dict[str, Any] | list[dict[str, Any]]) -> dict[str, Any]:
    if isinstance(reply, str):
        return {"role": "assistant", "content": reply}
    if isinstance(reply, Cut):
        function = {"name": reply.name, "arguments": reply.arguments}
        calls = [{"id": "call_0", "type": "function", "function": function}]
        return {"role": "assistant", "content": None, "tool_calls": calls}
    calls = [
        {
            "id": f"call_{i}",
            "type": "function",
            "function": {"name": c["name"], "arguments": _arguments(c["arguments"])},
        }
        for i, c in enumerate(reply if isinstance(reply, list) else [reply])
    ]
    return {"role": "assistant", "content": None, "tool_calls": calls}


def _arguments(given: dict[str, Any] | str) -> str:
    return given if isinstance(given, str) else json.dumps(given)


@asynccontextmanager
async def scripted_openai(replies: Sequence[Reply], *, repeat: bool = False) -> AsyncIterator[ScriptedServer]:
    """`async with scripted_openai(["hello"]) as server: ... server.config, server.requests`."""
    server = ScriptedServer(list(replies), repeat=repeat)
    app = Starlette(routes=[Route("/v1/chat/completions", server.chat, methods=["POST"])])
    runner = uvicorn.Server(uvicorn.Config(app, port=0, log_level="critical", lifespan="off"))
    serving = asyncio.create_task(runner.serve())
    while not runner.started:
        await asyncio.sleep(0.01)
    port = runner.servers[0].sockets[0].getsockname()[1]
    server.base_url = f"http://127.0.0.1:{port}/v1"
    try:
        yield server
    finally:
        runner.should_exit = True
        await serving
