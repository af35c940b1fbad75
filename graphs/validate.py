"""Validate one task: the gate, then attempts by a model in parallel (section 3.1.1, retention).

    START -> gate -+-> attempt (x5, Send) -> decide -> END
                   +------- no model, or rejected --> END

Without a model for the role `validator` the record says `gate only`. Every attempt is an episode in an instance of
its own, with budgets and loop detection; the runs are kept in the workspace.
"""

import asyncio
import operator
from pathlib import Path
from typing import Annotated, Any, NotRequired

from langgraph.graph import END, START, StateGraph
from langgraph.graph.state import CompiledStateGraph
from langgraph.runtime import Runtime
from langgraph.types import Send
from typing_extensions import TypedDict

from agent_world.agents.episode import Limits, run_episodes
from agent_world.agents.policy import ChatModelPolicy
from agent_world.agents.synthesizer.world import World
from agent_world.agents.validator.duplicates import Seen, with_difference
from agent_world.agents.validator.gate import open_gate
from agent_world.graphs.deps import Context, Deps, run_alone, use_deps
from agent_world.memory.store import Bundle, read_record, write_record, write_records
from agent_world.schema import GateCheck, Task, Trajectory, Validation


class Request(TypedDict):
    bundle: str
    """Path of the environment's bundle, or its id in the workspace."""
    task: dict[str, Any]
    """A `schema.Task` as JSON."""

    validation: NotRequired[dict[str, Any]]
    """What the gate has said already; it is asked where this is missing."""


class State(Request):
    attempts: NotRequired[int]
    """Attempts wanted; 0 without a model."""
    runs: NotRequired[Annotated[list[dict[str, Any]], operator.add]]
    """Number, status, reward and file of each run."""


class Attempt(Request):
    number: int


async def gate(state: State, runtime: Runtime[Context]) -> dict[str, Any]:
    """Every check that needs no model."""
    async with use_deps(runtime.context) as deps:
        bundle, task = bundle_of(deps, state["bundle"]), Task.model_validate(state["task"])
        said = state.get("validation")
        validation = Validation.model_validate(said) if said else await judge(bundle, task, deps)
        model = deps.settings.role("validator").model
        attempts = deps.settings.tasks.attempts if model and validation.reason is None else 0
        return {"validation": validation.model_dump(mode="json"), "attempts": attempts, "runs": []}


async def judge(bundle: Bundle, task: Task, deps: Deps) -> Validation:
    world = await asyncio.to_thread(World, bundle)
    async with open_gate(world, deps.runtime, deps.settings, deps.judge()) as opened:
        return await opened.judge(task)


def after_gate(state: State) -> list[Send] | str:
    """One attempt a branch; none when there is no model or the gate said no."""
    numbers = range(state["attempts"])
    return [Send("attempt", {"bundle": state["bundle"], "task": state["task"], "number": n}) for n in numbers] or END


async def attempt(state: Attempt, runtime: Runtime[Context]) -> dict[str, Any]:
    """One ReAct run of the validator's model."""
    async with use_deps(runtime.context) as deps:
        bundle, task = bundle_of(deps, state["bundle"]), Task.model_validate(state["task"])
        policy = ChatModelPolicy(deps.model("validator"))
        limits = Limits(max_turns=most_turns(task.difficulty.calls))
        (run,) = await run_episodes(
            policy, [(task, bundle)], deps.runtime, limits, seed=state["number"], judge=deps.judge()
        )
        await asyncio.to_thread(write_record, _file(deps, task.id, state["number"]), run)
        return {"runs": [{"number": state["number"], "status": run.status, "reward": run.score.reward}]}


def most_turns(calls: int) -> int:
    """Of an attempt at a task whose gold solution has so many calls."""
    return 2 * calls + 6


async def decide(state: State, runtime: Runtime[Context]) -> dict[str, Any]:
    """Keep at enough consistent passes; runs without a score do not count. Afterwards all runs are one file."""
    async with use_deps(runtime.context) as deps:
        numbers = sorted(run["number"] for run in state["runs"])
        await asyncio.to_thread(_join, deps, str(state["task"]["id"]), numbers)
        before = Validation.model_validate(state["validation"])
        decided = verdict(before, state["runs"], deps.settings.tasks.keep_at)
        return {"validation": decided.model_dump(mode="json")}


