"""Drafted tools put to the test in the sandbox, and the three-part filter of section 3.1 on what comes back.

Nothing that was written runs on our side: sources go to an instance as text, results come back as JSON, and outputs are
held against the tools' schemas here.
"""

import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from jsonschema import Draft202012Validator
from jsonschema.exceptions import SchemaError

from agent_world.agents.coder.draft import Draft, WrittenTool
from agent_world.schema import Record, ToolSpec, ToolVerdict
from agent_world.tools.runtime import Instance, RunResult

RUNNER = (Path(__file__).parent / "runner.py").read_text()
_CHARACTERS = 300


class ToolCheck(Record):
    """What running one drafted tool showed."""

    tool: str
    compiled: bool
    failures: dict[str, str] = {}
    """Test -> what went wrong."""
    total: int
    fault: str | None = None
    """What rules the tool out whatever its tests say."""

    @property
    def passed(self) -> int:
        return self.total - len(self.failures) if self.compiled else 0

    def problems(self) -> tuple[str, ...]:
        """In words, for whoever repairs it."""
        return (*([self.fault] if self.fault else []), *(f"{test}: {said}" for test, said in self.failures.items()))

    def dropped_for(self, keep_above: float) -> str | None:
        """Why the tool is not kept; None when it is."""
        if self.fault:
            return self.fault
        if not self.total:
            return "it has no test"
        if self.passed / self.total > keep_above:
            return None
        first = next(iter(self.failures.values()), "")
        return f"only {self.passed} of {self.total} tests pass, first: {first}"[:_CHARACTERS]


async def check_draft(draft: Draft, instance: Instance) -> list[ToolCheck]:
    """Compile every tool, then run the tests of those that compile, all of them beside each other."""
    errors = await _compile(draft, instance)
    names = [tool.spec.name for tool in draft.tools]
    broken = {name: errors[name] or schema_fault(tool.spec) for name, tool in zip(names, draft.tools, strict=True)}
    whole = draft.pick([name for name in names if not broken[name]])
    results = await _run(whole, whole.tools, instance)
    return [
        _broken(tool, fault, compiled=errors[tool.spec.name] is None)
        if (fault := broken[tool.spec.name])
        else results[tool.spec.name]
        for tool in draft.tools
    ]


async def settle(draft: Draft, checks: Sequence[ToolCheck], instance: Instance, keep_above: float) -> list[ToolCheck]:
    """Last checks of all tools, such that those kept pass without the ones that are dropped.

    A tool may lean on another one; it falls with it. Ends, for each round drops a tool.
    """
    latest = {check.tool: check for check in checks}
    kept = {name for name, check in latest.items() if check.dropped_for(keep_above) is None}
    asked = set(latest)
    while kept and kept != asked:
        asked = set(kept)
        latest |= {check.tool: check for check in await check_draft(draft.pick(kept), instance)}
        kept = {name for name in asked if latest[name].dropped_for(keep_above) is None}
    return [latest[tool.spec.name] for tool in draft.tools]


def verdict(tool: WrittenTool, check: ToolCheck, keep_above: float) -> ToolVerdict:
    reason = check.dropped_for(keep_above)
    return ToolVerdict(
        tool=tool.spec.name,
        compiled=check.compiled,
        tests_passed=check.passed,
        tests_total=check.total,
        kept=reason is None,
        reason=reason or "kept",
        origin=tool.origin,
    )


# --- Running -------------------------------------------------------------------------------------------


async def _compile(draft: Draft, instance: Instance) -> dict[str, str | None]:
    """Tool -> why it does not load. All at once; one by one where that hangs or dies."""
    sources = {tool.spec.name: tool.source for tool in draft.tools}
    result = await _program(instance, "compile_tools", {"head": draft.head, "sources": sources})
    if result.ok and isinstance(result.value, dict):
        return {name: _said(result.value.get(name, "it could not be loaded")) for name in sources}
    found: dict[str, str | None] = {}
    for name, source in sources.items():
        alone = await _program(instance, "compile_tools", {"head": draft.head, "sources": {name: source}})
        found[name] = _said(alone.value.get(name)) if alone.ok else alone.error
    return found


