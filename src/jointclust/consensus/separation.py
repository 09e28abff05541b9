"""How many of the clusters are apart from one another."""

from __future__ import annotations

import numpy as np
from scipy.sparse.csgraph import connected_components
from scipy.spatial.distance import cdist

from jointclust.consensus.embedding import DiscriminantMap
from jointclust.consensus.projection import is_low
from jointclust.numerics.partitions import centers_of
from jointclust.numerics.valleys import shown_valley_p_value, unimodal_p_value
from jointclust.types import Float, Labels

# The probability of a gap by chance below which there is one.
_LEVEL = 0.05
# Clusters that a cluster is compared with: the nearest.
_NEAREST = 20


def n_separate(T: Float, labels: Labels, other: Float, other_labels: Labels, n_clusters: int) -> int:
    """The number of groups of clusters between which there are gaps, on rows that did not form the clusters.

    Rows T with labels give the discriminant directions, and the centers there; of two or three columns, where clusters
    may be long, each pair of clusters has a direction of its own. Between two clusters is a gap if fewer of their other
    rows lie about the middle of the centers than a unimodal density allows. Clusters without a gap between them are in
    one group: 1 is a cloud without structure, whatever it is cut into.
    """
    present = np.intersect1d(labels, other_labels)
    if present.size < 2:
        return int(present.size)
    embedding = DiscriminantMap.fit(T, labels, n_clusters, None)
    centers, low = centers_of(embedding(T), labels, n_clusters)[present], is_low(T.shape[1])
    rows = other if low else embedding(other)
    members = [rows[other_labels == cluster] for cluster in present]
    near = np.argsort(cdist(centers, centers, "sqeuclidean"), axis=1, kind="stable")[:, 1 : _NEAREST + 1]
    touches = np.zeros((present.size, present.size), dtype=bool)
    for one in range(present.size):
        for two in near[one]:
            pair = np.concatenate([members[one], members[two]])
            if low:
                first, second = (T[labels == present[place]] for place in (one, two))
                is_second = np.arange(len(first) + len(second)) >= len(first)
                p = shown_valley_p_value(np.concatenate([first, second]), is_second, pair)
            else:
                direction = centers[two] - centers[one]
                p = unimodal_p_value(pair @ direction, centers[one] @ direction, centers[two] @ direction)
            touches[one, two] = p > _LEVEL
    return int(connected_components(touches, directed=False)[0])
