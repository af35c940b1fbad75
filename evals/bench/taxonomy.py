"""How fast many servers become themes with a place in a taxonomy, and how well the places agree with people's.

Agreement is the normalised mutual information of clusters and the catalogue's own categories (`labels.primary` of a
crawl), beside that of TF-IDF with k-means at the same number of clusters, in the same run.
"""

import asyncio
import statistics
import tempfile
import time
from collections.abc import Callable, Sequence
from pathlib import Path

import numpy as np

from agent_world.agents.taxonomist.cluster import sizes, ward
from agent_world.agents.taxonomist.taxonomy import build_taxonomy
from agent_world.agents.themes import collect_themes, essence
from agent_world.agents.themes.files import read_document
from agent_world.errors import UsageError
from agent_world.evals.bench.figures import Figure, Target, judge
from agent_world.memory.embedder import Embedder
from agent_world.schema import Theme
from agent_world.settings import ServersThemeSource, Settings

SEEDS = 5
"""Runs of k-means, of which the median counts."""
MOST_SECONDS = 180


async def measure_taxonomy(path: Path, note: Callable[[str], None]) -> list[Figure]:
    """Figures for a crawl of servers with `labels.primary` (JSON Lines). Raises `UsageError` for one without them."""
    labels, lines = await asyncio.to_thread(_labels, path)
    with tempfile.TemporaryDirectory() as folder:
        settings = Settings(workspace=Path(folder), themes=(ServersThemeSource(path=str(path)),))
        started = time.monotonic()
        note("reading servers, dropping junk and repeats")
        themes, dropped = await collect_themes(settings)
        note(f"placing {len(themes)} themes")
        texts = [essence(f"{theme.name}. {theme.description}") for theme in themes]
        vectors = await asyncio.to_thread(Embedder(settings.workspace).embed, texts)
        await build_taxonomy([(t.id, text) for t, text in zip(themes, texts, strict=True)], vectors, settings)
        seconds = time.monotonic() - started
        note("TF-IDF with k-means, for comparison")
        agreement = await asyncio.to_thread(_agreement, themes, labels, vectors, settings)
    left = sum(d.kind == "theme" for d in dropped)
    took = Figure(
        name="themes and taxonomy", value=round(seconds, 1), unit="s",
        note=f"{lines} servers read, {left} dropped as junk or repeats, {len(themes)} themes placed",
    )  # fmt: skip
    return [judge(took, Target(kind="at_most", bound=MOST_SECONDS)), *agreement]


def _labels(path: Path) -> tuple[dict[str, str], int]:
    """Category by the source that a theme says it comes from (the first of servers of one name); number of servers."""
    found: dict[str, str] = {}
    lines = 0
    for entry in read_document(path, "crawl of servers"):
        lines += 1
        kind = (entry.get("labels") or {}).get("primary")
        if kind:
            found.setdefault(f"{path.name}: {entry['name']}", kind)
    if not found:
        raise UsageError(f"{path} names no categories (labels.primary), so there is nothing to agree with.")
    return found, lines


def _agreement(
    themes: Sequence[Theme], labels: dict[str, str], vectors: np.ndarray, settings: Settings
) -> list[Figure]:
    from sklearn.cluster import KMeans
    from sklearn.feature_extraction.text import TfidfVectorizer
    from sklearn.metrics import normalized_mutual_info_score as agree

    known = [n for n, theme in enumerate(themes) if theme.source in labels]
    people = [labels[themes[n].source] for n in known]
    words = TfidfVectorizer(stop_words="english", sublinear_tf=True).fit_transform(
        [f"{themes[n].name}. {themes[n].description}" for n in known]
    )
    types, clusters = sizes(len(known), settings.taxonomy)
    ours = ward(vectors[known], types, clusters)
    figures = []
    for level, number, name in ((0, types, "types"), (1, clusters, "clusters")):
        theirs = [
            agree(people, KMeans(number, n_init=4, random_state=seed).fit_predict(words)) for seed in range(SEEDS)
        ]
        value, baseline = agree(people, [place[level] for place in ours]), statistics.median(theirs)
        figure = Figure(
            name=f"agreement of {number} {name}", value=round(value, 3), unit="NMI", against="TF-IDF, k-means",
            baseline=round(baseline, 3), ratio=round(value / baseline, 3), samples=1,
            target=Target(kind="at_least", bound=1), met=value > baseline,
            note=f"{len(known)} servers, {len(set(people))} categories; the peer's median of {SEEDS} seeds",
        )  # fmt: skip
        figures.append(figure)
    return figures
