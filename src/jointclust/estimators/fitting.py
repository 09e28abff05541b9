"""Fits any estimator, the library's own or scikit-learn's, on rows whose coordinates are known."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.pipeline import Pipeline
from sklearn.utils.validation import has_fit_parameter

from jointclust.estimators.base import Clusterer, TakesRows
from jointclust.subspace.coordinates import Coordinates
from jointclust.types import Float


def fit_member(
    member: Any,
    X: Any,
    coordinates: Coordinates,
    weights: Float | None,
    seed: int,
    options: dict[str, ArrayLike] | None = None,
) -> Any:
    """Fit an estimator: the library's own on the shared coordinates where it takes them, others on the rows.

    The other options of ``fit`` (``known_labels``, ``groups``) go to the last step of a pipeline.
    """
    options = options or {}
    params = member.get_params()
    seeded = [name for name in params if name.split("__")[-1] == "random_state" and params[name] is None]
    member.set_params(**dict.fromkeys(seeded, seed))
    first = member[0] if isinstance(member, Pipeline) and len(member) == 2 else member
    shared = isinstance(first, Clusterer) and first.takes_coordinates(coordinates)
    if shared and first is not member:
        member[1].fit(member[0].fit(coordinates).transform(X), **weight_options(member[1], weights), **options)
        return member
    if shared:
        return member.fit(coordinates, **options)
    prefix = f"{member.steps[-1][0]}__" if isinstance(member, Pipeline) else ""
    return member.fit(X, **weight_options(member, weights), **{prefix + name: options[name] for name in options})


def weight_options(estimator: Any, weights: Float | None) -> dict[str, Any]:
    """The sample weights, under the name that an estimator or the last step of a pipeline takes; empty if it cannot."""
    last = estimator[-1] if isinstance(estimator, Pipeline) else estimator
    if weights is None or not has_fit_parameter(last, "sample_weight"):
        return {}
    return {f"{estimator.steps[-1][0]}__sample_weight" if last is not estimator else "sample_weight": weights}


def training_labels(member: Any, X: Any) -> NDArray:
    """Labels of a member's training rows; known labels aside, they equal its ``predict``."""
    last = member.steps[-1][1] if isinstance(member, Pipeline) else member
    own = isinstance(last, TakesRows) or not hasattr(member, "predict")
    return np.asarray(last.labels_ if own else member.predict(X))
