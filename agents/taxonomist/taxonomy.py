"""The taxonomy as an editable file, and its making: people may rename, merge and move, and it stays as they left it."""

import asyncio
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Protocol

import numpy as np
import yaml
from pydantic import ValidationError

from agent_world.agents.model import Model
from agent_world.agents.taxonomist.cluster import Vectors, sizes, ward
from agent_world.agents.taxonomist.labels import Labeller, LlmLabeller, SalientLabeller
from agent_world.errors import ModelError, UsageError
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

    def note(self, line: str) -> None: ...


async def build_taxonomy(
    items: Sequence[tuple[str, str]], vectors: Vectors, settings: Settings, models: Models | None = None
) -> dict[str, tuple[str, str]]:
    """Type and cluster of each item `(id, text)`; `vectors` has one row an item.

    Kept in WORKSPACE/taxonomy.yaml. Items listed there stay where they are; a new one joins the place of the nearest
    listed item. `models` is needed for the engine `llm` only; where it fails, telling words name the groups. Raises
    `UsageError` when the file is damaged.
    """
    path = settings.workspace / FILE
    known = (await asyncio.to_thread(read_taxonomy, path)).places()
    listed = [i for i, (item, _) in enumerate(items) if item in known]
    if listed:
        places = {
            item: known.get(item) or known[_nearest(n, listed, items, vectors)] for n, (item, _) in enumerate(items)
        }
    else:
        places = await _cluster(items, vectors, settings, models)
    await asyncio.to_thread(_keep, path, known, {item: place for item, place in places.items() if item not in known})
    return places


def _keep(path: Path, known: dict[str, tuple[str, str]], new: dict[str, tuple[str, str]]) -> None:
    """What people wrote stays, their comments too, wherever new items can be put in line by line."""
    if not new:
        return
    text = with_items(path.read_text(), new) if known else None
    if text is None or read_text(text).places() != known | new:
        write_taxonomy(path, known | new)
    else:
        write_text(path, text)


def with_items(text: str, new: dict[str, tuple[str, str]]) -> str | None:
    """The file's text with each new item on a line of its own below the last of its cluster; None where a cluster is
    not written line by line."""
    lines, places = text.splitlines(), {}
    for kind, clusters in _pairs(_pairs(yaml.compose(text))["types"]).items():
        places.update({(kind, cluster): node for cluster, node in _pairs(clusters).items()})
    added: list[tuple[int, str]] = []
    for item in sorted(new, reverse=True):
        node = places.get(new[item])
        if not isinstance(node, yaml.SequenceNode) or node.flow_style or not node.value:
            return None
        last = node.value[-1].end_mark.line
        dash = lines[last].partition("-")[0]
        added.append((last + 1, f"{dash}- {yaml.safe_dump(item, allow_unicode=True).splitlines()[0]}"))
    for place, line in sorted(added, key=lambda found: -found[0]):
        lines.insert(place, line)
    return "\n".join(lines) + "\n"


def _pairs(node: yaml.Node | None) -> dict[str, yaml.Node]:
    found = node.value if isinstance(node, yaml.MappingNode) else []
    return {key.value: value for key, value in found}


def read_taxonomy(path: Path) -> Taxonomy:
    if not path.exists():
        return Taxonomy()
    try:
        return read_text(path.read_text())
    except (yaml.YAMLError, ValidationError, UnicodeDecodeError) as error:
        reason = " ".join(str(error).split())[:200]
        raise UsageError(f"{path} is no taxonomy ({reason}); mend it, or remove it to have it made anew.") from error


def read_text(text: str) -> Taxonomy:
    return Taxonomy.model_validate(yaml.safe_load(text) or {})


def write_taxonomy(path: Path, places: dict[str, tuple[str, str]]) -> None:
    types: dict[str, dict[str, list[str]]] = {}
    for item in sorted(places):
        kind, cluster = places[item]
        types.setdefault(kind, {}).setdefault(cluster, []).append(item)
    body = yaml.safe_dump({"types": types}, allow_unicode=True, sort_keys=True)
    write_text(path, HEADER + body)


async def _cluster(
    items: Sequence[tuple[str, str]], vectors: Vectors, settings: Settings, models: Models | None
) -> dict[str, tuple[str, str]]:
    types, clusters = sizes(len(items), settings.taxonomy)
    numbers = ward(vectors, types, clusters)
    by_type: dict[int, list[str]] = {}
    by_cluster: dict[int, list[str]] = {}
    for (_, text), (kind, cluster) in zip(items, numbers, strict=True):
        by_type.setdefault(kind, []).append(text)
        by_cluster.setdefault(cluster, []).append(text)
    type_names, cluster_names = await _named((by_type, by_cluster), settings, models)
    return {item: (type_names[t], cluster_names[c]) for (item, _), (t, c) in zip(items, numbers, strict=True)}


async def _named(
    tiers: Sequence[Mapping[int, Sequence[str]]], settings: Settings, models: Models | None
) -> list[dict[int, str]]:
    """Names of the groups of each tier."""
    if settings.role("taxonomist").engine == "llm" and models is not None:
        labeller: Labeller = LlmLabeller(models.model("taxonomist"))
        try:
            return [await labeller.labels(groups) for groups in tiers]
        except ModelError as error:
            models.note(f"taxonomy: {error} Telling words name the groups.")
    labeller = SalientLabeller()
    return [await labeller.labels(groups) for groups in tiers]


def _nearest(number: int, listed: Sequence[int], items: Sequence[tuple[str, str]], vectors: Vectors) -> str:
    points = np.asarray(vectors, dtype=float)
    distances = np.linalg.norm(points[list(listed)] - points[number], axis=1)
    return items[listed[int(np.argmin(distances))]][0]
