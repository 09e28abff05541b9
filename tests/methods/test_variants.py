"""Other forms of the papers' methods: constraints, scales, readings, losses."""

import numpy as np
import pytest
import scipy.linalg
from test_scoring import random_data

import jointclust as jc
import naive
from jointclust.subspace.directions import orthogonal_regression

DEC, URC, EC = jc.DiscriminativeEmbeddedClustering, jc.UncorrelatedRidgeClustering, jc.RobustEmbeddedClustering
quiet = pytest.mark.filterwarnings(
    "ignore::jointclust.PlainKMeansWarning",
    "ignore::jointclust.CollapseWarning",
    "ignore::sklearn.exceptions.ConvergenceWarning",
)
SEEDS = range(20)


def coordinates(X):
    here = jc.decompose(X)
    return here, here.leading(here.rank)


# -- orthogonal ridge regression ----------------------------------------------------------------------------------


@quiet
def test_orthogonal_ridge_against_the_textbook():
    for seed in SEEDS:
        X, P = random_data(seed, 40, 8), np.random.RandomState(seed).dirichlet(np.ones(3), 40)
        model = URC(3, constraint="orthogonal", ridge=2.0, init=P, max_iter=6, tol=0).fit(X)
        soft, _, history = naive.orthogonal_ridge(coordinates(X)[1], P, 6, 2.0)
        np.testing.assert_allclose(model.objective_history_, history, rtol=1e-8)
        np.testing.assert_allclose(model.soft_labels_, soft, atol=1e-6)
        assert np.all(np.diff(history) <= 1e-9 * history[0])
        np.testing.assert_allclose(model.components_ @ model.components_.T, np.eye(3), atol=1e-9)
        assert model.objective_ >= model.lower_bound_


@quiet
def test_the_ridge_is_a_constant_under_the_orthogonal_constraint():
    X, given = random_data(0), {"constraint": "orthogonal", "max_iter": 20, "random_state": 0}
    none, large = (URC(4, ridge=ridge, **given).fit(X) for ridge in (0, 50.0))
    np.testing.assert_allclose(none.soft_labels_, large.soft_labels_, atol=1e-9)
    assert large.objective_ == pytest.approx(none.objective_ + 50 * 4)


def test_power_iteration_finds_the_orthogonal_regression(rng):
    """No orthonormal matrix near the solution has a smaller objective."""
    diagonal, linear = np.sort(rng.uniform(1, 5, 8))[::-1], 3 * rng.standard_normal((8, 3))

    def objective(Z):
        return np.sum(diagonal[:, None] * Z**2) - 2 * np.sum(Z * linear)

    start = np.eye(8, 3)
    result = orthogonal_regression(diagonal, linear, start, n_steps=5000)
    np.testing.assert_allclose(result.T @ result, np.eye(3), atol=1e-9)
    assert objective(result) <= objective(start)
    near = [np.linalg.qr(result + 1e-3 * rng.standard_normal((8, 3))) for _ in range(50)]
    assert all(objective(q * np.sign(np.diag(r))) >= objective(result) - 1e-9 for q, r in near)


# -- DisCluster's scales ------------------------------------------------------------------------------------------


def test_total_scale_against_the_textbook():
    """``eigh(S_b, S_t + ridge I)``: the subspace and the ratio of the other scale, with a scale of its own."""
    for seed in SEEDS:
        here, T = coordinates(random_data(seed, 50, 10))
        labels = (np.arange(50) % 4).astype(np.int32)
        total, within = naive.scatter(T, labels, 4)
        values, vectors = scipy.linalg.eigh(total - within, total + 5.0 * np.eye(len(total)))
        methods = (
            jc.DisCluster(4, ridge=5.0, scale=scale)._method(here, 3, np.random.RandomState(0))
            for scale in ("within", "total")
        )
        ratios, result = zip(*(_ratio(method, here.clusters(labels, 4)) for method in methods), strict=True)
        np.testing.assert_allclose(np.abs(vectors[:, :-4:-1]), np.abs(result[1]), atol=1e-8)
        np.testing.assert_allclose((result[1].T * (here.eigenvalues + 5.0)) @ result[1], np.eye(3), atol=1e-9)
        top = values[:-4:-1]
        np.testing.assert_allclose(ratios, np.sum(top / (1 - top)), rtol=1e-8)


def _ratio(method, clusters):
    projection = method.project(clusters)
    return method.objective(clusters, projection), projection


