"""Rates with intervals, and differences between stages on the same tasks.

A rate never stands without its denominator; `tools/grading/rates.py` makes them.
"""

from collections.abc import Iterable, Mapping

import numpy as np

from agent_world.schema import Rate, Record
from agent_world.tools.grading.rates import CONFIDENCE, pass_at_k, rate

RESAMPLES = 4000


class Difference(Record):
    """Change of the pass rate from stage `first` to stage `second` on the same tasks, in `[-1, 1]`."""

    first: str
    second: str
    value: float
    low: float
    high: float
    """95 % percentile bootstrap over task pairs."""
    pairs: int
    """Tasks scored in both stages."""
    gained: int
    """Failed first, pass now."""
    lost: int
    """Passed first, fail now."""
    unpaired: int
    """Tasks left out because one of the stages has no score of them."""


def paired_difference(
    first: Mapping[str, float | None], second: Mapping[str, float | None], names: tuple[str, str] = ("first", "second")
) -> Difference:
    """Compare two stages by their rewards (0, 1 or None) by task; deterministic.

    Pairs keep the task's own difficulty out of the comparison. Only tasks scored in both stages count.
    """
    both = [(first[task], second[task]) for task in sorted(first.keys() & second.keys())]
    changes = np.array([b - a for a, b in both if a is not None and b is not None])
    low, high = _bootstrap(changes)
    return Difference(
        first=names[0],
        second=names[1],
        value=float(changes.mean()) if changes.size else 0.0,
        low=low,
        high=high,
        pairs=changes.size,
        gained=int((changes > 0).sum()),
        lost=int((changes < 0).sum()),
        unpaired=len(first.keys() | second.keys()) - changes.size,
    )


class PassAt(Record):
    """pass@k: the mean over tasks of the unbiased estimate."""

    k: int
    value: float
    low: float
    high: float
    """95 % percentile bootstrap over tasks."""
    tasks: int
    """Tasks with at least `k` scored attempts."""


def pass_at(counts: Iterable[tuple[int, int]]) -> tuple[PassAt, ...]:
    """pass@1, pass@2 and so on, from `(scored attempts, passes)` of each task; deterministic."""
    pairs = sorted(counts)
    found = []
    for k in range(1, max((n for n, _ in pairs), default=0) + 1):
        values = np.array([pass_at_k(n, c, k) for n, c in pairs if n >= k])
        low, high = (max(0.0, min(1.0, bound)) for bound in _bootstrap(values))
        found.append(PassAt(k=k, value=float(values.mean()), low=low, high=high, tasks=values.size))
    return tuple(found)


def show_pass_at(found: PassAt) -> str:
    return f"pass@{found.k}: {percent(found.value)} {_span(found.low, found.high)}, {found.tasks} tasks"


def _bootstrap(changes: np.ndarray) -> tuple[float, float]:
    """Percentile interval of the mean. Without pairs nothing is known: the whole range.

    Where all pairs changed alike, resampling shows no spread; then the interval is as wide as that of a rate of 0
    in so many pairs.
    """
    if not changes.size:
        return -1.0, 1.0
    if (changes == changes[0]).all():
        spread = rate(0, changes.size).high
        return max(-1.0, changes[0] - spread), min(1.0, changes[0] + spread)
    draws = np.random.default_rng(0).integers(0, changes.size, (RESAMPLES, changes.size))
    tail = 100 * (1 - CONFIDENCE) / 2
    low, high = np.percentile(changes[draws].mean(axis=1), [tail, 100 - tail])
    return float(low), float(high)


def percent(value: float) -> str:
    return f"{100 * value:.0f} %"


def show_rate(found: Rate) -> str:
    """`31 of 52, 60 % [46, 72]; 4 unscored`: denominator and interval always there."""
    apart = f"; {found.unscored} unscored" if found.unscored else ""
    if not found.scored:
        return f"none scored{apart}"
    return f"{found.passed} of {found.scored}, {percent(found.value)} {_span(found.low, found.high)}{apart}"


def show_difference(found: Difference) -> str:
    """`+12 points [+3, +21], 52 pairs (9 gained, 3 lost)`."""
    if not found.pairs:
        return "no task is scored in both"
    span = f"[{100 * found.low:+.0f}, {100 * found.high:+.0f}]"
    apart = f"; {found.unpaired} unpaired" if found.unpaired else ""
    moved = f"{found.gained} gained, {found.lost} lost"
    return f"{100 * found.value:+.0f} points {span}, {found.pairs} pairs ({moved}){apart}"


def _span(low: float, high: float) -> str:
    return f"[{100 * low:.0f}, {100 * high:.0f}]"
