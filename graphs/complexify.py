"""Rounds of complexification on bundles: made, undone, and as growth into new bundles (sections 3.1 and 3.2.2)."""

import asyncio
import shutil
from collections.abc import Sequence
from typing import Any

from agent_world.agents.miner.build import provenance_of, sources_of
from agent_world.agents.miner.candidates import Candidate, candidates_of
from agent_world.agents.miner.complexify import complexify, left_out
from agent_world.agents.miner.crawl import Crawler, Reading, place_of
from agent_world.agents.miner.database import load_database
from agent_world.agents.miner.extend import extended, longer
from agent_world.agents.miner.fit import Fit, fit_of, terms_of
from agent_world.agents.miner.material import Frontier, Mine
from agent_world.agents.miner.rounds import Rounds
from agent_world.graphs.deps import Deps
from agent_world.memory.embedder import Embedder
from agent_world.memory.store import Bundle
from agent_world.schema import ComplexificationRound, Theme


async def complexify_bundle(bundle: Bundle, deps: Deps, round: int) -> None:
    """One round in place: new files, fuller tables, then the head. Tables keep their columns once tools exist.

    A round that was killed is made again from what was before it.
    """
    environment = await asyncio.to_thread(bundle.environment)
    if any(done.number == round for done in environment.rounds):  # a kill came between this work and its checkpoint
        return
    rounds = Rounds(bundle, mine_of(deps, environment.theme))
    await asyncio.to_thread(rounds.begin, round)
    if not bundle.tools():
        await read_further(environment.theme, deps)
    record = await asyncio.to_thread(_enrich, bundle, deps, round)
    if record is None:
        await asyncio.to_thread(rounds.forget, round)


def left_out_of(bundle: Bundle, deps: Deps) -> tuple[str, ...]:
    """What rounds of this environment leave out because its tools exist already."""
    environment = bundle.environment()
    if not bundle.tools():
        return ()
    mine, settings = mine_of(deps, environment.theme), deps.settings.complexify
    unread = settings.pages and mine.frontier().leads
    pages = ("further pages: a table of theirs would have no tools",) if unread else ()
    found = left_out(load_database(bundle, environment.database), mine.material(), settings.notes)
    return (*pages, *found)


async def grow(bundle: Bundle, round: int, deps: Deps) -> Bundle:
    """A new bundle `<id>_r<round>`: the copied database, one complexification richer, no tools or tasks yet.

    For the loop (section 3.2.2), where state diversity is what lacks. A finished one is returned as it is; what a
    kill left unfinished is made again.
    """
    grown = deps.store.bundle(f"{bundle.id}_r{round}")
    if grown.id not in deps.store.ids():
        await asyncio.to_thread(_grow, bundle, grown, deps)
    return grown


def undo_round(bundle: Bundle, deps: Deps) -> int:
    """The bundle as it was before its last round, to the byte; the number of that round. Raises `UsageError`."""
    return Rounds(bundle, mine_of(deps, bundle.environment().theme)).undo()


async def read_further(theme: Theme, deps: Deps) -> None:
    """Go on reading where the theme's crawl stopped: listings of its tables first, then what else is worth it. Their
    rows, and a table that joins, come to its material."""
    pages, mine = deps.settings.complexify.pages, mine_of(deps, theme)
    frontier = await asyncio.to_thread(mine.frontier)
    if not pages or not frontier.leads:
        return
    leads: Any = [dict(lead) for lead in frontier.leads]
    reading = Reading(leads=leads, seen=list(frontier.seen), tables=list(frontier.tables))
    crawler = await crawler_of(deps, theme)
    known = await asyncio.to_thread(mine.material)
    await crawler.read_on(reading, {place_of(s.address) for table in known.tables for s in table.sources}, pages)
    await crawler.read_leads(reading, pages)
    await asyncio.to_thread(_take_in, reading, theme, deps)


def _take_in(reading: Reading, theme: Theme, deps: Deps) -> None:
    mine = mine_of(deps, theme)
    candidates = candidates_in(deps, reading.tables, theme)
    known = longer(mine.material(), candidates)
    grown = extended(known, candidates, terms_of(theme), seed_of(deps, theme))
    mine.write_material(grown or known)
    leads = tuple(dict(lead) for lead in reading.leads)
    mine.write_frontier(Frontier(leads=leads, seen=tuple(reading.seen), tables=tuple(reading.tables)))


def _enrich(bundle: Bundle, deps: Deps, round: int) -> ComplexificationRound | None:
    environment = bundle.environment()
    material = mine_of(deps, environment.theme).material()
    left = left_out_of(bundle, deps)
    database, record = complexify(
        load_database(bundle, environment.database), material, round, seed_of(deps, environment.theme),
        deps.settings.mining.max_rows, columns=not bundle.tools(),
        notes=deps.settings.complexify.notes,
    )  # fmt: skip
    if record is not None:
        record = record.model_copy(update={"left_out": left})
        database.write(bundle)
        update: dict[str, Any] = {"database": database.schema(), "rounds": (*environment.rounds, record)}
        if material.tables:  # an imported bundle keeps the sources that it came with
            bundle.write_provenance(provenance_of(material, database))
            update["sources"] = sources_of(material, database)
        bundle.write_environment(environment.model_copy(update=update))
    return record


def _grow(bundle: Bundle, grown: Bundle, deps: Deps) -> None:
    deps.store.discard(grown.id)
    environment = bundle.environment()
    shutil.copytree(bundle.database, grown.database)
    if (provenance := bundle.provenance()).sources:
        grown.write_provenance(provenance)
    number = len(environment.rounds) + 1
    theme = environment.theme
    database, record = complexify(
        load_database(grown, environment.database), mine_of(deps, theme).material(), number,
        f"{seed_of(deps, theme)}:{grown.id}", deps.settings.mining.max_rows, notes=deps.settings.complexify.notes,
    )  # fmt: skip
    database.write(grown)
    rounds = (*environment.rounds, record) if record else environment.rounds
    update = {"id": grown.id, "tools": (), "database": database.schema(), "rounds": rounds}
    grown.write_environment(environment.model_copy(update=update))


# What mining and complexification share.


def mine_of(deps: Deps, theme: Theme) -> Mine:
    return Mine(deps.settings.workspace / "mined" / theme.id)


def seed_of(deps: Deps, theme: Theme) -> str:
    """Two themes about one topic draw different rows."""
    return f"{deps.settings.seed}:{theme.id}"


def fit_in(deps: Deps, theme: Theme) -> Fit:
    return fit_of(theme, Embedder(deps.settings.workspace) if deps.settings.mining.meaning else None)


async def crawler_of(deps: Deps, theme: Theme) -> Crawler:
    return Crawler(await deps.browser(), fit_in(deps, theme), mine_of(deps, theme), deps.settings.mining)


def candidates_in(deps: Deps, tables: Sequence[str], theme: Theme) -> list[Candidate]:
    mine = mine_of(deps, theme)
    return candidates_of([mine.raw_table(name) for name in tables], fit_in(deps, theme))
