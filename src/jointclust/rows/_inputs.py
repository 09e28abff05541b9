"""Checks of rows that scikit-learn's own validation would copy to the host, or load into memory."""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial
from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray
from sklearn.utils import check_array

from jointclust.rows import _dask
from jointclust.rows._store import as_store, check_whole, is_file, is_large_map, memory_map
from jointclust.rows._sweep import sweep
from jointclust.rows.arrays import is_device_array, is_sparse, like, namespace, to_host
from jointclust.rows.blocks import Swept, Visit
from jointclust.types import Array, Sweepable


def is_elsewhere(X: object) -> bool:
    """Whether X is on a device, in a large file or with Dask, where scikit-learn's validation does not fit."""
    if is_device_array(X) or _dask.is_dask(X):
        return True
    return is_large_map(X) if isinstance(X, np.ndarray) else is_file(X)


def fetched(X: Any) -> Any:
    """A lazy frame of polars as the frame that it computes; anything else as it is."""
    return X.collect() if type(X).__name__ == "LazyFrame" and hasattr(X, "collect") else X


def tidied(X: Any) -> Any:
    """X in a form that any code reads rightly: masked cells as NaN, each entry of a sparse matrix stored once.

    It is copied only if it changes; a lazy frame of polars is collected. A map of a file that has become shorter is
    refused.
    """
    X = fetched(X)
    if isinstance(X, np.ma.MaskedArray):
        if not np.ma.is_masked(X):
            return X.data
        return np.ma.filled(X.astype(np.float64) if X.dtype.kind in "iub" else X, np.nan)
    check_whole(memory_map(X))
    if is_sparse(X) and not getattr(X, "has_canonical_format", True):
        X = sp.csr_array(X, copy=True)
        X.sum_duplicates()
    return X


def checked_numbers(X: Any, positions: NDArray | None = None, **options: Any) -> Any:
    """A matrix as scikit-learn's ``check_array`` returns it; infinity is told with its row.

    ``positions`` are the numbers of the rows, where they are some of many.
    """
    X = tidied(X)
    try:
        return check_array(X, accept_sparse="csr", **options)
    except ValueError as error:
        if "contains infinity" not in str(error) or is_sparse(X):
            raise
        rows = np.flatnonzero(np.isinf(np.asarray(X, dtype=np.float64)).any(axis=1))
        if rows.size == 0:
            raise
        row = rows[0] if positions is None else positions[rows[0]]
        raise ValueError(
            f"Input X contains infinity, as in row {row} (from 0): correct it or make it a gap (NaN)."
        ) from None


def is_annotated(X: object) -> bool:
    """Whether this is AnnData, or like it: a matrix with tables about its rows and its columns."""
    return all(hasattr(X, name) for name in ("X", "obs", "var"))


def refuse_annotated(X: object) -> None:
    """Raise if X is AnnData, or a dict of blocks: the user has to say which of its matrices is meant."""
    if isinstance(X, Mapping) and not hasattr(X, "shape"):
        raise TypeError(
            "X is a dict of blocks, and this takes one table: jointclust.cluster and JointConsensus take blocks, "
            "MultiViewKMeans those of numbers. Pass one of them, or columns side by side."
        )
    if is_annotated(X):
        raise TypeError(
            'X is AnnData, which holds several matrices: pass one of them, such as adata.obsm["X_pca"] or adata.X, or '
            "use jointclust.sc.tl.consensus(adata)."
        )


def check_elsewhere(X: Any, *, accept_sparse: bool, min_samples: int) -> Any:
    """X that is elsewhere as a table of finite floating-point numbers, or a clear error."""
    X = _as_table(X, accept_sparse=accept_sparse, min_samples=min_samples)
    if not isinstance(X, _dask.Frame):
        _check_finite(X, with_gaps=False)
    return X


def check_with_gaps(X: Any, *, min_samples: int, visit: Visit | None = None) -> tuple[Any, bool, list[NDArray]]:
    """The same with NaN for empty cells, and whether there are any; False for a data frame, which is not searched.

    The same pass gives pieces of ``visit(block, numbers of its rows)``.
    """
    X = _as_table(X, accept_sparse=True, min_samples=min_samples)
    if not isinstance(X, _dask.Frame):
        has_gaps, pieces = _check_finite(X, with_gaps=True, visit=visit)
        return X, has_gaps, pieces
    pieces = [] if visit is None else list(sweep(visit, X, _dask.row_numbers(X), width=X.shape[1]).pieces)
    return X, False, pieces


