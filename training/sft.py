"""Supervised cold start on gold conversations (section 3.2.1), by TRL: loss on assistant tokens alone."""

import json
import random
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from agent_world.errors import UsageError
from agent_world.schema import ToolSpec, Trajectory
from agent_world.settings import ChatPolicy, CheckpointPolicy, Settings, TinyPolicy
from agent_world.training.policies import DONE, load_checkpoint, save_checkpoint, template_message
from agent_world.training.renaming import Renaming, particular_tokens

if TYPE_CHECKING:
    from datasets import Dataset

Note = Callable[[str], None]
SAMPLE = 40
"""Conversations of an environment that are enough to see which words are particular to it."""


def train_sft(
    trajectories: Sequence[Trajectory],
    tools: Mapping[str, Sequence[ToolSpec]],
    settings: Settings,
    start: Path,
    out: Path,
    note: Note = lambda line: None,
) -> Path:
    """Train the policy in `start` on `trajectories`; `tools` are those of each environment. Returns `out`.

    The tiny policy trains all its parameters, a checkpoint gets a LoRA adapter. The learning rate ends at a tenth, not
    at nothing, so GRPO finds a policy that still moves. Stopped at any moment and called again, it goes on from its
    last saved step; finished, it returns at once.
    """
    if isinstance(settings.policy, ChatPolicy):
        raise UsageError("A chat policy cannot be trained; set policy.kind to tiny or checkpoint.")
    if (out / DONE).exists():
        return out
    if not trajectories:
        raise UsageError("There are no gold conversations to train on; synthesize tasks first.")
    from transformers import PrinterCallback
    from trl import SFTConfig, SFTTrainer  # type: ignore[attr-defined]

    from agent_world.training.resume import NoteProgress, last_checkpoint, quiet_training

    quiet_training()
    config = settings.sft
    model, tokenizer = load_checkpoint(start, weights_dtype(settings), trainable=True)
    tiny = isinstance(settings.policy, TinyPolicy)
    dataset = conversations(trajectories, tools, random.Random(f"{settings.seed}:tools") if tiny else None)
    trainer = (_answer_trainer() if tiny else SFTTrainer)(
        model=model,
        processing_class=tokenizer,
        train_dataset=dataset,
        peft_config=None if tiny or hasattr(model, "peft_config") else lora(),
        callbacks=[NoteProgress(note, ("loss",))],
        args=SFTConfig(
            output_dir=str(out / "trainer"),
            max_steps=config.steps,
            per_device_train_batch_size=config.batch,
            learning_rate=config.learning_rate,
            max_length=config.max_tokens,
            save_steps=config.save_steps,
            lr_scheduler_type="warmup_stable_decay",
            lr_scheduler_kwargs={"num_decay_steps": int(config.steps * config.decay), "min_lr_ratio": 0.1},
            warmup_steps=min(20, config.steps - int(config.steps * config.decay)),
            adam_beta2=0.95,
            assistant_only_loss=True,
            train_sampling_strategy="group_by_length",
            **trainer_options(settings),
        ),
    )
    if tiny:
        trainer.data_collator = _tiny_collator(trainer.data_collator, tokenizer, trajectories, tools, settings)
    trainer.remove_callback(PrinterCallback)
    trainer.train(resume_from_checkpoint=last_checkpoint(out / "trainer"))
    save_checkpoint(trainer.model, tokenizer, out)
    return out


def conversations(
    trajectories: Sequence[Trajectory], tools: Mapping[str, Sequence[ToolSpec]], shuffle: random.Random | None = None
) -> "Dataset":
    """TRL rows `messages`, `tools`. Arguments stay JSON text: Arrow would merge objects of all rows into one struct
    full of nulls; tools are JSON text for the same reason.

    With `shuffle`, a conversation is shown the tools it uses among a random part of the others, in random order: so
    which tool is right has to be read from the list, and lists are shorter and cheaper.
    """
    from datasets import Dataset

    missing = sorted({t.environment for t in trajectories} - set(tools))
    if missing:
        raise UsageError(f"No tools are known for the environments {', '.join(missing)}; write their tools first.")
    rows = []
    for trajectory in trajectories:
        specs = tools[trajectory.environment]
        shown = specs if shuffle is None else _some(specs, trajectory, shuffle)
        public = json.dumps([spec.public() for spec in shown])
        rows.append({"messages": [_row(m) for m in trajectory.messages], "tools": public})
    return Dataset.from_list(rows)


