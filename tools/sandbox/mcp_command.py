"""An MCP server's command as the sandbox starts it: placeholders filled, a clean environment, and what it may read."""

import os
import shlex
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from agent_world.errors import UsageError
from agent_world.settings import McpRuntime
from agent_world.tools.sandbox.inside.jail import HOME, SCRATCH

_LONGEST = 120


@dataclass(frozen=True, slots=True)
class Command:
    argv: tuple[str, ...]
    environment: dict[str, str]
    readable: tuple[str, ...]
    """Paths that the server can read beside the system's libraries; nothing else of this machine is there for it."""

    @property
    def shown(self) -> str:
        """For messages: one line, not the whole of a script that was given on the command line."""
        line = " ".join(shlex.join(self.argv).split())
        return line if len(line) <= _LONGEST else f"{line[:_LONGEST]}…"


def prepare(config: McpRuntime) -> Command:
    """Raises `UsageError` for a path that is missing, or that the sandbox's user may not read."""
    argv = tuple(_fill(part) for part in config.command)
    environment = {
        "PATH": f"{sys.prefix}/bin:/usr/local/bin:/usr/bin:/bin",
        "HOME": HOME,
        "MCP_DB_DIR": HOME,
        "TMPDIR": SCRATCH,
        "LANG": "C.UTF-8",
        "TZ": "UTC",
        "PYTHONHASHSEED": "0",
        "PYTHONDONTWRITEBYTECODE": "1",
    } | {name: _fill(value) for name, value in config.env.items()}
    given = [_checked(path.resolve()) for path in config.readable]
    named = [_checked(path) for part in argv for path in _packages(Path(part))]
    return Command(argv, environment, tuple(sorted({*_installation(), *given, *named})))


def _fill(text: str) -> str:
    return text.replace("{python}", sys.executable).replace("{data}", HOME)


def _installation() -> Iterator[str]:
    """This Python: its environment, the interpreter beneath, and every folder of packages; and the shell's folder."""
    packages = [path for path in sys.path if Path(path).name in ("site-packages", "dist-packages")]
    yield from (path for path in ("/bin", sys.prefix, sys.base_prefix, *packages) if Path(path).is_dir())


def _packages(part: Path) -> Iterator[Path]:
    """What a path in the command brings with it: all of its npm packages, or else the file alone."""
    if not part.is_absolute() or not part.is_file() or part.is_relative_to(sys.prefix) or part.is_relative_to("/usr"):
        return
    if "node_modules" in part.parts:
        yield Path(*part.parts[: part.parts.index("node_modules") + 1])
    else:
        yield part


def _checked(path: Path) -> str:
    try:
        mode = path.stat().st_mode
    except OSError as error:
        raise UsageError(f"The MCP server needs {path}, which cannot be read ({error.strerror}).") from error
    needed = 0o5 if path.is_dir() else 0o4
    if os.getuid() == 0 and mode & needed != needed:  # its uid is not ours then
        raise UsageError(f"The sandbox's user may not read {path}; allow it: chmod -R o+rX {shlex.quote(str(path))}.")
    return str(path)
