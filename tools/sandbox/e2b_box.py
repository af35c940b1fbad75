"""One sandbox of E2B, through its SDK: made, filled, read and ended. What is said here of files is E2B's word (envd,
which runs as root there), never that of the process whose state it is."""

import asyncio
import json
import time
import uuid
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any

from agent_world.errors import SandboxError
from agent_world.settings import E2BRuntime
from agent_world.tools.files import MAX_DEPTH, MAX_FILES, Files
from agent_world.tools.sandbox.channel import ChannelClosed
from agent_world.tools.sandbox.e2b_worker import CODE, DATABASE, LAYOUT, Order, SandboxLost, Worker, boundary, line_of

if TYPE_CHECKING:
    from e2b_code_interpreter import AsyncSandbox

_INSIDE = Path(__file__).parent / "inside"
_KILL_S = 10.0
_DOWNLOADS = 8
"""Files fetched at once."""
MEGABYTE = 1024 * 1024

Mark = tuple[str, str, int, datetime]
"""Path, kind, size, time of the last change."""


class Box:
    """A live sandbox."""

    def __init__(self, sandbox: "AsyncSandbox", config: E2BRuntime) -> None:
        self._sandbox = sandbox
        self._config = config
        self._until = time.monotonic() + config.lifetime_s
        self._laid_out = False

    @property
    def name(self) -> str:
        return str(self._sandbox.sandbox_id)

    @classmethod
    async def make(cls, config: E2BRuntime, options: Mapping[str, Any], mark: Mapping[str, str]) -> "Box":
        """Raises `SandboxLost`."""
        from e2b_code_interpreter import AsyncSandbox

        with boundary("making a sandbox"):
            sandbox = await AsyncSandbox.create(
                config.template,
                timeout=config.lifetime_s,
                metadata=dict(mark),
                allow_internet_access=False,
                # The SDK asks again after a failure: this makes it one sandbox all the same.
                idempotency_key=str(uuid.uuid4()),
                **options,
            )
        return cls(sandbox, config)

    async def fill(self, files: Files) -> None:
        """Our code, which is root's, and the database, which is the user's. Raises `SandboxLost`, `SandboxError`."""
        code = {f"{CODE}/inside/{path.name}": path.read_bytes() for path in sorted(_INSIDE.glob("*.py"))}
        with boundary("uploading"):
            await self._sandbox.files.make_dir(DATABASE)
        layout = {"folders": files.folders, "modes": dict(files.modes)}
        code[f"{CODE}/{LAYOUT}"] = json.dumps(layout).encode()
        await self._upload(code, "root")
        await self._upload({f"{DATABASE}/{path}": content for path, content in files.contents.items()}, None)

    async def _upload(self, contents: Mapping[str, bytes], user: str | None) -> None:
        from e2b.sandbox.filesystem.filesystem import WriteEntry

        entries = [WriteEntry(path=path, data=content) for path, content in contents.items()]
        with boundary("uploading"):
            written = await self._sandbox.files.write_files(entries, user=user)
        missing = sorted(set(contents) - {info.path for info in written})
        if missing:
            raise SandboxError(f"E2B did not write {missing[0]} as it was sent: rename that file.")

    async def start(self, order: Order) -> Worker:
        """A process on the files that are there. Raises `SandboxLost`, `SandboxError`."""
        worker = Worker()
        with boundary("starting a process"):
            # `timeout` 0: the SDK would otherwise end it after 60 s.
            handle = await self._sandbox.commands.run(
                order.command(lay_out=not self._laid_out),
                background=True,
                stdin=True,
                cwd=CODE,
                timeout=0,
                on_stdout=worker.hear,
                on_stderr=worker.hear_error,
                retain_output=False,
            )
        self._laid_out = True
        worker.attach(handle)  # type: ignore[arg-type]
        try:
            await self._await_ready(worker)
        except BaseException:
            with suppress(SandboxLost):
                await asyncio.shield(worker.kill())
            raise
        return worker

    async def _await_ready(self, worker: Worker) -> None:
        try:
            async with asyncio.timeout(self._config.start_timeout_s):
                first = await worker.receive(0)
        except (ChannelClosed, TimeoutError) as error:
            said = " ".join(worker.errors.split())[-200:] or str(error) or "no answer in time"
            raise SandboxError(f"The template cannot run tools ({said}): it needs Linux and Python 3.11.") from error
        if "error" in first:
            raise SandboxError(f"The template cannot run tools ({first['error']}).")

    async def read(self, max_bytes: int) -> Files:
        """All files of the database, by the rules of `tools.files`. Raises `SandboxLost`."""
        entries = await self._list()
        if entries is None:
            return Files(refused={"(all)": "not to be listed: a name is no text"})
        plan = _Plan.of(entries, max_bytes)
        refused = plan.refused
        contents: dict[str, bytes] = {}
        at_once = asyncio.Semaphore(_DOWNLOADS)

        async def fetch(path: str, size: int) -> None:
            async with at_once:
                content = await self._download(path, size)
            if isinstance(content, str):
                refused[path] = content
            else:
                contents[path] = content

        await asyncio.gather(*(fetch(path, size) for path, size in plan.wanted.items()))
        modes = {path: mode for path, mode in sorted(plan.modes.items()) if path not in refused}
        return Files(dict(sorted(contents.items())), dict(sorted(refused.items())), plan.folders(), modes)

    async def marks(self) -> frozenset[Mark]:
        """What a listing shows, and reading alone does not change. Raises `SandboxLost`."""
        entries = await self._list() or []
        return frozenset((e.path, e.kind, e.size, e.modified) for e in entries if not e.is_helper)

    async def _list(self) -> "list[_Entry] | None":
        """Everything below the database's folder; None where envd cannot say it, for a name there is no text."""
        from e2b import SandboxException

        with boundary("listing files"):
            try:
                entries = await self._sandbox.files.list(DATABASE, depth=MAX_DEPTH + 1)
            except SandboxException as error:
                if type(error) is SandboxException and "INTERNAL" in str(error):
                    return None
                raise
        return [_Entry.of(entry) for entry in entries]

    async def _download(self, path: str, size: int) -> bytes | str:
        """Its content, or why there is none; never more than the `size` it was listed with."""
        from e2b.exceptions import FileNotFoundException, InvalidArgumentException

        if not size:
            return b""
        content = bytearray()
        with boundary("downloading"):
            try:
                stream = await self._sandbox.files.read(
                    f"{DATABASE}/{path}", format="stream", request_timeout=self._config.start_timeout_s
                )
            except (FileNotFoundException, InvalidArgumentException) as error:
                return f"unreadable: {line_of(error)}"
            async with stream:
                async for part in stream:
                    content += part
                    if len(content) > size:
                        return "too large"
        return bytes(content)

    async def renew(self) -> None:
        """Once half of its lifetime is over, begin it anew: it ends `lifetime_s` after its last use."""
        if time.monotonic() < self._until - self._config.lifetime_s / 2:
            return
        with boundary("renewing"):
            await self._sandbox.set_timeout(self._config.lifetime_s)
        self._until = time.monotonic() + self._config.lifetime_s

    async def kill(self) -> None:
        """End it, as far as E2B can be reached; else its lifetime does."""
        with suppress(SandboxLost), boundary("ending a sandbox"):
            async with asyncio.timeout(_KILL_S):
                await self._sandbox.kill()


