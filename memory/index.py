"""Find themes, environments and tools by meaning: a Chroma index over what lies on disk.

    WORKSPACE/index/.lock        held by the one process that has the index open
    WORKSPACE/index/index.json   embedder, vector size, folder in use, fingerprint of the indexed texts
    WORKSPACE/index/chroma_N/    Chroma's own files; each rebuild has a new folder, so a kill leaves the old or the new
    WORKSPACE/index/id           with a Chroma server, whose collections take the folders' place: who this workspace is

Files of the workspace are the truth: an index that is missing, damaged or out of date is built again from them.
Chroma itself neither locks its folder nor remembers who embedded, so both are done here.
"""

import fcntl
import hashlib
import os
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Literal

from agent_world.errors import StoreError
from agent_world.memory.embedder import Embedder, TextEmbedder
from agent_world.memory.shelf import Shelf, open_shelf
from agent_world.memory.store import Store, read_record, read_records, write_record
from agent_world.schema import Record, Theme, ToolSpec
from agent_world.settings import IndexConfig, LocalIndex

Kind = Literal["theme", "environment", "tool"]
LOCK_WAIT_S = 3.0
BATCH = 2000


class Entry(Record):
    """What is indexed. `id` is unique in its kind; a tool's is `environment.tool`."""

    kind: Kind
    id: str
    name: str
    text: str


class Hit(Record):
    kind: Kind
    id: str
    name: str
    score: float
    """Cosine of the angle between query and text, at most 1."""
    text: str


class IndexHead(Record):
    """`index.json`."""

    embedder: str
    size: int
    folder: str
    place: str = ""
    """The server that holds it; empty for files here."""
    fingerprint: str = ""
    """Of the entries of the last `rebuild`."""


class DamagedIndex(StoreError):
    """The index cannot be read; `rebuild` makes it again from the files of the workspace."""


class Index:
    """An open index; get one by `open_index`. Calls block: run them in a thread from async code."""

    def __init__(self, folder: Path, embedder: TextEmbedder, shelf: Shelf) -> None:
        self.folder, self.embedder, self.shelf = folder, embedder, shelf

    @property
    def head(self) -> IndexHead | None:
        """None too where the index lies in another place than the settings say now."""
        path = self.folder / "index.json"
        head = read_record(path, IndexHead) if path.exists() else None
        return head if head and head.place == self.shelf.place else None

    def add(self, entries: Sequence[Entry]) -> None:
        """Add entries; one whose kind and id are there already is replaced."""
        head = self.head
        if head is None:
            head = self._head(self._unused())
            write_record(self.folder / "index.json", head)
        self._upsert(entries, head)

    def _upsert(self, entries: Sequence[Entry], head: IndexHead) -> None:
        vectors = self.embedder.embed([entry.text for entry in entries])
        with self._told_plainly():
            for start in range(0, len(entries), BATCH):
                part = entries[start : start + BATCH]
                self._collection(head).upsert(
                    ids=[f"{e.kind}:{e.id}" for e in part],
                    embeddings=vectors[start : start + BATCH],
                    documents=[e.text for e in part],
                    metadatas=[{"kind": e.kind, "id": e.id, "name": e.name} for e in part],
                )

    def count(self) -> int:
        head = self._required()
        with self._told_plainly():
            return int(self._collection(head).count())

    def search(self, query: str, limit: int = 8, kind: Kind | None = None) -> list[Hit]:
        """The `limit` entries nearest in meaning, best first. Raises `DamagedIndex`."""
        head, vector = self._required(), self.embedder.embed([query])
        with self._told_plainly():
            found = self._collection(head).query(
                query_embeddings=vector,
                n_results=limit,
                where={"kind": kind} if kind else None,
                include=["documents", "metadatas", "distances"],
            )
        rows = zip(found["metadatas"][0], found["documents"][0], found["distances"][0], strict=True)
        hits = [Hit(score=round(1 - distance, 4), text=text, **meta) for meta, text, distance in rows]
        return sorted(hits, key=lambda hit: (-hit.score, hit.kind, hit.id))

    def rebuild(self, entries: Sequence[Entry]) -> None:
        """Index `entries` and nothing else, in a new collection; then remove the old ones."""
        with self._told_plainly():
            old = self.shelf.names()
        head = self._head(self._unused(), fingerprint(entries))
        self._upsert(entries, head)
        write_record(self.folder / "index.json", head)
        with self._told_plainly():
            for name in old:
                self.shelf.remove(name)

    def refresh(self, entries: Sequence[Entry]) -> bool:
        """`rebuild`, unless the index holds just these entries already. True where it was built."""
        try:
            head = self.head
            if head and head.fingerprint == fingerprint(entries) and self.count() == len(entries):
                return False
        except StoreError:
            pass  # missing or damaged: the files are the truth
        self.rebuild(entries)
        return True

    def _head(self, folder: str, found: str = "") -> IndexHead:
        size, place = self.embedder.size, self.shelf.place
        return IndexHead(embedder=self.embedder.name, size=size, folder=folder, place=place, fingerprint=found)

    def _required(self) -> IndexHead:
        if self.head is None:
            raise DamagedIndex(f"There is no index in {self.folder}; build it first.")
        return self.head

    def _unused(self) -> str:
        with self._told_plainly():
            numbers = [int(name.removeprefix("chroma_")) for name in self.shelf.names()]
        return f"chroma_{max(numbers, default=0) + 1}"

    def _collection(self, head: IndexHead) -> Any:
        return self.shelf.collection(head.folder)

    @contextmanager
    def _told_plainly(self) -> Iterator[None]:
        # Broad, at the boundary to Chroma: a damaged file shows as any of its many errors, some not even `Exception`s
        # (a panic of its Rust part derives from `BaseException`).
        try:
            yield
        except (KeyboardInterrupt, SystemExit, GeneratorExit):
            raise
        except BaseException as error:
            raise DamagedIndex(
                f"The index in {self.shelf.place or self.folder} cannot be used "
                f"({type(error).__name__}: {str(error).splitlines()[:1]}); {self.shelf.remedy}."
            ) from error


