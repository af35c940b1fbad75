"""What tools say that they do is asked of the raw files, whoever wrote them."""

from pathlib import Path
from typing import Any

import pytest

from agent_world.agents.coder.check import ToolCheck, check_draft
from agent_world.agents.coder.data import read_data
from agent_world.agents.coder.draft import Draft, WrittenTool
from agent_world.agents.coder.oracle import MAKERS, ORACLE_HEAD, oracle_tests
from agent_world.agents.coder.procedural import ProceduralCoder
from agent_world.memory.store import Bundle
from agent_world.tools.runtime import Runtime
from tests.agents.coder.desk import make_desk
from tests.agents.coder.worlds import make_awkward
from tests.worlds import make_library


async def drafted(bundle: Bundle) -> Draft:
    """What the procedural coder writes, with no tests but those of the oracle."""
    draft, data = await ProceduralCoder(seed=0, most=40).draft(bundle), read_data(bundle)
    tools = [tool.model_copy(update={"tests": oracle_tests(data, tool.spec, 0)}) for tool in draft.tools]
    return draft.model_copy(update={"tools": tuple(tools), "test_head": f"{draft.test_head}\n\n\n{ORACLE_HEAD}"})


async def checked(runtime: Runtime, bundle: Bundle, draft: Draft) -> dict[str, ToolCheck]:
    instance = await runtime.open(bundle.root)
    checks = {found.tool: found for found in await check_draft(draft, instance)}
    await instance.close()
    return checks


@pytest.mark.parametrize("make", [make_library, make_awkward, make_desk])
async def test_right_tools_agree_with_the_data(tmp_path: Path, runtime: Runtime, make: Any) -> None:
    bundle = make(tmp_path / "bundle")
    draft = await drafted(bundle)
    checks = await checked(runtime, bundle, draft)
    assert {name: c.problems() for name, c in checks.items() if c.problems()} == {}
    asked = [t for t in draft.tools if t.spec.operation and t.spec.operation.kind in MAKERS]
    assert all(tool.tests for tool in asked)
    assert len({t.spec.operation.kind for t in asked if t.spec.operation}) >= 7


FAULTS = {
    "get_book": ("return _find", "return _rows('books')[0] or _find"),
    "search_books": ("wanted in", "wanted not in"),
    "list_loans_by_book": ('row["book_id"] == book_id', 'row["book_id"] != book_id'),
    "count_loans_by_book": ('row["book_id"] == book_id', 'row["book_id"] != book_id'),
    "average_books_pages": ("len(values)", "(len(values) - 1)"),
    "update_book_copies": ('"copies", copies', '"year", copies'),
    "create_member": ('_insert("members", row)', "pass"),
    "delete_loan": ("loan_id)", "loan_id - 1)"),
}


async def test_wrong_tools_contradict_it(tmp_path: Path, runtime: Runtime) -> None:
    bundle = make_library(tmp_path / "library")
    draft = await drafted(bundle)
    tools = [faulty(tool) for tool in draft.tools if tool.spec.name in FAULTS]
    assert {tool.spec.name for tool in tools} == set(FAULTS)
    for name, found in (await checked(runtime, bundle, draft.model_copy(update={"tools": tuple(tools)}))).items():
        assert str(found.dropped_for(0.5)).startswith("it contradicts the data that its operation speaks of: "), name


def faulty(tool: WrittenTool) -> WrittenTool:
    right, wrong = FAULTS[tool.spec.name]
    assert right in tool.source
    return tool.model_copy(update={"source": wrong.join(tool.source.rsplit(right, 1))})
