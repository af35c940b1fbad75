"""Say where a policy is weak and why, from its arena runs (section 3.2.2).

    START -> collect -> classify -> rank -> guide -> END

`collect` counts what was run, `classify` holds each failed episode against its gold, `rank` orders the environments
by how surely they are weak, `guide` writes a guideline for each. What they make lies below
`WORKSPACE/diagnoses/round_<r>/`; state holds paths and counts.
"""

import asyncio
from collections.abc import Sequence
from pathlib import Path
from typing import Any, NotRequired

from langgraph.graph import END, START, StateGraph
from langgraph.graph.state import CompiledStateGraph
from langgraph.runtime import Runtime
from typing_extensions import TypedDict

from agent_world.agents.diagnoser import Diagnoser
from agent_world.agents.diagnoser.evidence import Evidence, count_kinds, gather
from agent_world.agents.diagnoser.failures import Failure, classify
from agent_world.agents.diagnoser.gold import gold_calls
from agent_world.agents.diagnoser.llm import ModelDiagnoser
from agent_world.agents.diagnoser.procedural import StatisticalDiagnoser
from agent_world.errors import ModelError
from agent_world.graphs.deps import Context, Deps, run_alone, use_deps
from agent_world.memory.store import Bundle, read_record, read_records, write_record, write_records
from agent_world.schema import Diagnosis, Origin, Trajectory, Weakness
from agent_world.tools.grading.rates import rate_of

EVIDENCE_SHOWN = 5
"""Task ids named as evidence of a weakness."""


class Request(TypedDict):
    round: int
    trajectories: list[str]
    """JSONL files of arena runs, relative to the workspace."""


class State(Request):
    environments: NotRequired[list[str]]
    """Those that were run and are still there."""
    scored: NotRequired[int]
    failed: NotRequired[int]
    unscored: NotRequired[int]
    unclassified: NotRequired[int]
    """Failed episodes whose task is gone or whose gold no longer runs."""
    kinds: NotRequired[dict[str, int]]
    """Failures by kind, most frequent first."""
    ranking: NotRequired[list[str]]
    """Weak environments, weakest first."""
    guidelines: NotRequired[list[str]]
    """In words, in the same order."""
    diagnosis: NotRequired[str]
    """File of the `schema.Diagnosis`, relative to the workspace."""


async def collect(state: State, runtime: Runtime[Context]) -> dict[str, Any]:
    async with use_deps(runtime.context) as deps:
        runs = await asyncio.to_thread(read_runs, deps, state["trajectories"])
        rate = rate_of(runs)
        known = sorted({run.environment for run in runs} & set(deps.store.ids()))
        return {
            "environments": known,
            "scored": rate.scored,
            "failed": rate.scored - rate.passed,
            "unscored": rate.unscored,
        }


async def classify_failures(state: State, runtime: Runtime[Context]) -> dict[str, Any]:
    async with use_deps(runtime.context) as deps:
        deps.note(f"comparing {state['failed']} failed episodes with their gold")
        runs = await asyncio.to_thread(read_runs, deps, state["trajectories"])
        failed = [run for run in runs if run.score.reward == 0]
        gate = asyncio.Semaphore(deps.settings.concurrency)

        async def one(environment: str) -> list[Failure]:
            async with gate:
                here = [run for run in failed if run.environment == environment]
                return await classify_in(deps.store.bundle(environment), here, deps)

        found = [f for part in await asyncio.gather(*map(one, state["environments"])) for f in part]
        await asyncio.to_thread(write_records, folder_of(deps, state["round"]) / "failures.jsonl", found)
        return {"kinds": dict(count_kinds(found)), "unclassified": len(failed) - len(found)}


async def rank(state: State, runtime: Runtime[Context]) -> dict[str, Any]:
    async with use_deps(runtime.context) as deps:
        evidence = await asyncio.to_thread(weigh, deps, state)
        return {"ranking": [suspect.environment for suspect in evidence.suspects]}


async def guide(state: State, runtime: Runtime[Context]) -> dict[str, Any]:
    async with use_deps(runtime.context) as deps:
        folder = folder_of(deps, state["round"])
        evidence = await asyncio.to_thread(read_record, folder / "evidence.json", Evidence)
        try:
            diagnosis = await conclude(evidence, open_diagnoser(deps), deps.settings.seed)
        except ModelError as error:
            deps.note(f"diagnosis: {error} Rates and counts alone decide.")
            diagnosis = await conclude(evidence, StatisticalDiagnoser(), deps.settings.seed)
        path = folder / "diagnosis.json"
        await asyncio.to_thread(write_record, path, diagnosis)
        return {
            "guidelines": [weakness.guideline.text for weakness in diagnosis.weaknesses],
            "diagnosis": path.relative_to(deps.settings.workspace).as_posix(),
        }