@contextmanager
def open_index(
    workspace: Path,
    embedder: TextEmbedder | None = None,
    wait_s: float = LOCK_WAIT_S,
    config: IndexConfig = LocalIndex(),  # noqa: B008  # frozen
) -> Iterator[Index]:
    """Open the workspace's index for this process alone; `embedder` is the packaged MiniLM where left out.

    Raises `StoreError` when another process has it open for longer than `wait_s` seconds, when it was built with
    another embedder, or when the server of `config` cannot be used.
    """
    folder = workspace / "index"
    lock = _lock(folder, wait_s)
    embedder = embedder or Embedder(workspace)
    try:
        with open_shelf(config, folder, embedder) as shelf:
            index = Index(folder, embedder, shelf)
            _check_embedder(index)
            yield index
    finally:
        os.close(lock)


def search_workspace(
    workspace: Path,
    query: str,
    limit: int = 8,
    kind: Kind | None = None,
    config: IndexConfig = LocalIndex(),  # noqa: B008  # frozen
) -> list[Hit]:
    """Search all that the workspace holds now; the index is brought up to date first."""
    with open_index(workspace, config=config) as index:
        index.refresh(entries_of(workspace))
        return index.search(query, limit, kind)


def entries_of(workspace: Path) -> list[Entry]:
    """Everything on disk that is worth finding: themes, environments, and their tools."""
    themes = read_records(workspace / "themes.jsonl", Theme)
    entries = [Entry(kind="theme", id=t.id, name=t.name, text=_theme_text(t)) for t in themes]
    for bundle in Store(workspace).bundles():
        head = bundle.environment()
        tables = "; ".join(f"{t.name}: {', '.join(c.name for c in t.columns)}" for t in head.database.tables)
        text = f"{head.name}. {head.description} Tables: {tables}".replace("_", " ")
        entries.append(Entry(kind="environment", id=head.id, name=head.name, text=text))
        entries += [_tool_entry(head.id, head.name, tool) for tool in bundle.tools()]
    return entries


def fingerprint(entries: Sequence[Entry]) -> str:
    lines = sorted(entry.model_dump_json() for entry in entries)
    return hashlib.sha256("\n".join(lines).encode()).hexdigest()


def _theme_text(theme: Theme) -> str:
    words = f" Keywords: {', '.join(theme.keywords)}." if theme.keywords else ""
    return f"{theme.name}. {theme.description}{words}"


def _tool_entry(environment: str, environment_name: str, tool: ToolSpec) -> Entry:
    text = f"{tool.name.replace('_', ' ')}: {tool.description} ({environment_name})"
    return Entry(kind="tool", id=f"{environment}.{tool.name}", name=tool.name, text=text)


def _check_embedder(index: Index) -> None:
    try:
        head = index.head
    except StoreError:
        return  # a damaged head: whoever uses the index finds out and builds it again
    mine = index.embedder
    if head and (head.embedder, head.size) != (mine.name, mine.size):
        raise StoreError(
            f"The index in {index.folder} was built with {head.embedder} (size {head.size}), "
            f"not with {mine.name} (size {mine.size}); open it with that embedder, or remove the folder."
        )


def _lock(folder: Path, wait_s: float) -> int:
    try:
        folder.mkdir(parents=True, exist_ok=True)
        lock = os.open(folder / ".lock", os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o644)
    except OSError as error:
        raise StoreError(f"Cannot use the index {folder} ({error.strerror}); choose another workspace.") from error
    until = time.monotonic() + wait_s
    while True:
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
            return lock
        except BlockingIOError as error:
            if time.monotonic() >= until:
                os.close(lock)
                raise StoreError(f"Another process has the index {folder} open; try again when it ends.") from error
        time.sleep(0.1)
