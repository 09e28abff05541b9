import numpy as np
import pytest
import scipy.linalg

import jointclust as jc
from jointclust import LDAKMeans
from jointclust.metrics import clustering_accuracy
from naive import scatter

quiet = pytest.mark.filterwarnings("ignore::jointclust.CollapseWarning")


@pytest.mark.parametrize("variance", [None, 0.9])
@pytest.mark.parametrize("n_components", [None, 3, 12])
def test_projection_solves_the_generalised_eigenproblem(digits, variance, n_components):
    X = digits.data
    model = LDAKMeans(10, n_components=n_components, variance=variance, random_state=0).fit(X)
    coordinates = jc.decompose(X, variance=variance)
    total, within = scatter(coordinates.scores, model.labels_, 10)
    method = model._method(coordinates, model.components_.shape[0], np.random.RandomState(0))
    Q = method.project(coordinates.clusters(model.labels_, 10))
    regular = within + model.ridge_ * np.eye(coordinates.rank)
    np.testing.assert_allclose(Q.T @ regular @ Q, np.eye(Q.shape[1]), atol=1e-8)
    expected = scipy.linalg.eigh(total - within, regular, eigvals_only=True)[::-1][: Q.shape[1]]
    np.testing.assert_allclose(np.diag(Q.T @ (total - within) @ Q), expected, atol=1e-7 * expected[0])


def test_fitted_model_is_consistent(digits):
    X = digits.data
    model = LDAKMeans(10, random_state=0).fit(X)
    np.testing.assert_array_equal(model.labels_, model.predict(X))
    assert model.score(X) == pytest.approx(model.objective_, rel=1e-9)
    assert len(model.objective_history_) == model.n_iter_
    assert model.objective_history_.max() == model.objective_
    assert model.components_.shape == (9, 64)
    back = model.inverse_transform(model.transform(X))
    np.testing.assert_allclose(model.transform(back), model.transform(X), atol=1e-8)


def test_automatic_ridge_is_relative(digits):
    coordinates = jc.decompose(digits.data, variance=0.9)
    model = LDAKMeans(10, random_state=0).fit(digits.data)
    assert model.ridge_ == pytest.approx(1e-3 * coordinates.eigenvalues.mean())
    assert LDAKMeans(10, ridge=5.0, random_state=0).fit(digits.data).ridge_ == 5.0


def test_invariant_to_scale_and_rotation(digits, rng):
    X = digits.data[:500]
    plain = LDAKMeans(10, random_state=0).fit(X)
    rotation = np.linalg.qr(rng.standard_normal((64, 64)))[0]
    moved = LDAKMeans(10, random_state=0).fit(100 * X @ rotation + 5)
    assert clustering_accuracy(plain.labels_, moved.labels_) == 1
    assert moved.objective_ == pytest.approx(plain.objective_, rel=1e-6)


def test_singular_within_scatter_is_no_obstacle(rng):
    truth = np.arange(60) % 3
    X = rng.standard_normal((60, 500)) + 2 * rng.standard_normal((3, 500))[truth]
    assert clustering_accuracy(truth, LDAKMeans(3, random_state=0).fit(X).labels_) == 1


@quiet
@pytest.mark.parametrize("ridge", [1e-300, 1e-12, 1.0])
def test_objective_stays_sane_on_perfect_clusters(rng, ridge):
    X = np.repeat(rng.standard_normal((3, 5)), 10, axis=0)
    model = LDAKMeans(3, ridge=ridge, variance=None, random_state=0).fit(X)
    assert model.objective_ > 0
    assert np.unique(model.labels_).size == 3


@quiet
def test_rows_without_weight_change_nothing(rng):
    X, _ = jc.datasets.mixture(300, 40, 6, random_state=1)
    more = np.vstack([X, X[:60] + rng.standard_normal((60, 40))])
    weights = np.repeat([1.0, 0.0], [300, 60])
    for seed in range(5):
        plain = LDAKMeans(6, random_state=seed).fit(X)
        padded = LDAKMeans(6, random_state=seed).fit(more, sample_weight=weights)
        assert padded.n_iter_ == plain.n_iter_
        np.testing.assert_array_equal(padded.labels_[:300], plain.labels_)


def test_collapse_is_said(rng):
    X = rng.standard_normal((40, 200))
    with pytest.warns(jc.CollapseWarning, match="variance=0.9"):
        LDAKMeans(4, variance=None, ridge=1e-9, random_state=0).fit(X)


@quiet
def test_nuisance_directions_mislead_it_less_than_kmeans():
    gains = []
    for seed in range(5):
        X, y = jc.datasets.mixture(1500, 100, 8, separation=6, n_nuisance=10, nuisance_scale=4, random_state=seed)
        coordinates = jc.decompose(X)
        plain = jc.DiscriminativeEmbeddedClustering(8, trade_off=0, random_state=seed).fit(coordinates)
        ours = LDAKMeans(8, random_state=seed).fit(coordinates)
        gains.append(clustering_accuracy(y, ours.labels_) - clustering_accuracy(y, plain.labels_))
    assert np.mean(gains) > 0.1


def test_many_clusters_end_with_the_first_step_that_finds_nothing_better():
    X, _ = jc.datasets.mixture(3000, 72, 60, separation=9, n_nuisance=8, random_state=0)
    model = LDAKMeans(60, random_state=0).fit(X)
    assert model.converged_
    assert np.all(np.diff(model.objective_history_[:-1]) > 0)
