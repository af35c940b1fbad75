"""The first half of the loop: themes, mined databases, tools, taxonomy, tasks (sections 3.1 and 3.1.1)."""

import asyncio
from collections.abc import Sequence
from functools import partial

from agent_world.agents.taxonomist import build_taxonomy
from agent_world.agents.themes import essence
from agent_world.agents.themes.collect import collect
from agent_world.agents.themes.provenance import THEMES, keep_themes
from agent_world.errors import AgentWorldError
from agent_world.evals.arena import choose_arena
from agent_world.graphs.deps import Deps
from agent_world.graphs.executor import Work
from agent_world.graphs.mine import mine_theme
from agent_world.graphs.synthesize import SynthesisRequest, synthesize
from agent_world.graphs.write_tools import write_tools
from agent_world.memory.embedder import Embedder
from agent_world.memory.store import read_record, read_records, write_record
from agent_world.memory.workspace import Outcome, Workspace
from agent_world.schema import Dropped, Environment, Record, Theme
from agent_world.settings import ArenaSettings, TaskSettings
from agent_world.training.stages.units import each, told, waiting


class Split(Record):
    """Which environments are held out for the arena (section 3.2.2)."""

    arena: tuple[str, ...]
    training: tuple[str, ...]


async def gather_themes(deps: Deps) -> str:
    """Read all sources; what was added since the last time is there too."""
    collected = await collect(deps.settings)
    themes, dropped = collected.themes, collected.dropped
    for note in collected.notes:
        deps.progress.say(note)
    Workspace(deps.settings.workspace).finish("themes", "all", Outcome(dropped=tuple(dropped)))
    await asyncio.to_thread(keep_themes, deps.settings.workspace, themes, collected.places)
    kinds = {kind: sum(t.kind == kind for t in themes) for kind in ("mcp", "tool_docs", "prd")}
    left = sum(d.kind == "theme" for d in dropped)
    line = f"{len(themes)} themes ({kinds['mcp']} MCP, {kinds['tool_docs']} tool docs, {kinds['prd']} PRDs)"
    return f"{line}, {left} dropped" if left else line


def themes_of(deps: Deps) -> dict[str, Theme]:
    return {theme.id: theme for theme in read_records(deps.settings.workspace / THEMES, Theme)}


async def mine_all(deps: Deps, wanted: Sequence[str] | None = None) -> str:
    """A database for each theme, or for those of `wanted` (ids)."""
    themes = themes_of(deps)
    ids = sorted(themes) if wanted is None else wanted
    units = {unit: partial(mine_database, themes[unit]) for unit in ids}
    if waiting("mine", units, deps):
        await deps.search()  # a key that is missing, a port that is taken: no theme's fault, so told at once
    outcomes = await each("mine", units, deps)
    return told(f"{sum(map(_sound, outcomes.values()))} databases of {len(outcomes)} themes", outcomes)


def _sound(outcome: Outcome) -> bool:
    """Neither dropped nor failed."""
    return not (outcome.dropped or outcome.failure)


async def mine_database(theme: Theme, deps: Deps) -> Outcome:
    """One theme's database; a theme that gives none is dropped and what was begun removed, as where it fails."""
    try:
        mined = await mine_theme(theme, deps)
    except Exception:
        deps.store.discard(theme.id)
        raise
    if isinstance(mined, Dropped):
        deps.store.discard(theme.id)
        return Outcome(line="dropped", dropped=(mined,))
    tables = mined.environment().database.tables
    return Outcome(line=f"{len(tables)} tables, {sum(t.rows for t in tables)} rows")


async def write_all_tools(deps: Deps) -> str:
    mined = [i for i, o in Workspace(deps.settings.workspace).outcomes("mine").items() if _sound(o)]
    outcomes = await each("tools", {unit: partial(write_environment_tools, unit) for unit in mined}, deps)
    environments = [i for i in outcomes if deps.store.bundle(i).tools()]
    kept = sum(len(deps.store.bundle(i).tools()) for i in environments)
    return told(f"{kept} tools in {len(environments)} environments", outcomes)


