"""The gate on the library, and one good task of each kind to be broken."""

from collections.abc import AsyncIterator, Callable
from pathlib import Path

import pytest

from agent_world.agents.synthesizer.draft import Draft
from agent_world.agents.synthesizer.realise import Realised, realise
from agent_world.agents.synthesizer.world import World
from agent_world.agents.validator.gate import Gate, open_gate
from agent_world.schema import Chain, Origin, Program, Ref, Step, Task, Value
from agent_world.settings import Settings, TaskSettings
from agent_world.tools.runtime import open_runtime
from tests.worlds import make_library

SEARCH = Step(tool="search_books", arguments={"title": Value(value="Emma")})
DRAFTS = {
    "read": Draft(
        solution=Chain(steps=(SEARCH,), answer={"year": Ref(step=0, path="items.0.year")}),
        question="In which year was Emma published?",
        expected={"year": 1815},
        types={"year": "integer"},
    ),
    "write": Draft(
        solution=Chain(
            steps=(
                SEARCH,
                Step(
                    tool="update_book_copies",
                    arguments={"book_id": Ref(step=0, path="items.0.book_id"), "copies": Value(value=9)},
                ),
            ),
            answer={"author": Ref(step=1, path="author")},
        ),
        question="Set the number of copies of Emma to 9 and tell me its author.",
        expected={"author": "Jane Austen"},
        types={"author": "string"},
        writes=True,
    ),
    "program": Draft(
        solution=Program(
            source=(
                "def solve(tools):\n"
                '    rows = tools.list_books_by_genre(genre="horror")["items"]\n'
                '    found = [row["title"] for row in rows if row["pages"] < 500]\n'
                '    return {"titles": found, "average": round(sum(r["rating"] for r in rows) / len(rows), 2)}\n'
            )
        ),
        question="List the titles of horror books with under 500 pages, and the average rating of horror books.",
        expected={"average": 3.95},
        types={"titles": "[string]", "average": "number"},
    ),
}


@pytest.fixture
async def gate(tmp_path: Path) -> AsyncIterator[Gate]:
    bundle = make_library(tmp_path / "library")
    settings = Settings(workspace=tmp_path, tasks=TaskSettings(max_answer_chars=200))
    async with open_runtime(settings.runtime) as runtime, open_gate(World(bundle), runtime, settings) as opened:
        yield opened


@pytest.fixture
def make(gate: Gate) -> Callable[..., object]:
    """`await make("write")`: the task of a draft, run on the library."""

    async def made(name: str) -> Task:
        found = await realise(DRAFTS[name], "library", Origin(engine="procedural"), 0, await gate.pool.clean(0))
        gate.pool.soil(0)
        assert isinstance(found, Realised), found
        return found.task

    return made
