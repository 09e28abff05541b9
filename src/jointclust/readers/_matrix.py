"""Formats that hold a matrix: NumPy's, Matrix Market, svmlight, and AnnData's, which takes more columns."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import scipy.io
import scipy.sparse as sp
from numpy.typing import NDArray
from sklearn.datasets import load_svmlight_file

from jointclust.exceptions import Setting
from jointclust.readers import _table as shared
from jointclust.readers._sources import opened
from jointclust.readers._table import (
    NoColumnError,
    Options,
    ReadError,
    Table,
    beside_features,
    check_memory,
    most_unpacked,
    needed,
)

# The column of the labels in an AnnData file; others are called by it and their own name.
_KEY = "jointclust"


# Bytes that are checked at a time, and lines of numbers.
_LINE = 2**20
_NUMBER = rb"[-+]?(?>\d++\.?\d*+|\.\d++|nan|inf(?:inity)?)(?:[eE][-+]?\d++)?+"
_ENTRIES = re.compile(rb"(?:[ \t]*+(?:%s(?:[ \t]++%s){0,3}+[ \t]*+)?+\r?\n)*+" % (_NUMBER, _NUMBER), re.IGNORECASE)


def no_columns(path: Path, options: Options, has: dict[str, Any] | None = None) -> None:
    """Refuse options that name columns which this format does not have."""
    for option, name in options.special.items():
        if name not in (has or {}):
            known = f"; it has {', '.join(has)}" if has else ": files of this format name no columns"
            raise NoColumnError(f"{path} has no column {name!r}{known}.", Setting(option))


def _two_dimensional(path: Path, data: Any) -> Any:
    if data.ndim != 2:
        raise ReadError(f"{path} holds an array of shape {data.shape}: rows by features are needed.")
    if data.dtype.kind not in "fiub":
        raise ReadError(f"{path} holds values of type {data.dtype}: real numbers are needed.")
    return data


@contextmanager
def _no_pickles(path: Path) -> Iterator[None]:
    """NumPy's advice to unpickle what it cannot read is not passed on."""
    try:
        yield
    except ValueError as error:
        if "allow_pickle" not in str(error) and "Python objects" not in str(error):
            raise
        raise ReadError(
            f"{path} cannot be read: it holds Python objects, or is no file of NumPy's. Nothing is ever unpickled."
        ) from None


def read_npy(path: Path, options: Options) -> Table:
    """Read a NumPy array, which stays on the disk where memory is too small for it."""
    no_columns(path, options)
    with _no_pickles(path):
        data = _two_dimensional(path, np.load(path, mmap_mode="r", allow_pickle=False))
    return Table(np.array(data) if shared.fits_memory(data.nbytes) else data)


def npz_parts(path: Path) -> tuple[Any, list[str] | None, dict[str, Any]]:
    """Rows of a .npz file (X, or the only array, or a sparse matrix as SciPy saves it), their names, all arrays."""
    with _no_pickles(path), np.load(path, allow_pickle=False) as archive:
        parts = {key: archive[key] for key in archive.files}
    if "X" in parts or len(parts) == 1:
        data = _two_dimensional(path, parts["X" if "X" in parts else next(iter(parts))])
    elif {"data", "indices", "indptr", "shape"} <= parts.keys():
        data = _two_dimensional(path, _sparse(path, parts))
    else:
        raise ReadError(
            f"{path} holds {', '.join(parts) or 'nothing'}: name the array of rows X, or save a sparse matrix with "
            "scipy.sparse.save_npz."
        )
    stored_names = next((parts[key] for key in ("feature_names", "words", "genes") if key in parts), None)
    names = None if stored_names is None else [str(name) for name in np.ravel(stored_names)]
    _check_names(path, names, data.shape[1])
    return data, names, parts


