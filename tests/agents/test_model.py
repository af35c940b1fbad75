import pytest
from pydantic import BaseModel

from agent_world.agents.model import open_model
from agent_world.errors import ModelError, UsageError
from agent_world.settings import ModelConfig
from tests.openai_server import Fault, Reply, scripted_openai

FIND = {"type": "function", "function": {"name": "find", "description": "", "parameters": {"type": "object"}}}


class Capital(BaseModel):
    country: str
    city: str


async def test_a_reply_that_does_not_fit_is_sent_back_with_the_error() -> None:
    async with scripted_openai(['{"country": "Peru"}', '```json\n{"country": "Peru", "city": "Lima"}\n```']) as server:
        model = open_model(server.config)
        assert await model.structured(Capital, [("user", "Peru?")]) == Capital(country="Peru", city="Lima")
        assert "city: Field required" in server.requests[1]["messages"][-1]["content"]
        assert (model.usage.calls, model.usage.input_tokens, model.usage.output_tokens) == (2, 14, 6)


async def test_the_retries_are_bounded() -> None:
    async with scripted_openai(["no", "no", "no", "no"]) as server:
        with pytest.raises(ModelError, match="no valid Capital in 3 tries"):
            await open_model(server.config).structured(Capital, [("user", "Peru?")])
        assert len(server.requests) == 3


async def test_an_unreachable_server_is_named_with_the_remedy() -> None:
    config = ModelConfig(name="openai:none", base_url="http://127.0.0.1:9/v1", api_key="none", retries=0)
    with pytest.raises(ModelError, match=r"http://127.0.0.1:9/v1 did not answer .* check its address"):
        await open_model(config).text([("user", "hello")])


def test_an_unknown_provider_is_a_usage_error() -> None:
    with pytest.raises(UsageError, match=r"nosuch:model.*provider:model"):
        open_model(ModelConfig(name="nosuch:model"))


async def test_a_stream_that_is_cut_short_is_no_answer() -> None:
    """We do not ask for streams; LangGraph's Studio may, to show tokens as they come."""
    call: Reply = {"name": "find", "arguments": {"what": "x"}}
    async with scripted_openai(["whole", call, Fault(cut=True)], repeat=True) as server:
        model = open_model(server.config.model_copy(update={"retries": 0}))
        model.chat = model.chat.model_copy(update={"streaming": True})
        assert await model.text([("user", "go")]) == "whole"
        reply = await model.turn([{"role": "user", "content": "go"}], [FIND])
        assert [(asked.tool, asked.arguments) for asked in reply.calls] == [("find", {"what": "x"})]
        with pytest.raises(ModelError, match="did not answer"):
            await model.text([("user", "go")])
        assert all(request["stream"] for request in server.requests)
    assert model.usage.calls == 3
