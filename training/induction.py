"""A start from which a small model can already copy and compare, instead of having to discover how.

From random weights a model of this size does not learn to copy within minutes on a CPU. Here a few attention heads
are set by hand; everything stays trainable. The residual stream is divided so that they do not disturb each other:

    constant | the token's own vector | region | flags | vector one back | vector two back

- layer 0 writes the vectors of the two tokens before (heads 0 and 1, by position alone), and which region of the
  conversation a token stands in (head 2: the latest marker);
- layer 1 flags the tokens that also stand in a question (head 0) or in the list of tools (head 1);
- the layer after it predicts what followed the same one (head 0) or two tokens (heads 1 and 2) before, words of the
  question first. The tied embedding reads that as a prediction.
"""

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from agent_world.training.tokenizer import ASSISTANT, MARKERS, TOOL, TOOLS, USER

if TYPE_CHECKING:
    import torch
    from transformers import Qwen3ForCausalLM

ROPE_BASE = 1e8
"""Large, so that most rotary pairs hardly turn within a conversation and can carry content."""
CONTEXT = 4096
LAYERS, HEADS = 3, 3
"""What the start needs at least."""

_PREVIOUS = (0.4, 0.25, 0.15, 0.1, 0.1)
"""Energy of a previous-token head on the fastest rotary pairs: a sharp peak at its offset and nowhere else."""
_SHARPNESS = (2.4, 1.6, 1.2)
"""Weight of the query and key norms in the three layers; attention logits grow with its square."""
_SHARED_WORD = 0.2
"""How much a word of the question is preferred among equal matches."""


