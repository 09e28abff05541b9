"""Rows that repeat others, names that several rows have, and a last row that is the total of the others."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from jointclust.cli.console import counted
from jointclust.readers import Columns, Table

# Columns of which the values are compared: more are pixels, genes or words.
_COUNTED = 1000
# Repeated rows are reported up to this share of the rows; beyond it they are usual.
_RARE = 0.1
# Columns up to which equal rows are usual.
_FEW = 3
# Rows for each name from which on they look like measurements of one thing, a line for each.
_LONG = 4
# What the last row of a table is called that holds totals.
_TOTALS = {"total", "totals", "grand total", "sum", "summe", "gesamt", "gesamtsumme", "somme", "totale", "suma"}
_MULTIPLIER = np.uint64(0x9E3779B97F4A7C15)


def arrays_of(data: Any) -> list[NDArray] | None:
    """The columns of a table, unless they are words, pixels or genes."""
    if isinstance(data, Columns):
        return list(data.values())
    is_small = isinstance(data, np.ndarray) and data.ndim == 2 and data.shape[1] <= _COUNTED
    return list(data.T) if is_small else None


def describe_ids(table: Table, n_rows: int) -> str:
    """That several rows have the same name, if they have."""
    n_ids = n_rows if table.ids is None else len(set(table.ids.tolist()))
    if n_ids == n_rows:
        return ""
    what = (
        f"{n_rows:,} rows have {n_ids:,} names in column {table.id_column!r}: several rows of labels.csv will have the "
        "same id."
    )
    if n_rows < _LONG * n_ids:
        return what
    return (
        f"{what} To cluster the {n_ids:,} names, bring the file into one row for each, with a column per measurement."
    )


def describe_total(table: Table) -> str:
    """That the last row looks like a total, by the name it has in a column of text, if it does."""
    columns = [table.data[name] for name in table.data] if isinstance(table.data, Columns) else []
    columns += [table.beside[name] for name in table.beside]
    columns += [] if table.ids is None else [table.ids]
    last = [column for column in columns if len(column) > 1 and column.dtype == object]
    for column in last:
        name = str(column[-1]).strip().rstrip(":").lower()
        if name in _TOTALS and column[-1] not in column[:-1].tolist():
            return f"The last row ({column[-1]!r}) looks like a total. It is taken as a row: if it is none, delete it."
    return ""


def describe_repeats(n_repeated: int | None) -> str:
    """That rows repeat others, if they do."""
    if not n_repeated:
        return ""
    verb = "repeats" if n_repeated == 1 else "repeat"
    return f"{counted(n_repeated, 'row')} {verb} another one in all columns but ids."


def describe_copies(table: Table) -> list[str]:
    """What to say of copies before a fit: that names are shared, and that rows repeat others where that is rare."""
    is_text = isinstance(table.data, np.ndarray) and table.data.ndim == 1
    arrays = [table.data] if is_text else arrays_of(table.data)
    if not arrays:
        return []
    n_rows = len(arrays[0])
    n_repeated = n_rows - n_different_rows(arrays)
    if shared := describe_ids(table, n_rows):
        n_copies = n_rows - n_different_rows([*arrays, np.asarray(table.ids, dtype=object)])
        copies = (
            f" {counted(n_copies, 'row')} {'is a copy' if n_copies == 1 else 'are copies'} of another, id included."
        )
        return [shared + (f"{copies} To leave them out, delete them from the file." if n_copies else "")]
    # Rows with names of their own are no copies, and of few columns many are alike.
    is_strange = table.ids is None and len(arrays) > _FEW and 0 < n_repeated <= _RARE * n_rows
    return [describe_repeats(n_repeated)] if is_strange else []


def gaps_in(array: NDArray) -> NDArray[np.bool_]:
    """Which cells are empty."""
    if array.dtype == object:
        return np.array([cell is None for cell in array], dtype=bool)
    return np.isnan(array) if array.dtype.kind in "fM" else np.zeros(len(array), dtype=bool)


def n_different(array: NDArray) -> int:
    """The number of different values."""
    present = array[~gaps_in(array)]
    return len(set(present.tolist())) if array.dtype == object else np.unique(present).size


def n_different_rows(arrays: list[NDArray]) -> int:
    """The number of different rows, by 64 bits for each: two that differ are the same by chance once in 1e8 tables."""
    rows = np.zeros(len(arrays[0]), dtype=np.uint64)
    for array in arrays:
        rows = (rows ^ (rows >> np.uint64(29))) * _MULTIPLIER + _bits(array)
    return int(np.unique((rows ^ (rows >> np.uint64(32))) * _MULTIPLIER).size)


def _bits(array: NDArray) -> NDArray[np.uint64]:
    if array.dtype == object:
        return np.fromiter(map(hash, array), dtype=np.int64, count=len(array)).view(np.uint64)
    if array.dtype.kind == "f":
        array = np.where(np.isnan(array), np.nan, array + 0.0).astype(np.float64)  # one zero, one gap
    return np.ascontiguousarray(array, dtype=None if array.dtype.kind in "fM" else np.int64).view(np.uint64)
