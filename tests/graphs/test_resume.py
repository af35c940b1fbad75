"""A role called on its own, killed without warning and called again: it goes on, and makes what it would have made."""

import json
import operator
import signal
import sqlite3
import subprocess
import sys
import time
from pathlib import Path
from typing import Annotated

import pytest
from langchain_core.runnables import RunnableConfig
from langgraph.checkpoint.sqlite.aio import AsyncSqliteSaver
from langgraph.graph import START, StateGraph
from typing_extensions import TypedDict

from agent_world.graphs.deps import open_deps, unfinished
from agent_world.settings import Settings
from tests.tools.web import sites
from tests.worlds import make_library

SYNTHESIS = """
import asyncio, sys
from pathlib import Path
from agent_world import open_deps, synthesize
from agent_world.graphs.synthesize import SynthesisRequest
from agent_world.settings import Settings
async def main():
    async with open_deps(Settings(workspace=Path(sys.argv[1]))) as deps:
        await synthesize(deps.store.bundle("library"), SynthesisRequest(graph=6, program=3, seed=5), deps)
asyncio.run(main())
"""
MINING = """
import asyncio, sys
from pathlib import Path
from agent_world import mine, open_deps
from agent_world.agents.themes import read_theme
from agent_world.settings import PrdThemeSource, Settings
web = {"serve_examples": True, "port": int(sys.argv[2]), "allow_private": True,
       "search": f"http://127.0.0.1:{sys.argv[2]}/search?q={{query}}"}
async def main():
    small = {"mining": {"pages": 4, "meaning": False}, "complexify": {"rounds": 2, "pages": 2}}
    settings = Settings.model_validate({"workspace": sys.argv[1], "web": web, **small})
    async with open_deps(settings) as deps:
        await mine(await read_theme(PrdThemeSource(path=Path(sys.argv[3]))), deps)
asyncio.run(main())
"""


class Steps(TypedDict):
    done: Annotated[list[str], operator.add]


ROOT = Path(__file__).parents[2]


@pytest.fixture
def free_port() -> int:
    return sites.free_port()


def start(source: str, *arguments: object) -> "subprocess.Popen[str]":
    command = [sys.executable, "-c", source, *map(str, arguments)]
    return subprocess.Popen(command, cwd=ROOT, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True)


def finish(process: "subprocess.Popen[str]") -> None:
    _, errors = process.communicate(timeout=120)
    assert process.returncode == 0, errors[-2000:]


def kill_at(process: "subprocess.Popen[str]", workspace: Path, sign: str) -> None:
    deadline = time.monotonic() + 60
    while not list(workspace.glob(sign)) and process.poll() is None:
        assert time.monotonic() < deadline, f"no {sign} in a minute"
        time.sleep(0.02)
    process.send_signal(signal.SIGKILL)
    process.communicate()


def made(workspace: Path) -> dict[str, bytes]:
    root = workspace / "environments"
    files = sorted(p for p in root.rglob("*") if p.is_file() and p.name != "provenance.json")  # which tells the time
    return {p.relative_to(root).as_posix(): p.read_bytes() for p in files}


def test_synthesis_killed_at_several_moments_makes_the_same_tasks(tmp_path: Path) -> None:
    whole, broken = tmp_path / "whole", tmp_path / "broken"
    for workspace in (whole, broken):
        make_library(workspace / "environments" / "library")
    finish(start(SYNTHESIS, whole))
    for sign in ("roles.sqlite", "environments/library/tool_graph.json", "environments/library/.candidates*",
                 "environments/library/.kept*"):  # fmt: skip
        kill_at(start(SYNTHESIS, broken), broken, sign)
    finish(start(SYNTHESIS, broken))
    assert made(broken) == made(whole)
    assert (broken / "environments/library/tasks.jsonl").stat().st_size > 0


@pytest.mark.browser
@pytest.mark.slow
def test_mining_goes_on_where_it_was_killed(tmp_path: Path, free_port: int) -> None:
    theme = ROOT / "examples/themes/storm_watch.md"
    whole, broken = tmp_path / "whole", tmp_path / "broken"
    finish(start(MINING, whole, free_port, theme))
    for sign in ("mined/*/raw/*", "environments/*/environment.json", "mined/*/before/*/1"):
        kill_at(start(MINING, broken, free_port, theme), broken, sign)
    finish(start(MINING, broken, free_port, theme))
    assert made(broken) == made(whole)
    searches = [
        sum(
            json.loads(line)["kind"] == "search"
            for line in next(w.glob("mined/*/crawl.jsonl")).read_text().splitlines()
        )
        for w in (whole, broken)
    ]
    assert searches[0] == searches[1]  # it was not started over


async def test_a_finished_role_leaves_no_checkpoint_and_the_loop_keeps_none(tmp_path: Path) -> None:
    make_library(tmp_path / "environments" / "library")
    finish(start(SYNTHESIS, tmp_path))
    async with open_deps(Settings(workspace=tmp_path)) as deps:
        saver = await deps.saver()
        assert saver is not None
        assert [found async for found in saver.alist(None)] == []
    async with open_deps(Settings(workspace=tmp_path), checkpoints=False) as deps:
        assert await deps.saver() is None


async def test_a_kill_between_a_result_and_its_checkpoint_is_no_end(tmp_path: Path) -> None:
    """The result of the first node is written, the checkpoint after it is not: there is a second node to run."""
    graph = StateGraph(Steps)
    graph.add_node("first", lambda state: {"done": ["first"]})
    graph.add_node("second", lambda state: {"done": ["second"]})
    graph.add_edge(START, "first")
    graph.add_edge("first", "second")
    path, config = tmp_path / "c.sqlite", RunnableConfig(configurable={"thread_id": "x"})
    async with AsyncSqliteSaver.from_conn_string(str(path)) as saver:
        await graph.compile(checkpointer=saver, interrupt_before=["second"]).ainvoke({"done": []}, config)
    with sqlite3.connect(path) as database:
        database.execute("DELETE FROM checkpoints WHERE checkpoint_id = (SELECT max(checkpoint_id) FROM checkpoints)")
    database.close()
    async with AsyncSqliteSaver.from_conn_string(str(path)) as saver:
        whole = graph.compile(checkpointer=saver)
        state = await whole.aget_state(config)
        assert state.next == ()  # the trap
        assert unfinished(state)
        assert (await whole.ainvoke(None, config))["done"] == ["first", "second"]
        assert not unfinished(await whole.aget_state(config))