def runs_of(deps: Deps, task: str) -> Path:
    """The runs of a task by the validator's model, one trajectory a line: `tasks rescore` reads them."""
    return deps.settings.workspace / "validation" / f"{task}.jsonl"


def _file(deps: Deps, task: str, number: int) -> Path:
    """One run while others are still at work."""
    return runs_of(deps, task).with_name(f"{task}_{number}.json")


def _join(deps: Deps, task: str, numbers: list[int]) -> None:
    """A kill between writing and removing leaves both, and this is done once more; after it, there is nothing left."""
    singles = [_file(deps, task, number) for number in numbers]
    if all(single.exists() for single in singles):
        write_records(runs_of(deps, task), [read_record(single, Trajectory) for single in singles])
    for single in singles:
        single.unlink(missing_ok=True)


def verdict(before: Validation, runs: list[dict[str, Any]], keep_at: int) -> Validation:
    """`validated` at `keep_at` passes, which agree: each gave the reference answer and left its state.

    `rejected` only where the runs that were scored decide it. With too many unscored ones (the model or our machinery
    failed) the record stays `gate only`, and holds what was seen.
    """
    scored = [run for run in runs if run["reward"] is not None]
    passes = sum(run["reward"] == 1 for run in scored)
    if not scored:
        return before
    seen: dict[str, Any] = {"attempts": len(scored), "passes": passes}
    if passes < keep_at <= passes + len(runs) - len(scored):
        return before.model_copy(update=seen)
    statuses = ", ".join(run["status"] for run in sorted(runs, key=lambda run: run["number"]))
    detail = f"{passes} of {len(scored)} scored runs pass ({statuses})"
    check = GateCheck(name="solved by the validator", passed=passes >= keep_at, detail=detail)
    status = "validated" if check.passed else "rejected"
    return before.model_copy(update={**seen, "status": status, "checks": (*before.checks, check)})


def wire() -> StateGraph[State, Context, Request, State]:
    """Nodes and edges."""
    graph = StateGraph(State, context_schema=Context, input_schema=Request)
    graph.add_node("gate", gate)
    graph.add_node("attempt", attempt, input_schema=Attempt)
    graph.add_node("decide", decide)
    graph.add_edge(START, "gate")
    graph.add_conditional_edges("gate", after_gate, ["attempt", END])
    graph.add_edge("attempt", "decide")
    graph.add_edge("decide", END)
    return graph


def build_graph() -> CompiledStateGraph[State, Context, Request, State]:
    """The compiled graph, for Studio."""
    return wire().compile()


# --- The work itself -------------------------------------------------------------------------------------


async def validate(bundle: Bundle, task: Task, deps: Deps, said: Validation | None = None) -> Task:
    """The task with its validation record: gate, and attempts where the validator has a model. `said` is what the gate
    has said already. Nothing is written to the bundle."""
    request = Request(bundle=str(bundle.root), task=task.model_dump(mode="json"))
    if said is not None:
        request["validation"] = said.model_dump(mode="json")
    state = await run_alone(wire(), request, deps, 20)
    return task.model_copy(update={"validation": Validation.model_validate(state["validation"])})


async def validate_all(bundle: Bundle, deps: Deps) -> list[Task]:
    """Every task of the bundle with a new validation record; whether it differs from those before it is part of that.
    Nothing is written to the bundle."""
    seen, found = Seen(), list[Task]()
    world = await asyncio.to_thread(World, bundle)
    async with open_gate(world, deps.runtime, deps.settings, deps.judge()) as opened:
        for task in bundle.tasks():
            validation = with_difference(await opened.judge(task), seen.clash(task))
            if deps.settings.role("validator").model is not None and validation.status != "rejected":
                validation = (await validate(bundle, task, deps, validation)).validation
            found.append(task.model_copy(update={"validation": validation}))
            seen.add(task)
    return found


async def replay_all(bundle: Bundle, deps: Deps) -> dict[str, str]:
    """Task id -> why its gold solution does not replay, here and at another time; empty when it does."""
    world = await asyncio.to_thread(World, bundle)
    async with open_gate(world, deps.runtime, deps.settings, deps.judge()) as opened:
        return {task.id: await opened.replay_fault(task) for task in bundle.tasks()}


def bundle_of(deps: Deps, environment: str) -> Bundle:
    return Bundle(Path(environment)) if "/" in environment else deps.store.bundle(environment)
