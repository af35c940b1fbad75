"""Tasks for the library by the whole graph: kept ones are sound, the run is reproducible, demonstrations are apart."""

import io
import json
from collections.abc import AsyncIterator
from pathlib import Path

import pytest
from rich.console import Console

from agent_world.agents.validator.pool import open_pool
from agent_world.agents.validator.replay import replay
from agent_world.graphs.deps import Deps, open_deps
from agent_world.graphs.synthesize import SynthesisReport, SynthesisRequest, demonstrate, synthesize
from agent_world.graphs.validate import validate
from agent_world.memory.store import Bundle
from agent_world.progress import Progress
from agent_world.schema import Guideline
from agent_world.settings import ModelConfig, RoleConfig, Settings
from agent_world.tools.grading import grade
from tests.openai_server import scripted_openai
from tests.worlds import make_library

REQUEST = SynthesisRequest(graph=6, program=3, seed=5)


@pytest.fixture
async def deps(tmp_path: Path) -> AsyncIterator[Deps]:
    async with open_deps(Settings(workspace=tmp_path)) as opened:
        yield opened


@pytest.fixture
def library(deps: Deps) -> Bundle:
    return make_library(deps.store.root / "library")


async def test_the_tasks_wanted_are_kept_with_receipts_and_replay(deps: Deps, library: Bundle) -> None:
    report = await synthesize(library, REQUEST, deps)
    assert [t.strategy for t in report.kept].count("graph") == 6
    assert [t.strategy for t in report.kept].count("program") == 3
    assert library.tasks() == report.kept
    async with open_pool(library, deps.runtime, 1) as pool:
        for task in report.kept:
            assert task.validation.status == "gate only"
            assert all(check.passed for check in task.validation.checks)
            instance = await pool.clean(0)
            run = await replay(instance, task.solution)
            diff = await instance.diff()
            pool.soil(0)
            score = await grade(task, run.answer, diff, runtime=deps.runtime, environment=library.root)
            assert score.reward == 1


async def test_every_rejection_has_a_reason_and_no_working_file_is_left(deps: Deps, library: Bundle) -> None:
    report = await synthesize(library, SynthesisRequest(graph=10, program=8, seed=2), deps)
    assert all(d.kind == "task" and d.reason for d in report.dropped)
    assert not list(library.root.glob(".*"))
    edges = json.loads((library.root / "tool_graph.json").read_text())["edges"]
    assert len(edges) == len(library.tools()) * (len(library.tools()) - 1)


async def test_the_same_seed_gives_the_same_bundle_to_the_byte(deps: Deps, tmp_path: Path) -> None:
    texts = []
    for name in ("one", "two"):
        bundle = make_library(tmp_path / name / "library")
        await synthesize(bundle, REQUEST, deps)
        files = sorted(p for p in bundle.root.rglob("*") if p.is_file())
        texts.append([(p.relative_to(bundle.root), p.read_bytes()) for p in files])
    assert texts[0] == texts[1]


async def test_appending_keeps_what_is_there_and_adds_only_new_tasks(deps: Deps, library: Bundle) -> None:
    first = await synthesize(library, REQUEST, deps)
    again = SynthesisRequest(graph=4, program=0, seed=5, round=1, append=True)
    second = await synthesize(library, again, deps)
    assert library.tasks() == [*first.kept, *second.kept]
    assert {t.round for t in second.kept} == {1}
    assert not {t.question for t in first.kept} & {t.question for t in second.kept}


async def test_guidelines_and_levels_are_kept_to(deps: Deps, library: Bundle) -> None:
    wanted = Guideline(id="writes", text="more writes", failure="state_not_tracked", operations=("update",))
    request = SynthesisRequest(graph=6, program=2, seed=3, guidelines=(wanted,), levels=(1, 2))
    report = await synthesize(library, request, deps)
    assert {t.origin.guideline for t in report.kept} == {"writes"}
    assert {t.difficulty.level for t in report.kept} <= {1, 2}
    assert sum(bool(t.state_change.changes) for t in report.kept) >= len(report.kept) / 2