@dataclass(frozen=True, slots=True)
class Layout:
    """Who lives where in the residual stream, and in a head: slow rotary pairs compare content, fast ones position."""

    hidden: int
    head: int

    @property
    def content(self) -> int:
        """Dimensions of a head that hardly turn within a conversation."""
        slow = [i for i in range(self.head // 2) if self.frequency(i) * CONTEXT / 4 < 1.5]
        return 2 * len(slow)

    @property
    def past(self) -> int:
        return min(self.content, self.hidden // 4)

    @property
    def flags(self) -> slice:
        """Two dimensions: stands in a question too, stands in the list of tools too."""
        end = self.hidden - 2 * self.past
        return slice(end - 2, end)

    @property
    def region(self) -> slice:
        return slice(self.flags.start - len(MARKERS), self.flags.start)

    @property
    def own(self) -> slice:
        return slice(1, self.region.start)

    @property
    def width(self) -> int:
        """Dimensions of a token's own vector."""
        own = self.own
        return int(own.stop - own.start)

    def before(self, offset: int) -> slice:
        start = self.hidden - (3 - offset) * self.past
        return slice(start, start + self.past)

    def marker(self, text: str) -> int:
        return int(self.region.start) + MARKERS.index(text)

    def frequency(self, pair: int) -> float:
        return float(ROPE_BASE ** (-2 * pair / self.head))

    def rows(self, head: int, dims: range | list[int]) -> list[int]:
        """Rows of a projection that are the dimensions `dims` of head `head`."""
        return [head * self.head + d for d in dims]

    def slow(self, head: int, start: int, stop: int) -> list[int]:
        """Rows of the slow dimensions `start` to `stop` of head `head`, both halves of each rotary pair."""
        half, pairs = self.head // 2, self.content // 2
        dims = [d for i in range(half - pairs, half) for d in (i, i + half)]
        return self.rows(head, dims[start:stop])


def induction_init(model: "Qwen3ForCausalLM") -> None:
    """Set the heads named above. `model` has at least `LAYERS` layers and `HEADS` heads; draws from torch's seed."""
    import torch

    layout = Layout(model.config.hidden_size, model.config.head_dim)
    first, second, third = (model.model.layers[i].self_attn for i in range(LAYERS))
    with torch.no_grad():
        _embed(model.model.embed_tokens.weight, layout)
        project = _orthogonal(layout.width, layout.past).T
        for offset in (1, 2):
            _look_back(first, offset - 1, offset, layout, project)
        _see_region(first, 2, layout)
        for number, marker in enumerate((USER, TOOLS)):
            _flag(second, number, marker, layout)
        values = _orthogonal(layout.width, layout.width)
        for head in range(3):
            _match(third, head, layout, project, values)
        for attention, weight in zip((first, second, third), _SHARPNESS, strict=True):
            attention.q_norm.weight.fill_(weight)
            attention.k_norm.weight.fill_(weight)
        model.model.norm.weight.fill_(2.0)


def _embed(table: "torch.Tensor", layout: Layout) -> None:
    """A constant, a random direction a token, and for markers a dimension of their own."""
    import torch

    table.zero_()
    table[:, 0] = 1.0
    table[:, layout.own] = torch.nn.functional.normalize(torch.randn(len(table), layout.width), dim=-1)
    for number, marker in enumerate(MARKERS):
        table[number, layout.marker(marker)] = 1.0


def _orthogonal(rows: int, columns: int) -> "torch.Tensor":
    """Random columns of length one at right angles; `rows` >= `columns`."""
    import torch

    found: torch.Tensor = torch.linalg.qr(torch.randn(rows, columns))[0]
    return found


def _clear(attention: Any, layout: Layout, head: int) -> None:
    rows = slice(head * layout.head, (head + 1) * layout.head)
    for projection in (attention.q_proj, attention.k_proj, attention.v_proj):
        projection.weight[rows] = 0.0
    attention.o_proj.weight[:, rows] = 0.0


def _look_back(attention: Any, head: int, offset: int, layout: Layout, project: "torch.Tensor") -> None:
    """Attend to the token `offset` back, and write its projected vector into `layout.before(offset)`."""
    _clear(attention, layout, head)
    for pair, energy in enumerate(_PREVIOUS):
        angle = offset * layout.frequency(pair)
        cosine, sine = layout.rows(head, [pair, pair + layout.head // 2])
        attention.q_proj.weight[cosine, 0] = math.sqrt(energy)
        attention.k_proj.weight[cosine, 0] = math.sqrt(energy) * math.cos(angle)
        attention.k_proj.weight[sine, 0] = math.sqrt(energy) * math.sin(angle)
    rows = layout.rows(head, range(layout.past))
    attention.v_proj.weight[rows, layout.own] = project
    length = math.sqrt(layout.hidden / 2 * layout.past / layout.width)
    attention.o_proj.weight[_indices(layout.before(offset)), rows] = 1.0 / length


def _see_region(attention: Any, head: int, layout: Layout) -> None:
    """Attend to the latest marker that begins a region, and write which it is into `layout.region`."""
    _clear(attention, layout, head)
    recent = min(range(layout.head // 2), key=lambda pair: abs(layout.frequency(pair) - 0.01))
    marked, plain = layout.slow(head, 0, 1)[0], layout.slow(head, 2, 3)[0]
    late = layout.rows(head, [recent])[0]
    query, key = attention.q_proj.weight, attention.k_proj.weight
    query[marked, 0], query[late, 0] = math.sqrt(0.6), math.sqrt(0.4)
    key[plain, 0] = 0.5  # so that the key of an ordinary token points away from the query, not nowhere
    for marker in (USER, TOOLS, ASSISTANT, TOOL):
        key[marked, layout.marker(marker)] = 3 * math.sqrt(0.6)
        key[late, layout.marker(marker)] = 3 * math.sqrt(0.4)
    rows, region = layout.rows(head, range(len(MARKERS))), _indices(layout.region)
    attention.v_proj.weight[rows, region] = 1.0
    attention.o_proj.weight[region, rows] = 1.0 / math.sqrt(layout.hidden / 3)


def _flag(attention: Any, number: int, marker: str, layout: Layout) -> None:
    """Attend to the same token in the region of `marker`, and write into flag `number` whether there is one."""
    _clear(attention, layout, number)
    size = layout.content - 2
    word, place = layout.slow(number, 0, size), layout.slow(number, size, size + 1)[0]
    same = _orthogonal(layout.width, size).T * math.sqrt(layout.width / size * 0.75)
    attention.q_proj.weight[word, layout.own] = same
    attention.k_proj.weight[word, layout.own] = same
    attention.q_proj.weight[place, 0] = math.sqrt(0.25)
    attention.k_proj.weight[place, layout.marker(marker)] = math.sqrt(0.25)
    row = layout.rows(number, [0])[0]
    attention.v_proj.weight[row, layout.marker(marker)] = 1.0
    attention.o_proj.weight[layout.flags.start + number, row] = 1.0 / math.sqrt(layout.hidden / 5)


def _match(attention: Any, head: int, layout: Layout, project: "torch.Tensor", values: "torch.Tensor") -> None:
    """Head 0 matches one token, the others two; each writes its share of the vector of the token that followed."""
    _clear(attention, layout, head)
    query, key = attention.q_proj.weight, attention.k_proj.weight
    one, two, size = layout.before(1), layout.before(2), layout.past - 2
    if head == 0:
        near, turn = layout.slow(head, 0, size), _orthogonal(layout.past, size).T
    else:
        near, turn = layout.slow(head, 0, size // 2), _orthogonal(layout.past, size // 2).T
        far = layout.slow(head, size // 2, 2 * (size // 2))
        query[far, one], key[far, two] = turn, turn
    query[near, layout.own], key[near, one] = turn @ project, turn
    shared = layout.slow(head, layout.content - 1, layout.content)[0]
    query[shared, 0], key[shared, layout.flags.start] = _SHARED_WORD, 2 * _SHARED_WORD
    share = values[:, : layout.head] if head < 2 else values[:, layout.head : 2 * layout.head]
    rows = layout.rows(head, range(share.shape[1]))
    attention.v_proj.weight[rows, layout.own] = share.T
    gain = (1.0 if head == 0 else 3.0) * 2 / math.sqrt(layout.hidden)
    attention.o_proj.weight[layout.own, rows] = share * gain


def _indices(part: slice) -> list[int]:
    return list(range(part.start, part.stop))
