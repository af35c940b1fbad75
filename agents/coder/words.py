"""How tables, columns and values are called in names and descriptions of tools."""

from agent_world.schema import Table
from agent_world.tools.tables import plural, singular

WORDS = {
    "id": "ID", "iata": "IATA code", "icao": "ICAO code", "iso": "ISO code", "faa": "FAA code", "gdp": "GDP",
    "url": "URL", "dep": "departure", "arr": "arrival", "dest": "destination", "alt": "altitude", "lat": "latitude",
    "lon": "longitude", "tz": "time zone", "tzone": "time zone", "tailnum": "tail number", "num": "number",
    "qty": "quantity", "avg": "average", "temp": "temperature", "mpg": "miles per gallon", "km2": "square kilometres",
}  # fmt: skip
"""Short forms that tables use, as descriptions say them."""
ENDINGS = ("_id", "_code", "_key", "_number", "_name")
VAGUE = {"id", "code", "key", "name", "number", "no", "title"}
TAKEN = {
    "limit", "offset", "query", "row", "rows", "found", "values", "value", "len", "min", "max", "sum", "round",
    "sorted", "any", "str", "int", "float", "bool", "dict", "list", "json", "csv", "sqlite3", "math", "functools",
    "closing", "tools", "self",
}  # fmt: skip
"""Names that generated code uses itself; an argument of such a name gets its table's name in front."""


def one(table: Table) -> str:
    """What a row is called in a name: `flight_routes` -> `flight_route`; derived `flights_by_origin` ->
    `flight_summary`."""
    head, by, _ = table.name.partition("_by_")
    return f"{singular(head)}_summary" if by and table.synthetic else singular(table.name)


def many(table: Table) -> str:
    return plural(one(table))


def noun(table: Table) -> str:
    return one(table).replace("_", " ")


def nouns(table: Table) -> str:
    return many(table).replace("_", " ")


def is_summary(table: Table) -> bool:
    """A table derived from another one by grouping: its rows are for reading."""
    return one(table).endswith("_summary") and not table.name.endswith("summaries")


def words(column: str) -> str:
    """`book_id` -> `book ID`."""
    return " ".join(WORDS.get(part, part) for part in column.split("_") if part).replace(" code code", " code")


def role(column: str) -> str:
    """What a foreign-key column stands for: `home_airport_id` -> `home_airport`."""
    for ending in ENDINGS:
        if column.endswith(ending) and len(column) > len(ending):
            return column.removesuffix(ending)
    return column


def article(text: str) -> str:
    return f"an {text}" if text[:1].lower() in "aeiou" else f"a {text}"


def argument_name(table: Table, column: str) -> str:
    return f"{one(table)}_{column}" if column in TAKEN else column


def key_name(table: Table, column: str) -> str:
    """The argument that takes a row's key: `id` alone does not say whose."""
    return f"{one(table)}_{column}" if column in VAGUE else argument_name(table, column)


def listed(names: tuple[str, ...]) -> str:
    """`a, b and c`."""
    return names[0] if len(names) == 1 else f"{', '.join(names[:-1])} and {names[-1]}"