async def test_demonstrations_score_one_are_compact_and_show_no_kept_task(deps: Deps, library: Bundle) -> None:
    report = await synthesize(library, REQUEST, deps)
    found = await demonstrate(library, 60, 5, deps)
    assert len(found) == 60
    assert all(t.score.reward == 1 and t.status == "done" and t.calls >= 1 for t in found)
    questions = [t.messages[1]["content"].splitlines()[0] for t in found]
    assert len(set(questions)) == 60
    assert not set(questions) & {t.question for t in report.kept}
    assert max(sum(len(str(m)) for m in t.messages) for t in found) <= 1500
    assert len({t.messages[2]["tool_calls"][0]["function"]["name"] for t in found}) >= 6
    assert found == await demonstrate(library, 60, 5, deps)


async def kept_by_model(tmp_path: Path, replies: list[str]) -> tuple[str, int, int]:
    """Status, passes and scored runs of one library task that a scripted model attempts."""
    async with open_deps(Settings(workspace=tmp_path)) as plain:
        bundle = make_library(plain.store.root / "library")
        report: SynthesisReport = await synthesize(bundle, SynthesisRequest(graph=6, program=0, seed=5), plain)
    task = next(t for t in report.kept if not t.state_change.changes)
    gold = json.dumps(task.reference_answer)
    said = [gold if reply == "gold" else reply for reply in replies]
    async with scripted_openai(said) as server:
        settings = Settings(workspace=tmp_path, roles={"validator": RoleConfig(model=server.config)})
        async with open_deps(settings) as deps:
            found = (await validate(bundle, task, deps)).validation
    assert len((tmp_path / "validation" / f"{task.id}.jsonl").read_text().splitlines()) == 5
    return found.status, found.passes, found.attempts


async def test_a_task_that_a_model_solves_twice_is_validated_and_its_runs_are_kept(tmp_path: Path) -> None:
    assert await kept_by_model(tmp_path, ["gold", "gold", "{}", "I do not know", "{}"]) == ("validated", 2, 5)


async def test_a_task_that_a_model_solves_once_is_rejected(tmp_path: Path) -> None:
    assert await kept_by_model(tmp_path, ["gold", "{}", "{}", "{}", "{}"]) == ("rejected", 1, 5)


async def test_runs_without_a_score_do_not_count(tmp_path: Path) -> None:
    """FAULTS PB-43, PB-68: when the server answers nothing, the record stays `gate only`."""
    assert await kept_by_model(tmp_path, []) == ("gate only", 0, 0)


async def test_a_model_that_cannot_be_reached_leaves_the_template_wording(tmp_path: Path) -> None:
    model = ModelConfig(name="openai:none", base_url="http://127.0.0.1:9/v1", api_key="none", retries=0, timeout_s=5)
    settings = Settings(workspace=tmp_path, roles={"synthesizer": RoleConfig(engine="llm", model=model)})
    screen = io.StringIO()
    async with open_deps(settings, Progress(Console(file=screen, width=400))) as deps:
        bundle = make_library(deps.store.root / "library")
        report = await synthesize(bundle, SynthesisRequest(graph=2, program=0, seed=5), deps)
    assert len(report.kept) == 2
    assert {t.origin.engine for t in report.kept} == {"procedural"}
    assert "stays as computed" in screen.getvalue()


async def test_a_model_that_writes_no_sound_program_leaves_the_grammar_to_it(tmp_path: Path) -> None:
    async with scripted_openai(["I cannot help with that."], repeat=True) as server:
        settings = Settings(workspace=tmp_path, roles={"synthesizer": RoleConfig(engine="llm", model=server.config)})
        async with open_deps(settings) as deps:
            bundle = make_library(deps.store.root / "library")
            report = await synthesize(bundle, SynthesisRequest(graph=0, program=2, seed=5), deps)
    assert [t.origin.engine for t in report.kept] == ["procedural", "procedural"]
    assert any(d.reason.startswith("the model wrote no program") for d in report.dropped)
