"""The card of an environment: what it says of a good one and of a bad one, and how it is shown."""

import json
import re
from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from agent_world.agents.policy import Message
from agent_world.agents.validator.second import SECOND
from agent_world.cli import main
from agent_world.evals.card import Card, card_of, receipts_of, tool_tokens
from agent_world.evals.card_page import mark_of, render_card, write_card_page, write_index_page
from agent_world.evals.floor import ChancePolicy, IdlePolicy
from agent_world.graphs.deps import Deps, open_deps
from agent_world.graphs.synthesize import SynthesisRequest, synthesize
from agent_world.memory.store import Bundle, read_record
from agent_world.schema import Task, Validation
from agent_world.settings import Settings
from tests.worlds import make_library

QUESTION = 'Which book is it?\nAnswer as JSON: {"title": string, "pages": integer, "ids": [string]}'
OPENING: list[Message] = [{"role": "system", "content": "s"}, {"role": "user", "content": QUESTION}]


@pytest.fixture
async def deps(tmp_path: Path) -> AsyncIterator[Deps]:
    async with open_deps(Settings(workspace=tmp_path)) as opened:
        yield opened


@pytest.fixture
async def library(deps: Deps) -> Bundle:
    bundle = make_library(deps.store.root / "library")
    await synthesize(bundle, SynthesisRequest(graph=5, program=3, seed=5), deps)
    return bundle


def marks(card: Card) -> dict[str, str]:
    return {signal.name: mark_of(signal) for signal in card.signals}


async def test_a_good_environment_shows_it_at_a_glance(deps: Deps, library: Bundle) -> None:
    card = await card_of(library, deps)
    assert card.task_count == 8
    assert all(receipt.passed == receipt.of for receipt in card.receipts)
    assert {receipt.of for receipt in card.receipts if receipt.name != SECOND} == {8}
    assert "differs from the others" in {receipt.name for receipt in card.receipts}
    assert (card.measured.oracle.passed, card.measured.idle.passed, card.measured.replayed) == (8, 0, 8)
    assert (len(card.tools), card.rows, len(card.sources)) == (10, 57, 1)
    found = marks(card)
    assert found["every task passed the gate"] == found["the reference solutions earn the reward"] == "✓"
    assert found["runs repeat, in other processes and at other times"] == "✓"
    assert found["the data are real"] == "✗", "members.csv and loans.sqlite of the library have no source"
    assert found["a model solves them"] == "–"


async def test_a_card_is_kept_until_the_environment_changes(deps: Deps, library: Bundle) -> None:
    first = await card_of(library, deps)
    path = deps.settings.workspace / "cards" / "library" / "card.json"
    written = path.stat().st_mtime_ns
    assert await card_of(library, deps) == first == read_record(path, Card)
    assert path.stat().st_mtime_ns == written
    library.write_tasks(library.tasks()[:3])
    fewer = await card_of(library, deps)
    assert fewer.task_count == 3
    assert fewer.fingerprint != first.fingerprint


async def test_bad_tasks_show_in_the_signs(deps: Deps, library: Bundle) -> None:
    tasks = library.tasks()
    spoilt = tasks[0].model_copy(update={"reference_answer": {k: None for k in tasks[0].reference_answer}})
    library.write_tasks([spoilt.model_copy(update={"validation": Validation()}), *tasks[1:3]])
    card = await card_of(library, deps)
    found = marks(card)
    assert found["every task passed the gate"] == "✗"
    assert found["the reference solutions earn the reward"] == "✗"
    assert found["runs repeat, in other processes and at other times"] == "✗"
    assert card.measured.faults == {spoilt.id: "the gold solution gives another answer"}
    assert receipts_of(library.tasks())[0].of == 3


async def test_an_environment_without_tasks_has_a_card_too(deps: Deps) -> None:
    card = await card_of(make_library(deps.store.root / "bare"), deps)
    assert card.task_count == 0
    assert marks(card)["every task passed the gate"] == "✗"
    assert "No task has a receipt" in render_card(card, None)


async def test_the_pages_need_nothing_outside_themselves_and_name_everything(deps: Deps, library: Bundle) -> None:
    card = await card_of(library, deps)
    page = write_card_page(card, None, deps.settings.workspace)
    text = page.read_text()
    assert re.findall(r"""(?:src|href)=["'](?!data:|#)""", text) == []
    assert "<script" not in text
    assert text.count("data:image/svg+xml") == 2
    assert all(tool.name in text for tool in card.tools)
    assert all(receipt.name in text for receipt in card.receipts)
    assert write_card_page(card, None, deps.settings.workspace).read_text() == text
    index = write_index_page([card], deps.settings.workspace).read_text()
    assert 'href="library/card.html"' in index
    assert "8 of 8, 100 %" in index


def test_cards_are_made_from_the_command_line(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    config = tmp_path / "c.yaml"
    config.write_text(f"workspace: {tmp_path / 'w'}\ntasks: {{graph: 2, program: 1}}\n")
    make_library(tmp_path / "w" / "environments" / "library")
    assert main(["tasks", "synthesize", "library", "-c", str(config)]) == 0
    capsys.readouterr()
    assert main(["stats", "library", "-c", str(config), "--json"]) == 0
    card = json.loads(capsys.readouterr().out)
    assert card["measured"]["oracle"]["passed"] == 3
    assert len(card["signals"]) == 8
    assert main(["stats", "-c", str(config)]) == 0
    said = capsys.readouterr().out
    assert "sign 1, every task passed the gate: ✓" in said
    assert (tmp_path / "w" / "cards" / "library" / "card.html").exists()
    assert (tmp_path / "w" / "cards" / "index.html").exists()
    assert main(["stats", "nowhere", "-c", str(config)]) == 2


def test_tokens_are_counted_or_said_to_be_approximate(tmp_path: Path) -> None:
    tools = make_library(tmp_path / "library").tools()
    count, how = tool_tokens(tools, tmp_path)
    assert count == len(json.dumps([tool.public() for tool in tools])) // 4
    assert "approximation" in how


async def test_nobody_fills_in_blanks_and_chance_what_it_has_seen() -> None:
    (idle,) = await IdlePolicy().act([OPENING], [[]])
    assert json.loads(idle.content) == {"title": "", "pages": 0, "ids": []}
    shown = json.dumps({"items": [{"title": "Emma", "pages": 474, "id": "B003"}, {"pages": 8, "id": "B001"}]})
    (turn,) = await ChancePolicy().act([[*OPENING, {"role": "tool", "content": shown}]], [[]])
    answer = json.loads(turn.content)
    assert answer["title"] == "Emma"
    assert answer["pages"] in (474, 8)
    assert answer["ids"] == ["B001", "B003"]


async def test_chance_calls_tools_with_what_it_has_read(tmp_path: Path) -> None:
    tools = [tool.public() for tool in make_library(tmp_path / "library").tools()]
    turns = [(await ChancePolicy(seed).act([OPENING], [tools]))[0] for seed in range(40)]
    assert all(len(turn.tool_calls) == 1 for turn in turns)
    assert len({turn.tool_calls[0].name for turn in turns}) >= 7
    given = [value for turn in turns for value in turn.tool_calls[0].arguments.values() if isinstance(value, str)]
    assert set(given) <= {"Which", "book", "is", "it"}


def test_receipts_count_a_task_without_them_as_not_passed() -> None:
    assert receipts_of(list[Task]()) == ()
