"""The whole loop: the factory, the cold start, and R rounds of arena, diagnosis, growth and GRPO (section 3).

    START -> themes -> mine -> tools -> taxonomy -> tasks -> demonstrations -> before -> cold_start -> after
                                                                                                       |
                          END <- report <-+-- no more rounds --------------------------------------------+
                                          |                                                              |
                                          +-- measure <- reinforce <- expand <- diagnose <- probe <------+

State holds facts and paths; what is made lies in the workspace, unit by unit. A killed run resumes at the node it was
in (SQLite checkpoints) and, inside it, at the unit it was in. This module is the end-to-end training script:
`agent-world evolve --config FILE [key=value ...]`.
"""

import asyncio
import operator
import time
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Annotated, Any, Literal, Protocol

from langgraph.graph import END, START, StateGraph
from langgraph.graph.state import CompiledStateGraph
from langgraph.runtime import Runtime
from typing_extensions import TypedDict

from agent_world.agents.model import open_model
from agent_world.evals.records import RunReport, StageSeconds
from agent_world.graphs.deps import Context, Deps, open_deps, unfinished, use_deps
from agent_world.memory.workspace import Workspace, own_workspace
from agent_world.progress import Progress
from agent_world.schema import ArenaResult
from agent_world.settings import ChatPolicy, CheckpointPolicy, Settings
from agent_world.training.policies import check_checkpoint
from agent_world.training.stages import factory, growth, learning
from agent_world.training.stages.factory_report import report_factory
from agent_world.training.stages.summary import summarise
from agent_world.training.stages.units import keep_costs


class Request(TypedDict):
    rounds: int
    """Rounds of evolution to run."""


class State(Request):
    round: int
    policy: str
    """Folder of the policy as it stands."""
    measured: str
    """Arena stage measured last."""
    stages: Annotated[list[dict[str, Any]], operator.add]
    """`{"name", "seconds", "line"}` of each finished stage."""


Work = Callable[[Deps, State], Awaitable[tuple[dict[str, Any], str]]]


class Node(Protocol):
    """What LangGraph takes as a node."""

    def __call__(self, state: State, runtime: Runtime[Context]) -> Awaitable[dict[str, Any]]: ...


def stage(title: str, work: Work) -> Node:
    """A node that runs `work`, shows one line of plain words, and records its seconds."""

    async def node(state: State, runtime: Runtime[Context]) -> dict[str, Any]:
        async with use_deps(runtime.context) as deps:
            name = f"{title}, round {state['round']}" if state.get("round") and work is not report else title
            started = time.monotonic()
            with deps.progress.stage(name):
                update, line = await work(deps, state)
            await asyncio.to_thread(keep_costs, learning.slug(name), deps)
            seconds = round(time.monotonic() - started, 1)
            deps.progress.say(f"{name}: {line} ({seconds:g} s)")
            return update | {"stages": [{"name": name, "seconds": seconds, "line": line}]}

    return node


def made(work: Callable[[Deps], Awaitable[str]]) -> Work:
    """A stage of the factory: it leaves its work in the workspace and changes no fact of the state."""

    async def run(deps: Deps, state: State) -> tuple[dict[str, Any], str]:
        return {}, await work(deps)

    return run


async def before(deps: Deps, state: State) -> tuple[dict[str, Any], str]:
    policy = await learning.make_policy(deps)
    result = await learning.measure(deps, "before SFT", 0, policy)
    return {"round": 0, "policy": str(policy), "measured": result.stage}, describe(result)


async def cold_start(deps: Deps, state: State) -> tuple[dict[str, Any], str]:
    policy = await learning.cold_start(deps, Path(state["policy"]))
    return {"policy": str(policy)}, f"policy in {policy}"


async def measure(deps: Deps, state: State) -> tuple[dict[str, Any], str]:
    name = f"round {state['round']}" if state["round"] else "after SFT"
    result = await learning.measure(deps, name, state["round"], Path(state["policy"]))
    return {"measured": result.stage}, describe(result)


async def probe(deps: Deps, state: State) -> tuple[dict[str, Any], str]:
    number = state["round"] + 1
    result = await learning.probe(deps, number, Path(state["policy"]))
    return {"round": number}, describe(result) if result else "no fresh tasks wanted"


async def diagnose(deps: Deps, state: State) -> tuple[dict[str, Any], str]:
    number, policy = state["round"], Path(state["policy"])
    fixed = await learning.measure(deps, state["measured"], number - 1, policy)
    fresh = await learning.probe(deps, number, policy)
    diagnosis = await growth.diagnose_round(deps, number, [fixed, *([fresh] if fresh else [])])
    weakest = [f"{w.environment} ({w.guideline.failure.replace('_', ' ')})" for w in diagnosis.weaknesses[:3]]
    return {}, f"weakest are {', '.join(weakest)}" if weakest else "no weak environment"


async def expand(deps: Deps, state: State) -> tuple[dict[str, Any], str]:
    diagnosis = await growth.diagnose_round(deps, state["round"], [])
    return {}, await growth.expand(deps, state["round"], diagnosis)


async def reinforce(deps: Deps, state: State) -> tuple[dict[str, Any], str]:
    policy = await learning.reinforce(deps, state["round"], Path(state["policy"]))
    return {"policy": str(policy)}, f"policy in {policy}"


async def report(deps: Deps, state: State) -> tuple[dict[str, Any], str]:
    stages = [StageSeconds.model_validate(item) for item in state["stages"]]
    from agent_world.evals.report import write_report

    summary = await asyncio.to_thread(summarise, deps, engines_line(deps.settings), stages)
    page = await asyncio.to_thread(write_report, summary, deps.settings.workspace / "report")
    return {}, f"{page}"


