from typing import Any

from agent_world.agents.miner.candidates import Candidate, candidates_of, table_name, with_short_names
from agent_world.agents.miner.fit import terms_of
from agent_world.agents.miner.procedural import ProceduralMiner, align, expand
from agent_world.schema import Theme
from agent_world.tools.web.page import RawTable

THEME = Theme(
    id="flights", name="Flight operations", description="Departures, airlines and aircraft.", kind="prd", source="x.md",
    keywords=("flight", "airline", "aircraft", "airport"),
)  # fmt: skip
TERMS = terms_of(THEME)


def raw(address: str, header: tuple[str, ...], *rows: tuple[Any, ...], title: str = "") -> RawTable:
    name = title or address.rpartition("/")[2]
    return RawTable(name, header, rows, f"http://site/{address}", as_of=None, sha256="0" * 64, licence="CC0")


def flights(first: int, last: int, page: int = 1) -> RawTable:
    rows = [(str(i), ("AA", "UA", "DL")[i % 3], str(100 + i)) for i in range(first, last)]
    return raw(f"air/flights?page={page}", ("id", "carrier", "distance"), *rows, title="Flights")


AIRLINES = raw("air/airlines", ("carrier", "name"), ("AA", "American"), ("UA", "United"), ("DL", "Delta"))
RECIPES = raw("food/recipes", ("dish", "minutes"), *[(f"dish {i}", str(i)) for i in range(40)])


def found(*tables: RawTable) -> list[Candidate]:
    return candidates_of([(table, f"{table.title} of the air service") for table in tables], TERMS)


def test_the_pages_of_a_listing_are_one_table_with_all_its_sources() -> None:
    (candidate,) = found(flights(0, 20), flights(20, 40, page=2))
    assert candidate.name == "flights"
    assert len(candidate.table.rows) == 40
    assert [source.rows for source in candidate.sources] == [20, 20]


def test_a_page_and_its_download_are_one_table() -> None:
    page = flights(0, 30)
    download = raw("files/flights.csv", page.header, *flights(0, 40).rows)
    (candidate,) = found(page, download)
    assert len(candidate.table.rows) == 40


def test_tables_that_only_share_a_header_stay_two() -> None:
    one = raw("air/positions", ("code", "name"), ("P", "Pilot"), ("C", "Captain"))
    two = raw("ball/positions", ("code", "name"), ("G", "Guard"), ("F", "Forward"))
    assert {c.name for c in found(one, two)} == {"positions", "ball_positions"}
    assert [c.name for c in with_short_names([c for c in found(one, two) if c.name != "positions"])] == ["positions"]


def test_names_come_from_the_address_or_else_the_title() -> None:
    assert table_name("Anything", "http://h/air/flight_route") == "flight_routes"
    assert table_name("Flight routes", "http://h/data.csv") == "flight_routes"
    assert table_name("Flights", "http://h/view/8421?x=1") == "flights"


def test_the_miner_takes_the_table_that_fits_and_those_that_join_with_it() -> None:
    chosen = align(found(RECIPES, AIRLINES, flights(0, 40)), limit=4)
    assert [c.name for c in chosen] == ["flights", "airlines"]


def test_nothing_is_chosen_where_nothing_fits() -> None:
    assert align(candidates_of([(RECIPES, "Recipes")], TERMS), limit=4) == []


async def test_queries_are_the_themes_own_words_and_none_twice() -> None:
    miner = ProceduralMiner()
    first = await miner.queries(THEME, [], 2)
    assert first == ["Flight operations", "flight airline aircraft"]
    assert not set(await miner.queries(THEME, first, 3)) & set(first)
    assert await miner.queries(THEME, expand(THEME), 3) == []
