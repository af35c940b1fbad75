"""Names of tables and columns: snake_case of ASCII letters, unique, never a Python keyword."""

import keyword
import re
import unicodedata
from collections.abc import Sequence

from anyascii import anyascii

IRREGULAR = {
    "people": "person", "mice": "mouse", "children": "child", "series": "series", "species": "species",
    "movies": "movie", "cookies": "cookie", "aircraft": "aircraft", "buses": "bus", "statuses": "status",
    "counties": "county", "houses": "house", "horses": "horse", "courses": "course", "purchases": "purchase",
    "calories": "calorie", "ups": "up", "shelves": "shelf", "wolves": "wolf", "prices": "price",
    "releases": "release", "databases": "database", "sales": "sale", "cases": "case",
}  # fmt: skip
PLURAL = {one: many for many, one in IRREGULAR.items()}


def snake_case(text: str) -> str:
    """`IMDB Rating` -> `imdb_rating`, `MPG.city` -> `mpg_city`, `milesPerGallon` -> `miles_per_gallon`,
    `Fläche (km²)` -> `flache_km2`, `Часовой пояс` -> `chasovoy_poyas`, `城市` -> `cheng_shi`."""
    text = unicodedata.normalize("NFKD", text.replace("ß", "ss"))
    text = "".join(c for c in text if not unicodedata.combining(c))
    text = "".join(anyascii(c) if not c.isascii() and c.isalnum() else c for c in text)
    text = text.replace("\ufeff", "").replace("%", " percent ").replace("#", " number ").replace("°", " degrees ")
    text = re.sub(r"([a-z\d])([A-Z])", r"\1_\2", text)
    text = re.sub(r"[^a-z0-9]+", "_", text.lower()).strip("_")
    if text and text[0].isdigit():
        text = f"n_{text}"
    return f"{text}_name" if keyword.iskeyword(text) else text


def unique_names(header: Sequence[str]) -> tuple[list[str], list[str]]:
    """Column names for a header, all different, and a note for each one that had to be renamed."""
    names: list[str] = []
    notes: list[str] = []
    for number, title in enumerate(header, 1):
        name = wanted = snake_case(title) or f"column_{number}"
        for suffix in range(2, len(header) + 2):
            if name not in names:
                break
            name = f"{wanted}_{suffix}"
        if wanted == f"column_{number}" and title.strip() and title != wanted:
            notes.append(f"header {title!r} has no letters: its column is {wanted}")
        if name != wanted:
            notes.append(f"second column {title!r} renamed {name}")
        names.append(name)
    return names, notes


def foreign(title: str) -> bool:
    """Whether a header holds letters that its column's name cannot."""
    return any(c.isalnum() and not c.isascii() for c in title)


def singular(name: str) -> str:
    """Of the last word of a snake_case name: `flight_routes` -> `flight_route`."""
    head, _, last = name.rpartition("_")
    return f"{head}_{_singular(last)}" if head else _singular(last)


def _singular(word: str) -> str:
    if word in IRREGULAR:
        return IRREGULAR[word]
    if word.endswith("ies") and len(word) > 4:
        return word[:-3] + "y"
    if word.endswith(("sses", "shes", "ches", "xes", "zes")):
        return word[:-2]
    if word.endswith("s") and not word.endswith(("ss", "us", "is")) and len(word) > 3:
        return word[:-1]
    return word


def plural(name: str) -> str:
    """Of the last word of a snake_case name; one that is plural already stays."""
    head, _, last = name.rpartition("_")
    if last in PLURAL:
        last = PLURAL[last]
    elif _singular(last) == last:
        last = _plural(last)
    return f"{head}_{last}" if head else last


def _plural(word: str) -> str:
    if word.endswith("y") and len(word) > 2 and word[-2] not in "aeiou":
        return word[:-1] + "ies"
    return word + ("es" if word.endswith(("s", "x", "z", "sh", "ch")) else "s")
