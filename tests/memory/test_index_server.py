"""The index on a real Chroma server: the same answers, one owner, one embedder, and a clear word where it is down."""

import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import httpx
import pytest

from agent_world.errors import StoreError, UsageError
from agent_world.memory.index import Hit, entries_of, open_index
from agent_world.settings import IndexConfig, LocalIndex, ServerIndex
from tests.memory.test_index import Letters, entries, workspace
from tests.tools.web.sites import free_port

__all__ = ["workspace"]  # a fixture


@pytest.fixture(scope="module")
def address(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    port, folder = free_port(), tmp_path_factory.mktemp("chroma")
    command = [sys.executable, "-c", "from chromadb.cli.cli import app; app()", "run", "--path", str(folder)]
    quiet = {"stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL}
    server = subprocess.Popen([*command, "--host", "127.0.0.1", "--port", str(port)], **quiet)  # type: ignore[call-overload]
    try:
        until = time.monotonic() + 60
        while not _answers(port):
            assert server.poll() is None, "the server ended"
            assert time.monotonic() < until, "the server does not answer"
            time.sleep(0.05)
        yield f"http://127.0.0.1:{port}"
    finally:
        server.kill()
        server.wait()


def _answers(port: int) -> bool:
    try:
        return httpx.get(f"http://127.0.0.1:{port}/api/v2/heartbeat").is_success
    except httpx.TransportError:
        return False


@pytest.mark.server
def test_a_server_gives_what_files_give(workspace: Path, address: str) -> None:
    def found(config: IndexConfig) -> list[Hit]:
        with open_index(workspace, Letters("A"), config=config) as index:
            index.refresh(entries_of(workspace))
            return index.search("add a person", 4)

    there = found(ServerIndex(address=address))
    assert len(there) == 4
    assert not list((workspace / "index").glob("chroma_*"))
    assert found(LocalIndex()) == there
    assert found(ServerIndex(address=address)) == there


@pytest.mark.server
def test_an_index_on_a_server_is_built_once_and_replaced_as_a_whole(tmp_path: Path, address: str) -> None:
    config = ServerIndex(address=address, name="replaced")
    for expected in (True, False):
        with open_index(tmp_path, Letters("A"), config=config) as index:
            assert index.refresh(entries(0, 20)) is expected
    (tmp_path / "index" / "index.json").unlink()
    with open_index(tmp_path, Letters("A"), config=config) as index:
        assert index.refresh(entries(5, 3))
        assert index.shelf.names() == ["chroma_2"]
        assert {hit.id for hit in index.search("aaa", 10)} == {"t5", "t6", "t7"}


@pytest.mark.server
def test_two_workspaces_share_a_server_but_never_a_name(tmp_path: Path, address: str) -> None:
    for name, start in (("one", 0), ("two", 50)):
        with open_index(tmp_path / name, Letters("A"), config=ServerIndex(address=address)) as index:
            index.add(entries(start, 5))
            assert index.count() == 5
    named = ServerIndex(address=address, name="shared")
    with open_index(tmp_path / "one", Letters("A"), config=named) as index:
        index.add(entries(0, 1))
    refusal = rf"shared.chroma_1 .* belongs to {tmp_path / 'one'}; set index.name"
    with pytest.raises(StoreError, match=refusal), open_index(tmp_path / "two", Letters("A"), config=named):
        pass


@pytest.mark.server
def test_one_owner_and_one_embedder_hold_on_a_server_too(tmp_path: Path, address: str) -> None:
    config = ServerIndex(address=address)
    with open_index(tmp_path, Letters("A"), config=config) as index:
        index.add(entries(0, 5))
        second = open_index(tmp_path, Letters("A"), 0.2, config)
        with pytest.raises(StoreError, match="Another process has the index"), second:
            pass
    (tmp_path / "index" / "index.json").unlink()  # the server remembers
    other = open_index(tmp_path, Letters("B"), config=config)
    with pytest.raises(StoreError, match=r"built with A \(size 8\), not with B \(size 8\)"), other:
        pass


def test_a_server_that_is_down_is_told_with_the_remedy(tmp_path: Path) -> None:
    config = ServerIndex(address=f"http://127.0.0.1:{free_port()}")
    down = open_index(tmp_path, Letters("A"), config=config)
    with pytest.raises(StoreError, match=r"cannot be used .*; start it \(chroma run .* or set index=local"), down:
        pass
    wrong = open_index(tmp_path, Letters("A"), config=ServerIndex(address="somewhere:8000"))
    with pytest.raises(UsageError, match="must be like http://127"), wrong:
        pass
