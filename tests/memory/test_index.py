import subprocess
import sys
import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pytest

from agent_world.errors import StoreError
from agent_world.memory.embedder import Vectors
from agent_world.memory.index import Entry, entries_of, open_index, search_workspace
from agent_world.memory.store import write_records
from agent_world.schema import Theme
from tests.worlds import make_library


@dataclass(frozen=True)
class Letters:
    """An embedder of letter counts, so that two embedders of one size can differ."""

    name: str
    size: int = 8

    def embed(self, texts: Sequence[str]) -> Vectors:
        counts = np.array([[text.lower().count(c) + 0.1 for c in "abcdefgh"] for text in texts])
        return np.asarray(counts / np.linalg.norm(counts, axis=1, keepdims=True), dtype=np.float32)


def entries(start: int, number: int) -> list[Entry]:
    return [
        Entry(kind="theme", id=f"t{i}", name=f"T{i}", text="abcdefgh"[i % 8] * 3) for i in range(start, start + number)
    ]


@pytest.fixture
def workspace(tmp_path: Path) -> Path:
    make_library(tmp_path / "environments" / "library")
    theme = Theme(id="weather", name="Weather", description="Rain and wind at airports.", kind="prd", source="a.md")
    write_records(tmp_path / "themes.jsonl", [theme])
    return tmp_path


def test_search_finds_tools_environments_and_themes_by_meaning(workspace: Path) -> None:
    best = search_workspace(workspace, "how many times was a novel borrowed", 3)[0]
    assert (best.kind, best.id, best.name) == ("tool", "library.count_loans_by_book", "count_loans_by_book")
    assert search_workspace(workspace, "is there a storm", 3)[0].id == "weather"
    assert search_workspace(workspace, "a public lending library", 1, kind="environment")[0].id == "library"
    scores = [hit.score for hit in search_workspace(workspace, "books", 12)]
    assert len(scores) == 12 == len(entries_of(workspace))
    assert scores == sorted(scores, reverse=True)
    assert scores[0] <= 1


def test_a_missing_damaged_or_outdated_index_is_built_again(workspace: Path) -> None:
    expected = search_workspace(workspace, "add a person", 4)
    for damage in (
        lambda: next((workspace / "index").glob("chroma_*/chroma.sqlite3")).write_bytes(b"damaged" * 1000),
        lambda: (workspace / "index" / "index.json").write_text("{"),
        lambda: (workspace / "index" / "index.json").unlink(),
    ):
        damage()
        assert search_workspace(workspace, "add a person", 4) == expected
    write_records(workspace / "themes.jsonl", [])
    assert "weather" not in [hit.id for hit in search_workspace(workspace, "is there a storm", 20)]
    assert len(list((workspace / "index").glob("chroma_*"))) == 1


def test_an_index_in_order_is_not_built_again(tmp_path: Path) -> None:
    with open_index(tmp_path, Letters("A")) as index:
        assert index.refresh(entries(0, 20))
        assert not index.refresh(entries(0, 20))
        assert index.refresh(entries(0, 21))
        assert index.count() == 21


def test_another_embedder_of_the_same_size_is_refused_by_name(tmp_path: Path) -> None:
    with open_index(tmp_path, Letters("A")) as index:
        index.add(entries(0, 5))
    with (
        pytest.raises(StoreError, match=r"built with A \(size 8\), not with B \(size 8\)"),
        open_index(tmp_path, Letters("B")),
    ):
        pass
    with pytest.raises(StoreError, match=r"built with A \(size 8\), not with all-MiniLM"), open_index(tmp_path):
        pass
    with open_index(tmp_path, Letters("A")) as index:
        assert index.search("ccc", 1)[0].text == "ccc"


ADD = """
import sys, time
from pathlib import Path
sys.path.insert(0, sys.argv[3])
from agent_world.memory.index import open_index
from tests.memory.test_index import Letters, entries
with open_index(Path(sys.argv[1]), Letters("A"), wait_s=60) as index:
    for i in range(50):
        index.add(entries(int(sys.argv[2]) + i, 1))
"""


def test_two_processes_take_turns_and_lose_nothing(tmp_path: Path) -> None:
    root = str(Path(__file__).parents[2])
    running = [subprocess.Popen([sys.executable, "-c", ADD, str(tmp_path), str(start), root]) for start in (0, 50)]
    assert [process.wait(120) for process in running] == [0, 0]
    with open_index(tmp_path, Letters("A")) as index:
        assert index.count() == 100
        assert len(index.search("aaa", 100)) == 100


def test_a_second_owner_is_told_within_seconds(tmp_path: Path) -> None:
    with open_index(tmp_path, Letters("A")):
        started = time.monotonic()
        with pytest.raises(StoreError, match="Another process has the index"), open_index(tmp_path, Letters("A"), 0.5):
            pass
        assert time.monotonic() - started < 2
