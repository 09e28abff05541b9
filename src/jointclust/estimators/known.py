"""Labels that a user knows of some rows, and groups of rows that belong together, as a fit takes them."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from jointclust.exceptions import Notice, tell
from jointclust.numerics.groups import Groups
from jointclust.rows import PLACES, Rows, is_elsewhere, kind_of
from jointclust.rows.arrays import to_host
from jointclust.subspace.coordinates import Coordinates
from jointclust.types import Array, Labels

# The known classes and the groups of rows, given the rows and their weights.
KnownRows = Callable[[Rows, Array | None], tuple[Array | None, Groups | None]]


# What NumPy and pandas write for no value when they make strings of values, and for the number -1.
_NOTHING = frozenset({"", "nan", "NaN", "None", "NaT", "<NA>"})
_UNKNOWN = _NOTHING | {"-1", "-1.0"}


def says_nothing(text: str) -> bool:
    """Whether a text in place of a known label means that none is known.

    Examples
    --------
    >>> [says_nothing(text) for text in ("-1", "nan", " ", "1", "nanny")]
    [True, True, True, False, False]
    """
    return text.strip() in _UNKNOWN


def known_beside(
    n_clusters: int, known_labels: ArrayLike | None, groups: ArrayLike | None, rows: Rows, weights: Array | None
) -> tuple[Array | None, Groups | None, NDArray | None]:
    """The number of each row's known class (-1: unknown) and its group, stored where the rows are; and the classes.

    None where no row has one, or where every row is a group by itself. Class i is cluster i.
    """
    index = None if groups is None else _group_numbers(_values("groups", groups, rows.n_samples))
    known = classes = None
    if known_labels is not None:
        values = _values("known_labels", known_labels, rows.n_samples)
        labels, classes = _numbered(values, None if weights is None else to_host(weights) > 0)
        if classes.size > n_clusters:
            raise ValueError(
                f"known_labels holds {classes.size} classes, more than n_clusters={n_clusters}: raise "
                "n_clusters, or leave labels out (-1, None or NaN is an unknown one)."
            )
        if classes.size:
            known = rows.beside(labels if index is None else _of_groups(labels, index, classes))
    return known, None if index is None else Groups.beside(index, rows, weights), classes


def check_place(groups: ArrayLike | None, X: object) -> None:
    """Refuse groups of rows that no pass sees together, before anything is computed."""
    if groups is None:
        return
    kind = kind_of(X.rows.X if isinstance(X, Coordinates) else X)
    if kind in ("file", "dask"):
        raise TypeError(
            f"groups are for rows in memory or on a device, not {PLACES[kind]}: a group's rows may lie anywhere. Fit a "
            "sample of the groups in memory and predict the rest."
        )


def labels_to_start_from(init: Any, n_init: int, n_samples: int, n_clusters: int) -> tuple[Labels | None, int]:
    """Labels that ``init`` holds, if it holds some, and the number of runs to make."""
    if isinstance(init, str):
        return None, n_init
    labels = to_host(init) if is_elsewhere(init) else np.asarray(init)
    if labels.shape != (n_samples,):
        raise ValueError(f"init as labels must have shape ({n_samples},), one label per row; got {labels.shape}.")
    if not np.issubdtype(labels.dtype, np.integer):
        raise ValueError(f"init as labels must hold integers; got dtype {labels.dtype}.")
    if labels.min() < 0 or labels.max() >= n_clusters:
        raise ValueError(
            f"init as labels must lie in 0..{n_clusters - 1} (n_clusters={n_clusters}); "
            f"got {labels.min()}..{labels.max()}."
        )
    if n_init > 1:
        tell(f"init gives the labels, so one run is made instead of n_init={n_init}.", RuntimeWarning)
    return labels.astype(np.int32), 1


def _group_numbers(values: NDArray) -> NDArray[np.int32] | None:
    """Numbers of the groups; None where every row is one by itself."""
    alone = _gaps(values)
    index = np.empty(values.size, dtype=np.int32)
    index[~alone] = _unique("groups", values[~alone])[1]
    index[alone] = index[~alone].max(initial=-1) + 1 + np.arange(alone.sum())
    return None if index.size == 0 or index.max() + 1 == index.size else index


def _of_groups(labels: Labels, index: NDArray[np.int32], classes: NDArray) -> Labels:
    """Labels that the rows of a group have in common, or an error."""
    shared, rows = np.full(index.max() + 1, -1, dtype=np.int32), np.flatnonzero(labels >= 0)
    shared[index[rows]] = labels[rows]
    wrong = rows[shared[index[rows]] != labels[rows]]
    if wrong.size:
        pair = classes[[labels[wrong[0]], shared[index[wrong[0]]]]].tolist()
        raise ValueError(
            f"Rows of one group have different known labels, {pair[0]!r} (row {wrong[0]}) and {pair[1]!r}: correct one "
            "of them, or split the group."
        )
    return shared[index]


def n_known(estimator: Any) -> int:
    """Number of known classes, which are the first clusters."""
    return len(estimator.__dict__.get("classes_", ()))


def _values(name: str, given: ArrayLike, n_samples: int) -> NDArray:
    """One value per row as it was given, checked for the shape."""
    given = to_host(given) if is_elsewhere(given) else given
    # Of a list, NumPy would make strings of all values if some are.
    values = given if isinstance(given, np.ndarray) else np.asarray(given, dtype=object)
    if values.shape != (n_samples,):
        raise ValueError(f"{name} must have shape ({n_samples},), one value per row; got {values.shape}.")
    return values


def _numbered(values: NDArray, present: NDArray[np.bool_] | None) -> tuple[Labels, NDArray]:
    """Each row's class as a number, and the classes: those of rows that have weight."""
    known = ~_gaps(values, -1)
    _tell_of_texts(values[~known])
    classes, numbers = _unique("known_labels", values[known])
    held = np.bincount(numbers[slice(None) if present is None else present[known]], minlength=classes.size) > 0
    labels = np.full(values.size, -1, dtype=np.int32)
    labels[known] = np.where(held, np.cumsum(held) - 1, -1)[numbers]
    return labels, _plain(classes[held])