def _some(specs: Sequence[ToolSpec], trajectory: Trajectory, rng: random.Random) -> list[ToolSpec]:
    used = {call["function"]["name"] for m in trajectory.messages for call in m.get("tool_calls") or ()}
    others = [spec for spec in specs if spec.name not in used]
    shown = [spec for spec in specs if spec.name in used] + rng.sample(others, rng.randint(0, len(others)))
    rng.shuffle(shown)
    return shown


def _row(message: Mapping[str, Any]) -> dict[str, Any]:
    calls = [{"type": "function", "function": call["function"]} for call in message.get("tool_calls") or ()]
    return {"role": message["role"], "content": message.get("content") or "", "tool_calls": calls or None}


def _tiny_collator(
    inner: Any,
    tokenizer: Any,
    trajectories: Sequence[Trajectory],
    tools: Mapping[str, Sequence[ToolSpec]],
    settings: Settings,
) -> Any:
    sample: dict[str, list[list[int]]] = {}
    for trajectory in trajectories:
        texts = sample.setdefault(trajectory.environment, [])
        if len(texts) < SAMPLE:
            public = [spec.public() for spec in tools[trajectory.environment]]
            messages = [template_message(message) for message in trajectory.messages]
            texts.append(tokenizer.apply_chat_template(messages, tools=public, return_dict=False))
    groups = particular_tokens(tokenizer, sample)
    return Renaming(Unmasked(inner), groups, len(tokenizer), settings.sft.rename, settings.seed)


def _answer_trainer() -> Any:
    """TRL's trainer, but logits are made for the trained tokens alone: a tenth of a conversation. With a model this
    small the output layer costs as much as all others, so a step takes little more than half the time."""
    import torch
    from trl import SFTTrainer  # type: ignore[attr-defined]

    class AnswerTrainer(SFTTrainer):
        def compute_loss(self, model: Any, inputs: dict[str, Any], *_: Any, **__: Any) -> "torch.Tensor":
            labels = inputs["labels"][:, 1:]
            trained = labels != -100
            hidden = model.model(input_ids=inputs["input_ids"]).last_hidden_state[:, :-1][trained]
            return torch.nn.functional.cross_entropy(model.lm_head(hidden), labels[trained])

    return AnswerTrainer


class Unmasked:
    """A collator without padding mask. Padding is on the right and attention causal, so no real token sees it; on a
    CPU attention without a mask is twice as fast."""

    def __init__(self, inner: Any) -> None:
        self.inner = inner

    def __call__(self, rows: list[dict[str, Any]]) -> dict[str, Any]:
        batch: dict[str, Any] = self.inner(rows)
        batch["attention_mask"] = batch["attention_mask"].new_ones(batch["attention_mask"].shape)
        return batch


def lora() -> Any:
    """Adapter for checkpoints: rank 16 on all linear layers."""
    from peft import LoraConfig

    return LoraConfig(r=16, lora_alpha=32, target_modules="all-linear", task_type="CAUSAL_LM")


def trainer_options(settings: Settings) -> dict[str, Any]:
    """What SFT and GRPO share: quiet, seeded, resumable, and on the CPU where there is nothing else."""
    import torch

    gpu = torch.cuda.is_available() and isinstance(settings.policy, CheckpointPolicy)
    if isinstance(settings.policy, TinyPolicy):
        torch.set_num_threads(settings.policy.threads)
    return {
        "seed": settings.seed,
        "use_cpu": not gpu,
        "bf16": gpu,
        "gradient_checkpointing": gpu,
        "report_to": "none",
        "disable_tqdm": True,
        "logging_steps": 10,
        "save_total_limit": 2,
        "dataloader_pin_memory": gpu,
        "weight_decay": 0.0,
    }


def weights_dtype(settings: Settings) -> str:
    return settings.policy.dtype if isinstance(settings.policy, CheckpointPolicy) else "float32"
