"""Communities of graphs."""

import numpy as np
import pytest
import scipy.sparse as sp

from jointclust.numerics.communities import (
    communities,
    community_tree,
    joined,
    modularity,
    shared_neighbor_graph,
)
from jointclust.numerics.graph import neighbors


def graph_of(X, n_neighbors=6):
    return shared_neighbor_graph(neighbors(X, X, n_neighbors))


def test_links_are_the_jaccard_index_of_neighbours(rng):
    """By its definition, for every two rows of which one is a neighbour of the other."""
    X = rng.standard_normal((40, 3))
    index = neighbors(X, X, 6)
    sets, graph = [set(row) for row in index.tolist()], graph_of(X).toarray()
    for one in range(40):
        for other in range(40):
            shared = len(sets[one] & sets[other]) / len(sets[one] | sets[other])
            linked = one != other and (one in sets[other] or other in sets[one]) and shared >= 1 / 15
            assert graph[one, other] == pytest.approx(shared if linked else 0)


def test_modularity_is_its_definition(rng):
    graph, labels = graph_of(rng.standard_normal((50, 2))), rng.randint(0, 4, 50)
    A = graph.toarray()
    s, total = A.sum(axis=1), A.sum()
    same = labels[:, None] == labels
    assert modularity(graph, labels, 0.7) == pytest.approx(np.sum((A - 0.7 * np.outer(s, s) / total)[same]) / total)


def test_no_move_of_a_row_or_join_of_communities_gains(rng):
    """What Louvain's moves come to rest at; a partition of more resolution is finer."""
    graph = graph_of(rng.standard_normal((80, 2)))
    counts = []
    for resolution in (0.3, 1.0, 3.0):
        labels = communities(graph, resolution)
        best, counts = modularity(graph, labels, resolution), [*counts, labels.max() + 1]
        for one in range(labels.max() + 1):
            for other in range(one):
                assert modularity(graph, np.where(labels == one, other, labels), resolution) <= best + 1e-9
    assert counts == sorted(set(counts))


def test_parts_are_communities_and_join_last(rng):
    X = np.repeat([[0.0, 0], [50, 0], [0, 50]], 20, axis=0) + rng.standard_normal((60, 2))
    graph, truth = graph_of(X), np.repeat(np.arange(3), 20)
    fine, joins = community_tree(graph, 2.0)
    assert np.unique(np.column_stack([fine, truth]), axis=0).shape[0] == fine.max() + 1
    first = np.arange(fine.max() + 1)
    for one, other in joins[: first.size - 3]:
        first[first == other] = one
    assert np.unique(np.column_stack([first[fine], truth]), axis=0).shape[0] == 3
    assert joined(graph, truth).nnz == 3


def test_a_graph_without_links():
    empty = sp.csr_array((5, 5))
    assert communities(empty, 1.0).tolist() == [0, 1, 2, 3, 4]
    assert modularity(empty, np.zeros(5, int), 1.0) == 0