async def _run(draft: Draft, tools: Sequence[WrittenTool], instance: Instance) -> dict[str, ToolCheck]:
    """The tools' tests in one program; one program a tool where that hangs or dies."""
    if not tools:
        return {}
    result = await _program(instance, "run_tests", _arguments(draft, tools))
    if result.ok and isinstance(result.value, dict):
        return {tool.spec.name: _read(tool, result.value) for tool in tools}
    if len(tools) == 1:
        return {tools[0].spec.name: _hung(tools[0], result.error or "no result")}
    found: dict[str, ToolCheck] = {}
    for tool in tools:
        found |= await _run(draft, [tool], instance)
    return found


async def _program(instance: Instance, function: str, arguments: Mapping[str, Any]) -> RunResult:
    result = await instance.run(RUNNER, function, arguments)
    if not result.ok:
        await instance.reset()  # what ended badly may have left its files behind
    return result


def _arguments(draft: Draft, tools: Sequence[WrittenTool]) -> dict[str, Any]:
    return {
        "tools_source": draft.tools_source(),
        "head": draft.test_head,
        "tests": {test.name: test.source for tool in tools for test in tool.tests},
        "watched": {tool.spec.name: tool.spec.annotations.read_only for tool in tools},
    }


def _read(tool: WrittenTool, result: Mapping[str, Any]) -> ToolCheck:
    """The runner's report on one tool. What it does not mention has failed."""
    errors, name = result.get("errors", {}), tool.spec.name
    failures = {t.name: said for t in tool.tests if (said := _said(errors.get(t.name, "it was not run")))}
    fault = _conduct_fault(name, result) or _output_fault(tool, result.get("outputs", {}).get(name, ()))
    fault = fault or _contradiction(tool, failures)
    return ToolCheck(tool=name, compiled=True, failures=failures, total=len(tool.tests), fault=fault)


def _contradiction(tool: WrittenTool, failures: Mapping[str, str]) -> str | None:
    """Where the data says otherwise."""
    said = next((failures[test.name] for test in tool.tests if test.oracle and test.name in failures), None)
    return f"it contradicts the data that its operation speaks of: {said}"[:_CHARACTERS] if said else None


def _conduct_fault(name: str, result: Mapping[str, Any]) -> str | None:
    """What the tool did that no tool may do."""
    if name in result.get("networked", ()):
        return "it needs the network, which no tool has"
    if name in result.get("wrote", ()):
        return "it is declared read-only and changes the database"
    stray, hidden = result.get("strays", {}).get(name), result.get("hidden", {}).get(name)
    if stray:
        return f"it makes or removes {stray.removeprefix('./')}, which is no table's row"[:_CHARACTERS]
    return f"{hidden}, where it should fail with broken_table"[:_CHARACTERS] if hidden else None


def _output_fault(tool: WrittenTool, outputs: Sequence[Any]) -> str | None:
    if tool.spec.output_schema is None:
        return None
    validator = Draft202012Validator(tool.spec.output_schema)
    for output in outputs:
        error = next(validator.iter_errors(output), None)
        if error:
            where = ".".join(map(str, error.absolute_path)) or "the result"
            return f"its output does not fit its outputSchema: {where}: {error.message}"[:_CHARACTERS]
    return None


def schema_fault(spec: ToolSpec) -> str | None:
    """Why its schemas are none."""
    for schema in (spec.input_schema, spec.output_schema):
        try:
            Draft202012Validator.check_schema(schema or {})
        except SchemaError as error:
            return f"its schema is not valid: {error.message}"[:_CHARACTERS]
    return None


def _broken(tool: WrittenTool, fault: str, compiled: bool) -> ToolCheck:
    said = fault if compiled else f"it does not compile: {fault}"
    return ToolCheck(tool=tool.spec.name, compiled=compiled, total=len(tool.tests), fault=said)


def _hung(tool: WrittenTool, error: str) -> ToolCheck:
    failures = {test.name: error for test in tool.tests}
    return ToolCheck(tool=tool.spec.name, compiled=True, failures=failures, total=len(tool.tests))


def _said(found: Any) -> str | None:
    return None if found is None else (found if isinstance(found, str) else json.dumps(found))[:_CHARACTERS]
