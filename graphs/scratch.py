"""A code interpreter over tables that were found: a scratch bundle, and a program in the sandbox."""

import asyncio
import json
import shutil
from collections.abc import Sequence
from pathlib import Path

from agent_world.agents.miner.candidates import Candidate
from agent_world.agents.miner.database import Database, Entry
from agent_world.errors import SandboxError
from agent_world.memory.store import Bundle
from agent_world.schema import Environment, Origin, Theme
from agent_world.tools.runtime import RunResult, Runtime

MOST_FILE_BYTES = 20_000_000
"""Of all files that a program gets; those that came first are left out beyond it."""


async def interpret(
    code: str, tables: Sequence[Candidate], theme: Theme, folder: Path, runtime: Runtime, files: Sequence[Path] = ()
) -> str:
    """What `main()` of the code gives, or what went wrong, as text. Tables lie as JSON in its working directory, and
    `files` in its folder `files`."""
    await asyncio.to_thread(_write, tables, theme, folder)
    await asyncio.to_thread(_copy, files, folder)
    try:
        instance = await runtime.open(folder)
    except SandboxError as error:
        return f"No code can be run here: {error}"
    try:
        return _told(await instance.run(code, "main", {}))
    finally:
        await instance.close()


def _write(tables: Sequence[Candidate], theme: Theme, folder: Path) -> None:
    shutil.rmtree(folder, ignore_errors=True)
    database, bundle = Database(tuple(Entry(found.table, "json") for found in tables)), Bundle(folder)
    bundle.database.mkdir(parents=True)
    database.write(bundle)
    head = Environment(
        id="scratch", name=theme.name, description=theme.description, theme=theme, database=database.schema(),
        origin=Origin(engine="llm"),
    )  # fmt: skip
    bundle.write_environment(head)


def _copy(files: Sequence[Path], folder: Path) -> None:
    left, place = MOST_FILE_BYTES, Bundle(folder).database / "files"
    for path in reversed(files):
        left -= path.stat().st_size
        if left >= 0:
            place.mkdir(exist_ok=True)
            shutil.copyfile(path, place / path.name)


def _told(result: RunResult) -> str:
    if result.ok:
        return json.dumps({"result": result.value, "output": result.output}, ensure_ascii=False)
    return json.dumps({"error": result.error, "output": result.output}, ensure_ascii=False)
