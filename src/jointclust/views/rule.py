"""The rule that tells kinds of numbers apart: each step is a plain fact about the values, and says which."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray
from sklearn.utils.sparsefuncs import mean_variance_axis

from jointclust.types import Float
from jointclust.views.columns import is_whole

# From this number on, columns are more likely of one kind (pixels, bands, genes) than each of its own kind.
_MANY_COLUMNS = 30
# Columns so many that nobody has measured each of them in a unit of its own.
_VERY_MANY_COLUMNS = 500
# Columns of one scale have spreads within a factor of this.
_FACTOR = 10.0
# With this share of the variance one column of many decides what the clusters are.
_DOMINANT = 0.25
# Values fill a scale if this share of them is above half of the largest; most counts are small.
_FILLED = 0.1
# Neighbours are alike as pixels and bands are: correlation, how much more than of any two columns, factor of spreads.
_ALIKE, _MORE_ALIKE, _SMOOTH = 0.5, 0.2, 1.5
# Rows that show whether columns have an order, and most columns of sparse rows that are tested for one.
_FEW_ROWS, _MOST_PIXELS = 1000, 5000
# Rows have length one within this; the length is intended if it varies by less than this share of what independent
# columns would give; it is mostly that of the mean row from this share on.
_SAME_LENGTH, _MADE_UP, _CARRIED = 1e-3, 0.1, 0.9
# A column of counts that is filled in more rows than this is no word.
_COMMON = 0.5


class Verdict(NamedTuple):
    """A kind, and why."""

    kind: str
    reasons: list[str]


def kind_of_sparse(A: sp.csr_array) -> Verdict:
    """Counts, rows of one length, or features: nobody stores a table of units sparsely."""
    zeros = 1.0 - A.count_nonzero() / np.prod(A.shape, dtype=np.float64)
    stored = f"the matrix is sparse: {percent(zeros)} of the cells are zero"
    counts = _counted(A.data[A.data != 0])
    if counts is None:
        length = _one_length(A)
        kind, why = ("features", _why_no_counts(A.data)) if length is None else ("unit rows", length)
        return Verdict(kind, [why, stored])
    if A.data.max() <= 1 and np.ptp(A.sum(axis=1)) == 0:
        return Verdict("features", ["the cells are 0 or 1, equally many in each row: levels of categories", stored])
    alike = _neighbours(A[:_FEW_ROWS].toarray()) if A.shape[1] <= _MOST_PIXELS else None
    return Verdict("counts", [counts, stored]) if alike is None else Verdict("features", [alike, stored])


def are_reads(counts: NDArray | sp.csr_array) -> bool:
    """Whether counts are of reads rather than of words: some column is filled in more than half of the rows.

    Every cell reads the genes that all cells need; a word that common is a stop word, which counts of words leave out.
    """
    return bool(np.max((counts > 0).sum(axis=0)) > _COMMON * counts.shape[0])


def kind_of_numbers(A: Float, names: NDArray[np.str_]) -> Verdict:
    """The kind of dense columns that vary; gaps are NaN. The first fact that holds decides."""
    A = A[:: max(1, len(A) // _FEW_ROWS)]
    n_columns, has_gaps = A.shape[1], bool(np.isnan(A).any())
    if n_columns > 2 and not has_gaps and not is_whole(A[:100]):
        length = _one_length(A)
        if length is not None:
            return Verdict("unit rows", [length])
    if n_columns > 1 and np.all((A == 0) | (A == 1) | np.isnan(A)):
        return Verdict("features", ["all cells are 0 or 1: one scale for all columns"])
    if n_columns >= _MANY_COLUMNS and not has_gaps:
        zeros, counts = float(np.mean(A == 0)), _counted(A[A != 0])
        if counts is not None and (zeros >= 0.5 or n_columns >= _VERY_MANY_COLUMNS) and _neighbours(A) is None:
            return Verdict("counts", [counts, f"{percent(zeros)} of the cells are zero"])
    if _are_components(A):
        reason = "the columns are centred and their spread falls from the first to the last, as of principal components"
        return Verdict("features", [reason])
    if n_columns < _MANY_COLUMNS:
        few = f"{n_columns} columns of numbers are few: each may have a unit of its own"
        return Verdict("table", ["there is one column of numbers" if n_columns == 1 else few, *carried(A, names)])
    share, name = dominant(A, names)
    if share > _DOMINANT:
        return Verdict("table", [f"column {name!r} carries {percent(share)} of the variance"])
    ratio = _ratio_of_spreads(A)
    if ratio <= _FACTOR:
        reason = f"{n_columns:,} columns of similar spread (nearly all within a factor of {ratio:.1f}): one scale"
        return Verdict("features", [reason])
    alike = _neighbours(A)
    if alike is not None:
        return Verdict("features", [alike])
    if n_columns >= _VERY_MANY_COLUMNS:
        most = f"{name!r} has most, {percent(share)}"
        return Verdict("features", [f"{n_columns:,} columns, none of which carries much of the variance ({most})"])
    reason = f"the spreads of the columns differ by a factor of {ratio:,.0f}: they have units of their own"
    return Verdict("table", [reason])


def view_of_few(A: Float) -> tuple[str, str] | None:
    """The only view of two or three columns of numbers: as they are if they have one scale, with the reason.

    None for other numbers.
    """
    if A.shape[1] not in (2, 3):
        return None
    spreads = np.nanstd(A, axis=0)
    ratio = float(spreads.max() / spreads.min())
    few = f"the spreads of {A.shape[1]} columns of numbers differ by a factor of {ratio:,.1f}"
    if ratio <= _FACTOR:
        return "as is", f"{few}: one scale"
    return "standardised", f"{few}: they have units of their own"


def percent(share: float) -> str:
    """A share as text, such as 99.8%, 4%, 0.02%: 0% and 100% only if they are exact."""
    for digits in range(5):
        text = f"{100 * share:.{digits}f}"
        if share in (0.0, 1.0) or float(text) not in (0.0, 100.0):
            return f"{text}%"
    return f"{100 * share:.2g}%"


def dominant(A: Float, names: NDArray[np.str_]) -> tuple[float, str]:
    """The largest share of the variance that a column carries, and its name."""
    variances = np.nanvar(A, axis=0)
    largest = int(variances.argmax())
    return float(variances[largest] / variances.sum()), str(names[largest])


def carried(A: Float, names: NDArray[np.str_]) -> list[str]:
    """Which of three columns or more carries most of the variance, if one does."""
    share, name = dominant(A, names) if A.shape[1] > 2 else (0.0, "")
    return [f"column {name!r} carries {percent(share)} of the variance"] if share > 0.5 else []


# -- facts -----------------------------------------------------------------------------------------------------------


def _are_components(A: Float) -> bool:
    """Whether the columns are centred, and their spread falls from the first to the last."""
    spreads, means = np.nanstd(A, axis=0), np.nanmean(A, axis=0)
    if A.shape[1] < 5 or np.any(np.diff(spreads) > 1e-9 * spreads[0]) or np.any(np.abs(means) > 0.1 * spreads):
        return False
    return bool(spreads[-1] <= (1 - 1e-6) * spreads[0])


def _one_length(A: Any) -> str | None:
    """The length that all rows have by intent, and not because a large column or an offset carries it.

    If rows are scaled to one length, the sums of squared cells vary much less than independent columns would make them
    vary. If the mean row carries the length, the rows minus it are tested, too: rows in which only the sum of some
    columns is constant fail there.
    """
    squares = A.multiply(A) if sp.issparse(A) else A * A
    lengths = np.asarray(squares.sum(axis=1), dtype=np.float64).ravel()
    mean = float(np.sqrt(lengths).mean())
    if mean == 0 or np.abs(np.sqrt(lengths) - mean).max() > _SAME_LENGTH * mean:
        return None
    variances = mean_variance_axis(sp.csr_array(squares), axis=0)[1] if sp.issparse(A) else squares.var(axis=0)
    alone = float(np.sqrt(variances.sum()))
    centre = np.asarray(A.mean(axis=0)).ravel()
    if centre @ centre > _CARRIED * mean**2:
        alone = min(alone, float(np.std(lengths - 2.0 * (A @ centre))))
    return f"all rows have the length {mean:.3g}" if lengths.std() <= _MADE_UP * alone else None


def _counted(filled: Float) -> str | None:
    """Why cells that are not zero are counts; None where they are not."""
    if filled.size == 0 or filled.min() < 0 or not is_whole(filled):
        return None
    largest = filled.max()
    if largest > 1 and np.mean(filled > largest / 2) > _FILLED:
        return None
    return f"the values are whole numbers, none is negative, most are small and the largest is {largest:,.0f}: counts"


def _why_no_counts(filled: Float) -> str:
    if not filled.any():
        return "every cell is zero"
    if filled.min() < 0:
        return "there are negative values: no counts"
    if not is_whole(filled):
        return "the values are not whole: no counts, or counts already scaled or in logarithms"
    return f"the values fill a scale from 0 to {filled.max():,.0f}: no counts"


def _ratio_of_spreads(A: Float) -> float:
    """The factor between large and small spreads; columns that hardly ever leave one value tell nothing of scales."""
    at_rest = np.nanmean(np.nanmedian(A, axis=0) == A, axis=0) > 0.8
    spreads = np.nanstd(A if at_rest.mean() > 0.75 else A[:, ~at_rest], axis=0)
    low, high = np.quantile(spreads, [0.05, 0.95])
    return float(high / low)


def _neighbours(A: Float) -> str | None:
    """How neighbouring columns are alike, as pixels and bands are; None where they are not."""
    if A.shape[1] < _MANY_COLUMNS:
        return None
    filled = np.where(np.isnan(A), np.nanmean(A, axis=0), A)
    spreads = filled.std(axis=0)
    Z = (filled - filled.mean(axis=0)) / np.where(spreads > 0, spreads, 1.0)
    near = _median_correlation(Z[:, 1:], Z[:, :-1])
    order = np.random.RandomState(0).permutation(Z.shape[1])
    far = _median_correlation(Z[:, order[1:]], Z[:, order[:-1]])
    steps = np.abs(np.diff(np.log(spreads[spreads > 0])))
    if near < _ALIKE or near - far < _MORE_ALIKE or np.exp(np.median(steps)) > _SMOOTH:
        return None
    return f"neighbouring columns are alike (correlation {near:.2f}; any two: {far:.2f}), as pixels and bands are"


def _median_correlation(left: Float, right: Float) -> float:
    return float(np.median(np.abs(np.einsum("ij,ij->j", left, right))) / len(left))