def _sparse(path: Path, parts: dict[str, Any]) -> Any:
    kind = parts.get("format", np.array("csr"))
    name = kind.item().decode() if kind.dtype.kind == "S" else str(kind)
    if name not in ("csr", "csc"):
        raise ReadError(f"{path} holds a sparse matrix in format {name}: save it as csr.")
    try:
        return _compressed(name, parts, parts["shape"])
    except ValueError as error:
        raise ReadError(f"{path} holds no valid {name.upper()} matrix: {error}") from error


def _compressed(kind: str, parts: Any, shape: Any) -> sp.csr_array:
    """A sparse matrix by rows, from the arrays of one that is compressed by rows or by columns."""
    make = sp.csc_array if kind.startswith("csc") else sp.csr_array
    arrays = tuple(parts[name][:] for name in ("data", "indices", "indptr"))
    matrix = make(arrays, shape=tuple(int(size) for size in shape))
    matrix.check_format(full_check=True)
    return sp.csr_array(matrix)


def read_npz(path: Path, options: Options) -> Table:
    """Read the rows; other arrays are columns."""
    data, names, parts = npz_parts(path)
    columns = {key: value for key, value in parts.items() if value.ndim == 1 and len(value) == data.shape[0]}
    no_columns(path, options, columns)
    return picked(path, data, names, columns, options)


def read_market(path: Path, options: Options) -> Table:
    """Read a Matrix Market file, sparse or dense."""
    no_columns(path, options)
    _check_market(path, options)
    n_rows, n_columns, entries, kind, *_ = scipy.io.mminfo(path)
    check_memory(path, entries if kind == "coordinate" else n_rows * n_columns)
    data = scipy.io.mmread(path)
    return Table(sp.csr_array(data) if sp.issparse(data) else _two_dimensional(path, np.asarray(data)))


def _check_market(path: Path, options: Options) -> None:
    """Refuse lines that are no entries: SciPy's compiled reader runs past the end of some of them."""
    with opened(path, most_unpacked(path, options)) as (_, content):
        number, line = 1, content.readline(_LINE)
        while line.startswith(b"%") or (line and not line.strip()):
            number, line = number + 1, content.readline(_LINE)
        while line:
            lines = line + content.read(_LINE) + content.readline(_LINE)
            lines += b"" if lines.endswith(b"\n") else b"\n"
            sound = _ENTRIES.match(lines).end()  # type: ignore[union-attr]
            number += lines.count(b"\n", 0, sound)
            if sound < len(lines):
                wrong = lines[sound : sound + 40].splitlines()[0].decode("latin-1")
                raise ReadError(f"{path}: line {number} is {wrong!r}, which is no entry of a matrix.")
            line = content.readline(_LINE)


def read_svmlight(path: Path, options: Options) -> Table:
    """Read a svmlight file; its labels are the column ``label``."""
    no_columns(path, options, {"label": None})
    data, labels = load_svmlight_file(str(path))
    if options.n_features is not None and data.shape[1] < options.n_features:
        data.resize((data.shape[0], options.n_features))
    return Table(sp.csr_array(data), **beside_features(options, lambda _: _strings(labels)))


def read_h5ad(path: Path, options: Options) -> Table:
    """Read X of an AnnData file; genes name the columns, cells the rows, and ``obs`` holds further columns."""
    with needed("h5py", "reading .h5ad").File(path) as file:
        if "X" not in file:
            raise ReadError(f"{path} has no X.")
        data, obs, var = _h5_matrix(path, file["X"]), file.get("obs"), file.get("var")
        columns = {} if obs is None else {key: obs[key] for key in obs if not key.startswith("__")}
        no_columns(path, options, columns)
        read = {name: _h5_column(columns[name]) for name in options.special.values()}
        index = None if obs is None else _h5_column(obs[obs.attrs.get("_index", "_index")])
        names = None if var is None else [str(name) for name in _h5_column(var[var.attrs.get("_index", "_index")])]
    table = picked(path, data, names, read, options)
    return table if options.id_column else replace(table, ids=index)


