"""The taxonomy as an editable file, and its making: people may rename, merge and move, and it stays as they left it."""

import asyncio
from collections.abc import Sequence
from pathlib import Path
from typing import Protocol

import numpy as np
import yaml
from pydantic import ValidationError

from agent_world.agents.model import Model
from agent_world.agents.taxonomist.cluster import Vectors, sizes, ward
from agent_world.agents.taxonomist.labels import Labeller, LlmLabeller, SalientLabeller
from agent_world.errors import UsageError
from agent_world.memory.store import write_text
from agent_world.schema import Record
from agent_world.settings import Role, Settings

FILE = "taxonomy.yaml"
HEADER = """\
# First-tier types, their second-tier clusters, and the environments in each. Edit freely: rename, merge, move.
# What is written here is kept; only environments that are not yet listed are placed anew.
"""


class Taxonomy(Record):
    types: dict[str, dict[str, list[str]]] = {}
    """Type -> cluster -> ids of environments."""

    def places(self) -> dict[str, tuple[str, str]]:
        return {
            item: (kind, cluster)
            for kind, clusters in self.types.items()
            for cluster, items in clusters.items()
            for item in items
        }


class Models(Protocol):
    def model(self, role: Role) -> Model: ...


async def build_taxonomy(
    items: Sequence[tuple[str, str]], vectors: Vectors, settings: Settings, models: Models | None = None
) -> dict[str, tuple[str, str]]:
    """Type and cluster of each item `(id, text)`; `vectors` has one row an item.

    Kept in WORKSPACE/taxonomy.yaml. Items listed there stay where they are; a new one joins the place of the nearest
    listed item. `models` is needed for the engine `llm` only. Raises `UsageError` when the file is damaged.
    """
    path = settings.workspace / FILE
    known = (await asyncio.to_thread(read_taxonomy, path)).places()
    listed = [i for i, (item, _) in enumerate(items) if item in known]
    if listed:
        places = {
            item: known.get(item) or known[_nearest(n, listed, items, vectors)] for n, (item, _) in enumerate(items)
        }
    else:
        places = await _cluster(items, vectors, settings, _labeller(settings, models))
    await asyncio.to_thread(write_taxonomy, path, known | places)
    return places


def read_taxonomy(path: Path) -> Taxonomy:
    if not path.exists():
        return Taxonomy()
    try:
        return Taxonomy.model_validate(yaml.safe_load(path.read_text()) or {})
    except (yaml.YAMLError, ValidationError, UnicodeDecodeError) as error:
        reason = " ".join(str(error).split())[:200]
        raise UsageError(f"{path} is no taxonomy ({reason}); mend it, or remove it to have it made anew.") from error


def write_taxonomy(path: Path, places: dict[str, tuple[str, str]]) -> None:
    types: dict[str, dict[str, list[str]]] = {}
    for item in sorted(places):
        kind, cluster = places[item]
        types.setdefault(kind, {}).setdefault(cluster, []).append(item)
    body = yaml.safe_dump({"types": types}, allow_unicode=True, sort_keys=True)
    write_text(path, HEADER + body)


async def _cluster(
    items: Sequence[tuple[str, str]], vectors: Vectors, settings: Settings, labeller: Labeller
) -> dict[str, tuple[str, str]]:
    types, clusters = sizes(len(items), settings.taxonomy)
    numbers = ward(vectors, types, clusters)
    by_type: dict[int, list[str]] = {}
    by_cluster: dict[int, list[str]] = {}
    for (_, text), (kind, cluster) in zip(items, numbers, strict=True):
        by_type.setdefault(kind, []).append(text)
        by_cluster.setdefault(cluster, []).append(text)
    type_names, cluster_names = await labeller.labels(by_type), await labeller.labels(by_cluster)
    return {item: (type_names[t], cluster_names[c]) for (item, _), (t, c) in zip(items, numbers, strict=True)}


def _nearest(number: int, listed: Sequence[int], items: Sequence[tuple[str, str]], vectors: Vectors) -> str:
    points = np.asarray(vectors, dtype=float)
    distances = np.linalg.norm(points[list(listed)] - points[number], axis=1)
    return items[listed[int(np.argmin(distances))]][0]


def _labeller(settings: Settings, models: Models | None) -> Labeller:
    if settings.role("taxonomist").engine == "llm" and models is not None:
        return LlmLabeller(models.model("taxonomist"))
    return SalientLabeller()
