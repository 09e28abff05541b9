"""The mixture, against SciPy's density and scikit-learn's steps; its divergence, where it is known."""

import numpy as np
import pytest
from scipy.stats import multivariate_normal
from sklearn.mixture import GaussianMixture

from jointclust.numerics.mixture import divergence, fit_mixture


@pytest.fixture(scope="module")
def fitted():
    rng = np.random.RandomState(0)
    X = np.vstack(
        [rng.standard_normal((600, 2)) @ [[2.0, 1.0], [0.0, 0.5]], rng.standard_normal((200, 2)) + np.array([6, 0])]
    )
    return X, fit_mixture(X, 2, np.ones(800), rng, 2, [])


def test_the_likelihood_is_the_largest(fitted):
    X, mixture = fitted
    parts = [
        share * multivariate_normal(mean, covariance).pdf(X)
        for share, mean, covariance in zip(mixture.shares, mixture.means, mixture.covariances, strict=True)
    ]
    np.testing.assert_allclose(np.exp(mixture.log_densities(X)), np.transpose(parts))
    assert mixture.likelihood == pytest.approx(np.log(np.sum(parts, axis=0)).mean())
    reference = GaussianMixture(2, n_init=3, random_state=0, tol=1e-6).fit(X)
    assert mixture.likelihood == pytest.approx(reference.score(X), abs=1e-3)


def test_a_weight_is_a_repetition(rng):
    X, mass = rng.standard_normal((80, 2)), rng.randint(1, 4, 80)
    start = (X[:, 0] > 0).astype(np.int32)
    weighted = fit_mixture(X, 2, mass.astype(float), rng, 0, [start])
    repeated = fit_mixture(np.repeat(X, mass, axis=0), 2, np.ones(mass.sum()), rng, 0, [np.repeat(start, mass)])
    np.testing.assert_allclose(weighted.means, repeated.means)
    assert weighted.likelihood == pytest.approx(repeated.likelihood)


def test_divergence(fitted):
    """Near zero for a mixture, whatever the unit; for a ring about the gain of a density on it."""
    X, mixture = fitted
    ones, rng = np.ones(len(X)), np.random.RandomState(0)
    assert abs(divergence(mixture, X, ones)) < 0.08
    scaled = mixture._replace(likelihood=mixture.likelihood - 2 * np.log(1000))
    assert divergence(scaled, 1000 * X, 3 * ones) == pytest.approx(divergence(mixture, X, ones))
    angle = rng.uniform(0, 2 * np.pi, 800)
    ring = np.column_stack([np.cos(angle), np.sin(angle)]) + 0.05 * rng.standard_normal((800, 2))
    assert divergence(fit_mixture(ring, 2, ones, rng, 2, []), ring, ones) > 0.5
