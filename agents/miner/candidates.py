"""From tables as read to candidates for a database: pages of one listing joined, typed, named, scored."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import PurePosixPath
from urllib.parse import urlsplit

from agent_world.agents.miner.fit import Terms
from agent_world.schema import Source
from agent_world.tools.tables import DataTable, plural, read_table, snake_case
from agent_world.tools.web.page import RawTable

GENERIC = {"", "index", "page", "table", "tables", "data", "dataset", "download", "downloads", "file", "view", "html"}
LONGEST_NAME = 3
"""Words of a table's name, at most."""
SAME_SHARE = 0.5
"""Tables with one header of which this share of rows is equal are the same table twice, say as page and download."""
BODY_WEIGHT, CONTEXT_WEIGHT = 0.6, 0.4


@dataclass(frozen=True, slots=True)
class Candidate:
    table: DataTable
    title: str
    section: str
    """Address without the last part: tables of one section belong together."""
    sources: tuple[Source, ...]
    """`file` is still empty."""
    fit: float
    """Of title, columns and surrounding text to the theme, 0 to 1."""

    @property
    def name(self) -> str:
        return self.table.name


def candidates_of(tables: Sequence[tuple[RawTable, str]], terms: Terms) -> list[Candidate]:
    """All usable tables, best fit first; each `(table, surrounding text)`. Names are unique."""
    groups: dict[tuple[str, tuple[str, ...]], list[tuple[RawTable, str]]] = {}
    for raw, context in tables:
        groups.setdefault((_place(raw.address), raw.header), []).append((raw, context))
    found = [_candidate(group, terms) for group in _without_copies(list(groups.values()))]
    usable = [c for c in found if len(c.table.rows) > 1 and len(c.table.columns) > 1]
    usable.sort(key=lambda c: (-c.fit, -len(c.table.rows), c.sources[0].address))
    return _distinct_names(usable)


def _place(address: str) -> str:
    """The address without its query: where all pages of a listing are."""
    parts = urlsplit(address)
    return f"{parts.netloc}{parts.path}"


def _without_copies(groups: list[list[tuple[RawTable, str]]]) -> list[list[tuple[RawTable, str]]]:
    """The larger of two groups with one header and mostly the same rows."""
    kept: list[list[tuple[RawTable, str]]] = []
    for group in sorted(groups, key=lambda g: -sum(len(raw.rows) for raw, _ in g)):
        if not any(group[0][0].header == other[0][0].header and _overlap(group, other) for other in kept):
            kept.append(group)
    return kept


def _overlap(group: list[tuple[RawTable, str]], other: list[tuple[RawTable, str]]) -> bool:
    mine, theirs = ({str(row) for raw, _ in g for row in raw.rows} for g in (group, other))
    return len(mine & theirs) >= SAME_SHARE * len(mine)


def _candidate(group: list[tuple[RawTable, str]], terms: Terms) -> Candidate:
    first, context = group[0]
    whole = replace(first, rows=tuple(row for raw, _ in group for row in raw.rows))
    table = read_table(whole, table_name(first.title, first.address))
    body = f"{first.title} {table.name} {' '.join(table.columns)}"
    return Candidate(
        table=table,
        title=first.title,
        section=str(PurePosixPath(_place(first.address)).parent),
        sources=tuple(
            Source(file="", address=r.address, as_of=r.as_of, sha256=r.sha256, licence=r.licence, rows=len(r.rows))
            for r, _ in group
        ),
        fit=round(BODY_WEIGHT * terms.score(body) + CONTEXT_WEIGHT * terms.score(context), 4),
    )


def table_name(title: str, address: str) -> str:
    """A short plural name: from the last part of the address where that is a word, else from the title."""
    slug = PurePosixPath(urlsplit(address).path).stem
    words = snake_case(slug).split("_")
    if set(words) <= GENERIC or not all(word.isalpha() for word in words) or len(words) > LONGEST_NAME:
        words = [word for word in snake_case(title).split("_") if word not in GENERIC][:LONGEST_NAME]
    return plural("_".join(words)) if words else "records"


def with_short_names(chosen: Sequence[Candidate]) -> list[Candidate]:
    """The names they would have if there were no other candidates: `teams`, not `basketball_teams`."""
    fresh = [replace(c, table=replace(c.table, name=table_name(c.title, c.sources[0].address))) for c in chosen]
    return _distinct_names(fresh)


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
