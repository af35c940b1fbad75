"""A made-up run of the size of the demo, for tests of the report and for looking at the page."""

import random
from collections.abc import Callable

from agent_world.evals.records import Curve, EnvironmentRow, GraphEdge, ModelCost, RunReport, StageSeconds, ToolGraph
from agent_world.evals.stats import paired_difference
from agent_world.schema import ArenaResult, Diagnosis, Dropped, FailureKind, Guideline, Origin, Rate, Weakness
from agent_world.tools.grading.rates import rate

NAMES = (
    "Airports", "Flights of New York", "Countries and currencies", "Storm tracks", "Star Wars characters",
    "Fuel economy",
    "Mammals and sleep", "Penguins", "Basketball players", "Coffee drinks", "Fast food", "Baseball players",
    "Cars of 1993", "Breakfast cereals", "Earthquakes", "Texas housing",
)  # fmt: skip
TYPES = ("Travel and transport", "Nature", "Sport", "Food")
TOOLS = (
    "get_airport", "search_airports", "list_flights_by_carrier", "count_flights_by_origin", "average_flights_distance",
    "get_plane", "list_planes_by_maker", "update_plane_seats", "create_airline", "delete_airport", "get_airline",
    "list_airports_by_timezone",
)  # fmt: skip
REJECTED = ["replay"] * 9 + ["trivial"] * 14 + ["leak"] * 3


def example_report() -> RunReport:
    rng = random.Random("report")
    stages = [
        _stage("before SFT", 0, 1),
        _stage("after SFT", 0, 24),
        _stage("round 1", 1, 29),
        _stage("round 2", 2, 33, 2),
    ]
    return RunReport(
        workspace="runs/quickstart",
        engines="No chat model is set, so every role is procedural: algorithms under a seed, no key, no cost.",
        environments=tuple(_environment(name, rng) for name in NAMES),
        dropped=(
            Dropped(kind="theme", id="gardening", reason="no table of 20 rows was found: 7 pages opened"),
            Dropped(kind="tool", id="storms.average_storms_name", reason="1 of 4 tests pass"),
            *(Dropped(kind="task", id=f"t{i}", reason=f"{why}: candidate {i}") for i, why in enumerate(REJECTED)),
        ),
        tasks={"1": {"graph": 70, "program": 12}, "2": {"graph": 52, "program": 31}, "3": {"graph": 21, "program": 28},
               "4": {"graph": 6, "program": 11}, "5": {"program": 4}},
        arena=tuple(stages),
        fresh=(_stage("round 1 fresh", 1, 9), _stage("round 2 fresh", 2, 11)),
        differences=tuple(
            paired_difference(_rewards(a), _rewards(b), (a.stage, b.stage))
            for a, b in [(stages[0], stages[1]), (stages[1], stages[2]), (stages[2], stages[3]), (stages[0], stages[3])]
        ),
        diagnoses=(_diagnosis(1), _diagnosis(2)),
        curves=(
            Curve(title="SFT: loss", points=_points(range(10, 610, 10), lambda s: 4.2 / (1 + s / 60), rng)),
            *(
                Curve(title=f"GRPO round {r}: {name}", points=_points(range(1, 21), lambda s, u=up: s * u, rng))
                for r in (1, 2)
                for name, up in (("reward", 0.012), ("kl", 0.002))
            ),
        ),
        graph=ToolGraph(
            environment="flights_of_new_york",
            tools=TOOLS,
            edges=tuple(
                GraphEdge(source=a, target=b, kind="strong" if rng.random() < 0.3 else "weak")
                for i, a in enumerate(TOOLS) for b in TOOLS[i + 1 :] if rng.random() < 0.4
            ),
        ),
        costs=(ModelCost(role="diagnoser", model="openai:scripted", calls=3, input_tokens=9210, output_tokens=801),),
        stages=(
            StageSeconds(name="Themes", seconds=3.1, line="18 themes (2 live MCP, 3 tool docs, 13 PRDs)"),
            StageSeconds(name="Mining", seconds=71.4, line="16 databases of 18 themes"),
            StageSeconds(name="Tools", seconds=48.0, line="212 tools in 16 environments"),
            StageSeconds(name="Tasks", seconds=96.2, line="235 tasks kept, 26 candidates rejected by the gate"),
            StageSeconds(name="SFT", seconds=188.7, line="policy in policies/sft"),
            StageSeconds(name="GRPO, round 1", seconds=90.3, line="policy in policies/round_1"),
        ),
    )  # fmt: skip


