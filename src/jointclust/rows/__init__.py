"""Where the rows live. Everything else sees only the few operations of :class:`Rows`, and :func:`sweep`."""

from __future__ import annotations

from collections.abc import Callable
from functools import cached_property
from typing import Any, TypeVar

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from jointclust.exceptions import tell
from jointclust.rows import _dask, blocks, threads
from jointclust.rows._inputs import (
    check_elsewhere,
    check_weights_elsewhere,
    check_with_gaps,
    is_elsewhere,
    refuse_annotated,
)
from jointclust.rows._inputs import checked_numbers as checked_numbers
from jointclust.rows._inputs import fetched as fetched
from jointclust.rows._inputs import is_annotated as is_annotated
from jointclust.rows._inputs import tidied as tidied
from jointclust.rows._store import Projected, Store, as_store, is_large_file, is_large_map
from jointclust.rows._sweep import Scaled, sweep
from jointclust.rows._sweep import block_length as block_length
from jointclust.rows.arrays import beside, is_device_array, like, namespace, precision, rows_at, to_host
from jointclust.rows.blocks import Swept
from jointclust.rows.blocks import Visit as Visit
from jointclust.rows.blocks import joined as joined
from jointclust.rows.fingerprint import checked_rows as checked_rows
from jointclust.rows.fingerprint import fingerprint as fingerprint
from jointclust.rows.memory import has_memory
from jointclust.types import Array, Float, Labels, Sweepable

_T = TypeVar("_T")
# Most rows of which all pairs are compared.
MOST_PAIRED = 10_000
# Rows that a function of rows in memory sees at a time.
_SOME = 8_192
# Bytes up to which an embedding of rows in a file, or a result for each of Dask's rows, is kept in memory.
KEPT = 2**31


def as_rows(X: Any, *, unit: bool = False) -> Rows:
    """Wrap a validated matrix, without copying it; with ``unit``, its rows count as scaled to length one."""
    return Rows(X, unit=unit)


