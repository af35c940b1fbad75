"""Write an environment's tools with unit tests, run them, repair them, keep the valid ones (section 3.1).

    START -> draft -> check -> filter -> persist -> END
                      ^   |
                      |   v
                      repair

The filter has three parts: a tool compiles; more than `tools.keep_above` of its tests pass; and the environment has at
least one valid tool with one valid test. Every verdict is kept in environment.json with its reason. The draft lies in
the bundle as `.draft.json` while the graph runs; state holds facts.
"""

import asyncio
from pathlib import Path
from typing import Any, Literal

from langgraph.graph import END, START, StateGraph
from langgraph.graph.state import CompiledStateGraph
from langgraph.runtime import Runtime
from typing_extensions import TypedDict

from agent_world.agents.coder.check import ToolCheck, check_draft, settle, verdict
from agent_world.agents.coder.draft import Coder, Draft
from agent_world.agents.coder.llm import ModelCoder
from agent_world.agents.coder.procedural import ProceduralCoder
from agent_world.errors import ModelError
from agent_world.graphs.deps import Context, Deps, run_alone, use_deps
from agent_world.memory.store import Bundle, read_record, write_record
from agent_world.schema import ToolVerdict


class Request(TypedDict):
    environment: str
    """Id of a mined environment of the workspace, or the folder of a bundle."""


class State(Request):
    checks: list[dict[str, Any]]
    """`ToolCheck` of each drafted tool, the latest."""
    repairs: int
    """Rounds of repair that are left."""
    verdicts: list[dict[str, Any]]
    """`ToolVerdict` of each drafted tool."""


async def draft(state: State, runtime: Runtime[Context]) -> dict[str, Any]:
    async with use_deps(runtime.context) as deps:
        bundle, coder = _bundle(state, deps), open_coder(deps)
        try:
            written = await coder.draft(bundle)
        except ModelError as error:
            deps.note(f"{bundle.id}: {error} Its tools are written without it.")
            coder = ProceduralCoder(deps.settings.seed, deps.settings.tools.max_tools)
            written = await coder.draft(bundle)
        await asyncio.to_thread(write_record, _draft_path(bundle), written)
        return {"repairs": coder.repairs}


async def check(state: State, runtime: Runtime[Context]) -> dict[str, Any]:
    async with use_deps(runtime.context) as deps:
        bundle = _bundle(state, deps)
        return {"checks": _plain(await run_checks(bundle, await _read(bundle), deps))}


async def repair(state: State, runtime: Runtime[Context]) -> dict[str, Any]:
    async with use_deps(runtime.context) as deps:
        bundle, problems = _bundle(state, deps), failing(state)
        deps.note(f"{bundle.id}: {len(problems)} tools fail a test, written anew")
        try:
            repaired = await open_coder(deps).repair(bundle, await _read(bundle), problems)
        except ModelError as error:
            deps.note(f"{bundle.id}: {error} What fails a test is left as it is.")
            return {"repairs": 0}
        await asyncio.to_thread(write_record, _draft_path(bundle), repaired)
        return {"repairs": state["repairs"] - 1}


async def filter_tools(state: State, runtime: Runtime[Context]) -> dict[str, Any]:
    async with use_deps(runtime.context) as deps:
        bundle = _bundle(state, deps)
        checks = await settle_checks(bundle, await _read(bundle), _checks(state), deps)
        return {"checks": _plain(checks)}


async def persist(state: State, runtime: Runtime[Context]) -> dict[str, Any]:
    async with use_deps(runtime.context) as deps:
        bundle = _bundle(state, deps)
        verdicts = await asyncio.to_thread(keep, bundle, _checks(state), deps.settings.tools.keep_above)
        return {"verdicts": _plain(verdicts)}


def after_check(state: State) -> Literal["repair", "filter"]:
    return "repair" if state["repairs"] > 0 and failing(state) else "filter"


