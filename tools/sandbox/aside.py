"""Work on what instances hold, beside the event loop where it is much: there, the deadlines of all others are kept."""

import asyncio
import os
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import TypeVar

from agent_world.tools.files import Files, read_files, write_files
from agent_world.tools.sandbox.marks import marks

T = TypeVar("T")

_LITTLE = 64 * 1024
"""Bytes that take less time than another thread's wake-up, or not much more: some 10 ms at worst, for YAML."""
_threads = ThreadPoolExecutor(max_workers=2, thread_name_prefix="aside")
"""Few: each holds the interpreter for 5 ms at a time, and the event loop waits for its turn."""


async def aside(size: int, work: Callable[[], T]) -> T:
    """Do `work` on so many bytes. Once begun it is done, whether or not anybody still waits for it."""
    if size <= _LITTLE:
        return work()
    return await asyncio.shield(asyncio.get_running_loop().run_in_executor(_threads, work))


async def read_aside(directory: int, max_bytes: int, use: Callable[[Files], T]) -> T:
    """What `use` makes of the files in an open folder, which may be closed meanwhile."""
    own = os.dup(directory)

    def work() -> T:
        try:
            return use(read_files(own, max_bytes))
        finally:
            os.close(own)

    return await aside(sum(mark.size for mark in marks(directory)), work)


async def write_aside(directory: int, files: Files, owner: int | None) -> None:
    """As `write_files`, into an open folder, which may be closed meanwhile. Raises `OSError`."""
    own = os.dup(directory)

    def work() -> None:
        try:
            write_files(own, files, owner)
        finally:
            os.close(own)

    await aside(files.size, work)
