"""A process in a sandbox of E2B, and lines of JSON to and from it. What comes back is hostile until checked."""

import asyncio
import json
import shlex
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Any

from agent_world.tools.sandbox.channel import Answer, ChannelClosed, answer_to
from agent_world.tools.sandbox.inside.serve import MAX_FRAME

if TYPE_CHECKING:
    from e2b import AsyncCommandHandle

CODE, DATABASE = "/opt/agent-world", "/db"
"""Where our code and the database lie in a sandbox."""
LAYOUT = "layout.json"
"""With the code: what E2B cannot be sent, for the first process to make, empty folders and permissions."""
KEY = "E2B_API_KEY"
_DATABASE_FROM_CODE = "../../db"
_KILL_S = 10.0
_START = (
    'import sys; sys.path.insert(0, "."); from inside.steady import begin_without_chance; begin_without_chance(); '
    "from inside.piped import main; sys.path.pop(0); main(sys.argv[1])"
)
_REMEDIES = (
    ("AuthenticationException", f"set runtime.api_key or {KEY} to a key that is in force"),
    ("RateLimitException", "wait, or lower runtime.max_instances to what your plan allows"),
    ("TemplateException", "set runtime.template to one that exists and is up to date"),
    ("Exception: 404:", "set runtime.template to one that exists"),
)


class SandboxLost(Exception):
    """The sandbox is gone, or E2B cannot be reached. The message is one line."""

    @property
    def remedy(self) -> str:
        found = [remedy for name, remedy in _REMEDIES if name in str(self)]
        return found[0] if found else "look at runtime.domain, your network and status.e2b.dev"


@contextmanager
def boundary(doing: str) -> Iterator[None]:
    """Every failure of the SDK as `SandboxLost`."""
    try:
        yield
    except (SandboxLost, ChannelClosed):
        raise
    # The edge: the SDK raises errors of its own and of three libraries below it, with no base in common.
    except Exception as error:
        raise SandboxLost(f"{doing}: {type(error).__name__}: {line_of(error)}") from error


def line_of(error: Exception) -> str:
    return " ".join(str(error).split())[:300]


@dataclass(frozen=True, slots=True)
class Order:
    """What a process is started with."""

    memory_mb: int
    disk_mb: int
    clock_ns: int
    seed: str

    def command(self, lay_out: bool) -> str:
        """A clean interpreter, as the local backend starts it, in place of the shell."""
        order = json.dumps({**asdict(self), "folder": _DATABASE_FROM_CODE, "layout": LAYOUT if lay_out else ""})
        variables = f"PATH=/usr/bin:/bin HOME={DATABASE} MCP_DB_DIR={DATABASE} LANG=C.UTF-8 TZ=UTC PYTHONHASHSEED=0"
        python = '"$(command -v python3)" -P -s -S -B'
        return f"exec env -i {variables} {python} -c {shlex.quote(_START)} {shlex.quote(order)}"


class Worker:
    """A process in the sandbox that speaks lines of JSON: the `Conversation` of `exchange`."""

    def __init__(self) -> None:
        self._lines: asyncio.Queue[str | Exception] = asyncio.Queue()
        self._rest: list[str] = []
        self._size = 0
        self._handle: AsyncCommandHandle | None = None
        self._watch: asyncio.Task[None] | None = None
        self.failure: Exception | None = None
        """Why nothing more comes: `ChannelClosed` when the process is gone, `SandboxLost` when perhaps more is."""
        self.errors = ""

    def attach(self, handle: "AsyncCommandHandle") -> None:
        self._handle = handle
        self._watch = asyncio.create_task(self._until_the_end(handle))

    def hear(self, text: str) -> None:
        """What it wrote, in parts of any size. More than anybody could have asked for ends the exchange."""
        if self.failure:
            return
        self._size += len(text)
        if self._size > MAX_FRAME:
            return self._fail(ChannelClosed("a frame is too large"))
        *lines, rest = ("".join(self._rest) + text if "\n" in text else text).split("\n")
        if lines:
            self._rest = []
        self._rest.append(rest)
        for line in lines:
            self._lines.put_nowait(line)

    def hear_error(self, text: str) -> None:
        self.errors = (self.errors + text)[-400:]

    async def send(self, message: dict[str, Any]) -> None:
        """Raises `ChannelClosed` when the process has ended, `SandboxLost` when more is gone than that."""
        from e2b.exceptions import NotFoundException

        if self.failure or self._handle is None:
            raise self.failure or ChannelClosed("the process ended")
        with boundary("sending"):
            try:
                await self._handle.send_stdin(json.dumps(message, allow_nan=False) + "\n")
            except NotFoundException as error:
                raise ChannelClosed("the process ended") from error

    async def receive(self, request: int) -> Answer:
        line = await self._lines.get()
        if isinstance(line, Exception):
            self._lines.put_nowait(line)
            raise line
        self._size -= len(line) + 1
        return await answer_to(request, line)

    async def kill(self) -> None:
        """End it: it is alone, for it can start nothing. Raises `SandboxLost` when that cannot be known."""
        handle, watch = self._handle, self._watch
        if handle is None or watch is None:
            return
        try:
            with boundary("ending a process"):
                await handle.kill()
            ended, _ = await asyncio.wait([watch], timeout=_KILL_S)
            if not ended:
                raise SandboxLost("ending a process: it does not end")
        finally:
            await self.leave()

    async def leave(self) -> None:
        """Listen no more."""
        self.failure = self.failure or ChannelClosed("the process ended")
        if self._watch:
            self._watch.cancel()
            await asyncio.wait([self._watch])
        if self._handle:
            await self._handle.disconnect()
            self._handle = None

    async def _until_the_end(self, handle: "AsyncCommandHandle") -> None:
        from e2b import CommandExitException

        try:
            await handle.wait()
            ending: Exception = ChannelClosed("the process ended")
        except CommandExitException:
            ending = ChannelClosed("the process ended")
        # The edge: as in `boundary`. The stream broke, and what the process does now is not known.
        except Exception as error:
            ending = SandboxLost(f"listening: {type(error).__name__}: {line_of(error)}")
        self._fail(ending)

    def _fail(self, failure: Exception) -> None:
        if self.failure is None:
            self.failure = failure
            self._lines.put_nowait(failure)