def test_the_scale_reaches_the_embedding(blobs):
    X, y = blobs
    model = jc.DisCluster(4, ridge=5.0, scale="total", random_state=0).fit(X)
    assert jc.metrics.clustering_accuracy(y, model.labels_) == 1
    shape = model.components_ @ (np.cov(X.T, bias=True) * len(X) + 5.0 * np.eye(30)) @ model.components_.T
    np.testing.assert_allclose(shape, np.eye(3), atol=1e-8)


# -- DEC's rules as printed ---------------------------------------------------------------------------------------


@quiet
def test_comparison_as_printed_is_the_fixed_rule():
    """Ten random labellings never beat the labels that the centroids come from."""
    for seed in SEEDS:
        X, start = random_data(seed, 60, 12), (np.arange(60) % 4).astype(int)
        given = {"trade_off": 2.0, "n_components": 3, "init": start, "random_state": 0}
        fixed = DEC(4, update_rule="fixed", **given).fit(X)
        printed = DEC(4, reading="as printed", **given).fit(X)
        np.testing.assert_array_equal(printed.objective_history_, fixed.objective_history_)
        assert np.all(np.diff(printed.objective_history_) >= -1e-9)
        _, objective = naive.dec(coordinates(X)[1], start, 4, 3, 2.0)
        assert printed.objective_ == pytest.approx(objective, rel=1e-8)


@quiet
def test_minimization_as_printed_takes_random_labels_whatever_they_cost(rng):
    """Even in a group all rows have the label drawn for it, and known labels stay."""
    X, groups, known = random_data(0, 60, 12), np.arange(60) // 2, np.where(np.arange(60) < 8, np.arange(60) // 4, -1)
    model = DEC(4, n_components=3, update_rule="minimization", reading="as printed", max_iter=8, random_state=0)
    history = model.fit(X, known_labels=known, groups=groups).objective_history_
    assert np.any(np.diff(history) < 0)
    assert len(np.unique(model.labels_.reshape(-1, 2) @ [1, -1])) == 1
    np.testing.assert_array_equal(model.labels_[:8], known[:8])


# -- EC's capped loss ---------------------------------------------------------------------------------------------


@quiet
def test_capped_loss_against_the_textbook():
    for seed in SEEDS:
        X = random_data(seed, 60, 8)
        X[::12] += 20 * np.random.RandomState(seed).standard_normal((5, 8))
        _, T = coordinates(X)
        start = jc.RobustKMeans(3, random_state=seed).fit(X).labels_
        model = EC(3, n_components=4, variance=None, loss="capped", cap=4.0, init=start, max_iter=2000, tol=0).fit(X)
        _, objective = naive.robust(T, start, 3, 4, model.residual_floor_, True, cap=4.0)
        assert model.objective_ == pytest.approx(objective, rel=1e-8)
        assert np.all(np.diff(model.objective_history_) <= 1e-9 * objective)
        residuals = np.linalg.norm(model.transform(X) - model.cluster_centers_[model.labels_], axis=1)
        assert model.objective_ == pytest.approx(np.minimum(residuals, 4.0).sum(), rel=1e-6)
        np.testing.assert_array_equal(model.sample_weights_ == 0, residuals >= 4.0)


@quiet
def test_a_cap_beyond_all_rows_is_no_cap(blobs):
    X, _ = blobs
    plain, capped = EC(4, random_state=0).fit(X), EC(4, loss="capped", cap=1e6, random_state=0).fit(X)
    assert capped.objective_ == plain.objective_
    np.testing.assert_array_equal(capped.labels_, plain.labels_)


def test_enormous_outliers_do_not_pull_under_the_cap(blobs, rng):
    """The clusters of the other rows, and no weight for the far ones."""
    X, y = blobs
    far = np.arange(300) % 20 == 0
    model = EC(4, loss="capped", init=y, variance=None, n_components=20)
    model.fit(X + 60.0 * far[:, None] * rng.standard_normal((300, 30)))
    np.testing.assert_array_equal(model.sample_weights_ == 0, far)
    assert jc.metrics.clustering_accuracy(y[~far], model.labels_[~far]) == 1


@quiet
def test_bad_caps(blobs):
    X, _ = blobs
    with pytest.raises(ValueError, match="robust=True"):
        EC(4, robust=False, loss="capped").fit(X)
    with pytest.warns(UserWarning, match="not used by loss='l21'"):
        EC(4, cap=3.0).fit(X)
    with pytest.warns(jc.CollapseWarning, match="Raise it"):
        EC(4, loss="capped", cap=0.1, random_state=0).fit(X)
