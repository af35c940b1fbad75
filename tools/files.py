"""Reading and writing a folder of files that somebody hostile may have written.

Nothing is followed, nothing but regular files is opened, and every size is bounded before it is believed.
"""

import io
import os
import stat
import tarfile
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path

MAX_FILES = 2048
MAX_DEPTH = 8


@dataclass(frozen=True, slots=True)
class Files:
    """Regular files by their path (`/` between folders), in order, and what could not be read, with the reason."""

    contents: Mapping[str, bytes] = field(default_factory=dict)
    refused: Mapping[str, str] = field(default_factory=dict)


def read_files(folder: Path | int, max_bytes: int) -> Files:
    """All files below `folder` (a path, or an open descriptor), at most `max_bytes` together."""
    contents: dict[str, bytes] = {}
    refused: dict[str, str] = {}
    top = os.dup(folder) if isinstance(folder, int) else os.open(folder, os.O_RDONLY | os.O_DIRECTORY)
    room = max_bytes
    for path, found in _walk(top, "", 0):
        if len(contents) + len(refused) >= MAX_FILES:
            refused["(more)"] = f"more than {MAX_FILES} files"
            break
        if isinstance(found, str):
            refused[path] = found
            continue
        try:
            content = _read(found, room)
        finally:
            os.close(found)
        if content is None:
            refused[path] = "too large"
        else:
            contents[path] = content
            room -= len(content)
    return Files(dict(sorted(contents.items())), dict(sorted(refused.items())))


def _walk(folder: int, prefix: str, depth: int) -> Iterator[tuple[str, int | str]]:
    """Each file as an open descriptor, for the caller to close, or as the reason why it is none. Closes `folder`."""
    try:
        with os.scandir(folder) as entries:
            names = sorted(entry.name for _, entry in zip(range(MAX_FILES + 1), entries, strict=False))
        for name in names:
            path = prefix + os.fsencode(name).decode(errors="replace")
            opened = _open(name, folder)
            if isinstance(opened, str) or stat.S_ISREG(os.fstat(opened).st_mode):
                yield path, opened
            elif not stat.S_ISDIR(os.fstat(opened).st_mode) or depth >= MAX_DEPTH:
                os.close(opened)
                yield path, "not a regular file" if depth < MAX_DEPTH else "too deep"
            else:
                yield from _walk(opened, f"{path}/", depth + 1)
    finally:
        os.close(folder)


def _open(name: str, folder: int) -> int | str:
    try:
        return os.open(name, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC, dir_fd=folder)
    except OSError as error:
        return "a link" if error.errno == 40 else f"unreadable: {error.strerror}"


def _read(file: int, room: int) -> bytes | None:
    """Its content, or None when its stated or real size is over `room`."""
    if os.fstat(file).st_size > room:
        return None
    parts, size = [], 0
    while part := os.read(file, 1 << 20):
        size += len(part)
        if size > room:
            return None
        parts.append(part)
    return b"".join(parts)


def write_files(folder: int, contents: Mapping[str, bytes], owner: int | None = None) -> None:
    """Write `contents` into the empty folder open as `folder`, all of it owned by `owner`, if given."""
    for path, content in contents.items():
        *parents, name = path.split("/")
        opened = _enter(folder, parents, owner)
        try:
            flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW
            file = os.open(name, flags, 0o644, dir_fd=opened)
            try:
                _write(file, content)
                if owner is not None:
                    os.fchown(file, owner, owner)
            finally:
                os.close(file)
        finally:
            os.close(opened)


def _write(file: int, content: bytes) -> None:
    rest = memoryview(content)
    while rest:
        rest = rest[os.write(file, rest) :]


def _enter(folder: int, parents: list[str], owner: int | None) -> int:
    opened = os.dup(folder)
    for parent in parents:
        try:
            os.mkdir(parent, 0o755, dir_fd=opened)
            if owner is not None:
                os.chown(parent, owner, owner, dir_fd=opened)
        except FileExistsError:
            pass
        inner = os.open(parent, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW, dir_fd=opened)
        os.close(opened)
        opened = inner
    return opened


def pack(files: Files) -> bytes:
    """One tar archive, the same bytes for the same files."""
    packed = io.BytesIO()
    with tarfile.open(fileobj=packed, mode="w", format=tarfile.PAX_FORMAT) as archive:
        for path, content in files.contents.items():
            head = tarfile.TarInfo(path)
            head.size = len(content)
            archive.addfile(head, io.BytesIO(content))
    return packed.getvalue()


def unpack(packed: bytes) -> Files:
    """What `pack` made. Raises `ValueError` for anything else."""
    contents = {}
    try:
        with tarfile.open(fileobj=io.BytesIO(packed), mode="r:") as archive:
            for member in archive:
                file = archive.extractfile(member) if member.isreg() else None
                if file is None or ".." in member.name.split("/") or member.name.startswith("/"):
                    raise ValueError(f"A snapshot holds {member.name!r}, which is no file of a database.")
                contents[member.name] = file.read()
    except tarfile.TarError as error:
        raise ValueError(f"This is no snapshot: {error}.") from error
    return Files(dict(sorted(contents.items())))
