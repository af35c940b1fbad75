"""The tool-calling loop against a real server with scripted answers, good and bad, and the offline web."""

import hashlib
import json
import os
from collections.abc import Sequence
from pathlib import Path

import pytest

from agent_world.agents.miner.candidates import Candidate, candidates_of
from agent_world.agents.miner.crawl import Reading
from agent_world.agents.miner.desk import Desk
from agent_world.agents.miner.research import MOST_BAD, Research, begin, take_turn
from agent_world.agents.model import open_model
from tests.agents.miner.shelf import PEAKS, Shelf, crawler
from tests.openai_server import Fault, Reply, ScriptedServer, scripted_openai

SITE = "http://shelf.test/adirondack-peaks"
SEARCH = {"name": "search", "arguments": {"query": "high peaks"}}
GRADES = {"name": "open", "arguments": {"address": f"{SITE}/grades"}}
TABLES: Reply = {"name": "tables", "arguments": {}}
FINISH = {"name": "finish", "arguments": {"tables": ["grades"]}}


async def researched(
    folder: Path, *replies: Reply, turns: int = 12, pages: int = 12
) -> tuple[Research, Reading, ScriptedServer]:
    async with scripted_openai(replies, repeat=True) as server, Shelf() as shelf:
        reader, reading = crawler(shelf, folder), Reading(leads=[], seen=[], tables=[])

        async def found(files: Sequence[str]) -> list[Candidate]:
            return candidates_of([reader.mine.raw_table(name) for name in files], reader.fit)

        async def interpreted(code: str, tables: Sequence[Candidate]) -> str:
            return f"{len(tables)} tables"

        desk = Desk(shelf, reader, reading, pages, found, interpreted)
        research, model = begin(PEAKS, turns), open_model(server.config)
        while not research.stopped:
            await take_turn(research, model, desk, turns)
        return research, reading, server


def answers(research: Research) -> list[str]:
    return [message["content"] for message in research.dialogue if message["role"] == "tool"]


async def test_a_model_searches_opens_looks_and_finishes(tmp_path: Path) -> None:
    python: Reply = {"name": "python", "arguments": {"code": "def main(): return 1"}}
    research, reading, server = await researched(tmp_path, SEARCH, GRADES, TABLES, python, FINISH)
    assert (research.wanted, research.stopped) == (["grades"], "finished")
    assert f"{SITE}/grades" in answers(research)[0]
    assert '"new_tables": 1' in answers(research)[1]
    assert '"rows": ' in answers(research)[2]
    assert answers(research)[3] == "1 tables"
    assert len(reading.tables) == 1
    assert {tool["function"]["name"] for tool in server.requests[0]["tools"]} >= {
        "search",
        "open",
        "download",
        "python",
    }
    assert "never an instruction" in server.requests[0]["messages"][0]["content"]


@pytest.mark.parametrize(
    ("bad", "told"),
    [
        ({"name": "open", "arguments": '{"address": "http'}, "no JSON object"),
        ({"name": "open", "arguments": "[1]"}, "could not be read"),
        ({"name": "open", "arguments": {"url": "x"}}, "open needs address, a string"),
        ({"name": "open", "arguments": {"address": "x", "deep": True}}, "open takes no deep"),
        ({"name": "browse_everything", "arguments": {}}, "there is no tool 'browse_everything'; there are search"),
        ({"name": "finish", "arguments": {"tables": ["invented"]}}, "there is no table 'invented'"),
        ({"name": "finish", "arguments": {"tables": "grades"}}, "finish needs tables, a list of strings"),
        ({"name": "open", "arguments": {"address": "http://shelf.test/none"}}, "cannot be read"),
        ("", "holds no call"),
        ("I'm sorry, but I cannot help with that.", "holds no call"),
    ],
)
async def test_a_bad_answer_is_told_what_is_wrong_and_the_loop_goes_on(tmp_path: Path, bad: Reply, told: str) -> None:
    research, _, server = await researched(tmp_path, GRADES, bad, FINISH)
    assert research.stopped == "finished"
    said = [message["content"] for message in server.requests[-1]["messages"] if message["role"] != "assistant"]
    assert any(told in text for text in said)


@pytest.mark.parametrize("fault", [Fault(429), Fault(500), Fault(cut=True)], ids=["429", "500", "cut"])
async def test_a_fault_of_the_server_that_passes_is_not_noticed(tmp_path: Path, fault: Fault) -> None:
    research, _, _ = await researched(tmp_path, GRADES, fault, FINISH)
    assert research.stopped == "finished"


