"""What a conformance case works with: a runtime, worlds, instances that are closed after it, and traps.

A trap is what hostile code must never see, change or reach: a secret in our environment, a file that any user may
read and write (so that nothing but the sandbox protects it), and a listener on loopback.
"""

import contextlib
import os
import secrets
import socket
import sys
from collections.abc import AsyncIterator, Callable, Iterator, Mapping, Sequence
from contextlib import AbstractAsyncContextManager
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, Literal

from agent_world.evals.bench.figures import Figure
from agent_world.evals.bench.world import WriteWorld, write_bare_world, write_standard_world
from agent_world.tools.runtime import Instance, Observation, Runtime

Need = Literal[
    "tool_code", "own_codes", "program_files", "frozen", "walls", "bare", "disk", "total_memory", "elsewhere"
]
"""What a case presupposes of a backend, beyond the Protocol:
- `tool_code`: it runs the bundle's tools.py, and `run` forks off or copies that process;
- `own_codes`: a tool's own error codes reach the observation;
- `program_files`: a program finds the database in its folder;
- `frozen`: clock and chance are fixed inside;
- `walls`: files, processes and network of the machine are out of reach;
- `bare`: inside there is an interpreter and its libraries, and nothing else of a system;
- `disk`: the sum of an instance's files is bounded;
- `total_memory`: memory is bounded over all instances together.
"""


@dataclass(frozen=True, slots=True)
class Limits:
    """With which settings the suite opens a backend."""

    call_timeout_s: float = 1.0
    run_timeout_s: float = 2.0
    memory_mb: int = 256
    total_memory_mb: int | None = None
    disk_mb: int = 8
    max_instances: int = 64
    observation_chars: int = 4000
    clock: str = "2026-01-15T09:00:00"


PYTHON = tuple(sorted({os.path.realpath(prefix) for prefix in (sys.base_prefix, sys.base_exec_prefix)}))
"""Where the interpreter lies, which is itself the one that runs tools."""
OpenRuntime = Callable[[Limits], AbstractAsyncContextManager[Runtime]]


class CaseFailed(AssertionError):
    """A backend does not keep the contract; the message says how."""


def must(condition: object, otherwise: str) -> None:
    """Fail the case with the sentence `otherwise` unless `condition` holds."""
    if not condition:
        raise CaseFailed(otherwise)


def same(found: Any, wanted: Any, what: str) -> None:
    """Fail the case unless `found` equals `wanted`, types of numbers included."""
    exact = found == wanted and type(found) is type(wanted)
    must(exact, f"{what}: {_short(found)} instead of {_short(wanted)}.")


def _short(value: Any) -> str:
    text = repr(value)
    return text if len(text) <= 200 else text[:200] + "…"


@dataclass(frozen=True, slots=True)
class Traps:
    secret: str
    token: str
    """What the canary file holds."""
    canary: Path
    tcp: socket.socket
    udp: socket.socket

    @property
    def port(self) -> int:
        number: int = self.tcp.getsockname()[1]
        return number

    def check(self, *texts: str) -> None:
        """Fail the case if one was sprung; `texts` are what came out of an instance."""
        for text in texts:
            must(self.secret not in text, "a secret of our environment was seen inside.")
            must(self.token not in text, "a file outside the instance was read.")
        must(self.canary.is_file() and self.canary.read_text() == self.token, "a file outside was changed.")
        status = self.canary.stat()
        must(
            (status.st_mode & 0o777, status.st_mtime, status.st_nlink) == (0o666, 1.0, 1), "a file outside was touched."
        )
        for listener, kind in ((self.tcp, "a connection"), (self.udp, "a packet")):
            with contextlib.suppress(BlockingIOError):
                _ = listener.accept() if listener is self.tcp else listener.recv(1)
                raise CaseFailed(f"{kind} from inside reached a listener on loopback.")


@contextlib.contextmanager
def set_traps(folder: Path) -> Iterator[Traps]:
    """Call before the backend starts: a secret is put into the environment of this process while inside."""
    secret, token = f"sk-{secrets.token_hex(12)}", f"canary-{secrets.token_hex(12)}"
    folder.chmod(0o777)
    canary = folder / "canary.txt"
    canary.write_text(token)
    canary.chmod(0o666)
    os.utime(canary, (1.0, 1.0))
    os.environ["AGENT_WORLD_CONFORMANCE_API_KEY"] = secret
    try:
        with socket.create_server(("127.0.0.1", 0)) as tcp, socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as udp:
            udp.bind(("127.0.0.1", tcp.getsockname()[1]))
            tcp.setblocking(False)
            udp.setblocking(False)
            yield Traps(secret, token, canary, tcp, udp)
    finally:
        del os.environ["AGENT_WORLD_CONFORMANCE_API_KEY"]


@dataclass
class Lab:
    """Fresh for each case."""

    runtime: Runtime
    open_runtime: OpenRuntime
    limits: Limits
    folder: Path
    """This case's own."""
    standard: Path
    """The standard world, shared by all cases: not to be written."""
    traps: Traps
    write_world: WriteWorld = write_standard_world
    tolerance_s: float | None = None
    """By how much a deadline may be late; None measures only."""
    readable: Sequence[str] = PYTHON
    """Paths of the machine that are there inside by design; so are the names of the folders that lead to them."""
    elsewhere: Callable[[Path, int], Any] | None = None
    """Awaitable observations of another process of ours, where the backend can be opened there."""
    figures: list[Figure] = field(default_factory=list)
    opened: list[Instance] = field(default_factory=list)

    async def open(self, root: Path | None = None, *, seed: int = 0, clock: str | None = None) -> Instance:
        """An instance of `root` (the standard world if left out), closed when the case is over."""
        instance = await self.runtime.open(root or self.standard, seed=seed, clock=clock)
        self.opened.append(instance)
        return instance

    async def close(self) -> None:
        for instance in self.opened:
            await instance.close()

    def bare(self, source: str, **files: str | bytes) -> Path:
        return write_bare_world(self.folder / f"bare{len(list(self.folder.iterdir()))}", source, **files)

    def own_world(self) -> Path:
        """A standard world that the case may write to."""
        return self.write_world(self.folder / f"world{len(list(self.folder.iterdir()))}")

    @contextlib.asynccontextmanager
    async def other_runtime(self, **changes: Any) -> AsyncIterator[Runtime]:
        """A second backend, with other limits."""
        async with self.open_runtime(replace(self.limits, **changes)) as runtime:
            yield runtime

    async def attack(self, body: str, root: Path | None = None) -> tuple[Observation, Instance]:
        """Run `body` inside one instance; then its sibling and itself must still answer, and no trap be sprung."""
        instance, sibling = await self.open(root), await self.open(root)
        seen = await instance.call("execute", {"body": self.filled(body)})
        await self.answers(sibling, "a sibling of the attacked instance")
        await self.answers(instance, "the attacked instance, called again,")
        self.traps.check(seen.text)
        return seen, instance

    async def answers(self, instance: Instance, who: str) -> None:
        seen = await instance.call("ping", {})
        must(seen.value == {"pong": 1}, f"{who} does not answer: {seen.text}")

    def filled(self, body: str) -> str:
        """`body` with the places of the traps."""
        places = {"@CANARY@": self.traps.canary, "@PORT@": self.traps.port, "@PID@": os.getpid()}
        for mark, place in places.items():
            body = body.replace(mark, str(place))
        return body


Facts = Mapping[Need, str]
"""What a backend lacks, and why."""
