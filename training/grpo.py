"""Multi-environment RL (section 3.2.1): GRPO by TRL, each rollout in its own instance of its task's environment."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from agent_world.errors import UsageError
from agent_world.memory.store import Bundle
from agent_world.schema import Task
from agent_world.settings import ChatPolicy, GRPOSettings, Settings, TinyPolicy
from agent_world.tools.sync import open_sync_runtime
from agent_world.training.policies import DONE, load_checkpoint, save_checkpoint
from agent_world.training.sft import Note, lora, trainer_options, weights_dtype
from agent_world.training.trl_env import Rollouts, environment_factories, reward, rows

SHOWN = ("reward", "kl", "frac_reward_zero_std", "completions/clipped_ratio")
UPDATES = 2
"""Optimizer steps a batch of rollouts: with one, the policy ratio is 1 and the clip does nothing."""
MICRO_BATCH = 32


def train_grpo(
    tasks: Sequence[Task],
    bundles: Mapping[str, Bundle],
    settings: Settings,
    start: Path,
    out: Path,
    note: Note = lambda line: None,
    round_number: int = 0,
) -> Path:
    """Train the policy in `start` on `tasks` in their environments; `bundles` by environment id. Returns `out`.

    A task listed twice is drawn twice as often. Metrics of every step go to `out/metrics.jsonl`. Stopped at any
    moment and called again, it goes on from its last saved step; finished, it returns at once. `round_number` seeds
    the draw, so that rounds see different orders.
    """
    if isinstance(settings.policy, ChatPolicy):
        raise UsageError("A chat policy cannot be trained; set policy.kind to tiny or checkpoint.")
    if (out / DONE).exists():
        return out
    if not tasks:
        raise UsageError("There are no tasks to train on; synthesize some first.")
    used = {name: bundles[name] for name in sorted({t.environment for t in tasks} & set(bundles))}
    dataset = rows(tasks, bundles)
    live = settings.grpo.tasks_per_step * settings.grpo.rollouts
    # One instance a rollout, and room for verifiers; fewer would make the trainer wait for itself.
    roomy = settings.runtime.model_copy(update={"max_instances": max(settings.runtime.max_instances, live + 8)})
    with open_sync_runtime(roomy) as runtime:
        rollouts = Rollouts(runtime, used, {task.id: task for task in tasks}, settings.seed)
        trainer, tokenizer = _trainer(rollouts, dataset, settings, start, out, note, round_number)
        _train(trainer, out)
    save_checkpoint(trainer.model, tokenizer, out)
    return out


def _train(trainer: Any, out: Path) -> None:
    from agent_world.training.resume import last_checkpoint

    trainer.train(resume_from_checkpoint=last_checkpoint(out / "trainer"))


def _trainer(
    rollouts: Rollouts,
    dataset: list[dict[str, Any]],
    settings: Settings,
    start: Path,
    out: Path,
    note: Note,
    round_number: int,
) -> tuple[Any, Any]:
    from datasets import Dataset
    from transformers import PrinterCallback
    from trl import GRPOConfig, GRPOTrainer  # type: ignore[attr-defined]

    from agent_world.training.resume import NoteProgress, quiet_training

    quiet_training()
    tiny = isinstance(settings.policy, TinyPolicy)
    model, tokenizer = load_checkpoint(start, weights_dtype(settings), trainable=True)
    options = trainer_options(settings) | grpo_options(settings.grpo)
    options["seed"] = settings.seed + round_number
    out.mkdir(parents=True, exist_ok=True)
    factories: Any = environment_factories(rollouts)
    trainer = GRPOTrainer(
        model=model,
        processing_class=tokenizer,
        reward_funcs=[reward],
        train_dataset=Dataset.from_list(dataset),
        environment_factory=factories,
        peft_config=None if tiny or hasattr(model, "peft_config") else lora(),
        callbacks=[NoteProgress(note, SHOWN, out / "metrics.jsonl")],
        args=GRPOConfig(output_dir=str(out / "trainer"), **options),
    )
    trainer.remove_callback(PrinterCallback)
    return trainer, tokenizer


def grpo_options(config: GRPOSettings) -> dict[str, Any]:
    """The settings in TRL's terms. A step of ours is one batch of rollouts, hence `UPDATES` steps of the trainer."""
    share = config.tasks_per_step * config.rollouts // UPDATES
    micro = next(size for size in range(min(MICRO_BATCH, share), 0, -1) if share % size == 0)
    accumulate = share // micro
    return {
        "max_steps": config.steps * UPDATES,
        "per_device_train_batch_size": micro,
        "gradient_accumulation_steps": accumulate,
        "steps_per_generation": accumulate * UPDATES,
        "num_generations": config.rollouts,
        "learning_rate": config.learning_rate,
        "lr_scheduler_type": "constant",
        "temperature": config.temperature,
        "top_p": config.top_p,
        "epsilon": config.epsilon,
        "epsilon_high": config.epsilon_high,
        "beta": config.beta,
        "loss_type": "dapo",
        "max_completion_length": config.max_tokens,
        "max_tool_calling_iterations": config.max_calls,
        "generation_kwargs": {"max_new_tokens": config.turn_tokens},
        "mask_truncated_completions": True,
        "logging_steps": 1,
        "save_steps": config.save_steps * UPDATES,
    }
