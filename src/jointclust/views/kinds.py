"""What kind of data rows are, by a rule whose every step has its reason in words."""

from __future__ import annotations

import html
import json
import os
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, NamedTuple

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray
from sklearn.utils import get_tags
from sklearn.utils.sparsefuncs import mean_variance_axis

from jointclust.rows import checked_numbers, is_annotated, is_elsewhere, is_lazy, some_rows, tidied
from jointclust.types import Float
from jointclust.views.cells import cells_of
from jointclust.views.columns import (
    BESIDE,
    IN_DOUBLE,
    IN_SINGLE,
    Column,
    Facts,
    check_sizes,
    columns_of,
    ends_of,
    facts_of,
    is_nines,
    is_table,
    is_whole,
    names_of,
    rows_of,
    unfolded,
)
from jointclust.views.registry import VIEWS, views_for
from jointclust.views.rule import Verdict, are_reads, carried, kind_of_numbers, kind_of_sparse, percent, view_of_few
from jointclust.views.usage import (
    ALL_USED,
    ALONE,
    LEFT_OUT,
    Usage,
    all_columns,
    given_columns,
    named_beside_related,
    related_and_given,
    related_columns,
)

__all__ = ["Description", "describe"]

# Numbers whose spread is computed at a time.
_AT_A_TIME = 2**20

# Rows, and values of dense rows, that a description looks at.
_MOST_ROWS, _FEWEST_ROWS, _MOST_VALUES = 10_000, 500, 1_000_000
# Most columns that are listed, in text and in a notebook.
_SHOWN, _LISTED = 24, 200
# Kinds of columns that are numbers to the rule.
_NUMERIC = ("number", "count", "boolean")
# Views of some columns of a mixed table, and how many it must have of them.
_PARTS, _FEWEST_PARTS = {"numbers": (*_NUMERIC, "date"), "categories": ("category",)}, 2


