"""What kind of data rows are, by a rule whose every step has its reason in words."""

from __future__ import annotations

import html
from collections import Counter
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray
from sklearn.utils import check_array, get_tags
from sklearn.utils.sparsefuncs import mean_variance_axis

from jointclust.rows import is_annotated, is_elsewhere, is_lazy, some_rows, tidied
from jointclust.types import Float
from jointclust.views.cells import cells_of
from jointclust.views.columns import (
    Column,
    Found,
    columns_of,
    found_in,
    is_nines,
    is_table,
    is_whole,
    names_of,
    rows_of,
    unfolded,
)
from jointclust.views.registry import VIEWS, views_for
from jointclust.views.rule import Verdict, are_reads, carried, kind_of_numbers, kind_of_sparse, percent

__all__ = ["Description", "describe"]

# Rows, and values of dense rows, that a description looks at.
_MOST_ROWS, _FEWEST_ROWS, _MOST_VALUES = 10_000, 500, 1_000_000
# Columns up to which each is shown, and in a notebook.
_SHOWN, _LISTED = 24, 200
# Kinds of columns that are numbers to the rule.
_NUMERIC = ("number", "count", "boolean")


@dataclass(frozen=True, eq=False)
class Description:
    """What data are, and why: the result of :func:`jointclust.describe`.

    Attributes
    ----------
    kind : str
        "table" (columns measured in units of their own), "mixed" (a table with categories, booleans or dates),
        "features" (many columns of one scale: pixels, bands, genes, embeddings), "counts" (of words, of reads),
        "documents" (text) or "unit rows" (rows of one length).
    reasons : list of str
        Why, in words; what is left out; what was looked at.
    views : list of str
        Names of the views that suit the kind, the best first.
    n_samples : int
        Number of rows.
    """

    kind: str
    reasons: list[str]
    views: list[str]
    n_samples: int
    _names: NDArray[np.str_]
    _kinds: NDArray[np.str_]
    _missing: Float
    _spread: Float
    # Positions of columns, with a number that stands for a gap there.
    _sentinels: tuple[tuple[int, float], ...] = ()

    @property
    def columns(self) -> list[Column]:
        """Name, kind, share of missing cells and spread of each column."""
        parts = (self._names, self._kinds, self._missing, self._spread)
        return [Column(*column) for column in zip(*[part.tolist() for part in parts], strict=True)]

    def of_kind(self, *kinds: str) -> NDArray[np.bool_]:
        """Which of the columns are of these kinds."""
        return np.isin(self._kinds, kinds)

    def without_sentinels(self, values: Float, position: int) -> Float:
        """Numbers of the column at a position, NaN where one stands for a gap."""
        marks = [value for where, value in self._sentinels if where == position]
        return np.where(np.isin(values, marks), np.nan, values) if marks else values

    @property
    def has_gaps(self) -> bool:
        """Whether a cell of those looked at is missing in a column that is used."""
        return bool((self._missing[~self.of_kind("id", "constant", "text")] > 0).any())

    def __str__(self) -> str:
        n_columns = len(self._names)
        lines = [f"{self.kind}: {self.n_samples:,} rows" + (f", {n_columns:,} columns" if n_columns else "")]
        lines += [f"- {reason}" for reason in self.reasons]
        lines.append(f"views: {', '.join(self.views)}")
        if n_columns:
            found = Counter(self._kinds.tolist())
            lines.append("columns: " + ", ".join(f"{number:,} {kind}" for kind, number in found.most_common()))
        if n_columns <= _SHOWN:
            lines += [_shown(column) for column in self.columns]
        return "\n".join(lines)

    __repr__ = __str__

    def _repr_html_(self) -> str:
        """The same for notebooks, with the columns as a table that opens."""
        title, *lines = (html.escape(line) for line in str(self).splitlines())
        told = "".join(f"<li>{line.removeprefix('- ')}</li>" for line in lines if not line.startswith("  "))
        rows = [(one.name, one.kind, f"{one.spread:.3g}", percent(one.missing)) for one in self.columns[:_LISTED]]
        cells = ["".join(f"<td>{html.escape(cell)}</td>" for cell in row) for row in rows]
        head = "<tr><th>column</th><th>kind</th><th>spread</th><th>missing</th></tr>"
        table = f"<table>{head}{''.join(f'<tr>{row}</tr>' for row in cells)}</table>"
        which = "columns" if len(self._names) <= _LISTED else f"the first {_LISTED} columns"
        columns = f"<details><summary>{which}</summary>{table}</details>" if rows else ""
        return f"<b>{title}</b><ul>{told}</ul>{columns}"


def _shown(column: Column) -> str:
    line = f"  {column.name}: {column.kind}"
    if np.isfinite(column.spread):
        line += f", spread {column.spread:.3g}"
    return line + (f", {percent(column.missing)} missing" if column.missing > 0 else "")


