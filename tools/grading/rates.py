"""Pass rates of episodes, each with its interval and its denominator.

Episodes without a score are counted apart and never as failures.
"""

from collections.abc import Callable, Hashable, Iterable
from math import comb
from typing import TypeVar

from agent_world.schema import Rate, Trajectory

CONFIDENCE = 0.95

K = TypeVar("K", bound=Hashable)


def rate(passed: int, scored: int, unscored: int = 0) -> Rate:
    """The share `passed / scored` with its 95 % Wilson interval; with nothing scored, 0 in `[0, 1]`."""
    from scipy.stats import binomtest

    if not 0 <= passed <= scored or unscored < 0:
        raise ValueError(f"{passed} passed of {scored} scored and {unscored} unscored make no rate")
    if not scored:
        return Rate(value=0.0, low=0.0, high=1.0, passed=0, scored=0, unscored=unscored)
    interval = binomtest(passed, scored).proportion_ci(CONFIDENCE, method="wilson")
    return Rate(
        value=passed / scored,
        low=float(interval.low),
        high=float(interval.high),
        passed=passed,
        scored=scored,
        unscored=unscored,
    )


def pass_at_k(attempts: int, passes: int, k: int) -> float:
    """Chance that at least one of `k` attempts passes, estimated without bias from `passes` of `attempts`:
    `1 - C(n - c, k) / C(n, k)` (Chen et al. 2021, arXiv 2107.03374). Needs `1 <= k <= attempts`."""
    if not 0 <= passes <= attempts or not 1 <= k <= attempts:
        raise ValueError(f"pass@{k} cannot be estimated from {passes} passes of {attempts} attempts")
    return 1 - comb(attempts - passes, k) / comb(attempts, k)


def rate_of(trajectories: Iterable[Trajectory]) -> Rate:
    rewards = [t.score.reward for t in trajectories]
    return rate(rewards.count(1.0), len(rewards) - rewards.count(None), rewards.count(None))


def rates_by(trajectories: Iterable[Trajectory], key: Callable[[Trajectory], K]) -> dict[K, Rate]:
    """A rate for each value of `key`, in order of its text."""
    groups: dict[K, list[Trajectory]] = {}
    for trajectory in trajectories:
        groups.setdefault(key(trajectory), []).append(trajectory)
    return {name: rate_of(groups[name]) for name in sorted(groups, key=str)}
