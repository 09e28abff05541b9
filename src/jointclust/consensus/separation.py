"""How many of the clusters are apart from one another."""

from __future__ import annotations

import numpy as np
from scipy.cluster.hierarchy import DisjointSet
from scipy.spatial.distance import cdist

from jointclust.consensus.embedding import DiscriminantMap
from jointclust.consensus.projection import is_low
from jointclust.numerics.partitions import centers_of
from jointclust.numerics.valleys import shown_valley_p_value, unimodal_p_value
from jointclust.rows import as_rows
from jointclust.rows.arrays import to_host
from jointclust.types import Array, Labels

# The probability of a gap by chance below which there is one.
_LEVEL = 0.05
# Clusters that a cluster is compared with: the nearest.
_NEAREST = 20


def n_separate(T: Array, labels: Labels, other: Array, other_labels: Labels, n_clusters: int) -> int:
    """The number of groups of clusters between which there are gaps, on rows that did not form the clusters.

    Rows T with labels give the discriminant directions, and the centers there; of two or three columns, where clusters
    may be long, each pair of clusters has a direction of its own. Between two clusters is a gap if fewer of their other
    rows lie about the middle of the centers than a unimodal density allows. Clusters without a gap between them are in
    one group: 1 is a cloud without structure, whatever it is cut into.
    """
    present = np.intersect1d(labels, other_labels)
    if present.size < 2:
        return int(present.size)
    embedding, low = DiscriminantMap.fit(T, as_rows(T).here(labels), n_clusters, None), is_low(T.shape[1])
    rows = to_host(other if low else embedding(other))
    centers = centers_of(to_host(embedding(T)), labels, n_clusters)[present]
    members = [rows[other_labels == cluster] for cluster in present]
    near = np.argsort(cdist(centers, centers, "sqeuclidean"), axis=1, kind="stable")[:, 1 : _NEAREST + 1]
    pairs = np.column_stack([np.repeat(np.arange(present.size), near.shape[1]), near.ravel()])
    groups = DisjointSet(range(present.size))
    for one, two in np.unique(np.sort(pairs, axis=1), axis=0):
        if groups.connected(one, two):
            continue
        pair = np.concatenate([members[one], members[two]])
        if low:
            first, second = (labels == present[place] for place in (one, two))
            shown = first | second
            p = shown_valley_p_value(to_host(T)[shown], second[shown], pair)
        else:
            direction = centers[two] - centers[one]
            p = unimodal_p_value(pair @ direction, centers[one] @ direction, centers[two] @ direction)
        if p > _LEVEL:
            groups.merge(one, two)
    return groups.n_subsets
