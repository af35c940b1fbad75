"""Drafts that are wrong in one way each, put to the test in the real sandbox."""

from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest

from agent_world.agents.coder.check import ToolCheck, check_draft, settle, verdict
from agent_world.agents.coder.draft import Draft, UnitTest, WrittenTool
from agent_world.schema import Origin, ToolAnnotations, ToolSpec
from agent_world.settings import LocalRuntime
from agent_world.tools.runtime import Instance, open_runtime
from tests.worlds import make_library

HEAD = "import json\n\n\nclass ToolError(Exception):\n    pass"
GOOD = "def good():\n    return {'count': len(json.load(open('books.json')))}"
COUNTS = "assert tools.good() == {'count': 20}"


def tool(
    name: str, source: str, *bodies: str, reads: bool = True, returns: dict[str, Any] | None = None
) -> WrittenTool:
    tests = tuple(
        UnitTest(name=f"test_{name}_{i}", source=f"def test_{name}_{i}():\n    {body}") for i, body in enumerate(bodies)
    )
    spec = ToolSpec(
        name=name, description="A tool.", input_schema={"type": "object", "properties": {}}, output_schema=returns,
        annotations=ToolAnnotations(read_only=reads),
    )  # fmt: skip
    return WrittenTool(spec=spec, source=source, tests=tests, origin=Origin(engine="llm"))


def draft(*tools: WrittenTool) -> Draft:
    return Draft(head=HEAD, test_head="import tools", tools=(tool("good", GOOD, COUNTS), *tools))


@pytest.fixture
async def instance(tmp_path: Path) -> AsyncIterator[Instance]:
    bundle = make_library(tmp_path / "library")
    for name in ("tools.py", "tools.json", "tool_tests.py"):
        (bundle.root / name).unlink()
    async with open_runtime(LocalRuntime(run_timeout_s=1.5)) as runtime:
        yield await runtime.open(bundle.root)


async def check(instance: Instance, bad: WrittenTool) -> ToolCheck:
    """The check of `bad` beside a good tool, which must not suffer from it."""
    checks = {found.tool: found for found in await check_draft(draft(bad), instance)}
    assert checks["good"].dropped_for(0.5) is None
    return checks[bad.spec.name]


async def test_a_tool_that_does_not_compile_is_dropped_as_such(instance: Instance) -> None:
    found = await check(instance, tool("bad", "def bad(:\n    return 1", "assert tools.bad() == 1"))
    assert not found.compiled
    assert "does not compile: SyntaxError" in str(found.dropped_for(0.5))


async def test_a_tool_without_its_function_is_dropped(instance: Instance) -> None:
    found = await check(instance, tool("bad", "def other():\n    return 1", "assert tools.other() == 1"))
    assert "there is no function bad" in str(found.dropped_for(0.5))


async def test_more_than_half_of_the_tests_must_pass(instance: Instance) -> None:
    source, right, wrong = (
        "def bad():\n    return 1",
        "assert tools.bad() == 1",
        "assert tools.bad() == 2, 'one is not two'",
    )
    half = await check(instance, tool("bad", source, right, wrong))
    assert (half.passed, half.total) == (1, 2)
    assert str(half.dropped_for(0.5)).startswith("only 1 of 2 tests pass, first: AssertionError: one is not two")
    more = await check(instance, tool("bad", source, right, right, wrong))
    assert more.dropped_for(0.5) is None
    assert verdict(tool("bad", source, right, right, wrong), more, 0.5).reason == "kept"


async def test_a_tool_without_tests_is_dropped(instance: Instance) -> None:
    assert (await check(instance, tool("bad", "def bad():\n    return 1"))).dropped_for(0.5) == "it has no test"


async def test_a_test_that_does_not_compile_fails_alone(instance: Instance) -> None:
    found = await check(
        instance, tool("bad", "def bad():\n    return 1", "assert tools.bad() ==", "tools.bad()", "tools.bad()")
    )
    assert (found.passed, found.total) == (2, 3)


@pytest.mark.parametrize("body", ["while True: pass", "import os; os._exit(0)", "x = bytearray(10 ** 12)"])
async def test_a_tool_that_hangs_or_dies_takes_no_other_with_it(instance: Instance, body: str) -> None:
    found = await check(instance, tool("bad", f"def bad():\n    {body}\n    return 1", "tools.bad()"))
    assert found.passed == 0
    assert found.dropped_for(0.5)


async def test_a_module_that_hangs_while_it_loads_takes_no_other_with_it(instance: Instance) -> None:
    found = await check(instance, tool("bad", "while True: pass\n\ndef bad():\n    return 1", "tools.bad()"))
    assert not found.compiled


async def test_a_read_only_tool_that_writes_is_found_out(instance: Instance) -> None:
    source = "def bad():\n    open('books.json', 'a').write(' ')\n    return 1"
    found = await check(instance, tool("bad", source, "assert tools.bad() == 1"))
    assert found.dropped_for(0.5) == "it is declared read-only and changes the database"
    assert (await check(instance, tool("bad", source, "assert tools.bad() == 1", reads=False))).dropped_for(0.5) is None


async def test_each_test_starts_on_clean_files_and_a_fresh_module(instance: Instance) -> None:
    body = "seen.append(1)\n    open('log.txt', 'a').write('x')"
    source = f"seen = []\n\ndef bad():\n    {body}\n    return [len(seen), len(open('log.txt').read())]"
    once = "assert tools.bad() == [1, 1]"
    assert (await check(instance, tool("bad", source, once, once, once, reads=False))).failures == {}


@pytest.mark.parametrize("result", ["float('nan')", "{1, 2}", "{'count': 'many'}"])
async def test_output_that_is_no_json_or_not_as_its_schema_says_is_refused(instance: Instance, result: str) -> None:
    returns = {"type": "object", "properties": {"count": {"type": "integer"}}}
    found = await check(instance, tool("bad", f"def bad():\n    return {result}", "tools.bad()", returns=returns))
    assert found.dropped_for(0.5)


async def test_pytests_own_idioms_are_understood(instance: Instance) -> None:
    source = "def bad(n=0):\n    if n: raise ToolError('too much')\n    return 0.1 + 0.2"
    body = "import pytest\n    with pytest.raises(tools.ToolError, match='much'):\n        tools.bad(n=1)"
    about = "import pytest\n    assert tools.bad() == pytest.approx(0.3)"
    unraised = "import pytest\n    with pytest.raises(tools.ToolError):\n        tools.bad()"
    found = await check(instance, tool("bad", source, body, about, unraised))
    assert list(found.failures) == ["test_bad_2"]


async def test_a_tool_that_leans_on_a_dropped_one_falls_with_it(instance: Instance) -> None:
    wrong = tool("wrong", "def wrong():\n    return 1", "assert tools.wrong() == 2")
    leaning = tool("leaning", "def leaning():\n    return wrong()", "assert tools.leaning() == 1")
    whole = draft(wrong, leaning)
    first = await check_draft(whole, instance)
    assert first[2].dropped_for(0.5) is None
    settled = {found.tool: found.dropped_for(0.5) for found in await settle(whole, first, instance, 0.5)}
    assert settled["good"] is None
    assert "NameError" in str(settled["leaning"])
