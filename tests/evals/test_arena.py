from collections import Counter
from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from agent_world.agents.policy import Policy, ReplayPolicy, ScriptedPolicy, ToolCall, Turn
from agent_world.evals.arena import choose_arena, compare_stages, load_trajectories, run_arena
from agent_world.graphs.deps import Deps, open_deps
from agent_world.memory.store import Bundle
from agent_world.schema import DatabaseSchema, Environment, Origin, Task, Theme
from agent_world.settings import ArenaSettings, Settings
from tests.library_tasks import gold_runs, library_tasks
from tests.worlds import make_library


def environments(**types: int) -> list[Environment]:
    theme = Theme(id="t", name="T", description="", kind="prd", source="")
    return [
        Environment(
            id=f"{kind}_{i}", name="E", description="", theme=theme, taxonomy=(kind, "c"), database=DatabaseSchema(),
            origin=Origin(engine="procedural"),
        )
        for kind, number in types.items()
        for i in range(number)
    ]  # fmt: skip


def settings(workspace: Path = Path("w"), **arena: float) -> Settings:
    return Settings(workspace=workspace, arena=ArenaSettings(**arena))  # type: ignore[arg-type]


def types_of(chosen: list[str]) -> Counter[str]:
    return Counter(name.rsplit("_", 1)[0] for name in chosen)


def test_k_environments_of_each_type_are_held_out() -> None:
    chosen = choose_arena(environments(a=8, b=8, c=8), settings(environments_per_type=2, max_share=1))
    assert types_of(chosen) == {"a": 2, "b": 2, "c": 2}


def test_at_most_the_share_is_held_out_and_types_take_turns() -> None:
    chosen = choose_arena(environments(a=9, b=4, c=2), settings(environments_per_type=5, max_share=0.34))
    assert types_of(chosen) == {"a": 2, "b": 2, "c": 1}


def test_each_type_keeps_an_environment_for_training() -> None:
    chosen = choose_arena(environments(a=2, b=1, c=3), settings(environments_per_type=5, max_share=1))
    assert types_of(chosen) == {"a": 1, "c": 2}


def test_types_of_one_environment_still_give_an_arena() -> None:
    assert len(choose_arena(environments(a=1, b=1, c=1), settings(max_share=0.34))) == 1
    assert len(choose_arena(environments(a=2), settings(max_share=0.34))) == 1
    assert choose_arena(environments(a=1), settings()) == []


def test_the_choice_depends_on_the_seed_alone() -> None:
    made = environments(a=9, b=9)
    first = choose_arena(made, settings())
    assert choose_arena(made[::-1], settings()) == first
    others = {tuple(choose_arena(made, settings().model_copy(update={"seed": seed}))) for seed in range(6)}
    assert len(others) > 1


@pytest.fixture
async def deps(tmp_path: Path) -> AsyncIterator[Deps]:
    async with open_deps(settings(tmp_path, batch=4, max_turns=8)) as opened:
        yield opened


@pytest.fixture
def library(deps: Deps) -> Bundle:
    return make_library(deps.store.root / "library")


@pytest.fixture
async def items(deps: Deps, library: Bundle) -> list[tuple[Task, Bundle]]:
    return [(task, library) for task in await library_tasks(library, deps.runtime)]


async def measure(policy: Policy, items: list[tuple[Task, Bundle]], deps: Deps, stage: str = "gold") -> Path:
    out = deps.settings.workspace / "arena" / stage
    await run_arena(stage, 0, policy, items, deps, out)
    return out


async def test_the_gold_policy_passes_and_a_guessing_one_does_not(
    deps: Deps, library: Bundle, items: list[tuple[Task, Bundle]]
) -> None:
    workspace = deps.settings.workspace
    gold = ReplayPolicy(await gold_runs(library, deps.runtime))
    best = await run_arena("gold", 1, gold, items, deps, workspace / "arena" / "gold")
    assert (best.overall.passed, best.overall.scored) == (11, 11)
    assert {level: r.scored for level, r in best.by_level.items()} == {"1": 6, "2": 4, "3": 1}
    assert {name: r.scored for name, r in best.by_strategy.items()} == {"graph": 10, "program": 1}
    assert list(best.by_type) == ["Culture"]
    assert best.statuses == {"done": 11}
    assert len(load_trajectories(workspace, best)) == 11

    call = ToolCall("get_book", {"book_id": "B999"})
    guess = ScriptedPolicy((Turn(tool_calls=(call,)), Turn(content='{"count": 3}')), name="guess")
    poor = await run_arena("guess", 0, guess, items, deps, workspace / "arena" / "guess")
    assert poor.overall.passed < 4
    assert poor.tool_errors == 11
    change = compare_stages(workspace, [poor, best])
    assert len(change) == 1
    assert (change[0].first, change[0].second, change[0].pairs) == ("guess", "gold", 11)
    assert change[0].low > 0.3


async def test_a_stopped_stage_goes_on_after_its_last_batch(
    deps: Deps, library: Bundle, items: list[tuple[Task, Bundle]]
) -> None:
    gold = ReplayPolicy(await gold_runs(library, deps.runtime))
    out = await measure(gold, items, deps)
    result, log = out.with_suffix(".json"), out.with_suffix(".jsonl")
    whole, lines = result.read_text(), log.read_text().splitlines(keepends=True)

    result.unlink()
    marked = [line.replace('"seed": 0', '"seed": 77') for line in lines[:4]]
    log.write_text("".join(marked))
    await measure(gold, items, deps)
    assert result.read_text() == whole
    assert log.read_text() == "".join(marked + lines[4:]), "the first batch is kept as it was, the rest is run"

    result.unlink()
    await measure(ReplayPolicyNamed(gold), items, deps)
    assert '"seed": 77' not in log.read_text(), "runs of another policy are not mixed in"


async def test_a_finished_stage_is_not_run_again(deps: Deps, library: Bundle, items: list[tuple[Task, Bundle]]) -> None:
    await measure(ReplayPolicy(await gold_runs(library, deps.runtime)), items, deps)
    again = await run_arena("gold", 0, Unusable(), items, deps, deps.settings.workspace / "arena" / "gold")
    assert again.overall.passed == 11


async def test_runs_that_could_not_be_made_are_unscored(deps: Deps, items: list[tuple[Task, Bundle]]) -> None:
    result = await run_arena("none", 0, ReplayPolicy([]), items, deps, deps.settings.workspace / "arena" / "none")
    assert (result.overall.scored, result.overall.unscored, result.statuses) == (0, 11, {"infra": 11})


class Unusable:
    name = "unusable"

    async def act(self, conversations: object, tools: object) -> list[Turn]:
        raise AssertionError("a finished stage asked its policy")


class ReplayPolicyNamed:
    """The same turns under another name."""

    name = "another"

    def __init__(self, inner: ReplayPolicy) -> None:
        self.act = inner.act
