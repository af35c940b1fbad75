"""Mine a database for a theme, then complexify it (section 3.1).

    START -> search -> read -> assess -> persist -> complexify -> END
      |        ^                ^ | |                 ^     |
      |        +----- again ----|-+ +-> drop -> END   +-----+
      +-----> research ---------+
               ^    |
               +----+

`search` asks the web, `read` opens the best leads, `assess` decides: once more with other words, give up, or keep.
A chat model begins with `research`, its tool-calling loop, a turn at a time; where it fails, the others go on without
it. Tables read go to files at once (agents/miner/material.py); the state holds addresses, file names and verdicts.
"""

import asyncio
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import asdict
from typing import Any, Literal, NotRequired, TypeVar

from langgraph.graph import END, START, StateGraph
from langgraph.graph.state import CompiledStateGraph
from langgraph.runtime import Runtime
from typing_extensions import TypedDict

from agent_world.agents.miner.build import first_database, make_material, write_bundle
from agent_world.agents.miner.candidates import Candidate
from agent_world.agents.miner.crawl import Lead, Reading, search_leads
from agent_world.agents.miner.desk import Desk
from agent_world.agents.miner.fit import terms_of
from agent_world.agents.miner.llm import LlmMiner
from agent_world.agents.miner.material import Frontier, Mine
from agent_world.agents.miner.miner import Miner
from agent_world.agents.miner.procedural import ProceduralMiner
from agent_world.agents.miner.research import Research, take_turn
from agent_world.agents.miner.research import begin as begin_research
from agent_world.errors import ModelError, WebError
from agent_world.graphs.complexify import candidates_in, complexify_bundle, crawler_of, fit_in, mine_of, seed_of
from agent_world.graphs.deps import Context, Deps, run_alone, use_deps
from agent_world.graphs.scratch import interpret
from agent_world.memory.store import Bundle
from agent_world.schema import Dropped, Engine, Theme

T = TypeVar("T")
PASSES = 3
"""Searches with other words, at most."""
RELATED = 2
"""Tables that a pass must give to be the last one."""


class Request(TypedDict):
    theme: dict[str, Any]
    """A `schema.Theme` as JSON."""
    engine: NotRequired[Engine]
    """`llm` begins with `research`."""


class State(Request):
    passes: NotRequired[int]
    queries: NotRequired[list[str]]
    leads: NotRequired[list[Lead]]
    seen: NotRequired[list[str]]
    opened: NotRequired[int]
    tables: NotRequired[list[str]]
    """Files of tables read, below the theme's `raw/`."""
    failures: NotRequired[list[str]]
    """Why pages could not be read."""
    unanswered: NotRequired[list[str]]
    """Why queries failed, of those that did."""
    research: NotRequired[dict[str, Any]]
    """A `Research` as JSON: the dialogue with the model so far."""
    by_model: NotRequired[bool]
    """Whether a chat model decided anything."""
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
        if not state.get("passes") and not state.get("research"):
            await asyncio.to_thread(_start_over, deps, theme, mine)
        deps.note(f"searching for {theme.name}")
        settings = deps.settings.mining
        queries, by_model = await decide(deps, theme, lambda miner: miner.queries(theme, tried, settings.queries))
        search = await deps.search()
        found, failed = await search_leads(search, queries, fit_in(deps, theme), mine, settings.pages)
        known = {lead["address"] for lead in state.get("leads", [])} | set(state.get("seen", []))
        leads = [*state.get("leads", []), *(lead for lead in found if lead["address"] not in known)]
        return {
            "queries": [*tried, *queries], "leads": leads, "passes": state.get("passes", 0) + 1,
            "unanswered": [*state.get("unanswered", []), *failed],
            "by_model": by_model or state.get("by_model", False),
        }  # fmt: skip


async def read(state: State, runtime: Runtime[Context]) -> dict[str, Any]:
    """Open the best leads."""
    async with use_deps(runtime.context) as deps:
        theme = Theme.model_validate(state["theme"])
        deps.note(f"reading about {theme.name}")
        reading = _reading(state)
        if reading.leads:
            await (await crawler_of(deps, theme)).read_leads(reading, deps.settings.mining.pages)
        return asdict(reading)


