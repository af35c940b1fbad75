"""What was before each round of complexification, so that every round can be undone, to the byte.

mined/<theme>/before/<environment>/<n>/bundle/           the whole bundle
mined/<theme>/before/<environment>/<n>/material.json, frontier.json
"""

import shutil
from dataclasses import dataclass
from pathlib import Path

from agent_world.agents.miner.material import Mine
from agent_world.errors import UsageError
from agent_world.memory.store import Bundle, write_bytes

HEAD = "environment.json"
MINED = ("material.json", "frontier.json")


@dataclass(frozen=True, slots=True)
class Rounds:
    """The rounds of one bundle."""

    bundle: Bundle
    mine: Mine

    def begin(self, number: int) -> None:
        """Keep everything as it is; or, where round `number` was killed in the middle, put it back."""
        kept = self._kept(number)
        if kept.exists():
            self._restore(kept, below="database")  # tools may have been written since
            shutil.rmtree(kept)
        half = kept.with_suffix(".tmp")
        shutil.rmtree(half, ignore_errors=True)
        shutil.copytree(self.bundle.root, half / "bundle")
        for name in MINED:
            if (self.mine.root / name).exists():
                shutil.copyfile(self.mine.root / name, half / name)
        half.rename(kept)

    def undo(self) -> int:
        """Everything as it was before the last round, whose number is returned. Killed and called again, it goes on.

        Raises `UsageError` where there is no round, or the workspace does not hold what was before it.
        """
        rounds = self.bundle.environment().rounds
        if not rounds:
            raise UsageError(f"{self.bundle.id} has no round of complexification to undo.")
        number = rounds[-1].number
        kept = self._kept(number)
        if not kept.exists():
            raise UsageError(
                f"What {self.bundle.id} was before round {number} is not kept in this workspace, so it cannot be "
                "undone; mine its theme again."
            )
        self._restore(kept)
        shutil.rmtree(kept)
        return number

    def forget(self, number: int) -> None:
        """Round `number` changed nothing."""
        shutil.rmtree(self._kept(number), ignore_errors=True)

    def _restore(self, kept: Path, below: str = ".") -> None:
        """File by file, the head last: until then it names the round, so that a kill in between is found."""
        for name in MINED:
            if (kept / name).exists():
                write_bytes(self.mine.root / name, (kept / name).read_bytes())
        part = kept / "bundle" / below
        before = {path.relative_to(kept / "bundle") for path in part.rglob("*") if path.is_file()}
        for path in sorted((self.bundle.root / below).rglob("*")):
            if path.is_file() and path.relative_to(self.bundle.root) not in before:
                path.unlink()
                if not any(path.parent.iterdir()):
                    path.parent.rmdir()
        for path in sorted(before, key=lambda path: (path.name == HEAD, path)):
            write_bytes(self.bundle.root / path, (kept / "bundle" / path).read_bytes())

    def _kept(self, number: int) -> Path:
        return self.mine.root / "before" / self.bundle.id / str(number)
