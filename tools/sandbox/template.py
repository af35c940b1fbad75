"""What all instances of one environment share: its files, its tools, and its state at the start."""

import json
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

from pydantic import ValidationError

from agent_world.errors import SandboxError
from agent_world.schema import DatabaseSchema, Environment, ToolSpec
from agent_world.tools.arguments import ArgumentChecker
from agent_world.tools.files import Files, read_files
from agent_world.tools.state import State, read_state

Signature = tuple[tuple[str, int, int], ...]


@dataclass(frozen=True)
class Template:
    files: Files
    schema: DatabaseSchema
    checkers: Mapping[str, ArgumentChecker]
    """By tool; empty for a bundle without tools.json, in which every function of tools.py may be called."""
    source: str
    """tools.py, never executed here."""

    @cached_property
    def state(self) -> State:
        return read_state(self.files, self.schema)


class Templates:
    """Bundles by folder, read again when a file of theirs has changed."""

    def __init__(self, max_bytes: int) -> None:
        self._max_bytes = max_bytes
        self._known: dict[Path, tuple[Signature, Template]] = {}

    def load(self, root: Path) -> Template:
        """Raises `SandboxError` when the bundle cannot be read, `SpecError` for a broken tool schema."""
        signature = _signature(root)
        known = self._known.get(root)
        if known and known[0] == signature:
            return known[1]
        template = _load(root, self._max_bytes)
        self._known[root] = signature, template
        return template


def _signature(root: Path) -> Signature:
    paths = [root / name for name in ("environment.json", "tools.json", "tools.py")]
    paths += sorted((root / "database").rglob("*"))
    found = [(path, path.stat()) for path in paths if path.exists()]
    return tuple((str(path), status.st_mtime_ns, status.st_size) for path, status in found)


def _load(root: Path, max_bytes: int) -> Template:
    database = root / "database"
    files = read_files(database, max_bytes) if database.is_dir() else Files()
    if files.refused:
        path, reason = next(iter(files.refused.items()))
        raise SandboxError(
            f"{database / path} cannot be given to an instance ({reason}); raise runtime.disk_mb or fix it."
        )
    try:
        source = (root / "tools.py").read_text() if (root / "tools.py").exists() else ""
        return Template(files, _schema(root), {spec.name: ArgumentChecker(spec) for spec in _specs(root)}, source)
    except (OSError, ValidationError, ValueError, KeyError, TypeError) as error:
        raise SandboxError(f"The bundle {root} cannot be read ({str(error).splitlines()[0]}).") from error


def _schema(root: Path) -> DatabaseSchema:
    head = root / "environment.json"
    return Environment.model_validate_json(head.read_text()).database if head.exists() else DatabaseSchema()


def _specs(root: Path) -> list[ToolSpec]:
    path = root / "tools.json"
    return [ToolSpec.model_validate(tool) for tool in json.loads(path.read_text())["tools"]] if path.exists() else []
