"""A workspace folder: who owns it, which settings made it, and which units of work are done.

    WORKSPACE/settings.json         the settings it was made with, from the first finished unit on (`pinned.py`)
    WORKSPACE/.lock                 held by the one process that works in it; says that the folder is a workspace
    WORKSPACE/done/<stage>/<unit>.json   a unit's outcome, written after everything else of the unit

A unit without its marker is done again, and so is one that failed; units are deterministic, so a kill costs at most the
unit in flight.
"""

import fcntl
import os
import shutil
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from agent_world.errors import StoreError, UsageError
from agent_world.memory import pinned
from agent_world.memory.store import read_record, write_record
from agent_world.schema import Dropped, Record
from agent_world.settings import Role, Settings

MARK = b"A workspace of Agent-World.\n"
"""What the lock file holds where the folder was ours from the start."""
BESIDE = b"Agent-World works here, beside files of others.\n"
"""The same where it was not: such a folder is never emptied."""
OURS = {".lock", pinned.FILE, "sources.yaml", "themes.jsonl", "theme_sources.jsonl", "environments", "cache", "index"}
"""What may be there before the first run: added themes, imported environments, what a search made."""
KEPT = {".lock", pinned.FILE, "sources.yaml"}
"""What --fresh leaves: theme sources that somebody added are not what a run made. The settings go last."""


class Spent(Record):
    """What one role's chat model took for a unit, in all attempts at it that came to an end."""

    role: Role
    model: str
    calls: int = 0
    input_tokens: int = 0
    output_tokens: int = 0
    seconds: float = 0.0


class Failure(Record):
    """Why a unit came to nothing: not for its own sake (that is `dropped`), but because something broke."""

    kind: str
    """Name of the exception."""
    reason: str
    trace: str = ""
    """Where it came from, if that is not known from the reason."""


class Outcome(Record):
    """What became of one unit of a stage."""

    line: str = ""
    dropped: tuple[Dropped, ...] = ()
    failure: Failure | None = None
    """Set: the unit is done again at the next start."""
    seconds: float = 0.0
    spent: tuple[Spent, ...] = ()


@dataclass(frozen=True, slots=True)
class Workspace:
    root: Path

    def outcome(self, stage: str, unit: str) -> Outcome | None:
        path = self._marker(stage, unit)
        return read_record(path, Outcome) if path.exists() else None

    def finish(self, stage: str, unit: str, outcome: Outcome) -> None:
        write_record(self._marker(stage, unit), outcome)

    def pin(self, settings: Settings) -> None:
        """From now on, what is here was made with `settings`."""
        pinned.pin(self.root, settings)

    @property
    def begun(self) -> bool:
        """Whether any unit was ever finished."""
        return pinned.is_pinned(self.root)

    @property
    def measured(self) -> bool:
        """Whether a policy was measured on the arena: from then on, environments are not exchanged."""
        return any((self.root / "arena").glob("*"))

    def outcomes(self, stage: str) -> dict[str, Outcome]:
        return {p.stem: read_record(p, Outcome) for p in sorted((self.root / "done" / stage).glob("*.json"))}

    def failures(self) -> dict[str, Failure]:
        """By `stage/unit`: what broke, and is tried again at the next start."""
        markers = sorted((self.root / "done").glob("*/*.json"))
        found = {f"{path.parent.name}/{path.stem}": read_record(path, Outcome).failure for path in markers}
        return {unit: failure for unit, failure in found.items() if failure}

    def spent(self) -> list[Spent]:
        """What chat models took so far, a line a role and model."""
        found = [s for p in sorted((self.root / "done").glob("*/*.json")) for s in read_record(p, Outcome).spent]
        return sum_up(found)

    def dropped(self) -> list[Dropped]:
        """Everything not kept so far, with reasons, in order of stage and unit."""
        markers = sorted((self.root / "done").glob("*/*.json"))
        return [item for path in markers for item in read_record(path, Outcome).dropped]

    def _marker(self, stage: str, unit: str) -> Path:
        return self.root / "done" / stage / f"{unit}.json"


def sum_up(spent: Iterable[Spent]) -> list[Spent]:
    """One for each role and model, in that order."""
    sums: dict[tuple[Role, str], Spent] = {}
    for one in spent:
        known = sums.get((one.role, one.model))
        counted = ("calls", "input_tokens", "output_tokens", "seconds")
        more = {name: getattr(one, name) + getattr(known, name) for name in counted} if known else {}
        sums[one.role, one.model] = one.model_copy(update=more)
    return [sums[key] for key in sorted(sums)]


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
        ours = _is_ours(root)
        lock = os.open(root / ".lock", os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o644)
    except OSError as error:
        raise StoreError(f"Cannot use the workspace {root} ({error.strerror}); set workspace=FOLDER.") from error
    try:
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError as error:
            raise UsageError(f"Another process works in {root}; wait for it, or set workspace=FOLDER.") from error
        _sign(root, lock, MARK if ours else BESIDE)
        pinned.check(root, settings)
        yield Workspace(root)
    finally:
        os.close(lock)


def _sign(root: Path, lock: int, text: bytes) -> None:
    try:
        os.pwrite(lock, text, 0)
    except OSError as error:
        raise StoreError(
            f"Cannot write {root}: {error.strerror}; free some space or choose another workspace."
        ) from error


def _is_ours(root: Path) -> bool:
    """Whether all that lies in the folder came from us."""
    lock = root / ".lock"
    signed = lock.read_bytes() if lock.is_file() else b""
    if signed:
        return signed == MARK
    return pinned.is_pinned(root) or {path.name for path in root.iterdir()} <= OURS


def _clear(root: Path) -> None:
    if not root.exists() or not any(root.iterdir()):
        return
    if not _is_ours(root):
        raise UsageError(f"{root} holds what is not ours, so --fresh will not empty it; set workspace=FOLDER.")
    with _locked_out(root):
        for path in sorted(root.iterdir()):
            if path.name not in KEPT:
                shutil.rmtree(path) if path.is_dir() and not path.is_symlink() else path.unlink()
        (root / pinned.FILE).unlink(missing_ok=True)


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