def describe(X: Any) -> Description:
    """The kind of the data and of each column, with the reasons in words, and the views that suit it.

    The rule looks at a few plain things, in this order: are the rows text; are there categories or dates; have all rows
    one length; are the values counts (whole, none negative, most of them small, and not on a fixed scale such as
    a pixel's 0 to 255); are the columns principal components, or 0/1 throughout; are there few columns, or does one of
    them carry much of the variance (a table); have the columns spreads of one order, or are neighbours alike as
    pixels and bands are (features). Columns that only name the rows are ids.

    Parameters
    ----------
    X : array, sparse matrix, data frame, AnnData or list of str
        The data: of NumPy, SciPy, pandas, polars, pyarrow, Dask, torch or CuPy, in memory, in a file or on a device.
        Of many rows a sample is looked at, and the reasons say so.

    Returns
    -------
    description : Description
        ``kind``, ``reasons``, ``views`` and ``columns``; printing it gives a summary.

    Examples
    --------
    >>> import jointclust as jc
    >>> print(jc.describe(jc.datasets.load("wine").data))  # doctest: +ELLIPSIS
    table: 178 rows, 13 columns
    - 13 columns of numbers are few: each may have a unit of its own
    - column '12' carries 99.8% of the variance
    ...
    """
    if is_documents(X):
        return _of_documents(X)
    if is_annotated(X):
        return replace(describe(X.X), _names=np.array([str(name) for name in X.var.index]))
    return _described(*_looked_at(unfolded(X)))


def naming_column(X: Any) -> Any | None:
    """The first column of a table that only names the rows, where there is one beside others."""
    _, rows, positions = _looked_at(X)
    names = names_of(rows)
    if len(names) == 1:
        return None
    cells = ((name, cells_of(column, name)) for name, column in zip(names, columns_of(rows), strict=True))
    return next((name for name, one in cells if found_in(one, positions).kind == "id"), None)


def describe_sample(X: Any, n_samples: int) -> Description:
    """The same from a sample, in memory, of so many rows."""
    return describe(X) if X.shape[0] == n_samples else _described(n_samples, unfolded(X), None)


def _described(n_samples: int, rows: Any, positions: NDArray | None) -> Description:
    reasons = []
    if rows.shape[0] < n_samples:
        reasons = [f"from a sample of {rows.shape[0]:,} rows"]
    if not is_table(rows):
        # Gaps may be, infinite cells not.
        gaps = True if sp.issparse(rows) else "allow-nan"
        rows = check_array(tidied(rows), accept_sparse="csr", dtype=np.float64, ensure_all_finite=gaps)
        return _of_matrix(sp.csr_array(rows) if sp.issparse(rows) else rows, positions, n_samples, reasons)
    names = [str(name) for name in names_of(rows)]
    columns = zip(columns_of(rows), names, strict=True)
    found = [found_in(cells_of(column, name), positions) for column, name in columns]
    return _of_columns(found, np.array(names), n_samples, reasons)


def is_documents(X: Any) -> bool:
    """Whether each row is one string: a list, an array or a column of them; an error where some are not."""
    if hasattr(X, "columns") or hasattr(X, "column_names") or sp.issparse(X) or is_elsewhere(X):
        return False
    if hasattr(X, "to_numpy") or isinstance(X, np.ndarray):
        values = np.asarray(X)
        return values.ndim == 1 and values.dtype.kind in "OSUT" and any(isinstance(value, str) for value in values)
    if not isinstance(X, list | tuple):
        return False
    if len(X) == 0:
        raise ValueError("X is an empty list: give one string per row, or a table of numbers.")
    return any(isinstance(value, str) for value in X)


def strings_of(X: Any) -> list[str]:
    """Documents as a list; an error where one of them is no string."""
    documents = list(np.asarray(X) if hasattr(X, "to_numpy") else X)
    for row, document in enumerate(documents):
        if not isinstance(document, str):
            raise TypeError(
                f"X is a list of strings, but row {row} holds {document!r}: give one string per row, empty where there "
                "is no text."
            )
    return [str(document) for document in documents]


