"""`langgraph dev --allow-blocking` serves every graph offline; what Studio reads is read by its client."""

import json
import os
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import httpx
import pytest
from langgraph_sdk import get_client
from langgraph_sdk.client import LangGraphClient

from tests.worlds import make_library

ROOT = Path(__file__).parents[2]
GRAPHS = {"miner", "coder", "synthesizer", "validator", "diagnoser", "evolve"}
OFFLINE = {"LANGSMITH_TRACING": "false", "LANGGRAPH_CLI_NO_ANALYTICS": "1", "LANGSMITH_API_KEY": ""}

pytestmark = [pytest.mark.server, pytest.mark.slow]


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    folder = tmp_path_factory.mktemp("studio")  # the server keeps its state in its working directory
    (folder / "training").symlink_to(ROOT / "training")
    (folder / "langgraph.json").symlink_to(ROOT / "langgraph.json")
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    command = [str(Path(sys.executable).parent / "langgraph"), "dev", "--no-browser", "--no-reload"]
    options = ["--allow-blocking", "--port", str(port)]
    with (folder / "log").open("w") as log:
        process = subprocess.Popen(
            [*command, *options], cwd=folder, env=os.environ | OFFLINE, stdout=log, stderr=log, start_new_session=True
        )
    try:
        _wait(f"http://127.0.0.1:{port}/ok", process, folder / "log")
        yield f"http://127.0.0.1:{port}"
    finally:
        process.terminate()
        process.wait(20)


def _wait(address: str, process: subprocess.Popen[bytes], log: Path) -> None:
    deadline = time.monotonic() + 90
    while time.monotonic() < deadline:
        assert process.poll() is None, log.read_text()[-3000:]
        try:
            if httpx.get(address, timeout=2).status_code == 200:
                return
        except httpx.TransportError:
            time.sleep(0.3)
    raise AssertionError(f"no answer in 90 s: {log.read_text()[-3000:]}")


async def test_every_role_and_the_loop_are_listed_and_drawn(server: str) -> None:
    async with get_client(url=server) as client:
        await _check_graphs(client)


async def _check_graphs(client: LangGraphClient) -> None:
    assistants = await client.assistants.search(limit=50)
    assert {assistant["graph_id"] for assistant in assistants} == GRAPHS
    for assistant in assistants:
        drawn = await client.assistants.get_graph(assistant["assistant_id"])
        schemas = await client.assistants.get_schemas(assistant["assistant_id"])
        assert len(drawn["nodes"]) > 3, assistant["graph_id"]
        assert schemas["input_schema"]["properties"], assistant["graph_id"]
        assert set(schemas["context_schema"]["properties"]) == {"config", "overrides"}


async def test_a_run_streams_its_nodes_and_leaves_its_state(server: str, tmp_path: Path) -> None:
    """The synthesizer on a bundle: nodes stream as they end, tasks are written, the thread's state can be read."""
    make_library(tmp_path / "w" / "environments" / "library")
    config = tmp_path / "settings.yaml"
    config.write_text(json.dumps({"workspace": str(tmp_path / "w")}))
    async with get_client(url=server) as client:
        await _check_run(client, config)
    assert len((tmp_path / "w/environments/library/tasks.jsonl").read_text().splitlines()) == 3


async def _check_run(client: LangGraphClient, config: Path) -> None:
    thread = await client.threads.create()
    request = {"environment": "library", "graph": 2, "program": 1, "seed": 3}
    context = {"config": str(config), "overrides": ["tasks.tries=4"]}
    stream = client.runs.stream(
        thread["thread_id"], "synthesizer", input=request, context=context, stream_mode="updates"
    )
    nodes: list[str] = []
    async for part in stream:
        assert part.event != "error", part.data
        nodes += _names(part.event, part.data)
    assert nodes[0] == "analyse"
    assert nodes[-1] == "persist"
    state = await client.threads.get_state(thread["thread_id"])
    assert state["values"]["environment"] == "library"
    assert state["next"] == []


def _names(event: str, data: Any) -> list[str]:
    return list(data) if event == "updates" else []
