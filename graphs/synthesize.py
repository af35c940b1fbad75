"""Make verifiable tasks for one environment (section 3.1.1).

    START -> analyse -> propose -> realise -> gate -> retain -> persist -> END
                           ^                    |
                           +------- more -------+

`analyse` builds the tool graph and tests it by running; `propose` says what to try; `realise` runs the drafts and
takes the answers from what the tools said; `gate` keeps what can be trusted; `retain` lets a model attempt the kept
ones, where the validator has one. Candidates and kept tasks are files beside the bundle; the state holds counts.
"""

import asyncio
import operator
import time
from collections import Counter
from functools import partial
from pathlib import Path
from typing import Annotated, Any, Literal, NotRequired

from langgraph.graph import END, START, StateGraph
from langgraph.graph.state import CompiledStateGraph
from langgraph.runtime import Runtime
from typing_extensions import TypedDict

from agent_world.agents.synthesizer.batch import Composer, judge_all, realise_all
from agent_world.agents.synthesizer.graph import read_tool_graph
from agent_world.agents.synthesizer.llm import reword
from agent_world.agents.synthesizer.program_llm import compose
from agent_world.agents.synthesizer.proposals import Proposal, Strategy, propose
from agent_world.agents.synthesizer.realise import Realised
from agent_world.agents.synthesizer.world import World
from agent_world.agents.validator.duplicates import Seen
from agent_world.agents.validator.gate import open_gate
from agent_world.agents.validator.pool import open_pool
from agent_world.errors import ModelError
from agent_world.graphs.demonstrate import demonstrate
from agent_world.graphs.deps import Context, Deps, run_alone, use_deps
from agent_world.graphs.synthesis import SynthesisReport, SynthesisRequest
from agent_world.graphs.tool_graph import make_tool_graph
from agent_world.graphs.validate import bundle_of, validate
from agent_world.memory.store import Bundle, read_records, write_records
from agent_world.schema import Dropped, Guideline, Origin, Task
from agent_world.tools.runtime import Instance

__all__ = ["SynthesisReport", "SynthesisRequest", "build_graph", "demonstrate", "synthesize"]

CANDIDATES, KEPT = ".candidates.jsonl", ".kept.jsonl"
"""Working files in the bundle; names with a dot are no part of it."""


class Request(TypedDict):
    environment: str
    """Id in the workspace, or path of a bundle."""
    graph: int
    program: int
    seed: NotRequired[int]
    round: NotRequired[int]
    guidelines: NotRequired[list[dict[str, Any]]]
    levels: NotRequired[list[int]]
    append: NotRequired[bool]


class State(Request):
    proposals: NotRequired[list[Proposal]]
    tried: NotRequired[dict[str, int]]
    kept: NotRequired[dict[str, int]]
    """Tasks kept so far, by strategy."""
    more: NotRequired[bool]
    dropped: NotRequired[Annotated[list[dict[str, str]], operator.add]]
    reworded: NotRequired[Annotated[int, operator.add]]
    lowered: NotRequired[Annotated[list[str], operator.add]]


async def analyse(state: State, runtime: Runtime[Context]) -> dict[str, Any]:
    """The tool graph, from schemas and from running the tools; cached in the bundle."""
    async with use_deps(runtime.context) as deps:
        bundle = bundle_of(deps, state["environment"])
        await asyncio.to_thread(_start_over, bundle)
        await make_tool_graph(bundle, deps)
        return {
            "tried": {"graph": 0, "program": 0},
            "kept": {"graph": 0, "program": 0},
            "dropped": [],
            "reworded": 0,
            "lowered": [],
        }


