"""What a programmatic task does, apart from the tools that do it and the words that ask for it.

A plan is read three times: `plan_code` makes a program over the tools of it, `plan_sql` computes it over the raw
tables, and `plan_words` asks for it. All expressions speak of the state before the first change; the changes of a
plan are made in order. Rows are pointed at as in questions: by `meaning.Group` and `meaning.Subject`.
"""

from collections.abc import Iterator
from typing import Annotated, Literal, TypeVar

from pydantic import Field

from agent_world.agents.synthesizer.meaning import Comparison, Group, Subject
from agent_world.schema import Json, Record

Function = Literal["count", "sum", "mean", "min", "max"]
TextComparison = Literal["contains", "starts with"]
"""Case aside."""


class Attr(Record):
    """A value that every row of a set has.

    Own: `column`. Of its parent: `column` of the row that foreign key `via` leads to. Of its children: `function`
    over `column` (for `count`: none) of the rows of table `children` whose foreign key `via` leads to it.
    """

    column: str = ""
    via: str = ""
    children: str = ""
    function: Function = "count"

    @property
    def own(self) -> bool:
        return not self.via


class Test(Record):
    """A condition on a row; a row without the value does not meet it."""

    attr: Attr
    comparison: Comparison | TextComparison
    value: Json


class Selection(Record):
    """The rows of a group that meet all tests."""

    group: Group
    tests: tuple[Test, ...] = ()

    @property
    def table(self) -> str:
        return self.group.table


class Measure(Record):
    """Number of rows, or a function over a value of theirs; `mean` and sums of fractions to two decimals."""

    kind: Literal["measure"] = "measure"
    function: Function
    of: Selection
    attr: Attr | None = None


class Share(Record):
    """How many percent of the rows meet the test, to two decimals."""

    kind: Literal["share"] = "share"
    of: Selection
    test: Test


class Versus(Record):
    """Two figures compared: their distance, or the first divided by the second to two decimals."""

    kind: Literal["versus"] = "versus"
    how: Literal["difference", "ratio"]
    left: Measure
    right: Measure


class Pick(Record):
    """The one row with the greatest or least value."""

    kind: Literal["pick"] = "pick"
    of: Selection
    by: Attr
    highest: bool


class One(Record):
    """The one row that a subject points at."""

    kind: Literal["one"] = "one"
    subject: Subject


Row = Annotated[Pick | One, Field(discriminator="kind")]


class Cell(Record):
    """A value of one row."""

    kind: Literal["cell"] = "cell"
    row: Row
    attr: Attr


class Best(Record):
    """Rows put together by a value of theirs: the value whose rows have the greatest or least figure, or (`figure`)
    that figure itself."""

    kind: Literal["best"] = "best"
    of: Selection
    by: Attr
    function: Function
    attr: Attr | None = None
    highest: bool = True
    figure: bool = False


class Listing(Record):
    """A value of each row, in any order; or (`by`) in the order of another value, of the `first` so many alone where
    that is not 0."""

    kind: Literal["listing"] = "listing"
    of: Selection
    attr: Attr
    by: Attr | None = None
    highest: bool = True
    first: int = 0


class Constant(Record):
    kind: Literal["constant"] = "constant"
    value: Json


class Written(Record):
    """A column of the row that the change before wrote, as it is then."""

    kind: Literal["written"] = "written"
    column: str


Scalar = Annotated[Measure | Share | Versus | Cell | Best | Constant, Field(discriminator="kind")]
Expression = Annotated[
    Measure | Share | Versus | Cell | Best | Constant | Listing | Written, Field(discriminator="kind")
]


class Put(Record):
    """Set a column of one row, or of every row of a selection."""

    kind: Literal["put"] = "put"
    target: Row | Selection
    column: str
    value: Scalar


class Remove(Record):
    """Delete one row, or every row of a selection."""

    kind: Literal["remove"] = "remove"
    target: Row | Selection


class Add(Record):
    """A new row; columns that are not given are the tool's own business (a generated key, a default)."""

    kind: Literal["add"] = "add"
    table: str
    values: tuple[tuple[str, Scalar], ...]


class Act(Record):
    """A business operation, by its tool, on one row or on every row of a selection.

    `values` are its arguments but the key; an argument that takes a list gets the values of a listing, or the one
    value."""

    kind: Literal["act"] = "act"
    tool: str
    target: Row | Selection
    values: tuple[tuple[str, Scalar | Listing], ...] = ()


class Tell(Record):
    """A field of the answer."""

    kind: Literal["tell"] = "tell"
    key: str
    type: str
    """JSON type; of a list `[string]`."""
    value: Expression


class Branch(Record):
    """One way or the other, by a comparison of two figures."""

    kind: Literal["branch"] = "branch"
    left: Scalar
    comparison: Comparison
    right: Scalar
    yes: tuple["Node", ...]
    no: tuple["Node", ...] = ()


Node = Annotated[Put | Remove | Add | Act | Tell | Branch, Field(discriminator="kind")]


class Plan(Record):
    nodes: tuple[Node, ...]


P = TypeVar("P", bound=Record)


def parts(found: object, kind: type[P]) -> Iterator[P]:
    """Every part of this type, in the order in which the plan names them."""
    if isinstance(found, kind):
        yield found
    if isinstance(found, Record):
        for name in type(found).model_fields:
            yield from parts(getattr(found, name), kind)
    elif isinstance(found, tuple):
        for item in found:
            yield from parts(item, kind)


def fields(nodes: tuple[Node, ...]) -> dict[str, str]:
    """Keys of the answer and their types; both ways of a branch tell the same."""
    found: dict[str, str] = {}
    for tell in parts(nodes, Tell):
        found.setdefault(tell.key, tell.type)
    return found


def ordered(nodes: tuple[Node, ...]) -> frozenset[str]:
    """Keys of lists whose order counts."""
    return frozenset(t.key for t in parts(nodes, Tell) if isinstance(t.value, Listing) and t.value.by is not None)


def branches(nodes: tuple[Node, ...]) -> int:
    return sum(1 for _ in parts(nodes, Branch))


def depth(nodes: tuple[Node, ...]) -> int:
    """How deep branches stand in branches."""
    return max((1 + max(depth(n.yes), depth(n.no)) for n in nodes if isinstance(n, Branch)), default=0)


def changes(nodes: tuple[Node, ...]) -> bool:
    return any(True for kind in (Put, Remove, Add, Act) for _ in parts(nodes, kind))
