"""ZIP archives within bounds. Nothing of them is ever written to disk, so the names in them lead nowhere."""

import io
import zipfile
from collections.abc import Iterator

MOST_ENTRIES = 2_000
MOST_UNPACKED_BYTES = 100_000_000
MOST_RATIO = 300
"""Of unpacked to packed bytes of an entry; text of real tables stays far below."""
SMALL_BYTES = 1_000_000
"""Entries up to this size are not judged by their ratio."""


def open_archive(body: bytes) -> zipfile.ZipFile:
    """Raises `ValueError` where the archive is damaged or says itself that it is too large."""
    try:
        archive = zipfile.ZipFile(io.BytesIO(body))
    except (zipfile.BadZipFile, NotImplementedError, OverflowError) as error:
        raise ValueError(str(error)) from error
    entries = archive.infolist()
    if len(entries) > MOST_ENTRIES:
        raise ValueError(f"it holds more than {MOST_ENTRIES} files")
    if sum(entry.file_size for entry in entries) > MOST_UNPACKED_BYTES:
        raise ValueError("it unpacks to more than 100 MB")
    if any(entry.file_size > max(SMALL_BYTES, MOST_RATIO * entry.compress_size) for entry in entries):
        raise ValueError(f"a file in it unpacks to more than {MOST_RATIO} times its size")
    return archive


def unpacked(body: bytes) -> Iterator[tuple[str, bytes]]:
    """Name and content of each file, by name. What an entry says of its size is not believed."""
    left = MOST_UNPACKED_BYTES
    with open_archive(body) as archive:
        for entry in sorted(archive.infolist(), key=lambda e: e.filename):
            if entry.is_dir() or entry.filename.startswith("__MACOSX/"):
                continue
            if entry.flag_bits & 1:
                raise ValueError(f"{entry.filename} in it is encrypted")
            try:
                with archive.open(entry) as file:
                    content = file.read(left + 1)
            except (zipfile.BadZipFile, NotImplementedError, EOFError, OSError) as error:
                raise ValueError(f"{entry.filename} in it: {error}") from error
            left -= len(content)
            if left < 0:
                raise ValueError("it unpacks to more than 100 MB")
            yield entry.filename, content
