"""What a person meets who types something wrong, or whose machine is in the way: a sentence, an exit code, no trace."""

import json
import os
import shutil
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from typer.main import get_command

from agent_world.cli import app, main
from tests.worlds import make_library

ROOT = Path(__file__).parent.parent
CONFIG = str(ROOT / "configs" / "quickstart.yaml")
ONE_THEME = 'themes=[{"kind": "prd", "path": "../examples/themes/storm_watch.md"}]'


def told(capsys: pytest.CaptureFixture[str]) -> str:
    """What was said on stderr: one line."""
    said = capsys.readouterr().err.strip()
    assert said
    assert "\n" not in said
    return said


@pytest.mark.parametrize(
    ("words", "code", "sentence"),
    [
        (["evolve", "-c", "nowhere.yaml"], 2, "There is no configuration nowhere.yaml"),
        (["evolve", "-c", CONFIG, "minning.pages=3"], 2, "did you mean 'mining'?"),
        (["evolve", "-c", CONFIG, "rounds=x"], 2, "setting 'rounds'"),
        (["evolve", "--frsh"], 2, "--fresh"),
        (["evolv"], 2, "evolv"),
        (["list", "-c", CONFIG, "workspace=/nowhere/at/all"], 2, "There is no workspace at /nowhere/at/all"),
        (["evolve", "-c", CONFIG, "workspace=/proc/w"], 1, "Cannot use the workspace /proc/w"),
    ],
)
def test_wrong_words_end_in_one_sentence(
    words: list[str], code: int, sentence: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(words) == code
    assert sentence in told(capsys)


@pytest.mark.parametrize(
    ("override", "sentence"),
    [
        ("roles={coder: {engine: llm, model: {name: 'nosuch:model'}}}", "Cannot open the model 'nosuch:model'"),
        ("policy={kind: checkpoint, model: nowhere/model}", "nowhere/model"),
        ("themes=[{kind: prd, path: nothing.md}]", "nothing.md"),
        ("themes=[{kind: mcp, command: [no-such-server], name: None there}]", "no-such-server"),
    ],
)
def test_what_can_be_known_at_the_start_is_said_at_the_start(
    override: str, sentence: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["evolve", "-c", CONFIG, f"workspace={tmp_path / 'w'}", override]) == 2
    assert sentence in told(capsys)


def test_an_occupied_port_is_named_with_its_setting(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    with socket.socket() as other:
        other.bind(("127.0.0.1", 0))
        other.listen()
        port = other.getsockname()[1]
        words = ["build", "-c", CONFIG, f"workspace={tmp_path / 'w'}", f"web.port={port}", ONE_THEME]
        assert main(words) == 2
    said = told(capsys)
    assert str(port) in said
    assert "web.port" in said


def test_an_unreachable_search_is_named(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    off = ["web.serve_examples=false", "web.search=http://127.0.0.1:9/search?q={query}"]
    assert main(["build", "-c", CONFIG, f"workspace={tmp_path / 'w'}", ONE_THEME, *off]) == 1
    assert "127.0.0.1:9" in told(capsys)


@pytest.mark.skipif(shutil.which("unshare") is None, reason="needs unshare to mount a small disk")
def test_a_full_disk_is_said_plainly_and_nothing_half_written_stays(tmp_path: Path) -> None:
    """On a real full disk: a tmpfs of 64 KiB, mounted in a namespace of its own."""
    fill = "mkdir small && mount -t tmpfs -o size=64k none small && dd if=/dev/zero of=small/fill bs=1k status=none"
    build = f"{sys.executable} -m agent_world build -c {CONFIG} workspace=small/w '{ONE_THEME}'"
    script = f"{fill}; {build} web.serve_examples=false"
    inside = subprocess.run(
        ["unshare", "-rm", "sh", "-c", script + "; code=$?; find small -name '*.tmp'; exit $code"],
        cwd=tmp_path, capture_output=True, text=True, check=False,
    )  # fmt: skip
    if "unshare" in inside.stderr or "mount:" in inside.stderr:
        pytest.skip("this machine allows no mounts in user namespaces")
    assert inside.returncode == 1, inside.stderr
    assert "Traceback" not in inside.stderr
    assert "free some space" in inside.stderr
    assert ".tmp" not in inside.stdout


@pytest.mark.browser
def test_ctrl_c_leaves_a_workspace_that_goes_on(tmp_path: Path) -> None:
    web = ["web.port=8764", "web.search=http://127.0.0.1:8764/search?q={query}&format=json"]
    words = [sys.executable, "-m", "agent_world", "build", "-c", CONFIG, f"workspace={tmp_path / 'w'}", ONE_THEME, *web]
    process = subprocess.Popen(words, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, cwd=ROOT)
    deadline = time.monotonic() + 60
    while not list(tmp_path.glob("w/mined/*/raw/*")):
        assert time.monotonic() < deadline
        time.sleep(0.05)
    os.kill(process.pid, signal.SIGINT)
    _, said = process.communicate(timeout=30)
    assert process.returncode == 130
    assert said.strip() == "Stopped. What is finished is kept; run the same command again to go on."


def test_an_unknown_environment_is_answered_with_those_there_are(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    config = tmp_path / "c.yaml"
    config.write_text(f"workspace: {tmp_path / 'w'}\n")
    make_library(tmp_path / "w" / "environments" / "library")
    assert main(["tasks", "list", "librarry", "-c", str(config)]) == 2
    assert "there are: library" in told(capsys)


def test_the_tool_graph_is_made_drawn_and_counted(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    config = tmp_path / "c.yaml"
    config.write_text(f"workspace: {tmp_path / 'w'}\n")
    bundle = make_library(tmp_path / "w" / "environments" / "library")
    for _ in range(2):  # made, then read
        assert main(["tasks", "graph", "library", "-c", str(config), "--json"]) == 0
        found = json.loads(capsys.readouterr().out)
        count = len(bundle.tools())
        assert found["tools"] == count
        assert sum(found["edges"].values()) == count * (count - 1)
        assert found["edges"]["strong"] > 0
        assert 0 < found["seen_to_flow"] <= found["bindings"]
        assert "<svg" in Path(found["picture"]).read_text()
    assert main(["tasks", "graph", "library", "-c", str(config)]) == 0
    assert "10 tools, 90 edges" in capsys.readouterr().out


def test_tasks_are_made_listed_and_validated_from_the_command_line(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    config = tmp_path / "c.yaml"
    config.write_text(f"workspace: {tmp_path / 'w'}\ntasks: {{graph: 3, program: 1}}\n")
    make_library(tmp_path / "w" / "environments" / "library")
    assert main(["tasks", "synthesize", "library", "-c", str(config)]) == 0
    capsys.readouterr()
    assert main(["tasks", "list", "library", "-c", str(config), "--json"]) == 0
    tasks = json.loads(capsys.readouterr().out)
    file = tmp_path / "w" / "environments" / "library" / "tasks.jsonl"
    file.write_text(file.read_text().replace('"gate only"', '"pending"'))
    assert main(["tasks", "validate", "library", "-c", str(config), "--write", "--json"]) == 0
    checked = json.loads(capsys.readouterr().out)
    assert "pending" not in file.read_text(), "the verdicts are kept with the tasks"
    assert len(tasks) == len(checked) == 4
    assert {row["status"] for row in checked} == {"gate only"}
    assert main(["tasks", "blind", "library", "-c", str(config), "--json"]) == 0
    read = json.loads(capsys.readouterr().out)
    assert (read["sampled"], read["determined"], read["failures"]) == (4, 4, [])


def test_data_of_others_becomes_an_environment(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "data").mkdir()
    (tmp_path / "data" / "pets.json").write_text('[{"id": "p1", "toys": [{"kind": "ball"}]}, {"id": "p2", "toys": []}]')
    words = [
        "import",
        "database",
        str(tmp_path / "data"),
        "--name",
        "Pets",
        "-c",
        CONFIG,
        f"workspace={tmp_path / 'w'}",
    ]
    assert main(words) == 0
    assert "pet_toys.pet_id -> pets.id holds for every row." in capsys.readouterr().out
    assert main(words) == 2
    assert "There is already an environment" in told(capsys)


def test_every_verb_that_reads_a_configuration_takes_settings_on_top() -> None:
    def verbs(command: Any, path: str) -> Iterator[tuple[str, Any]]:
        for name, inner in getattr(command, "commands", {}).items():
            yield from verbs(inner, f"{path} {name}".strip())
        if not hasattr(command, "commands"):
            yield path, command

    without = {
        path
        for path, command in verbs(get_command(app), "")
        if "config" in {p.name for p in command.params}
        and not {"overrides", "words", "source"} & {p.name for p in command.params}
    }
    assert without == {"import mcp", "bench conformance"}  # a server's command follows; a backend is certified as it is