def _as_table(X: Any, *, accept_sparse: bool, min_samples: int) -> Any:
    """X that is elsewhere as a table of floating-point numbers, or a clear error."""
    if isinstance(X, _dask.Frame):
        _dask.check_workers(X)
        return X
    if _dask.is_dask(X):
        X = _dask.as_table(X)
        _dask.check_workers(X)
    elif not is_device_array(X):
        X = as_store(X)
    elif getattr(X, "requires_grad", False):
        raise TypeError("X is a tensor that requires grad, and clustering has none: pass X.detach().")
    if len(X.shape) != 2:
        raise ValueError(f"X must be a table, rows by features; got {len(X.shape)} dimensions.")
    if min(X.shape) < 1 or X.shape[0] < min_samples:
        raise ValueError(f"Found array with shape {tuple(X.shape)} while a minimum of {min_samples} rows is required.")
    X = _floating(X)
    if sp.issparse(getattr(X, "_meta", None)) and not accept_sparse:
        raise TypeError("Sparse chunks do not fit the full space: set n_components to work in principal ones.")
    return X


def _floating(X: Any) -> Sweepable:
    """float32 and float64 as they are, other real numbers as float64."""
    name = str(X.dtype).rsplit(".", maxsplit=1)[-1]
    if name in ("float32", "float64"):
        return X
    if "complex" in name:
        raise ValueError(f"Complex data not supported: X holds {name}.")
    if name == "object" or name.startswith(("str", "<U", "|S", "datetime")):
        raise ValueError(f"X must hold numbers; got {name}. Encode or leave out other columns.")
    return namespace(X).astype(X, namespace(X).float64) if is_device_array(X) else X.astype(np.float64)


def _check_finite(X: Sweepable, *, with_gaps: bool, visit: Visit | None = None) -> tuple[bool, list[NDArray]]:
    """Refuse rows that are not finite, and name the first; return whether there are gaps, if these are allowed.

    And the pieces of ``visit(block, numbers of its rows)``, which sees the same blocks.
    """
    n, with_gaps = X.shape[0], with_gaps and not sp.issparse(getattr(X, "_meta", X))
    numbers: Array = _dask.row_numbers(X) if _dask.is_dask(X) else np.arange(n)
    if is_device_array(X):
        numbers = like(numbers, X, namespace(X).int64)
    looked = partial(_looked_at, with_gaps=with_gaps, visit=visit)
    n_bad, first, gaps, *others = sweep(looked, X, numbers, width=X.shape[1]).pieces
    if n_bad.sum() > 0:
        what = "infinity" if with_gaps else "NaN or infinity"
        where = f"the first is row {first[first >= 0].min()}"
        raise ValueError(f"Input X contains {what} in {int(n_bad.sum())} of {n} rows; {where}. Remove or impute them.")
    return bool(gaps.sum() > 0), others


def _looked_at(x: Array, numbers: Array, *, with_gaps: bool, visit: Visit | None) -> Swept:
    """What is wrong with rows, then what a visit says of them."""
    looked = _not_finite(x, numbers, with_gaps=with_gaps)
    return looked if visit is None else Swept(pieces=[*looked.pieces, *visit(x, numbers).pieces])


def _not_finite(x: Array, numbers: Array, *, with_gaps: bool) -> Swept:
    """The number of rows that are not finite, the first of them, and whether there are allowed gaps."""
    values = x.data if is_sparse(x) else x
    xp = namespace(values)
    none = xp.zeros_like(numbers[:1])
    # On a device a sum is less work than a test of each value; a sum may be infinite though no value is.
    if (is_device_array(values) and xp.isfinite(xp.sum(values))) or xp.all(xp.isfinite(values)):
        return Swept(pieces=[none, none - 1, none])
    dense = x.toarray() if is_sparse(x) else x
    bad = xp.any(xp.isinf(dense) if with_gaps else ~xp.isfinite(dense), axis=1)
    n_bad, first = xp.reshape(xp.sum(xp.astype(bad, numbers.dtype)), (1,)), numbers[bad][:1]
    return Swept(pieces=[n_bad, first if first.shape[0] else none - 1, none + 1])


def check_weights_elsewhere(weights: Any, X: Sweepable) -> Any:
    """Weights, checked, where the rows are."""
    if getattr(weights, "requires_grad", False):
        raise TypeError("sample_weight is a tensor that requires grad: pass sample_weight.detach().")
    if hasattr(weights, "to_dask_array"):
        weights = weights.to_dask_array(lengths=True)
    if np.ndim(weights) == 0 and not is_device_array(weights):
        weights = np.full(X.shape[0], weights, dtype=np.float64)
    if np.shape(weights) != (X.shape[0],):
        raise ValueError(f"sample_weight.shape == {np.shape(weights)}, expected {(X.shape[0],)}!")
    if _dask.is_dask(X):
        return _dask.aligned(weights, X).astype(np.float64)
    if not is_device_array(X):
        return np.asarray(weights, dtype=np.float64)
    return like(to_host(weights) if is_device_array(weights) else np.asarray(weights), X, namespace(X).float64)
