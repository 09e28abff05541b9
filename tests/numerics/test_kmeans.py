import tracemalloc

import numpy as np
import pytest
import torch
from sklearn.cluster import KMeans

from jointclust.metrics import clustering_accuracy
from jointclust.numerics import kmeans as km
from jointclust.numerics import partitions


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
def test_lloyd_agrees_with_scikit_learn(digits, dtype):
    Y = digits.data[:, :20].astype(dtype)
    Y = Y - Y.mean(axis=0)
    start = Y[:10].astype(float)
    ours = km.lloyd(Y, start)
    theirs = KMeans(10, init=start, n_init=1, tol=0).fit(Y.astype(float))  # as compiled code sees them
    assert ours.inertia == pytest.approx(theirs.inertia_, rel=1e-5)
    assert np.mean(ours.labels == theirs.labels_) > 0.999


def test_restarts_together_equal_restarts_alone(digits, rng):
    Y = digits.data - digits.data.mean(axis=0)
    starts = km.plus_plus(Y, 10, 4, rng)
    labels, centers, inertia = km.lloyd_many(Y, starts)
    for j in range(4):
        alone = km.lloyd(Y, starts[j])
        np.testing.assert_array_equal(labels[j], alone.labels)
        np.testing.assert_allclose(centers[j], alone.centers)
        assert inertia[j] == pytest.approx(alone.inertia)


@pytest.mark.parametrize("tol", [0.0, 1e-3])
@pytest.mark.parametrize("weighted", [False, True])
def test_compiled_code_and_sweep_stop_by_one_rule(digits, rng, monkeypatch, weighted, tol):
    """Touching clusters, rows without weight, and a center that no row is near to, which both fill alike."""
    Y = digits.data[:600, :20] - digits.data[:600, :20].mean(axis=0) + 1e-3 * rng.standard_normal((600, 20))
    weights = rng.randint(0, 3, 600).astype(float) if weighted else None
    starts = km.plus_plus(Y, 8, 3, rng, weights)
    starts[0, 3] = 1e3
    for max_iter in (1, 2, 5, 300):
        compiled = km.lloyd_many(Y, starts, weights, max_iter=max_iter, tol=tol)
        with monkeypatch.context() as patch:
            patch.setattr(km, "COMPILED", 0)
            swept = km.lloyd_many(Y, starts, weights, max_iter=max_iter, tol=tol)
        for labels, others in zip(compiled[0], swept[0], strict=True):
            np.testing.assert_array_equal(labels, others)
        np.testing.assert_allclose(compiled[1], swept[1], atol=1e-9)
        np.testing.assert_allclose(compiled[2], swept[2], rtol=1e-9)


def test_inertia_never_rises_and_matches_the_labels(digits, rng):
    Y = digits.data - digits.data.mean(axis=0)
    start = km.plus_plus(Y, 10, 1, rng)[0]
    previous = np.inf
    for steps in range(1, 12):
        result = km.lloyd(Y, start, max_iter=steps)
        assert result.inertia <= previous * (1 + 1e-12)
        assert result.inertia == pytest.approx(np.sum((Y - result.centers[result.labels]) ** 2))
        previous = result.inertia


def test_as_good_as_scikit_learn(digits):
    Y = digits.data - digits.data.mean(axis=0)
    ours = np.mean([km.kmeans(Y, 10, np.random.RandomState(s)).inertia for s in range(8)])
    theirs = np.mean([KMeans(10, n_init=10, random_state=s).fit(Y).inertia_ for s in range(8)])
    assert ours < 1.005 * theirs


def test_weights_are_repetitions(rng):
    Y = rng.standard_normal((60, 3))
    weights = rng.randint(0, 4, size=60).astype(float)
    repeated = np.repeat(Y, weights.astype(int), axis=0)
    a = km.kmeans(Y, 4, np.random.RandomState(1), weights)
    b = km.kmeans(repeated, 4, np.random.RandomState(1))
    assert a.inertia == pytest.approx(b.inertia)
    assert clustering_accuracy(np.repeat(a.labels, weights.astype(int)), b.labels) == 1.0


def test_row_order_does_not_matter(rng):
    Y = rng.standard_normal((200, 4))
    order = rng.permutation(200)
    a = km.kmeans(Y, 5, np.random.RandomState(3))
    b = km.kmeans(Y[order], 5, np.random.RandomState(3))
    assert a.inertia == pytest.approx(b.inertia)
    np.testing.assert_array_equal(a.labels[order], b.labels)


def test_empty_clusters_are_filled(rng):
    Y = rng.standard_normal((50, 2))
    start = np.vstack([Y[:2], np.full((3, 2), 1e3)])  # three centers that no row is near
    result = km.lloyd(Y, start)
    assert np.all(np.bincount(result.labels, minlength=5) > 0)