def _points(steps: range, curve: Callable[[int], float], rng: random.Random) -> tuple[tuple[float, float], ...]:
    return tuple((float(step), curve(step) + rng.random() / 9) for step in steps)


def _environment(name: str, rng: random.Random) -> EnvironmentRow:
    place = NAMES.index(name)
    return EnvironmentRow(
        id=name.lower().replace(" ", "_"), name=name, type=TYPES[place % 4], cluster=f"{TYPES[place % 4]} records",
        role="arena" if place % 4 == 1 else "training", tables=rng.randint(2, 5), rows=rng.randint(60, 600),
        tools_kept=rng.randint(9, 22), tools_dropped=rng.randint(0, 2), engine="procedural",
        hash=f"{rng.getrandbits(48):012x}",
        tasks={"graph": rng.randint(6, 12), "program": rng.randint(3, 6)},
    )  # fmt: skip


def _stage(name: str, number: int, passed: int, unscored: int = 0) -> ArenaResult:
    def part(share: float, scored: int) -> Rate:
        return rate(round(share * scored * passed / 52), scored)

    return ArenaResult(
        stage=name, round=number, policy="tiny", overall=rate(passed, 52 - unscored, unscored),
        by_environment={"flights_of_new_york": part(1, 14), "penguins": part(1.1, 13), "fast_food": part(0.8, 12)},
        by_type={kind: part(1, 13) for kind in TYPES}, by_strategy={"graph": part(1.1, 34), "program": part(0.8, 18)},
        by_level={"1": part(1.3, 18), "2": part(1.0, 16), "3": part(0.6, 10), "4": part(0.2, 8)},
        statuses={"done": 44, "malformed": 5, "loop": 3}, tool_errors=9,
        trajectories=f"arena/{name.replace(' ', '_')}.jsonl",
    )  # fmt: skip


def _rewards(stage: ArenaResult) -> dict[str, float | None]:
    return {str(i): float(i < stage.overall.passed) if i < stage.overall.scored else None for i in range(52)}


def _diagnosis(number: int) -> Diagnosis:
    def weakness(environment: str, passed: int, failures: dict[FailureKind, int], text: str) -> Weakness:
        kind = next(iter(failures))
        guideline = Guideline(
            id=f"r{number}-{environment}-{kind}",
            text=text,
            failure=kind,
            operations=("count", "related"),
            levels=(2, 3),
        )
        return Weakness(
            environment=environment,
            rate=rate(passed, 13),
            failures=failures,
            guideline=guideline,
            evidence=("t1", "t2"),
        )

    return Diagnosis(
        round=number,
        weaknesses=(
            weakness("penguins", 2, {"state_not_tracked": 7, "wrong_argument": 3, "malformed": 1},
                     "In Penguins 2 of 13 arena tasks pass, and 7 of 11 failures are of the kind 'state not tracked'. "
                     "Missing is carrying a value from one result into the next call or the answer. Make tasks in "
                     "which a value found by one call is the argument of the next, among other values of that result."),
            weakness("fast_food", 5, {"wrong_tool": 5, "stopped_early": 3},
                     "In Fast food 5 of 13 arena tasks pass, and 5 of 8 failures are of the kind 'wrong tool'. Ask for "
                     "things that several similar tools seem to offer."),
        ),
        origin=Origin(engine="procedural"),
    )  # fmt: skip