async def research(state: State, runtime: Runtime[Context]) -> dict[str, Any]:
    """One turn of the chat model, and the calls in it."""
    async with use_deps(runtime.context) as deps:
        theme, most = Theme.model_validate(state["theme"]), deps.settings.mining.turns
        mine = mine_of(deps, theme)
        deps.note(f"researching {theme.name}")
        if not state.get("research"):
            await asyncio.to_thread(_start_over, deps, theme, mine)
        now = Research(**state["research"]) if state.get("research") else begin_research(theme, most)
        reading = _reading(state)
        await take_turn(now, deps.model("miner"), await desk_of(deps, theme, reading), most)
        if now.stopped:
            mine.log("research", "", turns=now.turns, calls=now.answered, ended=now.stopped)
        return {"research": asdict(now), "by_model": now.answered > 0, **asdict(reading)}


async def assess(state: State, runtime: Runtime[Context]) -> dict[str, Any]:
    """Choose tables, and decide how to go on."""
    async with use_deps(runtime.context) as deps:
        theme, settings = Theme.model_validate(state["theme"]), deps.settings.mining
        candidates = await asyncio.to_thread(candidates_in, deps, state["tables"], theme)
        chosen, by_model = await _choose(state, theme, candidates, deps)
        most = max((len(c.table.rows) for c in chosen), default=0)
        enough = len(chosen) >= settings.min_tables and most >= settings.min_rows
        answered = not state.get("passes") or len(state["unanswered"]) < len(state["queries"])
        more_to_try = answered and state.get("passes", 0) < PASSES and state["opened"] < settings.pages
        verdict = "again" if more_to_try and not (enough and len(chosen) >= RELATED) else "drop"
        if enough and verdict == "drop":
            verdict = "persist"
        reason = _shortfall(state, len(candidates), len(chosen), most)
        return {
            "verdict": verdict, "chosen": [c.name for c in chosen], "reason": reason if verdict == "drop" else "",
            "by_model": by_model or state.get("by_model", False),
        }  # fmt: skip


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
        await asyncio.to_thread(_persist, deps, theme, state)
        return {"environment": theme.id, "round": 0, "rounds": deps.settings.complexify.rounds}


async def complexify(state: State, runtime: Runtime[Context]) -> dict[str, Any]:
    """One round of complexification."""
    async with use_deps(runtime.context) as deps:
        if state["round"] < state["rounds"]:
            await complexify_bundle(deps.store.bundle(state["environment"]), deps, state["round"] + 1)
        return {"round": min(state["round"] + 1, state["rounds"])}


def at_start(state: State) -> Literal["search", "research"]:
    return "research" if state.get("engine") == "llm" else "search"


def after_research(state: State) -> Literal["research", "assess"]:
    return "assess" if state["research"]["stopped"] else "research"


def after_assess(state: State) -> Literal["search", "drop", "persist"]:
    verdict = state["verdict"]
    return "search" if verdict == "again" else verdict


def after_complexify(state: State) -> Literal["complexify", "__end__"]:
    return "complexify" if state["round"] < state["rounds"] else "__end__"


def wire() -> StateGraph[State, Context, Request, State]:
    """Nodes and edges."""
    graph = StateGraph(State, context_schema=Context, input_schema=Request)
    for name, node in (("search", search), ("read", read), ("research", research), ("assess", assess)):
        graph.add_node(name, node)
    for name, node in (("drop", drop), ("persist", persist), ("complexify", complexify)):
        graph.add_node(name, node)
    graph.add_conditional_edges(START, at_start)
    graph.add_conditional_edges("research", after_research)
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

    Queries and pages that fail are noted, and the others used. Raises `WebError` where they may be why there is too
    little. What a model does or fails to do raises nothing.
    """
    engine: Engine = "llm" if deps.engine("miner") == "llm" else "procedural"
    request = Request(theme=theme.model_dump(mode="json", by_alias=True), engine=engine)
    state = await run_alone(wire(), request, deps, 100 + deps.settings.mining.turns)
    if state["environment"]:
        return deps.store.bundle(state["environment"])
    if outage := _outage(state):
        raise WebError(outage)
    return Dropped(kind="theme", id=theme.id, reason=state["reason"])


# The work itself: plain functions that know nothing of graphs.


def miner_of(deps: Deps) -> Miner:
    if deps.engine("miner") == "llm":
        return LlmMiner(deps.model("miner"), deps.settings.seed)
    return ProceduralMiner(deps.settings.seed)


async def decide(deps: Deps, theme: Theme, ask: Callable[[Miner], Awaitable[T]]) -> tuple[T, bool]:
    """What the miner of the settings says, and whether that is a model's word; without the model where it fails."""
    if deps.engine("miner") == "llm":
        try:
            return await ask(miner_of(deps)), True
        except ModelError as error:
            mine_of(deps, theme).log("model", "", failed=str(error))
            deps.note(f"{theme.name}: {error} Going on without it.")
    return await ask(ProceduralMiner(deps.settings.seed)), False


