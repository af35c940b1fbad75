"""The conformance suite notices each promise that a backend breaks, and passes one that breaks none."""

from typing import Any

import pytest

from agent_world.evals.bench.conformance import run_conformance
from agent_world.evals.bench.lab import Facts, Limits
from agent_world.evals.bench.registry import CaseResult, ConformanceReport, all_cases
from tests.evals.bench import fakes
from tests.evals.bench.fakes import breaking


async def certify(opener: Any, only: str, **options: Any) -> ConformanceReport:
    return await run_conformance(opener, name="fake", only=only, **options)


BREACHES = [
    (fakes.LeaksOnReset, "reset goes back to the bundle", "state hash after reset"),
    (fakes.DoesNotReset, "reset goes back to the bundle", "state hash after reset"),
    (fakes.ForgetsPermissions, "restore brings back new folders", "permissions after restore"),
    (fakes.ShowsTheSystem, "files of the system", "/root is there, and shows ['secret']"),
    (fakes.SaysNaN, "behaviour: NaN is refused", "invalid_output"),
    (fakes.SaysNaN, "behaviour: infinity inside", "invalid_output"),
    (fakes.ShowsOurEnvironment, "our secret in its environment", "a secret of our environment"),
    (fakes.SeesNoChanges, "a write shows in the diff", "changes"),
    (fakes.HashesTheSeedAlone, "the same content has the same hash", "left the state hash as it was"),
    (fakes.BelievesArguments, "a Boolean is no integer", "invalid_arguments"),
    (fakes.RaisesWhatToolsRaise, "a tool that raises is an error", "raised RuntimeError"),
    (fakes.SharesOne, "the bundle and a sibling do not see a write", "count in the sibling"),
    (fakes.IgnoresSeeds, "another seed sees something else", "two seeds"),
]


@pytest.mark.parametrize(("kind", "only", "reason"), BREACHES, ids=[f"{k.__name__}: {o}" for k, o, _ in BREACHES])
async def test_a_broken_promise_fails_its_case(kind: Any, only: str, reason: str) -> None:
    (result,) = (await certify(breaking(kind), only)).results
    assert result.status == "failed"
    assert reason in result.reason


async def test_the_same_cases_pass_where_nothing_is_broken() -> None:
    for only in sorted({only for _, only, _ in BREACHES}):
        report = await certify(breaking(fakes.Sound), only)
        assert report.passed, report.results


async def test_a_backend_that_ignores_timeouts_fails_and_the_suite_goes_on() -> None:
    endless = breaking(fakes.Sound, call_timeout_s=30.0)
    late = await certify(endless, "a call over its time", case_s=0.5)
    assert [r.status for r in late.results] == ["failed"]
    assert "had not ended after 0.5 s" in late.results[0].reason


async def test_a_late_deadline_fails_when_it_is_judged_and_is_a_figure_either_way() -> None:
    slow = breaking(fakes.Sound, call_timeout_s=0.5)
    limits = Limits(call_timeout_s=0.2)
    judged = await certify(slow, "a deadline is kept", limits=limits)
    measured = await certify(slow, "a deadline is kept", limits=limits, tolerance_s=None)
    assert [judged.passed, measured.passed] == [False, True]
    assert "late (over limits of 0.2 s a call" in judged.results[0].reason
    for report in (judged, measured):
        (figure,) = report.results[0].figures
        assert (figure.unit, figure.met) == ("ms", False)
        assert figure.value >= 290


async def test_a_backend_without_room_limits_fails() -> None:
    roomy = breaking(fakes.Sound, max_instances=9)
    assert "second instance was opened" in (await certify(roomy, "instances wait for a place")).results[0].reason


async def test_a_need_that_is_lacking_makes_a_case_not_applicable_with_the_reason() -> None:
    lacks: Facts = {"frozen": "its clock runs"}
    report = await certify(breaking(fakes.Sound), "the clock stands still", lacks=lambda _: lacks)
    assert [(r.status, r.reason) for r in report.results] == [("not_applicable", "its clock runs")]
    assert report.passed


async def test_results_come_in_the_order_of_the_cases_and_are_told_as_they_come() -> None:
    told: list[CaseResult] = []
    report = await certify(breaking(fakes.Sound), "is no integer", jobs=3, on_result=told.append)
    assert [r.name for r in report.results] == [c.name for c in all_cases() if "is no integer" in c.name]
    assert sorted(r.name for r in told) == sorted(r.name for r in report.results)
    assert ConformanceReport.model_validate_json(report.model_dump_json()) == report


def test_the_suite_covers_both_groups_under_names_of_their_own() -> None:
    cases = all_cases()
    assert len({c.name for c in cases}) == len(cases)
    assert {c.group for c in cases} == {"behaviour", "containment"}
    assert sum(c.group == "containment" for c in cases) >= 47