class Rows:
    """A matrix X of n rows that can be swept. Centring is implicit: sweeps copy X a block at a time at the most.

    Small results (means, sums, scatters) come back on the host in float64, one-row-per-row results in the rows' own
    precision where the rows are.
    """

    def __init__(self, X: Any, *, unit: bool = False):
        self.unit = unit
        self.X = sp.csr_array(X) if sp.issparse(X) else X
        self.n_samples, self.n_features = X.shape
        self.is_sparse = sp.issparse(X) or sp.issparse(getattr(X, "_meta", None))
        # Whether passes are costly: each reads a file or asks other processes.
        self.is_remote = is_remote(X)
        self.n_passes = int(self.is_remote)  # the pass that looked for numbers that are not finite

    @property
    def dtype(self) -> np.dtype:
        """Precision of the rows, as NumPy names it."""
        return precision(self.X)

    def sweep(self, function: Any, *others: Any, width: int | None = None, budget: int = 2**19) -> Swept:
        """One pass, which is counted: ``function(block, *blocks of others)``, see :func:`sweep`."""
        self.n_passes += 1
        if self.unit:
            function = Scaled(function)
        return sweep(function, self.X, *others, width=self.n_features if width is None else width, budget=budget)

    @property
    def device(self) -> Array | None:
        """The rows, where they lie on a device that small problems are solved on too; None elsewhere."""
        return self.X if is_device_array(self.X) else None

    @cached_property
    def fingerprint(self) -> str:
        """What tells these rows from others."""
        self.n_passes += 1
        return fingerprint(self.X)

    def here(self, values: NDArray) -> Any:
        """A host array moved to where the rows are; its type stays."""
        if not is_device_array(self.X) or is_device_array(values):
            return values
        return like(values, self.X, getattr(namespace(self.X), str(values.dtype)))

    def mean(self, weights: Array | None) -> Float:
        """Weighted mean row."""
        total = self.sweep(lambda x, w: Swept(sums=[blocks.column_sums(x, w)]), weights).sums[0]
        return total / (self.n_samples if weights is None else total_weight(weights))

    def spread(self) -> float:
        """Largest range of a column, found without squaring."""
        low, high = self.sweep(lambda x: Swept(pieces=[end[None, :] for end in blocks.column_range(x)])).pieces
        return float(np.max(high.max(axis=0) - low.min(axis=0)))

    def squared_norm(self, mean: Float, weights: Array | None) -> float:
        """``sum_i w_i |x_i - m|^2``, the trace of the scatter."""
        mean = beside(mean, self.X, double=True)
        total = self.sweep(lambda x, w: Swept(sums=[blocks.squared_norm(x, w, mean)]), weights).sums[0]
        return max(float(total), 0.0)

    def scatter(self, mean: Float | None, weights: Array | None) -> Float:
        """``(X - 1m')' diag(w) (X - 1m')``, D x D."""
        mean = beside(mean, self.X, double=True)
        # Few blocks, for the D x D sum is costly.
        return self.sweep(lambda x, w: Swept(sums=[blocks.scatter(x, w, mean)]), weights, budget=2**20).sums[0]

    def gram(self, mean: Float) -> Float:
        """``(X - 1m')(X - 1m')'``, n x n."""
        return to_host(blocks.gram(blocks.unit(self.X) if self.unit else self.X, mean))

    def project(self, matrix: Float | None, mean: Float | None) -> Any:
        """``(X - 1m') B``, n x k; of remote rows as a :class:`Projected` where it is large."""
        if self.is_remote:
            view = Projected(self, matrix, mean)
            size = float(np.prod(view.shape)) * view.dtype.itemsize
            is_small = _dask.is_dask(self.X) or (size <= KEPT and has_memory(2 * size))
            if 4 * view.shape[1] > self.n_features or not is_small:  # computing it again costs less than keeping it
                return view
        matrix, mean = beside(matrix, self.X), beside(mean, self.X)
        return self.sweep(lambda x: Swept(rows=[blocks.project(x, matrix, mean)])).rows[0]

    def project_transposed(self, matrix: Sweepable, mean: Float | None) -> Float:
        """``(X - 1m')' B``, D x k, for a matrix B with one row per row."""
        mean = beside(mean, self.X, double=True)
        return self.sweep(lambda x, b: Swept(sums=[blocks.project_transposed(x, b, mean)]), matrix).sums[0]

    def scattered(self, matrix: Float, mean: Float, weights: Array | None) -> Float:
        """``(X - 1m')' diag(w) (X - 1m') B``: the scatter times a matrix, in one pass."""
        matrix, mean = beside(matrix, self.X), beside(mean, self.X, double=True)

        def product(x: Array, w: Array | None) -> Swept:
            image = blocks.float64(blocks.project(x, matrix, mean))
            return Swept(sums=[blocks.project_transposed(x, image if w is None else w[:, None] * image, mean)])

        return self.sweep(product, weights, width=self.n_features + matrix.shape[1]).sums[0]

    def cluster_sums(self, labels: Labels, n_clusters: int, weights: Array | None, mean: Float | None) -> Float:
        """``sum_i w_i (x_i - m)`` over the rows of each cluster."""
        mean = beside(mean, self.X)
        return self.sweep(
            lambda x, own, w: Swept(sums=[blocks.cluster_sums(x, own, n_clusters, w, mean)]), labels, weights
        ).sums[0]

    def beside(self, values: NDArray) -> Any:
        """A host array with one row per row, moved to where the rows are."""
        return _dask.aligned(values, self.X) if _dask.is_dask(self.X) else self.here(values)

    def take(self, index: Array) -> Rows:
        """Some of the rows; not of remote ones."""
        return Rows(namespace(self.X).take(self.X, index, axis=0) if is_device_array(self.X) else self.X[index])


PLACES = {"memory": "in memory", "device": "on a device", "file": "in a file", "dask": "of a Dask array"}


def in_memory(
    X: Any, who: str, rng: np.random.RandomState, weights: Any = None
) -> tuple[Any, Any, NDArray[np.intp] | None]:
    """Rows in the host's memory for a method that compares pairs, their weights, and their numbers elsewhere.

    Of more than 10,000 rows elsewhere a sample of those with weight is taken, with a warning.
    """
    refuse_annotated(X)
    if not is_elsewhere(X):
        return X, weights, None
    X = check_elsewhere(X, accept_sparse=True, min_samples=1)
    weights = None if weights is None else to_host(check_weights_elsewhere(weights, X))
    index = np.arange(X.shape[0]) if weights is None else np.flatnonzero(weights)
    if index.size > MOST_PAIRED:
        index = np.sort(rng.choice(index, MOST_PAIRED, replace=False))
        tell(
            f"{who} looks at pairs of rows, and X has {X.shape[0]:,} rows {PLACES[kind_of(X)]}: a random sample of "
            f"{index.size:,} rows is taken.",
            UserWarning,
        )
    return _taken(X, index), None if weights is None else weights[index], index


