"""Spanning trees and their cuts, against the definitions computed from scratch at every step."""

import numpy as np
import pytest
from scipy.sparse.csgraph import minimum_spanning_tree
from scipy.spatial.distance import cdist

from jointclust.numerics.spanning_tree import fair_joins, information, informative_cut, spanning_tree, widest_cut


@pytest.fixture
def rows(rng):
    return np.vstack([rng.standard_normal((25, 2)), rng.standard_normal((12, 2)) + 5, rng.uniform(-9, 9, (5, 2))])


@pytest.mark.parametrize("has_reach", [False, True])
def test_the_tree_is_minimal(rows, has_reach):
    distances = cdist(rows, rows)
    reach = np.sort(distances, axis=1)[:, 4] if has_reach else None
    widths = distances if reach is None else np.maximum(distances, np.maximum.outer(reach, reach))
    tree = spanning_tree(rows, reach)
    expected = minimum_spanning_tree(np.triu(widths, 1)).data
    np.testing.assert_allclose(tree.widths, np.sort(expected), rtol=1e-6)
    np.testing.assert_allclose(tree.widths, widths[tuple(tree.links.T)], rtol=1e-6)
    np.testing.assert_allclose(tree.lengths, distances[tuple(tree.links.T)])
    assert tree.parts(np.zeros(len(rows) - 1, dtype=bool)).max() == 0


def naive_joins(tree, mass, limit):
    """Genie as it is described: all sizes and their Gini index anew before each join."""
    left, order = list(range(len(tree.links))), []
    while left:
        cut = np.zeros(len(tree.links), dtype=bool)
        cut[left] = True
        part = tree.parts(cut)
        sizes = np.bincount(part, mass)
        gini = np.abs(np.subtract.outer(sizes, sizes)).sum() / (2 * (sizes.size - 1) * sizes.sum())
        ends = sizes[part[tree.links[left]]]
        fit = np.isclose(ends, sizes.min()).any(axis=1) if gini > limit else np.ones(len(left), dtype=bool)
        order.append(left.pop(int(np.argmax(fit))))
    return order


@pytest.mark.parametrize("limit", [0.1, 0.5])
def test_joins_are_those_of_genie(rows, rng, limit):
    tree = spanning_tree(rows)
    for mass in (np.ones(len(rows)), rng.randint(1, 4, len(rows)).astype(float)):
        assert fair_joins(tree, mass, limit).tolist() == naive_joins(tree, mass, limit)
    assert fair_joins(tree, mass, 1.0).tolist() == list(range(len(rows) - 1)), "without a limit, single linkage"


def test_parts_are_joined_by_the_least_loss(rows, rng):
    tree, mass = spanning_tree(rows), rng.uniform(0.5, 2.0, len(rows))
    cut = np.zeros(len(rows) - 1, dtype=bool)
    cut[rng.choice(cut.size, 9, replace=False)] = True

    def entropy(cut):
        part = tree.parts(cut)
        lengths = np.bincount(part[tree.links[~cut, 0]], tree.lengths[~cut], part.max() + 1)
        return information(lengths + tree.lengths.mean(), np.bincount(part, mass), 2).sum()

    expected = cut.copy()
    while expected.sum() > 3:
        joined = [np.where(np.arange(cut.size) == link, False, expected) for link in np.flatnonzero(expected)]
        expected = min(joined, key=entropy)
    np.testing.assert_array_equal(informative_cut(tree, cut, mass, 4, 2), expected)


def test_wide_gaps_keep_groups_apart():
    """Groups on a line at 0 to 9, 14 to 23 and 29 to 38; a pair at 50 is no group, and stays with the last."""
    X = np.array([*range(10), *range(14, 24), *range(29, 39), 50, 51], dtype=float)[:, None]
    tree, mass = spanning_tree(X), np.ones(32)
    cut, factor = widest_cut(tree, mass, 3, 5.0)
    assert np.unique(tree.parts(cut)).size == 3
    assert tree.parts(cut)[[0, 10, 20, 30]].tolist() == [0, 1, 2, 2]
    assert factor == np.inf, "there is no fourth group"
    assert widest_cut(tree, mass, 2, 5.0)[1] == pytest.approx(6 / 5)
    assert widest_cut(tree, mass, 4, 5.0)[1] == 0, "too few groups"
    assert widest_cut(tree, mass, 4, 2.0)[1] == np.inf, "a pair is a group of two"


def test_one_row_has_a_tree():
    tree = spanning_tree(np.zeros((1, 2)))
    assert tree.n_rows == 1
    assert tree.usual_length == 1
    assert tree.parts(np.empty(0, dtype=bool)).tolist() == [0]
    assert fair_joins(tree, np.ones(1), 0.3).size == 0
