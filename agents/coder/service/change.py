"""A change of a row under preconditions, as it is planned: what it demands, and what it does."""

from dataclasses import dataclass, field

from agent_world.agents.coder.service.lifecycle import Limit
from agent_world.schema import ForeignKey, Table


@dataclass(frozen=True, slots=True)
class Reference:
    """An argument that names a row of another table. `shared`: columns of both that must agree (the same owner)."""

    table: Table
    shared: tuple[str, str] | None


@dataclass(frozen=True, slots=True)
class Parts:
    """A list argument that names parts of the row by `column`."""

    argument: str
    table: Table
    link: ForeignKey
    column: str


@dataclass(frozen=True, slots=True)
class Swap:
    """A list argument that names what the parts are exchanged for, place by place."""

    argument: str
    table: Table
    target: str
    same: tuple[str, str] | None
    """Column of the part and of the new row that must agree: no shirt for a shoe."""
    flag: str | None
    """Boolean column that must be true of the new row."""
    copies: tuple[str, ...]
    """Columns that a part has from the row it refers to (true of all parts in the data)."""
    done: bool
    """Whether the parts become the new ones at once; else the exchange is only asked for."""


@dataclass(frozen=True, slots=True)
class Spread:
    """A reference that all parts of the row get: the payment method of an order's payments."""

    argument: str
    table: Table
    link: ForeignKey
    column: str


@dataclass(frozen=True, slots=True)
class Change:
    table: Table
    key: str
    """Argument that names the row."""
    status: str | None = None
    """Column of the precondition and of the new state."""
    needs: str | bool | None = None
    among: tuple[str, ...] = ()
    """States that allow it, where there are several."""
    after: str | bool | None = None
    sets: dict[str, str] = field(default_factory=dict)
    """Argument -> column."""
    may_be_empty: frozenset[str] = frozenset()
    choices: dict[str, tuple[str, ...]] = field(default_factory=dict)
    references: dict[str, Reference] = field(default_factory=dict)
    parts: Parts | None = None
    swap: Swap | None = None
    spread: Spread | None = None
    empty: tuple[str, ...] = ()
    """Columns that must not be filled yet: what was returned is not returned again."""
    ordered: tuple[tuple[str, str], ...] = ()
    """Pairs of date columns, the first of which is not later than the second."""
    differ: tuple[str, ...] = ()
    """Arguments that must differ from what the row has."""
    later: tuple[str, ...] = ()
    """Arguments that must be later than what the row has."""
    dates: tuple[str, ...] = ()
    limit: Limit | None = None

    @property
    def does_something(self) -> bool:
        return bool(self.after is not None or self.sets or self.spread or (self.swap and self.swap.done))

    @property
    def conditional(self) -> bool:
        return bool(self.among or self.empty or self.ordered or self.differ or self.later or self.limit)

    @property
    def simple(self) -> bool:
        """What a plain update does as well, and tasks can be made of."""
        stateful = self.needs is not None or self.after is not None or self.conditional
        return not (stateful or self.parts or self.spread) and len(self.sets) < 2


class NotServed(Exception):
    """Why the data cannot serve a real tool, in words."""