def _taken(X: Sweepable, index: NDArray[np.intp]) -> Any:
    """Some of the rows, on the host, in their order."""
    if is_device_array(X):
        return to_host(rows_at(X, index))
    wanted = np.zeros(X.shape[0], dtype=bool)
    wanted[index] = True
    return sweep(lambda x, some: Swept(pieces=[x[some]]), X, wanted, width=X.shape[1]).pieces[0]


def kind_of(X: object) -> str:
    """Where rows are: one of :data:`PLACES`."""
    if _dask.is_dask(X):
        return "dask"
    if is_device_array(X):
        return "device"
    return "file" if isinstance(X, Store) or is_large_map(X) or is_large_file(X) else "memory"


is_lazy, lazily, as_table, as_frame = _dask.is_dask, _dask.mapped, _dask.as_table, _dask.as_frame


def as_plain(X: Any) -> Any:
    """Rows without names: a data frame of Dask as an array."""
    return _dask.as_table(X) if _dask.is_dask(X) else X


def is_remote(array: object) -> bool:
    """Whether an array with one row per row is read from a file, or lives with Dask."""
    return isinstance(array, Store | Projected) or _dask.is_dask(array)


def each(
    run: Callable[[int], _T], n_runs: int, n_jobs: int | None, workers_of: Any, done: Callable[[_T], object]
) -> list[_T]:
    """``run(0)`` to ``run(n_runs - 1)``, ``done(result)`` after each: by the workers that hold Dask's rows, or threads.

    Warnings of workers do not reach the caller.
    """

    def run_here(index: int) -> _T:
        result = run(index)
        done(result)
        return result

    by_workers = _dask.each(run, n_runs, done) if _dask.is_dask(workers_of) else None
    return threads.each(run_here, n_runs, n_jobs) if by_workers is None else by_workers


def total_weight(weights: Array) -> float:
    """The sum of the weights of the rows."""
    return float(sweep(lambda w: Swept(sums=[namespace(w).sum(blocks.float64(w))]), weights).sums[0])


def n_present(weights: Array) -> int:
    """The number of rows that have weight."""
    swept = sweep(lambda w: Swept(sums=[namespace(w).sum(blocks.float64(w > 0))]), weights)
    return int(swept.sums[0])


def materialised(Y: Sweepable) -> Any:
    """An embedding that is not kept anywhere, computed."""
    return sweep(lambda y: Swept(rows=[y]), Y).rows[0] if isinstance(Y, Projected) else Y


def weight_limits(weights: Array) -> tuple[float, float]:
    """The least of the weights, and their sum."""

    def limits(w: Array) -> Swept:
        xp = namespace(w)
        return Swept(sums=[xp.sum(w)], pieces=[xp.reshape(xp.min(w), (1,))])

    swept = sweep(limits, weights)
    return float(swept.pieces[0].min()), float(swept.sums[0])


def sample(
    Y: Sweepable, size: int, rng: np.random.RandomState, weights: Array | None
) -> tuple[NDArray, NDArray | None]:
    """A sample of about this size, drawn by weight, on the host, with the weights of its rows.

    All rows, if there are no more. A row is drawn with the chance ``min(1, factor * weight)`` and its weight is divided
    by that; on a device, rows with weight are drawn with equal chances and keep their weights.
    """
    return sample_known(Y, size, rng, weights, None)[:2]


def sample_known(
    Y: Sweepable, size: int, rng: np.random.RandomState, weights: Array | None, known: Array | None
) -> tuple[NDArray, NDArray | None, NDArray | None]:
    """The same with the rows' known labels (not negative); if few rows have one, all of those are drawn."""
    if is_device_array(Y):
        return _drawn_on_device(Y, size, rng, weights, known)
    n = Y.shape[0]
    everything = n <= size
    seed = 0 if everything else int(rng.randint(np.iinfo(np.int32).max))
    share = size / n if weights is None or everything else _share(weights, size)
    shares = None if known is None or everything else _shares_of_known(known, size)

    def drawn(y: NDArray, w: NDArray | None, labels: NDArray | None, numbers: NDArray) -> Swept:
        chosen, left = np.ones(y.shape[0], dtype=bool), w
        if not everything:
            chance = np.full(y.shape[0], share) if w is None else np.minimum(share * w, 1.0)
            if labels is not None and shares is not None:
                chance, w = np.maximum(shares[labels + 1], chance), np.ones(y.shape[0]) if w is None else w
            chosen = blocks.uniform(numbers, seed) < chance
            left = None if w is None else w / np.where(chosen, chance, 1.0)
        return Swept(pieces=[part[chosen] for part in (y, left, labels) if part is not None])

    rows = Y.rows.X if isinstance(Y, Projected) else Y
    numbers = _dask.row_numbers(rows) if _dask.is_dask(rows) else np.arange(n)
    first, *others = sweep(drawn, Y, weights, known, numbers).pieces
    labels = None if known is None else others.pop()
    return first, others[0] if others else None, labels


