"""Policies with weights, and the one way in to every policy: `open_policy(settings, path)`."""

import asyncio
import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

from agent_world.agents.model import first_line, open_model
from agent_world.agents.policy import ChatModelPolicy, Message, Policy, ToolCall, Tools, Turn
from agent_world.errors import StoreError, UsageError
from agent_world.schema import ToolSpec, Trajectory
from agent_world.settings import ChatPolicy, CheckpointPolicy, Settings

if TYPE_CHECKING:
    from transformers import PreTrainedModel, PreTrainedTokenizerBase


DONE = "complete"
"""File that a finished checkpoint folder holds."""


@dataclass(slots=True)
class TransformersPolicy:
    """A Transformers model on this machine; all conversations of a call are generated as one left-padded batch."""

    name: str
    model: Any
    """A `PreTrainedModel` with its language head."""
    tokenizer: Any
    turn_tokens: int = 96
    temperature: float = 0.0
    """0 is greedy."""
    seed: int = 0
    batch: int = 64
    _calls: int = field(default=0, init=False)

    async def act(self, conversations: Sequence[Sequence[Message]], tools: Sequence[Tools]) -> list[Turn]:
        return await asyncio.to_thread(self._act, conversations, tools)

    def _act(self, conversations: Sequence[Sequence[Message]], tools: Sequence[Tools]) -> list[Turn]:
        prompts = [self._prompt(c, t) for c, t in zip(conversations, tools, strict=True)]
        # Neighbours in length share a batch, so that little of it is padding.
        order = sorted(range(len(prompts)), key=lambda i: len(prompts[i]))
        turns: list[Turn] = [Turn()] * len(prompts)
        for start in range(0, len(order), self.batch):
            chosen = order[start : start + self.batch]
            for i, ids in zip(chosen, self._generate([prompts[i] for i in chosen]), strict=True):
                turns[i] = self._read(ids, prompts[i])
        return turns

    def _prompt(self, conversation: Sequence[Message], tools: Tools) -> list[int]:
        found = self.tokenizer.apply_chat_template(
            [template_message(m) for m in conversation],
            tools=list(tools) or None,
            add_generation_prompt=True,
            tokenize=True,
            return_dict=False,
        )
        return list(found)

    def _generate(self, prompts: list[list[int]]) -> list[list[int]]:
        """New tokens of each prompt, without padding."""
        import torch

        width = max(map(len, prompts))
        pad = self.tokenizer.pad_token_id
        ids = torch.tensor([[pad] * (width - len(p)) + p for p in prompts], device=self.model.device)
        mask = torch.tensor([[0] * (width - len(p)) + [1] * len(p) for p in prompts], device=self.model.device)
        options: dict[str, Any] = {"do_sample": False, "temperature": None, "top_p": None, "top_k": None}
        if self.temperature > 0:
            options = {"do_sample": True, "temperature": self.temperature, "top_p": 1.0, "top_k": 0}
        self._calls += 1
        torch.manual_seed(self.seed * 1_000_003 + self._calls)
        with torch.inference_mode():
            out = self.model.generate(
                input_ids=ids, attention_mask=mask, max_new_tokens=self.turn_tokens, pad_token_id=pad, **options
            )
        return [[token for token in row if token != pad] for row in out[:, width:].tolist()]

    def _read(self, ids: list[int], prompt: list[int]) -> Turn:
        if not ids or ids[-1] not in self._ends():
            return Turn(content=self.tokenizer.decode(ids), truncated=True)
        try:
            message = self.tokenizer.parse_response(ids, prefix=prompt)
            calls = tuple(_call(call) for call in message.get("tool_calls") or ())
        except (ValueError, KeyError, TypeError):
            return Turn(content=self.tokenizer.decode(ids, skip_special_tokens=True))
        return Turn(content=message.get("content") or "", tool_calls=calls)

    def _ends(self) -> set[int]:
        found = self.model.generation_config.eos_token_id if self.model.generation_config else None
        ends = found if isinstance(found, list) else [found]
        return {self.tokenizer.eos_token_id, *(end for end in ends if end is not None)}


def template_message(message: Mapping[str, Any]) -> dict[str, Any]:
    """A message as chat templates take it: the arguments of its calls as an object."""
    calls = message.get("tool_calls")
    if not calls:
        return dict(message)
    opened = [
        {**call, "function": {**call["function"], "arguments": json.loads(call["function"]["arguments"])}}
        for call in calls
    ]
    return {**message, "tool_calls": opened}


def _call(call: Mapping[str, Any]) -> ToolCall:
    function = call["function"]
    if not isinstance(function["name"], str) or not isinstance(function["arguments"], dict):
        raise TypeError("a tool call needs a name and an object of arguments")
    return ToolCall(function["name"], function["arguments"])