def test_filling_lowers_inertia_and_takes_no_last_row(rng):
    Y = rng.standard_normal((10, 2))
    labels = np.zeros(10, dtype=np.int32)
    filled = partitions.fill_empty(Y, labels, 4)
    assert np.all(np.bincount(filled, minlength=4) > 0)
    before = np.sum((Y - partitions.centers_of(Y, labels, 4)[labels]) ** 2)
    assert np.sum((Y - partitions.centers_of(Y, filled, 4)[filled]) ** 2) < before


def test_fewer_distinct_rows_than_clusters():
    Y = np.repeat([[0.0, 1.0], [2.0, 0.0]], 5, axis=0)
    result = km.kmeans(Y - Y.mean(axis=0), 4, np.random.RandomState(0))
    assert result.inertia == pytest.approx(0, abs=1e-20)
    assert np.unique(result.labels).size == 2


def test_many_copies_of_few_rows_are_no_trouble(rng):
    """Looking for a row to fill an empty cluster with must not compare all rows with all rows."""
    Y = rng.standard_normal((3, 5))[rng.randint(3, size=100_000)]
    labels = np.zeros(len(Y), dtype=np.int32)
    filled = partitions.fill_empty(Y, labels, 8)
    assert np.unique(filled).size == 3
    assert np.unique(np.column_stack([Y, filled]), axis=0).shape[0] == 3


def test_massless_rows_are_never_centers(rng):
    Y = np.vstack([rng.standard_normal((20, 2)), 100 + rng.standard_normal((20, 2))])
    weights = np.repeat([1.0, 0.0], 20)
    centers = km.plus_plus(Y, 3, 20, rng, weights)
    assert centers.max() < 50


def test_many_rows_start_from_a_sample(monkeypatch):
    rng = np.random.RandomState(0)
    centers = 20 * rng.standard_normal((5, 3))
    truth = rng.randint(5, size=60_000)
    Y = (centers[truth] + rng.standard_normal((60_000, 3))).astype(np.float32)
    seen = []
    original = km.plus_plus
    monkeypatch.setattr(km, "plus_plus", lambda Y, *a: seen.append(len(Y)) or original(Y, *a))
    result = km.kmeans(Y, 5, np.random.RandomState(0))
    assert seen == [20_000]
    assert clustering_accuracy(truth, result.labels) > 0.99


def test_renumbering_keeps_the_partition(rng):
    labels = rng.randint(5, size=100).astype(np.int32)
    permuted = np.array([3, 0, 4, 1, 2], dtype=np.int32)[labels]
    np.testing.assert_array_equal(partitions.renumbered(permuted, labels, 5), labels)


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
def test_dtype_is_kept_where_rows_are_many(rng, dtype):
    Y = rng.standard_normal((100, 3)).astype(dtype)
    assert partitions.assign(Y, Y[:3]).dtype == np.int32
    np.testing.assert_array_equal(partitions.assign(Y, Y[:3])[:3], [0, 1, 2])


def far_clusters(n_clusters, n_rows, rng):
    """Clusters so far apart that squared distances leave no doubt; the last one is a single row."""
    truth = np.concatenate([np.arange(n_rows - 1) % (n_clusters - 1), [n_clusters - 1]])
    Y = 1e4 * rng.standard_normal((n_clusters, 8))[truth] + rng.standard_normal((n_rows, 8))
    return Y - Y.mean(axis=0), truth


@pytest.mark.parametrize("library", [np.asarray, torch.tensor])
def test_a_start_for_many_clusters_hits_every_one_of_them(library, rng):
    Y, truth = far_clusters(60, 6000, rng)
    for start in km.oversampled(library(Y), 60, 3, rng):
        nearest = partitions.assign(start, partitions.centers_of(Y, truth, 60))
        assert np.unique(nearest).size == 60


@pytest.mark.parametrize("library", [np.asarray, torch.tensor])
def test_weights_are_repetitions_in_a_start_for_many_clusters(library, rng):
    Y = rng.standard_normal((900, 3))
    weights = rng.randint(0, 4, size=900).astype(float)
    repeated = np.repeat(Y, weights.astype(int), axis=0)
    a = km.oversampled(library(Y), 60, 2, np.random.RandomState(1), library(weights))
    b = km.oversampled(library(repeated), 60, 2, np.random.RandomState(1))
    np.testing.assert_allclose(a, b)


def test_a_start_on_a_device_keeps_the_known_centers_and_draws_the_others(rng):
    """Of far clusters, one is drawn in each of those that have no center yet; where all have one, none is drawn."""
    Y, truth = far_clusters(60, 6000, rng)
    first = partitions.centers_of(Y, truth, 60)
    for n_known in (25, 60):
        starts = km.oversampled(torch.tensor(Y), 60, 2, rng, None, first[:n_known])
        for start in starts:
            np.testing.assert_array_equal(start[:n_known], first[:n_known])
            np.testing.assert_array_equal(np.sort(partitions.assign(start, first)), np.arange(60))


