"""Reading and writing a folder of files that somebody hostile may have written.

Nothing is followed, nothing but regular files is opened, and every size is bounded before it is believed: the stated
size of a file counts as well as its real one, and a file with several names counts once for each of them.
"""

import hashlib
import io
import os
import stat
import tarfile
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path

from agent_world.errors import SandboxError

MAX_FILES = 2048
MAX_DEPTH = 8
LEAST_WEIGHT = 1024
SQLITE = b"SQLite format 3\0"
"""What a file of it begins with."""
_DIGEST = hashlib.sha256().digest_size


@dataclass(frozen=True, slots=True)
class Files:
    """Regular files by their path (`/` between folders), in order, and what could not be read, with the reason."""

    contents: Mapping[str, bytes] = field(default_factory=dict)
    refused: Mapping[str, str] = field(default_factory=dict)
    folders: tuple[str, ...] = ()
    """Those that hold nothing."""
    modes: Mapping[str, int] = field(default_factory=dict)
    """Permissions of files and folders that are not the usual ones, 0644 and 0755."""
    digests: dict[str, str] = field(default_factory=dict, compare=False, repr=False)
    """sha256 of contents, as far as anybody asked; whoever shares contents between `Files` may share these."""

    @property
    def size(self) -> int:
        """Bytes of all contents."""
        return sum(map(len, self.contents.values()))

    @property
    def weight(self) -> int:
        """Of the work on them: their bytes, and for each file as if it had `LEAST_WEIGHT` more; a file of SQLite, in
        which few bytes may stand for many rows, as if it were large."""
        heavy = sum(content.startswith(SQLITE) for content in self.contents.values())
        return self.size + LEAST_WEIGHT * (len(self.contents) + len(self.folders) + 1000 * heavy)

    def digest(self, path: str) -> str:
        if path not in self.digests:
            self.digests[path] = hashlib.sha256(self.contents[path]).hexdigest()
        return self.digests[path]


def read_files(folder: Path | int, max_bytes: int) -> Files:
    """All files below `folder` (a path, or an open descriptor), at most `max_bytes` together."""
    top = os.dup(folder) if isinstance(folder, int) else os.open(folder, os.O_RDONLY | os.O_DIRECTORY)
    reader = _Reader(max_bytes)
    reader.walk(top, "", 0)
    ordered = dict(sorted(reader.contents.items()))
    return Files(ordered, dict(sorted(reader.refused.items())), tuple(sorted(reader.folders)), reader.sorted_modes())


class _Reader:
    """What was found so far, and the room that is left."""

    def __init__(self, room: int) -> None:
        self.contents: dict[str, bytes] = {}
        self.refused: dict[str, str] = {}
        self.folders: list[str] = []
        self.modes: dict[str, int] = {}
        self._room = room

    def sorted_modes(self) -> dict[str, int]:
        return dict(sorted(self.modes.items()))

    def walk(self, folder: int, prefix: str, depth: int) -> bool:
        """Everything below an open folder, which is closed. False where the bound on files was reached."""
        try:
            with os.scandir(folder) as entries:
                names = sorted(entry.name for _, entry in zip(range(MAX_FILES + 1), entries, strict=False))
            if not names and prefix:
                self.folders.append(prefix.rstrip("/"))
            return all(self._enter(folder, name, prefix, depth) for name in names)
        finally:
            os.close(folder)

    def _enter(self, folder: int, name: str, prefix: str, depth: int) -> bool:
        if len(self.contents) + len(self.refused) + len(self.folders) >= MAX_FILES:
            self.refused["(more)"] = f"more than {MAX_FILES} files"
            return False
        path, odd = _path(prefix, name)
        opened = odd or _open(name, folder)
        if isinstance(opened, str):
            self.refused[path] = opened
            return True
        status = os.fstat(opened)
        if stat.S_ISDIR(status.st_mode) and depth < MAX_DEPTH:
            self._note_mode(path, status.st_mode, 0o755)
            return self.walk(opened, f"{path}/", depth + 1)
        try:
            self._take(path, opened, status)
        finally:
            os.close(opened)
        return True

    def _take(self, path: str, file: int, status: os.stat_result) -> None:
        if not stat.S_ISREG(status.st_mode):
            self.refused[path] = "too deep" if stat.S_ISDIR(status.st_mode) else "not a regular file"
            return
        content = _read(file, self._room)
        if content is None:
            self.refused[path] = "too large"
            return
        self.contents[path] = content
        self._room -= len(content)
        self._note_mode(path, status.st_mode, 0o644)

    def _note_mode(self, path: str, mode: int, usual: int) -> None:
        if mode & 0o777 != usual:
            self.modes[path] = mode & 0o777


