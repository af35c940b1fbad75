"""A tool that says it only reads is held to it."""

import json
from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from agent_world.settings import LocalRuntime
from agent_world.tools.runtime import Instance, open_runtime

TOOLS = """
import os
def read(): return open("rows.json").read()
def rewrite():
    text = open("rows.json").read()
    with open("rows.json", "w") as file: file.write(text + " ")
    os.utime("rows.json", (5, 5))
def sneak():
    with open("rows.json", "w") as file: file.write('[{"id": 2}]')
    raise ToolError("sorry", "It failed.")
def scratch():
    open("tmp", "w").close()
    os.remove("tmp")
    os.mkdir("empty")
    os.rmdir("empty")
def log():
    with open("log.txt", "a") as file: file.write("x")
def write():
    with open("rows.json", "w") as file: file.write('[{"id": 3}]')
"""
READS = ("read", "rewrite", "sneak", "scratch", "log")


@pytest.fixture
async def instance(tmp_path: Path) -> AsyncIterator[Instance]:
    (tmp_path / "database").mkdir()
    (tmp_path / "database" / "rows.json").write_text('[{"id": 1}]')
    (tmp_path / "database" / "log.txt").write_text("")
    (tmp_path / "tools.py").write_text(TOOLS)
    schema = {"type": "object", "properties": {}}
    specs = [
        {"name": name, "description": name, "inputSchema": schema, "annotations": {"readOnlyHint": name in READS}}
        for name in (*READS, "write")
    ]
    (tmp_path / "tools.json").write_text(json.dumps({"tools": specs}))
    async with open_runtime(LocalRuntime()) as runtime:
        yield await runtime.open(tmp_path)


@pytest.mark.parametrize("before", [(), ("write",), ("read",), ("write", "read")])
@pytest.mark.parametrize(
    ("tool", "impure"), [("read", False), ("rewrite", False), ("scratch", False), ("sneak", True), ("log", True)]
)
async def test_a_tool_that_only_reads_and_changes_the_state_is_marked(
    instance: Instance, before: tuple[str, ...], tool: str, impure: bool
) -> None:
    for earlier in before:
        assert not (await instance.call(earlier, {})).impure
    assert (await instance.call(tool, {})).impure == impure
    assert not (await instance.call("read", {})).impure


async def test_the_calls_of_a_program_are_held_to_it_too(instance: Instance) -> None:
    source = """
def solve(tools):
    tools.write()
    tools.read()
    try: tools.sneak()
    except ToolError: pass
    open("rows.json", "w").write("[]")
    tools.read()
"""
    result = await instance.run(source, "solve", {})
    assert result.ok
    assert [(tool, seen.impure) for tool, _, seen in result.calls] == [
        ("write", False),
        ("read", False),
        ("sneak", True),
        ("read", False),
    ]


async def test_reset_starts_the_watch_anew(instance: Instance) -> None:
    await instance.call("write", {})
    await instance.reset()
    assert not (await instance.call("read", {})).impure
    assert (await instance.call("sneak", {})).impure
