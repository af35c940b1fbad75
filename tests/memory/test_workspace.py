import json
import subprocess
import sys
from pathlib import Path
from typing import Any

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


def settings(workspace: Path, **given: Any) -> Settings:
    return Settings.model_validate({"workspace": workspace, **given})


def coder(**model: Any) -> dict[str, Any]:
    return {"coder": {"engine": "llm", "model": {"name": "openai:strong", **model}}}


def test_settings_count_from_the_first_finished_unit_on_and_are_named_with_what_to_do(tmp_path: Path) -> None:
    with own_workspace(settings(tmp_path, seed=0)) as space:
        assert not space.begun
    with own_workspace(settings(tmp_path, seed=1, mining={"pages": 3})) as space:
        space.pin(settings(tmp_path, seed=1, mining={"pages": 3}))
    refused = r"mining.pages was 3, not 12; seed was 1, not 2; go on .* start over by --fresh of mine, build or evolve"
    with pytest.raises(UsageError, match=refused), own_workspace(settings(tmp_path, seed=2)):
        pass


@pytest.mark.parametrize(
    "later",
    [
        {"concurrency": 7, "executor": "ray", "index": "server"},
        {"roles": coder() | {"miner": {"engine": "procedural"}}},
        {"roles": coder(api_key="k", base_url="http://other/v1", timeout_s=5, retries=9, input_price=1.0)},
        {"web": {"delay_s": 3, "port": 1, "search": {"kind": "tavily", "api_key": "k", "retries": 1}}},
        {"themes": [{"kind": "prd", "path": "new.md"}]},
        {"runtime": {"kind": "local", "call_timeout_s": 9, "max_instances": 3}},
    ],
    ids=["where", "defaults", "model", "search", "themes", "limits"],
)
def test_what_cannot_change_what_is_made_may_change(tmp_path: Path, later: dict[str, Any]) -> None:
    made = {"roles": coder(), "web": {"search": {"kind": "tavily"}}}
    with own_workspace(settings(tmp_path, **made)) as space:
        space.pin(settings(tmp_path, **made))
    with own_workspace(settings(tmp_path, **{**made, **later})):
        pass


def test_settings_of_stages_that_lie_ahead_may_change_until_they_are_reached(tmp_path: Path) -> None:
    with own_workspace(settings(tmp_path)) as space:
        space.finish("mine", "airports", Outcome())
        space.pin(settings(tmp_path))
    later = settings(tmp_path, tasks={"graph": 1}, tools={"max_tools": 3}, sft={"steps": 1}, taxonomy={"types": 2})
    with own_workspace(later) as space:
        space.finish("tasks", "airports", Outcome())
        space.pin(later)
    with own_workspace(later.model_copy(update={"tools": settings(tmp_path).tools})):
        pass
    refused = later.model_copy(update={"tasks": settings(tmp_path).tasks})
    with pytest.raises(UsageError, match=r"tasks.graph was 1, not 12; go on"), own_workspace(refused):
        pass


def test_a_setting_that_came_with_a_later_version_has_its_default_before(tmp_path: Path) -> None:
    with own_workspace(settings(tmp_path)) as space:
        space.pin(settings(tmp_path))
    path = tmp_path / "settings.json"
    old = json.loads(path.read_text())
    del old["mining"]["turns"]
    path.write_text(json.dumps(old))
    with own_workspace(settings(tmp_path)):
        pass
    path.write_text(json.dumps(old | {"gone": 1}))
    with pytest.raises(UsageError, match="setting gone this one does not read"), own_workspace(settings(tmp_path)):
        pass


def test_fresh_empties_a_workspace_but_no_other_folder_and_keeps_added_sources(tmp_path: Path) -> None:
    mine, other = tmp_path / "mine", tmp_path / "other"
    mine.mkdir()
    (mine / "sources.yaml").write_text("themes: []")
    with own_workspace(settings(mine)) as space:
        space.finish("mine", "airports", Outcome(dropped=(Dropped(kind="theme", id="x", reason="too little"),)))
        space.pin(settings(mine))
    with own_workspace(settings(mine, seed=5), fresh=True) as space:
        assert space.outcome("mine", "airports") is None
        assert not space.begun
    assert (mine / "sources.yaml").exists()
    other.mkdir()
    (other / "letter.txt").write_text("dear")
    with own_workspace(settings(other)) as space:
        space.pin(settings(other))
    with pytest.raises(UsageError, match="holds what is not ours"), own_workspace(settings(other), fresh=True):
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
