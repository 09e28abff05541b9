"""The spread of rows about their mean, wherever the rows are."""

from __future__ import annotations

import numpy as np
from scipy.sparse.linalg import LinearOperator, eigsh

from jointclust.rows import Swept, blocks, is_remote, sample, sweep
from jointclust.rows.arrays import like, namespace, to_host
from jointclust.types import Array, Float, Sweepable

# Columns up to which the scatter is formed; beyond, Lanczos needs only its products, a pass each.
_FEW = 64


def leading_direction_share(Y: Sweepable, weights: Sweepable | None) -> float:
    """Largest eigenvalue of the (weighted) mean of ``y y' / |y|^2`` over the rows that are not zero.

    1 where all rows lie on one line through the origin, and where there are none.
    """
    d = Y.shape[1]
    total = float(sweep(lambda y, w: Swept(sums=[namespace(y).sum(_directions(y, w)[1])]), Y, weights, width=d).sums[0])
    if total == 0 or d == 1:
        return 1.0
    if d <= _FEW or is_remote(Y):
        sums = sweep(lambda y, w: Swept(sums=[blocks.scatter(*_directions(y, w), None)]), Y, weights, width=d).sums[0]
        return float(np.linalg.eigvalsh(sums / total)[-1])

    def multiply(x: Float) -> Float:
        def product(y: Array, w: Array | None) -> Swept:
            units, present = _directions(y, w)
            return Swept(sums=[units.T @ (present * (units @ like(x.ravel(), units)))])

        return sweep(product, Y, weights, width=d).sums[0] / total

    operator = LinearOperator((d, d), matvec=multiply, dtype=np.float64)
    start = np.random.RandomState(0).standard_normal(d)
    return float(eigsh(operator, 1, which="LA", v0=start, tol=1e-3, return_eigenvectors=False)[0])


def _directions(y: Array, w: Array | None) -> tuple[Array, Array]:
    """Rows scaled to length one, and their weights; rows of zeros have none."""
    xp, y = namespace(y), blocks.float64(y)
    units = blocks.unit(y)
    present = blocks.float64(xp.max(xp.abs(y), axis=1) > 0)
    return units, present if w is None else present * w


def weighted_median(values: Sweepable, weights: Array | None) -> float:
    """The middle value when each is repeated as often as its weight says; of remote rows, that of a sample."""
    if is_remote(values):
        values, weights = sample(values, 100_000, np.random.RandomState(0), weights)
    values = to_host(values)
    weights = np.ones_like(values) if weights is None else to_host(weights)
    order = np.argsort(values, kind="stable")
    cumulative = np.cumsum(weights[order])
    return float(values[order][np.searchsorted(cumulative, 0.5 * cumulative[-1])])
