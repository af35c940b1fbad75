import subprocess
import sys
from pathlib import Path

import pytest

from agent_world.errors import StoreError, UsageError
from agent_world.memory.workspace import Outcome, own_workspace
from agent_world.schema import Dropped
from agent_world.settings import Settings


def test_a_second_process_is_told_at_once(tmp_path: Path) -> None:
    code = f"""
from pathlib import Path
from agent_world.errors import UsageError
from agent_world.memory.workspace import own_workspace
from agent_world.settings import Settings
try:
    with own_workspace(Settings(workspace=Path({str(tmp_path / "w")!r}))): print("owned")
except UsageError as error: print(error)
"""
    with own_workspace(Settings(workspace=tmp_path / "w")):
        told = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout
    assert told.startswith("Another process works in")


def test_other_settings_are_refused_and_named(tmp_path: Path) -> None:
    with own_workspace(Settings(workspace=tmp_path, seed=0)):
        pass
    with pytest.raises(UsageError, match="seed differ"), own_workspace(Settings(workspace=tmp_path, seed=1)):
        pass
    with own_workspace(Settings(workspace=tmp_path, seed=0, concurrency=7)):
        pass


def test_fresh_empties_a_workspace_but_no_other_folder(tmp_path: Path) -> None:
    mine, other = tmp_path / "mine", tmp_path / "other"
    with own_workspace(Settings(workspace=mine)) as space:
        space.finish("mine", "airports", Outcome(dropped=(Dropped(kind="theme", id="x", reason="too little"),)))
    with own_workspace(Settings(workspace=mine, seed=5), fresh=True) as space:
        assert space.outcome("mine", "airports") is None
    other.mkdir()
    (other / "letter.txt").write_text("dear")
    with pytest.raises(UsageError, match="not a workspace"), own_workspace(Settings(workspace=other), fresh=True):
        pass
    assert (other / "letter.txt").read_text() == "dear"


def test_outcomes_and_what_was_dropped_come_back(tmp_path: Path) -> None:
    dropped = Dropped(kind="task", id="t1", reason="no_op: scored 1")
    with own_workspace(Settings(workspace=tmp_path)) as space:
        space.finish("tasks", "airports", Outcome(line="12 tasks", dropped=(dropped,), seconds=1.5))
        assert space.outcomes("tasks")["airports"].line == "12 tasks"
        assert space.dropped() == [dropped]


def test_a_workspace_that_cannot_be_made_is_one_sentence(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(StoreError, match="set workspace=FOLDER"), own_workspace(Settings(workspace=tmp_path / "file")):
        pass
