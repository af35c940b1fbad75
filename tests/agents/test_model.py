import pytest
from pydantic import BaseModel

from agent_world.agents.model import open_model
from agent_world.errors import ModelError, UsageError
from agent_world.settings import ModelConfig
from tests.openai_server import scripted_openai


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
