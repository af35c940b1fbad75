"""What a coder hands over, and the Protocol that both engines fulfil.

A draft is kept on disk between the nodes of the graph, so its types are records.
"""

from collections.abc import Collection, Mapping
from typing import Protocol

from agent_world.memory.store import Bundle
from agent_world.schema import Origin, Record, ToolSpec


class UnitTest(Record):
    name: str
    source: str
    """One `def test_...():` that uses the module `tools` and the helpers of the tests' head."""
    oracle: bool = False
    """Whether it comes from the data, whoever wrote the tool: a tool that fails it is not kept."""


class WrittenTool(Record):
    spec: ToolSpec
    source: str
    """The tool's function, and helpers of its own if it has any."""
    tests: tuple[UnitTest, ...]
    origin: Origin


class Draft(Record):
    """Tools not yet judged. `head` and `test_head` come before the functions in tools.py and tool_tests.py."""

    head: str
    test_head: str
    tools: tuple[WrittenTool, ...] = ()

    def pick(self, names: Collection[str]) -> "Draft":
        """Only these tools, in their order."""
        return self.model_copy(update={"tools": tuple(tool for tool in self.tools if tool.spec.name in names)})

    def tools_source(self) -> str:
        return _file(self.head, [tool.source for tool in self.tools])

    def tests_source(self) -> str:
        return _file(self.test_head, [test.source for tool in self.tools for test in tool.tests])


class Coder(Protocol):
    """Decides which tools to write and how. The graph around it runs, repairs, filters and keeps them."""

    @property
    def repairs(self) -> int:
        """Rounds of repair that make sense for this coder."""
        ...

    async def draft(self, bundle: Bundle) -> Draft: ...

    async def repair(self, bundle: Bundle, draft: Draft, failures: Mapping[str, tuple[str, ...]]) -> Draft:
        """The draft with the failing tools (name -> what went wrong, in words) written anew."""
        ...


def _file(head: str, parts: list[str]) -> str:
    return "\n\n\n".join([head.strip(), *(part.strip() for part in parts)]) + "\n"