def wire() -> StateGraph[State, Context, Request, State]:
    """Nodes and edges."""
    graph = StateGraph(State, context_schema=Context, input_schema=Request)
    graph.add_node("collect", collect)
    graph.add_node("classify", classify_failures)
    graph.add_node("rank", rank)
    graph.add_node("guide", guide)
    graph.add_edge(START, "collect")
    graph.add_edge("collect", "classify")
    graph.add_edge("classify", "rank")
    graph.add_edge("rank", "guide")
    graph.add_edge("guide", END)
    return graph


def build_graph() -> CompiledStateGraph[State, Context, Request, State]:
    """The compiled graph, for Studio."""
    return wire().compile()


async def diagnose(number: int, trajectories: Sequence[Trajectory], bundles: Sequence[Bundle], deps: Deps) -> Diagnosis:
    """Diagnose round `number` from the scored `trajectories` in `bundles`, which lie in the workspace of `deps`.

    Runs of other environments are left aside. Raises `SandboxError`; where a model fails, statistics decide.
    """
    names = {bundle.id for bundle in bundles}
    path = folder_of(deps, number) / "trajectories.jsonl"
    write_records(path, [run for run in trajectories if run.environment in names])
    request = Request(round=number, trajectories=[path.relative_to(deps.settings.workspace).as_posix()])
    await run_alone(wire(), request, deps, 12)
    return read_record(folder_of(deps, number) / "diagnosis.json", Diagnosis)


# The work itself: plain functions that know nothing of graphs.


def folder_of(deps: Deps, number: int) -> Path:
    return deps.settings.workspace / "diagnoses" / f"round_{number}"


def open_diagnoser(deps: Deps) -> Diagnoser:
    """The engine of the settings."""
    if deps.engine("diagnoser") == "llm":
        return ModelDiagnoser(deps.model("diagnoser"))
    return StatisticalDiagnoser()


def read_runs(deps: Deps, files: Sequence[str]) -> list[Trajectory]:
    return [run for file in files for run in read_records(deps.settings.workspace / file, Trajectory)]


async def classify_in(bundle: Bundle, failed: Sequence[Trajectory], deps: Deps) -> list[Failure]:
    """Classify the failed runs of one environment, in order; each task's gold is run once."""
    tasks = {task.id: task for task in bundle.tasks()}
    wanted = sorted({run.task for run in failed} & set(tasks))
    gold = await gold_calls([tasks[name] for name in wanted], bundle, deps.runtime)
    tools = bundle.tools()
    return [classify(run, tasks[run.task], gold[run.task], tools) for run in failed if run.task in gold]


def weigh(deps: Deps, state: State) -> Evidence:
    folder = folder_of(deps, state["round"])
    runs = [r for r in read_runs(deps, state["trajectories"]) if r.environment in state["environments"]]
    bundles = {name: deps.store.bundle(name) for name in state["environments"]}
    evidence = gather(state["round"], runs, read_records(folder / "failures.jsonl", Failure), bundles)
    write_record(folder / "evidence.json", evidence)
    return evidence


async def conclude(evidence: Evidence, diagnoser: Diagnoser, seed: int) -> Diagnosis:
    """One weakness an environment: our rates and counts, the diagnoser's order and guideline."""
    suspects = {suspect.environment: suspect for suspect in evidence.suspects}
    weaknesses = []
    for environment, guideline in await diagnoser.guide(evidence):
        suspect = suspects[environment]
        shown = [failure.task for failure in suspect.failures if failure.kind == guideline.failure]
        weaknesses.append(
            Weakness(
                environment=environment,
                rate=suspect.rate,
                failures=suspect.kinds,
                guideline=guideline,
                evidence=tuple(dict.fromkeys(shown))[:EVIDENCE_SHOWN],
            )
        )
    origin = Origin(engine=diagnoser.engine, seed=seed, model=diagnoser.model)
    return Diagnosis(round=evidence.round, weaknesses=tuple(weaknesses), origin=origin)
