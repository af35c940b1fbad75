"""What kind of file an answer is, and what it is called: by its content type, the names that are given, and itself."""

import re
from collections.abc import Collection
from email.message import Message
from pathlib import PurePosixPath
from urllib.parse import parse_qsl, unquote, urlsplit

from agent_world.tools.files import SQLITE
from agent_world.tools.web.fetch import Received
from agent_world.tools.web.text_tables import decode, looks_like_csv

KINDS = {
    "ndjson": ".jsonl",
    "jsonl": ".jsonl",
    "json": ".json",
    "spreadsheetml": ".xlsx",
    "csv": ".csv",
    "tab-separated": ".tsv",
    "sqlite": ".sqlite",
    "markdown": ".md",
    "pdf": ".pdf",
    "zip": ".zip",
}
"""By what a content type contains; the first that fits. Gzip is undone by the fetcher."""
PAGE_KINDS = ("text/html", "application/xhtml+xml")
UNTOLD = re.compile(r"|text/plain|(application|binary)/(octet-stream|binary|force-download|x-download|vnd\.ms-excel)")
"""Content types that say nothing of the content."""
SIGNS = {SQLITE: ".sqlite", b"%PDF-": ".pdf"}
NAMELESS = {"", "export", "download", "data", "file", "get", "view", "raw", "index"}
"""Names of addresses that call all files the same."""


def ending_of(found: Received, known: Collection[str]) -> str | None:
    """One of `known`, or None for what is none of them."""
    named = [
        PurePosixPath(urlsplit(found.address).path).suffix.lower(),
        PurePosixPath(_file_name(found)).suffix.lower(),
    ]
    kind = found.content_type
    by_kind = next((ending for part, ending in KINDS.items() if part in kind), None)
    if by_kind and "gzip" not in kind:
        return ".geojson" if ".geojson" in named else by_kind
    if kind in PAGE_KINDS:
        return None
    return next((ending for ending in (*named, *_asked(found.address)) if ending in known), None) or _by_content(found)


def name_of(found: Received) -> str:
    """As the server calls the file, else by the last part of the address that tells something."""
    parts = [unquote(part) for part in urlsplit(found.address).path.split("/")]
    stems = [PurePosixPath(part).stem for part in (_file_name(found), *reversed(parts))]
    return next((stem for stem in stems if stem.lower() not in NAMELESS), "table")


def asks_for(address: str, known: Collection[str]) -> bool:
    """Whether an address ends in one of these, or asks for one (`export?format=csv`)."""
    own = PurePosixPath(urlsplit(address).path).suffix.lower()
    return any(ending in known for ending in (own, *_asked(address)))


def _asked(address: str) -> list[str]:
    """Values of its query, as endings."""
    return [f".{value.lower()}" for _, value in parse_qsl(urlsplit(address).query)]


def _file_name(found: Received) -> str:
    header = Message()
    header["content-disposition"] = found.headers.get("content-disposition", "")
    return (header.get_filename() or "").replace("\\", "/").rpartition("/")[2]


def _by_content(found: Received) -> str | None:
    body = found.body
    if sign := next((ending for sign, ending in SIGNS.items() if body.startswith(sign)), None):
        return sign
    if body.startswith(b"PK\x03\x04"):
        return ".xlsx" if b"xl/workbook.xml" in body else ".zip"
    if not UNTOLD.fullmatch(found.content_type):
        return None
    text = decode(body, found.charset).lstrip()
    if "\0" in text:
        return None
    if text[:1] in ("{", "["):
        lines = text.split("\n", 2)
        return (
            ".jsonl" if len(lines) > 1 and all(_whole_object(line) for line in lines[:2] if line.strip()) else ".json"
        )
    return ".csv" if looks_like_csv(text) else None


def _whole_object(line: str) -> bool:
    return line.strip().startswith("{") and line.strip().endswith("}")
