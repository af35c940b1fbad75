import json

from agent_world.agents.model import open_model
from agent_world.agents.policy import ChatModelPolicy, ToolCall, Turn, assistant_message, read_turn
from agent_world.settings import ModelConfig
from tests.openai_server import scripted_openai

TOOLS = [
    {
        "type": "function",
        "function": {
            "name": "get_book",
            "description": "Get a book.",
            "parameters": {"type": "object", "properties": {"book_id": {"type": "string"}}, "required": ["book_id"]},
        },
    }
]
QUESTION = {"role": "user", "content": "How many pages has B001?"}


def test_a_turn_and_its_message_are_inverse() -> None:
    turn = Turn(tool_calls=(ToolCall("get_book", {"book_id": "Ä1"}), ToolCall("get_book", {"book_id": "B2"})))
    message = assistant_message(turn, 4)
    assert [call["id"] for call in message["tool_calls"]] == ["call_4", "call_5"]
    assert message["tool_calls"][0]["function"]["arguments"] == '{"book_id": "Ä1"}'
    assert read_turn(message) == turn


async def test_a_chat_model_is_shown_the_tools_and_its_calls_are_read() -> None:
    async with scripted_openai([{"name": "get_book", "arguments": {"book_id": "B001"}}, '{"pages": 418}']) as server:
        policy = ChatModelPolicy(open_model(server.config))
        call = (await policy.act([[QUESTION]], [TOOLS]))[0]
        assert call.tool_calls == (ToolCall("get_book", {"book_id": "B001"}),)
        told = {"role": "tool", "tool_call_id": "call_0", "name": "get_book", "content": json.dumps({"pages": 418})}
        final = (await policy.act([[QUESTION, assistant_message(call, 0), told]], [TOOLS]))[0]
        assert final == Turn('{"pages": 418}')
        assert server.requests[0]["tools"][0]["function"]["name"] == "get_book"
        assert [m["role"] for m in server.requests[1]["messages"]] == ["user", "assistant", "tool"]
        assert policy.model.usage.calls == 2


async def test_a_chat_model_that_is_away_fails_its_turn_alone() -> None:
    config = ModelConfig(name="openai:none", base_url="http://127.0.0.1:9/v1", api_key="none", retries=0)
    turn = (await ChatModelPolicy(open_model(config)).act([[QUESTION]], [TOOLS]))[0]
    assert turn.failure is not None
    assert "did not answer" in turn.failure
