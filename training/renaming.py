"""Consistent renaming: an augmentation that keeps a small policy from learning its environments by heart.

A few dozen environments hold few entity, field and tool names, and a small model learns them instead of learning to
read them. So in a share of the conversations of a batch the tokens that are particular to environments (words of
few environments, all numbers) are exchanged for random others, the same exchange throughout the conversation. What
was right stays right: the same tool is chosen, the same value copied. Words that most environments share (`get`,
`how many`, `count`) keep their meaning.
"""

from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import torch
    from transformers import PreTrainedTokenizerBase

COMMON = 0.4
"""A token that occurs in more than this share of the environments is not particular to any."""


def particular_tokens(
    tokenizer: "PreTrainedTokenizerBase", texts: Mapping[str, Iterable[Sequence[int]]]
) -> list[list[int]]:
    """Groups of exchangeable tokens: words, and numbers of one, two and three digits.

    `texts` are token sequences by environment.
    """
    seen = {name: {token for ids in sequences for token in ids} for name, sequences in texts.items()}
    words: list[int] = []
    numbers: dict[int, list[int]] = {1: [], 2: [], 3: []}
    for token in range(len(tokenizer)):
        text = str(tokenizer.decode([token]))
        if text.isascii() and text.isdigit() and len(text) in numbers:
            numbers[len(text)].append(token)
        elif (text.isalpha() or "\ufffd" in text) and sum(token in s for s in seen.values()) <= COMMON * len(seen):
            words.append(token)
    return [words, *numbers.values()]


class Renaming:
    """A collator that renames `share` of the rows another collator makes; `groups` as `particular_tokens` gives."""

    def __init__(self, inner: Any, groups: Sequence[Sequence[int]], size: int, share: float, seed: int) -> None:
        import torch

        self.inner = inner
        self.groups = [torch.tensor(group, dtype=torch.long) for group in groups]
        self.size = size
        self.share = share
        self.random = torch.Generator().manual_seed(seed)

    def __call__(self, rows: list[dict[str, Any]]) -> dict[str, Any]:
        import torch

        batch: dict[str, Any] = self.inner(rows)
        for i in range(len(batch["input_ids"])):
            if torch.rand((), generator=self.random) < self.share:
                names = self._names()
                labels = batch["labels"][i]
                batch["input_ids"][i] = names[batch["input_ids"][i]]
                batch["labels"][i] = torch.where(labels < 0, labels, names[labels.clamp(min=0)])
        return batch

    def _names(self) -> "torch.Tensor":
        """A permutation of the vocabulary within each group."""
        import torch

        names = torch.arange(self.size)
        for group in self.groups:
            names[group] = group[torch.randperm(len(group), generator=self.random)]
        return names
