"""What a task asks, apart from how it is worded: subjects (rows), conditions, asks and commands.

The wording engines put a meaning into words; a walk or a program makes it. Nothing here names a tool.
"""

from dataclasses import dataclass
from typing import Any, Literal

SubjectKind = Literal["key", "label", "value", "parent", "child"]
Comparison = Literal["=", ">", "<", ">=", "<="]
Reduction = Literal["sum", "mean", "min", "max"]


@dataclass(frozen=True, slots=True)
class Subject:
    """One row, as a person would point at it.

    `key`, `label`, `value`: the row of `table` whose `column` is `value`. `parent`: the row that foreign key `column`
    of `of` leads to. `child`: the only row of `table` whose foreign key `column` leads to `of`.
    """

    kind: SubjectKind
    table: str
    column: str
    value: Any = None
    of: "Subject | None" = None

    @property
    def depth(self) -> int:
        return 1 + (self.of.depth if self.of else 0)

    def literals(self) -> tuple[Any, ...]:
        return (self.value,) if self.of is None else self.of.literals()


@dataclass(frozen=True, slots=True)
class Where:
    """A condition: `column` compares to `value`; or leads to `subject` (`same`: has the subject's own value)."""

    column: str
    value: Any = None
    subject: Subject | None = None
    same: bool = False
    comparison: Comparison = "="
    contains: bool = False


@dataclass(frozen=True, slots=True)
class Group:
    """The rows of `table` that meet all conditions."""

    table: str
    where: tuple[Where, ...] = ()


@dataclass(frozen=True, slots=True)
class FieldAsk:
    """Values of columns of one row."""

    subject: Subject
    columns: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class CountAsk:
    group: Group


@dataclass(frozen=True, slots=True)
class ReduceAsk:
    """Sum, mean, least or greatest value of a column over a group."""

    group: Group
    column: str
    function: str
    rounded: bool = False


@dataclass(frozen=True, slots=True)
class WinnerAsk:
    """Which of the subjects has the greatest (or least) value of `column`, and that value."""

    subjects: tuple[Subject, ...]
    column: str
    highest: bool
    named: str
    """Column that the winner is named by."""
    beside: tuple[str, ...] = ()
    """Further columns of the winner."""


Ask = FieldAsk | CountAsk | ReduceAsk | WinnerAsk


@dataclass(frozen=True, slots=True)
class Command:
    """`set` columns of `subject`, `add` a row to `table`, or `remove` the subject."""

    kind: Literal["set", "add", "remove"]
    table: str
    subject: Subject | None = None
    values: tuple[tuple[str, Any], ...] = ()
    tells: tuple[str, ...] = ()
    """Columns of the row written that are to be told."""


@dataclass(frozen=True, slots=True)
class Meaning:
    """Everything one question says, in the order in which it is to be done: commands last in a walk."""

    asks: tuple[Ask, ...] = ()
    commands: tuple[Command, ...] = ()
