"""How tables, columns and values are called in names and descriptions of tools."""

from agent_world.agents.units import unit_of
from agent_world.schema import Table
from agent_world.tools.tables import plural, singular

WORDS = {
    "id": "ID", "iata": "IATA code", "icao": "ICAO code", "iso": "ISO code", "faa": "FAA code", "gdp": "GDP",
    "url": "URL", "dep": "departure", "arr": "arrival", "dest": "destination", "alt": "altitude", "lat": "latitude",
    "lon": "longitude", "tz": "time zone", "tzone": "time zone", "tailnum": "tail number", "num": "number",
    "qty": "quantity", "avg": "average", "temp": "temperature", "mpg": "miles per gallon", "km2": "square kilometres",
}  # fmt: skip
"""Short forms that tables use, as descriptions say them."""
NOT_COUNTED = {
    "average", "mean", "lowest", "highest", "largest", "smallest", "min", "max", "total", "most", "least", "number",
    "status", "address", "class", "gross", "series", "species", "minutes", "seconds", "hours", "thousands", "millions",
}  # fmt: skip
"""Words of columns that are plural, or numbers, and yet count nothing."""
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
    """`book_id` -> `book ID`, `height_in` -> `height in inches`."""
    unit = unit_of(column)
    parts = [part for part in column.split("_") if part]
    said = [WORDS.get(part, part) for part in (parts[:-1] if unit else parts)]
    return " ".join([*said, *(["in", unit] if unit else [])]).replace(" code code", " code")


def own(table: Table, column: str) -> str:
    """What a column is called beside its row: `loan_id` of a loan is its ID, `genre` of a genre its name, and `films`
    of a genre the number of films."""
    if column == one(table):
        return "name" if table.column(column).type == "string" else "number"
    if counts(table, column):
        return f"number of {words(column)}"
    return words(column.removeprefix(f"{one(table)}_"))


def counts(table: Table, column: str) -> bool:
    """Whether a column counts what it is called by: an integer, called by a plural."""
    first, last = column.split("_")[0], column.rpartition("_")[2]
    plain = singular(last) != last and first not in NOT_COUNTED and last not in NOT_COUNTED
    return plain and table.column(column).type == "integer" and unit_of(column) is None


def its(table: Table, column: str) -> str:
    """A sentence on a value that a row gets."""
    head, _, last = column.rpartition("_")
    if last == "by" and head:
        return f"Who {words(head)} it."
    return f"The {own(table, column)}." if counts(table, column) else f"Its {own(table, column)}."


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