def _unique(name: str, values: NDArray) -> tuple[NDArray, NDArray[np.intp]]:
    """The different values in order, and the number of each."""
    try:
        return np.unique(values, return_inverse=True)
    except TypeError as error:
        kinds = sorted({type(value).__name__ for value in values})
        raise ValueError(f"{name} mixes values of types {', '.join(kinds)}: use one of them.") from error


def _gaps(values: NDArray, code: int | None = None) -> NDArray[np.bool_]:
    """Where there is no value: None, NaN and their like, also as text, and the code for none."""
    if values.dtype.kind in "iuf":
        return np.isnan(values) | (np.zeros(values.size, dtype=bool) if code is None else values == code)
    if values.dtype.kind in "mM":
        return np.isnat(values)
    missing, texts = ("NoneType", "NAType", "NaTType"), _NOTHING if code is None else _UNKNOWN

    def is_gap(value: Any) -> bool:
        if isinstance(value, str):
            return value.strip() in texts
        return type(value).__name__ in missing or bool(value != value) or value == code

    return np.array([is_gap(value) for value in values.tolist()], dtype=bool)


def _tell_of_texts(unknown: NDArray) -> None:
    """Say which texts are taken for unknown labels, as one of them might be the name of a class."""
    texts = sorted({value for value in unknown.tolist() if isinstance(value, str) and value.strip()})
    if texts:
        names = " and ".join(map(repr, texts))
        tell(f"known_labels: the text {names} is taken for an unknown label. A class needs another name.", Notice)


def _plain(classes: NDArray) -> NDArray:
    """Classes in the type that suits them: whole numbers are integers, also where gaps had made them floats."""
    plain = np.array(classes.tolist()) if classes.size else np.array([], dtype=np.int64)
    if plain.dtype.kind not in "biufU" or classes.dtype.kind in "mM":
        raise ValueError(
            f"known_labels are of type {type(classes[0]).__name__}: give names or numbers, for example the "
            "same as strings (None where none is known)."
        )
    whole = plain.dtype.kind == "f" and bool((plain == np.round(plain)).all())
    return plain.astype(np.int64) if whole else plain
