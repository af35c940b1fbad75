"""Tables out of records: the infoboxes, definition lists and single things of many pages of one kind."""

from collections.abc import Iterator, Sequence
from dataclasses import replace

from agent_world.tools.web.page import RawTable

RECORD_CELL = "page"
"""Header of a record's first cell: the page that it is about."""
LEAST_RECORDS = 3
LEAST_FILLED = 0.3
"""Share of the records that must have a fact for it to be a column."""


def joined_records(tables: Sequence[tuple[RawTable, str]]) -> Iterator[tuple[RawTable, list[tuple[RawTable, str]]]]:
    """Each kind of record that the pages of one place hold, as one table with a row a page, and what it was made of.

    Pages are ordered by address, so the order in which they were read does not matter.
    """
    groups: dict[tuple[str, str], dict[str, tuple[RawTable, str]]] = {}
    for raw, context in tables:
        if raw.kind == "record":
            groups.setdefault((raw.address.rpartition("/")[0], raw.title), {}).setdefault(raw.address, (raw, context))
    for group in groups.values():
        members = [group[address] for address in sorted(group)]
        if len(members) >= LEAST_RECORDS:
            yield _table([raw for raw, _ in members]), members


def _table(records: Sequence[RawTable]) -> RawTable:
    facts = [dict(zip(record.header, record.rows[0], strict=True)) for record in records]
    names = dict.fromkeys(name for record in records for name in record.header)
    header = tuple(name for name in names if sum(name in fact for fact in facts) >= LEAST_FILLED * len(facts))
    return replace(
        records[0], header=header, rows=tuple(tuple(fact.get(name, "") for name in header) for fact in facts)
    )