async def _choose(state: State, theme: Theme, candidates: list[Candidate], deps: Deps) -> tuple[list[Candidate], bool]:
    """What the research ended with; else the miner's choice."""
    wanted = state.get("research", {}).get("wanted", [])
    named = {candidate.name: candidate for candidate in candidates}
    if wanted and not state.get("passes"):
        return [named[name] for name in dict.fromkeys(wanted)][: deps.settings.mining.max_tables], True
    return await decide(deps, theme, lambda miner: miner.choose(theme, candidates, deps.settings.mining.max_tables))


async def desk_of(deps: Deps, theme: Theme, reading: Reading) -> Desk:
    async def found(files: Sequence[str]) -> list[Candidate]:
        return await asyncio.to_thread(candidates_in, deps, files, theme)

    async def interpreted(code: str, candidates: Sequence[Candidate]) -> str:
        mine = mine_of(deps, theme)
        return await interpret(code, candidates, theme, mine.root / "scratch", deps.runtime, mine.files.paths())

    crawler = await crawler_of(deps, theme)
    return Desk(await deps.search(), crawler, reading, deps.settings.mining.pages, found, interpreted)


def _reading(state: State) -> Reading:
    return Reading(
        leads=list(state.get("leads", [])), seen=list(state.get("seen", [])), tables=list(state.get("tables", [])),
        opened=state.get("opened", 0), failures=list(state.get("failures", [])),
    )  # fmt: skip


def _start_over(deps: Deps, theme: Theme, mine: Mine) -> None:
    deps.store.discard(theme.id)
    mine.clear()


def _shortfall(state: State, candidates: int, chosen: int, most: int) -> str:
    if not state["opened"]:
        return "nothing that the searches found fits the theme"
    if not candidates:
        failed = f"; {len(state['failures'])} failed, the last: {state['failures'][-1]}" if state["failures"] else ""
        return f"no table in {state['opened']} pages{failed}"
    if not chosen:
        return f"none of {candidates} tables fits the theme"
    return f"too little data: {chosen} tables, {most} rows at most"


def _outage(state: Mapping[str, Any]) -> str:
    """What did not work, where so much did not that nothing is said about the theme; else empty."""
    unanswered, failures = state.get("unanswered", []), state.get("failures", [])
    if unanswered:
        return f"{len(unanswered)} of {len(state['queries'])} searches failed; the last: {unanswered[-1]}"
    if failures and not state["tables"] and len(failures) >= state["opened"]:
        return f"None of {len(failures)} pages could be read; the last: {failures[-1]}"
    return ""


def _persist(deps: Deps, theme: Theme, state: State) -> None:
    mine, seed = mine_of(deps, theme), seed_of(deps, theme)
    candidates = {c.name: c for c in candidates_in(deps, state["tables"], theme)}
    material = make_material([candidates[name] for name in state["chosen"]], terms_of(theme), seed)
    mine.write_material(material)
    leads = tuple(dict(lead) for lead in state.get("leads", []))
    mine.write_frontier(Frontier(leads=leads, seen=tuple(state.get("seen", [])), tables=tuple(state["tables"])))
    database = first_database(material, seed, deps.settings.mining.max_rows)
    miner = miner_of(deps) if state.get("by_model") else ProceduralMiner(deps.settings.seed)
    write_bundle(deps.store.bundle(theme.id), theme, material, database, miner.origin)