def _path(prefix: str, name: str) -> tuple[str, str]:
    """The path, and why it cannot be one, if so."""
    try:
        return prefix + os.fsencode(name).decode(), ""
    except UnicodeDecodeError:
        return prefix + os.fsencode(name).decode(errors="backslashreplace"), "a name that is not UTF-8"


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


def write_files(folder: int, files: Files, owner: int | None = None) -> None:
    """Write `files` into the empty folder open as `folder`, all of it owned by `owner`, if given."""
    for path in files.folders:
        os.close(_enter(folder, path.split("/"), owner))
    for path, content in files.contents.items():
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
    for path, mode in sorted(files.modes.items(), reverse=True):  # what is inside a folder before the folder itself
        *parents, name = path.split("/")
        opened = _enter(folder, parents, owner)
        try:
            os.chmod(name, mode & 0o777, dir_fd=opened)
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
    """One tar archive and its sha256, the same bytes for the same files.

    Raises `SandboxError` when there are files that cannot be kept (links, or too much).
    """
    if files.refused:
        path, reason = next(iter(files.refused.items()))
        raise SandboxError(f"No snapshot: {path} is {reason}.")
    packed = io.BytesIO()
    kept = {*files.contents, *files.folders}
    with tarfile.open(fileobj=packed, mode="w", format=tarfile.PAX_FORMAT) as archive:
        for path in sorted(kept | set(files.modes)):
            head = tarfile.TarInfo(path)
            content = files.contents.get(path)
            head.mode = files.modes.get(path, 0o755 if content is None else 0o644)
            if content is None:
                head.type = tarfile.DIRTYPE
                archive.addfile(head)
            else:
                head.size = len(content)
                archive.addfile(head, io.BytesIO(content))
    return seal(packed.getvalue())


def seal(archive: bytes) -> bytes:
    """The archive with its sha256 behind it: a half of it would read as fewer files."""
    return archive + hashlib.sha256(archive).digest()


def unpack(packed: bytes) -> Files:
    """What `pack` made. Raises `SandboxError` for anything else."""
    if packed != seal(packed[:-_DIGEST]):
        raise SandboxError("This is no snapshot, or not the whole of one.")
    try:
        with tarfile.open(fileobj=io.BytesIO(packed[:-_DIGEST]), mode="r:") as archive:
            return _unpacked(archive)
    except (tarfile.TarError, EOFError, OverflowError) as error:
        raise SandboxError(f"This is no snapshot: {error}.") from error


def _unpacked(archive: tarfile.TarFile) -> Files:
    contents: dict[str, bytes] = {}
    folders: set[str] = set()
    modes: dict[str, int] = {}
    for member in archive:
        path = member.name
        file = archive.extractfile(member) if member.isreg() and not member.issparse() else None
        if not (file or member.isdir()) or not _is_sound(path) or path in contents or path in folders:
            raise SandboxError(f"A snapshot holds {path!r}, which is no file of a database.")
        if file:
            contents[path] = file.read()
        else:
            folders.add(path)
        if member.mode & 0o777 != (0o644 if file else 0o755):
            modes[path] = member.mode & 0o777
    full = {parent for path in (*contents, *folders) for parent in _parents(path)}
    clash = next((path for path in sorted(contents) if path in full), None)
    if clash:
        raise SandboxError(f"A snapshot holds {clash!r} both as a file and as a folder.")
    empty = tuple(sorted(folders - full))
    return Files(dict(sorted(contents.items())), folders=empty, modes=dict(sorted(modes.items())))


def _is_sound(path: str) -> bool:
    parts = path.split("/")
    return len(parts) <= MAX_DEPTH + 1 and not any(part in ("", ".", "..") or "\0" in part for part in parts)


def _parents(path: str) -> Iterator[str]:
    while "/" in path:
        path = path.rpartition("/")[0]
        yield path
