"""Writing whole files: the old one or the new one, and nothing else."""

import os
from pathlib import Path

from agent_world.memory.store import write_text


def test_what_a_killed_writer_left_goes_with_the_next_write(tmp_path: Path) -> None:
    dead, alive = tmp_path / ".a.json.4194305.tmp", tmp_path / f".a.json.{os.getppid()}.tmp"
    for path in (dead, alive):
        path.write_text("half")
    write_text(tmp_path / "a.json", "{}")
    assert not dead.exists()  # a number beyond the largest process id that Linux gives
    assert alive.exists()
    assert (tmp_path / "a.json").read_text() == "{}"
