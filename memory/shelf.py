"""Where the index keeps its collections: in files of the workspace, or on a Chroma server (setting `index`).

Chroma neither locks nor remembers who embedded. Files are owned by the lock of `index.py`; on a server, each collection
carries the workspace that owns it and the embedder that filled it, and is refused to any other.
"""

import contextlib
import hashlib
import secrets
import shutil
import socket
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Protocol
from urllib.parse import urlsplit

from agent_world.errors import StoreError, UsageError
from agent_world.memory.embedder import TextEmbedder
from agent_world.memory.store import write_text
from agent_world.settings import IndexConfig, LocalIndex, ServerIndex

COLLECTION = "agent_world"
REACH_S = 5.0
PAGE = 100
DISTANCE = {"hnsw": {"space": "cosine"}}


class Shelf(Protocol):
    """Named collections of one workspace. Names are `chroma_N`."""

    @property
    def place(self) -> str:
        """Empty for the workspace's own files; a server's address and database otherwise."""
        ...

    @property
    def remedy(self) -> str:
        """What to do where the index cannot be used."""
        ...

    def names(self) -> list[str]: ...

    def collection(self, name: str) -> Any:
        """Chroma's collection; made where it is not there yet."""
        ...

    def remove(self, name: str) -> None: ...

    def close(self) -> None: ...


@contextlib.contextmanager
def open_shelf(config: IndexConfig, folder: Path, embedder: TextEmbedder) -> Iterator[Shelf]:
    """The shelf of the settings for the index in `folder`, whose lock the caller holds.

    Raises `StoreError` where the server cannot be reached, or where a collection there is another workspace's or
    another embedder's.
    """
    match config:
        case LocalIndex():
            with contextlib.closing(Files(folder)) as files:
                yield files
        case ServerIndex():
            client = _connect(config)
            with contextlib.closing(
                Server(client, config, _identity(folder), folder.parent.resolve(), embedder)
            ) as server:
                server.check()
                yield server


@dataclass(slots=True)
class Files:
    """A folder for each collection, so that one that is damaged can be removed as a whole."""

    folder: Path
    place: str = ""
    remedy: str = "remove the folder, and it is built again from the workspace"
    _open: dict[str, Any] = field(default_factory=dict)

    def names(self) -> list[str]:
        return sorted(path.name for path in self.folder.glob("chroma_*"))

    def collection(self, name: str) -> Any:
        import chromadb
        from chromadb.config import Settings

        if name not in self._open:
            self.close()
            options = Settings(anonymized_telemetry=False)
            self._open[name] = chromadb.PersistentClient(str(self.folder / name), settings=options)
        # Vectors are always given, so Chroma's default embedder is never asked.
        return self._open[name].get_or_create_collection(COLLECTION, embedding_function=None, configuration=DISTANCE)

    def remove(self, name: str) -> None:
        shutil.rmtree(self.folder / name, ignore_errors=True)

    def close(self) -> None:
        for client in self._open.values():
            client.close()
        self._open.clear()


@dataclass(slots=True)
class Server:
    """Collections `<prefix>.chroma_N` of a server."""

    client: Any
    config: ServerIndex
    owner: str
    workspace: Path
    embedder: TextEmbedder

    @property
    def place(self) -> str:
        return f"{self.config.address} {self.config.tenant}/{self.config.database}/{self.prefix}"

    @property
    def prefix(self) -> str:
        return self.config.name or f"{COLLECTION}_{self.owner}"

    @property
    def remedy(self) -> str:
        return f"see that {self.config.address} answers; what is missing there is built again from the workspace"

    def names(self) -> list[str]:
        return sorted(found.name.removeprefix(f"{self.prefix}.") for found in self._all())

    def collection(self, name: str) -> Any:
        facts: dict[str, str | int] = {"owner": self.owner, "workspace": str(self.workspace)}
        facts |= {"embedder": self.embedder.name, "size": self.embedder.size}
        return self.client.get_or_create_collection(
            f"{self.prefix}.{name}", metadata=facts, embedding_function=None, configuration=DISTANCE
        )

    def remove(self, name: str) -> None:
        self.client.delete_collection(f"{self.prefix}.{name}")

    def close(self) -> None:
        for api in (self.client._server, self.client._admin_client._server):
            api._session.close()  # which the client's own `close` leaves open
        self.client.close()

    def check(self) -> None:
        """Refuse collections of this name that are not ours to write."""
        mine = self.embedder
        for found in self._all():
            facts = found.metadata or {}
            where = f"The collection {found.name} on {self.config.address}"
            if facts.get("owner") != self.owner:
                other = facts.get("workspace", "somebody else")
                raise StoreError(f"{where} belongs to {other}; set index.name to a name of this workspace's own.")
            if (facts.get("embedder"), facts.get("size")) != (mine.name, mine.size):
                raise StoreError(
                    f"{where} was built with {facts.get('embedder')} (size {facts.get('size')}), "
                    f"not with {mine.name} (size {mine.size}); open it with that embedder, or delete the collection."
                )

    def _all(self) -> Iterator[Any]:
        start = 0
        while page := list(self.client.list_collections(limit=PAGE, offset=start)):
            yield from (found for found in page if found.name.startswith(f"{self.prefix}.chroma_"))
            start += len(page)


def _identity(folder: Path) -> str:
    """Of the workspace: a copy of it, or one of the same path on another machine, is another one."""
    path = folder / "id"
    if not path.exists():
        write_text(path, secrets.token_hex(16))
    facts = f"{path.read_text()}\0{folder.resolve()}"
    return hashlib.sha256(facts.encode()).hexdigest()[:16]


def _connect(config: ServerIndex) -> Any:
    """A client whose server answers; its own wait for one that does not is without end."""
    import chromadb
    from chromadb.config import Settings

    host, port, secure = _parts(config.address)
    token = config.token.get_secret_value() if config.token else None
    try:
        socket.create_connection((host, port), timeout=REACH_S).close()
        return chromadb.HttpClient(
            host, port, secure, headers={"x-chroma-token": token} if token else None,
            settings=Settings(anonymized_telemetry=False), tenant=config.tenant, database=config.database,
        )  # fmt: skip
    except Exception as error:  # the client raises plain ValueErrors, and errors of its own, for all that can be wrong
        said = (str(error).splitlines() or [type(error).__name__])[0]
        raise StoreError(
            f"The Chroma server at {config.address} cannot be used ({said}); start it (chroma run --path FOLDER "
            f"--port {port}), set index.address, or set index=local."
        ) from error


def _parts(address: str) -> tuple[str, int, bool]:
    parts = urlsplit(address)
    try:
        if parts.scheme in ("http", "https") and parts.hostname:
            secure = parts.scheme == "https"
            return parts.hostname, parts.port or (443 if secure else 80), secure
    except ValueError:
        pass  # a port that is none
    raise UsageError(f"index.address must be like http://127.0.0.1:8000, not {address!r}.")
