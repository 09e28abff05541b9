"""Rows of a Dask array: each pass sends one small function to the chunks and brings small sums back."""

from __future__ import annotations

import itertools
import operator
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from functools import partial
from typing import Any, TypeGuard, TypeVar

import numpy as np
from numpy.typing import NDArray

from jointclust.exceptions import collected, tell
from jointclust.rows import threads
from jointclust.rows.blocks import Swept, Visit, joined
from jointclust.types import Array, Sweepable

_T = TypeVar("_T")
# Copies of a chunk that a task holds at the most, some of them in float64.
_COPIES = 4
# Chunks above which a fit warns, and how many of them Dask's scheduler manages in a minute.
MOST_CHUNKS, _CHUNKS_PER_MINUTE = 20_000, 5_000
# Bytes of a graph before Dask warns, out of reach: a large graph holds a sample, which is sent once.
_ANY_SIZE = 2**60
# Sums, pieces, and the shape and precision of each array with one row per row.
Small = tuple[list[Array], list[Array], list[tuple[tuple[int, ...], Any]]]


class Frame:
    """A Dask data frame as rows in chunks: its partitions, which stay data frames, and their lengths."""

    def __init__(self, frame: Any):
        self.parts = np.array(frame.to_delayed(), dtype=object)
        lengths = frame.map_partitions(len).compute()
        filled = np.asarray(lengths) > 0
        self.parts, lengths = self.parts[filled], np.asarray(lengths)[filled]
        self.columns, self._meta, self.dtype = frame.columns, frame._meta, np.dtype(np.float64)
        self.chunks = (tuple(int(length) for length in lengths), (len(frame.columns),))
        self.shape = (int(lengths.sum()), len(frame.columns))

    def to_delayed(self) -> NDArray:
        return self.parts


def as_frame(X: Any) -> Any:
    """The partitions of a Dask data frame; anything else as it is."""
    return Frame(X) if hasattr(X, "to_dask_array") and X.ndim == 2 else X


def is_dask(array: object) -> TypeGuard[Any]:
    """Whether this is a Dask array (or data frame), without importing Dask."""
    if isinstance(array, Frame):
        return True
    return type(array).__module__.split(".")[0] in ("dask", "dask_expr") and hasattr(array, "dask")


def row_numbers(array: Any) -> Any:
    """0, 1, 2, ... in the row chunks of an array."""
    import dask.array as da

    return da.arange(array.shape[0], chunks=(array.chunks[0],), dtype=np.int64)


def as_table(X: Any) -> Any:
    """A Dask array or data frame as a Dask array of known chunks, split along its rows alone."""
    if hasattr(X, "to_dask_array"):
        if X.ndim == 2 and not (X.dtypes == np.float32).all():
            X = X.astype(np.float64)
        X = X.to_dask_array(lengths=True)
    if X.ndim != 2:
        raise ValueError(f"X must be a table, rows by features; got {X.ndim} dimensions.")
    if any(np.isnan(length) for lengths in X.chunks for length in lengths):
        raise ValueError(
            "X has chunks of unknown size, as after a filter or from a data frame: call X.compute_chunk_sizes() first "
            "(for a data frame: frame.to_dask_array(lengths=True))."
        )
    if len(X.chunks[1]) > 1:
        tell(
            f"X is split along its columns ({len(X.chunks[1])} chunks) and is rechunked, for every method looks at "
            "whole rows. Save it chunked by rows to spare the copy.",
            UserWarning,
        )
        X = X.rechunk({1: -1})
    if X.shape[0] and 0 in X.chunks[0]:
        X = X.rechunk({0: tuple(length for length in X.chunks[0] if length)})
    return X


def aligned(values: Any, X: Any) -> Any:
    """An array with one row per row, in the row chunks of X."""
    import dask.array as da

    if not is_dask(values):
        values = da.from_array(np.asarray(values))
    return values.rechunk({0: X.chunks[0]})


def brought_here(array: Any) -> Any:
    """The same Dask array with its values in this process, so that it outlives the workers."""
    import dask.array as da

    return da.from_array(np.asarray(array), chunks=array.chunks)


def _apart(function: Callable[[Any], _T], value: Any) -> _T:
    """A function of a chunk or a number, in one thread: the scheduler uses the others."""
    with threads.apart():
        return function(value)


def _unheard(function: Callable[[Any], _T], value: Any) -> _T:
    """The same function without its warnings, which would go to the worker's terminal."""
    with collected():
        return _apart(function, value)


def mapped(function: Callable[..., Array], X: Any, tail: tuple[int, ...], dtype: Any) -> Any:
    """``function`` of each chunk, computed when the result is needed."""
    import dask.array as da

    if isinstance(X, Frame):
        import dask

        run = dask.delayed(partial(_apart, function), traverse=False)
        pairs = zip(X.parts, X.chunks[0], strict=True)
        return da.concatenate([da.from_delayed(run(part), (length, *tail), dtype=dtype) for part, length in pairs])
    X = as_table(X)
    chunks = (X.chunks[0], *[(length,) for length in tail])
    options: dict[str, Any] = {} if tail else {"drop_axis": 1}
    empty = np.empty((0,) * (1 + len(tail)), dtype)
    return da.map_blocks(partial(_apart, function), X, chunks=chunks, dtype=dtype, meta=empty, **options)