def open_policy(settings: Settings, path: Path | None = None, *, temperature: float = 0.0) -> Policy:
    """The policy of the settings, with the weights at `path`; greedy unless a temperature is given.

    Raises `UsageError` for a model that does not exist or cannot be loaded.
    """
    config = settings.policy
    if isinstance(config, ChatPolicy):
        return ChatModelPolicy(open_model(config.model))
    if isinstance(config, CheckpointPolicy):
        name, dtype = str(path or config.model), config.dtype
    elif path is None:
        raise UsageError("The tiny policy has no weights before it is made; run the loop, or give its folder.")
    else:
        _set_threads(config.threads)
        name, dtype = str(path), "float32"
    model, tokenizer = load_checkpoint(name, dtype)
    arena = settings.arena
    return TransformersPolicy(name, model, tokenizer, arena.turn_tokens, temperature, settings.seed, arena.batch)


def initial_policy(
    settings: Settings, demonstrations: Sequence[Trajectory], tools: Sequence[Sequence[ToolSpec]], out: Path
) -> Path:
    """The untrained policy of the settings as a folder (or hub name) that `open_policy` reads.

    The tiny one is made here, with a tokenizer learned from the text of `demonstrations` and `tools` alone, so keep
    those of held-out environments out. Already made, it is left as it is.
    """
    config = settings.policy
    if isinstance(config, CheckpointPolicy):
        return Path(config.model)
    if isinstance(config, ChatPolicy) or (out / DONE).exists():
        return out
    from agent_world.training.tiny import build_model
    from agent_world.training.tokenizer import train_tokenizer

    tokenizer = train_tokenizer(_texts(demonstrations, tools), config.vocabulary)
    save_checkpoint(build_model(config, tokenizer, settings.seed), tokenizer, out)
    return out


def _texts(demonstrations: Sequence[Trajectory], tools: Sequence[Sequence[ToolSpec]]) -> Iterator[str]:
    for specs in tools:
        for spec in specs:
            yield " ".join([spec.name, *spec.input_schema.get("properties", {})])
    for trajectory in demonstrations:
        for message in trajectory.messages:
            if message["role"] != "system":
                yield message.get("content") or ""
            for call in message.get("tool_calls") or ():
                yield call["function"]["name"] + call["function"]["arguments"]


def save_checkpoint(model: Any, tokenizer: Any, out: Path) -> None:
    """Write both to the folder `out`; the file `DONE` comes last, so a folder without it is unfinished."""
    # Broad: a full disk surfaces as OSError, or from inside safetensors as its own kind.
    try:
        model.save_pretrained(str(out))
        tokenizer.save_pretrained(str(out))
        (out / DONE).write_text("")
    except Exception as error:
        raise StoreError(
            f"Cannot save the policy in {out} ({first_line(error)}); free some space and go on."
        ) from error


def load_checkpoint(
    source: str | Path, dtype: str = "auto", *, trainable: bool = False
) -> "tuple[PreTrainedModel, PreTrainedTokenizerBase]":
    """Model and tokenizer of a checkpoint folder or hub name, ready to generate; an adapter is put on its base
    (frozen unless `trainable`).

    Raises `UsageError` when there is no such model.
    """
    from transformers import AutoModelForCausalLM, AutoTokenizer

    # Broad: what a missing name, a damaged file or an unreachable hub raise differs by library and version.
    try:
        if (Path(source) / "adapter_config.json").exists():
            from peft import AutoPeftModelForCausalLM

            model: Any = AutoPeftModelForCausalLM.from_pretrained(str(source), dtype=dtype, is_trainable=trainable)
        else:
            model = AutoModelForCausalLM.from_pretrained(str(source), dtype=dtype)
        tokenizer = AutoTokenizer.from_pretrained(str(source))
    except Exception as error:
        raise _unknown(str(source), error) from error
    prepare_tokenizer(tokenizer, str(source))
    return model.eval(), tokenizer


def check_checkpoint(config: CheckpointPolicy) -> None:
    """Read the checkpoint's small configuration alone, to find a wrong name early. Raises `UsageError`."""
    from transformers import AutoConfig

    # Broad: what a missing name or an unreachable hub raise differs by library and version.
    try:
        AutoConfig.from_pretrained(config.model)
    except Exception as error:
        raise _unknown(config.model, error) from error


def _unknown(source: str, error: Exception) -> UsageError:
    return UsageError(
        f"Cannot load the model {source!r} ({first_line(error)}); "
        "give the folder of a Transformers checkpoint or a name on the hub."
    )


def prepare_tokenizer(tokenizer: Any, name: str) -> None:
    """Left padding, a padding token, and a way to read tool calls back.

    Raises `UsageError` when tool calls of the model's chat template cannot be read.
    """
    from trl.chat_template_utils import add_response_schema

    tokenizer.padding_side = "left"
    if tokenizer.pad_token is None:
        tokenizer.pad_token = tokenizer.eos_token
    if getattr(tokenizer, "response_template", None) or getattr(tokenizer, "response_schema", None):
        return
    try:
        add_response_schema(tokenizer)
    except (ValueError, AttributeError) as error:
        raise UsageError(
            f"The chat template of {name!r} has no known form of tool calls; set response_template in its "
            "tokenizer_config.json, or use a model such as Qwen/Qwen3-8B."
        ) from error


def _set_threads(threads: int) -> None:
    import torch

    torch.set_num_threads(threads)
