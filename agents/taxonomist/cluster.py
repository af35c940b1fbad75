"""Ward clustering of texts' vectors on two levels that nest: types are cut higher in the tree that clusters are."""

import numpy as np
from numpy.typing import ArrayLike

from agent_world.settings import TaxonomySettings

Vectors = ArrayLike
"""One row an item."""


def sizes(items: int, settings: TaxonomySettings) -> tuple[int, int]:
    """Numbers of types and clusters for so many items: the settings' (section 3.1: 20 and 50), fewer for few items."""
    clusters = min(settings.clusters, max(2, items // 2), items)
    return min(settings.types, max(2, items // 4), clusters), clusters


def ward(vectors: Vectors, types: int, clusters: int) -> list[tuple[int, int]]:
    """For each vector its type and its cluster, numbered from 0 in order of first occurrence."""
    points = np.asarray(vectors, dtype=float)
    if len(points) < 2:
        return [(0, 0)] * len(points)
    from scipy.cluster.hierarchy import fcluster, linkage

    tree = linkage(points, method="ward")
    coarse = _renumbered(fcluster(tree, types, criterion="maxclust"))
    fine = _renumbered(fcluster(tree, clusters, criterion="maxclust"))
    return list(zip(coarse, fine, strict=True))


def _renumbered(labels: "np.ndarray") -> list[int]:
    order: dict[int, int] = {}
    return [order.setdefault(int(label), len(order)) for label in labels]
