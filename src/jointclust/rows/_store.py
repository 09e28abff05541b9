"""Rows that are read when they are needed: a memory-mapped array, an HDF5 data set, a Zarr array."""

from __future__ import annotations

import mmap
import os
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from jointclust.exceptions import tell
from jointclust.types import Float

# Bytes up to which rows in a file are simply loaded.
IN_MEMORY = 2**28


class Store:
    """A matrix in a file, read by stretches of rows; ``read`` keeps only its result in memory."""

    def __init__(self, source: Any):
        self.source = source
        self.shape = tuple(source.shape)
        dtype = np.dtype(source.dtype)
        if dtype.kind not in "fiub":
            what = "Complex data not supported: X" if dtype.kind == "c" else "X must hold numbers; it"
            raise ValueError(f"{what} holds {dtype}.")
        # Other numbers are read as the floating-point numbers that hold them.
        self.dtype = dtype if dtype in (np.float32, np.float64) else np.dtype(np.float64)
        self._map = memory_map(source)

    def stretch(self, n_bytes: int) -> int:
        """Rows that take so many bytes; whole chunks of the file where it has chunks."""
        rows = max(1, n_bytes // max(1, self.shape[1] * self.dtype.itemsize))
        chunks = getattr(self.source, "chunks", None)
        if not chunks or chunks[0] > 4 * rows:  # whole chunks by columns would be the whole file
            return rows
        return max(1, rows // chunks[0]) * chunks[0]

    def read(self, block: slice) -> NDArray:
        check_whole(self._map)
        rows = np.array(_read(self.source, block), dtype=self.dtype, order="C")
        if self._map is not None and self._map.mode != "c":  # whose changes live in those pages alone
            self._let_go(block)
        return rows

    def _let_go(self, block: slice) -> None:
        """Release mapped pages, which count as this process's memory until then."""
        source, mapped = self.source, self._map
        assert mapped is not None
        first = source.__array_interface__["data"][0] - np.frombuffer(mapped._mmap, np.uint8, 1).ctypes.data
        start, stop = first + block.start * source.strides[0], first + block.stop * source.strides[0]
        if source.strides[0] < abs(source.strides[1]):  # stored by columns: each row is all over the file
            start, stop = 0, len(mapped._mmap)
        start -= start % mmap.PAGESIZE
        if hasattr(mmap, "MADV_DONTNEED") and stop > start:
            mapped._mmap.madvise(mmap.MADV_DONTNEED, start, stop - start)


def memory_map(array: object) -> Any:
    """The memory map that an array takes whole rows of; None for other arrays."""
    if not isinstance(array, np.ndarray) or array.ndim != 2 or array.strides[0] <= 0:
        return None
    base: object = array
    while isinstance(base, np.ndarray):
        if isinstance(base, np.memmap) and getattr(base, "_mmap", None) is not None:
            return base
        base = base.base
    return None


def check_whole(mapped: Any) -> None:
    """Refuse a map whose file has become shorter: reading it would end the process (SIGBUS)."""
    if mapped is not None and mapped._mmap.size() < len(mapped._mmap):
        raise ValueError(
            f"X is a map of {mapped.filename}, of which {len(mapped._mmap):,} bytes were mapped and "
            f"{mapped._mmap.size():,} are left: the file has been cut. Write it again, and load it again."
        )


def _read(source: Any, block: slice) -> Any:
    """Rows of an array or file; what cannot be read, or is no longer there, is told."""
    try:
        rows = source[block]
    except (OSError, RuntimeError) as error:
        raise OSError(f"X cannot be read from its file ({error}): write it again, and load it again.") from error
    if getattr(getattr(source, "file", None), "driver", None) == "sec2" and source.file.mode == "r":
        # HDF5 reads zeros behind the end of a file that has become shorter since it was opened.
        handle = source.file.id
        opened, left = handle.get_filesize(), os.fstat(handle.get_vfd_handle()).st_size
        if left < opened:
            raise ValueError(
                f"X is in {source.file.filename}, of which there were {opened:,} bytes and {left:,} are left: the file "
                "has been cut. Write it again, and open it again."
            )
    return rows


def is_large_map(X: object) -> bool:
    """Whether this is an array in a mapped file that should not be loaded as a whole."""
    return isinstance(X, np.ndarray) and X.nbytes > IN_MEMORY and memory_map(X) is not None


def is_file(X: object) -> bool:
    """Whether this is a matrix in a file (HDF5, Zarr) from which stretches of rows can be read."""
    return all(hasattr(X, name) for name in ("chunks", "dtype", "shape", "__getitem__")) and not hasattr(X, "dask")


def as_store(X: Any) -> Store | NDArray | None:
    """A :class:`Store` for a memory map or file that is large; an array for a file that is not; None otherwise."""
    if is_large_map(X):
        return Store(X)
    if isinstance(X, np.ndarray) or not is_file(X):
        return None
    if len(X.shape) != 2:
        raise ValueError(f"X must be a table, rows by features; got {len(X.shape)} dimensions.")
    _tell_missing(X)
    return Store(X) if is_large_file(X) else np.asarray(_read(X, slice(None)))


def is_large_file(X: Any) -> bool:
    """Whether a matrix in a file should not be loaded as a whole."""
    return is_file(X) and np.prod(X.shape) * np.dtype(X.dtype).itemsize > IN_MEMORY


def _tell_missing(X: Any) -> None:
    """Warn of missing chunks, which Zarr reads as if they held its fill value."""
    n_missing = getattr(X, "nchunks", 0) - getattr(X, "nchunks_initialized", 0)
    if n_missing > 0:
        tell(
            f"{n_missing} of {X.nchunks} chunks of X are not in its store, and are read as {X.fill_value}: unless that "
            "is what they held, X was not written whole.",
            UserWarning,
        )


@dataclass(frozen=True, eq=False)
class Projected:
    """``(X - 1m') B`` of rows that live elsewhere, computed block by block when it is swept and never kept."""

    rows: Any
    matrix: Float | None
    mean: Float | None

    @property
    def shape(self) -> tuple[int, int]:
        return self.rows.n_samples, self.rows.n_features if self.matrix is None else self.matrix.shape[1]

    @property
    def dtype(self) -> np.dtype:
        return self.rows.dtype

    def __len__(self) -> int:
        return self.rows.n_samples