async def propose_batch(state: State, runtime: Runtime[Context]) -> dict[str, Any]:
    """As many proposals as are still wanted, and some over, within the tries."""
    async with use_deps(runtime.context) as deps:
        tries, proposals, tried = deps.settings.tasks.tries, list[Proposal](), dict(state["tried"])
        guidelines = guidelines_of(state)
        for strategy in strategies():
            missing = state[strategy] - state["kept"][strategy]
            size = min(missing + missing // 3 + 1, state[strategy] * tries - tried[strategy]) if missing > 0 else 0
            seed = f"{state.get('seed', 0)}:{state.get('round', 0)}:{Path(state['environment']).name}"
            numbers = range(tried[strategy], tried[strategy] + size)
            shares = deps.settings.tasks.level_shares
            proposals += propose(strategy, numbers, seed, state.get("levels", ()), guidelines, shares)
            tried[strategy] += size
        return {"proposals": proposals, "tried": tried}


async def realise_batch(state: State, runtime: Runtime[Context]) -> dict[str, Any]:
    """Drafts, run once; what runs is a candidate."""
    async with use_deps(runtime.context) as deps:
        bundle = bundle_of(deps, state["environment"])
        world = await asyncio.to_thread(World, bundle)
        graph = await asyncio.to_thread(read_tool_graph, bundle)
        origin = Origin(engine="procedural", seed=state.get("seed", 0))
        seen = await asyncio.to_thread(_seen, bundle, state)
        async with open_pool(bundle, deps.runtime, 1) as pool:
            batch = await realise_all(
                world, graph, state["proposals"], guidelines_of(state), origin, state.get("round", 0),
                state.get("levels", ()), pool, seen, _composer(deps, world, state.get("round", 0)),
            )  # fmt: skip
        await asyncio.to_thread(write_records, bundle.root / CANDIDATES, batch.candidates)
        dropped = [d.model_dump() for d in batch.dropped]
        return {"dropped": dropped, "reworded": batch.reworded, "lowered": batch.lowered}


async def gate(state: State, runtime: Runtime[Context]) -> dict[str, Any]:
    """Keep the candidates that pass every check, up to the number wanted."""
    async with use_deps(runtime.context) as deps:
        bundle = bundle_of(deps, state["environment"])
        world = await asyncio.to_thread(World, bundle)
        candidates = await asyncio.to_thread(read_records, bundle.root / CANDIDATES, Task)
        before = await asyncio.to_thread(_kept_so_far, bundle, state)
        seen = await asyncio.to_thread(_seen, bundle, state)
        room: dict[str, int] = {s: state[s] - state["kept"][s] for s in strategies()}
        async with open_gate(world, deps.runtime, deps.settings, deps.judge()) as judge:
            kept, dropped = await judge_all(candidates, judge, seen, room, partial(_versions, deps))
        await asyncio.to_thread(write_records, bundle.root / KEPT, [*before, *kept])
        counts = {s: state["kept"][s] + sum(t.strategy == s for t in kept) for s in strategies()}
        left = {s: state[s] * deps.settings.tasks.tries - state["tried"][s] for s in strategies()}
        more = any(counts[s] < state[s] and left[s] > 0 for s in strategies())
        return {"kept": counts, "more": more, "dropped": [d.model_dump() for d in dropped], "proposals": []}


def _composer(deps: Deps, world: World, round: int) -> Composer | None:
    """A model that writes programs itself, where the role has one."""
    if deps.engine("synthesizer") != "llm":
        return None
    model = deps.model("synthesizer")

    async def work(level: int, origin: Origin, instance: Instance) -> Realised | str:
        return await compose(world, level, origin, round, instance, model)

    return work


def _kept_so_far(bundle: Bundle, state: State) -> list[Task]:
    """The file holds more where a kill came between its writing and the checkpoint."""
    return read_records(bundle.root / KEPT, Task)[: sum(state["kept"].values())]


def _seen(bundle: Bundle, state: State) -> Seen:
    """The tasks that new ones must differ from."""
    seen = Seen()
    for task in [*(bundle.tasks() if state.get("append") else []), *_kept_so_far(bundle, state)]:
        seen.add(task)
    return seen


async def _versions(deps: Deps, task: Task) -> list[Task]:
    """A model's wording first, where the role has one; the template's always."""
    if deps.engine("synthesizer") != "llm":
        return [task]
    try:
        worded = await reword(task, deps.model("synthesizer"))
    except ModelError as problem:
        deps.note(f"kept the wording of {task.id}: {problem}")
        return [task]
    return [worded, task] if worded else [task]


def after_gate(state: State) -> Literal["propose", "retain"]:
    """Again while tasks are missing and tries are left."""
    return "propose" if state["more"] else "retain"


def strategies() -> tuple[Strategy, Strategy]:
    return ("graph", "program")


async def retain(state: State, runtime: Runtime[Context]) -> dict[str, Any]:
    """Where the validator has a model, only tasks that it solves often enough stay (section 3.1.1)."""
    async with use_deps(runtime.context) as deps:
        if deps.settings.role("validator").model is None:
            return {}
        bundle = bundle_of(deps, state["environment"])
        kept, dropped = list[Task](), list[Dropped]()
        for task in await asyncio.to_thread(read_records, bundle.root / KEPT, Task):
            attempted = await validate(bundle, task, deps, task.validation)
            if attempted.validation.status != "rejected":
                kept.append(attempted)
            else:
                reason = attempted.validation.reason or "rejected"
                dropped.append(Dropped(kind="task", id=task.id, reason=reason))
        await asyncio.to_thread(write_records, bundle.root / KEPT, kept)
        return {"dropped": [d.model_dump() for d in dropped]}


async def persist(state: State, runtime: Runtime[Context]) -> dict[str, Any]:
    """Write tasks.jsonl and clear the working files."""
    async with use_deps(runtime.context) as deps:
        bundle = bundle_of(deps, state["environment"])
        await asyncio.to_thread(_persist, bundle, bool(state.get("append")))
        return {}


def _persist(bundle: Bundle, append: bool) -> None:
    if not (bundle.root / KEPT).exists():  # a kill came between this work and its checkpoint
        return
    kept = read_records(bundle.root / KEPT, Task)
    known = {task.id for task in kept}
    before = [task for task in bundle.tasks() if task.id not in known] if append else []
    bundle.write_tasks([*before, *kept])
    _start_over(bundle)


def wire() -> StateGraph[State, Context, Request, State]:
    """Nodes and edges."""
    graph = StateGraph(State, context_schema=Context, input_schema=Request)
    graph.add_node("analyse", analyse)
    graph.add_node("propose", propose_batch)
    graph.add_node("realise", realise_batch)
    graph.add_node("gate", gate)
    graph.add_node("retain", retain)
    graph.add_node("persist", persist)
    graph.add_edge(START, "analyse")
    graph.add_edge("analyse", "propose")
    graph.add_edge("propose", "realise")
    graph.add_edge("realise", "gate")
    graph.add_conditional_edges("gate", after_gate)
    graph.add_edge("retain", "persist")
    graph.add_edge("persist", END)
    return graph


def build_graph() -> CompiledStateGraph[State, Context, Request, State]:
    """The compiled graph, for Studio."""
    return wire().compile()


# --- The work itself -------------------------------------------------------------------------------------


async def synthesize(bundle: Bundle, request: SynthesisRequest, deps: Deps) -> SynthesisReport:
    """Run the graph; the tasks kept are in the bundle's tasks.jsonl afterwards, the rest is reported with reasons."""
    started = time.monotonic()
    before = {task.id for task in bundle.tasks()} if request.append else set()
    wanted = Request(
        environment=str(bundle.root),
        graph=request.graph,
        program=request.program,
        seed=request.seed,
        round=request.round,
        guidelines=[g.model_dump(mode="json") for g in request.guidelines],
        levels=list(request.levels),
        append=request.append,
    )
    state = await run_alone(wire(), wanted, deps, 200)
    kept = [task for task in bundle.tasks() if task.id not in before]
    dropped = [Dropped.model_validate(d) for d in state.get("dropped", [])]
    await asyncio.to_thread(_keep_rejections, rejections_of(deps.settings.workspace, bundle), dropped, request.append)
    seconds = round(time.monotonic() - started, 2)
    lowered = dict(sorted(Counter(state.get("lowered", [])).items()))
    return SynthesisReport(kept, dropped, seconds, state.get("reworded", 0), lowered)


def rejections_of(workspace: Path, bundle: Bundle) -> Path:
    """Where the candidates that were not kept are named, each with its reason."""
    return workspace / "rejections" / f"{bundle.id}.jsonl"


def _keep_rejections(path: Path, dropped: list[Dropped], append: bool) -> None:
    before = read_records(path, Dropped) if append else []
    write_records(path, list({(d.id, d.reason): d for d in [*before, *dropped]}.values()))


def guidelines_of(state: State) -> list[Guideline]:
    return [Guideline.model_validate(g) for g in state.get("guidelines", [])]


def _start_over(bundle: Bundle) -> None:
    for name in (CANDIDATES, KEPT):
        (bundle.root / name).unlink(missing_ok=True)
