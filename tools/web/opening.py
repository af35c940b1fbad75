"""Opens an address whatever it leads to: a guess by how it looks, then what the server really answers."""

import asyncio
import re
from dataclasses import dataclass
from typing import Protocol

from agent_world.errors import WebError
from agent_world.tools.web.extract import ENDINGS, NoFile, download_tables
from agent_world.tools.web.fetch import Received
from agent_world.tools.web.file_kind import PAGE_KINDS, asks_for
from agent_world.tools.web.page import Page, RawTable

FORMATS = "csv|tsv|xlsx|excel|spreadsheet|jsonl?|geojson|ndjson|sqlite|zip"
FILE_WORDS = re.compile(
    rf"(download|export|save|get)\b.{{0,40}}\b(data|data ?set|{FORMATS})\b.{{0,20}}"
    rf"|(as |in )?({FORMATS})( file)?( \(.*\))?"
)
"""Texts of links to a file."""


class NoPage(WebError):
    """The address answered with something else than a page, which is at hand."""

    def __init__(self, found: Received) -> None:
        kind = found.content_type or "of unknown type"
        super().__init__(f"{found.address} is no page but {kind}; download it instead.")
        self.found = found


class Reader(Protocol):
    """What reading needs of a browser; both raise `WebError`."""

    async def read(self, address: str) -> Page:
        """Raises `NoPage` for a file."""
        ...

    async def fetch(self, address: str) -> Received:
        """What the address gives, as received."""
        ...


@dataclass(frozen=True, slots=True)
class Download:
    """A file and its tables."""

    received: Received
    tables: tuple[RawTable, ...]


def require_page(found: Received) -> None:
    if found.content_type not in PAGE_KINDS:
        raise NoPage(found)


async def open_address(reader: Reader, address: str, file: bool = False) -> Page | Download:
    """A page, or a file. `file` is a guess (see `looks_like_a_file`): where the answer is the other, it is read as what
    it is, and a file that was taken for a page is not asked for again. Raises `WebError`."""
    if file or looks_like_a_file(address):
        try:
            return await _download(await reader.fetch(address))
        except NoFile:
            return await reader.read(address)
    try:
        return await reader.read(address)
    except NoPage as other:
        return await _download(other.found)


async def _download(found: Received) -> Download:
    return Download(found, await asyncio.to_thread(download_tables, found))


def looks_like_a_file(address: str, text: str = "") -> bool:
    """By its ending (`towns.csv`), by what is asked for (`export?format=csv`), or by the text of the link."""
    return asks_for(address, ENDINGS) or bool(FILE_WORDS.fullmatch(text.lower().strip()))
