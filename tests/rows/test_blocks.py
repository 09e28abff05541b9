"""What is computed on a block, against the formula in its docstring: NumPy, sparse and torch, in both precisions."""

import itertools
import tracemalloc

import array_api_strict
import numpy as np
import pytest
import scipy.sparse as sp
import torch

from jointclust.numerics.graph import distinct_rows, neighbors
from jointclust.rows import blocks
from jointclust.rows.arrays import like, to_host

N, D, C = 23, 5, 4
RNG = np.random.RandomState(0)
X = np.where(RNG.uniform(size=(N, D)) < 0.4, 0.0, RNG.standard_normal((N, D)) + 0.5)
X[7] = 0.0
WEIGHTS = np.where(np.arange(N) % 6 == 0, 0.0, RNG.uniform(0.5, 2, size=N))
MEAN = RNG.standard_normal(D)
MATRIX = RNG.standard_normal((D, 3))
LABELS = RNG.randint(C - 1, size=N).astype(np.int32)  # the last cluster is empty
CENTERS = RNG.standard_normal((C, D))

FORMS = {
    "numpy": np.array,
    "numpy float32": lambda x: x.astype(np.float32),
    "csr": sp.csr_array,
    "csr float32": lambda x: sp.csr_array(x.astype(np.float32)),
    "torch": torch.tensor,
    "torch float32": lambda x: torch.tensor(x.astype(np.float32)),
}
DENSE = [name for name in FORMS if "csr" not in name]
forms = pytest.mark.parametrize("form", FORMS)
dense = pytest.mark.parametrize("form", DENSE)


def beside(values, x):
    """Weights or labels where the block is."""
    return torch.tensor(values) if isinstance(x, torch.Tensor) and values is not None else values


def same(result, expected, form):
    result = result.toarray() if sp.issparse(result) else to_host(result)
    tolerance = 1e-5 if "float32" in form else 1e-12
    np.testing.assert_allclose(result, expected, rtol=tolerance, atol=tolerance * max(1, np.abs(expected).max()))


def choices(*, mean=True):
    """Weights and mean, given or not, each with what they stand for."""
    for weights, m in itertools.product((None, WEIGHTS), (None, MEAN) if mean else (None,)):
        yield weights, m, np.ones(N) if weights is None else weights, 0.0 if m is None else m


@forms
def test_rows_of_length_one(form):
    for scale in (1.0, 1e-30):  # squares of the second are no float32
        lengths = np.linalg.norm(X, axis=1, keepdims=True)
        same(blocks.unit(FORMS[form](scale * X)), X / np.where(lengths > 0, lengths, 1), form)


@forms
def test_sums_over_rows(form):
    x = FORMS[form](X)
    low, high = blocks.column_range(x)
    same(low, X.min(axis=0), form)
    same(high, X.max(axis=0), form)
    for weights, _, w, _ in choices(mean=False):
        same(blocks.column_sums(x, beside(weights, x)), w @ X, form)
        same(blocks.squared_norm(x, beside(weights, x), MEAN), w @ ((X - MEAN) ** 2).sum(axis=1), form)


@forms
def test_products(form):
    x = FORMS[form](X)
    rows = X - MEAN
    same(blocks.gram(x, MEAN), rows @ rows.T, form)
    B = RNG.standard_normal((N, 3))
    for weights, mean, w, m in choices():
        same(blocks.project(x, MATRIX, mean), (X - m) @ MATRIX, form)
        same(blocks.project_transposed(x, beside(B, x), mean), (X - m).T @ B, form)
        if mean is not None or "csr" not in form:  # sparse rows have a mean
            same(blocks.scatter(x, beside(weights, x), mean), (X - m).T @ np.diag(w) @ (X - m), form)


