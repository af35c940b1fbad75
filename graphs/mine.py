"""Mine a database for a theme, then complexify it (section 3.1).

    START -> search -> read -> assess -> persist -> complexify -> END
               ^                 |  |                 ^     |
               +---- again ------+  +-> drop -> END   +-----+

`search` asks the web, `read` opens the best leads, `assess` decides: once more with other words, give up, or keep.
Tables read go to files at once (agents/miner/material.py); the state holds addresses, file names and verdicts.
"""

import asyncio
import shutil
from typing import Any, Literal, NotRequired

from langgraph.graph import END, START, StateGraph
from langgraph.graph.state import CompiledStateGraph
from langgraph.runtime import Runtime
from typing_extensions import TypedDict

from agent_world.agents.miner.build import first_database, make_material, write_bundle
from agent_world.agents.miner.candidates import Candidate, candidates_of
from agent_world.agents.miner.complexify import complexify as enrich
from agent_world.agents.miner.crawl import Lead, Reading, read_leads, search_leads
from agent_world.agents.miner.database import load_database
from agent_world.agents.miner.fit import terms_of
from agent_world.agents.miner.llm import LlmMiner
from agent_world.agents.miner.material import Mine
from agent_world.agents.miner.miner import Miner
from agent_world.agents.miner.procedural import ProceduralMiner
from agent_world.graphs.deps import Context, Deps, run_alone, use_deps
from agent_world.memory.store import Bundle
from agent_world.schema import Dropped, Theme

PASSES = 3
"""Searches with other words, at most."""
RELATED = 2
"""Tables that a pass must give to be the last one."""


class Request(TypedDict):
    theme: dict[str, Any]
    """A `schema.Theme` as JSON."""


class State(Request):
    passes: NotRequired[int]
    queries: NotRequired[list[str]]
    leads: NotRequired[list[Lead]]
    seen: NotRequired[list[str]]
    opened: NotRequired[int]
    tables: NotRequired[list[str]]
    """Files of tables read, below the theme's `raw/`."""
    failures: NotRequired[list[str]]
    chosen: NotRequired[list[str]]
    """Names of the tables that will make the database, the central one first."""
    verdict: NotRequired[Literal["again", "drop", "persist"]]
    reason: NotRequired[str]
    environment: NotRequired[str]
    round: NotRequired[int]
    """Complexification rounds done."""
    rounds: NotRequired[int]
    """Complexification rounds wanted."""


async def search(state: State, runtime: Runtime[Context]) -> dict[str, Any]:
    """Ask the web in words not tried yet."""
    async with use_deps(runtime.context) as deps:
        theme, tried = Theme.model_validate(state["theme"]), state.get("queries", [])
        mine = mine_of(deps, theme)
        if not state.get("passes"):
            await asyncio.to_thread(_start_over, deps, theme, mine)
        deps.note(f"searching for {theme.name}")
        settings = deps.settings.mining
        queries = await miner_of(deps).queries(theme, tried, settings.queries)
        found = await search_leads(await deps.search(), queries, terms_of(theme), mine, settings.pages)
        known = {lead["address"] for lead in state.get("leads", [])} | set(state.get("seen", []))
        leads = [*state.get("leads", []), *(lead for lead in found if lead["address"] not in known)]
        return {"queries": [*tried, *queries], "leads": leads, "passes": state.get("passes", 0) + 1}


async def read(state: State, runtime: Runtime[Context]) -> dict[str, Any]:
    """Open the best leads."""
    async with use_deps(runtime.context) as deps:
        theme = Theme.model_validate(state["theme"])
        deps.note(f"reading about {theme.name}")
        reading = Reading(
            leads=list(state["leads"]), seen=list(state.get("seen", [])), tables=list(state.get("tables", [])),
            opened=state.get("opened", 0), failures=list(state.get("failures", [])),
        )  # fmt: skip
        browser = await deps.browser()
        await read_leads(browser, reading, terms_of(theme), mine_of(deps, theme), deps.settings.mining)
        return {
            "leads": reading.leads, "seen": reading.seen, "tables": reading.tables,
            "opened": reading.opened, "failures": reading.failures,
        }  # fmt: skip


