"""A walk in the making: the calls so far, and what each of them shows (a row, a number, a change)."""

from dataclasses import dataclass, field
from typing import Any

from agent_world.agents.synthesizer.meaning import Command, CountAsk, ReduceAsk, Subject
from agent_world.agents.synthesizer.world import Action, Row
from agent_world.schema import Argument, Ref, Step


@dataclass(frozen=True, slots=True)
class Thing:
    """A row that a step shows, with the path of each visible column in that step's output."""

    subject: Subject
    row: Row
    step: int
    paths: dict[str, str]

    def ref(self, column: str) -> Ref:
        return Ref(step=self.step, path=self.paths[column])


@dataclass(frozen=True, slots=True)
class Found:
    """A number that a step shows, and what the rows say it is (None: not foretold)."""

    ask: CountAsk | ReduceAsk
    step: int
    path: str
    expected: Any = None


@dataclass(frozen=True, slots=True)
class Move:
    """One more call: which tool, with what arguments, and what it will show. `kind` is that of the edge it uses."""

    action: Action
    arguments: dict[str, Argument]
    kind: str = "independent"
    thing: Thing | None = None
    found: Found | None = None
    command: Command | None = None
    after: "Move | None" = None
    """The call that shows what came of a change, where its own output shows nothing new."""

    def uses(self) -> set[int]:
        return {a.step for a in self.arguments.values() if isinstance(a, Ref)}


@dataclass(slots=True)
class Trail:
    moves: list[Move] = field(default_factory=list)

    @property
    def things(self) -> list[Thing]:
        return [m.thing for m in self.moves if m.thing is not None]

    @property
    def steps(self) -> tuple[Step, ...]:
        return tuple(Step(tool=m.action.name, arguments=m.arguments) for m in self.moves)

    def add(self, move: Move) -> None:
        self.moves.append(move)

    def leaves(self) -> list[Move]:
        """Moves that no later move uses."""
        used = {step for move in self.moves for step in move.uses()}
        return [move for i, move in enumerate(self.moves) if i not in used]

    def repeats(self, move: Move) -> bool:
        """Whether a call with the same values was made before, wherever the values came from."""
        wanted = self._values(move)
        return any(m.action is move.action and self._values(m) == wanted for m in self.moves)

    def _values(self, move: Move) -> dict[str, Any]:
        return {name: self._value(argument) for name, argument in move.arguments.items()}

    def _value(self, argument: Argument) -> Any:
        if not isinstance(argument, Ref):
            return argument.value
        thing = self.moves[argument.step].thing
        assert thing is not None
        return next(thing.row[column] for column, path in thing.paths.items() if path == argument.path)
