import json
from pathlib import Path

import pytest

from agent_world.cli import main


def test_specs_prints_counts_and_rejections(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "tools.json"
    path.write_text(json.dumps([{"name": "a b", "description": "d"}, {}]))
    assert main(["specs", str(path)]) == 0
    shown = capsys.readouterr().out
    assert "tools loaded" in shown
    assert "it has no name" in shown
    assert main(["specs", str(path), "--json"]) == 0
    printed = json.loads(capsys.readouterr().out)
    assert (printed["tools"], printed["changes"]) == (1, {"absent": 1, "name": 1})
    assert printed["rejections"] == ["tools.json: tool 1: it has no name"]


def test_specs_names_a_missing_file(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["specs", str(tmp_path / "gone.json")]) == 2
    assert "gone.json" in capsys.readouterr().err
