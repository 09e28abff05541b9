"""What tells rows from all others: a number made of every cell and its place, the same wherever the rows are."""

from __future__ import annotations

import hashlib
import itertools
from collections.abc import Iterator, Mapping
from numbers import Real
from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from jointclust.rows import _dask
from jointclust.rows._inputs import check_with_gaps, is_annotated, tidied
from jointclust.rows._store import Store, as_store, is_file, is_large_map
from jointclust.rows._sweep import sweep
from jointclust.rows.arrays import is_device_array, is_sparse, to_host
from jointclust.rows.blocks import Swept

Words = NDArray[np.uint64]
# Odd numbers that spread bits; what stands for an empty cell; values that are looked at together, which fit the cache.
_SPREAD, _AGAIN = np.uint64(0x9E3779B97F4A7C15), np.uint64(0xBF58476D1CE4E5B9)
_GAP = np.uint64(0x7FF8000000000000)
_TOGETHER = 2**16


def fingerprint(X: Any) -> str:
    """What tells these rows from others: one changed cell, or two exchanged rows, change it.

    Numbers have the same wherever and however they are kept: in an array of any type, a frame, sparse, on a device, in
    a file, with Dask. Names of columns and rows are no part of it. It costs about one pass over the rows.

    Examples
    --------
    >>> rows = np.arange(6.0).reshape(3, 2)
    >>> fingerprint(rows) == fingerprint(sp.csc_array(rows)) == fingerprint(rows.astype(np.int8).tolist())
    True
    >>> fingerprint(rows) == fingerprint(rows[[1, 0, 2]])
    False
    """
    if isinstance(X, list | tuple) and len(X) and getattr(X[0], "ndim", 0) == 2:
        X = dict(enumerate(X))  # blocks without names
    if isinstance(X, Mapping) and not is_sparse(X) and not _is_table(X):
        return ", ".join(f"{name}: {fingerprint(X[name])}" for name in sorted(X, key=str))
    X = _with_rows(X.X if is_annotated(X) else X)
    numbers: Any = _dask.row_numbers(X) if _dask.is_dask(X) else np.arange(X.shape[0])
    if _is_swept(X):
        total = sweep(_of_block, X, numbers, width=X.shape[1], budget=_TOGETHER).pieces[0].sum(dtype=np.uint64)
    else:
        total = _of_block(X, numbers).pieces[0][0]
    return _named(X, total)


def checked_rows(X: Any, *, min_samples: int) -> tuple[Any, bool, str]:
    """Rows elsewhere as ``check_with_gaps`` has them, whether there are gaps, and their fingerprint: in one pass."""
    X, has_gaps, parts = check_with_gaps(X, min_samples=min_samples, visit=_of_block)
    return X, has_gaps, _named(X, parts[0].sum(dtype=np.uint64))


def _named(X: Any, total: np.uint64) -> str:
    return f"{X.shape[0]} x {X.shape[1]} {int(total):016x}"


def _with_rows(X: Any) -> Any:
    """Data as rows of two dimensions, one column for texts."""
    X = _dask.as_frame(tidied(X))
    if _dask.is_dask(X):
        return X if isinstance(X, _dask.Frame) else _dask.as_table(X)
    X = X.to_memory() if hasattr(X, "to_memory") else X  # sparse rows of AnnData that are left in its file
    if is_sparse(X):
        return sp.csr_array(X)
    if is_file(X) or is_large_map(X):
        return as_store(X)
    if isinstance(X, Store) or is_device_array(X) or _is_table(X):
        return X
    if not isinstance(X, np.ndarray):
        is_of_texts = isinstance(X, list | tuple) and any(isinstance(cell, str) for cell in X)
        X = np.array(X, dtype=object) if is_of_texts else np.asarray(X)
    return X.reshape(len(X), -1)


def _is_table(X: Any) -> bool:
    return (hasattr(X, "columns") or hasattr(X, "column_names")) and len(getattr(X, "shape", ())) == 2


def _is_swept(X: Any) -> bool:
    """Whether blocks of the rows are looked at one by one; tables and sparse rows in memory are, by themselves."""
    if _is_table(X) or sp.issparse(X):
        return _dask.is_dask(X)
    return not isinstance(X, np.ndarray) or X.dtype.kind in "fiub"


