"""Units of a stage in which some break."""

from functools import partial
from pathlib import Path

import pytest

from agent_world.errors import AgentWorldError, UsageError, WebError
from agent_world.graphs.deps import Deps, open_deps
from agent_world.memory.store import write_text
from agent_world.memory.workspace import Failure, Outcome, Workspace, own_workspace
from agent_world.settings import RoleConfig, Settings
from agent_world.training.evolve import begins_anew
from agent_world.training.stages.factory import place_all, split_of
from agent_world.training.stages.factory_report import report_factory
from agent_world.training.stages.summary import failed
from agent_world.training.stages.units import each, keep_costs, told
from tests.openai_server import scripted_openai
from tests.worlds import make_library


async def do(deps: Deps) -> Outcome:
    return Outcome(line="done")


async def unplug(deps: Deps) -> Outcome:
    raise WebError("The network is down.")


async def stumble(deps: Deps) -> Outcome:
    return Outcome(line={}["nothing"])


async def need_key(deps: Deps) -> Outcome:
    raise UsageError("Set KEY.")


async def ask(good: bool, deps: Deps) -> Outcome:
    await deps.model("coder").text([("user", "hello")])
    if not good:
        raise ValueError("after the answer")
    return Outcome(line="asked")


async def test_units_that_break_stop_no_other_and_are_done_again(tmp_path: Path) -> None:
    async with open_deps(Settings(workspace=tmp_path, concurrency=1)) as deps:
        units = {"a": unplug, "b": do, "c": stumble, "d": need_key, "e": do}
        outcomes = await each("mine", units, deps)
        assert [unit for unit, outcome in outcomes.items() if outcome.line == "done"] == ["b", "e"]
        assert told("2 done", outcomes) == "2 done, 3 failed and will be tried again at the next start"
        space = Workspace(tmp_path)
        broken = space.failures()["mine/c"]
        assert broken.reason == "KeyError: 'nothing'"
        assert "in stumble" in broken.trace
        report = report_factory(deps)
        assert set(report.failed) == {"mine/a", "mine/c", "mine/d"}
        assert "  mine/a: The network is down." in list(report.lines())
        again = await each("mine", dict.fromkeys(units, do), deps)
        assert all(outcome.line == "done" for outcome in again.values())
        assert not space.failures()


@pytest.mark.parametrize(
    ("work", "kind", "words"),
    [(need_key, UsageError, "^Set KEY.$"), (unplug, WebError, "down"), (stumble, AgentWorldError, "where from is in")],
)
async def test_what_breaks_every_unit_stops_the_run_in_one_sentence(
    tmp_path: Path, work: "partial[Outcome]", kind: type[AgentWorldError], words: str
) -> None:
    async with open_deps(Settings(workspace=tmp_path)) as deps:
        with pytest.raises(kind, match=words):
            await each("mine", {"a": work, "b": work}, deps)
        assert not Workspace(tmp_path).begun
        outcomes = await each("grown_1", {"a": work}, deps, needed=False)
        assert outcomes["a"].failure


async def test_what_a_unit_cost_is_kept_through_failure_and_restart(tmp_path: Path) -> None:
    async with scripted_openai(["hi"], repeat=True) as server:
        model = server.config.model_copy(update={"input_price": 1.0, "output_price": 2.0})
        settings = Settings(workspace=tmp_path, roles={"coder": RoleConfig(engine="llm", model=model)})
        async with open_deps(settings) as deps:
            await each("tools", {"a": partial(ask, True), "b": partial(ask, False)}, deps)
            await deps.model("coder").text([("user", "outside of all units")])
            keep_costs("tools", deps)
            keep_costs("tools", deps)
        async with open_deps(settings) as deps:
            await each("tools", {"a": partial(ask, True), "b": partial(ask, True)}, deps)
            (cost,) = report_factory(deps).costs
    assert (cost.calls, cost.input_tokens, cost.output_tokens, cost.dollars) == (4, 28, 12, 0.0001)
    assert {u: o.spent[0].calls for u, o in Workspace(tmp_path).outcomes("tools").items()} == {"a": 1, "b": 2}


async def test_an_arena_that_was_measured_on_stays_and_what_has_no_tools_is_not_placed(tmp_path: Path) -> None:
    for name in ("library", "archive"):
        make_library(tmp_path / "environments" / name)
    async with open_deps(Settings(workspace=tmp_path)) as deps:
        await place_all(deps)
        first = split_of(deps)
        write_text(tmp_path / "arena" / "before_sft.jsonl", "")
        for name in ("annex", "attic", "bare", "cellar"):
            make_library(tmp_path / "environments" / name)
        (tmp_path / "environments" / "bare" / "tools.json").unlink()
        await place_all(deps)
        second = split_of(deps)
        write_text(
            tmp_path / "done" / "tools" / "bare.json", Outcome(failure=Failure(kind="E", reason="x")).model_dump_json()
        )
        (lost,) = failed(deps)
    assert second.arena == first.arena
    assert set(second.training) == {*first.training, "annex", "attic", "cellar"}
    assert (lost.kind, lost.id, lost.reason) == ("environment", "bare", "tools failed: x")


def test_a_loop_begins_anew_where_failed_units_can_be_tried_again(tmp_path: Path) -> None:
    settings = Settings(workspace=tmp_path)
    with own_workspace(settings) as space:
        assert begins_anew(space)
        space.pin(settings)
        assert not begins_anew(space)
        space.finish("mine", "airports", Outcome(failure=Failure(kind="WebError", reason="down")))
        assert begins_anew(space)
        (tmp_path / "arena").mkdir()
        (tmp_path / "arena" / "before_sft.jsonl").touch()
        assert not begins_anew(space)
