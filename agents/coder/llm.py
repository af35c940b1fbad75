"""The coder as a chat model: it writes tools and tests as structured output, and repairs what fails.

What it writes runs in the sandbox only. It may lean on the head that all tools share (reading, checking, writing of
tables), which it is shown.
"""

import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from pydantic import BaseModel, Field, ValidationError

from agent_world.agents.coder.check import schema_fault
from agent_world.agents.coder.data import Data, read_data
from agent_world.agents.coder.draft import Draft, UnitTest, WrittenTool
from agent_world.agents.coder.head import tests_head, tools_head
from agent_world.agents.coder.notes import notes_helper
from agent_world.agents.coder.oracle import ORACLE_HEAD, oracle_tests
from agent_world.agents.coder.prompts import REPAIR, WRITE
from agent_world.agents.model import Model
from agent_world.memory.store import Bundle
from agent_world.schema import DatabaseSchema, Environment, Operation, Origin, ToolAnnotations, ToolSpec
from agent_world.tools.tables import snake_case

SAMPLE = 3
"""Rows of each table that the model is shown."""
TEST_NAME = re.compile(r"^def (test_\w+)\(\)", re.MULTILINE)


class ModelTool(BaseModel):
    """One tool as the model gives it."""

    name: str = Field(pattern=r"^[a-z][a-z0-9_]{0,63}$")
    description: str
    parameters: dict[str, Any]
    """JSON Schema of an object."""
    returns: dict[str, Any] | None = None
    """JSON Schema of the result."""
    writes: bool = False
    """Whether it changes the database."""
    operation: dict[str, Any] | None = None
    """What it does to the data, where it is one of the known kinds."""
    mirrors: str | None = None
    """The real service's tool whose interface it takes over."""
    source: str
    """Python: the function of that name, with private helpers if need be."""
    tests: list[str] = Field(min_length=1)
    """Python: one `def test_...():` each."""


class ModelTools(BaseModel):
    tools: list[ModelTool]


@dataclass(frozen=True, slots=True)
class ModelCoder:
    model: Model
    seed: int
    most: int
    repairs: int

    async def draft(self, bundle: Bundle) -> Draft:
        """Raises `ModelError` when the model gives nothing in the agreed form."""
        environment, data = bundle.environment(), read_data(bundle)
        empty = Draft(head=_head(environment, data), test_head=f"{tests_head(data).rstrip()}\n\n\n{ORACLE_HEAD}")
        asked = WRITE.format(
            brief=_brief(environment, data), most=self.most, head=empty.head, test_head=empty.test_head
        )
        reply = await self.model.structured(ModelTools, [("user", asked)])
        return self._join(empty, reply.tools, environment, data)

    async def repair(self, bundle: Bundle, draft: Draft, failures: Mapping[str, tuple[str, ...]]) -> Draft:
        """Only the tools that failed are written anew; the others stay as they are."""
        environment, data = bundle.environment(), read_data(bundle)
        failing = [_shown(tool, failures[tool.spec.name]) for tool in draft.tools if tool.spec.name in failures]
        asked = REPAIR.format(
            brief=_brief(environment, data), head=draft.head, test_head=draft.test_head, failing="\n\n".join(failing)
        )
        reply = await self.model.structured(ModelTools, [("user", asked)])
        return self._join(draft, [tool for tool in reply.tools if tool.name in failures], environment, data)

    def _join(self, draft: Draft, written: Sequence[ModelTool], environment: Environment, data: Data) -> Draft:
        """The draft with these tools in place of those of the same name, at most `most` of them, names unique."""
        origin = Origin(engine="llm", seed=self.seed, model=self.model.name)
        tools = {tool.spec.name: tool for tool in draft.tools}
        for tool in written:
            tools[tool.name] = _written(tool, environment, data, origin)
        return draft.model_copy(update={"tools": tuple(tools.values())[: self.most]})


def _head(environment: Environment, data: Data) -> str:
    """The head of tools.py, with what reads notes where there are some."""
    head = tools_head(environment.name, data)
    return f"{head.rstrip()}\n\n\n{notes_helper(data)}" if data.notes else head


