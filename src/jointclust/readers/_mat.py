"""MATLAB files: rows and labels under the names that people give them."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import scipy.io
import scipy.sparse as sp
from numpy.typing import NDArray

from jointclust.readers._matrix import no_columns, picked
from jointclust.readers._table import Options, ReadError, Table, check_memory

# As people spell them, in any case; the first that is there is taken.
ROWS = ("x", "fea", "data", "features")
LABELS = ("y", "gnd", "label", "labels", "gt")


def variables(path: Path) -> dict[str, Any]:
    """Every variable of a .mat file, of any version, by name."""
    try:
        found = scipy.io.loadmat(path)
    except NotImplementedError:  # version 7.3 is HDF5
        return _variables_hdf5(path)
    return {name: value for name, value in found.items() if not name.startswith("__")}


def _variables_hdf5(path: Path) -> dict[str, Any]:
    try:
        import h5py
    except ImportError as error:
        raise ImportError("reading .mat files of version 7.3 needs h5py: pip install 'jointclust[files]'") from error
    with h5py.File(path) as file:
        arrays = {name: stored for name, stored in file.items() if isinstance(stored, h5py.Dataset)}
        check_memory(path, sum(stored.size for stored in arrays.values()))
        return {name: stored[()].T for name, stored in arrays.items() if stored.dtype.kind in "fiub"}


def pick(found: dict[str, Any], names: tuple[str, ...]) -> Any:
    """The variable under the first of these names, in any case, or None."""
    lower = {name.lower(): value for name, value in reversed(found.items())}
    return next((lower[name] for name in names if name in lower), None)


def rows_and_labels(path: Path) -> tuple[Any, NDArray[Any]]:
    """Rows by features, and a label for each row: 0, 1, ... in the order of the labels' values."""
    found = variables(path)
    X, y = pick(found, ROWS), pick(found, LABELS)
    if _is_matrix(X) and y is not None:
        labels = as_labels(path, y)
        if labels.size in X.shape:
            return _rows_first(X, labels.size), labels
    raise ReadError(
        f"{path} holds {described(found)}: a matrix X (or {', '.join(ROWS[1:])}) of rows by features is expected, and "
        f"a vector y (or {', '.join(LABELS[1:])}) with a label for each row."
    )


def read_mat(path: Path, options: Options) -> Table:
    """Read X, or the only matrix; vectors of its length are columns."""
    found = variables(path)
    matrices = [value for value in found.values() if _is_matrix(value) and min(value.shape) > 1]
    X = pick(found, ROWS)
    if not _is_matrix(X):
        if len(matrices) != 1:
            raise ReadError(f"{path} holds {described(found)}: name the matrix of rows X.")
        X = matrices[0]
    arrays = {name: value for name, value in found.items() if isinstance(value, np.ndarray) and value is not X}
    vectors = {name: value.ravel() for name, value in arrays.items() if 1 in value.shape}
    labels = pick(vectors, LABELS)
    data = X if labels is None or labels.size not in X.shape else _rows_first(X, labels.size)
    columns = {name: value for name, value in vectors.items() if value.size == data.shape[0]}
    no_columns(path, options, columns)
    return picked(path, sp.csr_array(data) if sp.issparse(data) else data, None, columns, options)


def _is_matrix(value: Any) -> bool:
    return getattr(value, "ndim", 0) == 2 and value.dtype.kind in "fiub"


def _rows_first(X: Any, n_samples: int) -> Any:
    """In many papers the samples are columns."""
    rows = X if X.shape[0] == n_samples else X.T
    return sp.csr_array(rows) if sp.issparse(rows) else rows


def as_labels(path: Path, y: Any) -> NDArray[Any]:
    """Labels 0, 1, ... from a vector, from cells of text or from an indicator matrix."""
    y = np.asarray(y.toarray() if sp.issparse(y) else y)
    if y.dtype.kind == "O":
        y = np.array([str(np.squeeze(cell)) for cell in y.ravel()])
    if y.ndim == 2 and min(y.shape) > 1 and y.dtype.kind in "fiub":
        classes = next((axis for axis in (1, 0) if np.all(np.count_nonzero(y, axis=axis) == 1)), None)
        y = y if classes is None else np.argmax(y != 0, axis=classes)
    y = np.ravel(y)
    if y.dtype.kind == "f" and not np.all(np.isfinite(y)):
        raise ReadError(f"{path} holds labels that are not finite.")
    return np.unique(y, return_inverse=True)[1]


def described(found: dict[str, Any]) -> str:
    """Names and shapes of variables, for messages."""
    if not found:
        return "no variable that can be read"
    return ", ".join(f"{name} ({' x '.join(map(str, np.shape(value)))})" for name, value in found.items())
