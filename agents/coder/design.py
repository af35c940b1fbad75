"""Which tools a database calls for: candidates from its tables, columns and keys, and a balanced choice among them.

A design says what a tool does; `spec.py` says how it looks from outside, `code.py` how it works, `tests.py` what it
must give.
"""

import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any, Literal

from agent_world.agents.coder.words import is_summary
from agent_world.schema import ForeignKey, Table

Kind = Literal[
    "get", "search", "related", "aggregate", "update", "count", "delete", "list", "create", "top", "joined", "reassign"
]
KINDS: tuple[Kind, ...] = (
    "get", "search", "related", "aggregate", "update", "count", "delete", "list", "create", "top", "joined", "reassign"
)  # fmt: skip
"""In order of use: the first ones are chosen first."""
WRITES = ("create", "update", "delete", "reassign")
LAST = -9
"""Quality of what is only worth having where a table offers nothing better."""
PER_TABLE = 8
"""Most tools of one table, while other tables have fewer."""
PER_SUMMARY = 4
"""The same of a table that sums up another one, whose figures hardly bear further figures."""


@dataclass(frozen=True, slots=True)
class Design:
    """One tool to be written. `column` is acted on, `by` filters, `link` is the foreign key that it follows.

    `arguments` maps a part (`key`, `query`, `by`, `value`, `from`, `to`, or `new:<column>`) to the argument's name.
    """

    kind: Kind
    table: Table
    name: str
    column: str | None = None
    by: str | None = None
    function: str | None = None
    link: ForeignKey | None = None
    arguments: dict[str, str] = field(default_factory=dict)
    quality: int = 0
    """Among candidates of one kind and table, the higher is the more useful."""
    mirrors: str | None = None
    """The real service's tool whose interface this one takes over."""
    left_out: tuple[str, ...] = ()
    """Arguments of that tool which the data cannot serve."""

    @property
    def writes(self) -> bool:
        return self.kind in WRITES

    @property
    def key(self) -> str:
        return self.table.primary_key


def link_of(table: Table, column: str | None) -> ForeignKey | None:
    return next((k for k in table.foreign_keys if k.column == column), None)


def numbered_key(table: Table) -> str | None:
    """The key, where it is a running number that a new row gets by itself."""
    integer = table.column(table.primary_key).type == "integer"
    return table.primary_key if integer and re.search(r"(^|_)(id|no|number|nr)$", table.primary_key) else None


def choose(found: Sequence[Design], most: int, others: Counter[str] | None = None) -> list[Design]:
    """At most `most` of them: what the theme's service has, a getter a table, one of each kind, then evenly. `others`:
    tools that the tables have already."""
    names: set[str] = set()
    chosen: list[Design] = []
    held: Counter[str] = Counter(others)

    def take(design: Design) -> None:
        if len(chosen) < most and design.name not in names:
            names.add(design.name)
            chosen.append(design)
            held[design.table.name] += 1

    for design in found:
        if design.mirrors or (design.kind == "get" and not is_summary(design.table)):
            take(design)
    for kind in KINDS:
        if not any(d.kind == kind for d in chosen):
            of_kind = [d for d in found if d.kind == kind]
            for design in sorted(of_kind, key=lambda d: (is_summary(d.table), -d.quality, held[d.table.name]))[:1]:
                take(design)
    for design in sorted(found, key=_turns(found)):
        room = PER_SUMMARY if is_summary(design.table) else PER_TABLE
        if held[design.table.name] < room and not (design.quality == LAST and _has_list(chosen, design.table)):
            take(design)
    order = [d.table.name for d in found]
    return sorted(chosen, key=lambda d: (order.index(d.table.name), KINDS.index(d.kind)))


def _has_list(chosen: Sequence[Design], table: Table) -> bool:
    return any(d.table is table and d.kind in ("search", "related", "list") for d in chosen)


def _turns(found: Sequence[Design]) -> Any:
    """Sort key: the best of each kind and table first, then the second best; tables derived from others last."""
    turn: dict[int, int] = {}
    seen: Counter[tuple[str, str]] = Counter()
    for design in found:
        turn[id(design)] = seen[design.table.name, design.kind]
        seen[design.table.name, design.kind] += 1
    return lambda d: (turn[id(d)] + is_summary(d.table), KINDS.index(d.kind))
