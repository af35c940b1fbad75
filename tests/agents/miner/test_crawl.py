"""Best-first reading of the offline web: what is opened first, and how pages about one thing each become a table."""

from dataclasses import replace
from pathlib import Path

import numpy as np

from agent_world.agents.miner.build import make_material
from agent_world.agents.miner.candidates import Candidate, candidates_of
from agent_world.agents.miner.crawl import Crawler, Lead, Reading, place_of, search_leads
from agent_world.agents.miner.extend import longer
from agent_world.agents.miner.fit import Meaning, Terms, fit_of, terms_of
from agent_world.errors import WebError
from agent_world.memory.embedder import Embedder, Vectors
from agent_world.schema import Theme
from agent_world.tools.web.search import SearchHit
from tests.agents.miner.shelf import PEAKS, Shelf, crawler

FLIGHTS = Theme(
    id="flights", name="Flights", description="Flights with carrier, origin and destination.", kind="prd",
    source="x.md", keywords=("flight", "carrier", "origin"),
)  # fmt: skip
PETS = Theme(
    id="pets", name="Pet licences", description="Licences of dogs and cats in Seattle, their breeds.", kind="prd",
    source="x.md", keywords=("pet", "licence", "breed"),
)  # fmt: skip


async def reading_of(folder: Path, **settings: int) -> tuple[Reading, Shelf]:
    async with Shelf() as shelf:
        reader = crawler(shelf, folder, **settings)
        leads, _ = await search_leads(shelf, ["peaks hike"], reader.fit, reader.mine, 10)
        reading = Reading(leads=leads, seen=[], tables=[])
        await reader.read_leads(reading, 6)
        return reading, shelf


async def test_pages_of_one_thing_each_become_one_table_beside_the_pages_that_were_asked_for(tmp_path: Path) -> None:
    reading, shelf = await reading_of(tmp_path)
    reader = crawler(shelf, tmp_path)
    candidates = candidates_of([reader.mine.raw_table(name) for name in reading.tables], reader.fit)
    peaks = next(candidate for candidate in candidates if candidate.name == "peaks")
    assert len(peaks.table.rows) == len(peaks.sources) == 46
    assert peaks.table.key == "peak"
    assert dict(zip(peaks.table.columns, peaks.table.types, strict=True))["elevation_feet"] == "integer"
    assert reading.opened <= 6 < len(shelf.opened)
    assert {"grades", "peaks"} <= {candidate.name for candidate in candidates}
    assert len({candidate.section for candidate in candidates if candidate.name in ("peaks", "grades")}) == 1


async def test_a_family_is_read_up_to_its_bound(tmp_path: Path) -> None:
    _, shelf = await reading_of(tmp_path, record_pages=5)
    assert sum("/adirondack-peaks/peaks/" in address for address in shelf.opened) <= 5 + 6


async def test_the_order_of_reading_does_not_depend_on_the_order_of_leads(tmp_path: Path) -> None:
    opened = []
    for turn in (1, -1):
        async with Shelf() as shelf:
            reader = crawler(shelf, tmp_path / str(turn))
            leads, _ = await search_leads(shelf, ["peaks hike", "race"], reader.fit, reader.mine, 10)
            await reader.read_leads(Reading(leads=leads[::turn], seen=[], tables=[]), 4)
            opened.append(shelf.opened)
    assert opened[0] == opened[1]


class Moody(Shelf):
    """A search that fails for one of the queries."""

    async def search(self, query: str, limit: int) -> list[SearchHit]:
        if query == "race":
            raise WebError("The search answered 503.")
        return await super().search(query, limit)


async def test_a_query_that_fails_is_noted_and_the_hits_of_the_others_are_used(tmp_path: Path) -> None:
    async with Moody() as shelf:
        reader = crawler(shelf, tmp_path)
        leads, failures = await search_leads(shelf, ["race", "peaks hike"], reader.fit, reader.mine, 10)
    assert leads
    assert failures == ["The search answered 503."]
    assert '"failed": "The search answered 503."' in (tmp_path / "crawl.jsonl").read_text()


async def found_in(folder: Path, query: str, most: int = 3, **settings: int) -> tuple[list[Candidate], Reading, Shelf]:
    async with Shelf() as shelf:
        reader = crawler(shelf, folder, PETS, **settings)
        leads, _ = await search_leads(shelf, [query], reader.fit, reader.mine, 1)
        reading = Reading(leads=leads, seen=[], tables=[])
        await reader.read_leads(reading, most)
    return candidates_of([reader.mine.raw_table(name) for name in reading.tables], reader.fit), reading, shelf