async def assess(state: State, runtime: Runtime[Context]) -> dict[str, Any]:
    """Choose tables, and decide how to go on."""
    async with use_deps(runtime.context) as deps:
        theme, settings = Theme.model_validate(state["theme"]), deps.settings.mining
        candidates = await asyncio.to_thread(candidates_in, mine_of(deps, theme), state["tables"], theme)
        chosen = await miner_of(deps).choose(theme, candidates, settings.max_tables)
        most = max((len(c.table.rows) for c in chosen), default=0)
        enough = len(chosen) >= settings.min_tables and most >= settings.min_rows
        more_to_try = state["passes"] < PASSES and state["opened"] < settings.pages
        verdict = "again" if more_to_try and not (enough and len(chosen) >= RELATED) else "drop"
        if enough and verdict == "drop":
            verdict = "persist"
        reason = _shortfall(state, len(candidates), len(chosen), most)
        return {"verdict": verdict, "chosen": [c.name for c in chosen], "reason": reason if verdict == "drop" else ""}


async def drop(state: State, runtime: Runtime[Context]) -> dict[str, Any]:
    """Leave no half-made bundle."""
    async with use_deps(runtime.context) as deps:
        theme = Theme.model_validate(state["theme"])
        await asyncio.to_thread(deps.store.discard, theme.id)
        deps.note(f"dropped {theme.name}: {state['reason']}")
        return {"environment": ""}


async def persist(state: State, runtime: Runtime[Context]) -> dict[str, Any]:
    """Write the first database and the bundle's head."""
    async with use_deps(runtime.context) as deps:
        theme = Theme.model_validate(state["theme"])
        await asyncio.to_thread(_persist, deps, theme, state["tables"], state["chosen"])
        return {"environment": theme.id, "round": 0, "rounds": deps.settings.complexify.rounds}


async def complexify(state: State, runtime: Runtime[Context]) -> dict[str, Any]:
    """One round of complexification."""
    async with use_deps(runtime.context) as deps:
        if state["round"] < state["rounds"]:
            bundle = deps.store.bundle(state["environment"])
            await asyncio.to_thread(complexify_bundle, bundle, deps, state["round"] + 1)
        return {"round": min(state["round"] + 1, state["rounds"])}


def after_assess(state: State) -> Literal["search", "drop", "persist"]:
    verdict = state["verdict"]
    return "search" if verdict == "again" else verdict


def after_complexify(state: State) -> Literal["complexify", "__end__"]:
    return "complexify" if state["round"] < state["rounds"] else "__end__"


def wire() -> StateGraph[State, Context, Request, State]:
    """Nodes and edges."""
    graph = StateGraph(State, context_schema=Context, input_schema=Request)
    for name, node in (("search", search), ("read", read), ("assess", assess)):
        graph.add_node(name, node)
    for name, node in (("drop", drop), ("persist", persist), ("complexify", complexify)):
        graph.add_node(name, node)
    graph.add_edge(START, "search")
    graph.add_edge("search", "read")
    graph.add_edge("read", "assess")
    graph.add_conditional_edges("assess", after_assess)
    graph.add_edge("persist", "complexify")
    graph.add_edge("drop", END)
    graph.add_conditional_edges("complexify", after_complexify)
    return graph


def build_graph() -> CompiledStateGraph[State, Context, Request, State]:
    """The compiled graph, for Studio."""
    return wire().compile()


async def mine_theme(theme: Theme, deps: Deps) -> Bundle | Dropped:
    """The theme's bundle (its id is the theme's), complexified; or why there is none. Starts over what is there.

    Raises `WebError` when search or browser do not work at all.
    """
    request = Request(theme=theme.model_dump(mode="json", by_alias=True))
    state = await run_alone(wire(), request, deps, 100)
    if state["environment"]:
        return deps.store.bundle(state["environment"])
    return Dropped(kind="theme", id=theme.id, reason=state["reason"])


