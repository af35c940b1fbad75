"""What a person sees while long work runs."""

import io
import re

from rich.console import Console

from agent_world.progress import Progress


def shown(terminal: bool) -> str:
    """What is written of a stage with four units, one of which ended."""
    out = io.StringIO()
    progress = Progress(Console(file=out, force_terminal=terminal, width=100, color_system=None))
    with progress.stage("Mining"):
        progress.note("searching for [storms]")
        progress.step(1, 4, "storm watch, 3 tables")
    progress.say("Mining: 4 databases")
    return re.sub(r"\x1b\[[0-9;?]*[A-Za-z]", "", out.getvalue())


def test_a_terminal_shows_a_bar_once_the_number_of_units_is_known() -> None:
    assert re.search(r"━.* 1/4 .*Mining: storm watch, 3 tables", shown(terminal=True))


def test_a_log_file_gets_lines_alone() -> None:
    assert shown(terminal=False) == "Mining: 4 databases\n"
