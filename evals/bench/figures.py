"""A measured number, and what it is held against."""

from typing import Literal

from agent_world.schema import Record


class Target(Record):
    """A bound on a figure's ratio where it has one, else on its value."""

    kind: Literal["at_least", "at_most"]
    bound: float

    def met(self, number: float) -> bool:
        return number >= self.bound if self.kind == "at_least" else number <= self.bound


class Figure(Record):
    """One line of a benchmark. Every benchmark prints a list of these."""

    name: str
    value: float
    unit: str
    better: Literal["lower", "higher"] = "lower"
    samples: int = 1
    """Measurements of which `value` is the median."""
    against: str | None = None
    """The peer that was measured in the same run, interleaved."""
    baseline: float | None = None
    """Its value, in the same unit."""
    ratio: float | None = None
    """How many times better ours is; where the target is `at_most`, value / baseline."""
    target: Target | None = None
    met: bool | None = None
    note: str = ""
    """What a reader must know to read the number right."""


def judge(figure: Figure, target: Target | None = None) -> Figure:
    """The figure with its ratio worked out, and whether the target is met."""
    ratio = figure.ratio
    if figure.baseline is not None:
        inverse = figure.better == "higher" or (target is not None and target.kind == "at_most")
        over, under = (figure.value, figure.baseline) if inverse else (figure.baseline, figure.value)
        ratio = over / under if under else None
    number = figure.value if ratio is None else ratio
    met = target.met(number) if target else None
    return figure.model_copy(update={"ratio": ratio, "target": target, "met": met})