async def kill_all(options: Mapping[str, Any], mark: Mapping[str, str]) -> None:
    """End every sandbox that bears `mark`. Raises `SandboxLost`."""
    from e2b import SandboxQuery
    from e2b_code_interpreter import AsyncSandbox

    with boundary("ending sandboxes"):
        pages = AsyncSandbox.list(query=SandboxQuery(metadata=dict(mark)), **options)
        while pages.has_next:
            for found in await pages.next_items():
                await AsyncSandbox.kill(found.sandbox_id, **options)


@dataclass(frozen=True, slots=True)
class _Entry:
    path: str
    kind: str
    size: int
    modified: datetime
    mode: int

    @property
    def is_helper(self) -> bool:
        """Whether SQLite makes it for who only reads."""
        return self.path.endswith("-shm") or (self.path.endswith("-wal") and not self.size)

    @classmethod
    def of(cls, entry: Any) -> "_Entry":
        kind = "symlink" if entry.symlink_target is not None else entry.type.value if entry.type else ""
        return cls(entry.path.removeprefix(DATABASE + "/"), kind, entry.size, entry.modified_time, entry.mode & 0o777)


@dataclass
class _Plan:
    """What to fetch of what was listed, as `tools.files` would read it."""

    wanted: dict[str, int]
    """Sizes of the files to fetch, at most so many bytes together as there is room for."""
    refused: dict[str, str]
    modes: dict[str, int]
    _empty: dict[str, bool]
    """Of each folder."""

    @classmethod
    def of(cls, entries: Sequence[_Entry], room: int) -> "_Plan":
        plan = cls({}, {}, {}, {})
        for entry in sorted(entries, key=lambda entry: entry.path.split("/")):
            if len(plan.wanted) + len(plan.refused) + len(plan.folders()) >= MAX_FILES:
                plan.refused["(more)"] = f"more than {MAX_FILES} files"
                break
            plan._add(entry, room - sum(plan.wanted.values()))
        return plan

    def folders(self) -> tuple[str, ...]:
        """Those that hold nothing."""
        return tuple(sorted(path for path, empty in self._empty.items() if empty))

    def _add(self, entry: _Entry, room: int) -> None:
        parent = entry.path.rpartition("/")[0]
        if parent:
            self._empty[parent] = False
        reason = _reason(entry, room)
        if reason:
            self.refused[entry.path] = reason
            return
        if entry.kind == "dir":
            self._empty[entry.path] = True
        else:
            self.wanted[entry.path] = entry.size
        if entry.mode != (0o755 if entry.kind == "dir" else 0o644):
            self.modes[entry.path] = entry.mode


def _reason(entry: _Entry, room: int) -> str:
    if entry.kind == "dir":
        return "too deep" if entry.path.count("/") >= MAX_DEPTH else ""
    if entry.kind == "symlink":
        return "a link"
    if entry.kind != "file":
        return "not a regular file"
    return "too large" if entry.size > room else ""
