"""What a person sees while long work runs: one line of plain words a stage, and what goes on right now.

On a terminal the current activity is one live line below the finished stages; elsewhere (a log file) an activity
line is printed at most every ten seconds. Libraries stay quiet: `quiet_libraries` is called by the entry points.
"""

import logging
import os
import time
import warnings
from collections.abc import Iterator
from contextlib import contextmanager

from rich.console import Console
from rich.status import Status

NOTE_EVERY_S = 10.0


class Progress:
    """Stage lines and the current activity. Not shared between threads."""

    def __init__(self, console: Console | None = None) -> None:
        self.console = console or Console(highlight=False)
        self._status: Status | None = None
        self._stage = ""
        self._printed = 0.0

    def note(self, line: str) -> None:
        """Show what goes on now."""
        if self._status is not None:
            self._status.update(f"{self._stage}: {line}")
        elif time.monotonic() - self._printed >= NOTE_EVERY_S:
            self._printed = time.monotonic()
            self.console.print(f"  {self._stage}: {line}" if self._stage else line, markup=False, soft_wrap=True)

    def say(self, line: str) -> None:
        """A line that stays."""
        self.console.print(line, markup=False, soft_wrap=True)

    @contextmanager
    def stage(self, name: str) -> Iterator[None]:
        """Everything noted inside belongs to stage `name`."""
        self._stage, self._printed = name, time.monotonic()
        if self.console.is_terminal:
            self._status = self.console.status(name)
            self._status.start()
        try:
            yield
        finally:
            if self._status is not None:
                self._status.stop()
            self._status, self._stage = None, ""


def silent() -> Progress:
    """Shows nothing: for calls from Python and tests."""
    return Progress(Console(quiet=True))


def quiet_libraries() -> None:
    """Keep third-party logs and bars off the screen; warnings and errors of ours stay."""
    for name, value in {
        "TOKENIZERS_PARALLELISM": "false",
        "TRANSFORMERS_VERBOSITY": "error",
        "HF_HUB_OFFLINE": "1",
        "HF_DATASETS_DISABLE_PROGRESS_BARS": "1",
        "TQDM_DISABLE": "1",
        "ANONYMIZED_TELEMETRY": "False",
        "LANGSMITH_TRACING": "false",
        "TRL_EXPERIMENTAL_SILENCE": "1",
    }.items():
        os.environ.setdefault(name, value)
    logging.basicConfig(level=logging.ERROR, format="%(name)s: %(message)s")
    warnings.filterwarnings("ignore")
