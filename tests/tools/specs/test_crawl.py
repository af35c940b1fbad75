"""Every server of a public crawl, and what live servers list today. Skipped where ../shared is absent."""

import json
import os
import re
import time
from pathlib import Path

import pytest

from agent_world.tools.arguments import ArgumentChecker
from agent_world.tools.specs import ORIGINAL, Intake, read_file

ROOT = Path(__file__).parents[3]
SHARED = Path(os.environ.get("AGENT_WORLD_SHARED", ROOT.parent / "shared")) / "data"
CRAWL = SHARED / "mcp_servers.jsonl.gz"
LIVE = sorted((SHARED / "mcp_live").glob("*.json"))
pytestmark = pytest.mark.skipif(not CRAWL.exists(), reason="the shared data is not beside the checkout")


@pytest.fixture(scope="module")
def crawl() -> Intake:
    began = time.process_time()
    found = read_file(CRAWL)
    assert time.process_time() - began < 60
    return found


def test_every_tool_of_the_crawl_is_loaded_or_listed_with_a_reason(crawl: Intake) -> None:
    summary = crawl.summary()
    assert summary["servers"] == 1559
    assert len(crawl.tools) + len(crawl.rejected) == 4410 + 8532
    assert set(summary["rejected"]) == {
        f"its server lists this name twice, with {which} definition; the first is used"
        for which in ("the same", "another")
    }


def test_names_of_the_crawl_are_distinct_and_lead_back(crawl: Intake) -> None:
    exposed = crawl.names()
    assert len(exposed) == len(set(exposed.values())) == len(crawl.tools)
    assert all(re.fullmatch("[A-Za-z0-9_-]{1,64}", name) for name in exposed)
    assert sum(original == "search" for _, original in exposed.values()) > 20


def test_tools_of_the_crawl_can_be_checked_and_differences_are_told(crawl: Intake) -> None:
    for tool in crawl.tools[::25]:
        ArgumentChecker(tool.spec)
        original = json.loads(tool.spec.meta[ORIGINAL])
        assert original["name"] == tool.original_name
        assert tool.changes or original["input_schema"] == tool.spec.input_schema


@pytest.mark.parametrize("path", LIVE, ids=lambda path: path.stem)
def test_every_tool_of_a_live_server_is_loaded(path: Path) -> None:
    found = read_file(path)
    assert not found.rejected
    assert [tool.original_name for tool in found.tools] == [
        tool["name"] for tool in json.loads(path.read_text())["tools"]
    ]
    assert all(tool.equivalent for tool in found.tools)
    for tool in found.tools:
        ArgumentChecker(tool.spec)