def wire() -> StateGraph[State, Context, Request, State]:
    """Nodes and edges."""
    graph = StateGraph(State, context_schema=Context, input_schema=Request)
    graph.add_node("draft", draft)
    graph.add_node("check", check)
    graph.add_node("repair", repair)
    graph.add_node("filter", filter_tools)
    graph.add_node("persist", persist)
    graph.add_edge(START, "draft")
    graph.add_edge("draft", "check")
    graph.add_conditional_edges("check", after_check)
    graph.add_edge("repair", "check")
    graph.add_edge("filter", "persist")
    graph.add_edge("persist", END)
    return graph


def build_graph() -> CompiledStateGraph[State, Context, Request, State]:
    """The compiled graph, for Studio."""
    return wire().compile()


async def write_tools(bundle: Bundle, deps: Deps) -> list[ToolVerdict]:
    """Give a mined bundle its tools.json, tools.py and tool_tests.py; a verdict for every tool that was drafted.

    Where no verdict is `kept`, the environment has no valid tool: the files then hold none, and the caller drops it.
    Where the coder is a model that fails, the procedural one writes, and what the model wrote before is kept. Raises
    `StoreError` for a damaged database.
    """
    request: Request = {"environment": str(bundle.root.resolve())}
    state = await run_alone(wire(), request, deps, 60)
    return [ToolVerdict.model_validate(found) for found in state["verdicts"]]


# --- The work itself -----------------------------------------------------------------------------------


def open_coder(deps: Deps) -> Coder:
    settings = deps.settings
    if deps.engine("coder") == "llm":
        return ModelCoder(deps.model("coder"), settings.seed, settings.tools.max_tools, settings.tools.repairs)
    return ProceduralCoder(settings.seed, settings.tools.max_tools)


async def run_checks(bundle: Bundle, written: Draft, deps: Deps) -> list[ToolCheck]:
    instance = await deps.runtime.open(bundle.root, seed=deps.settings.seed)
    try:
        return await check_draft(written, instance)
    finally:
        await instance.close()


async def settle_checks(bundle: Bundle, written: Draft, checks: list[ToolCheck], deps: Deps) -> list[ToolCheck]:
    instance = await deps.runtime.open(bundle.root, seed=deps.settings.seed)
    try:
        return await settle(written, checks, instance, deps.settings.tools.keep_above)
    finally:
        await instance.close()


def failing(state: State) -> dict[str, tuple[str, ...]]:
    """Tool -> what is wrong with it, for those with anything wrong."""
    return {found.tool: found.problems() for found in _checks(state) if found.problems()}


def keep(bundle: Bundle, checks: list[ToolCheck], keep_above: float) -> list[ToolVerdict]:
    """Write the kept tools with those of their tests that pass, then the verdicts on all, then forget the draft."""
    if not _draft_path(bundle).exists():  # a kill came between this work and its checkpoint
        return list(bundle.environment().tools)
    written = read_record(_draft_path(bundle), Draft)
    verdicts = [verdict(tool, found, keep_above) for tool, found in zip(written.tools, checks, strict=True)]
    failures = {test for found in checks for test in found.failures}
    kept = written.pick([found.tool for found in verdicts if found.kept])
    tools = [t.model_copy(update={"tests": tuple(x for x in t.tests if x.name not in failures)}) for t in kept.tools]
    kept = kept.model_copy(update={"tools": tuple(tools)})
    bundle.write_tools([tool.spec for tool in kept.tools], kept.tools_source(), kept.tests_source())
    bundle.write_environment(bundle.environment().model_copy(update={"tools": tuple(verdicts)}))
    _draft_path(bundle).unlink(missing_ok=True)
    return verdicts


def _bundle(state: State, deps: Deps) -> Bundle:
    return Bundle(deps.store.root / state["environment"])


def _draft_path(bundle: Bundle) -> Path:
    return bundle.root / ".draft.json"


async def _read(bundle: Bundle) -> Draft:
    return await asyncio.to_thread(read_record, _draft_path(bundle), Draft)


def _checks(state: State) -> list[ToolCheck]:
    return [ToolCheck.model_validate(found) for found in state["checks"]]


def _plain(records: list[ToolCheck] | list[ToolVerdict]) -> list[dict[str, Any]]:
    return [record.model_dump(mode="json") for record in records]
