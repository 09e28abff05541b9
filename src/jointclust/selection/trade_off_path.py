"""Fits DEC for many trade-offs from one decomposition."""

from __future__ import annotations

import time
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike
from sklearn.base import clone

from jointclust.exceptions import collected
from jointclust.methods.discriminative import DiscriminativeEmbeddedClustering
from jointclust.numerics.partitions import adjusted_rand
from jointclust.subspace.coordinates import Coordinates
from jointclust.subspace.decomposition import decompose
from jointclust.subspace.directions import TRADE_OFFS
from jointclust.types import Labels

__all__ = ["TradeOffPath", "trade_off_path"]

DEFAULT_TRADE_OFFS = (0.0, 0.5, 1.0, 1.5, 2.0, 3.0, 4.0, 6.0, 11.0, 18.0, np.inf)


@dataclass(frozen=True, eq=False)
class TradeOffPath:
    """Fitted estimators, by dimension and rising trade-off, with a table of their results.

    Attributes
    ----------
    estimators : list of DiscriminativeEmbeddedClustering
        One per dimension and trade-off.
    table : dict of lists
        One row per estimator: trade_off, n_components, objective, variance_share (of the total variance, in the
        subspace), within_share (of the subspace's variance, inside clusters), agreement (adjusted Rand index with the
        labels at the previous trade-off), n_iter, converged, seconds, warnings. ``pandas.DataFrame(path.table)``.
    """

    estimators: list[DiscriminativeEmbeddedClustering]
    table: dict[str, list[Any]]

    def __len__(self) -> int:
        return len(self.estimators)


def trade_off_path(
    X: ArrayLike | Coordinates,
    n_clusters: int,
    *,
    trade_offs: float | str | Iterable[float | str] = DEFAULT_TRADE_OFFS,
    n_components: int | Iterable[int | None] | None = None,
    sample_weight: ArrayLike | None = None,
    warm_start: bool = True,
    **parameters: Any,
) -> TradeOffPath:
    r"""Fit DEC for many trade-offs and dimensions, sharing one decomposition and warm starts.

    .. math:: \max_{Q'Q = I,\, F,\, G} \; \mathrm{tr}(Q'S_tQ) - \lambda \lVert XQ - FG \rVert_F^2
              \quad \text{for all } \lambda \text{ and all dimensions of } Q

    Parameters
    ----------
    X : array-like or sparse matrix of shape (n_samples, n_features), or Coordinates
        The data, or its coordinates from :func:`decompose`.
    n_clusters : int
        Number of clusters.
    trade_offs : iterable of floats or names
        Lambdas; they are visited in rising order.
    n_components : int, None, or an iterable of these, default=None
        Dimensions of the subspace.
    sample_weight : array-like of shape (n_samples,), optional
        Weights of the rows.
    warm_start : bool, default=True
        Start from the labels of the previous trade-off, not from PCA each time; with ``n_init`` above 1 that is one of
        the runs.
    **parameters
        More parameters of :class:`DiscriminativeEmbeddedClustering`.

    Returns
    -------
    path : TradeOffPath
        The fitted estimators and a table. Warnings are in the table instead of being raised one by one.

    Examples
    --------
    >>> import jointclust as jc
    >>> X, y = jc.datasets.two_gaussians(random_state=0)
    >>> path = jc.trade_off_path(X, 2, trade_offs=[0, 2, 5], random_state=0)
    >>> path.table["trade_off"]
    [0.0, 2.0, 5.0]
    """
    if isinstance(X, Coordinates):
        if sample_weight is not None:
            raise ValueError("sample_weight belongs to the coordinates: pass it to decompose.")
        coordinates = X
    else:
        needed = {key: parameters[key] for key in ("max_rank", "random_state") if key in parameters}
        coordinates = decompose(X, sample_weight, **needed)
    single = isinstance(trade_offs, str) or not isinstance(trade_offs, Iterable)
    values = sorted(map(_number, [trade_offs] if single else trade_offs))  # type: ignore[arg-type]
    if not values:
        raise ValueError("trade_offs is empty: give at least one.")
    dimensions = list(n_components) if isinstance(n_components, Iterable) else [n_components]

    estimators: list[DiscriminativeEmbeddedClustering] = []
    table: dict[str, list[Any]] = {}
    for dimension in dimensions:
        labels: Labels | None = None
        for trade_off in values:
            estimator = DiscriminativeEmbeddedClustering(
                n_clusters, trade_off=trade_off, n_components=dimension, **parameters
            )
            estimator, row = _fit(estimator, coordinates, labels if warm_start else None)
            row["agreement"] = None if labels is None else adjusted_rand(labels, estimator.labels_)
            labels = estimator.labels_
            estimators.append(estimator)
            for name, value in row.items():
                table.setdefault(name, []).append(value)
    return TradeOffPath(estimators, table)


def _number(trade_off: Any) -> float:
    try:
        return TRADE_OFFS[trade_off] if isinstance(trade_off, str) else float(trade_off)
    except (KeyError, TypeError, ValueError):
        raise ValueError(
            f"trade_offs holds {trade_off!r}: give numbers from 0 to inf, or {', '.join(TRADE_OFFS)}."
        ) from None


def _fit(
    estimator: DiscriminativeEmbeddedClustering, coordinates: Coordinates, labels: Labels | None
) -> tuple[DiscriminativeEmbeddedClustering, dict[str, Any]]:
    """The better fit of a warm start, if there is one, and the other ``n_init`` starts; with its row of the table."""
    began = time.perf_counter()
    given = {"init": estimator.init, "n_init": estimator.n_init}
    models = [estimator]
    if labels is not None:
        warm = clone(estimator).set_params(init=labels, n_init=1)
        models = [warm, estimator.set_params(n_init=estimator.n_init - 1)] if estimator.n_init > 1 else [warm]
    with collected() as messages:
        for model in models:
            model.fit(coordinates)
    best = max(models, key=lambda model: (model.objective_, -model.within_share_))
    best.set_params(**given)
    return best, {
        "trade_off": best.trade_off,
        "n_components": len(best.components_),
        "objective": best.objective_,
        "variance_share": best.variance_share_,
        "within_share": best.within_share_,
        "n_iter": best.n_iter_,
        "converged": best.converged_,
        "seconds": time.perf_counter() - began,
        "warnings": sorted(messages),
    }
