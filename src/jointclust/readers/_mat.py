"""MATLAB files: rows and labels under the names that people give them."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import scipy.io
import scipy.sparse as sp
from numpy.typing import NDArray

from jointclust.readers._matrix import no_columns, picked
from jointclust.readers._table import Options, ReadError, Table, check_memory, needed

# As people spell them, in any case; the first that will do is taken.
ROWS = ("x", "fea", "data", "features")
LABELS = ("y", "gnd", "label", "labels", "gt")


def variables(path: Path) -> dict[str, Any]:
    """Every variable of a .mat file, of any version, by name; one that cannot be read as a text that says so."""
    with path.open("rb") as stream:
        if stream.read(8) == b"\x89HDF\r\n\x1a\n":
            raise ReadError(f"{path} is an HDF5 file, but none of MATLAB's: save X and y in a .npz file.")
    try:
        content = scipy.io.loadmat(path)
    except NotImplementedError:  # version 7.3 is HDF5
        with needed("h5py", "reading .mat files of version 7.3").File(path) as file:
            stored = {name: value for name, value in file.items() if not name.startswith("#")}
            check_memory(path, sum(getattr(value, "size", None) or 0 for value in stored.values()))
            return {name: _from_hdf5(file, value) for name, value in stored.items()}
    return {name: value for name, value in content.items() if not name.startswith("__")}


def _from_hdf5(file: Any, stored: Any) -> Any:
    kind = np.bytes_(stored.attrs.get("MATLAB_class", b"")).decode()
    if "MATLAB_sparse" in stored.attrs:
        columns = stored["jc"][()]
        values, rows = (stored[key][()] if key in stored else np.zeros(0, dtype=int) for key in ("data", "ir"))
        shape = (int(stored.attrs["MATLAB_sparse"]), len(columns) - 1)
        return sp.csc_array((values, rows, columns), shape=shape) if values.dtype.kind in "fiub" else "complex, sparse"
    if not hasattr(stored, "dtype"):
        return kind or "struct"
    if stored.attrs.get("MATLAB_empty", 0):
        return np.zeros(tuple(int(size) for size in np.ravel(stored[()])))
    if kind == "char":
        return np.array(["".join(map(chr, row)) for row in np.atleast_2d(stored[()].T)])
    if kind == "cell":
        cells = [file[reference] for reference in stored[()].T.ravel()]
        if any(cell.attrs.get("MATLAB_class") != b"char" for cell in cells):
            return "cell, in version 7.3: save with -v7"
        texts = ["" if cell.attrs.get("MATLAB_empty", 0) else "".join(map(chr, cell[()].T.ravel())) for cell in cells]
        return np.array(texts, dtype=object)
    if stored.dtype.kind in "fiub":
        return stored[()].T
    return "complex" if stored.dtype.names else kind or str(stored.dtype)


def pick(content: dict[str, Any], names: tuple[str, ...], usable: Callable[[Any], bool]) -> Any:
    """The variable under the first of these names, in any case, that is usable, or None."""
    lower = {name.lower(): value for name, value in reversed(content.items())}
    return next((lower[name] for name in names if name in lower and usable(lower[name])), None)


def rows_and_labels(path: Path) -> tuple[Any, NDArray[Any]]:
    """Rows by features, and a label for each row: 0, 1, ... in the order of the labels' values."""
    content = variables(path)
    sizes = {n_labels(value) for name, value in content.items() if name.lower() in LABELS}
    X = pick(content, ROWS, lambda value: is_matrix(value) and not sizes.isdisjoint(value.shape))
    y = None if X is None else pick(content, LABELS, lambda value: n_labels(value) in X.shape)
    if y is not None:
        labels = as_labels(path, y)
        return _rows_first(X, labels.size), labels
    raise ReadError(
        f"{path} holds {described(content)}: a matrix X (or {', '.join(ROWS[1:])}) of rows by features is expected, "
        f"and a vector y (or {', '.join(LABELS[1:])}) with a label for each row."
    )


def read_mat(path: Path, options: Options) -> Table:
    """Read X, or the only matrix; vectors of its length are columns."""
    content = variables(path)
    matrices = [value for value in content.values() if is_matrix(value) and min(value.shape) > 1]
    X = pick(content, ROWS, is_matrix)
    if X is None:
        if len(matrices) != 1:
            raise ReadError(f"{path} holds {described(content)}: name the matrix of rows X.")
        X = matrices[0]
    arrays = {name: value for name, value in content.items() if isinstance(value, np.ndarray) and value is not X}
    vectors = {name: value.ravel() for name, value in arrays.items() if value.ndim == 1 or 1 in value.shape}
    labels = pick(vectors, LABELS, lambda value: value.size in X.shape)
    data = X if labels is None else _rows_first(X, labels.size)
    columns = {name: value for name, value in vectors.items() if value.size == data.shape[0]}
    no_columns(path, options, columns)
    return picked(path, sp.csr_array(data) if sp.issparse(data) else data, None, columns, options)


def is_matrix(value: Any) -> bool:
    """Whether these are rows of real numbers."""
    return getattr(value, "ndim", 0) == 2 and value.dtype.kind in "fiub" and 0 not in value.shape


def _rows_first(X: Any, n_samples: int) -> Any:
    """One row per sample: in many papers the samples are columns."""
    rows = X if X.shape[0] == n_samples else X.T
    return sp.csr_array(rows) if sp.issparse(rows) else rows


def _one_each(y: Any) -> NDArray[Any] | None:
    """A label for each row, from a vector, from cells of text or from an indicator matrix; None for other things."""
    y = np.asarray(y.toarray() if sp.issparse(y) else y)
    if y.ndim == 0 or y.dtype.kind not in "fiubOSU":
        return None
    if y.dtype.kind == "O":
        y = np.array([str(np.squeeze(cell)) for cell in y.ravel()])
    if y.ndim == 2 and min(y.shape) > 1 and y.dtype.kind in "fiub":
        classes = next((axis for axis in (1, 0) if np.all(np.count_nonzero(y, axis=axis) == 1)), None)
        y = y if classes is None else np.argmax(y != 0, axis=classes)
    return np.ravel(y)


def n_labels(y: Any) -> int:
    """How many rows these label; 0 for what is no labels."""
    labels = _one_each(y)
    return 0 if labels is None else labels.size


def as_labels(path: Path, y: Any) -> NDArray[Any]:
    """Labels 0, 1, ... from a vector, from cells of text or from an indicator matrix."""
    labels = _one_each(y)
    if labels is None:
        raise ReadError(f"{path} holds no label for each row: y is {_kind(y)}.")
    if labels.dtype.kind == "f" and not np.all(np.isfinite(labels)):
        raise ReadError(f"{path} holds labels that are not finite.")
    return np.unique(labels, return_inverse=True)[1]


def described(content: dict[str, Any]) -> str:
    """Names, shapes and kinds of variables, for messages."""
    return ", ".join(f"{name} ({_kind(value)})" for name, value in content.items()) or "no variable that can be read"


def _kind(value: Any) -> str:
    if isinstance(value, str):
        return value
    dtype = value.dtype
    kind = "struct" if dtype.names else {"O": "cell", "c": "complex", "S": "text", "U": "text"}.get(dtype.kind, "")
    shape = " x ".join(map(str, value.shape)) or "a single value"
    return ", ".join(filter(None, (shape, kind, "sparse" if sp.issparse(value) else "")))