def test_rows_in_memory_clustered_on_a_device(rng):
    Y, truth = far_clusters(6, 900, rng)
    weights, known = rng.uniform(0.5, 2, size=900), np.where(rng.uniform(size=900) < 0.1, truth, -1).astype(np.int32)
    result = km.kmeans_on(torch.zeros(1), Y, 6, rng, weights, known=known)
    np.testing.assert_array_equal(result, truth)


def test_one_start_for_many_clusters_is_better_than_one_of_kmeans_plus_plus():
    rng = np.random.RandomState(0)
    truth = rng.randint(100, size=8000)
    Y = 2 * rng.standard_normal((100, 16))[truth] + rng.standard_normal((8000, 16))
    Y -= Y.mean(axis=0)
    ours = np.mean([km.kmeans(Y, 100, np.random.RandomState(s), n_restarts=1).inertia for s in range(4)])
    theirs = np.mean([KMeans(100, n_init=1, random_state=s).fit(Y).inertia_ for s in range(4)])
    assert ours < theirs


def test_distances_in_pairs_are_there_once(rng):
    """Between the candidates of many clusters: the largest matrix of the fit."""
    Y = rng.standard_normal((1000, 5))
    km.oversampled(Y, 150, 1, rng)
    tracemalloc.start()
    km.oversampled(Y, 150, 1, rng)
    assert tracemalloc.get_traced_memory()[1] < 1.5 * 8 * 1000**2
    tracemalloc.stop()


def test_a_sample_of_many_clusters_goes_to_rest_before_all_rows_are_looked_at(monkeypatch):
    rng = np.random.RandomState(0)
    Y = (10 * rng.standard_normal((60, 3))[rng.randint(60, size=45_000)] + rng.standard_normal((45_000, 3))).astype(
        "f4"
    )
    seen = []
    original = km.compiled_lloyd
    monkeypatch.setattr(km, "compiled_lloyd", lambda Y, *a: seen.append(len(Y)) or original(Y, *a))
    km.kmeans(Y, 60, np.random.RandomState(0), n_restarts=1)
    assert seen == sorted(seen)
    assert set(seen) == {20_000, 45_000}


def test_restarts_grow_fewer_in_proportion():
    assert [km.fewer_restarts(10, c) for c in (2, 50, 100, 500, 501)] == [10, 10, 5, 1, 0]


def test_only_many_clusters_may_rest_before_their_last_labels_do():
    before = np.zeros(2000, dtype=np.int32)
    for n_moved, few, many in [(0, True, True), (2, False, True), (3, False, False)]:
        after = before.copy()
        after[:n_moved] = 1
        assert partitions.at_rest(before, after, 50) == few
        assert partitions.at_rest(before, after, 51) == many
    absent = (after == 0).astype(float)
    assert partitions.at_rest(before, after, 50, absent)


@pytest.mark.parametrize("draws", [None, km.Draws(3, 4, 0.1)], ids=["careful", "quick"])
@pytest.mark.parametrize("n_sets", [1, 3])
def test_the_same_starts_on_a_device(n_sets, draws):
    """The same numbers are drawn in the same order, and copies of a candidate are not told apart by rounding."""
    rng = np.random.RandomState(0)
    for seed, n_columns in enumerate((5, 20, 60)):
        Y = rng.standard_normal((700, n_columns)) * np.linspace(3, 0.1, n_columns)
        for given in (None, Y[:7]):
            host = km.oversampled(Y, 61, n_sets, np.random.RandomState(seed), None, given, draws)
            there = km.oversampled(torch.tensor(Y), 61, n_sets, np.random.RandomState(seed), None, given, draws)
            np.testing.assert_allclose(there, host, atol=1e-9)


def test_quick_starts_are_nearly_as_good():
    """Several centers at a time: of very many clusters that other fits look for, too."""
    assert km.Draws.suited_to(200, careful=False) == km.Draws.suited_to(200, careful=True)
    assert km.Draws.suited_to(201, careful=False).share > 0
    rng = np.random.RandomState(0)
    Y, _ = far_clusters(250, 5000, rng)
    careful, quick = (km.kmeans(Y, 250, np.random.RandomState(0), careful=one) for one in (True, False))
    assert np.unique(quick.labels).size == 250
    assert quick.inertia < 1.5 * careful.inertia
    for start in km.plus_plus(Y, 250, 2, rng, None, None, km.Draws(3, 4, 0.02)):
        nearest = np.abs(Y[:, None, :1] - start[None, :, :1]).min(axis=0)
        assert nearest.max() == 0  # a center is a row
        assert np.unique(start, axis=0).shape[0] == 250
