"""A sandbox of the double: a folder, processes, and an end."""

import asyncio
import os
import shutil
import signal
import stat
import subprocess
import sys
import tempfile
from collections.abc import AsyncIterator
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from tests.e2b_double.wire import WireError

_TYPES = {stat.S_IFREG: "FILE_TYPE_FILE", stat.S_IFDIR: "FILE_TYPE_DIRECTORY", stat.S_IFLNK: "FILE_TYPE_SYMLINK"}
_PART = 32_768


@dataclass
class Started:
    """A process and what is known of it."""

    process: asyncio.subprocess.Process
    config: dict[str, Any]

    async def events(self, gone: asyncio.Event) -> AsyncIterator[tuple[str, bytes]]:
        """Its output as it comes, by stream; ends early when the machine is `gone`."""
        queue: asyncio.Queue[tuple[str, bytes]] = asyncio.Queue()
        pumps = [
            asyncio.create_task(_pump(stream, name, queue))
            for stream, name in ((self.process.stdout, "stdout"), (self.process.stderr, "stderr"))
            if stream
        ]
        watch = asyncio.create_task(_tell(gone, queue))
        try:
            running = len(pumps)
            while running and not gone.is_set():
                name, part = await queue.get()
                running -= not part
                if part:
                    yield name, part
            if not gone.is_set():
                await self.process.wait()
        finally:
            for task in (*pumps, watch):
                task.cancel()


async def _pump(stream: asyncio.StreamReader, name: str, queue: asyncio.Queue[tuple[str, bytes]]) -> None:
    while part := await stream.read(_PART):
        queue.put_nowait((name, part))
    queue.put_nowait((name, b""))


async def _tell(gone: asyncio.Event, queue: asyncio.Queue[tuple[str, bytes]]) -> None:
    await gone.wait()
    queue.put_nowait(("", b""))


@dataclass
class Machine:
    name: str
    template: str
    metadata: dict[str, str]
    variables: dict[str, str]
    ends: float
    """On the loop's clock."""
    folder: Path = field(default_factory=lambda: Path(tempfile.mkdtemp(prefix="e2b-double-")))
    processes: dict[int, Started] = field(default_factory=dict)
    gone: asyncio.Event = field(default_factory=asyncio.Event)

    def place(self, path: str) -> Path:
        """Where an absolute path of the sandbox lies; links are left for whoever opens it."""
        inside = os.path.normpath("/" + path).lstrip("/")
        return self.folder / inside

    def kill(self) -> None:
        self.gone.set()
        for started in self.processes.values():
            if started.process.returncode is None:
                os.killpg(started.process.pid, signal.SIGKILL)
        shutil.rmtree(self.folder, ignore_errors=True)

    # --- Processes -----------------------------------------------------------------------------------

    async def start(self, config: dict[str, Any], stdin: bool) -> Started:
        # Without `-l`: the profile that a login shell reads here would be this computer's.
        arguments = [argument for argument in config.get("args", []) if argument != "-l"]
        here = self.place(config.get("cwd") or "/home/user")
        if not here.is_dir():
            raise WireError("invalid_argument", f"cwd '{config.get('cwd')}' does not exist")
        process = await asyncio.create_subprocess_exec(
            config["cmd"],
            *arguments,
            stdin=subprocess.PIPE if stdin else subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            cwd=here,
            env={"PATH": f"{Path(sys.executable).parent}:/usr/bin:/bin", **self.variables, **config.get("envs", {})},
            start_new_session=True,
        )
        self.processes[process.pid] = started = Started(process, config)
        return started

    def find(self, selector: dict[str, Any]) -> Started:
        found = self.processes.get(int(selector.get("pid", -1)))
        if found is None or found.process.returncode is not None:
            raise WireError("not_found", f"process with pid {selector.get('pid')} not found")
        return found

    # --- Files ---------------------------------------------------------------------------------------

    def describe(self, place: Path) -> dict[str, Any]:
        try:
            str(place).encode()
        except UnicodeEncodeError as error:
            raise WireError("internal", "proto: field filesystem.EntryInfo.name contains invalid UTF-8") from error
        status = place.lstat()
        path = "/" + str(place.relative_to(self.folder))
        kind = _TYPES.get(stat.S_IFMT(status.st_mode), "FILE_TYPE_UNSPECIFIED")
        link = {"symlinkTarget": os.readlink(place)} if place.is_symlink() else {}
        return {
            "name": place.name,
            "type": kind,
            "path": path,
            "size": str(status.st_size),
            "mode": stat.S_IMODE(status.st_mode),
            "permissions": stat.filemode(status.st_mode),
            "owner": "user",
            "group": "user",
            "modifiedTime": datetime.fromtimestamp(status.st_mtime, UTC).isoformat().replace("+00:00", "Z"),
            **link,
        }

    def listing(self, path: str, depth: int) -> list[dict[str, Any]]:
        top = self.place(path)
        if not top.is_dir():
            raise WireError("not_found", f"path {path} not found")
        found: list[dict[str, Any]] = []
        for folder, folders, files in os.walk(top):
            level = len(Path(folder).relative_to(top).parts)
            found += [self.describe(Path(folder) / name) for name in sorted((*folders, *files))]
            if level + 1 >= max(depth, 1):
                folders.clear()
        return found

    def write(self, path: str, content: bytes) -> dict[str, Any]:
        place = self.place(path)
        place.parent.mkdir(parents=True, exist_ok=True)
        place.write_bytes(content)
        return {"name": place.name, "type": "file", "path": path}