@dataclass(frozen=True, eq=False)
class Description:
    """What data are, and why: the result of :func:`jointclust.describe`.

    Attributes
    ----------
    kind : str
        "table" (columns measured in units of their own), "mixed" (a table with categories, booleans or dates),
        "features" (many columns of one scale: pixels, bands, genes, embeddings), "counts" (of words, of reads),
        "documents" (text), "unit rows" (rows of one length), or "blocks" (several of these with the same rows).
    reasons : list of str
        Why, in words; what is left out; what was looked at.
    views : list of str
        Names of the views that suit the kind, the best first.
    n_samples : int
        Number of rows.
    groups : list of lists of str
        Columns that depend on each other and on none of those that are used: other groupings of the same rows.
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
    # What was read into the cells of columns.
    _notes: tuple[str, ...] = ()
    # None: the columns were not tested, as in version 0.2.
    _usage: Usage | None = None
    # Of each block, by name.
    _parts: dict[str, Description] | None = None

    def __getstate__(self) -> dict[str, Any]:
        """The reasons of very many columns as one text: files hold one large part in less memory than many."""
        usage: Any = self._usage
        if usage is None or len(usage.why) <= _LISTED:
            return self.__dict__
        return self.__dict__ | {"_usage": usage._replace(why=json.dumps(usage.why))}

    def __setstate__(self, state: dict[str, Any]) -> None:
        usage: Any = state.get("_usage")
        if usage is not None and isinstance(usage.why, str):
            state = state | {"_usage": usage._replace(why=json.loads(usage.why))}
        self.__dict__.update(state)

    @property
    def columns(self) -> list[Column]:
        """What each column holds, and whether it is used."""
        why = [""] * len(self._names) if self._usage is None else self._usage.why
        related = np.full(len(self._names), np.nan) if self._usage is None else self._usage.related
        parts = (self._names, self._kinds, self._missing, self._spread, related, self.used)
        cells = zip(*(part.tolist() for part in parts), why, strict=True)
        return [Column(*cell) for cell in cells]

    @property
    def left_out(self) -> list[str]:
        """Names of the columns of ids, long text, or nothing at all."""
        without_use = np.isin(self._kinds, ["id", "text"]) & ~self.used
        return self._names[without_use | (self._missing == 1)].tolist()

    @property
    def groups(self) -> list[list[str]]:
        """Columns that depend on each other and on none of those that are used."""
        return [] if self._usage is None else self._usage.groups

    @property
    def has_related(self) -> bool:
        """Whether columns are used because they depend on each other."""
        return self._usage is not None and self._usage.has_related

    @property
    def unrelated(self) -> list[str]:
        """The reasons why columns are not used that depend on none of the others."""
        if self._parts is not None:
            return [f"{name}: {reason}" for name, part in self._parts.items() for reason in part.unrelated]
        return [] if self._usage is None else describe_use(self._usage, self._names)

    @property
    def used(self) -> NDArray[np.bool_]:
        """Which of the columns rows are compared by."""
        if self._parts is not None:
            return np.concatenate([part.used for part in self._parts.values()])
        if self.kind == "documents":
            return self.of_kind("text")
        out = self.of_kind("id", "text") | (self.of_kind("constant") & (self.kind in ("table", "mixed")))
        if self._usage is not None:
            out |= ~self._usage.used & ~self.of_kind("constant")
        return ~out | out.all()  # equal rows are equal in any column

    def of_kind(self, *kinds: str) -> NDArray[np.bool_]:
        """Which of the columns are of these kinds."""
        return np.isin(self._kinds, kinds)

    def without_sentinels(self, values: Float, position: int) -> Float:
        """Numbers of the column at a position, NaN where one stands for a gap."""
        marks = self.sentinels_of(position)
        return np.where(np.isin(values, marks), np.nan, values) if marks else values

    def sentinels_of(self, position: int) -> tuple[float, ...]:
        """Numbers of the column at a position that stand for gaps."""
        return tuple(value for where, value in self._sentinels if where == position)

    @property
    def has_gaps(self) -> bool:
        """Whether a cell of those looked at is missing in a column that is used."""
        return bool((self._missing[self.used & ~self.of_kind("constant")] > 0).any())

    def __str__(self) -> str:
        n_columns = len(self._names)
        lines = [f"{self.kind}: {self.n_samples:,} rows" + (f", {n_columns:,} columns" if n_columns else "")]
        lines += [f"- {reason}" for reason in self.reasons]
        lines.append(f"views: {', '.join(self.views)}")
        if n_columns:
            counts = Counter(self._kinds.tolist())
            lines.append("columns: " + ", ".join(f"{number:,} {kind}" for kind, number in counts.most_common()))
        if n_columns <= _SHOWN:
            lines += [_shown(column) for column in self.columns]
        return "\n".join(lines)

    __repr__ = __str__

    def _repr_html_(self) -> str:
        """The same for notebooks, with the columns as a table that opens."""
        title, *lines = (html.escape(line) for line in str(self).splitlines())
        items = "".join(f"<li>{line.removeprefix('- ')}</li>" for line in lines if not line.startswith("  "))
        rows = [(one.name, one.kind, f"{one.spread:.3g}", percent(one.missing)) for one in self.columns[:_LISTED]]
        cells = ["".join(f"<td>{html.escape(cell)}</td>" for cell in row) for row in rows]
        head = "<tr><th>column</th><th>kind</th><th>spread</th><th>missing</th></tr>"
        table = f"<table>{head}{''.join(f'<tr>{row}</tr>' for row in cells)}</table>"
        which = "columns" if len(self._names) <= _LISTED else f"the first {_LISTED} columns"
        columns = f"<details><summary>{which}</summary>{table}</details>" if rows else ""
        return f"<b>{title}</b><ul>{items}</ul>{columns}"


def _shown(column: Column) -> str:
    line = f"  {column.name}: {column.kind}"
    if np.isfinite(column.spread):
        line += f", spread {column.spread:.3g}"
    line += f", {percent(column.missing)} missing" if column.missing > 0 else ""
    return line if column.used else f"{line}; not used: {column.why or 'it tells no rows apart'}"


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
    return described(X).description


class Described(NamedTuple):
    """A description, the columns that it was made from, and the positions of their rows (None: all rows)."""

    description: Description
    columns: list[Facts]
    positions: NDArray | None = None

    def two_valued(self) -> NDArray[np.bool_]:
        """Which of the columns that are used hold numbers of two values."""
        used = [column for column, use in zip(self.columns, self.description.used, strict=True) if use]
        numbers = [np.empty(0) if column.numbers is None else column.numbers for column in used]
        return np.array([np.unique(values[~np.isnan(values)]).size == 2 for values in numbers])


def described(
    X: Any, columns: Any = "related", n_samples: int | None = None, names: Sequence[str] | None = None
) -> Described:
    """The description of data, of which related columns are used, or all, or those of a list.

    If the data are a sample, ``n_samples`` is the number of all rows. ``names`` are those of a matrix, which has none.
    """
    if is_documents(X):
        return Described(_of_documents(X), [])
    if isinstance(X, Mapping) and not hasattr(X, "shape"):
        raise TypeError(
            "X is a dict of blocks: describe each of them by itself; columns belong in one table, DataFrame(X)."
        )
    if is_annotated(X):
        return Described(described(X.X, columns, names=[str(name) for name in X.var.index]).description, [])
    X = unfolded(X)
    if n_samples is not None and X.shape[0] < n_samples:
        return _described(n_samples, X, None, columns, names)
    return _described(*_looked_at(X), columns, names)


def naming_column(X: Any) -> Any | None:
    """The first column of a table that only names the rows, where there is one beside others."""
    _, rows, positions = _looked_at(X)
    names = names_of(rows)
    if len(names) == 1:
        return None
    cells = ((name, cells_of(column, name)) for name, column in zip(names, columns_of(rows), strict=True))
    return next((name for name, one in cells if facts_of(one, positions).kind == "id"), None)


def _described(
    n_samples: int, rows: Any, positions: NDArray | None, columns: Any, own_names: Sequence[str] | None = None
) -> Described:
    reasons = []
    if rows.shape[0] < n_samples:
        reasons = [f"from a sample of {rows.shape[0]:,} rows"]
    if not is_table(rows):
        # Gaps may be, infinite cells not.
        gaps = True if sp.issparse(rows) else "allow-nan"
        rows = checked_numbers(rows, positions, dtype=np.float64, ensure_all_finite=gaps)
        if sp.issparse(rows):
            if not isinstance(columns, str):
                raise ValueError("columns is for tables: the columns of a sparse matrix have no names.")
            description = _of_sparse(sp.csr_array(rows), n_samples, reasons)
            return Described(description if own_names is None else replace(description, _names=np.array(own_names)), [])
        names = np.arange(rows.shape[1]).astype(str) if own_names is None else np.array(own_names)
        facts = _facts_of_matrix(rows, names, positions)
        if all(column.kind == "constant" for column in facts) and not np.isnan(rows).all():
            return Described(_of_constants(facts, names, n_samples, reasons), [])
    else:
        names = np.array([str(name) for name in names_of(rows)])
        cells = zip(columns_of(rows), names.tolist(), strict=True)
        facts = [facts_of(cells_of(column, name), positions) for column, name in cells]
    return Described(_of_columns(facts, names, n_samples, reasons, columns), facts, positions)


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
    if isinstance(X, str | os.PathLike):
        raise ValueError(f"X is one string, {str(X)[:40]!r}: if it names a file, read it first (pandas.read_csv).")
    if array.ndim != 2:
        column = "X.to_frame()" if hasattr(X, "to_frame") else "X.reshape(-1, 1)"
        raise ValueError(
            f"X must be a table, rows by columns, or a list of strings; got {array.ndim} dimensions. Reshape your "
            f"data, with {column} if it is one column."
        )
    return np.array(X, dtype=object) if array.dtype.kind in "OSU" else array  # numbers beside text would become text


def _sample_size(n_samples: int, n_columns: int) -> int:
    return min(n_samples, max(_FEWEST_ROWS, min(_MOST_ROWS, _MOST_VALUES // max(1, n_columns))))


def _of_sparse(A: sp.csr_array, n_samples: int, reasons: list[str]) -> Description:
    if A.nnz:
        lowest, highest = (end.toarray().ravel() for end in (A.min(axis=0), A.max(axis=0)))
        check_sizes(lowest, highest, range(A.shape[1]), IN_SINGLE)
    verdict, spread = kind_of_sparse(A), np.sqrt(mean_variance_axis(A, axis=0)[1])
    kinds = np.where(spread > 0, "count" if verdict.kind == "counts" else "number", "constant")
    verdict = verdict._replace(reasons=verdict.reasons + reasons)
    names = np.arange(A.shape[1]).astype(str)
    return _description(verdict, n_samples, (names, kinds, np.zeros(len(names)), spread), A)


def _facts_of_matrix(A: Float, names: NDArray[np.str_], positions: NDArray | None) -> list[Facts]:
    """What dense columns are; most columns of wide data are plainly numbers, found at once rather than one by one."""
    lowest, highest = np.fmin.reduce(A, axis=0), np.fmax.reduce(A, axis=0)
    check_sizes(lowest, highest, names, (IN_DOUBLE[0], IN_SINGLE[1]))
    plain = (highest > lowest) & ~np.all((np.rint(A) == A) | np.isnan(A), axis=0)
    plain &= ~(is_nines(lowest) | is_nines(highest))
    facts = [
        Facts("number", missing, numbers=column) if known else facts_of(cells_of(column, str(name)), positions)
        for name, (column, missing, known) in enumerate(
            zip(A.T, np.isnan(A).mean(axis=0).tolist(), plain.tolist(), strict=True)
        )
    ]
    if all(column.kind in LEFT_OUT for column in facts):  # numbers that are all there is name nothing
        facts = [column._replace(kind="number") if column.kind == "id" else column for column in facts]
    return facts


def _of_constants(facts: list[Facts], names: NDArray[np.str_], n_samples: int, reasons: list[str]) -> Description:
    verdict = Verdict("table", ["all columns are constant: the rows are equal", *reasons])
    missing = np.array([column.missing for column in facts])
    return _description(verdict, n_samples, (names, np.full(len(names), "constant"), missing, 0.0 * missing))


def _of_columns(
    facts: list[Facts], names: NDArray[np.str_], n_samples: int, reasons: list[str], columns: Any
) -> Description:
    """The description of dense columns, by those of them that are used."""
    missing = np.array([column.missing for column in facts])
    if missing.min() == 1:
        raise ValueError("All cells of X are missing: there is nothing to describe.")
    if not isinstance(columns, str):
        facts = [
            _as_wanted(column) if str(name) in set(map(str, columns)) else column
            for column, name in zip(facts, names, strict=True)
        ]
    measured = {str(name): one.numbers for name, one in zip(names, facts, strict=True) if one.numbers is not None}
    check_sizes(*ends_of(list(measured.values())), list(measured), IN_SINGLE)
    usage, verdict, A = _use(facts, names, columns)
    kinds = np.array([column.kind for column in facts])
    # What is true or false is 1 or 0, however it is written.
    numeric = np.isin(kinds, _NUMERIC)
    spread = _spreads([column.numbers if use else None for column, use in zip(facts, numeric, strict=True)])
    remarks = _remarks(facts, names, kinds, missing)
    if verdict.kind == "documents":  # of the text, which is not left out
        remarks = [line for line in remarks if BESIDE not in line]
    reasons = verdict.reasons + describe_use(usage, names) + remarks + reasons
    if verdict.kind not in ("counts", "mixed", "table"):
        kinds = np.where(kinds == "count", "number", kinds)
    elif verdict.kind == "counts":
        kinds = np.where(numeric, "count", kinds)
    sentinels = tuple((index, value) for index, column in enumerate(facts) for value, _ in column.sentinels)
    notes = tuple(_few_of([note for column in facts for note in column.notes]))
    description = _description(verdict._replace(reasons=reasons), n_samples, (names, kinds, missing, spread), A)
    description = replace(description, _sentinels=sentinels, _notes=notes, _usage=usage)
    if verdict.kind != "mixed":
        return description
    lacking = [view for view, parts in _PARTS.items() if np.isin(kinds[usage.used], parts).sum() < _FEWEST_PARTS]
    views = [view for view in description.views if not (lacking and view in _PARTS)]
    return replace(description, views=views)


def _spreads(columns: list[Float | None]) -> Float:
    """The standard deviation of each column of numbers, many at a time; NaN for others."""
    spreads = np.full(len(columns), np.nan)
    numbers = [(index, column) for index, column in enumerate(columns) if column is not None]
    step = max(1, _AT_A_TIME // max(len(numbers[0][1]), 1)) if numbers else 1
    for start in range(0, len(numbers), step):
        at, some = zip(*numbers[start : start + step], strict=True)
        spreads[list(at)] = np.nanstd(np.array(some), axis=1)
    return spreads


def _as_wanted(column: Facts) -> Facts:
    """The facts of a column that a user names, which is then no id."""
    kinds = {"id": "category" if column.numbers is None else "number"}
    return column._replace(kind=kinds.get(column.kind, column.kind))


def _use(facts: list[Facts], names: NDArray[np.str_], columns: Any) -> tuple[Usage, Verdict, Float]:
    """Which columns are used, the kind of data that these are, and their numbers."""
    every = all_columns(facts)
    verdict, A = _kind_of_used(facts, names, every.used)
    usage = every
    if isinstance(columns, str) and verdict.kind in ("table", "mixed"):
        tested = related_columns(facts, names.tolist())
        # In two or three columns density shows what each of them adds: all are used.
        drops_few = verdict.kind == "table" and view_of_few(A) is not None and tested.used.sum() < every.used.sum()
        usage = tested if columns == "related" and not drops_few else every._replace(related=tested.related)
    elif not isinstance(columns, str) and not named_beside_related(names.tolist(), columns):
        usage = given_columns(facts, names.tolist(), list(columns))
    elif not isinstance(columns, str) and verdict.kind in ("table", "mixed"):
        usage = related_and_given(facts, names.tolist(), list(columns))
    if np.array_equal(usage.used, every.used):
        return usage, verdict, A
    return usage, *_kind_of_used(facts, names, usage.used)


def _kind_of_used(facts: list[Facts], names: NDArray[np.str_], used: NDArray[np.bool_]) -> tuple[Verdict, Float]:
    """The kind of data of the columns that are used, all if these are none; and the numbers among them."""
    used = used if used.any() else np.ones_like(used)
    some = [column for column, use in zip(facts, used, strict=True) if use]
    numbers = [column.numbers for column in some if column.kind in _NUMERIC and column.numbers is not None]
    A = np.column_stack(numbers) if numbers else np.empty((1, 0))
    return _verdict(A, names[used], np.array([column.kind for column in some])), A


def _description(verdict: Verdict, n_samples: int, columns: tuple[Any, ...], values: Any = None) -> Description:
    """The description of columns, by their names, kinds, shares of missing cells and spreads."""
    kind, reasons, reads = *verdict, verdict.kind != "counts" or are_reads(values)
    if kind == "counts":
        of = "reads: some column is" if reads else "words: no column is"
        reasons = [*reasons, f"the counts are taken for {of} filled in more than half of the rows"]
    views = views_for(kind if reads else "documents")  # counts of words are documents
    if sp.issparse(values):
        views = [view for view in views if get_tags(VIEWS[view].cls()).input_tags.sparse]
    elif kind in ("table", "features", "unit rows") and values is not None and (few := view_of_few(values)):
        views, reasons = [few[0]], [few[1], *reasons]
    return Description(kind, reasons, views, n_samples, *columns)


def _verdict(A: Float, names: NDArray[np.str_], kinds: NDArray[np.str_]) -> Verdict:
    """The kind of a table of columns."""
    numeric = np.isin(kinds, _NUMERIC)
    coded = np.isin(kinds, ["category", "date"])
    if coded.any():
        number = Counter({"numbers": int(numeric.sum())})
        number.update({"category": "categories", "date": "dates"}[kind] for kind in kinds[coded].tolist())
        held = [f"{count} of {what}" for what, count in number.items() if count]
        reasons = [f"the columns are of several kinds: {', '.join(held)}"]
        return Verdict("mixed", reasons + carried(A, names[numeric]))
    if numeric.any():
        return kind_of_numbers(A, names[numeric])
    if (kinds == "text").sum() == 1:
        name = str(names[kinds == "text"][0])
        return Verdict("documents", [f"the text of column {name!r} is all there is to compare"])
    counted = ", ".join(f"{number} {kind}" for kind, number in Counter(kinds.tolist()).items())
    raise ValueError(
        f"There is no column to compare rows by ({counted}): give numbers, categories or a column of text."
    )


def describe_use(usage: Usage, names: NDArray[np.str_]) -> list[str]:
    """Which columns are not used because of what they depend on."""
    alone = [str(name) for name, why in zip(names, usage.why, strict=True) if why.startswith(ALONE)]
    sentences = []
    if alone:
        what = "is not used: it depends" if len(alone) == 1 else "are not used: each depends"
        sentences.append(f"{listed(alone)} {what} on no other column")
    for group in usage.groups:
        own = f"{listed(group)} depend on each other and on none of the columns used: another grouping of the rows"
        sentences.append(f"{own}, which columns={group!r} shows" if len(group) < 6 else own)
    if ALL_USED in usage.why:
        sentences.append(ALL_USED)
    return sentences


def listed(names: list[str], most: int = 5) -> str:
    """Names in a sentence, the first of many.

    Examples
    --------
    >>> from jointclust.views.kinds import listed
    >>> listed(["a", "b", "c"]), listed(["a", "b", "c", "d"], 2)
    ("'a', 'b', 'c'", "'a', 'b' (and 2 more)")
    """
    more = f" (and {len(names) - most} more)" if len(names) > most else ""
    return ", ".join(map(repr, names[:most])) + more


def _remarks(facts: list[Facts], names: NDArray[np.str_], kinds: NDArray[np.str_], missing: Float) -> list[str]:
    """Remarks on ids, gaps, text and constants: a few columns by name, more by their number."""
    remarks = []
    for kind in ("id", "text", "constant"):
        of_kind = np.flatnonzero(kinds == kind)
        reasons = [facts[index].reason or f"column {str(names[index])!r} is constant" for index in of_kind]
        remarks += reasons if len(reasons) <= 3 else [f"{len(reasons)} columns are {'ids' if kind == 'id' else kind}"]
    remarks += _few_of([note for column in facts for note in column.notes])
    remarks += _few_of(
        [
            f"column {str(name)!r}: {value:.10g} in {number:,} rows is taken as a gap"
            for column, name in zip(facts, names, strict=True)
            for value, number in column.sentinels
        ]
    )
    used = ~np.isin(kinds, ["id", "constant", "text"])
    if used.any() and missing[used].max() > 0:
        worst = int(np.where(used, missing, 0.0).argmax())
        share = percent(float(missing[used].mean()))
        remarks.append(
            f"{share} of the cells are missing, most in column {str(names[worst])!r} ({percent(missing[worst])})"
        )
    few = len(names) <= _SHOWN
    codes = [name for column, name in zip(facts, names, strict=True) if few and _may_be_codes(column)]
    if 0 < len(codes) < len(names):
        listed = ", ".join(repr(str(name)) for name in codes[:3]) + (", ..." if len(codes) > 3 else "")
        remarks.append(f"few whole numbers in {listed}: if they are codes, make these columns categories")
    return remarks


def _few_of(notes: list[str], most: int = 5) -> list[str]:
    """The first of many notes, and how many more there are."""
    return notes if len(notes) <= most else [*notes[: most - 1], f"{len(notes) - most + 1} more columns likewise"]


def _may_be_codes(column: Facts) -> bool:
    """Whether a column of numbers has three to ten values, whole ones from 0 or 1: an order, or codes."""
    if column.kind != "number" or column.numbers is None:
        return False
    different = np.unique(column.numbers[~np.isnan(column.numbers)])
    return 3 <= different.size <= 10 and is_whole(different) and different[0] in (0, 1) and different[-1] <= 10
