"""The tiny policy: a Qwen3-architecture model built in code, for CPUs, that starts out able to copy."""

from typing import TYPE_CHECKING

from agent_world.settings import TinyPolicy
from agent_world.training.induction import CONTEXT, HEADS, LAYERS, ROPE_BASE, induction_init

if TYPE_CHECKING:
    from transformers import PreTrainedTokenizerBase, Qwen3ForCausalLM


def build_model(config: TinyPolicy, tokenizer: "PreTrainedTokenizerBase", seed: int) -> "Qwen3ForCausalLM":
    """A fresh model for `tokenizer` (of `training/tokenizer.py`: its markers come first); same seed, same weights.

    A model too small for `induction_init` starts from random weights.
    """
    import torch
    from transformers import Qwen3Config, Qwen3ForCausalLM

    torch.manual_seed(seed)
    model = Qwen3ForCausalLM(
        Qwen3Config(
            vocab_size=len(tokenizer),
            hidden_size=config.hidden,
            intermediate_size=config.feed_forward,
            num_hidden_layers=config.layers,
            num_attention_heads=config.heads,
            num_key_value_heads=config.heads,
            head_dim=config.head_size,
            rope_parameters={"rope_type": "default", "rope_theta": ROPE_BASE},
            max_position_embeddings=CONTEXT,
            tie_word_embeddings=True,
            pad_token_id=tokenizer.pad_token_id,
            eos_token_id=tokenizer.eos_token_id,
        )
    )
    if config.layers >= LAYERS and config.heads >= HEADS and config.hidden >= 96:
        induction_init(model)
    return model
