import json

import pytest
import torch
from transformers import PreTrainedTokenizerFast
from trl.chat_template_utils import (
    get_training_chat_template,
    is_chat_template_prefix_preserving,
    is_chat_template_stop_token_trained,
    supports_tool_calling,
)

from agent_world.agents.policy import ToolCall, Turn, assistant_message
from agent_world.settings import TinyPolicy
from agent_world.training.induction import Layout
from agent_world.training.policies import template_message
from agent_world.training.tiny import build_model
from agent_world.training.tokenizer import TOOLS, USER, train_tokenizer
from tests.worlds import library_tools

TEXTS = [
    'What is the year of the books? get_book search_books list_loans_by_member {"items": [{"title": "Emma"}]}',
    '{"book_id": "B001", "year": 1815, "pages": 474}, {"total": 3} book books member members loan loans title',
] * 20


@pytest.fixture(scope="module")
def tokenizer() -> PreTrainedTokenizerFast:
    return train_tokenizer(TEXTS, 2048)


def pieces(tokenizer: PreTrainedTokenizerFast, text: str) -> list[str]:
    return [tokenizer.decode([token]) for token in tokenizer(text)["input_ids"]]


@pytest.mark.parametrize("text", ["get_book", "the books?", '{"book": 1}', "(book)", "book"])
def test_a_word_is_the_same_token_wherever_it_stands(tokenizer: PreTrainedTokenizerFast, text: str) -> None:
    assert "book" in pieces(tokenizer, text)


def test_numbers_of_three_digits_and_the_glue_of_json_are_one_token(tokenizer: PreTrainedTokenizerFast) -> None:
    assert pieces(tokenizer, '"year": 1815, "pages": 007}') == [
        '"', "year", '": ', "181", "5", ', "', "page", "s", '": ', "007", "}"
    ]  # fmt: skip


@pytest.mark.parametrize("text", ["Charlotte Brontë – 12½ €", "a  b\n\tc", '{"x": -1.50e-3, "y": null}', "日本 🙂"])
def test_any_text_comes_back_as_it_was(tokenizer: PreTrainedTokenizerFast, text: str) -> None:
    assert tokenizer.decode(tokenizer(text)["input_ids"]) == text


def test_the_template_has_all_that_the_trainers_need(tokenizer: PreTrainedTokenizerFast) -> None:
    assert supports_tool_calling(tokenizer)
    assert is_chat_template_prefix_preserving(tokenizer)
    assert is_chat_template_stop_token_trained(tokenizer)
    assert get_training_chat_template(tokenizer) is None


def test_tools_are_shown_between_the_question_and_its_repetition_as_calls_to_fill_in(
    tokenizer: PreTrainedTokenizerFast,
) -> None:
    tools = [tool.public() for tool in library_tools() if tool.name in ("get_book", "update_book_copies")]
    messages = [{"role": "system", "content": "Use the tools."}, {"role": "user", "content": "How many?"}]
    text = tokenizer.apply_chat_template(messages, tools=tools, tokenize=False, add_generation_prompt=True)
    assert text == (
        '<|user|>How many?<|tools|>get_book{"book_id": "?"}\nupdate_book_copies{"book_id": "?", "copies": ?}\n'
        "<|user|>How many?<|end|><|assistant|>"
    )


def test_the_loss_mask_covers_assistant_turns_and_nothing_else(tokenizer: PreTrainedTokenizerFast) -> None:
    call = template_message(assistant_message(Turn(tool_calls=(ToolCall("get_book", {"book_id": "B001"}),)), 0))
    told = {"role": "tool", "name": "get_book", "content": '{"year": 1897}'}
    messages = [{"role": "user", "content": "When?"}, call, told, {"role": "assistant", "content": '{"year": 1897}'}]
    found = tokenizer.apply_chat_template(messages, return_dict=True, return_assistant_tokens_mask=True)
    trained = [t for t, on in zip(found["input_ids"], found["assistant_masks"], strict=True) if on]
    assert tokenizer.decode(trained) == '<|call|>get_book{"book_id": "B001"}<|/call|><|end|>{"year": 1897}<|end|>'


@pytest.mark.parametrize("arguments", [{}, {"a": 'quote " and } and <b>', "n": [1, {"x": None}]}, {"ü": -1.5}])
def test_a_call_is_read_back_as_it_was_written(
    tokenizer: PreTrainedTokenizerFast, arguments: dict[str, object]
) -> None:
    text = f"<|call|>get-item{json.dumps(arguments, ensure_ascii=False)}<|/call|><|end|>"
    message = tokenizer.parse_response(tokenizer(text)["input_ids"], prefix="<|assistant|>")
    assert message["tool_calls"] == [{"type": "function", "function": {"name": "get-item", "arguments": arguments}}]


@pytest.mark.parametrize(("hidden", "head_size"), [(128, 32), (128, 64)])
def test_the_model_copies_before_any_training(tokenizer: PreTrainedTokenizerFast, hidden: int, head_size: int) -> None:
    model = build_model(TinyPolicy(hidden=hidden, head_size=head_size), tokenizer, seed=0).eval()
    random = torch.randint(8, len(tokenizer), (4, 100), generator=torch.Generator().manual_seed(1))
    with torch.inference_mode():
        logits = model(torch.cat([random, random], dim=1)).logits
    right = logits[:, 100:-1].argmax(-1) == random[:, 1:]
    assert right.float().mean() > 0.95


def test_the_same_seed_builds_the_same_weights(tokenizer: PreTrainedTokenizerFast) -> None:
    first, second, other = (build_model(TinyPolicy(layers=3), tokenizer, seed).state_dict() for seed in (0, 0, 1))
    assert all(torch.equal(first[name], second[name]) for name in first)
    assert not torch.equal(first["lm_head.weight"], other["lm_head.weight"])


def test_before_any_training_words_of_the_tools_that_the_question_holds_are_flagged(
    tokenizer: PreTrainedTokenizerFast,
) -> None:
    model = build_model(TinyPolicy(hidden=128, head_size=64), tokenizer, seed=0).eval()
    random = torch.randint(8, len(tokenizer), (1, 220), generator=torch.Generator().manual_seed(1))
    question, tools = random[:, :20], random[:, 20:].clone()
    tools[0, 50:60] = question[0, 3:13]
    user, listed = (torch.tensor([[tokenizer.convert_tokens_to_ids(marker)]]) for marker in (USER, TOOLS))
    with torch.inference_mode():
        states = model(torch.cat([user, question, listed, tools], dim=1), output_hidden_states=True).hidden_states
    flag = states[2][0, :, Layout(128, 64).flags.start]
    assert flag[72:82].min() > flag[22:72].mean() + 0.3