async def grow(bundle: Bundle, round: int, deps: Deps) -> Bundle:
    """A new bundle `<id>_r<round>`: the copied database, one complexification richer, no tools or tasks yet.

    For the loop (section 3.2.2), where state diversity is what lacks. A finished one is returned as it is; what a
    kill left unfinished is made again.
    """
    grown = deps.store.bundle(f"{bundle.id}_r{round}")
    if grown.id not in deps.store.ids():
        await asyncio.to_thread(_grow, bundle, grown, deps)
    return grown


# The work itself: plain functions that know nothing of graphs.


def mine_of(deps: Deps, theme: Theme) -> Mine:
    return Mine(deps.settings.workspace / "mined" / theme.id)


def miner_of(deps: Deps) -> Miner:
    if deps.engine("miner") == "llm":
        return LlmMiner(deps.model("miner"), deps.settings.seed)
    return ProceduralMiner(deps.settings.seed)


def seed_of(deps: Deps, theme: Theme) -> str:
    """Two themes about one topic draw different rows."""
    return f"{deps.settings.seed}:{theme.id}"


def candidates_in(mine: Mine, tables: list[str], theme: Theme) -> list[Candidate]:
    return candidates_of([mine.raw_table(name) for name in tables], terms_of(theme))


def _start_over(deps: Deps, theme: Theme, mine: Mine) -> None:
    deps.store.discard(theme.id)
    mine.clear()


def _shortfall(state: State, candidates: int, chosen: int, most: int) -> str:
    if not candidates:
        failed = f"; {len(state['failures'])} failed, the last: {state['failures'][-1]}" if state["failures"] else ""
        return f"no table in {state['opened']} pages{failed}"
    if not chosen:
        return f"none of {candidates} tables fits the theme"
    return f"too little data: {chosen} tables, {most} rows at most"


def _persist(deps: Deps, theme: Theme, files: list[str], chosen: list[str]) -> None:
    mine, seed = mine_of(deps, theme), seed_of(deps, theme)
    candidates = {c.name: c for c in candidates_in(mine, files, theme)}
    material = make_material([candidates[name] for name in chosen], terms_of(theme), seed)
    mine.write_material(material)
    database = first_database(material, seed, deps.settings.mining.max_rows)
    write_bundle(deps.store.bundle(theme.id), theme, material, database, miner_of(deps).origin)


def complexify_bundle(bundle: Bundle, deps: Deps, round: int) -> None:
    """One round in place: new files, fuller tables, then the head. Tables keep their columns once tools exist."""
    environment = bundle.environment()
    theme = environment.theme
    mine = mine_of(deps, theme)
    if any(done.number == round for done in environment.rounds):  # a kill came between this work and its checkpoint
        return mine.end_round()
    mine.begin_round(bundle.database)
    material = mine.material()
    database, record = enrich(
        load_database(bundle, environment.database), material, round, seed_of(deps, theme),
        deps.settings.mining.max_rows, columns=not bundle.tools(),
    )  # fmt: skip
    if record is not None:
        database.write(bundle)
        update = {"database": database.schema(), "rounds": (*environment.rounds, record)}
        bundle.write_environment(environment.model_copy(update=update))
    mine.end_round()


def _grow(bundle: Bundle, grown: Bundle, deps: Deps) -> None:
    deps.store.discard(grown.id)
    environment = bundle.environment()
    shutil.copytree(bundle.database, grown.database)
    number = len(environment.rounds) + 1
    theme = environment.theme
    database, record = enrich(
        load_database(grown, environment.database), mine_of(deps, theme).material(), number,
        f"{seed_of(deps, theme)}:{grown.id}", deps.settings.mining.max_rows,
    )  # fmt: skip
    database.write(grown)
    rounds = (*environment.rounds, record) if record else environment.rounds
    update = {"id": grown.id, "tools": (), "database": database.schema(), "rounds": rounds}
    grown.write_environment(environment.model_copy(update=update))