def _of_documents(X: Any) -> Description:
    documents = strings_of(X)
    step = max(1, len(documents) // _MOST_ROWS)
    words = np.median([len(document.split()) for document in documents[::step]])
    reasons = [f"each row is text, of {words:.0f} words in the median"]
    empty = sum(not document.strip() for document in documents)
    if empty == len(documents):
        raise ValueError(f"All {empty} documents are empty: there is nothing to describe.")
    if empty:
        reasons.append(f"{empty} of {len(documents)} documents are empty")
    none, unnamed = np.empty(0), np.empty(0, dtype=str)
    return _description(Verdict("documents", reasons), len(documents), (unnamed, unnamed, none, none))


def _looked_at(X: Any) -> tuple[int, Any, NDArray | None]:
    """The number of rows, those that are looked at, and their positions; None where these are unknown."""
    if is_lazy(X) and hasattr(X, "columns"):
        n_samples = len(X)
        size = _sample_size(n_samples, len(X.columns))
        if size == n_samples:
            return n_samples, X.compute(), np.arange(n_samples)
        return n_samples, X.sample(frac=size / n_samples, random_state=0).compute(), None
    if is_elsewhere(X):
        size = _sample_size(X.shape[0], X.shape[1])
        rows = some_rows(X, size, np.random.RandomState(0))
        return X.shape[0], rows, None if size < X.shape[0] else np.arange(X.shape[0])
    if not (is_table(X) or sp.issparse(X)):
        X = as_array(X)
    n_samples, n_columns = X.shape
    if n_samples == 0 or n_columns == 0:
        raise ValueError(
            f"Found {n_samples} rows of {n_columns} feature(s) (shape={X.shape}) while a minimum of 1 is required."
        )
    if n_samples == 1:
        raise ValueError("n_samples=1: there is no other row to compare it with.")
    size = min(n_samples, _MOST_ROWS) if sp.issparse(X) else _sample_size(n_samples, n_columns)
    if size == n_samples:
        return n_samples, X, np.arange(n_samples)
    positions = np.sort(np.random.RandomState(0).choice(n_samples, size, replace=False))
    return n_samples, rows_of(sp.csr_array(X) if sp.issparse(X) else X, positions), positions


def as_array(X: Any) -> NDArray:
    """An array of numbers, or of objects where some are none, with two dimensions."""
    X = tidied(X)
    array = np.asarray(X)
    if array.dtype.kind not in "biufOSU":
        what = "Complex data not supported" if array.dtype.kind == "c" else "X must hold numbers, text or dates"
        raise ValueError(f"{what}: it holds {array.dtype}.")
    if array.ndim != 2:
        raise ValueError(
            f"X must be a table, rows by columns, or a list of strings; got {array.ndim} dimensions. Reshape your "
            "data, with X.reshape(-1, 1) if it is one column."
        )
    return np.array(X, dtype=object) if array.dtype.kind in "OSU" else array  # numbers beside text would become text


def _sample_size(n_samples: int, n_columns: int) -> int:
    return min(n_samples, max(_FEWEST_ROWS, min(_MOST_ROWS, _MOST_VALUES // max(1, n_columns))))


def _of_matrix(A: Any, positions: NDArray | None, n_samples: int, reasons: list[str]) -> Description:
    names = np.arange(A.shape[1]).astype(str)
    if sp.issparse(A):
        verdict, spread = kind_of_sparse(A), np.sqrt(mean_variance_axis(A, axis=0)[1])
        kinds = np.where(spread > 0, "count" if verdict.kind == "counts" else "number", "constant")
        verdict = verdict._replace(reasons=verdict.reasons + reasons)
        return _description(verdict, n_samples, (names, kinds, np.zeros(len(names)), spread), A)
    # Most columns of wide data are plainly numbers: found at once rather than one by one.
    varies = np.fmax.reduce(A, axis=0) > np.fmin.reduce(A, axis=0)
    plain = varies & ~np.all((np.rint(A) == A) | np.isnan(A), axis=0)
    plain &= ~(is_nines(np.fmin.reduce(A, axis=0)) | is_nines(np.fmax.reduce(A, axis=0)))
    found = [
        Found("number", float(np.isnan(column).mean()), numbers=column)
        if known
        else found_in(cells_of(column, name), positions)
        for column, name, known in zip(A.T, names.tolist(), plain, strict=True)
    ]
    if not varies.any() and not np.isnan(A).all():
        verdict = Verdict("table", ["all columns are constant: the rows are equal", *reasons])
        missing = np.isnan(A).mean(axis=0)
        return _description(verdict, n_samples, (names, np.full(len(names), "constant"), missing, 0.0 * missing))
    if all(column.kind in ("id", "constant") for column in found):  # numbers that are all there is name nothing
        found = [column._replace(kind="number") if column.kind == "id" else column for column in found]
    return _of_columns(found, names, n_samples, reasons)


def _of_columns(found: list[Found], names: NDArray[np.str_], n_samples: int, reasons: list[str]) -> Description:
    """The description of dense columns."""
    kinds = np.array([column.kind for column in found])
    missing = np.array([column.missing for column in found])
    if missing.min() == 1:
        raise ValueError("All cells of X are missing: there is nothing to describe.")
    # What is true or false is 1 or 0, however it is written.
    numeric, spread = np.isin(kinds, _NUMERIC), np.full(len(found), np.nan)
    columns = [column.numbers for column, use in zip(found, numeric, strict=True) if use and column.numbers is not None]
    A = np.column_stack(columns) if columns else np.empty((1, 0))
    spread[numeric] = np.nanstd(A, axis=0)
    verdict = _verdict(A, names, kinds)
    told = _told(found, names, kinds, missing)
    if verdict.kind == "documents":  # of the text, which is not left out
        told = [line for line in told if "--text-column" not in line]
    reasons = verdict.reasons + told + reasons
    if verdict.kind not in ("counts", "mixed", "table"):
        kinds = np.where(kinds == "count", "number", kinds)
    elif verdict.kind == "counts":
        kinds = np.where(numeric, "count", kinds)
    sentinels = tuple((index, value) for index, column in enumerate(found) for value in column.sentinels)
    described = _description(verdict._replace(reasons=reasons), n_samples, (names, kinds, missing, spread), A)
    return replace(described, _sentinels=sentinels)


def _description(verdict: Verdict, n_samples: int, columns: tuple[Any, ...], values: Any = None) -> Description:
    """The description of columns, by their names, kinds, shares of missing cells and spreads."""
    kind, reasons, reads = *verdict, verdict.kind != "counts" or are_reads(values)
    if kind == "counts":
        of = "reads: some column is" if reads else "words: no column is"
        reasons = [*reasons, f"the counts are taken for {of} filled in more than half of the rows"]
    views = views_for(kind if reads else "documents")  # counts of words are documents
    if sp.issparse(values):
        views = [view for view in views if get_tags(VIEWS[view].cls()).input_tags.sparse]
    return Description(kind, reasons, views, n_samples, *columns)


def _verdict(A: Float, names: NDArray[np.str_], kinds: NDArray[np.str_]) -> Verdict:
    """The kind of a table of columns."""
    numeric = np.isin(kinds, _NUMERIC)
    coded = np.isin(kinds, ["category", "date"])
    if coded.any():
        number = Counter(kinds[coded].tolist())
        plural = {"category": "categories", "date": "dates"}
        held = ", ".join(f"{plural[kind]} ({count})" for kind, count in number.most_common())
        reasons = [f"there are columns of {held} beside those of numbers ({numeric.sum()})"]
        return Verdict("mixed", reasons + carried(A, names[numeric]))
    if numeric.any():
        return kind_of_numbers(A, names[numeric])
    if (kinds == "text").sum() == 1:
        name = str(names[kinds == "text"][0])
        return Verdict("documents", [f"the text of column {name!r} is all there is to compare"])
    counted = ", ".join(f"{number} {kind}" for kind, number in Counter(kinds.tolist()).items())
    raise ValueError(f"X has no column to compare rows by ({counted}): give numbers, categories or one column of text.")


def _told(found: list[Found], names: NDArray[np.str_], kinds: NDArray[np.str_], missing: Float) -> list[str]:
    """What else a user should know: ids, gaps, text and constants; a few by name, more as a number."""
    told = []
    for kind in ("id", "text", "constant"):
        of_kind = np.flatnonzero(kinds == kind)
        reasons = [found[index].reason or f"column {str(names[index])!r} is constant" for index in of_kind]
        told += reasons if len(reasons) <= 3 else [f"{len(reasons)} columns are {'ids' if kind == 'id' else kind}"]
    told += _few_of([note for column in found for note in column.notes])
    used = ~np.isin(kinds, ["id", "constant", "text"])
    if used.any() and missing[used].max() > 0:
        worst = int(np.where(used, missing, 0.0).argmax())
        share = percent(float(missing[used].mean()))
        told.append(
            f"{share} of the cells are missing, most in column {str(names[worst])!r} ({percent(missing[worst])})"
        )
    few = len(names) <= _SHOWN
    codes = [name for column, name in zip(found, names, strict=True) if few and _may_be_codes(column)]
    if 0 < len(codes) < len(names):
        listed = ", ".join(repr(str(name)) for name in codes[:3]) + (", ..." if len(codes) > 3 else "")
        told.append(f"few whole numbers in {listed}: if they are codes, make these columns categories")
    return told


def _few_of(notes: list[str], most: int = 5) -> list[str]:
    """The first of many notes, and how many more there are."""
    return notes if len(notes) <= most else [*notes[: most - 1], f"{len(notes) - most + 1} more columns likewise"]


def _may_be_codes(column: Found) -> bool:
    """Whether a column of numbers has three to ten values, whole ones from 0 or 1: an order, or codes."""
    if column.kind != "number" or column.numbers is None:
        return False
    different = np.unique(column.numbers[~np.isnan(column.numbers)])
    return 3 <= different.size <= 10 and is_whole(different) and different[0] in (0, 1) and different[-1] <= 10
