"""What all instances of one environment share: its files, its tools, and its state at the start."""

import contextlib
import json
import os
import stat
from collections import OrderedDict
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, replace
from functools import cached_property
from operator import attrgetter
from pathlib import Path
from typing import Any

from pydantic import ValidationError

from agent_world.errors import SandboxError, SpecError, UsageError
from agent_world.schema import DatabaseSchema, Environment, ToolSpec
from agent_world.tools.arguments import ArgumentChecker
from agent_world.tools.files import Files, read_files
from agent_world.tools.state import State, check_volatile, read_state

_MAX_KNOWN = 64
_HEADS = ("environment.json", "tools.json", "tools.py")
Signature = tuple[tuple[int, int], ...]
_TIME_AND_SIZE = attrgetter("st_mtime_ns", "st_size")


@dataclass(frozen=True, eq=False)
class Template:
    """Compared by identity: a changed bundle is another template."""

    files: Files
    schema: DatabaseSchema
    checkers: Mapping[str, ArgumentChecker]
    """By tool; empty for a bundle without tools.json, in which every function of tools.py may be called."""
    source: str
    """tools.py, never executed here."""
    reads: frozenset[str] = frozenset()
    """Tools that say they only read."""

    @cached_property
    def size(self) -> int:
        """Bytes of the database."""
        return self.files.size

    @property
    def state(self) -> State:
        """Made at the first look; no `cached_property`, whose lock is one for all templates: who has a small one would
        wait for a large one."""
        if "_state" not in self.__dict__:
            self.__dict__["_state"] = read_state(self.files, self.schema)
        found: State = self.__dict__["_state"]
        return found


class Templates:
    """Bundles by folder, the last ones used; read again when a file of theirs has changed."""

    def __init__(self, max_bytes: int, gone: Callable[[Template], None] = lambda template: None) -> None:
        """`gone` is told of each template that no new instance will use."""
        self._max_bytes = max_bytes
        self._gone = gone
        self._known: OrderedDict[Path, tuple[_Look, Template]] = OrderedDict()

    def load(self, root: Path) -> Template:
        """Raises `SandboxError` when the bundle cannot be read, with the file, the tool and the field."""
        known = self._known.get(root)
        if known and known[0].same():
            self._known.move_to_end(root)
            return known[1]
        look = _look(root)
        template = _load(root, self._max_bytes)
        if known:
            self._gone(known[1])
        self._known[root] = look, template
        while len(self._known) > _MAX_KNOWN:
            self._gone(self._known.popitem(last=False)[1][1])
        return template


@dataclass(frozen=True, slots=True)
class _Look:
    """Times and sizes of what makes a template: the heads, and the folders and files of the database.

    A folder's time tells of names that came or went.
    """

    there: tuple[str, ...]
    absent: tuple[str, ...]
    signature: Signature

    def same(self) -> bool:
        """Asked in every `open`, so by the cheapest means."""
        try:
            signature = tuple(map(_TIME_AND_SIZE, map(os.stat, self.there)))
        except OSError:
            return False
        return signature == self.signature and not any(os.access(path, os.F_OK) for path in self.absent)


def _look(root: Path) -> _Look:
    heads = [f"{root}/{name}" for name in (*_HEADS, "database")]
    found: dict[str, tuple[int, int]] = {}
    left = list(heads)
    while left:
        path = left.pop()
        with contextlib.suppress(FileNotFoundError):
            status = os.stat(path)
            found[path] = _TIME_AND_SIZE(status)
            if stat.S_ISDIR(status.st_mode):
                with os.scandir(path) as entries:
                    left += (entry.path for entry in entries)
    return _Look(tuple(found), tuple(path for path in heads if path not in found), tuple(found.values()))


def _load(root: Path, max_bytes: int) -> Template:
    database = root / "database"
    files = replace(read_files(database, max_bytes), modes={}) if database.is_dir() else Files()
    if files.refused:
        path, reason = next(iter(files.refused.items()))
        raise SandboxError(
            f"{database / path} cannot be given to an instance ({reason}); raise runtime.disk_mb or fix it."
        )
    with _named(root / "tools.py"):
        source = (root / "tools.py").read_text() if (root / "tools.py").exists() else ""
    with _named(root / "tools.json"):
        specs = _specs(root / "tools.json")
        checkers = {spec.name: ArgumentChecker(spec) for spec in specs}
    with _named(root / "environment.json"):
        schema = _schema(root / "environment.json")
        check_volatile(schema, files)
    reads = frozenset(spec.name for spec in specs if spec.annotations.read_only)
    return Template(files, schema, checkers, source, reads)


@contextlib.contextmanager
def _named(path: Path) -> Iterator[None]:
    """Whatever is wrong with it is said with its name, and with the field."""
    try:
        yield
    except ValidationError as error:
        raise SandboxError(f"{path} cannot be read ({_fault(error)}).") from error
    except (OSError, UsageError, SpecError, ValueError) as error:
        raise SandboxError(f"{path} cannot be read ({' '.join(str(error).split()).rstrip('.')}).") from error


def _fault(error: ValidationError) -> str:
    first = error.errors()[0]
    return f"{'.'.join(map(str, first['loc'])) or 'the whole'}: {first['msg']}"


def _schema(path: Path) -> DatabaseSchema:
    return Environment.model_validate_json(path.read_text()).database if path.exists() else DatabaseSchema()


def _specs(path: Path) -> list[ToolSpec]:
    if not path.exists():
        return []
    found = json.loads(path.read_text())
    if not isinstance(found, dict) or not isinstance(found.get("tools"), list):
        raise ValueError("it must be an object with a list `tools`")
    return [_spec(number, tool) for number, tool in enumerate(found["tools"])]


def _spec(number: int, tool: Any) -> ToolSpec:
    try:
        return ToolSpec.model_validate(tool)
    except ValidationError as error:
        name = tool.get("name") if isinstance(tool, dict) else None
        raise ValueError(f"tool {name or f'number {number + 1}'}, {_fault(error)}") from error
