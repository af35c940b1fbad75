"""The tools of the miner with a chat model: search, browser, files, and a code interpreter over what was found.

All reading goes through the crawler, so it is logged, bounded and kept as without a model. Code runs in the sandbox.
"""

import asyncio
import json
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from agent_world.agents.miner.candidates import Candidate, shown
from agent_world.agents.miner.crawl import Crawler, Lead, Reading, search_leads
from agent_world.agents.miner.files import FileFault
from agent_world.schema import Json

if TYPE_CHECKING:
    from agent_world.tools.web.search import SearchBackend

MOST_HITS = 10
MOST_LINKS = 25
SHOWN_ROWS = 3
PARAMETERS: dict[str, tuple[str, dict[str, str]]] = {
    "search": ("Search the web.", {"query": "string"}),
    "open": ("Open a page; tables on it are kept, further pages of a listing are read too.", {"address": "string"}),
    "download": ("Download a data file; tables in it are kept.", {"address": "string"}),
    "tables": ("List the tables found so far, best first, with columns and some rows.", {}),
    "python": (
        "Run Python on the tables found so far: TABLE.json in the working directory holds a list of row objects, and "
        "the folder files the downloads as they were received. "
        "The code defines main(), whose result is shown.",
        {"code": "string"},
    ),
    "files": ("List the files at hand: downloads as they were received, and your notes.", {}),
    "read_file": (
        "Read a part of a file or note as text, from the character `offset` on.",
        {"name": "string", "offset": "integer"},
    ),
    "write_note": (
        "Keep a note for later turns; another of this name replaces it.",
        {"name": "string", "text": "string"},
    ),
    "finish": ("End with the names of the tables that make the database, the central one first.", {"tables": "array"}),
}


class DeskError(Exception):
    """A call that cannot be made, in words for the model."""


@dataclass(frozen=True, slots=True)
class Desk:
    """Tools of one theme's research."""

    search: "SearchBackend"
    crawler: Crawler
    reading: Reading
    most_pages: int
    candidates: Callable[[Sequence[str]], Awaitable[list[Candidate]]]
    """Of files of raw tables."""
    interpret: Callable[[str, Sequence[Candidate]], Awaitable[str]]
    """Runs code in the sandbox on these tables."""

    @property
    def specs(self) -> list[dict[str, Any]]:
        """OpenAI function specs."""
        return [_spec(name, *found) for name, found in PARAMETERS.items()]

    async def call(self, tool: str, arguments: Mapping[str, Any]) -> str:
        """What the model sees. Raises `DeskError` for a tool that does not exist or arguments that do not fit."""
        if tool not in PARAMETERS:
            raise DeskError(f"there is no tool {tool!r}; there are {', '.join(PARAMETERS)}.")
        _check(tool, arguments)
        match tool:
            case "search":
                return await self._search(arguments["query"])
            case "open" | "download":
                return await self._open(arguments["address"], "page" if tool == "open" else "download")
            case "tables":
                return json.dumps([shown(c, SHOWN_ROWS) for c in await self._found()], ensure_ascii=False)
            case "python":
                return await self.interpret(arguments["code"], await self._found())
            case "files" | "read_file" | "write_note":
                return await asyncio.to_thread(self._file, tool, arguments)
        known = [candidate.name for candidate in await self._found()]
        if unknown := [name for name in arguments["tables"] if name not in known]:
            raise DeskError(f"there is no table {unknown[0]!r}; there are {', '.join(known) or 'none yet'}.")
        return "Finished."

    def _file(self, tool: str, arguments: Mapping[str, Any]) -> str:
        files = self.crawler.mine.files
        try:
            if tool == "files":
                return json.dumps(files.listing(), ensure_ascii=False)
            if tool == "read_file":
                return json.dumps(files.read(arguments["name"], arguments["offset"]), ensure_ascii=False)
            return f"Kept as {files.write_note(arguments['name'], arguments['text'])}."
        except FileFault as fault:
            raise DeskError(str(fault)) from fault

    async def _found(self) -> list[Candidate]:
        return await self.candidates(self.reading.tables)

    async def _search(self, query: str) -> str:
        crawler = self.crawler
        leads, failures = await search_leads(self.search, [query], crawler.fit, crawler.mine, MOST_HITS)
        if failures:
            return f"The search failed: {failures[0]}"
        known = {lead["address"] for lead in self.reading.leads} | {*self.reading.seen}
        self.reading.leads += [lead for lead in leads if lead["address"] not in known]
        return json.dumps([{"title": lead["text"], "address": lead["address"]} for lead in leads], ensure_ascii=False)

    async def _open(self, address: str, kind: str) -> str:
        reading = self.reading
        if reading.opened >= self.most_pages:
            return f"The budget of {self.most_pages} pages is used up: choose among the tables that there are."
        if address in reading.seen:
            return "That was read already; `tables` shows what was found."
        known = next((lead for lead in reading.leads if lead["address"] == address), None)
        reading.leads[:] = [lead for lead in reading.leads if lead["address"] != address]
        lead = known or Lead(address=address, text="", kind=kind, score=0.0, found_on="")
        tables, failures = len(reading.tables), len(reading.failures)
        text = await self.crawler.open(Lead(**{**lead, "kind": kind}), reading)
        if len(reading.failures) > failures:
            return f"That cannot be read: {reading.failures[-1]}"
        links = [lead for lead in reading.leads if lead["found_on"] == address][:MOST_LINKS]
        shown = [{"text": lead["text"][:80], "address": lead["address"], "kind": lead["kind"]} for lead in links]
        found = {"text": text, "new_tables": len(reading.tables) - tables, "links": shown}
        return json.dumps(found, ensure_ascii=False)


def _spec(name: str, description: str, parameters: Mapping[str, str]) -> dict[str, Any]:
    def schema(kind: str) -> dict[str, Any]:
        return {"type": "array", "items": {"type": "string"}} if kind == "array" else {"type": kind}

    properties = {parameter: schema(kind) for parameter, kind in parameters.items()}
    form = {"type": "object", "properties": properties, "required": list(properties), "additionalProperties": False}
    return {"type": "function", "function": {"name": name, "description": description, "parameters": form}}


def _check(tool: str, arguments: Mapping[str, Json]) -> None:
    wanted = PARAMETERS[tool][1]
    for name, kind in wanted.items():
        value = arguments.get(name)
        if kind == "integer":
            if type(value) is not int:
                raise DeskError(f"{tool} needs {name}, a whole number.")
            continue
        texts = value if kind == "array" and isinstance(value, list) else [value]
        if not all(isinstance(text, str) for text in texts) or (kind == "array") != isinstance(value, list):
            raise DeskError(f"{tool} needs {name}, {'a list of strings' if kind == 'array' else 'a string'}.")
    if unknown := sorted(set(arguments) - set(wanted)):
        raise DeskError(f"{tool} takes no {unknown[0]}.")
