"""The benchmark of the runtime, at a size that says nothing about speed."""

import json

import pytest

from agent_world.cli import main
from agent_world.evals.bench.figures import Figure, Target, judge
from agent_world.evals.bench.peers import users_json


def test_every_figure_has_a_value_a_unit_and_its_target(capsys: pytest.CaptureFixture[str]) -> None:
    code = main(["bench", "runtime", "--json", "--instances", "4", "--repeat", "1"])
    figures = [Figure.model_validate(row) for row in json.loads(capsys.readouterr().out)]
    assert code == any(figure.met is False for figure in figures)
    bounds = {(f.name, f.target.kind, f.target.bound) for f in figures if f.target}
    assert bounds == {
        ("warm hand-out", "at_least", 1000),
        ("warm hand-out and first answer", "at_least", 1000),
        ("cold start of an instance", "at_least", 100),
        ("ping, p50", "at_least", 20),
        ("a tool that reads 100 KB of JSON", "at_most", 1.15),
        ("memory an instance, all included", "at_most", 4),
    }
    assert all((f.met is None) == (f.target is None) for f in figures)
    assert {f.against for f in figures} == {None, "MCP server over stdio", "exec in process", "subprocess a call"}
    assert all((f.ratio is None) == (f.baseline is None) for f in figures)
    assert next(f.value for f in figures if f.name.startswith("instances alive")) == 4


@pytest.mark.parametrize(
    ("better", "target", "ratio", "met"),
    [
        ("lower", Target(kind="at_least", bound=20), 20.0, True),
        ("lower", Target(kind="at_least", bound=21), 20.0, False),
        ("lower", Target(kind="at_most", bound=1.15), 0.05, True),
        ("higher", None, 0.05, None),
    ],
)
def test_a_figure_is_judged_by_its_ratio(better: str, target: Target | None, ratio: float, met: bool | None) -> None:
    figure = Figure.model_validate({"name": "x", "value": 2.0, "unit": "ms", "baseline": 40.0, "better": better})
    judged = judge(figure, target)
    assert (judged.ratio, judged.met) == (pytest.approx(ratio), met)


def test_a_figure_without_a_peer_is_judged_by_its_value() -> None:
    figure = judge(Figure(name="memory", value=4.5, unit="MB"), Target(kind="at_most", bound=4))
    assert (figure.ratio, figure.met) == (None, False)


def test_the_file_that_is_read_has_its_size_and_is_json() -> None:
    text = users_json(100_000)
    assert 100_000 <= len(text) < 100_200
    assert len(json.loads(text)) > 900
