"""A mixture of Gaussian distributions, and how well it describes the density of rows."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from scipy.linalg import cholesky, solve_triangular
from scipy.special import digamma, gammaln, logsumexp

from jointclust.numerics.graph import neighbors
from jointclust.numerics.kmeans import kmeans
from jointclust.types import Float, Labels

# Steps from each start; most steps from the best of them; the gain of log-likelihood that ends them.
_FIRST_STEPS, _STEPS, _GAIN = 10, 100, 1e-4
# Share of the variance that is added to all covariances.
_RIDGE = 1e-6
# The neighbour whose distance estimates the density at a row, and the least distance in units of the spread.
_NEIGHBOR, _LEAST = 4, 1e-7


class Mixture(NamedTuple):
    """Shares, means and covariances of the components, and the mean log-likelihood of the rows."""

    shares: Float
    means: Float
    covariances: Float
    likelihood: float

    def log_densities(self, X: Float) -> Float:
        """The log of each component's share of the density at each row, of shape (n_samples, n_components)."""
        n_columns, densities = X.shape[1], np.empty((len(X), self.shares.size))
        for number, (mean, covariance) in enumerate(zip(self.means, self.covariances, strict=True)):
            factor = cholesky(covariance, lower=True)
            whitened = solve_triangular(factor, (X - mean).T, lower=True)
            densities[:, number] = -0.5 * np.sum(whitened**2, axis=0) - np.log(factor.diagonal()).sum()
        return densities + np.log(self.shares) - 0.5 * n_columns * np.log(2 * np.pi)

    def labels(self, X: Float) -> Labels:
        """The most probable component of each row."""
        return self.log_densities(X).argmax(axis=1).astype(np.int32)


def fit_mixture(
    X: Float, n_components: int, mass: Float, rng: np.random.RandomState, n_starts: int, given: list[Labels]
) -> Mixture:
    """The mixture of the largest likelihood, by expectation and maximisation from k-means and from given labels."""
    ridge = _RIDGE * float(np.average((X - np.average(X, axis=0, weights=mass)) ** 2, axis=0, weights=mass).mean())
    starts = [kmeans(X, n_components, rng, mass, n_restarts=3).labels for _ in range(n_starts)] + given
    mixtures = [_ascend(X, mass, np.eye(n_components)[labels], ridge, _FIRST_STEPS)[0] for labels in starts]
    best = max(mixtures, key=lambda mixture: mixture.likelihood)
    return _ascend(X, mass, _memberships(best, X)[0], ridge, _STEPS)[0]


def _memberships(mixture: Mixture, X: Float) -> tuple[Float, Float]:
    """Probabilities of the components at each row, and the log of the density there."""
    logs = mixture.log_densities(X)
    density = logsumexp(logs, axis=1, keepdims=True)
    return np.exp(logs - density), density[:, 0]


def _ascend(X: Float, mass: Float, member: Float, ridge: float, n_steps: int) -> tuple[Mixture, Float]:
    """Maximise and expect in turn, from probabilities of the components at each row."""
    before = -np.inf
    for _ in range(n_steps):
        mixture = _maximised(X, mass[:, None] * member, ridge)
        member, density = _memberships(mixture, X)
        mixture = mixture._replace(likelihood=float(np.average(density, weights=mass)))
        if mixture.likelihood - before < _GAIN:
            break
        before = mixture.likelihood
    return mixture, member


def _maximised(X: Float, weights: Float, ridge: float) -> Mixture:
    """The mixture of the largest likelihood for weights of the rows in each component."""
    sizes = np.maximum(weights.sum(axis=0), np.finfo(float).eps * weights.sum())
    means = (weights.T @ X) / sizes[:, None]
    covariances = np.empty((sizes.size, X.shape[1], X.shape[1]))
    for number, mean in enumerate(means):
        gap = X - mean
        covariances[number] = (weights[:, number, None] * gap).T @ gap / sizes[number]
    covariances[:, range(X.shape[1]), range(X.shape[1])] += ridge + np.finfo(float).tiny
    return Mixture(sizes / sizes.sum(), means, covariances, -np.inf)


def divergence(mixture: Mixture, X: Float, mass: Float) -> float:
    """The Kullback-Leibler divergence of the mixture from the density of distinct rows, per row.

    The density is that of the nearest neighbours (Kozachenko and Leonenko, 1987). The likelihood of a fitted mixture is
    too large by half the number of its parameters, on average over all rows, which is taken into account.
    """
    n, n_columns = X.shape
    n_neighbors = min(_NEIGHBOR, n - 1)
    index = neighbors(X, X, n_neighbors + 1)
    radius = np.linalg.norm(X - X[index[:, -1]], axis=1)
    radius = np.maximum(radius, _LEAST * float(np.sqrt(X.var(axis=0).sum())) + np.finfo(float).tiny)
    volume = 0.5 * n_columns * np.log(np.pi) - gammaln(0.5 * n_columns + 1) + n_columns * np.log(radius)
    density = digamma(n_neighbors) + np.log(mass[index].mean(axis=1) / mass.sum()) - volume
    n_parameters = mixture.shares.size * (1 + n_columns + n_columns * (n_columns + 1) / 2) - 1
    return float(np.average(density, weights=mass)) - mixture.likelihood + 0.5 * n_parameters / n
