"""Work on what instances hold and say, beside the event loop where it is much: there, the deadlines of all others are
kept. Most of it holds the interpreter for 5 ms at a time."""

import asyncio
import os
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import TypeVar

from agent_world.tools.files import Files, read_files, write_files
from agent_world.tools.sandbox.marks import weight

T = TypeVar("T")

_LIGHT = 8 * 1024
"""The weight of files that are read and compared at once: 30 ms at worst, for YAML."""
_FEW_BYTES_TO_WRITE, _BYTES_OF_OPENING = 1024 * 1024, 16 * 1024
"""What is written in a millisecond, and what could be while one more file is opened."""
_FEW_BYTES_OF_A_FRAME = 64 * 1024
_files = ThreadPoolExecutor(max_workers=2, thread_name_prefix="files")
_frames = ThreadPoolExecutor(max_workers=2, thread_name_prefix="frames")
"""Its own: calls and programs wait for frames while their deadline runs."""


async def with_files(weighing: int, work: Callable[[], T]) -> T:
    """Do `work` on files of that `Files.weight`. Once begun it is done, whether or not anybody still waits for it."""
    return work() if weighing <= _LIGHT else await asyncio.shield(asyncio.wrap_future(_files.submit(work)))


async def with_frame(size: int, work: Callable[[], T]) -> T:
    """Do `work` on a frame of so many bytes."""
    return work() if size <= _FEW_BYTES_OF_A_FRAME else await asyncio.wrap_future(_frames.submit(work))


async def read_aside(directory: int, max_bytes: int, use: Callable[[Files], T], more: int = 0) -> T:
    """What `use` makes of the files in an open folder, working on others of the weight `more` as well.

    The folder may be closed meanwhile.
    """
    weighing = weight(directory) + more
    if weighing <= _LIGHT:
        files = read_files(directory, _LIGHT)
        if not files.refused and files.weight + more <= _LIGHT:  # else it became another meanwhile
            return use(files)
        weighing = max_bytes
    return await with_files(weighing, _holding(directory, lambda own: use(read_files(own, max_bytes))))


async def write_aside(directory: int, files: Files, owner: int | None) -> None:
    """As `write_files`, into an open folder, which may be closed meanwhile. Who is cancelled is so when nothing is
    written any more. Raises `OSError`."""
    if files.size + _BYTES_OF_OPENING * (len(files.contents) + len(files.folders)) <= _FEW_BYTES_TO_WRITE:
        return write_files(directory, files, owner)
    work = _holding(directory, lambda own: write_files(own, files, owner))
    writing = asyncio.wrap_future(_files.submit(work))
    try:
        await asyncio.shield(writing)
    except asyncio.CancelledError:
        await asyncio.wait([writing])
        raise


def _holding(directory: int, work: Callable[[int], T]) -> Callable[[], T]:
    """`work` on a descriptor of its own of an open folder, to be called once."""
    own = os.dup(directory)

    def held() -> T:
        try:
            return work(own)
        finally:
            os.close(own)

    return held
