"""`agent-world bench` as a person and a script meet it."""

import json
from pathlib import Path

import pytest

from agent_world.cli import main


def test_a_passing_case_is_shown_with_the_protections_that_hold(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["bench", "conformance", "--only", "a fresh instance has no changes"]) == 0
    said = capsys.readouterr().out
    assert "seccomp" in said
    assert "1 passed" in said


def test_json_is_for_machines_alone(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["bench", "conformance", "--only", "a fresh instance has no changes", "--json"]) == 0
    report = json.loads(capsys.readouterr().out)
    assert [r["status"] for r in report["results"]] == ["passed"]
    assert report["protections"]


def test_a_failing_case_is_named_at_once_with_the_reason(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    config = tmp_path / "mine.yaml"
    config.write_text("workspace: w\nruntime: {kind: mcp, command: [no-such-server]}\n")
    words = ["--backend", "mcp", "--config", str(config), "--only", "a fresh instance has no changes"]
    assert main(["bench", "conformance", *words]) == 1
    said = capsys.readouterr().out
    named = said.index("failed: behaviour: a fresh instance has no changes: raised SandboxError")
    assert named < said.index("1 failed") < len(said)
    assert main(["bench", "conformance", *words, "--json"]) == 1
    told = capsys.readouterr()
    assert "no program 'no-such-server'" in json.loads(told.out)["results"][0]["reason"]
    assert "failed: behaviour: a fresh instance has no changes" in told.err


@pytest.mark.parametrize(
    ("words", "sentence"),
    [
        (["--only", "no such case"], "No case contains 'no such case'"),
        (["--backend", "e2b", "--rung", "confined"], "--rung goes with the local backend alone"),
        (["--backend", "nowhere"], "nowhere"),
        (["--backend", "mcp", "--config", "configs/quickstart.yaml"], "is of backend local, not mcp"),
    ],
)
def test_wrong_words_end_in_one_sentence(words: list[str], sentence: str, capsys: pytest.CaptureFixture[str]) -> None:
    if "--config" in words:
        words = [str(Path(__file__).parents[3] / word) if word.endswith(".yaml") else word for word in words]
    assert main(["bench", "conformance", *words]) == 2
    assert sentence in capsys.readouterr().err


def test_benchmarks_are_listed(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["bench", "list", "--json"]) == 0
    assert {row["name"] for row in json.loads(capsys.readouterr().out)} >= {"conformance"}
