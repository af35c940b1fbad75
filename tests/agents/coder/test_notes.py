"""Markdown notes of a workspace: left by complexification, true to the rows, read and searched by tools."""

import asyncio
import re
from pathlib import Path

import pytest

from agent_world.agents.coder.data import read_data
from agent_world.agents.coder.mutate import mutation_score
from agent_world.agents.coder.notes import note_tools
from agent_world.graphs.complexify import complexify_bundle, undo_round
from agent_world.graphs.deps import open_deps
from agent_world.graphs.write_tools import write_tools
from agent_world.memory.store import Bundle
from agent_world.settings import ComplexifySettings, Settings, ToolSettings
from agent_world.tools.runtime import Runtime
from tests.worlds import make_library

NAMES = ["list_notes", "read_note", "search_notes"]


def settings(workspace: Path) -> Settings:
    notes, few = ComplexifySettings(notes=True), ToolSettings(max_tools=3)
    return Settings(workspace=workspace, complexify=notes, tools=few)


@pytest.fixture(scope="module")
def library(tmp_path_factory: pytest.TempPathFactory) -> Bundle:
    """Two rounds richer, with no tools but those of its notes."""
    root = tmp_path_factory.mktemp("notes")
    bundle = make_library(root / "environments" / "library")
    bundle.write_tools([], "", "")

    async def make() -> None:
        async with open_deps(settings(root), checkpoints=False) as deps:
            for number in (1, 2):
                await complexify_bundle(bundle, deps, number)
            await write_tools(bundle, deps)

    asyncio.run(make())
    return bundle


def test_each_round_leaves_a_note_that_is_marked_and_quotes_its_rows(library: Bundle) -> None:
    environment, data = library.environment(), read_data(library)
    notes = environment.database.notes
    assert [note.synthetic for note in notes] == [True, True]
    assert len({note.table for note in notes}) == 2
    assert [note.file in done.files for note, done in zip(notes, environment.rounds, strict=True)] == [True, True]
    for note in notes:
        text = (library.database / note.file).read_text()
        assert text.startswith(f"# {note.title}\n")
        assert "Made up as a note" in text
        rows = [{k.replace("_", " "): str(v) for k, v in row.items()} for row in data.rows[note.table]]
        told = [dict(re.findall(r"^- ([^:]+): (.*)$", part, re.MULTILINE)) for part in text.split("\n## ")[1:]]
        assert len(told) == 5
        assert all(any(facts.items() <= row.items() for row in rows) for facts in told)


def test_their_tools_are_written_and_every_test_of_them_passes(library: Bundle) -> None:
    verdicts = {v.tool: (v.kept, v.tests_passed == v.tests_total >= 4) for v in library.environment().tools}
    assert verdicts == dict.fromkeys(NAMES, (True, True))
    assert all(tool.annotations.read_only and tool.operation is None for tool in library.tools())


async def test_an_agent_finds_a_line_and_reads_its_note(library: Bundle, runtime: Runtime) -> None:
    note = library.environment().database.notes[0]
    text = (library.database / note.file).read_text()
    heading, line = re.findall(r"^## (.*)\n\n(- .*)$", text, re.MULTILINE)[-1]
    instance = await runtime.open(library.root)
    found = await instance.call("search_notes", {"query": line.upper()})
    assert {"note": note.name, "heading": heading, "line": line} in found.value["items"]
    assert (await instance.call("read_note", {"note": note.name})).value["text"] == text
    assert (await instance.call("list_notes", {})).value["total"] == 2
    assert (await instance.call("read_note", {"note": "diary"})).error == "not_found"
    assert (await instance.call("search_notes", {"query": " "})).error == "invalid_value"


@pytest.mark.parametrize("seed", [3, 8])
async def test_of_ten_faults_their_tests_notice_eight(library: Bundle, runtime: Runtime, seed: int) -> None:
    score = await mutation_score(library, await runtime.open(library.root), seed=seed)
    assert score.total >= 6
    assert score.caught >= 0.8 * score.total, score.survivors


async def test_a_round_is_undone_with_its_note(tmp_path: Path) -> None:
    bundle = make_library(tmp_path / "environments" / "library")
    bundle.write_tools([], "", "")
    async with open_deps(settings(tmp_path), checkpoints=False) as deps:
        await complexify_bundle(bundle, deps, 1)
        assert len(list((bundle.database / "notes").iterdir())) == 1
        undo_round(bundle, deps)
    assert not (bundle.database / "notes").exists()
    assert bundle.environment().database.notes == ()


def test_a_table_of_notes_keeps_its_names(library: Bundle) -> None:
    tools = note_tools(read_data(library), 0, {"search_notes"})
    assert [tool.spec.name for tool in tools] == [
        "list_workspace_notes", "read_workspace_note", "search_workspace_notes"
    ]  # fmt: skip
