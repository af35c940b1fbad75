"""From tables as read to candidates for a database: pages of one listing joined, typed, named, scored."""

from collections.abc import Collection, Sequence
from dataclasses import dataclass, replace
from pathlib import PurePosixPath
from urllib.parse import urlsplit

from agent_world.agents.miner.crawl import place_of
from agent_world.agents.miner.fit import Fit
from agent_world.agents.miner.records import RECORD_CELL, joined_records
from agent_world.schema import Json, Retrieval
from agent_world.tools.tables import DataTable, plural, read_table, singular, snake_case
from agent_world.tools.web.page import RawTable

GENERIC = {
    "",
    "index",
    "page",
    "table",
    "tables",
    "data",
    "dataset",
    "download",
    "downloads",
    "file",
    "view",
    "html",
    "export",
}
LONGEST_NAME = 3
"""Words of a table's name, at most."""
SAME_SHARE = 0.5
"""Tables with one header of which this share of rows is equal are the same table twice, say as page and download."""
BODY_WEIGHT, CONTEXT_WEIGHT = 0.6, 0.4

Group = list[tuple[RawTable, str]]
"""Parts of one table, each with the text around it."""


@dataclass(frozen=True, slots=True)
class Candidate:
    table: DataTable
    title: str
    section: str
    """Address without the last part: tables of one section belong together."""
    sources: tuple[Retrieval, ...]
    """`file` is still empty."""
    fit: float
    """Of title, columns and surrounding text to the theme, 0 to 1."""
    form: str
    """What its source had it in."""
    short: str
    """The name it would have if there were no other candidates: `teams`, not `basketball_teams`."""

    @property
    def name(self) -> str:
        return self.table.name


def candidates_of(tables: Sequence[tuple[RawTable, str]], fit: Fit) -> list[Candidate]:
    """All usable tables, best fit first; each `(table, surrounding text)`. Names are unique."""
    several = _addresses_of_several(tables)
    groups: dict[tuple[str, tuple[str, ...]], Group] = {}
    for raw, context in tables:
        if raw.kind == "table":
            groups.setdefault((place_of(raw.address), raw.header), []).append((raw, context))
    whole = [_joined(group, several) for group in _without_copies(list(groups.values()))]
    whole += [_named(*joined) for joined in joined_records(tables)]
    usable = [found for found in whole if len(found[0].rows) > 1 and len(found[0].columns) > 1]
    bodies = fit.scores([f"{group[0][0].title} {table.name} {' '.join(table.columns)}" for table, group in usable])
    contexts = fit.scores([group[0][1] for _, group in usable])
    made = [
        _candidate(table, group, round(BODY_WEIGHT * body + CONTEXT_WEIGHT * context, 4))
        for (table, group), body, context in zip(usable, bodies, contexts, strict=True)
    ]
    made.sort(key=lambda c: (-c.fit, -len(c.table.rows), c.sources[0].address))
    return _distinct_names(made)


def _addresses_of_several(tables: Sequence[tuple[RawTable, str]]) -> set[str]:
    """Addresses that gave several tables, as archives and databases do: those go by their titles."""
    headers: dict[str, set[tuple[str, ...]]] = {}
    for raw, _ in tables:
        if raw.kind == "table":
            headers.setdefault(raw.address, set()).add(raw.header)
    return {address for address, found in headers.items() if len(found) > 1}


def _without_copies(groups: list[Group]) -> list[Group]:
    """The larger of two groups with one header and mostly the same rows."""
    kept: list[Group] = []
    for group in sorted(groups, key=lambda g: -sum(len(raw.rows) for raw, _ in g)):
        if not any(group[0][0].header == other[0][0].header and _overlap(group, other) for other in kept):
            kept.append(group)
    return kept


def _overlap(group: Group, other: Group) -> bool:
    mine, theirs = ({str(row) for raw, _ in g for row in raw.rows} for g in (group, other))
    return len(mine & theirs) >= SAME_SHARE * len(mine)


def _joined(group: Group, several: Collection[str]) -> tuple[DataTable, Group]:
    """The pages of one listing as one table."""
    first = group[0][0]
    whole = replace(first, rows=tuple(row for raw, _ in group for row in raw.rows))
    return read_table(whole, table_name(first.title, "" if first.address in several else first.address)), group


def _named(whole: RawTable, group: Group) -> tuple[DataTable, Group]:
    """A table of records: named by what they are, its first column by what one of them is."""
    name = table_name(whole.title, whole.address.rpartition("/")[0])
    own = singular(name)
    header = tuple(own if cell == RECORD_CELL and own not in whole.header else cell for cell in whole.header)
    return read_table(replace(whole, header=header), name), group


def _candidate(table: DataTable, group: Group, fit: float) -> Candidate:
    first = group[0][0]
    place = PurePosixPath(place_of(first.address)).parent
    return Candidate(
        table=table,
        title=first.title,
        section=str(place.parent if first.kind == "record" else place),
        sources=tuple(
            Retrieval(
                file="",
                address=r.address,
                as_of=r.as_of,
                sha256=r.sha256,
                licence=r.licence,
                rows=len(r.rows),
                retrieved=r.retrieved,
            )
            for r, _ in group
        ),
        fit=fit,
        form=first.form,
        short=table.name,
    )


def table_name(title: str, address: str) -> str:
    """A short plural name: from the last part of the address where that is a word, else from the title."""
    slug = PurePosixPath(urlsplit(address).path).stem
    words = snake_case(slug).split("_")
    if set(words) <= GENERIC or not all(word.isalpha() for word in words) or len(words) > LONGEST_NAME:
        words = [word for word in snake_case(title).split("_") if word not in GENERIC][:LONGEST_NAME]
    return plural("_".join(words)) if words else "records"


def with_short_names(chosen: Sequence[Candidate]) -> list[Candidate]:
    """Named as if there were no other candidates."""
    return _distinct_names([replace(c, table=replace(c.table, name=c.short)) for c in chosen])


def _distinct_names(found: list[Candidate]) -> list[Candidate]:
    """A later table of the same name is told apart by its section."""
    taken: set[str] = set()
    named: list[Candidate] = []
    for candidate in found:
        name = candidate.name
        if name in taken:
            section = snake_case(PurePosixPath(candidate.section).name)
            name = f"{section}_{name}" if section and f"{section}_{name}" not in taken else f"{name}_{len(taken)}"
        taken.add(name)
        named.append(replace(candidate, table=replace(candidate.table, name=name)))
    return named


def shown(candidate: Candidate, rows: int) -> dict[str, Json]:
    """What a model is told of a candidate: its columns with their types, and the first rows."""
    table = candidate.table
    return {
        "name": candidate.name,
        "title": candidate.title,
        "rows": len(table.rows),
        "columns": dict(zip(table.columns, table.types, strict=True)),
        **({"headers": dict(table.headers)} if table.headers else {}),
        "first_rows": [list(row) for row in table.rows[:rows]],
    }
