"""A chain of calls in the making, for walks that go over many rows: the steps, and what each row was shown by.

The rows of the database say what a call will show, so a walk is planned without running anything. Every value that
decides something is noted as a claim, and checked against what the tools say when the chain is run.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple

from agent_world.agents.synthesizer.world import PAGE, Action, Row, World
from agent_world.schema import Answer, Argument, Ref, Step, Value


class Given(NamedTuple):
    """An argument, and the value that it has by the rows."""

    argument: Argument
    value: Any


@dataclass(frozen=True, slots=True)
class Cell:
    """A value of a row, by the rows and by what shows it; of several values one is made by `function`."""

    value: Any
    refs: tuple[Ref, ...]
    function: str = ""


@dataclass(slots=True)
class Site:
    """A row that was reached, with the columns of it that a step shows."""

    table: str
    row: Row
    shown: dict[str, Ref] = field(default_factory=dict)

    def show(self, action: Action, step: int, index: int = 0) -> None:
        for column, path in action.item_paths(index).items():
            self.shown.setdefault(column, Ref(step=step, path=path))

    def given(self, column: str) -> Given:
        return Given(self.shown[column], self.row[column])

    def cell(self, column: str) -> Cell:
        return Cell(self.row.get(column), (self.shown[column],))


def said(value: Any) -> Given:
    """An argument that the question states."""
    return Given(Value(value=value), value)


class Script:
    """Steps in order. The same call is never made twice: its output is there already."""

    def __init__(self, world: World) -> None:
        self.world = world
        self.steps: list[Step] = []
        self.kinds: list[str] = []
        """Of the edge that each step uses."""
        self.claims: list[tuple[Ref, Any]] = []
        self._made: dict[str, int] = {}

    def __len__(self) -> int:
        return len(self.steps)

    def call(self, action: Action, arguments: Mapping[str, Given], kind: str) -> int:
        """The number of the step that makes this call."""
        mark = repr((action.name, sorted((name, given.value) for name, given in arguments.items())))
        if mark not in self._made or action.writes:
            self._made[mark] = len(self.steps)
            bound = {name: given.argument for name, given in arguments.items()}
            self.steps.append(Step(tool=action.name, arguments=bound))
            self.kinds.append(kind)
        step = self._made[mark]
        if action.writes:  # what was shown before may have changed
            self._made.clear()
        return step

    def claim(self, cell: Cell) -> None:
        """Note that something is decided by this value; values made of several are checked one by one elsewhere."""
        if len(cell.refs) == 1 and not cell.function:
            self.claims.append((cell.refs[0], cell.value))

    def pages(self, action: Action, arguments: Mapping[str, Given], rows: Sequence[Row], kind: str) -> list[Site]:
        """All rows that a list tool gives, page by page."""
        sites = []
        for start in range(0, max(1, len(rows)), PAGE):
            more = {"offset": said(start)} if start else {}
            step = self.call(action, {**arguments, **more}, kind)
            for index, row in enumerate(rows[start : start + PAGE]):
                site = Site(action.table.name, row)
                site.show(action, step, index)
                sites.append(site)
        return sites

    def detail(self, site: Site, column: str) -> Cell | None:
        """A column of the row, fetched by the row's key where no step shows it yet."""
        if column in site.shown:
            return site.cell(column)
        key = self.world.tables[site.table].primary_key
        for action in self.world.of("get", table=site.table):
            if action.key and column in action.paths and key in site.shown:
                site.show(action, self.call(action, {action.key: site.given(key)}, self.kind_of(site.table)))
                return site.cell(column)
        return None

    def parent(self, site: Site, link: str) -> Site | None:
        """The row that foreign key `link` leads to."""
        key = self.world.foreign_key(site.table, link)
        cell = self.detail(site, link)
        if key is None or cell is None or cell.value is None:
            return None
        rows = self.world.where(key.table, key.target, cell.value)
        for action in self.world.of("get", table=key.table):
            if action.key and action.table.primary_key == key.target and len(rows) == 1:
                found = Site(key.table, rows[0])
                found.show(action, self.call(action, {action.key: site.given(link)}, self.kind_of(key.table)))
                return found
        return None

    def kind_of(self, table: str) -> str:
        """Of the edge by which a key of `table` is passed on."""
        return "strong" if self.world.opaque(table) else "weak"

    def needed(self, answer: Mapping[str, Answer], kept: set[int]) -> list[int]:
        """Numbers of the steps that the answer, a claim or a step of `kept` depends on, in order."""
        wanted = kept | {ref.step for ref, _ in self.claims} | {ref.step for a in answer.values() for ref in refs_of(a)}
        for number in range(len(self.steps) - 1, -1, -1):
            if number in wanted:
                wanted |= {a.step for a in self.steps[number].arguments.values() if isinstance(a, Ref)}
        return sorted(wanted)


def refs_of(answer: Answer) -> tuple[Ref, ...]:
    if isinstance(answer, Ref):
        return (answer,)
    return () if isinstance(answer, Value) else answer.of


def renumber(
    steps: Sequence[Step], answer: Mapping[str, Answer], kept: Sequence[int]
) -> tuple[tuple[Step, ...], dict[str, Answer]]:
    """Only the steps `kept`, with all references moved along."""
    place = {old: new for new, old in enumerate(kept)}

    def moved(argument: Argument) -> Argument:
        return Ref(step=place[argument.step], path=argument.path) if isinstance(argument, Ref) else argument

    found = tuple(
        Step(tool=steps[i].tool, arguments={name: moved(a) for name, a in steps[i].arguments.items()}) for i in kept
    )
    return found, {key: moved_answer(a, place) for key, a in answer.items()}


def moved_answer(answer: Answer, place: Mapping[int, int]) -> Answer:
    if isinstance(answer, Value):
        return answer
    if isinstance(answer, Ref):
        return Ref(step=place[answer.step], path=answer.path)
    of = tuple(Ref(step=place[ref.step], path=ref.path) for ref in answer.of)
    return answer.model_copy(update={"of": of})
