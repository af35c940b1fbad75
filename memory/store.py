"""The workspace on disk: environment bundles, task and trajectory banks. Files are the truth.

    WORKSPACE/environments/<id>/{environment.json, database/, tools.json, tools.py, tool_tests.py,
                                 tool_graph.json, tasks.jsonl, provenance.json}

Two runs with the same inputs, seed and procedural engines write the same bytes, but for provenance.json, which says
when each source was received.

Every write goes to a temporary name first and is renamed into place, so a kill at any moment leaves the old
or the new file, never half of one.
"""

import glob
import hashlib
import json
import os
import shutil
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TypeVar

from pydantic import ValidationError

from agent_world.errors import StoreError
from agent_world.schema import FORMAT_VERSION, Environment, Provenance, Record, Task, ToolSpec

NO_CONTENT = ("environment.json", "tasks.jsonl", "provenance.json")
"""Files of a bundle outside its content hash."""
R = TypeVar("R", bound=Record)


def write_text(path: Path, text: str) -> None:
    """Replace `path` as a whole. Raises `StoreError` when the disk is full or not writable."""
    write_bytes(path, text.encode())


def write_bytes(path: Path, data: bytes) -> None:
    temporary = path.with_name(f".{path.name}.{os.getpid()}.tmp")
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        with temporary.open("wb") as file:
            file.write(data)
            file.flush()
            os.fsync(file.fileno())
        os.replace(temporary, path)
        _sweep(path)
    except OSError as error:
        temporary.unlink(missing_ok=True)
        raise StoreError(
            f"Cannot write {path}: {error.strerror}; free some space or choose another workspace."
        ) from error


def _sweep(path: Path) -> None:
    """Remove what killed processes left of earlier attempts to write `path`."""
    for left in path.parent.glob(f".{glob.escape(path.name)}.*.tmp"):
        if not Path("/proc", left.name.split(".")[-2]).exists():
            left.unlink(missing_ok=True)


def to_json(value: Record) -> str:
    return json.dumps(value.model_dump(mode="json", by_alias=True), indent=1, ensure_ascii=False) + "\n"


def write_record(path: Path, value: Record) -> None:
    write_text(path, to_json(value))


def read_record(path: Path, kind: type[R]) -> R:
    """Raises `StoreError` that names the file when it is missing or damaged."""
    try:
        return kind.model_validate_json(path.read_text())
    except FileNotFoundError as error:
        raise StoreError(f"{path} is missing; run the stage that makes it, or start over with --fresh.") from error
    except (ValidationError, ValueError) as error:
        raise StoreError(
            f"{path} is damaged ({str(error).splitlines()[0]}); restore it, or start over with --fresh."
        ) from error


def write_records(path: Path, values: Iterable[Record]) -> None:
    """JSON Lines, one record a line."""
    lines = [json.dumps(v.model_dump(mode="json", by_alias=True), ensure_ascii=False) for v in values]
    write_text(path, "".join(line + "\n" for line in lines))


def read_records(path: Path, kind: type[R]) -> list[R]:
    """Records of a JSON Lines file; a missing file holds none."""
    if not path.exists():
        return []
    try:
        return [kind.model_validate_json(line) for line in path.read_text().splitlines() if line]
    except (ValidationError, ValueError) as error:
        raise StoreError(
            f"{path} is damaged ({str(error).splitlines()[0]}); restore it, or start over with --fresh."
        ) from error


@dataclass(frozen=True, slots=True)
class Bundle:
    """One environment on disk. Reads on demand; writes whole files."""

    root: Path

    @property
    def id(self) -> str:
        return self.root.name

    @property
    def database(self) -> Path:
        return self.root / "database"

    def environment(self) -> Environment:
        found = read_record(self.root / "environment.json", Environment)
        if found.format_version > FORMAT_VERSION:
            raise StoreError(
                f"{self.root} has bundle format {found.format_version}; this version reads up to {FORMAT_VERSION}."
            )
        return found

    def tools(self) -> list[ToolSpec]:
        path = self.root / "tools.json"
        if not path.exists():
            return []
        try:
            return [ToolSpec.model_validate(tool) for tool in json.loads(path.read_text())["tools"]]
        except (ValidationError, ValueError, KeyError) as error:
            raise StoreError(f"{path} is damaged ({str(error).splitlines()[0]}); write the tools again.") from error

    def tasks(self) -> list[Task]:
        return read_records(self.root / "tasks.jsonl", Task)

    def write_environment(self, environment: Environment) -> None:
        """Write the head last: it carries the hash of all that is there."""
        write_record(
            self.root / "environment.json", environment.model_copy(update={"content_hash": self.content_hash()})
        )

    def provenance(self) -> Provenance:
        """Empty for a bundle that was not mined."""
        path = self.root / "provenance.json"
        return read_record(path, Provenance) if path.exists() else Provenance()

    def write_provenance(self, provenance: Provenance) -> None:
        write_record(self.root / "provenance.json", provenance)

    def write_tools(self, tools: Sequence[ToolSpec], source: str, tests: str) -> None:
        write_text(self.root / "tools.py", source)
        write_text(self.root / "tool_tests.py", tests)
        self.write_specs(tools)

    def write_specs(self, tools: Sequence[ToolSpec]) -> None:
        """tools.json alone, for tools whose code is elsewhere."""
        listed = [t.model_dump(mode="json", by_alias=True, exclude_none=True) for t in tools]
        write_text(self.root / "tools.json", json.dumps({"tools": listed}, indent=1, ensure_ascii=False) + "\n")

    def write_tasks(self, tasks: Sequence[Task]) -> None:
        write_records(self.root / "tasks.jsonl", tasks)

    def content_hash(self) -> str:
        digest = hashlib.sha256()
        for path in sorted(p for p in self.root.rglob("*") if p.is_file()):
            name = path.relative_to(self.root).as_posix()
            if name in NO_CONTENT or path.name.startswith("."):
                continue
            digest.update(name.encode() + b"\0" + hashlib.sha256(path.read_bytes()).digest())
        return digest.hexdigest()


@dataclass(frozen=True, slots=True)
class Store:
    """All bundles of a workspace."""

    workspace: Path

    @property
    def root(self) -> Path:
        return self.workspace / "environments"

    def bundle(self, environment_id: str) -> Bundle:
        return Bundle(self.root / environment_id)

    def ids(self) -> list[str]:
        """Ids of finished bundles (those with a head), in order."""
        return sorted(p.parent.name for p in self.root.glob("*/environment.json"))

    def bundles(self) -> list[Bundle]:
        return [self.bundle(i) for i in self.ids()]

    def discard(self, environment_id: str) -> None:
        """Remove a bundle, head first, so that a kill in between leaves an unfinished one."""
        (self.root / environment_id / "environment.json").unlink(missing_ok=True)
        shutil.rmtree(self.root / environment_id, ignore_errors=True)