def test_columns_far_from_zero_keep_their_digits():
    """Sparse columns that hardly have zeros, the size of a timestamp: what dense rows give, wherever squares are."""
    x = X.copy()
    x[:, 0] = 1.7e9 + RNG.standard_normal(N)
    x[:, 1] = np.where(np.arange(N) == 5, 0.0, -3e4 + RNG.standard_normal(N))
    x[5, 1] = 0.0
    S, mean = sp.csr_array(x), x.mean(axis=0)
    B = RNG.standard_normal((N, 3))
    for weights in (None, WEIGHTS):
        for one, expected in (
            (blocks.squared_norm(S, weights, mean), blocks.squared_norm(x, weights, mean)),
            (blocks.squared_distances(S, mean), blocks.squared_distances(x, mean)),
            (blocks.scatter(S, weights, mean), blocks.scatter(x, weights, mean)),
            (blocks.gram(S, mean), blocks.gram(x, mean)),
            (blocks.project(S, MATRIX, mean), blocks.project(x, MATRIX, mean)),
            (blocks.project_transposed(S, B, mean), blocks.project_transposed(x, B, mean)),
            (blocks.cluster_sums(S, LABELS, C, weights, mean), blocks.cluster_sums(x, LABELS, C, weights, mean)),
        ):
            np.testing.assert_allclose(one, expected, rtol=1e-11, atol=1e-9)
    for other in (x[:4], sp.csr_array(x[:4])):
        for among in (x, S):
            rows, landmarks = blocks.seen_from(mean, other, among)
            near = [part.toarray() if sp.issparse(part) else part for part in (rows, landmarks)]
            assert max(np.abs(part[:, 0]).max() for part in near) < 10
            assert sp.issparse(landmarks) == sp.issparse(among)
            np.testing.assert_allclose(near[0][:, None] - near[1], x[:4, None] - x, rtol=1e-9, atol=1e-6)


@dense
def test_rows_less_the_mean(form):
    x = FORMS[form](X)
    same(blocks.centred(x, MEAN), X - MEAN, form)
    same(blocks.project(x, None, MEAN), X - MEAN, form)
    same(blocks.squared_lengths(x), (X**2).sum(axis=1), form)
    assert str(blocks.centred(x, None).dtype).endswith("float64")
    assert str(blocks.squared_lengths(x).dtype).endswith("float64")
    assert blocks.project(x, MATRIX, MEAN).shape == (N, 3)
    assert blocks.project(x, MATRIX, MEAN).dtype == x.dtype


@forms
def test_sums_over_clusters(form):
    x, hot = FORMS[form](X), np.eye(C)[LABELS]
    for weights, mean, w, m in choices():
        sums, sizes = blocks.sums_and_sizes(x, beside(LABELS, x), C, beside(weights, x), mean)
        same(sums, (w[:, None] * hot).T @ (X - m), form)
        same(sizes, w @ hot, form)
        same(blocks.cluster_sums(x, beside(LABELS, x), C, beside(weights, x), mean), to_host(sums), form)


@forms
def test_several_sets_of_labels_are_numbered_through(form):
    x, sets = FORMS[form](X), np.column_stack([LABELS, LABELS[::-1]])
    for weights, _, w, _ in choices(mean=False):
        sums, sizes = blocks.sums_and_sizes(x, beside(sets, x), C, beside(weights, x), None)
        hots = [np.eye(C)[sets[:, j]] for j in range(2)]
        same(sums, np.vstack([(w[:, None] * hot).T @ X for hot in hots]), form)
        same(sizes, np.concatenate([w @ hot for hot in hots]), form)
        same(
            blocks.cluster_sizes(beside(sets, x), C, beside(weights, x)), np.concatenate([w @ hot for hot in hots]), ""
        )
        same(blocks.indicator(sets, C, weights), np.vstack([(w[:, None] * hot).T for hot in hots]), "")


def test_float32_sums_over_many_rows_are_float64():
    """Two stretches of rows and a bit, each in float32, are added in float64."""
    n = 2**14 + 17
    y = torch.tensor(RNG.uniform(1, 2, size=(n, 2)), dtype=torch.float32)
    labels = np.arange(n) % 3
    sums, sizes = blocks.sums_and_sizes(y, torch.tensor(labels), 3, None, None)
    assert sums.dtype == sizes.dtype == torch.float64
    expected = [to_host(y).astype(np.float64)[labels == k].sum(axis=0) for k in range(3)]
    np.testing.assert_allclose(to_host(sums), expected, rtol=1e-5)
    np.testing.assert_array_equal(to_host(sizes), np.bincount(labels))


