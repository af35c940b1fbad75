"""A small build in which a chat model decides in every role, and answers well, badly, or not at all."""

import json
from contextlib import AsyncExitStack
from pathlib import Path

import pytest

from agent_world.memory.store import Store, read_record
from agent_world.memory.workspace import Outcome, Workspace
from agent_world.progress import silent
from agent_world.settings import Role, Settings
from agent_world.training.evolve import build
from agent_world.training.stages.factory_report import FactoryReport
from tests.graphs.test_write_tools import GOOD
from tests.openai_server import Fault, Reply, scripted_openai
from tests.worlds import make_library

MINED = ("library", "archive")
PAPERS = {
    "library": "Books of a library, its members, and who has borrowed what until when.",
    "archive": "Old maps in their boxes, and the researchers who come to see them.",
    "nowhere": "Timetables of trains that no page of the web tells of.",
}
BAD: list[Reply] = [
    "", "I cannot help with that.", '{"tools": [{"na', {"name": "no_such_tool", "arguments": "{"}, Fault(429),
    Fault(500), Fault(cut=True),
]  # fmt: skip
ANSWERS: dict[Role, list[Reply]] = {
    "miner": [{"name": "search", "arguments": {"query": "trains"}}, *BAD],
    "coder": [json.dumps({"tools": [GOOD]}), *BAD],
    "synthesizer": ['{"question": "How many books are there?"}', *BAD],
    "validator": ['{"count": 20}', *BAD],
    "taxonomist": ['{"label": "Reading"}', *BAD],
    "diagnoser": BAD,
}


async def settings(workspace: Path, stack: AsyncExitStack) -> Settings:
    """Two themes are mined already; the third is to be mined where no search answers."""
    for name, about in PAPERS.items():
        (workspace.parent / f"{name}.md").write_text(f"# {name.capitalize()}\n\n{about}\n")
    for name in MINED:
        make_library(workspace / "environments" / name)
        Workspace(workspace).finish("mine", name, Outcome(line="3 tables"))
    roles = {}
    for role, answers in ANSWERS.items():
        server = await stack.enter_async_context(scripted_openai(answers, repeat=True))
        model = server.config.model_copy(update={"retries": 0, "input_price": 1e6, "output_price": 0.0})
        roles[role] = {"engine": "llm", "model": model}
    return Settings.model_validate({
        "workspace": workspace, "roles": roles, "tools": {"max_tools": 5, "repairs": 1}, "concurrency": 1,
        "themes": [{"kind": "prd", "path": workspace.parent / f"{name}.md"} for name in PAPERS],
        "tasks": {"graph": 2, "program": 1, "tries": 1, "attempts": 1, "keep_at": 0},
        "arena": {"graph": 1, "program": 1},
        "web": {"search": "http://127.0.0.1:9/?q={query}", "allow_private": True},
    })  # fmt: skip


@pytest.mark.browser
async def test_no_answer_breaks_a_build_or_loses_what_is_finished(tmp_path: Path) -> None:
    workspace = tmp_path / "w"
    async with AsyncExitStack() as stack:
        config = await settings(workspace, stack)
        await build(config, silent())
        first = read_record(workspace / "report" / "factory.json", FactoryReport)
        await build(config, silent())
        second = read_record(workspace / "report" / "factory.json", FactoryReport)
    assert list(first.failed) == ["mine/nowhere"]
    assert "searches failed" in first.failed["mine/nowhere"].reason
    tools = {bundle.id: [tool.name for tool in bundle.tools()] for bundle in Store(workspace).bundles()}
    assert tools["archive"] == ["count_books"]  # the model's
    assert len(tools["library"]) == 5  # ours, as the model gave none
    assert Store(workspace).bundle("library").tasks()
    costs = {cost.role: cost for cost in first.costs}
    assert set(costs) == {"miner", "coder", "taxonomist", "synthesizer", "validator"}  # nothing is diagnosed
    assert costs["coder"].dollars == costs["coder"].input_tokens == 7 * 2
    again = {cost.role: cost for cost in second.costs}
    assert again["miner"].calls > costs["miner"].calls
    assert {role: again[role] for role in again if role != "miner"} == {r: costs[r] for r in costs if r != "miner"}
