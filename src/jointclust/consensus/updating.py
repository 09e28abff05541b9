"""A model with rows added, without starting over."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import ArrayLike
from sklearn.base import clone

from jointclust.consensus.kept_rows import n_rows
from jointclust.consensus.matching import judged
from jointclust.consensus.training import Patterns, VotesInMemory
from jointclust.rows import fingerprint, is_elsewhere, loaded
from jointclust.rows.arrays import to_host
from jointclust.subspace.coordinates import Coordinates
from jointclust.subspace.decomposition import check_weights

# Seeds are numbers below this.
_SEEDS = 2**31 - 1


def updated(model: Any, X: Any, sample_weight: ArrayLike | None) -> dict[str, Any]:
    """The attributes of a new fit to the kept rows of a model and to new ones; the model itself stays as it is."""
    kept, X = model._kept, loaded(X)
    _check(model, X)
    labels, _, _ = judged(model, X)  # the rows are like those of the model, or this says how they differ
    weights = None if sample_weight is None else check_weights(sample_weight, np.empty((labels.size, 1)))
    rng = np.random.RandomState([model._seed, kept.n_seen % _SEEDS])
    kept = kept.refreshed(X, weights, rng)
    fresh = clone(model).set_params(random_state=int(rng.randint(_SEEDS)))
    fresh.fit(kept.rows, sample_weight=kept.weights, like=model)
    agreement = fresh._agreement
    codes, scores = agreement.codes(agreement.sources(X), scored=True)
    patterns, index = Patterns.of(to_host(codes), weights)
    votes = agreement.soft_labels(patterns.codes)[index]
    fitted = {name: value for name, value in vars(fresh).items() if name not in fresh.get_params(deep=False)}
    number = {"number_": vars(model)["number_"]} if "number_" in vars(model) else {}
    return fitted | {
        "_kept": replace(kept, numbers=fresh._kept.numbers),
        "_fingerprint": fingerprint(X),
        "_training": VotesInMemory(patterns, index),
        "labels_": agreement.labels(votes, to_host(scores), model.reject_below),
        "outlier_scores_": to_host(scores),
        **number,
    }


def _check(model: Any, X: Any) -> None:
    """Refuse models and rows that cannot be updated."""
    if model._kept is None:
        raise ValueError(
            "This model keeps no rows: it is of version 0.2 or earlier. Fit it again with this version to update it."
        )
    if model._agreement.n_known or model._agreement.overrides is not None:
        raise ValueError(
            "This model was fitted with known labels or groups, which belong to its rows: fit all rows again with them."
        )
    if is_elsewhere(X) or isinstance(X, Coordinates):
        raise TypeError(f"update takes a batch of rows in memory; got {type(X).__name__}: load the batch first.")
    if n_rows(X) == 0:
        raise ValueError("X has no rows: there is nothing to add.")
