"""Takes tables out of a downloaded file, each kind by a library that reads it well."""

import csv
from collections.abc import Callable
from dataclasses import replace
from pathlib import PurePosixPath

from agent_world.errors import WebError
from agent_world.tools.web.binary_tables import pdf_grids, sqlite_grids, xlsx_grids
from agent_world.tools.web.bounds import unpacked
from agent_world.tools.web.fetch import Received
from agent_world.tools.web.file_kind import PAGE_KINDS, ending_of, name_of
from agent_world.tools.web.grid import Grid
from agent_world.tools.web.page import RawTable
from agent_world.tools.web.text_tables import csv_grids, json_file_grids, jsonl_grids, markdown_grids

Reader = Callable[[bytes, str, str | None], list[Grid]]
"""Of content, name, and encoding as the sender said. Raises `ValueError` for what is damaged."""

READERS: dict[str, Reader] = {
    ".csv": csv_grids,
    ".tsv": csv_grids,
    ".tab": csv_grids,
    ".json": json_file_grids,
    ".geojson": json_file_grids,
    ".jsonl": jsonl_grids,
    ".ndjson": jsonl_grids,
    ".xlsx": xlsx_grids,
    ".sqlite": sqlite_grids,
    ".sqlite3": sqlite_grids,
    ".db": sqlite_grids,
    ".pdf": pdf_grids,
    ".md": markdown_grids,
    ".markdown": markdown_grids,
}
ARCHIVE = ".zip"
ENDINGS = (*READERS, ARCHIVE)
"""Of addresses that are downloaded rather than opened as a page."""
MOST_TABLES = 100


class NoFile(WebError):
    """What came is no file with tables."""


def download_tables(found: Received, licence: str | None = None) -> tuple[RawTable, ...]:
    """Tables of a data file, told apart by content type, then by ending, then by content. Raises `WebError`;
    `NoFile` where it is a page."""
    ending = ending_of(found, ENDINGS)
    if ending is None:
        kind = found.content_type or "no content type"
        fault = NoFile if kind in PAGE_KINDS else WebError
        raise fault(f"{found.address} is not a file with tables (it says {kind}); read are {' '.join(ENDINGS)}.")
    name = name_of(found)
    try:
        grids = _archive(found.body) if ending == ARCHIVE else READERS[ending](found.body, name, found.charset)
    except (ValueError, csv.Error, KeyError, EOFError, OSError) as error:
        raise WebError(f"{found.address} is damaged: {str(error).rstrip('.')}.") from error
    stated = found.headers.get("x-license") or licence
    return tuple(
        RawTable(
            g.title,
            g.header,
            g.rows,
            found.address,
            found.as_of,
            found.sha256,
            stated,
            g.kind,
            g.notes,
            form=g.form or ending.removeprefix("."),
            retrieved=found.retrieved,
        )
        for g in grids[:MOST_TABLES]
        if g.rows
    )


def _archive(body: bytes) -> list[Grid]:
    """Tables of the files in an archive; archives within it stay closed. A damaged file among sound ones is noted."""
    grids: list[Grid] = []
    problems: list[str] = []
    for path, content in unpacked(body):
        entry = PurePosixPath(path)
        if reader := READERS.get(entry.suffix.lower()):
            try:
                found = reader(content, entry.stem, None)
            except (ValueError, csv.Error, KeyError, EOFError, OSError) as error:
                problems.append(f"{path}: {error}")
                continue
            note = f"from {path} in the archive"
            grids += [
                Grid(g.title, g.header, g.rows, g.kind, (note, *g.notes), entry.suffix[1:].lower()) for g in found
            ]
    if problems and not grids:
        raise ValueError(problems[0])
    return [replace(g, notes=(*g.notes, *problems)) for g in grids]
