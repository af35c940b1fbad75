"""What lets a trainer be killed and started again, and be followed while it runs."""

import json
import logging
import os
import warnings
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

from transformers import TrainerCallback


def last_checkpoint(folder: Path) -> str | None:
    """The newest whole checkpoint of a trainer's folder; one cut short by a kill is passed over."""
    found = sorted(folder.glob("checkpoint-*"), key=lambda path: int(path.name.rsplit("-", 1)[1]), reverse=True)
    return next((str(path) for path in found if _whole(path)), None)


def _whole(path: Path) -> bool:
    """The trainer writes its state last."""
    try:
        return "global_step" in json.loads((path / "trainer_state.json").read_text())
    except (OSError, ValueError):
        return False


def quiet_training() -> None:
    """Keep the libraries' remarks on models of our own making off the screen; errors stay."""
    import datasets
    import transformers

    os.environ["TRL_EXPERIMENTAL_SILENCE"] = "1"  # a dict of environments is experimental there; TRL is pinned
    datasets.disable_progress_bars()
    logs: Any = transformers.logging
    logs.set_verbosity_error()
    logs.disable_progress_bar()
    for name in ("trl", "accelerate", "peft"):
        logging.getLogger(name).setLevel(logging.ERROR)
    warnings.filterwarnings("ignore", module=r"(trl|transformers|torch|accelerate|peft)\b")


class NoteProgress(TrainerCallback):
    """Says which step a trainer is at, with the chosen metrics, and keeps all metrics in a JSON Lines file."""

    def __init__(self, note: Callable[[str], None], shown: Sequence[str], metrics: Path | None = None) -> None:
        self.note = note
        self.shown = shown
        self.metrics = metrics

    def on_step_end(self, args: Any, state: Any, control: Any, **kwargs: Any) -> None:
        if state.global_step % max(1, args.logging_steps):
            self.note(f"step {state.global_step} of {state.max_steps}")

    def on_log(self, args: Any, state: Any, control: Any, logs: dict[str, Any] | None = None, **kwargs: Any) -> None:
        values = [f"{name} {logs[name]:.3g}" for name in self.shown if logs and name in logs]
        self.note(", ".join([f"step {state.global_step} of {state.max_steps}", *values]))
        if self.metrics is not None:
            # The history is part of every checkpoint, so after a resume the file has no step twice.
            self.metrics.write_text("".join(json.dumps(entry) + "\n" for entry in state.log_history))