async def test_a_search_that_leads_to_a_file_gives_its_table(tmp_path: Path) -> None:
    (animals,), reading, shelf = await found_in(tmp_path, "animals: pet licences dogs cats others", most=1)
    assert shelf.opened == ["http://shelf.test/seattle-pets/animals.csv"]
    assert (animals.name, animals.table.key, reading.failures) == ("animals", "animal", [])


async def test_a_file_behind_an_address_that_looks_like_a_page_is_read_as_received(tmp_path: Path) -> None:
    found, reading, shelf = await found_in(tmp_path, "licences pet's name day of issue", most=2)
    assert shelf.opened[1] == "http://shelf.test/seattle-pets/licences/export?format=csv"
    assert {candidate.name: len(candidate.table.rows) for candidate in found}["licences"] == 240
    assert reading.failures == []
    async with Shelf() as shelf:
        reader = crawler(shelf, tmp_path, PETS)
        lead = Lead(
            address="http://shelf.test/seattle-pets/licences/export?format=csv&",
            text="",
            kind="page",
            score=1,
            found_on="",
        )
        await reader.open(lead, again := Reading(leads=[], seen=[], tables=[]))
        wrong = Lead(address="http://shelf.test/seattle-pets", text="", kind="download", score=1, found_on="")
        assert "Pet licences" in await reader.open(wrong, again)
    assert (len(again.tables), again.failures) == (1, [])


async def test_a_listing_that_was_cut_short_goes_on_where_it_stopped_and_keeps_its_rows(tmp_path: Path) -> None:
    async with Shelf() as shelf:
        reader = crawler(shelf, tmp_path, PETS, listing_pages=1)
        reading = Reading(leads=[], seen=[], tables=[])
        start = Lead(address="http://shelf.test/flights/flights", text="", kind="page", score=1.0, found_on="")
        flights = replace(reader, fit=terms_of(FLIGHTS))
        await flights.open(start, reading)
        first = make_material(chosen(flights, reading), terms_of(FLIGHTS), "0")
        (lead,) = [lead for lead in reading.leads if lead["kind"] == "listing"]
        assert (lead["address"], len(first.tables[0].rows)) == ("http://shelf.test/flights/flights?page=3", 100)
        opened = len(shelf.opened)
        reading.leads = [lead]
        await flights.read_leads(reading, 20)
        assert len(shelf.opened) == opened  # other pages come first while the database is not there
        await flights.read_on(reading, {"shelf.test/elsewhere"}, 20)
        assert len(shelf.opened) == opened
        await flights.read_on(reading, {"shelf.test/flights/flights"}, 20)
        more = longer(first, chosen(flights, reading))
    assert more.tables[0].rows[:100] == first.tables[0].rows
    assert (len(more.tables[0].rows), len(more.tables[0].sources)) == (200, 4)
    assert longer(more, chosen(flights, reading)) == more


def chosen(reader: Crawler, reading: Reading) -> list[Candidate]:
    found = candidates_of([reader.mine.raw_table(name) for name in reading.tables], reader.fit)
    return [candidate for candidate in found if candidate.short == "flights"]


def test_pages_that_are_numbered_in_their_path_are_of_one_listing() -> None:
    places = {place_of(f"http://x/towns{end}") for end in ("", "?page=2", "/page/3", "/page-4", "/seite/5/")}
    assert places == {"x/towns"}
    assert place_of("http://x/towns/2013") == "x/towns/2013"


class Marked:
    """An embedder whose vectors are known: the first axis is whether a text speaks of mountains in other words."""

    name, size = "marked", 2

    def embed(self, texts: list[str]) -> Vectors:
        high = [any(word in text.lower() for word in ("summit", "peak")) for text in texts]
        return np.array([[1.0, 0.0] if found else [0.0, 1.0] for found in high], dtype=np.float32)


def test_meaning_lifts_what_says_the_same_in_other_words_and_never_lowers() -> None:
    fit = Meaning(terms_of(PEAKS), "peaks", Marked())
    texts = ["summits of the range", "hike to a peak", "price of textbooks"]
    words, whole = terms_of(PEAKS).scores(texts), fit.scores(texts)
    assert words[0] == 0.0 < whole[0]
    assert words[1] < whole[1] <= 1.0
    assert whole[2] == words[2] == 0.0
    assert fit.scores([]) == []


def test_the_packaged_model_knows_a_cyclone_from_a_recipe(tmp_path: Path) -> None:
    theme = Theme(id="s", name="Storm watch", description="Hurricanes of a season.", kind="prd", source="x")
    fit = fit_of(theme, Embedder(tmp_path))
    near, far = fit.scores(["Tropical cyclones and typhoons", "Bread and butter pudding"])
    assert near > far == 0.0
    assert fit.scores(["Tropical cyclones and typhoons"]) == [near]
    assert isinstance(fit_of(theme, None), Terms)