@dense
def test_nearest_centers(form):
    y = FORMS[form](X)
    sets = np.stack([CENTERS, CENTERS[::-1]])
    flat = sets.reshape(-1, D)
    result = blocks.nearest(y, like(flat, y), like(0.5 * (flat**2).sum(axis=1), y), 2)
    distances = ((X[:, None, None] - sets) ** 2).sum(axis=3)
    np.testing.assert_array_equal(to_host(result), distances.argmin(axis=2))
    tied = np.repeat(CENTERS[:1], 3, axis=0)
    first = blocks.nearest(y, like(tied, y), like(np.zeros(3), y), 1)
    assert (to_host(first) == 0).all()


@dense
def test_distances_from_centers(form):
    y = FORMS[form](X)
    labels, expected = beside(LABELS, y), np.linalg.norm(X - CENTERS[LABELS], axis=1)
    same(blocks.residuals(y, labels, CENTERS), expected, form)
    for weights, _, w, _ in choices(mean=False):
        order = np.argsort(-np.where(w > 0, expected, 0), kind="stable")[:10]
        points, own, distance = blocks.farthest(y, labels, CENTERS, beside(weights, y), 10)
        same(points, X[order], form)
        np.testing.assert_array_equal(to_host(own), LABELS[order])
        same(distance, expected[order] ** 2, form)
    on_center = CENTERS.copy()
    on_center[LABELS[0]] = X[0] * (1 + 1e-9)
    _, _, distance = blocks.farthest(y[:1], labels[:1], on_center, None, 1)
    assert to_host(distance) == [0], "a row on its center, up to rounding, is not to be moved"


@dense
def test_rows_at_points(form):
    twice = np.repeat(X[:6], 2, axis=0)
    y, labels = FORMS[form](twice), (np.arange(12) % 2).astype(np.int32)
    points, own = to_host(y)[[0, 5]], labels[[0, 5]]  # row 1, at the same point as row 0, is in the other cluster
    for weights in (None, np.arange(12.0)):
        mass = blocks.mass_at(y, beside(labels, y), points, own, beside(weights, y))
        np.testing.assert_allclose(to_host(mass), [1, 1] if weights is None else [0, 5])
    moved = blocks.moved_to(y, beside(labels, y), points, own, np.array([7, 8]))
    expected = labels.copy()
    expected[[0, 5]] = 7, 8
    np.testing.assert_array_equal(to_host(moved), expected)


@pytest.mark.parametrize("where", [np.array, torch.tensor])
def test_comparing_labels(where):
    other = np.roll(LABELS, 1)
    a, b = where(LABELS), where(other)
    table = np.zeros((C, C))
    np.add.at(table, (LABELS, other), 1)
    np.testing.assert_array_equal(to_host(blocks.confusion(a, b, C)), table)
    differ = other != LABELS
    assert float(blocks.n_changed(a, b, None)) == differ.sum()
    assert float(blocks.n_changed(a, b, where(WEIGHTS))) == (differ & (WEIGHTS > 0)).sum()


def test_numbers_of_rows_draw_the_same_however_they_are_cut():
    numbers = np.arange(20_000)
    whole = blocks.uniform(numbers, 7)
    np.testing.assert_array_equal(np.concatenate([blocks.uniform(part, 7) for part in np.split(numbers, 5)]), whole)
    assert ((whole >= 0) & (whole < 1)).all()
    np.testing.assert_allclose(np.histogram(whole, 10, (0, 1))[0], 2000, rtol=0.1)
    assert abs(np.corrcoef(whole, blocks.uniform(numbers, 8))[0, 1]) < 0.05
    assert abs(np.corrcoef(whole[1:], whole[:-1])[0, 1]) < 0.05


