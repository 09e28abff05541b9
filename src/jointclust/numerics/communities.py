"""Communities of neighbour graphs."""

from __future__ import annotations

from collections import deque

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from jointclust.types import Float, Labels

# Links of rows that share fewer of their neighbours are dropped.
_LEAST = 1 / 15


def shared_neighbor_graph(index: NDArray[np.intp]) -> sp.csr_array:
    """Rows linked to their nearest rows (themselves included), by the Jaccard index of their sets of nearest rows."""
    n, size = index.shape
    nearest = sp.csr_array((np.ones(index.size), index.ravel(), np.arange(0, index.size + 1, size)), shape=(n, n))
    linked = sp.csr_array(nearest + nearest.T)
    linked.data[:] = 1.0
    shared = sp.coo_array(sp.csr_array(nearest @ nearest.T).multiply(linked))
    weights = shared.data / (2 * size - shared.data)
    kept = (weights >= _LEAST) & (shared.row != shared.col)
    return sp.csr_array((weights[kept], (shared.row[kept], shared.col[kept])), shape=(n, n))


def communities(graph: sp.csr_array, resolution: float) -> Labels:
    r"""The communities of a graph, by greedy increase of its modularity (Louvain: Blondel et al., 2008).

    .. math:: \sum_c \frac{w_c}{w} - \gamma \left( \frac{s_c}{w} \right)^2

    with the weight w of all links, the weights w_c of links within community c and s_c of all links that start there,
    and the resolution gamma. Every row moves to the community that gains most; then communities become the rows.
    """
    labels = np.arange(graph.shape[0])
    while True:
        moved = _moved(graph, resolution)
        if int(moved.max()) + 1 == graph.shape[0]:
            return labels.astype(np.int32)
        labels, graph = moved[labels], joined(graph, moved)


def modularity(graph: sp.csr_array, labels: NDArray, resolution: float) -> float:
    """The modularity of a partition; 0 for a graph without links."""
    links = joined(graph, labels)
    strength = np.asarray(links.sum(axis=1)).ravel()
    total = float(strength.sum())
    return float(links.trace() / total - resolution * np.sum((strength / total) ** 2)) if total > 0 else 0.0


def joined(graph: sp.csr_array, labels: NDArray) -> sp.csr_array:
    """The graph of the communities: links add up, those within a community on the diagonal."""
    n = labels.size
    member = sp.csr_array((np.ones(n), (labels, np.arange(n))), shape=(int(labels.max()) + 1, n))
    return sp.csr_array(member @ graph @ member.T)


def _moved(graph: sp.csr_array, resolution: float) -> NDArray[np.intp]:
    """Communities after single rows have moved until none gains; rows whose neighbours move are looked at again."""
    # Plain lists: a row has a dozen links, for which calls of NumPy take longer than the sums.
    strength = np.asarray(graph.sum(axis=1)).ravel()
    scale = resolution / max(float(strength.sum()), np.finfo(float).tiny)
    starts, links, weights = graph.indptr.tolist(), graph.indices.tolist(), graph.data.tolist()
    own, total = strength.tolist(), strength.tolist()
    community, waiting = list(range(len(own))), [True] * len(own)
    queue = deque(community)
    while queue:
        row = queue.popleft()
        waiting[row] = False
        here, price = community[row], scale * own[row]
        begin, end = starts[row], starts[row + 1]
        gains: dict[int, float] = {here: 0.0}
        for other, weight in zip(links[begin:end], weights[begin:end], strict=True):
            if other != row:
                there = community[other]
                gains[there] = gains.get(there, 0.0) + weight
        total[here] -= own[row]
        best, most = here, gains[here] - price * total[here]
        for there, weight in gains.items():
            if weight - price * total[there] > most + 1e-12:
                best, most = there, weight - price * total[there]
        total[best] += own[row]
        if best != here:
            community[row] = best
            for other in links[begin:end]:
                if not waiting[other] and community[other] != best:
                    waiting[other] = True
                    queue.append(other)
    return np.unique(community, return_inverse=True)[1].ravel()


def community_tree(graph: sp.csr_array, resolution: float) -> tuple[Labels, list[tuple[int, int]]]:
    """Small communities, and the order in which they join: the two with most links, relative to all theirs."""
    labels = communities(graph, resolution)
    links: Float = joined(graph, labels).toarray()
    strength = links.sum(axis=1) + np.finfo(float).tiny
    closeness = links / np.maximum(np.outer(strength, strength), np.finfo(float).tiny)  # some rows have no links
    np.fill_diagonal(closeness, -1.0)
    joins = []
    for _ in range(len(links) - 1):
        first, second = sorted(map(int, np.unravel_index(np.argmax(closeness), closeness.shape)))
        joins.append((first, second))
        links[first] += links[second]
        links[:, first] += links[:, second]
        strength[first] += strength[second]
        gone = closeness[first] < 0
        gone[second] = True
        closeness[first] = np.where(gone, -1.0, links[first] / (strength[first] * strength))
        closeness[:, first] = closeness[first]
        closeness[second], closeness[:, second] = -1.0, -1.0
    return labels, joins