def _of_block(x: Any, numbers: NDArray[np.int64]) -> Swept:
    """The part that a block of rows with these numbers has in the sum over all of them."""
    x, numbers = (to_host(one) if is_device_array(one) else one for one in (x, numbers))
    if sp.issparse(x):
        rows = _of_sparse(sp.csr_array(x))
    elif _is_table(x) or x.dtype.kind not in "fiub":
        rows = np.zeros(x.shape[0], dtype=np.uint64)
        for column, factor in zip(_columns(x), _factors(x.shape[1]), strict=True):
            rows += _spread(_words(column) * factor)
    else:
        rows = _spread(_words(x) * _factors(x.shape[1])).sum(axis=1, dtype=np.uint64)
    places = np.asarray(numbers).astype(np.uint64) * _SPREAD
    return Swept(pieces=[_spread((rows ^ _spread(places)) * _AGAIN).sum(dtype=np.uint64, keepdims=True)])


def _of_sparse(x: sp.csr_array) -> Words:
    """One word for each row; cells that are zero count nothing, and so need not be stored."""
    factors, rows = _factors(x.shape[1]), np.zeros(x.shape[0], dtype=np.uint64)
    ends = np.searchsorted(x.indptr, np.arange(0, x.indptr[-1] + _TOGETHER, _TOGETHER)).clip(max=x.shape[0])
    for first, last in itertools.pairwise(ends):
        start, stop = x.indptr[first], x.indptr[last]
        cells = _spread(_words(x.data[start:stop]) * factors[x.indices[start:stop]])
        sums = np.concatenate([np.zeros(1, dtype=np.uint64), np.cumsum(cells, dtype=np.uint64)])
        inner = x.indptr[first : last + 1] - start
        rows[first:last] = sums[inner[1:]] - sums[inner[:-1]]
    return rows


def _columns(x: Any) -> Iterator[NDArray[Any]]:
    """The columns of a table, whichever library it is of."""
    for place in range(x.shape[1]):
        if hasattr(x, "iloc"):
            yield np.asarray(x.iloc[:, place])
        elif hasattr(x, "to_series"):
            yield x.to_series(place).to_numpy()
        else:
            column = x.column(place) if hasattr(x, "column_names") else x[:, place]
            if not hasattr(column, "__array__"):  # of a model's kept rows
                column = column.values if column.codes is None else column.values[column.codes]
            yield np.asarray(column)


def _factors(n_columns: int) -> Words:
    """An odd number for each column."""
    return _spread(np.arange(1, n_columns + 1, dtype=np.uint64) * _SPREAD) | np.uint64(1)


def _spread(words: Words) -> Words:
    """Each word with its bits spread over it, in place; 0 stays 0."""
    words ^= words >> np.uint64(32)
    words *= _AGAIN
    words ^= words >> np.uint64(29)
    return words


def _words(cells: NDArray[Any]) -> Words:
    """A new array with a word for each cell: the bits of its number, of its time, or a digest of its text."""
    if cells.dtype.kind in "mM":
        return cells.astype(f"{cells.dtype.kind}8[ns]").view(np.uint64).copy()
    if cells.dtype.kind in "fiub":
        numbers = np.add(cells, 0.0, dtype=np.float64)  # -0.0 is 0.0
        words = numbers.view(np.uint64)
        words[np.isnan(numbers)] = _GAP
        return words
    plain = cells.tolist()
    if all(issubclass(kind, Real | None.__class__) for kind in set(map(type, plain))):
        return _words(np.array(plain, dtype=np.float64))
    known: dict[str, int] = {}
    return np.fromiter((_word(cell, known) for cell in plain), np.uint64, len(plain))


def _word(cell: Any, known: dict[str, int]) -> int:
    """The word of a cell that may hold anything."""
    if isinstance(cell, Real):
        return int(_words(np.array([cell], dtype=np.float64))[0])
    text = str(cell)
    if cell is None or (text in ("<NA>", "NaT") and not isinstance(cell, str)):
        return int(_GAP)
    if text not in known:
        known[text] = int.from_bytes(hashlib.blake2b(text.encode("utf-8", "surrogatepass"), digest_size=8).digest())
    return known[text]