@pytest.mark.parametrize("form", ["numpy", "torch"])
def test_rows_by_clusters_are_looked_at_in_stretches(form, rng, monkeypatch):
    x, labels, weights = rng.standard_normal((500, 3)), rng.randint(7, size=500).astype(np.int32), rng.uniform(size=500)
    arrays = [x, labels, weights, 2 * rng.standard_normal((7, 3))]
    x, labels, weights, centers = arrays if form == "numpy" else [torch.from_numpy(part) for part in arrays]

    def everything():
        sums = blocks.sums_and_sizes(x, labels, 7, weights, None)
        nearest = blocks.nearest(x, centers, 0.5 * (centers**2).sum(1), 1)
        return [to_host(part) for part in (*sums, blocks.cluster_sizes(labels, 7, weights), nearest)]

    whole = everything()
    for name, value in {"SHORT": 16, "HOT": 16 * 7, "CACHED": 64 * 7}.items():
        monkeypatch.setattr(blocks, name, value)
    for one, other in zip(whole, everything(), strict=True):
        np.testing.assert_allclose(one, other)


@pytest.mark.parametrize("library", [np.asarray, torch.tensor, array_api_strict.asarray])
def test_looked_up(library):
    """Values between points of each column, beyond them, at them and where points repeat; and the largest of a row."""
    points = np.sort(RNG.standard_normal((12, 3)) * [1.0, 1e-6, 1e6], axis=0)
    points[7:, 1] = points[7, 1]  # a column of fewer values has its last one again
    points[:, 2] = 5.0
    values = np.sort(RNG.standard_normal((12, 3)), axis=0)
    values[7:, 1], values[:, 2] = values[7, 1], 0.5
    x = np.vstack([points, points[:-1] / 2 + points[1:] / 2, points[[0]] - 1, points[[-1]] + 1])
    expected = np.column_stack([np.interp(x[:, j], points[:, j], values[:, j]) for j in range(3)])
    np.testing.assert_allclose(to_host(blocks.interpolated(library(x), points, values)), expected, atol=1e-9)
    index = to_host(blocks.largest(library(x), 2))
    np.testing.assert_array_equal(np.sort(np.take_along_axis(x, index, axis=1), axis=1), np.sort(x, axis=1)[:, -2:])


@pytest.mark.parametrize("library", [torch.tensor, array_api_strict.asarray])
def test_neighbours_on_a_device(library):
    """Those of the host, the first ones where several are equally near."""
    among = np.vstack([RNG.standard_normal((60, 4)), np.eye(4), -np.eye(4)])
    rows = np.vstack([np.zeros((1, 4)), RNG.standard_normal((40, 4)), among[:5]])
    expected = neighbors(rows, among, 5)
    np.testing.assert_array_equal(to_host(neighbors(library(rows), among, 5)), expected)
    near = np.linalg.norm(rows[:, None] - among, axis=2)
    np.testing.assert_array_equal(expected, np.lexsort((np.tile(np.arange(68), (46, 1)), near.round(9)), axis=1)[:, :5])


def test_very_many_columns_are_centred_in_stretches():
    """The same to rounding, and no second matrix; equal rows are found by their bytes."""
    X = np.repeat(RNG.standard_normal((4, 60_000)), 2, axis=0) + 5.0
    basis, mean = RNG.standard_normal((60_000, 3)), X.mean(axis=0)
    tracemalloc.start()
    found, lengths, (first, which) = blocks.project(X, basis, mean), blocks.squared_distances(X, mean), distinct_rows(X)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < 0.75 * X.nbytes
    np.testing.assert_allclose(found, (X - mean) @ basis, rtol=1e-12, atol=1e-9)
    np.testing.assert_allclose(lengths, ((X - mean) ** 2).sum(axis=1), rtol=1e-12)
    assert (first.tolist(), which.tolist()) == ([0, 2, 4, 6], [0, 0, 1, 1, 2, 2, 3, 3])
