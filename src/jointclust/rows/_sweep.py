"""One pass over the rows, block by block: each block gives values for its rows, and small sums that are added up.

The engines differ in where the blocks come from (memory, a device, a file, Dask); what is done with a block does not.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from functools import partial
from typing import Any

import numpy as np
import scipy.sparse as sp

from jointclust.rows import _dask, threads
from jointclust.rows._store import Projected, Store
from jointclust.rows.arrays import is_device_array, namespace, to_host
from jointclust.rows.blocks import Swept, Visit, float64, is_table, joined, project, unit
from jointclust.types import Array, Sweepable

# Values of a block of temporaries: it stays in the cache, or in a small part of a GPU.
_CACHE, DEVICE = 2**18, 2**26
# Fewest values that threads share, and bytes that a thread reads from a file at a time.
_LARGE, _READ = 2**22, 2**25


def block_length(n_columns: int, budget: int) -> int:
    """Rows per block, so that a block holds about ``budget`` values. It depends on the data alone."""
    return max(64, budget // max(1, n_columns))


def sweep(function: Visit, *arrays: Sweepable | None, width: int = 1, budget: int = _CACHE) -> Swept:
    """Apply ``function`` to blocks of arrays that have the same rows (None stays None).

    ``width`` is the number of values that the function makes of a row. The sums come back as float64 on the host, and
    so do the pieces; arrays with one row per row stay where the rows are.
    """
    most = block_length(width, budget)
    if all(array is None or (type(array) is np.ndarray and len(array) <= most) for array in arrays):
        return _on_host(function(*arrays))  # one block, which needs no engine
    for array in arrays:
        if isinstance(array, Projected):
            array.rows.n_passes += 1
    sources = [array.rows.X if isinstance(array, Projected) else array for array in arrays]
    lead = next(source for source in sources if source is not None)
    views = [array if isinstance(array, Projected) else None for array in arrays]
    if any(view is not None for view in views):
        matrices = [None if view is None else (view.matrix, view.mean) for view in views]
        function = partial(_project_first, function, matrices)
    if any(_dask.is_dask(source) for source in sources):
        return _dask.sweep(partial(_on_chunk, function, width, budget), sources)
    if is_device_array(lead):
        return _on_host(local(function, sources, width, DEVICE))
    stretch = _stretch(sources, width, budget)
    if stretch >= lead.shape[0] and not any(isinstance(source, Store) for source in sources):
        return _on_host(local(function, sources, width, budget))
    return _pooled(function, sources, width, budget, stretch)


def _project_first(function: Visit, views: list[Any], *blocks: Array) -> Swept:
    """A function of projected blocks, applied to the blocks themselves."""
    pairs = zip(blocks, views, strict=True)
    return function(*[block if view is None else project(block, *view) for block, view in pairs])


class Scaled:
    """A function of blocks as a function of blocks whose rows are first scaled to length one."""

    def __init__(self, function: Visit):
        self.function = function

    def __call__(self, x: Array, *others: Array | None) -> Swept:
        return self.function(unit(x), *others)


def _on_chunk(function: Visit, width: int, budget: int, *chunks: Array | None) -> Swept:
    """What a Dask worker does with a chunk."""
    with threads.single():
        return _on_host(local(function, chunks, width, budget))


def local(function: Visit, arrays: Sequence[Any], width: int, budget: int) -> Swept:
    """The pass over arrays in memory, in blocks."""
    n = next(array for array in arrays if array is not None).shape[0]
    step = block_length(width, budget)
    if any(sp.issparse(array) for array in arrays):
        # Sparse products are one pass each; a scaled copy is one of some rows at a time.
        step = max(1, n // 16) if isinstance(function, Scaled) else n
    if step >= n:
        return function(*arrays)
    starts = range(0, n, step)
    blocks = ([_cut(array, slice(start, min(start + step, n))) for array in arrays] for start in starts)
    return _put_together(n, ((start, function(*block)) for start, block in zip(starts, blocks, strict=True)))


def _cut(array: Any, block: slice) -> Any:
    """Some of the rows; None stays None."""
    if array is None:
        return None
    if isinstance(array, Store):
        return array.read(block)
    if is_table(array):
        return array.iloc[block]
    return array[block] if sp.issparse(array) else array[block, ...]  # some libraries want every axis named


def _put_together(n: int, parts: Iterable[tuple[int, Swept]]) -> Swept:
    """The results of all blocks in one; each has the number of its first row, and sums are added in order."""
    rows: list[Any] = []
    sums: list[Any] = []
    pieces: list[list[Any]] = []
    for start, part in parts:
        if start == 0:
            rows = [_empty(n, block) for block in part.rows]
            sums, pieces = list(part.sums), [[] for _ in part.pieces]
        else:
            sums = [total + one for total, one in zip(sums, part.sums, strict=True)]
        for whole, block in zip(rows, part.rows, strict=True):
            whole[start : start + block.shape[0], ...] = block
        for kept, piece in zip(pieces, part.pieces, strict=True):
            kept.append(piece)
    return Swept(rows, sums, [joined(kept) for kept in pieces])


def _empty(n: int, like: Array) -> Array:
    if isinstance(like, np.ndarray):
        return np.empty((n, *like.shape[1:]), dtype=like.dtype)
    from array_api_compat import device

    return namespace(like).empty((n, *like.shape[1:]), dtype=like.dtype, device=device(like))


def _on_host(swept: Swept) -> Swept:
    """Sums and pieces on the host; blocks of one pass are added up before they cross."""
    pieces = [part if sp.issparse(part) or is_table(part) else to_host(part) for part in swept.pieces]
    return Swept(swept.rows, _together(swept.sums), pieces)


def _together(sums: Sequence[Any]) -> list[Any]:
    """Sums on the host; those on a device cross together, because each crossing waits for it."""
    if len(sums) < 2 or not all(is_device_array(part) for part in sums):
        return [to_host(part) for part in sums]
    xp = namespace(sums[0])
    flat = to_host(xp.concat([xp.reshape(float64(part), (-1,)) for part in sums]))
    ends = np.cumsum([int(np.prod(part.shape)) for part in sums])
    return [part.reshape(one.shape) for part, one in zip(np.split(flat, ends[:-1]), sums, strict=True)]


def _stretch(sources: Sequence[Sweepable | None], width: int, budget: int) -> int:
    """Rows that a thread takes at a time; they depend on the data alone, so that results depend on no threads."""
    for source in sources:
        if isinstance(source, Store):
            return source.stretch(_READ)
    if any(sp.issparse(source) for source in sources):
        return np.iinfo(np.int64).max  # sparse products are one pass each
    step = block_length(width, budget)
    return step * max(1, _LARGE // (step * max(1, width)))


def _pooled(function: Visit, sources: Sequence[Sweepable | None], width: int, budget: int, step: int) -> Swept:
    """The pass by threads: each reads and computes one stretch of rows at a time; sums are added in order."""
    n = next(source for source in sources if source is not None).shape[0]

    def one(start: int) -> Swept:
        block = slice(start, min(start + step, n))
        return local(function, [_cut(source, block) for source in sources], width, budget)

    with threads.single():
        return _on_host(_put_together(n, threads.in_order(one, range(0, n, step))))