def describe(result: ArenaResult) -> str:
    rate = result.overall
    apart = f", {rate.unscored} unscored" if rate.unscored else ""
    return f"{rate.passed} of {rate.scored} arena tasks pass, {rate.value:.0%} [{rate.low:.0%}, {rate.high:.0%}]{apart}"


def after_measure(state: State) -> Literal["probe", "report"]:
    return "probe" if state["round"] < state["rounds"] else "report"


STAGES: dict[str, tuple[str, Work]] = {
    "themes": ("Themes", made(factory.gather_themes)),
    "mine": ("Mining", made(factory.mine_all)),
    "tools": ("Tools", made(factory.write_all_tools)),
    "taxonomy": ("Taxonomy", made(factory.place_all)),
    "tasks": ("Tasks", made(factory.synthesize_all)),
    "demonstrations": ("Demonstrations", made(learning.demonstrate_all)),
    "before": ("Arena before SFT", before),
    "cold_start": ("SFT", cold_start),
    "measure": ("Arena", measure),
    "probe": ("Fresh arena tasks", probe),
    "diagnose": ("Diagnosis", diagnose),
    "expand": ("Growth", expand),
    "reinforce": ("GRPO", reinforce),
    "report": ("Report", report),
}
"""Node, its title, its work; in order, up to the branch after `measure`."""


def build_graph(checkpointer: Any = None) -> CompiledStateGraph[State, Context, Request, State]:
    """Wire the loop. Studio brings its own checkpointer; `evolve` brings SQLite."""
    graph = StateGraph(State, context_schema=Context, input_schema=Request)
    for name, (title, work) in STAGES.items():
        graph.add_node(name, stage(title, work))
    names = list(STAGES)
    straight = names[: names.index("measure") + 1]
    for first, second in zip([START, *straight], straight, strict=False):
        graph.add_edge(first, second)
    graph.add_conditional_edges("measure", after_measure, ["probe", "report"])
    for first, second in zip(
        ("probe", "diagnose", "expand", "reinforce"), ("diagnose", "expand", "reinforce", "measure"), strict=True
    ):
        graph.add_edge(first, second)
    graph.add_edge("report", END)
    return graph.compile(checkpointer=checkpointer)


async def evolve(settings: Settings, *, fresh: bool = False, progress: Progress | None = None) -> RunReport:
    """Run the loop in the settings' workspace, or go on with a run that was stopped there.

    Raises `AgentWorldError` (broken machinery) or `UsageError` (wrong input); what is finished stays and is reused.
    """
    from langgraph.checkpoint.sqlite.aio import AsyncSqliteSaver

    with own_workspace(settings, fresh=fresh) as space:
        async with open_deps(settings, progress, checkpoints=False) as deps:
            check_models(deps)
            deps.progress.say(engines_line(settings))
            async with AsyncSqliteSaver.from_conn_string(str(settings.workspace / "checkpoints.sqlite")) as saver:
                if begins_anew(space):
                    await saver.setup()
                    await saver.adelete_thread("evolve")
                graph = build_graph(saver)
                config: Any = {"configurable": {"thread_id": "evolve"}, "recursion_limit": 30 + 10 * settings.rounds}
                state = await graph.aget_state(config)
                if state.values and not unfinished(state):
                    deps.progress.say(f"This run is finished; --fresh starts over. Workspace {settings.workspace}.")
                else:
                    begin: Any = None if unfinished(state) else {"rounds": settings.rounds, "round": 0}
                    await graph.ainvoke(begin, config, context=deps.context, durability="sync")
                state = await graph.aget_state(config)
            stages = [StageSeconds.model_validate(item) for item in state.values["stages"]]
            return summarise(deps, engines_line(settings), stages)


def begins_anew(space: Workspace) -> bool:
    """Whether a stopped loop begins at its first node again and passes over what is finished: there is nothing yet, and
    the settings may be others; or units failed that can be tried again, as no policy was measured so far."""
    return not space.begun or (bool(space.failures()) and not space.measured)


FACTORY = ("themes", "mine", "tools", "taxonomy", "tasks")


async def build(settings: Settings, progress: Progress | None = None, *, fresh: bool = False) -> None:
    """The factory stages alone; a later `evolve` in the same workspace reuses all of it."""
    with own_workspace(settings, fresh=fresh):
        async with open_deps(settings, progress, checkpoints=False) as deps:
            check_models(deps)
            deps.progress.say(engines_line(settings))
            for name in FACTORY:
                title, work = STAGES[name]
                with deps.progress.stage(title):
                    _, line = await work(deps, State(rounds=0, round=0, policy="", measured="", stages=[]))
                await asyncio.to_thread(keep_costs, name, deps)
                deps.progress.say(f"{title}: {line}")
            for line in (await asyncio.to_thread(report_factory, deps)).lines():
                deps.progress.say(line)


def check_models(deps: Deps) -> None:
    """Find a wrong model name now, not after minutes of work. Raises `UsageError`."""
    for role, config in deps.settings.roles.items():
        if config.model is not None:
            deps.model(role)
    if isinstance(deps.settings.policy, ChatPolicy):
        open_model(deps.settings.policy.model)
    if isinstance(deps.settings.policy, CheckpointPolicy):
        check_checkpoint(deps.settings.policy)


def engines_line(settings: Settings) -> str:
    models = [
        f"{role} {config.model.name}"
        for role, config in settings.roles.items()
        if config.engine == "llm" and config.model
    ]
    if not models:
        return "No chat model is set, so every role is procedural: algorithms under a seed, no key, no cost."
    return f"Chat models: {', '.join(models)}; every other role is procedural."
