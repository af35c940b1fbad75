"""The files of one theme's research: downloads as they were received, and the model's own notes.

WORKSPACE/mined/<theme>/files/<name>, with files.jsonl beside it: name, address, time, sha256 and size of each
WORKSPACE/mined/<theme>/notes/<name>.md
"""

import json
import re
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path, PurePosixPath

from agent_world.memory.store import write_bytes, write_text
from agent_world.schema import Json
from agent_world.tools.web.extract import ENDINGS
from agent_world.tools.web.fetch import Received
from agent_world.tools.web.file_kind import ending_of, name_of
from agent_world.tools.web.text_tables import decode

SHOWN_CHARS = 2000
"""Of a file in one reading."""
LONGEST_NOTE, MOST_NOTES = 8000, 20
NOTE_NAME = re.compile(r"[a-z0-9][a-z0-9_-]{0,39}")
LONGEST_NAME = 60


class FileFault(Exception):
    """What cannot be read or kept, in words for the model."""


@dataclass(frozen=True, slots=True)
class Files:
    """Nothing outside the folder is ever read or written: names are looked up, never joined to a path as given."""

    root: Path

    def keep(self, found: Received) -> str:
        """Keep a download; its name. One that is there already (address and content) is not kept twice."""
        listed = self._listed()
        for known in listed:
            if (known["address"], known["sha256"]) == (found.address, found.sha256):
                return str(known["name"])
        stem = re.sub(r"[^\w.-]+", "_", name_of(found)).strip("._")[:LONGEST_NAME] or "file"
        ending = ending_of(found, ENDINGS) or ""
        taken = {known["name"] for known in listed}
        names = (f"{stem}{'' if number == 1 else f'_{number}'}{ending}" for number in range(1, len(taken) + 2))
        name = next(name for name in names if name not in taken)
        write_bytes(self.root / "files" / name, found.body)
        fact = {
            "name": name, "address": found.address, "retrieved": found.retrieved, "sha256": found.sha256,
            "bytes": len(found.body),
        }  # fmt: skip
        lines = [json.dumps(line, ensure_ascii=False) for line in (*listed, fact)]
        write_text(self.root / "files.jsonl", "".join(f"{line}\n" for line in lines))
        return name

    def listing(self) -> dict[str, list[dict[str, Json]]]:
        """What a model is told of the files at hand."""
        shown = [{key: known[key] for key in ("name", "address", "bytes")} for known in self._listed()]
        notes = [{"name": path.name, "bytes": path.stat().st_size} for path in self._notes()]
        return {"files": shown, "notes": notes}

    def paths(self) -> list[Path]:
        """The downloads, in the order in which they came."""
        return [self.root / "files" / str(known["name"]) for known in self._listed()]

    def read(self, name: str, offset: int) -> dict[str, Json]:
        """A part of a file's text, and where the next part begins. Raises `FileFault`."""
        there = {path.name: path for path in (*self.paths(), *self._notes())}
        if name not in there:
            raise FileFault(f"there is no file {name!r}; there are {', '.join(there) or 'none yet'}.")
        body = there[name].read_bytes()
        if b"\0" in body[:4000] and PurePosixPath(name).suffix not in (".csv", ".tsv", ".json", ".jsonl"):
            raise FileFault(f"{name} is no text; `tables` shows the tables in it.")
        text = decode(body)
        if not 0 <= offset <= len(text):
            raise FileFault(f"offset must be from 0 to {len(text)}.")
        end = offset + SHOWN_CHARS
        return {"text": text[offset:end], "of": len(text), "next_offset": end if end < len(text) else None}

    def write_note(self, name: str, text: str) -> str:
        """A note under a name, in place of an earlier one of this name. Raises `FileFault`."""
        if not NOTE_NAME.fullmatch(name):
            raise FileFault("a note's name is lower-case letters, digits, - and _, 40 at most.")
        if len(text) > LONGEST_NOTE:
            raise FileFault(f"a note holds {LONGEST_NOTE} characters at most; this one has {len(text)}.")
        notes = self._notes()
        if len(notes) >= MOST_NOTES and f"{name}.md" not in {path.name for path in notes}:
            raise FileFault(f"there are {MOST_NOTES} notes already; write one of them anew.")
        write_text(self.root / "notes" / f"{name}.md", text)
        return f"{name}.md"

    def _notes(self) -> list[Path]:
        return sorted((self.root / "notes").glob("[!.]*.md"))

    def _listed(self) -> list[Mapping[str, Json]]:
        path = self.root / "files.jsonl"
        return [json.loads(line) for line in path.read_text().splitlines()] if path.exists() else []
