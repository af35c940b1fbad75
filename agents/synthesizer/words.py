"""Names of tables and columns as people say them, and values as they are written in a sentence."""

import re
from typing import Any

from agent_world.agents.synthesizer.derived import bare, superlative, tokens
from agent_world.agents.synthesizer.world import World
from agent_world.agents.units import UNITS, unit_of

EXPANSIONS = {
    "dep": "departure", "arr": "arrival", "lat": "latitude", "lon": "longitude", "long": "longitude",
    "lng": "longitude",
    "alt": "altitude", "elev": "elevation", "num": "number", "qty": "quantity", "avg": "average", "pct": "percentage",
    "pop": "population", "temp": "temperature", "tz": "time zone", "hr": "hour", "min": "minimum", "max": "maximum",
    "yr": "year",
    "mpg": "miles per gallon", "cyl": "cylinders", "hp": "horsepower", "gdp": "GDP", "iata": "IATA code",
    "icao": "ICAO code", "iso": "ISO code", "id": "ID", "dest": "destination", "manuf": "manufacturer",
    "dob": "date of birth", "desc": "description", "addr": "address", "tel": "telephone", "url": "web address",
    "wt": "weight", "cty": "city", "hwy": "highway", "vol": "volume", "dist": "distance", "sched": "scheduled",
    "tzone": "time zone", "tailnum": "tail number", "faa": "FAA code", "displ": "displacement",
    "fl": "fuel", "acq": "acquisition",
}  # fmt: skip
"""Common short forms, expanded as whole words of a column name."""
FUNCTIONS = {"max": "highest", "min": "lowest", "mean": "average", "sum": "total"}
SAME_PLURAL = {"species", "series", "aircraft", "news", "fish", "sheep"}
IRREGULAR = {
    "people": "person", "children": "child", "men": "man", "women": "woman", "data": "record", "indices": "index",
    "shelves": "shelf", "wolves": "wolf", "knives": "knife", "lives": "life", "leaves": "leaf",
}  # fmt: skip
MEASURE = re.compile(rf"(.+) in ({'|'.join(sorted(set(UNITS.values())))})")
ENDINGS = (" on", " at", " by")
COUNTED = ("s",)
NOT_ADDED = {
    "average", "mean", "lowest", "highest", "minimum", "maximum", "latitude", "longitude", "year", "month", "day",
    "rating", "percentage", "rate", "score", "rank", "elevation", "altitude", "number", "age", "hour", "depth",
    "temperature", "wind", "pressure", "speed", "magnitude",
}  # fmt: skip
NOT_COUNTED = ("status", "address", "class", "species", "series", "gross", "loss", "bonus", "basis", "process")


def singular(table: str) -> str:
    """`cities` -> `city`; a name that is no plural becomes `<name> entry`; a summary is a record of its own."""
    if "_by_" in table:
        return f"{_hyphened(table)} record"
    *head, last = table.split("_")
    word = _singular(last)
    return " ".join([*head, word])


def _singular(word: str) -> str:
    if word in SAME_PLURAL:
        return word
    if word in IRREGULAR:
        return IRREGULAR[word]
    if word.endswith("ies") and len(word) > 4:
        return word[:-3] + "y"
    if word.endswith(("sses", "xes", "ches", "shes", "zes")):
        return word[:-2]
    if word.endswith("s") and not word.endswith(("ss", "us", "is")):
        return word[:-1]
    return f"{word} entry"


def _hyphened(table: str) -> str:
    """`flights_by_origin_and_dest` -> `flights-by-origin-and-destination`."""
    return column_words(table).replace(" ", "-")


def plural(table: str) -> str:
    if "_by_" in table:
        return f"{_hyphened(table)} records"
    *head, last = table.split("_")
    is_plural = last in SAME_PLURAL or last in IRREGULAR or not _singular(last).endswith(" entry")
    return " ".join([*head, last if is_plural else f"{last} entries"])


def column_words(column: str) -> str:
    """`dep_delay` -> `departure delay`."""
    *head, last = [part for part in column.split("_") if part] or [column]
    words = [EXPANSIONS.get(part, part) for part in head]
    unit = unit_of("_".join([*head, last]))
    words += ["in", unit] if unit else [EXPANSIONS.get(last, last)]
    text = " ".join(words)
    return text.removesuffix(" code code") + " code" if text.endswith(" code code") else text


