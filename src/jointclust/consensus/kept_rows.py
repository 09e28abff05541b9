"""The sample of its rows that a model keeps."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from jointclust.rows import is_annotated
from jointclust.types import Float
from jointclust.views.blocks import checked_blocks, n_rows_of
from jointclust.views.columns import is_table, rows_of, unfolded
from jointclust.views.kinds import as_array, is_documents
from jointclust.views.stored import StoredColumn, StoredTable

# Most rows that are kept; most values (cells, or eighths of characters) of wide rows; fewest rows, however wide.
MOST_ROWS, _VALUES, _FEWEST = 10_000, 2**21, 300


@dataclass(frozen=True, eq=False)
class KeptRows:
    """A random sample of all rows that a model has seen, each as likely as any other.

    Attributes
    ----------
    data : array, sparse matrix, StoredTable, or StoredColumn for documents
        The rows as they came, before they were prepared.
    n_seen : int
        How many rows there were.
    capacity : int
        How many are kept at the most.
    weights : array of shape (n_rows,) or None
        Their weights.
    numbers : array of shape (n_rows,) or None
        Where clusters have merged, the number of each row's cluster before that; None where none have.
    """

    data: Any
    n_seen: int
    capacity: int
    weights: Float | None = None
    numbers: NDArray[np.int32] | None = None

    @classmethod
    def of(cls, X: Any, weights: Float | None, n_seen: int, capacity: int | None = None) -> KeptRows:
        """Keep rows of data in memory, which are all rows or a sample of them."""
        X = plain(X)
        capacity = min(MOST_ROWS, max(_VALUES // _width(X), _FEWEST)) if capacity is None else capacity
        if n_rows(X) <= capacity:
            return cls(stored(X), n_seen, capacity, weights)
        index = np.sort(np.random.RandomState(0).choice(n_rows(X), capacity, replace=False))
        return cls(stored(rows_at(X, index)), n_seen, capacity, None if weights is None else weights[index])

    def __len__(self) -> int:
        return n_rows(self.data)

    @property
    def rows(self) -> Any:
        """The rows as data to be fitted or labelled."""
        return as_data(self.data)

    def take(self, index: NDArray[np.intp]) -> KeptRows:
        """Some of the rows."""
        weights = None if self.weights is None else self.weights[index]
        numbers = None if self.numbers is None else self.numbers[index]
        return replace(self, data=rows_at(self.data, index), weights=weights, numbers=numbers)

    def refreshed(self, X: Any, weights: Float | None, rng: np.random.RandomState) -> KeptRows:
        """A sample of these rows and new ones, each as likely as any other."""
        X = plain(X)
        n_new, n_all = n_rows(X), self.n_seen + n_rows(X)
        size = min(n_all, self.capacity)
        n_chosen = int(rng.hypergeometric(n_new, self.n_seen, size)) if size < n_all else n_new
        old = np.sort(rng.choice(len(self), size - n_chosen, replace=False))
        new = np.sort(rng.choice(n_new, n_chosen, replace=False))
        kept, chosen = self.take(old), None if weights is None else weights[new]
        if kept.weights is not None or chosen is not None:
            parts = [(kept.weights, len(old)), (chosen, len(new))]
            chosen = np.concatenate([np.ones(size) if part is None else part for part, size in parts])
        return replace(
            kept, data=_joined(kept.data, stored(rows_at(X, new))), n_seen=n_all, weights=chosen, numbers=None
        )


def as_data(kept: Any) -> Any:
    """What is kept, as data that can be fitted or labelled: without names where the columns had none."""
    if isinstance(kept, dict):
        return {name: as_data(block) for name, block in kept.items()}
    if isinstance(kept, StoredColumn):
        return kept.texts
    if isinstance(kept, StoredTable) and kept.column_names == list(range(kept.shape[1])):
        return np.array([kept[name] for name in kept.column_names], dtype=object).T
    return kept


def plain(X: Any) -> Any:
    """Data without what surrounds them: the matrix of AnnData, columns of lists as one for each place."""
    blocks = checked_blocks(X)
    if blocks is not None:
        return {name: plain(block) for name, block in blocks.items()}
    if is_documents(X):
        return X
    X = unfolded(X.X if is_annotated(X) else X)
    if sp.issparse(X):
        return sp.csr_array(X)
    return X if is_table(X) else as_array(X)


def n_rows(X: Any) -> int:
    """The number of rows, also of what is kept."""
    return len(X) if isinstance(X, StoredColumn) else n_rows_of(X)


def rows_at(X: Any, index: NDArray[np.intp]) -> Any:
    """Some of the rows."""
    if isinstance(X, dict):
        return {name: rows_at(block, index) for name, block in X.items()}
    if isinstance(X, StoredColumn):
        return X.take(index)
    return rows_of(X, index) if hasattr(X, "shape") else [X[place] for place in index]


def stored(X: Any) -> Any:
    """A copy of data in a form that files can hold."""
    if isinstance(X, dict):
        return {name: stored(block) for name, block in X.items()}
    if isinstance(X, StoredColumn | StoredTable):
        return X
    if is_documents(X):
        return StoredColumn.of_texts(list(X))
    if is_table(X):
        return StoredTable.of(X)
    return X.copy()


def _width(X: Any) -> int:
    """About how many values a row has."""
    if isinstance(X, dict):
        return sum(map(_width, X.values()))
    if is_documents(X):
        return max(sum(len(str(text)) for text in X) // (8 * len(X)), 1)
    return max(2 * X.nnz // X.shape[0] if sp.issparse(X) else X.shape[1], 1)


def _joined(one: Any, other: Any) -> Any:
    """Rows, and others of the same columns."""
    if isinstance(one, dict):
        return {name: _joined(block, other[name]) for name, block in one.items()}
    if isinstance(one, StoredTable) or isinstance(other, StoredTable):
        if not isinstance(one, StoredTable) or not isinstance(other, StoredTable):
            before, now = ("a table" if isinstance(part, StoredTable) else "numbers alone" for part in (one, other))
            raise TypeError(
                f"The rows are {now}, and those of fit were {before}: pass them like those, a data frame or an array."
            )
        if one.column_names != other.column_names:
            raise ValueError("The columns should be those of fit, in that order.")
        return one.joined(other)
    if isinstance(one, StoredColumn):
        return one.joined(other, "text")
    if sp.issparse(one) or sp.issparse(other):
        return sp.csr_array(sp.vstack([sp.csr_array(one), sp.csr_array(other)]))
    return np.concatenate([one, other])