def sweep(task: Visit, sources: Sequence[Sweepable | None]) -> Swept:
    """The pass: rows stay on the workers as persisted Dask arrays, sums are added in a tree there."""
    import dask
    import dask.array as da

    lead = next(source for source in sources if is_dask(source))
    columns = [_chunks_of(source, lead) for source in sources]
    run = dask.delayed(operator.call, pure=False)
    work = dask.delayed(task, traverse=False, pure=False)
    parts = [run(work, *blocks) for blocks in zip(*columns, strict=True)]
    first, add = dask.delayed(_small_part), dask.delayed(_add)
    level = [first(part) for part in parts]
    while len(level) > 1:
        level = [add(level[i : i + 8]) for i in range(0, len(level), 8)]
    where = f"on the same chunk of X (the largest has {max(lead.chunks[0])} rows)"
    with _as_memory_error(where, "Rechunk X to fewer rows, or give workers more memory."):
        *kept, total = dask.persist(*[part.rows for part in parts], level[0])
        sums, pieces, shapes = dask.compute(total)[0]
    rows = []
    for k, (tail, dtype) in enumerate(shapes):
        pairs = zip(kept, lead.chunks[0], strict=True)
        rows.append(da.concatenate([da.from_delayed(part[k], (length, *tail), dtype=dtype) for part, length in pairs]))
    return Swept(rows, sums, pieces)


@contextmanager
def _as_memory_error(where: str, remedy: str) -> Iterator[None]:
    """Turn Dask's error about workers that died repeatedly into a MemoryError that says what to do."""
    try:
        yield
    except Exception as error:
        if type(error).__name__ != "KilledWorker":
            raise
        raise MemoryError(f"Workers died again and again {where}, most likely for lack of memory. {remedy}") from error


def each(run: Callable[[int], _T], n_runs: int, done: Callable[[_T], object]) -> list[_T] | None:
    """``run(0)`` to ``run(n_runs - 1)`` by the workers, ``done(result)`` as each arrives; None without a cluster.

    What ``run`` holds travels once. If a worker dies, others make its runs again. A fit that is itself a task of a
    worker gets None, too: it would wait for the thread that it occupies.
    """
    client = _client()
    if client is None or _is_task():
        return None
    import dask
    from distributed import as_completed

    work = dask.delayed(partial(_unheard, run), traverse=False, pure=False)
    call = dask.delayed(operator.call, pure=False)
    with dask.config.set({"distributed.admin.large-graph-warning-threshold": _ANY_SIZE}):
        futures = client.compute([call(work, index) for index in range(n_runs)])
    results: dict[str, _T] = {}
    try:
        with _as_memory_error("in the fit to the sample", "Give workers more memory."):
            for future, result in as_completed(futures, with_results=True):
                results[future.key] = result
                done(result)
    finally:
        client.cancel([future for future in futures if future.key not in results])
    return [results[future.key] for future in futures]


def _client() -> Any:
    """The cluster of this process, if there is one; otherwise Dask uses threads."""
    try:
        from distributed import get_client

        return get_client()
    except (ImportError, ValueError):
        return None


def _is_task() -> bool:
    """Whether a Dask worker runs this."""
    from distributed import get_worker

    try:
        get_worker()
    except ValueError:
        return False
    return True


def check_workers(X: Any) -> None:
    """Refuse workers that lack the package, or the memory for a chunk, and warn of very many chunks.

    Workers without memory would be killed again and again.
    """
    client = _client()
    if client is None:
        return
    if (n_chunks := len(X.chunks[0])) > MOST_CHUNKS:
        tell(
            f"X has {n_chunks:,} chunks of some {X.shape[0] // n_chunks:,} rows. Dask's scheduler may take "
            f"{n_chunks // _CHUNKS_PER_MINUTE} minutes for a fit, however many workers there are: rechunk to fewer, "
            "larger ones, of some 100 MB.",
            UserWarning,
        )
    # Not a function of ours: a worker that lacks the package could not even read it.
    answers = client.run(eval, "bool(__import__('importlib').util.find_spec('jointclust'))", on_error="return")
    lacking = [address for address, has_it in answers.items() if has_it is not True]
    if lacking:
        raise ModuleNotFoundError(
            f"{len(lacking)} of {len(answers)} Dask workers lack jointclust ({lacking[0]}): install the version there "
            "that is here, for example with client.register_plugin(distributed.PipInstall(['jointclust']))."
        )
    largest = max(X.chunks[0]) * X.shape[1] * X.dtype.itemsize
    for worker in client.scheduler_info(n_workers=-1)["workers"].values():
        limit, n_threads = worker["memory_limit"], worker["nthreads"]
        if limit and _COPIES * largest * n_threads > limit:
            rows = int(limit / (_COPIES * n_threads * X.shape[1] * X.dtype.itemsize))
            raise MemoryError(
                f"The largest chunk of X takes {largest / 2**20:.0f} MiB, too much for a worker with "
                f"{limit / 2**20:.0f} MiB and {n_threads} threads. Rechunk to {rows} rows or less, "
                f"X.rechunk(({rows}, -1)), or give workers more memory."
            )


def _chunks_of(source: Any, lead: Any) -> list[Any]:
    """One delayed block per chunk of the rows; host arrays travel by pieces."""
    lengths = lead.chunks[0]
    if source is None:
        return [None] * len(lengths)
    if is_dask(source):
        return list(source.to_delayed().ravel())
    edges = np.concatenate([[0], np.cumsum(lengths)])
    return [source[start:stop] for start, stop in itertools.pairwise(edges)]


def _small_part(swept: Swept) -> Small:
    return list(swept.sums), list(swept.pieces), [(part.shape[1:], part.dtype) for part in swept.rows]


def _add(level: Sequence[Small]) -> Small:
    sums = [sum(parts[1:], start=parts[0]) for parts in zip(*[part[0] for part in level], strict=True)]
    pieces = [joined(parts) for parts in zip(*[part[1] for part in level], strict=True)]
    return sums, pieces, level[0][2]