async def write_environment_tools(environment: str, deps: Deps) -> Outcome:
    """Tools of one environment; an environment without any valid tool is dropped and removed."""
    bundle = deps.store.bundle(environment)
    verdicts = await write_tools(bundle, deps)
    dropped = [Dropped(kind="tool", id=f"{environment}.{v.tool}", reason=v.reason) for v in verdicts if not v.kept]
    if not bundle.tools():
        deps.store.discard(environment)
        dropped.append(Dropped(kind="environment", id=environment, reason="no valid tool"))
    passed, total = sum(v.tests_passed for v in verdicts), sum(v.tests_total for v in verdicts)
    return Outcome(line=f"{len(bundle.tools())} tools, {passed} of {total} tests pass", dropped=tuple(dropped))


async def place_all(deps: Deps) -> str:
    """Taxonomy, and the split into arena and training environments."""
    heads = [bundle.environment() for bundle in deps.store.bundles() if bundle.tools()]
    if len(heads) < 2:
        raise AgentWorldError(
            f"Only {len(heads)} environment was made; add themes, or allow smaller ones (mining.min_rows)."
        )
    texts = [f"{head.name}. {head.description}" for head in heads]
    vectors = await asyncio.to_thread(Embedder(deps.settings.workspace).embed, [essence(text) for text in texts])
    items = [(head.id, text) for head, text in zip(heads, texts, strict=True)]
    places = await build_taxonomy(items, vectors, deps.settings, deps)
    for head in heads:
        if head.taxonomy != places[head.id]:
            deps.store.bundle(head.id).write_environment(head.model_copy(update={"taxonomy": places[head.id]}))
    held_out = _held_out([deps.store.bundle(head.id).environment() for head in heads], deps)
    training = tuple(head.id for head in heads if head.id not in held_out)
    write_record(deps.settings.workspace / "split.json", Split(arena=tuple(held_out), training=training))
    types = {place[0] for place in places.values()}
    return f"{len(types)} types; {len(training)} environments for training, {len(held_out)} held out for the arena"


def _held_out(environments: Sequence[Environment], deps: Deps) -> Sequence[str]:
    """The arena; once a policy was measured on it, it stays, and environments that came later are for training."""
    if Workspace(deps.settings.workspace).measured:
        return split_of(deps).arena
    return choose_arena(environments, deps.settings)


def split_of(deps: Deps) -> Split:
    return read_record(deps.settings.workspace / "split.json", Split)


async def synthesize_all(deps: Deps) -> str:
    """First tasks of every environment: many for training, the fixed measuring set for the arena."""
    split, settings = split_of(deps), deps.settings

    def work(environment: str) -> Work:
        wanted = settings.arena if environment in split.arena else settings.tasks
        request = SynthesisRequest(graph=wanted.graph, program=wanted.program, seed=settings.seed)
        return partial(synthesize_in, environment, request)

    wanting = [*(split.training if _wanted(settings.tasks) else ()), *(split.arena if _wanted(settings.arena) else ())]
    outcomes = await each("tasks", {unit: work(unit) for unit in wanting}, deps)
    kept = sum(len(deps.store.bundle(i).tasks()) for i in outcomes)
    rejected = sum(len(outcome.dropped) for outcome in outcomes.values())
    return told(f"{kept} tasks kept, {rejected} candidates rejected by the gate", outcomes)


def _wanted(tasks: TaskSettings | ArenaSettings) -> bool:
    """Where none are wanted, nothing is recorded: they may be another time."""
    return tasks.graph + tasks.program > 0


async def synthesize_in(environment: str, request: SynthesisRequest, deps: Deps) -> Outcome:
    report = await synthesize(deps.store.bundle(environment), request, deps)
    return Outcome(line=f"{len(report.kept)} tasks, {len(report.dropped)} rejected", dropped=tuple(report.dropped))