def _h5_matrix(path: Path, stored: Any) -> Any:
    if hasattr(stored, "shape"):
        check_memory(path, stored.size, stored.dtype.itemsize)
        return _two_dimensional(path, stored[:])
    check_memory(path, stored["data"].size)
    return _compressed(stored.attrs.get("encoding-type", "csr_matrix"), stored, stored.attrs["shape"])


def _h5_column(stored: Any) -> NDArray[Any]:
    if hasattr(stored, "shape"):
        return _strings(stored[:])
    if "values" in stored:  # with a mask of missing ones
        return np.where(stored["mask"][:], "", _strings(stored["values"][:]))
    # The code of a missing category is -1: the last name, then.
    return np.append(_strings(stored["categories"][:]), "")[stored["codes"][:]]


def annotate_file(path: Path, columns: dict[str, NDArray[Any]]) -> None:
    """Write into ``obs`` the columns ``jointclust`` (categories), ``jointclust_confidence`` and so on.

    They take the place of those of an earlier run; ids are there already.
    """
    h5py = needed("h5py", "writing .h5ad")
    with h5py.File(path, "r+") as file:
        obs = file["obs"]
        for name, values in columns.items():
            if name != "id":
                _put(obs, _KEY if name == "label" else f"{_KEY}_{name}", values, h5py.string_dtype())


def _put(obs: Any, name: str, values: NDArray[Any], text: Any) -> None:
    """A column of a data frame as AnnData stores it: numbers as an array, anything else as categories."""
    if name in obs:
        del obs[name]
    if np.asarray(values).dtype.kind == "f":
        obs[name] = values
        obs[name].attrs.update({"encoding-type": "array", "encoding-version": "0.2.0"})
    else:
        kinds, codes = np.unique(np.asarray(values).astype(str) if name != _KEY else values, return_inverse=True)
        group = obs.create_group(name)
        group.attrs.update({"encoding-type": "categorical", "encoding-version": "0.2.0", "ordered": False})
        group.create_dataset("codes", data=codes.astype(np.int8 if kinds.size < 128 else np.int32))
        group.create_dataset("categories", data=kinds.astype(str).astype(object), dtype=text)
        for part, kind in (("codes", "array"), ("categories", "string-array")):
            group[part].attrs.update({"encoding-type": kind, "encoding-version": "0.2.0"})
    order = [other for other in obs.attrs.get("column-order", []) if other != name]
    obs.attrs["column-order"] = np.array([*order, name], dtype=text)


def picked(path: Path, data: Any, names: list[str] | None, columns: dict[str, Any], options: Options) -> Table:
    """The features that are wanted, with the columns that name the rows and their classes."""
    _check_names(path, names, data.shape[1])
    names = None if names is None else distinct_names(names)
    if names is not None and options.wanted is not None:
        shared.check_wanted(path, names, options.wanted)
        data, names = shared.in_order(data, names, options.wanted)
    return Table(data, names, **beside_features(options, lambda name: _strings(columns[name])))


def _check_names(path: Path, names: list[str] | None, n_columns: int) -> None:
    if names is not None and len(names) != n_columns:
        raise ReadError(f"{path} names {len(names)} columns and holds {n_columns}.")


def distinct_names(names: list[str]) -> list[str]:
    """Names that occur more than once, numbered.

    Examples
    --------
    >>> distinct_names(["a", "b", "a"])
    ['a (0)', 'b', 'a (2)']
    """
    while len(set(names)) < len(names):  # a number may make another name that is there
        times = Counter(names)
        names = [f"{name} ({index})" if times[name] > 1 else name for index, name in enumerate(names)]
    return names


def _strings(values: Any) -> NDArray[Any]:
    strings = [value.decode() if isinstance(value, bytes) else str(value) for value in np.asarray(values).tolist()]
    return np.asarray(strings, dtype=object)