def _shares_of_known(known: Array, size: int) -> Float:
    """Least chance to be drawn by known label, -1 first: each known label gets an equal part of the sample."""
    counted = sweep(lambda k: Swept(pieces=list(np.unique(to_host(k), return_counts=True))), known).pieces
    counts = np.bincount(counted[0] + 1, weights=counted[1])
    return np.where(np.arange(counts.size) > 0, np.minimum(1.0, size / counts.size / np.maximum(counts, 1.0)), 0.0)


def _drawn_on_device(
    Y: Array, size: int, rng: np.random.RandomState, weights: Array | None, known: Array | None
) -> tuple[NDArray, NDArray | None, NDArray | None]:
    host, labels = (None if values is None else to_host(values) for values in (weights, known))
    if Y.shape[0] <= size:
        return to_host(Y), host, labels
    present = np.arange(Y.shape[0]) if host is None else np.flatnonzero(host)
    index = np.sort(rng.permutation(present)[:size])
    if labels is not None:
        chosen = rng.uniform(size=present.size) < _shares_of_known(labels, size)[labels[present] + 1]
        index = np.union1d(index, present[chosen])
    return _taken(Y, index), *(None if values is None else values[index] for values in (host, labels))


def some_rows(X: Any, size: int, rng: np.random.RandomState) -> Any:
    """A sample, on the host, of rows on a device, in a large file or with Dask; other rows as they are."""
    if not is_elsewhere(X):
        return X
    X = check_with_gaps(X, min_samples=2)[0]
    return sample(X, size, rng, None)[0] if is_remote(X) or is_device_array(X) else X


def outliving(array: Any) -> Any:
    """A Dask array with one row per row that outlives the workers, unless it is too large to be brought here."""
    is_small = _dask.is_dask(array) and array.dtype.itemsize * np.prod(array.shape) <= KEPT
    return _dask.brought_here(array) if is_small else array


def computed(value: Any, name: str) -> Any:
    """A Dask array as one of NumPy; any other value as it is."""
    if not _dask.is_dask(value):
        return value
    try:
        return to_host(value)
    except Exception as error:
        raise RuntimeError(
            f"{name} is with Dask workers that are gone ({error}): compute it before the cluster is closed, as in "
            f"model.{name} = model.{name}.compute(), or fit again."
        ) from error


def each_row(function: Callable[[Any], Any], X: Any, tail: tuple[int, ...], dtype: Any, width: int) -> Any:
    """A function of blocks applied to all rows, where the rows are; with Dask, computed when it is needed.

    ``width`` is the number of values that it makes of a row. Rows may have gaps (NaN).
    """
    if _dask.is_dask(X):
        return _dask.mapped(function, as_frame(X), tail, dtype)
    X = check_with_gaps(X, min_samples=1)[0]
    swept = sweep(lambda x: Swept(rows=[function(x)]), X, width=width, budget=_SOME * width)
    return as_rows(X).here(swept.rows[0])


def loaded(X: Any) -> Any:
    """Rows in a small file, and those of a lazy frame of polars, in memory; anything else as it is."""
    X = fetched(X)
    stored = as_store(X)
    return stored if isinstance(stored, np.ndarray) else X


def host_block(x: Any) -> Any:
    """A block of rows in the host's memory; sparse rows and those of a data frame stay what they are."""
    return to_host(x) if is_device_array(x) else x


def _share(weights: Array, size: int) -> float:
    """The factor with which ``min(1, factor * weight)`` adds up to the size."""
    factor = size / total_weight(weights)
    for _ in range(50):
        limit = 1.0 / factor

        def parts(w: NDArray, limit: float = limit) -> Swept:
            return Swept(sums=[np.sum(w >= limit), np.sum(np.where(w < limit, w, 0.0))])

        n_certain, rest = (float(part) for part in sweep(parts, weights).sums)
        if rest == 0 or n_certain >= size:
            break
        better = (size - n_certain) / rest
        if better <= factor * (1 + 1e-6):
            break
        factor = better
    return factor
