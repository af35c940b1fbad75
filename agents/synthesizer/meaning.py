"""What a task asks, apart from how it is worded: subjects (rows), conditions, asks and commands.

The wording engines put a meaning into words; a walk or a program makes it. Nothing here names a tool.
"""

from dataclasses import dataclass
from typing import Any, Literal

SubjectKind = Literal["key", "label", "value", "parent", "child", "that"]
Comparison = Literal["=", ">", "<", ">=", "<="]
Reduction = Literal["sum", "mean", "min", "max"]


@dataclass(frozen=True, slots=True)
class Subject:
    """One row, as a person would point at it.

    `key`, `label`, `value`: the row of `table` whose `column` is `value`. `parent`: the row that foreign key `column`
    of `of` leads to. `child`: the only row of `table` whose foreign key `column` leads to `of`. `that`: the row of
    `table` that the sentence before ended with.
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


MeasureKind = Literal["own", "parent", "children", "fold"]


@dataclass(frozen=True, slots=True)
class Measure:
    """A number that each row of a group has.

    `own`: its `column`. `parent`: `column` of the row of `table` that its foreign key `link` leads to. `children`: how
    many rows of `table` lead to it by their foreign key `link`. `fold`: `function` over `column` of those.
    """

    kind: MeasureKind
    column: str = ""
    table: str = ""
    link: str = ""
    function: str = ""


@dataclass(frozen=True, slots=True)
class Where:
    """A condition: `column` (or `measure`) compares to `value`; or `column` leads to `subject` (`same`: has the
    subject's own value)."""

    column: str
    value: Any = None
    subject: Subject | None = None
    same: bool = False
    comparison: Comparison = "="
    contains: bool = False
    measure: Measure | None = None
    among: tuple[Any, ...] = ()
    """The column has one of these values."""
    subjects: tuple[Subject, ...] = ()
    """The column leads to one of these rows."""


@dataclass(frozen=True, slots=True)
class Group:
    """The rows of `table` that meet all conditions; or the `named` ones; or the `first` so many by `measure`."""

    table: str
    where: tuple[Where, ...] = ()
    named: tuple[Subject, ...] = ()
    first: int = 0
    measure: Measure | None = None


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


@dataclass(frozen=True, slots=True)
class FoldAsk:
    """One number made of the measures of all rows of a group."""

    group: Group
    measure: Measure
    function: str
    rounded: bool = False


@dataclass(frozen=True, slots=True)
class ShareAsk:
    """How many rows of a group meet a condition, or which by their `named` column."""

    group: Group
    where: Where
    named: str = ""


@dataclass(frozen=True, slots=True)
class RankAsk:
    """The rows of a group by their `named` column, in the order of a measure."""

    group: Group
    measure: Measure
    highest: bool
    named: str


ShortAsk = FieldAsk | CountAsk | ReduceAsk | WinnerAsk
Ask = ShortAsk | FoldAsk | ShareAsk | RankAsk


@dataclass(frozen=True, slots=True)
class Pick:
    """Of a group, the row that leads by a measure: what comes next is about it."""

    group: Group
    measure: Measure
    highest: bool


@dataclass(frozen=True, slots=True)
class Command:
    """`do` the business operation `link` with `subject` (`values` are its arguments), `set` columns of `subject`, `add`
    a row to `table` (for `subject`, where its foreign key `link` leads to), `remove` the subject, `move` all rows of
    `table` that `link` leads from `subject` to `target`, or `set each` row of `group`."""

    kind: Literal["set", "add", "remove", "move", "set each", "do"]
    table: str
    subject: Subject | None = None
    values: tuple[tuple[str, Any], ...] = ()
    tells: tuple[str, ...] = ()
    """Columns of the row written that are to be told."""
    link: str = ""
    target: Subject | None = None
    group: Group | None = None
    counted: Group | None = None
    """Rows whose number is to be told afterwards, where all that the new row shows is said in the question."""


@dataclass(frozen=True, slots=True)
class Meaning:
    """Everything one question says, in the order in which it is to be done: commands last in a walk."""

    asks: tuple[Ask, ...] = ()
    commands: tuple[Command, ...] = ()
    picks: tuple[Pick, ...] = ()
    """Before all asks; each of the last one's row or of a group of its own."""