def field_words(world: World, table: str, column: str) -> str:
    """What a person calls a column; plurals that count something become `number of ...`, and a summary says of what."""
    found = world.tables[table].column(column)
    words = column_words(column)
    summed = _summary_words(world, table, column)
    if summed:
        return summed
    if found.type == "integer" and _counts(world, column, words):
        return f"number of {words}" if not words.startswith("number ") else words
    if words == singular(table):
        return f"{words} {dict(integer='number', number='amount').get(found.type, 'name')}"
    if found.type == "string" and words.endswith(ENDINGS):  # `added on`, `requested by`
        return f"{words.replace(' ', '-')} {'name' if words.endswith(' by') else 'date'}"
    if bare(column) and found.type in ("integer", "number"):
        return f"{words} value"  # `the lowest dearest` is hard to read
    if found.type == "boolean":
        return f"'{words}' flag"
    return words


def _counts(world: World, column: str, words: str) -> bool:
    """Whether a whole number of this name is how many there are of something."""
    if superlative(column) or " of " in words or " in " in words:
        return False
    return column in world.tables or (words.endswith(COUNTED) and not words.endswith(NOT_COUNTED))


def _summary_words(world: World, table: str, column: str) -> str:
    """`highest airport elevation` of a time zone's `highest`; empty for columns that say themselves what they are."""
    found = world.derived.get((table, column))
    if found is None or found.function not in FUNCTIONS:
        return ""
    word, of, noun = FUNCTIONS[found.function], column_words(found.column), singular(found.children)
    if column == found.column:
        return of if superlative(column) else f"{word} {field_words(world, found.children, column)}"
    if superlative(found.column) or not (bare(column) or found.function == "mean" or "most" in tokens(column)):
        return ""
    return f"{word} {of}" if of.startswith(noun) else f"{word} {noun} {of}"


def many_of(words: str) -> str:
    """`shortlist entry ID` -> `shortlist entry IDs`, `height in inches` -> `heights in inches`."""
    for link in (" of ", " in "):
        head, found, rest = words.partition(link)
        if found:
            return many_of(head) + found + rest
    head, _, last = words.rpartition(" ")
    if last in SAME_PLURAL or (last.endswith("s") and not last.endswith(("ss", "us", "is"))):
        return words
    if last.endswith("y") and last[-2:-1] not in "aeiou":
        last = last[:-1] + "ie"
    elif last.endswith(("s", "x", "ch", "sh", "z")):
        last += "e"
    return f"{head} {last}s".strip()


def said_of(words: str, value: str) -> str:
    """A column with its value: `owner Kim`, `height 82 inches`."""
    found = MEASURE.fullmatch(words)
    return f"{found[1]} {value} {found[2]}" if found else f"{words} {value}"


def role_words(column: str, parent: str) -> str:
    """The part that a foreign key plays, without its technical ending: `home_airport_id` -> `home airport`."""
    words = column_words(column)
    for ending in (" ID", " code", " number", " name", " key"):
        words = words.removesuffix(ending)
    noun = singular(parent)
    return "" if words in ("ID", "code", "") or words.split()[0] == noun.split()[0] else words


def degree(words: str, highest: bool, few: bool) -> str:
    """`higher`, `lowest`, or `later`, `earliest` of years and dates; `few` for two things compared."""
    pairs = (
        (("later", "earlier"), ("latest", "earliest")) if timed(words) else (("higher", "lower"), ("highest", "lowest"))
    )
    return pairs[0 if few else 1][0 if highest else 1]


def timed(words: str) -> bool:
    """Whether the column says when: it has an earliest value, and no mean that anybody asks for."""
    return words.rpartition(" ")[2] in ("year", "date", "month", "day")


def additive(words: str) -> bool:
    """Whether a sum of the column makes sense."""
    return not set(words.lower().split()) & NOT_ADDED


def article(noun: str) -> str:
    return f"an {noun}" if noun[:1].lower() in "aeiou" else f"a {noun}"


def value_text(value: Any) -> str:
    """How a literal stands in a question; read back by `mentions`."""
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, float):
        return str(int(value)) if value.is_integer() and abs(value) < 1e15 else repr(value)
    return str(value)


def joined(parts: list[str], word: str = "and") -> str:
    return parts[0] if len(parts) == 1 else f"{', '.join(parts[:-1])} {word} {parts[-1]}"
