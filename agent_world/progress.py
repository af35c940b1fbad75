"""What a person sees while long work runs: one line of plain words a stage, and what goes on right now.

On a terminal the current activity is one live line below the finished stages, with a bar where the number of units is
known; elsewhere (a log file) an activity line is printed at most every ten seconds. Libraries stay quiet:
`quiet_libraries` is called by the entry points.
"""

import logging
import os
import time
import warnings
from collections.abc import Iterator
from contextlib import contextmanager

from rich.console import Console, RenderableType
from rich.progress import (
    BarColumn,
    MofNCompleteColumn,
    ProgressColumn,
    SpinnerColumn,
    Task,
    TextColumn,
    TimeElapsedColumn,
)
from rich.progress import Progress as Bar

NOTE_EVERY_S = 10.0


class Progress:
    """Stage lines and the current activity. Not shared between threads."""

    def __init__(self, console: Console | None = None) -> None:
        self.console = console or Console(highlight=False)
        self._live: Bar | None = None
        self._stage = ""
        self._printed = 0.0

    def note(self, line: str) -> None:
        """Show what goes on now."""
        if self._live is not None:
            self._live.update(self._live.task_ids[0], description=f"{self._stage}: {line}")
        elif time.monotonic() - self._printed >= NOTE_EVERY_S:
            self._printed = time.monotonic()
            self.console.print(f"  {self._stage}: {line}" if self._stage else line, markup=False, soft_wrap=True)

    def step(self, done: int, total: int, line: str) -> None:
        """Show that `done` of `total` units are done, and what came of the last."""
        if self._live is None:
            self.note(f"{done} of {total}: {line}")
        else:
            self._live.update(self._live.task_ids[0], completed=done, total=total)
            self.note(line)

    def say(self, line: str) -> None:
        """A line that stays."""
        self.console.print(line, markup=False, soft_wrap=True)

    @contextmanager
    def stage(self, name: str) -> Iterator[None]:
        """Everything noted inside belongs to stage `name`."""
        self._stage, self._printed = name, time.monotonic()
        if self.console.is_terminal:
            self._live = Bar(*_columns(), console=self.console, transient=True)
            self._live.add_task(name, total=None)
            self._live.start()
        try:
            yield
        finally:
            if self._live is not None:
                self._live.stop()
            self._live, self._stage = None, ""


class _Known(ProgressColumn):
    """Another column, shown once the total is known."""

    def __init__(self, column: ProgressColumn) -> None:
        super().__init__()
        self.column = column

    def render(self, task: Task) -> RenderableType:
        return "" if task.total is None else self.column(task)


def _columns() -> list[ProgressColumn]:
    known = (BarColumn(bar_width=24), MofNCompleteColumn(), TimeElapsedColumn())
    return [SpinnerColumn(), *map(_Known, known), TextColumn("{task.description}", markup=False)]


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
