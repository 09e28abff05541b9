"""Where a run starts: each kind of start on rows that every kind sees otherwise."""

import numpy as np
import pytest
from sklearn.metrics import adjusted_rand_score

import jointclust as jc
from jointclust.subspace.starts import reduced_weights, robust_start_labels, start_kind, start_labels


def cloud(length):
    """Two clusters along one axis, and a normal cloud without any, of this standard deviation, along another."""
    rng = np.random.RandomState(0)
    y = np.arange(400) % 2
    return rng.standard_normal((400, 4)) * [length, 0.3, 0.2, 0.1] + np.outer(2 * y - 1, [0, 5.5, 0, 0]), y


@pytest.fixture(scope="module")
def rows():
    return cloud(20)


def started(kind, coordinates, n_components, seed=0, weights=None, n_clusters=2):
    return start_labels(kind, coordinates, n_clusters, n_components, np.random.RandomState(seed), 10, weights)


def test_runs_from_pca_also_look_elsewhere():
    assert [start_kind("pca", index) for index in range(5)] == ["pca", "random", "partition", "pca", "random"]
    for kind in ("k-means++", "random", "whitened"):
        assert {start_kind(kind, index) for index in range(4)} == {kind}


@pytest.mark.parametrize(
    ("length", "kind", "n_components", "finds"),
    [
        (20, "pca", 2, "cloud"),
        (20, "whitened", 2, "clusters"),
        (20, "k-means++", 2, "cloud"),
        # More variance than the clusters, but less to gain by cutting it.
        (6, "pca", 1, "cloud"),
        (6, "whitened", 1, "cloud"),
        (6, "pca", 2, "clusters"),
        (6, "k-means++", 1, "clusters"),
    ],
)
def test_the_embedding_that_a_start_names(length, kind, n_components, finds):
    X, y = cloud(length)
    labels = started(kind, jc.decompose(X), n_components)
    halves = {"cloud": X[:, 0] > X[:, 0].mean(), "clusters": y}
    values = {name: adjusted_rand_score(half, labels) for name, half in halves.items()}
    assert values.pop(finds) > 0.7
    assert max(values.values()) < 0.1


def test_random_subspaces_differ_by_the_seed(rows):
    coordinates = jc.decompose(rows[0])
    first, again = (started("random", coordinates, 1) for _ in range(2))
    np.testing.assert_array_equal(first, again)
    others = [started("random", coordinates, 1, seed) for seed in range(1, 6)]
    assert min(adjusted_rand_score(first, other) for other in others) < 0.9


def test_a_random_partition_is_balanced_and_knows_nothing(rows):
    X, y = rows
    labels = started("partition", jc.decompose(X), 2, n_clusters=3)
    counts = np.bincount(labels)
    assert counts.max() - counts.min() <= 1
    assert abs(adjusted_rand_score(y, labels)) < 0.05
    assert np.any(labels != started("partition", jc.decompose(X), 2, seed=1, n_clusters=3))
    assert labels.dtype == np.int32


@pytest.mark.parametrize("kind", ["pca", "k-means++", "whitened"])
def test_weights_count(kind, rows):
    """Rows without weight are as if absent: far ones do not get a center of their own."""
    X = np.vstack([rows[0], np.full((20, 4), 500.0)])
    weights = np.r_[np.ones(400), np.zeros(20)]
    with_them = jc.decompose(X, weights)
    labels = started(kind, with_them, 2, weights=weights)[:400]
    assert adjusted_rand_score(labels, started(kind, jc.decompose(X[:400]), 2)) == 1
    alone = started(kind, jc.decompose(X), 2)[:400]
    assert np.unique(alone).size == 1


# -- starts that far rows do not lead astray ----------------------------------------------------------------------


def robust(coordinates, plain, seed=1):
    return robust_start_labels("k-means++", plain, coordinates, 2, 2, np.random.RandomState(seed), 10)


def test_far_rows_take_no_center():
    rng = np.random.RandomState(0)
    y = np.arange(300) % 2
    X = rng.standard_normal((300, 2)) + np.outer(2 * y - 1, [4, 0])
    X = np.vstack([X, [[0, 60], [3, 62], [-3, 61]]])
    coordinates = jc.decompose(X)
    plain = started("k-means++", coordinates, 2)
    assert np.unique(plain[:300]).size == 1
    assert adjusted_rand_score(y, robust(coordinates, plain)[:300]) > 0.95


def test_without_far_rows_the_plain_start_stays():
    rng = np.random.RandomState(0)
    angles = rng.uniform(0, 2 * np.pi, size=100)
    coordinates = jc.decompose(np.column_stack([np.cos(angles), np.sin(angles)]))
    plain = started("k-means++", coordinates, 2)
    assert robust(coordinates, plain) is plain


def test_the_plain_start_stays_where_it_is_nearer():
    """A few rows so far that all distances hang on them: counted less, they would lose their center to the others."""
    rng = np.random.RandomState(0)
    X = np.vstack([rng.standard_normal((300, 2)) * [30, 0.1], rng.standard_normal((8, 2)) + np.array([0, 2000])])
    coordinates = jc.decompose(X)
    plain = started("k-means++", coordinates, 2)
    assert adjusted_rand_score(np.arange(308) >= 300, plain) == 1
    own = np.ones(308)
    counted_less = started("k-means++", coordinates, 2, weights=reduced_weights(coordinates.leading(2), own))
    assert np.unique(counted_less[:300]).size == 2
    assert robust(coordinates, plain) is plain


def test_reduced_weights():
    rng = np.random.RandomState(0)
    scores = rng.standard_normal((50, 3)) * rng.uniform(0.1, 5, size=(50, 1))
    own = rng.randint(1, 4, size=50).astype(float)
    radius = np.linalg.norm(scores, axis=1)
    repeated = np.sort(np.repeat(radius, own.astype(int)))
    limit = 2 * repeated[(len(repeated) - 1) // 2]
    expected = np.where(radius > limit, own * (limit / radius) ** 2, own)
    assert (expected < own).any()
    np.testing.assert_allclose(reduced_weights(scores, own), expected)
    assert reduced_weights(np.zeros((5, 2)), np.ones(5)).tolist() == [1] * 5
