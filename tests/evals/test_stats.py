import itertools

import pytest

from agent_world.evals.stats import paired_difference, pass_at, show_difference, show_pass_at, show_rate
from agent_world.schema import Score, Trajectory
from agent_world.tools.grading.rates import pass_at_k, rate, rate_of, rates_by


def run(task: str, reward: float | None, environment: str = "library", errors: int = 0) -> Trajectory:
    return Trajectory(
        task=task,
        environment=environment,
        policy="p",
        messages=(),
        calls=1,
        tool_errors=errors,
        status="infra" if reward is None else "done",
        score=Score(reward=reward),
    )


def test_the_interval_is_wilsons() -> None:
    found = rate(8, 10)
    assert (found.low, found.high) == pytest.approx((0.4902, 0.9433), abs=1e-4)


@pytest.mark.parametrize(("passed", "scored"), [(0, 12), (12, 12), (1, 1)])
def test_an_interval_stays_within_bounds_and_around_its_value(passed: int, scored: int) -> None:
    found = rate(passed, scored)
    assert 0 <= found.low <= found.value <= found.high <= 1
    assert found.high - found.low > 0.1


def test_unscored_runs_are_counted_apart_and_shown() -> None:
    runs = [run(f"t{i}", None if i < 4 else float(i % 2)) for i in range(56)]
    found = rate_of(runs)
    assert (found.scored, found.unscored, found.passed) == (52, 4, 26)
    assert show_rate(found) == "26 of 52, 50 % [37, 63]; 4 unscored"


def test_nothing_scored_is_no_zero_rate() -> None:
    found = rate(0, 0, 3)
    assert (found.low, found.high) == (0.0, 1.0)
    assert show_rate(found) == "none scored; 3 unscored"


def test_impossible_counts_are_refused() -> None:
    with pytest.raises(ValueError, match="make no rate"):
        rate(3, 2)


def test_rates_are_grouped_in_order() -> None:
    runs = [run("a", 1.0, "shop"), run("b", 0.0, "airport"), run("c", 0.0, "shop")]
    assert {name: (r.passed, r.scored) for name, r in rates_by(runs, lambda t: t.environment).items()} == {
        "airport": (0, 1),
        "shop": (1, 2),
    }


def test_a_difference_counts_only_tasks_scored_twice() -> None:
    before = {f"t{i}": 0.0 for i in range(20)} | {"lost": 1.0, "broken": None}
    after = {f"t{i}": 1.0 if i < 10 else 0.0 for i in range(20)} | {"lost": 0.0, "broken": 1.0, "new": 1.0}
    found = paired_difference(before, after, ("before SFT", "after SFT"))
    assert (found.pairs, found.gained, found.lost, found.unpaired) == (21, 10, 1, 2)
    assert found.value == pytest.approx(9 / 21)
    assert 0 < found.low < found.value < found.high < 1
    assert found == paired_difference(before, after, ("before SFT", "after SFT"))
    assert "21 pairs (10 gained, 1 lost); 2 unpaired" in show_difference(found)


def test_pairs_without_any_change_do_not_claim_certainty() -> None:
    same = {f"t{i}": 0.0 for i in range(54)}
    found = paired_difference(same, same)
    assert (found.value, found.gained, found.lost) == (0, 0, 0)
    assert found.high == -found.low == pytest.approx(0.066, abs=0.001)
    assert show_difference(found) == "+0 points [-7, +7], 54 pairs (0 gained, 0 lost)"


def test_a_difference_without_pairs_says_nothing() -> None:
    found = paired_difference({"a": 1.0}, {"b": 1.0})
    assert (found.low, found.high) == (-1.0, 1.0)
    assert show_difference(found) == "no task is scored in both"


@pytest.mark.parametrize(("n", "c"), [(5, 0), (5, 2), (5, 5), (4, 1), (1, 1)])
def test_pass_at_k_is_the_share_of_draws_of_k_attempts_that_hold_a_pass(n: int, c: int) -> None:
    attempts = [True] * c + [False] * (n - c)
    for k in range(1, n + 1):
        draws = list(itertools.combinations(attempts, k))
        assert pass_at_k(n, c, k) == pytest.approx(sum(map(any, draws)) / len(draws))


@pytest.mark.parametrize(("n", "c", "k"), [(3, 4, 1), (3, 1, 4), (3, 1, 0), (0, 0, 1)])
def test_pass_at_k_of_nothing_is_refused(n: int, c: int, k: int) -> None:
    with pytest.raises(ValueError, match="cannot be estimated"):
        pass_at_k(n, c, k)


def test_pass_at_k_stands_with_its_interval_and_its_tasks() -> None:
    found = pass_at([(5, 0), (5, 5), (5, 2), (2, 1)])
    assert [(p.k, p.tasks) for p in found] == [(1, 4), (2, 4), (3, 3), (4, 3), (5, 3)]
    assert found[0].value == pytest.approx((0 + 1 + 0.4 + 0.5) / 4)
    assert all(0 <= p.low <= p.value <= p.high <= 1 for p in found)
    assert found == pass_at([(2, 1), (5, 2), (5, 5), (5, 0)])
    assert pass_at([]) == ()
    assert show_pass_at(found[0]).startswith("pass@1: 48 % [")
    (alone,) = pass_at([(1, 1)])
    assert (alone.value, alone.high) == (1.0, 1.0)
    assert alone.low < 0.5, "one task says little"
