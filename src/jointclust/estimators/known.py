"""Labels that a user knows of some rows, as a fit takes them."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from jointclust.rows import Rows, is_elsewhere
from jointclust.rows.arrays import to_host
from jointclust.types import Array, Labels


def known_beside(estimator: Any, known_labels: ArrayLike | None, rows: Rows, weights: Array | None) -> Array | None:
    """Numbers of the known classes, -1 where none is known, where the rows are; None where no row has one.

    The estimator publishes the classes: class i is cluster i.
    """
    estimator.__dict__.pop("classes_", None)
    if known_labels is None:
        return None
    values = _values(known_labels, rows.n_samples)
    labels, estimator.classes_ = _numbered(values, None if weights is None else to_host(weights) > 0)
    if estimator.classes_.size > estimator.n_clusters:
        raise ValueError(
            f"known_labels holds {estimator.classes_.size} classes, more than n_clusters={estimator.n_clusters}: raise "
            "n_clusters, or leave labels out (-1, None or NaN is an unknown one)."
        )
    return rows.beside(labels) if estimator.classes_.size else None


def n_known(estimator: Any) -> int:
    """Number of known classes, which are the first clusters."""
    return len(estimator.__dict__.get("classes_", ()))


def _values(known_labels: ArrayLike, n_samples: int) -> NDArray:
    """The labels as they were given, checked for their shape."""
    given = to_host(known_labels) if is_elsewhere(known_labels) else known_labels
    # Of a list, NumPy would make strings of all values if some are.
    values = given if isinstance(given, np.ndarray) else np.asarray(given, dtype=object)
    if values.shape != (n_samples,):
        raise ValueError(f"known_labels must have shape ({n_samples},), one label per row; got {values.shape}.")
    return values


def _numbered(values: NDArray, present: NDArray[np.bool_] | None) -> tuple[Labels, NDArray]:
    """Numbers for the labels, and the classes in that order: those that a row with weight has."""
    known = ~_unknown(values)
    try:
        classes, numbers = np.unique(values[known], return_inverse=True)
    except TypeError as error:
        kinds = sorted({type(value).__name__ for value in values[known]})
        raise ValueError(f"known_labels mixes values of types {', '.join(kinds)}: use one of them.") from error
    held = np.bincount(numbers[slice(None) if present is None else present[known]], minlength=classes.size) > 0
    labels = np.full(values.size, -1, dtype=np.int32)
    labels[known] = np.where(held, np.cumsum(held) - 1, -1)[numbers]
    return labels, _plain(classes[held])


def _unknown(values: NDArray) -> NDArray[np.bool_]:
    """Where no label is known: -1, None, NaN and their like."""
    if values.dtype.kind in "iuf":
        return np.isnan(values) | (values == -1)
    if values.dtype.kind != "O":
        return np.zeros(values.size, dtype=bool)
    return np.array([_is_gap(value) for value in values.tolist()], dtype=bool)


def _is_gap(value: object) -> bool:
    if value is None or type(value).__name__ in ("NAType", "NaTType"):
        return True
    return bool(value != value) or (not isinstance(value, str) and bool(value == -1))


def _plain(classes: NDArray) -> NDArray:
    """Classes in the type that suits them: whole numbers are integers, also where gaps had made them floats."""
    plain = np.array(classes.tolist()) if classes.size else np.array([], dtype=np.int64)
    whole = plain.dtype.kind == "f" and bool((plain == np.round(plain)).all())
    return plain.astype(np.int64) if whole else plain