@pytest.mark.parametrize("fault", [Fault(429), Fault(500), Fault(401), Fault(cut=True)], ids=repr)
async def test_a_fault_that_stays_ends_the_loop_and_keeps_what_was_found(tmp_path: Path, fault: Fault) -> None:
    research, reading, _ = await researched(tmp_path, GRADES, fault)
    assert "did not answer" in research.stopped
    assert (research.wanted, research.answered, len(reading.tables)) == ([], 1, 1)


@pytest.mark.parametrize("bad", ["", "No.", {"name": "nothing", "arguments": {}}, {"name": "open", "arguments": "{"}])
async def test_useless_turns_in_a_row_end_the_loop(tmp_path: Path, bad: Reply) -> None:
    research, reading, _ = await researched(tmp_path, GRADES, bad)
    assert research.turns == 1 + MOST_BAD
    assert "in a row" in research.stopped
    assert len(reading.tables) == 1


async def test_a_call_repeated_for_ever_is_found_out(tmp_path: Path) -> None:
    research, _, _ = await researched(tmp_path, SEARCH, turns=50)
    assert research.turns < 10
    assert any("this very call before" in text for text in answers(research))


async def test_turns_and_pages_have_budgets(tmp_path: Path) -> None:
    other = {"name": "open", "arguments": {"address": "http://shelf.test/stars"}}
    research, reading, _ = await researched(tmp_path, GRADES, other, TABLES, TABLES, turns=4, pages=1)
    assert "budget of 4 turns" in research.stopped
    assert "budget of 1 pages" in answers(research)[1]
    assert reading.opened == 1


async def test_every_call_of_a_turn_is_answered_also_the_bad_ones(tmp_path: Path) -> None:
    many: Reply = [SEARCH, {"name": "open", "arguments": "{"}, {"name": "none", "arguments": {}}, FINISH, *[TABLES] * 8]
    research, _, server = await researched(tmp_path, GRADES, many, "")
    ids = [call["id"] for call in research.dialogue[4]["tool_calls"]]
    assert [m["tool_call_id"] for m in research.dialogue[5:]] == ids
    assert research.stopped == "finished"
    assert len(server.requests) == 2


def ask(tool: str, /, **arguments: object) -> Reply:
    return {"name": tool, "arguments": arguments}


async def test_a_model_lists_and_reads_what_it_downloaded_and_keeps_notes(tmp_path: Path) -> None:
    file = "http://shelf.test/flights/planes.csv"
    calls = (
        ask("download", address=file), ask("files"), ask("read_file", name="planes.csv", offset=2000),
        ask("write_note", name="plan", text="planes: tailnum is the key"), ask("read_file", name="plan.md", offset=0),
    )  # fmt: skip
    research, _, server = await researched(tmp_path, *calls, ask("finish", tables=["planes"]))
    _, listed, read, kept, note = answers(research)[:5]
    body = (tmp_path / "files" / "planes.csv").read_bytes()
    assert json.loads(listed)["files"] == [{"name": "planes.csv", "address": file, "bytes": len(body)}]
    text = body.decode("utf-8-sig")
    assert json.loads(read) == {"text": text[2000:4000], "of": len(text), "next_offset": 4000}
    assert kept == "Kept as plan.md."
    assert json.loads(note)["text"] == "planes: tailnum is the key"
    fact = json.loads((tmp_path / "files.jsonl").read_text())
    assert fact["sha256"] == hashlib.sha256(body).hexdigest()
    assert "files is data" in server.requests[0]["messages"][0]["content"]


@pytest.mark.parametrize(
    ("call", "told"),
    [
        (ask("read_file", name="../crawl.jsonl", offset=0), "there is no file '../crawl.jsonl'"),
        (ask("read_file", name="cereals.xlsx", offset=0), "is no text"),
        (ask("read_file", name="cereals.xlsx", offset="0"), "read_file needs offset, a whole number"),
        (ask("write_note", name="../../x", text=""), "lower-case letters"),
        (ask("write_note", name="x", text="y" * 9000), "8000 characters at most"),
    ],
)
async def test_files_outside_and_what_is_no_text_are_refused(tmp_path: Path, call: Reply, told: str) -> None:
    first = ask("download", address="http://shelf.test/cereals/cereals.xlsx")
    research, _, _ = await researched(tmp_path / "theme", first, call, ask("finish", tables=["cereals"]))
    assert told in answers(research)[1]
    assert os.listdir(tmp_path) == ["theme"]
