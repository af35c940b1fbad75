"""The tiny policy's own tokenizer: byte-level BPE, cut so that copying is easy.

A small model solves tasks mostly by copying: a name from the question into a call, a value from an observation into
the answer. So a word must be the same token wherever it stands (after a space, an underscore, a quote or a bracket,
singular or plural), a number of up to three digits is one token, and the glue of JSON (`": "`) is one token.
"""

import itertools
from collections.abc import Iterable
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from transformers import PreTrainedTokenizerFast

PAD, END = "<|pad|>", "<|end|>"
USER, TOOLS, ASSISTANT, TOOL = "<|user|>", "<|tools|>", "<|assistant|>", "<|tool|>"
MARKERS = (PAD, END, USER, TOOLS, ASSISTANT, "<|call|>", "<|/call|>", TOOL)
"""Tokens of their own, with the ids 0 to 7."""

PIECES = (
    r"\p{N}{1,3}"
    r"|\p{L}{3,}?(?=s(?!\p{L}))|\p{L}+"  # the plural s is a piece of its own
    r'|["\[\]{},:]+(?: ["\[\]{},:]*)?'  # JSON glue with the space inside
    r"|[^\p{L}\p{N}]"
)

RESPONSE_TEMPLATE: dict[str, Any] = {
    "defaults": {"role": "assistant"},
    "start_anchor": "<|assistant|>",
    "fields": {
        "tool_calls": {
            "open_pattern": r"<\|call\|>(?P<name>[A-Za-z0-9_-]{1,64})",
            "close_pattern": r"<\|/call\|>\s*",
            "repeats": True,
            "content": "json",
            "transform": {"type": "function", "function": {"name": "{name}", "arguments": "{content}"}},
        },
        "content": {"close_pattern": r"<\|end\|>\s*", "content": "text"},
    },
}
"""How an assistant turn is read back (Transformers' `parse_response`): the inverse of `tiny.jinja`."""


def train_tokenizer(texts: Iterable[str], size: int) -> "PreTrainedTokenizerFast":
    """A tokenizer of at most `size` tokens, the 1,110 numbers of up to three digits among them."""
    from tokenizers import Regex, Tokenizer, decoders, models, pre_tokenizers, trainers
    from transformers import PreTrainedTokenizerFast

    tokenizer = Tokenizer(models.BPE())
    tokenizer.pre_tokenizer = pre_tokenizers.Sequence(
        [
            pre_tokenizers.Split(Regex(PIECES), behavior="isolated"),
            pre_tokenizers.ByteLevel(add_prefix_space=False, use_regex=False),
        ]
    )
    tokenizer.decoder = decoders.ByteLevel()
    trainer = trainers.BpeTrainer(
        vocab_size=size,
        min_frequency=2,
        special_tokens=list(MARKERS),
        initial_alphabet=pre_tokenizers.ByteLevel.alphabet(),
        show_progress=False,
    )
    tokenizer.train_from_iterator(itertools.chain(_numbers(), texts), trainer)
    make: Any = PreTrainedTokenizerFast
    fast: PreTrainedTokenizerFast = make(
        tokenizer_object=tokenizer,
        eos_token=END,
        pad_token=PAD,
        padding_side="left",
        clean_up_tokenization_spaces=False,
    )
    fast.chat_template = Path(__file__).with_name("tiny.jinja").read_text()
    fast.response_template = RESPONSE_TEMPLATE
    return fast


def _numbers() -> Iterable[str]:
    """Every run of one to three digits, often enough that each becomes one token."""
    for digits in (1, 2, 3):
        line = " ".join(f"{number:0{digits}}" for number in range(10**digits))
        yield from [line] * (1000 if digits < 3 else 500)