def _written(tool: ModelTool, environment: Environment, data: Data, origin: Origin) -> WrittenTool:
    """With tests from the data beside the model's own, where it says what the tool does to it."""
    operation = _operation(tool, environment.database)
    meta = {"agent_world/operation": operation.model_dump(mode="json")} if operation else {}
    spec = ToolSpec(
        name=tool.name,
        description=" ".join(tool.description.split()),
        input_schema={"type": "object", "additionalProperties": False, **tool.parameters},
        output_schema=tool.returns,
        annotations=ToolAnnotations(read_only=not tool.writes, destructive=_kind(operation) == "delete"),
        meta=meta | _mirrors(tool, environment),
    )
    oracle = oracle_tests(data, spec, origin.seed) if schema_fault(spec) is None else ()
    taken = {test.name for test in oracle}
    own = tuple(test for test in _tests(tool) if test.name not in taken)
    return WrittenTool(spec=spec, source=tool.source, tests=(*own, *oracle), origin=origin)


def _mirrors(tool: ModelTool, environment: Environment) -> dict[str, Any]:
    """The real tool that it says it is, or is called like, and that tool's parameters that it lacks."""
    names = {spec.name: spec for spec in environment.theme.tools}
    called = {snake_case(name): spec for name, spec in names.items()}
    real = names.get(tool.mirrors or "") or called.get(tool.name)
    if real is None:
        return {}
    left_out = set(real.input_schema.get("properties", {})) - _arguments(tool)
    return {"agent_world/mirrors": {"tool": real.name, "left_out": sorted(left_out)}}


def _tests(tool: ModelTool) -> tuple[UnitTest, ...]:
    """Each under a name of its own, so that no test replaces another one's."""
    found: dict[str, UnitTest] = {}
    for number, source in enumerate(tool.tests, 1):
        match = TEST_NAME.search(source)
        old = match.group(1) if match else ""
        name = f"test_{tool.name}_{number}" if not old.startswith(f"test_{tool.name}_") or old in found else old
        renamed = source.replace(f"def {old}(", f"def {name}(", 1) if old else source
        found[name] = UnitTest(name=name, source=renamed)
    return tuple(found.values())


def _arguments(tool: ModelTool) -> set[str]:
    properties = tool.parameters.get("properties")
    return set(properties) if isinstance(properties, dict) else set()


def _kind(operation: Operation | None) -> str:
    return operation.kind if operation else ""


def _operation(tool: ModelTool, schema: DatabaseSchema) -> Operation | None:
    """What the model says the tool does, as far as it names real tables and columns and its own arguments."""
    try:
        found = Operation.model_validate(tool.operation)
    except ValidationError:
        return None
    columns = {f"{table.name}.{column.name}" for table in schema.tables for column in table.columns}
    known = {table.name for table in schema.tables}
    sound = {*found.inputs.values(), *found.outputs.values()} <= columns and set(found.inputs) <= _arguments(tool)
    own = found.column is None or f"{found.table}.{found.column}" in columns
    return found if found.table in known and sound and own else None


def _brief(environment: Environment, data: Data) -> str:
    """The environment in words: what it is about, its tables with a few rows, the real service's tools."""
    parts = [f"# {environment.name}\n{environment.description}"]
    for table in data.tables:
        rows = "\n".join(json.dumps(row, ensure_ascii=False) for row in data.rows[table.name][:SAMPLE])
        facts = table.model_dump_json(exclude={"synthetic", "file", "format"}, exclude_defaults=True)
        parts.append(f"## Table {table.name}, file {table.file}\n{facts}\nFirst rows:\n{rows}")
    notes = [f"- {note.file}: {note.title} (on {note.table})" for note in data.notes]
    real = [
        f"- {tool.name}: {tool.description}\n  {json.dumps(tool.input_schema, ensure_ascii=False)}"
        for tool in environment.theme.tools
    ]
    parts += ["\n".join(["## Notes of the workspace, in Markdown", *notes])] if notes else []
    parts += ["\n".join(["## Tools of the real service, with the JSON Schema of their input", *real])] if real else []
    return "\n\n".join(parts)


def _shown(tool: WrittenTool, problems: Sequence[str]) -> str:
    told = "\n".join(f"- {problem}" for problem in problems)
    tests = "\n\n".join(test.source for test in tool.tests if not test.oracle or test.name in told)
    return f"## {tool.spec.name}\n```python\n{tool.source}\n```\n```python\n{tests}\n```\nWhat went wrong:\n{told}"
