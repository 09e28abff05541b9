"""Files of rows, in the formats that people have, as one kind of table."""

from __future__ import annotations

import os
import zipfile
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import scipy.io

from jointclust.exceptions import Setting
from jointclust.readers._arrow import arrow_columns, read_feather, read_parquet
from jointclust.readers._columns import Columns
from jointclust.readers._mat import read_mat
from jointclust.readers._matrix import read_h5ad, read_market, read_npy, read_npz, read_svmlight
from jointclust.readers._sheet import CellSource
from jointclust.readers._sources import ENDINGS, Delimited, Lines, Worksheet, read_delimited, read_json_lines, read_xlsx
from jointclust.readers._table import (
    NoColumnError,
    Options,
    ReadError,
    Table,
    check_finite,
    most_unpacked,
    needed,
    restricted,
    unpacks_to,
)

__all__ = ["FORMATS", "Columns", "NoColumnError", "ReadError", "Table", "as_written", "format_of", "read"]

FORMATS: dict[str, Callable[[Path, Options], Table]] = {
    "csv": read_delimited,
    "tsv": read_delimited,
    "parquet": read_parquet,
    "feather": read_feather,
    "xlsx": read_xlsx,
    "jsonl": read_json_lines,
    "npy": read_npy,
    "npz": read_npz,
    "mat": read_mat,
    "mtx": read_market,
    "svmlight": read_svmlight,
    "h5ad": read_h5ad,
}
_ENDINGS = {"txt": "csv", "tab": "tsv", "pq": "parquet", "svm": "svmlight", "libsvm": "svmlight", "mm": "mtx"}
_ENDINGS |= {"arrow": "feather", "ndjson": "jsonl"} | {name: name for name in FORMATS}
# Formats whose readers take only the columns asked for; of the others, all are read first.
_TABLES = {"csv", "tsv", "parquet", "feather", "xlsx", "jsonl"}
_CELLS: dict[str, type[CellSource]] = {"csv": Delimited, "tsv": Delimited, "xlsx": Worksheet, "jsonl": Lines}


def format_of(path: str | os.PathLike[str]) -> str:
    """The format of a file, by its name.

    Examples
    --------
    >>> format_of("data.csv.gz")
    'csv'
    """
    name = Path(path).name.lower()
    for ending in ENDINGS:
        name = name.removesuffix(ending)
    try:
        return _ENDINGS[name.rpartition(".")[2]]
    except KeyError:
        raise ReadError(
            f"{path}: the ending of its name is unknown (known are {', '.join(_ENDINGS)}, the text ones also with "
            f"{', '.join(ENDINGS)}): name its format.",
            Setting("format"),
        ) from None


def read(path: str | os.PathLike[str], format: str | None = None, **options: Any) -> Table:
    """Read a file of rows.

    Parameters
    ----------
    path : path-like
        CSV, TSV or JSON lines (also ``.gz``, ``.bz2``, ``.xz``, ``.zst``), Excel's ``.xlsx``, Parquet, Feather,
        ``.npy`` (memory-mapped), ``.npz``, ``.mat``, Matrix Market, svmlight or ``.h5ad``.
    format : str, default=None
        One of ``FORMATS``; None goes by the name's ending.
    **options
        Those of :class:`Options`.
    """
    path = Path(path)
    if not path.exists():
        raise ReadError(f"{path}: there is no such file.")
    if path.is_dir():
        raise ReadError(f"{path} is a folder: give a file in it.")
    if path.stat().st_size == 0:
        raise ReadError(f"{path} is empty.")
    kind = format or format_of(path)
    chosen = _options(kind, options)
    if (unpacked := _unpacked_size(path, kind)) > most_unpacked(path, chosen):
        raise unpacks_to(path, unpacked)
    with _explained(path, kind):
        table = FORMATS[kind](path, chosen)
    if kind not in _TABLES:
        table = restricted(path, table, chosen)
    if table.data.shape[0] == 0 or table.data.shape[1] == 0:
        raise ReadError(f"{path} holds {table.data.shape[0]} rows of {table.data.shape[1]} numeric columns.")
    check_finite(path, table, chosen)
    return table


@contextmanager
def _explained(path: Path, kind: str) -> Iterator[None]:
    """Turn any error that a library raises for a damaged file into one that names the file."""
    try:
        yield
    except (ReadError, MemoryError):
        raise
    except ImportError as error:
        raise ReadError(f"{path}: {error}") from error
    except PermissionError as error:
        raise ReadError(f"{path}: no permission to read it.") from error
    except Exception as error:
        raise ReadError(f"{path} cannot be read as {kind}: {error}") from error


def _unpacked_size(path: Path, kind: str) -> float:
    """The bytes that an archive says it unpacks to; 0 for other files, and for those whose reader will complain."""
    try:
        if kind in ("npz", "xlsx"):
            with zipfile.ZipFile(path) as archive:
                return sum(item.file_size for item in archive.infolist())
        if kind == "mat":
            stored = scipy.io.whosmat(path)
            return sum(8.0 * np.prod(shape, dtype=float) for _, shape, what in stored if what != "sparse")
        if kind == "h5ad":
            sizes: list[float] = []
            with needed("h5py", "reading .h5ad").File(path) as file:
                file.visititems(lambda _, stored: sizes.append(getattr(stored, "nbytes", 0)))
            return sum(sizes)
        if kind == "parquet":
            known = needed("pyarrow.parquet", "reading Parquet").read_metadata(path)
            return 8.0 * known.num_rows * known.num_columns
    except Exception:  # whatever a library says of a damaged file
        return 0
    return 0


def as_written(path: str | os.PathLike[str], format: str | None = None, **options: Any) -> Mapping[str, Sequence[Any]]:
    """Every column of a file that was read, features or not, as it is written there: text of text files.

    A matrix without names has x0, x1, and so on.
    """
    path, kind = Path(path), format or format_of(path)
    chosen = _options(kind, options)
    with _explained(path, kind):
        if kind in _CELLS:
            source = _CELLS[kind](path, chosen)
            rows = [row for _, row in source.rows()]
            return {name: [row[index] for row in rows] for index, name in enumerate(source.names)}
        if kind in _TABLES:
            return arrow_columns(path, kind)
        table = FORMATS[kind](path, Options())
    if not isinstance(table.data, np.ndarray):
        raise ReadError(f"{path} holds a sparse matrix, which has no columns to write labels beside.")
    names = table.names or [f"x{index}" for index in range(table.data.shape[1])]
    return dict(zip(names, table.data.T, strict=True))


def _options(kind: str, given: dict[str, Any]) -> Options:
    """How to read a format."""
    chosen = Options(**given)
    return replace(chosen, delimiter="\t") if kind == "tsv" and chosen.delimiter is None else chosen
