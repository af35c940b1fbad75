"""A workspace folder: who owns it, which settings made it, and which units of work are done.

    WORKSPACE/settings.json         the settings it was made with
    WORKSPACE/.lock                 held by the one process that works in it
    WORKSPACE/done/<stage>/<unit>.json   a unit's outcome, written after everything else of the unit

A unit without its marker is done again; units are deterministic, so a kill costs at most the unit in flight.
"""

import fcntl
import json
import os
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from agent_world.errors import StoreError, UsageError
from agent_world.memory.store import read_record, write_record, write_text
from agent_world.schema import Dropped, Record
from agent_world.settings import Settings

# Settings that may change between two runs in one workspace: they do not change what is made.
FREE = {"workspace", "concurrency", "executor", "index"}


class Outcome(Record):
    """What became of one unit of a stage."""

    line: str = ""
    dropped: tuple[Dropped, ...] = ()
    seconds: float = 0.0


@dataclass(frozen=True, slots=True)
class Workspace:
    root: Path

    def outcome(self, stage: str, unit: str) -> Outcome | None:
        path = self._marker(stage, unit)
        return read_record(path, Outcome) if path.exists() else None

    def finish(self, stage: str, unit: str, outcome: Outcome) -> None:
        write_record(self._marker(stage, unit), outcome)

    def outcomes(self, stage: str) -> dict[str, Outcome]:
        return {p.stem: read_record(p, Outcome) for p in sorted((self.root / "done" / stage).glob("*.json"))}

    def dropped(self) -> list[Dropped]:
        """Everything not kept so far, with reasons, in order of stage and unit."""
        markers = sorted((self.root / "done").glob("*/*.json"))
        return [item for path in markers for item in read_record(path, Outcome).dropped]

    def _marker(self, stage: str, unit: str) -> Path:
        return self.root / "done" / stage / f"{unit}.json"


@contextmanager
def own_workspace(settings: Settings, *, fresh: bool = False) -> Iterator[Workspace]:
    """Lock the workspace for this process; make it if needed; refuse settings that would mix two runs.

    Raises `UsageError` when another process owns it or it was made with other settings, `StoreError` when it
    cannot be written.
    """
    root = settings.workspace
    if fresh:
        _clear(root)
    try:
        root.mkdir(parents=True, exist_ok=True)
        lock = os.open(root / ".lock", os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o644)
    except OSError as error:
        raise StoreError(f"Cannot use the workspace {root} ({error.strerror}); set workspace=FOLDER.") from error
    try:
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError as error:
            raise UsageError(f"Another process works in {root}; wait for it, or set workspace=FOLDER.") from error
        _check_settings(root, settings)
        yield Workspace(root)
    finally:
        os.close(lock)


def _check_settings(root: Path, settings: Settings) -> None:
    """Same settings as before, or none before."""
    path = root / "settings.json"
    mine = json.loads(settings.model_dump_json(exclude=FREE))
    if not path.exists():
        write_text(path, json.dumps(mine, indent=1) + "\n")
        return
    try:
        theirs = json.loads(path.read_text())
    except ValueError as error:
        raise StoreError(f"{path} is damaged; start over with --fresh.") from error
    changed = sorted(k for k in mine | theirs if mine.get(k) != theirs.get(k))
    if changed:
        raise UsageError(
            f"{root} was made with other settings ({', '.join(changed)} differ); "
            "go on with the old ones, start over with --fresh, or set workspace=FOLDER."
        )


def _clear(root: Path) -> None:
    if not root.exists() or not any(root.iterdir()):
        return
    if not (root / "settings.json").exists():
        raise UsageError(f"{root} is not a workspace of ours (no settings.json), so --fresh will not empty it.")
    with _locked_out(root):
        for path in sorted(root.iterdir()):
            if path.name not in (".lock", "settings.json"):
                shutil.rmtree(path) if path.is_dir() and not path.is_symlink() else path.unlink()
        (root / "settings.json").unlink()


@contextmanager
def _locked_out(root: Path) -> Iterator[None]:
    """Hold the lock while emptying, so that nobody's running work is removed."""
    lock = os.open(root / ".lock", os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o644)
    try:
        fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        yield
    except BlockingIOError as error:
        raise UsageError(f"Another process works in {root}; wait for it before --fresh.") from error
    finally:
        os.close(lock)
