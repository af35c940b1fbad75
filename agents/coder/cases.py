"""Unit tests as text: names, literals, and the rows that are worth a test."""

import pprint
import random
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from agent_world.agents.coder.data import Data, Row
from agent_world.agents.coder.design import Design
from agent_world.agents.coder.draft import UnitTest
from agent_world.schema import Column

WIDTH = 110
REWRITABLE = ("json", "jsonl", "csv", "sqlite")
"""Formats of tables into which a test can put other rows (`rewrite`)."""


@dataclass(frozen=True, slots=True)
class Case:
    """One test: what it shows, in words for its name, and its lines."""

    shows: str
    lines: tuple[str, ...]

    def unit_test(self, tool: str) -> UnitTest:
        name = f"test_{tool}_{self.shows.replace(' ', '_')}"
        return UnitTest(name=name, source="\n".join([f"def {name}():", *(f"    {line}" for line in self.lines)]) + "\n")


def call(design: Design, **arguments: Any) -> str:
    """A call with keyword arguments; `key`, `by` and the like stand for the design's argument of that part."""
    given = {design.arguments.get(part, part): value for part, value in arguments.items()}
    return f"tools.{design.name}({', '.join(f'{name}={value!r}' for name, value in given.items())})"


def checked(got: str, expected: Any) -> tuple[str, ...]:
    """`check(got, expected)`, over several lines where it is long."""
    line = f"check({got}, {expected!r})"
    if len(line) <= WIDTH:
        return (line,)
    return (*assigned("expected", expected), f"check({got}, expected)")


def assigned(name: str, value: Any) -> tuple[str, ...]:
    """`name = value`, over several lines where it is long."""
    text = pprint.pformat(value, width=WIDTH - len(name), sort_dicts=False).splitlines()
    return (f"{name} = {text[0]}", *(f"{' ' * (len(name) + 3)}{part}" for part in text[1:]))


def refused(design: Design, code: str, **arguments: Any) -> tuple[str, ...]:
    given = {design.arguments.get(part, part): value for part, value in arguments.items()}
    words = ", ".join(f"{name}={value!r}" for name, value in given.items())
    return (f'refused("{code}", tools.{design.name}, {words})',)


def telling(data: Data, design: Design, rng: random.Random) -> list[Row]:
    """Rows worth a look: an ordinary one, the last, one with gaps, one beyond ASCII; none twice."""
    rows = data.rows[design.table.name]
    gaps = [row for row in rows if None in row.values()]
    foreign = [row for row in rows if any(isinstance(v, str) and not v.isascii() for v in row.values())]
    wanted = [rng.choice(rows), rows[-1], *gaps[:1], *foreign[:1]]
    return [row for number, row in enumerate(wanted) if row not in wanted[:number]]


def unknown(values: Sequence[Any], column: Column) -> Any:
    """A value of the column's type that no row has."""
    if column.type == "integer":
        return max((v for v in values if v is not None), default=0) + 1000
    if column.type == "number":
        return max((v for v in values if v is not None), default=0.0) + 1000.5
    text = "no-such-" + column.name
    while text in values:
        text += "-x"
    return text


def wrong_type(column: Column) -> Any:
    return {"integer": "many", "number": "much", "string": 7, "boolean": "perhaps"}[column.type]


def paged(rows: Sequence[Row], columns: Sequence[str], limit: int, offset: int = 0) -> dict[str, Any]:
    items = [{c: row[c] for c in columns} for row in rows[offset : offset + limit]]
    return {"items": items, "total": len(rows)}
