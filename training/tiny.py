"""The tiny policy: a Qwen3-architecture model built in code, that starts out able to copy.

From a random start a model of this size does not learn to copy within minutes on a CPU; from `induction_init` it
copies before any training. Everything stays trainable.
"""

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from agent_world.settings import TinyPolicy

if TYPE_CHECKING:
    import torch
    from transformers import PreTrainedTokenizerBase, Qwen3ForCausalLM

ROPE_BASE = 1e8
"""Large, so that most rotary pairs hardly turn within a conversation and can carry content."""
CONTEXT = 4096
_PREVIOUS = (0.4, 0.25, 0.15, 0.1, 0.1)
"""Energy of a previous-token head on the fastest rotary pairs: a sharp peak at its offset and nowhere else."""


def build_model(config: TinyPolicy, tokenizer: "PreTrainedTokenizerBase", seed: int) -> "Qwen3ForCausalLM":
    """A fresh model for `tokenizer`; the same seed gives the same weights."""
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
    if config.layers >= 2 and config.heads >= 3:
        induction_init(model)
    return model


@dataclass(frozen=True, slots=True)
class _Layout:
    """Who lives where in the residual stream, and in a head.

    Residual: one constant dimension, the token's own vector, its predecessor's and that one's predecessor's.
    Head: the slowest rotary pairs, `content` dimensions, compare content; the fastest ones compare positions.
    """

    hidden: int
    head: int

    @property
    def content(self) -> int:
        slow = [i for i in range(self.head // 2) if ROPE_BASE ** (-2 * i / self.head) * CONTEXT / 4 < 1.5]
        return 2 * len(slow)

    @property
    def past(self) -> int:
        return min(self.content, self.hidden // 4)

    @property
    def own(self) -> slice:
        return slice(1, self.hidden - 2 * self.past)

    def before(self, offset: int) -> slice:
        start = self.hidden - (3 - offset) * self.past
        return slice(start, start + self.past)

    def slow_dims(self, count: int) -> list[int]:
        """Head dimensions of `count` slow components, both halves of each rotary pair."""
        half, pairs = self.head // 2, self.content // 2
        dims = [d for i in range(half - pairs, half) for d in (i, i + half)]
        return dims[:count]


def induction_init(model: "Qwen3ForCausalLM") -> None:
    """Set layer 0 to look one and two tokens back, and layer 1 to copy what followed the same one or two tokens.

    Heads 0 and 1 of layer 0 attend by position alone (through the constant dimension) and write the vectors of the
    two previous tokens into their own part of the stream. In layer 1, head 0 matches the current token against the
    predecessors of earlier ones, heads 1 and 2 the current pair of tokens; all three write the vector of the token
    found, which the tied embedding reads as a prediction.
    """
    import torch

    layout = _Layout(model.config.hidden_size, model.config.head_dim)
    own = layout.own.stop - layout.own.start
    project = _orthogonal(own, layout.past).T
    with torch.no_grad():
        table = model.model.embed_tokens.weight
        table.zero_()
        table[:, 0] = 1.0
        table[:, layout.own] = torch.nn.functional.normalize(torch.randn(len(table), own), dim=-1)
        for offset in (1, 2):
            _look_back(model.model.layers[0].self_attn, offset - 1, offset, layout, project)
        _sharpen(model.model.layers[0].self_attn, 2.0)
        values = _orthogonal(own, own)
        for head in range(3):
            _match(model.model.layers[1].self_attn, head, layout, project, values)
        _sharpen(model.model.layers[1].self_attn, 1.5)
        model.model.norm.weight.fill_(2.0)


def _orthogonal(rows: int, columns: int) -> "torch.Tensor":
    """Random columns of length one at right angles; `rows` >= `columns`."""
    import torch

    found: torch.Tensor = torch.linalg.qr(torch.randn(rows, columns))[0]
    return found


def _sharpen(attention: Any, weight: float) -> None:
    attention.q_norm.weight.fill_(weight)
    attention.k_norm.weight.fill_(weight)


def _rows(layout: _Layout, head: int, dims: list[int]) -> list[int]:
    return [head * layout.head + d for d in dims]


def _clear(attention: Any, layout: _Layout, head: int) -> None:
    rows = slice(head * layout.head, (head + 1) * layout.head)
    for projection in (attention.q_proj, attention.k_proj, attention.v_proj):
        projection.weight[rows] = 0.0
    attention.o_proj.weight[:, rows] = 0.0


def _look_back(attention: Any, head: int, offset: int, layout: _Layout, project: "torch.Tensor") -> None:
    """Attend to the token `offset` back, and write its projected vector into `layout.before(offset)`."""
    _clear(attention, layout, head)
    for pair, energy in enumerate(_PREVIOUS):
        angle = offset * ROPE_BASE ** (-2 * pair / layout.head)
        first, second = _rows(layout, head, [pair, pair + layout.head // 2])
        attention.q_proj.weight[first, 0] = math.sqrt(energy)
        attention.k_proj.weight[first, 0] = math.sqrt(energy) * math.cos(angle)
        attention.k_proj.weight[second, 0] = math.sqrt(energy) * math.sin(angle)
    rows = _rows(layout, head, list(range(layout.past)))
    attention.v_proj.weight[rows, layout.own] = project
    length = math.sqrt(layout.hidden / 2 * layout.past / project.shape[1])
    attention.o_proj.weight[list(range(*layout.before(offset).indices(layout.hidden))), rows] = 1.0 / length


def _match(attention: Any, head: int, layout: _Layout, project: "torch.Tensor", values: "torch.Tensor") -> None:
    """Head 0 matches one token, the others two; each writes its share of the found token's vector."""
    _clear(attention, layout, head)
    one, two = layout.before(1), layout.before(2)
    if head == 0:
        rows = _rows(layout, head, layout.slow_dims(layout.past))
        attention.q_proj.weight[rows, layout.own] = project
        attention.k_proj.weight[rows, one.start : one.stop] = _eye(layout.past)
    else:
        half = layout.past // 2
        turn = _orthogonal(layout.past, half).T
        near = _rows(layout, head, layout.slow_dims(half))
        far = _rows(layout, head, layout.slow_dims(2 * half)[half:])
        attention.q_proj.weight[near, layout.own] = turn @ project
        attention.k_proj.weight[near, one.start : one.stop] = turn
        attention.q_proj.weight[far, one.start : one.stop] = turn
        attention.k_proj.weight[far, two.start : two.stop] = turn
    share = values[:, : layout.head] if head < 2 else values[:, -layout.head :]
    rows = _rows(layout, head, list(range(share.shape[1])))
    attention.v_proj.weight[rows, layout.own] = share.T
    gain = (1.0 if head == 0 else 3.0) * 2 / math.sqrt(layout.hidden)
    attention.o_proj.weight[layout.own, rows] = share * gain


def _eye(size: int) -> "torch.Tensor":
    import torch

    return torch.eye(size)
