"""Data in each view of a consensus."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any, Self

import numpy as np
import scipy.sparse as sp
from numpy.typing import ArrayLike, NDArray
from sklearn.base import clone
from sklearn.utils import check_array
from sklearn.utils.validation import has_fit_parameter

from jointclust.consensus.projection import ProjectedRows, ViewProjection
from jointclust.consensus.remote import RemoteRows
from jointclust.estimators.base import TakesRows
from jointclust.numerics.groups import Groups
from jointclust.rows import as_rows, refuse_annotated, tidied
from jointclust.rows.arrays import is_device_array, rows_at
from jointclust.subspace.coordinates import Coordinates
from jointclust.subspace.decomposition import check_weights, coordinates_of
from jointclust.types import Float, Matrix
from jointclust.views.kinds import Described
from jointclust.views.preparation import VIEWS, Preparation

# Rows that the members are fitted on, and rows that are prepared at a time.
MOST_ROWS, _BLOCK = 10_000, 8_192
# Values up to which scaled rows are kept; more are scaled block by block when they are needed.
_KEPT_VALUES = 2**24
# Directions of sparse rows: later ones are words of few documents.
_SPARSE_RANK = 100


class RowsAsGiven(TakesRows):
    """Rows of numbers, checked and not changed: the preparation of ``views=None`` and of coordinates."""

    view_ = "as is"
    reason_ = "the rows are used as they are, as you chose"

    def fit(self, X: Any) -> Self:
        """Count the columns and note their names."""
        self.encode(X, reset=True)
        return self

    def encode(self, X: Any, *, reset: bool = False) -> Matrix:
        """Check rows of numbers."""
        refuse_annotated(X)
        return self._validated(X, reset=reset)


def check_views(views: str | list[Any]) -> None:
    """Check that a list holds names of views or transformers; "auto" is valid only alone."""
    for view in [] if isinstance(views, str) else views:
        if view == "auto":
            raise ValueError('views=["auto", ...]: "auto" cannot be combined with other views; list the views by name.')
        if isinstance(view, str) and view not in VIEWS:
            raise ValueError(f"views holds {view!r}, which is no view: choose from {', '.join(VIEWS)}.")
        if not isinstance(view, str) and not (hasattr(view, "fit") and hasattr(view, "transform")):
            raise TypeError(f"views must hold names of views, or transformers with fit and transform; got {view!r}.")


@dataclass(frozen=True, eq=False)
class ViewRows:
    """Coded rows and the last step of a view, which scales them; None if there is nothing left to do."""

    rows: Matrix
    scaler: Any
    projected: ProjectedRows | None = None  # all of them, if this is computed already

    def project(self, projection: ViewProjection, index: NDArray[np.intp] | slice) -> ProjectedRows:
        """Some of the rows, in ascending order, under the projection of the view."""
        n_rows = self.rows.shape[0]
        n_wanted = len(range(n_rows)[index]) if isinstance(index, slice) else index.size
        if self.projected is not None and n_wanted == n_rows:
            return self.projected
        return ProjectedRows(projection, self.take(index))

    def take(self, index: NDArray[np.intp] | slice) -> Matrix:
        """Some of the rows in the view."""
        if self.scaler is None:
            return rows_at(self.rows, index)
        if self.rows.shape[0] * self.rows.shape[1] <= _KEPT_VALUES:
            return rows_at(self._scaled, index)
        return self.scaler.transform(rows_at(self.rows, index))

    @cached_property
    def _scaled(self) -> Matrix:
        return self.scaler.transform(self.rows)


def are_numeric(preparations: list[Any]) -> bool:
    """Whether all views take rows of numbers, which they can scale on a device."""
    return all(isinstance(one, Preparation) and one.encoder_ is None for one in preparations)


def rows_in_views(preparations: list[Any], X: Any, coded: Any = None) -> list[ViewRows]:
    """New data in each view; the rows are coded once for all views."""
    rows = []
    for preparation in preparations:
        if isinstance(preparation, Preparation | RowsAsGiven):
            coded = preparation.encode(X) if coded is None else coded
            rows.append(ViewRows(_indexable(coded), getattr(preparation, "scaler_", None)))
        else:
            rows.append(ViewRows(_indexable(preparation.transform(X)), None))
    return rows


def _indexable(rows: Any) -> Matrix:
    if is_device_array(rows):
        return rows
    return check_array(tidied(rows), accept_sparse="csr", dtype=[np.float64, np.float32])


def blocks_of(n_samples: int) -> Iterator[slice]:
    """Consecutive blocks of rows."""
    for start in range(0, n_samples, _BLOCK):
        yield slice(start, min(start + _BLOCK, n_samples))


@dataclass(frozen=True, eq=False)
class ViewedData:
    """Training data in each view.

    Attributes
    ----------
    preparations : list of transformers
        One for each view; it has the view's name and reason.
    sources : list of ViewRows
        The rows in each view.
    weights : array of shape (n_samples,) or None
        Weights of the rows.
    max_rank : int
        Rank of a randomised decomposition.
    origin : str
        What the reasons of the views end with: the size of the sample, if the rows are one.
    decompositions : dict of int to (array, Coordinates)
        For each view, the rows that were decomposed last and their coordinates.
    remote : RemoteRows or None
        All rows, if these are a sample of rows outside memory.
    known : array of shape (n_samples,) or None
        Known labels, -1 for unknown ones.
    groups : Groups or None
        Rows that get one label together.
    looked_at : Described or None
        The columns that the data were described from, if they were.
    """

    preparations: list[Any]
    sources: list[ViewRows]
    weights: Float | None
    max_rank: int
    origin: str = ""
    decompositions: dict[int, tuple[NDArray[np.intp], Coordinates]] = field(default_factory=dict)
    remote: RemoteRows | None = None
    known: NDArray[np.int32] | None = None
    groups: Groups | None = None
    looked_at: Described | None = None

    @classmethod
    def of_coordinates(cls, coordinates: Coordinates) -> ViewedData:
        """Rows as they are, decomposed already."""
        preparation = RowsAsGiven()
        preparation.n_features_in_ = coordinates.rows.n_features
        if coordinates.feature_names is not None:
            preparation.feature_names_in_ = coordinates.feature_names
        rows = ViewRows(coordinates.rows.X, None)
        # The members see rows without names, which are compared once, here.
        decomposed = {0: (np.arange(coordinates.n_samples), replace(coordinates, feature_names=None))}
        return cls([preparation], [rows], coordinates.weights, coordinates.rank, decompositions=decomposed)

    @classmethod
    def of(
        cls,
        X: Any,
        views: str | list[Any] | None,
        sample_weight: ArrayLike | None,
        max_rank: int,
        n_samples: int | None = None,
        columns: Any = "related",
    ) -> ViewedData:
        """Data in the views that suit them ("auto"), as they are (None), or in views by name or transformer.

        If the data are a sample, ``n_samples`` is the number of all rows. ``columns`` are those of tables to use.
        """
        looked_at = None
        if views is None:
            preparation = RowsAsGiven()
            rows = ViewRows(preparation.encode(X, reset=True), None)
            preparations, sources = [preparation], [rows]
        else:
            preparations, coded, looked_at = _fitted_preparations(X, views, sample_weight, n_samples, columns)
            sources = rows_in_views(preparations, X, coded)
        if sources[0].rows.shape[0] < 2:
            raise ValueError("n_samples=1: a minimum of 2 is required.")
        weights = check_weights(sample_weight, sources[0].rows)
        return cls(preparations, sources, weights, max_rank, looked_at=looked_at)

    def as_sample_of(self, remote: RemoteRows) -> ViewedData:
        """The same data as a sample of remote rows."""
        if remote.n_samples == self.n_samples:
            return replace(self, remote=remote)
        origin = f"; learned from a sample of {self.n_samples:,} of {remote.n_samples:,} rows"
        return replace(self, remote=remote, origin=origin)

    def on_device_of(self, remote: RemoteRows) -> ViewedData:
        """The same data on the device that holds all rows, if there is one: the sample is fitted there."""
        if not (is_device_array(remote.rows) and are_numeric(self.preparations)):
            return self
        rows = remote.beside(self.sources[0].rows)  # all views of numbers share these rows
        return replace(self, sources=[ViewRows(rows, source.scaler) for source in self.sources])

    def __len__(self) -> int:
        return len(self.preparations)

    @property
    def n_samples(self) -> int:
        return self.sources[0].rows.shape[0]

    @property
    def names(self) -> list[str]:
        """Names of the views."""
        return [getattr(one, "view_", type(one).__name__) for one in self.preparations]

    @property
    def reasons(self) -> list[str]:
        """Why each view is there."""
        return [getattr(one, "reason_", "given") + self.origin for one in self.preparations]

    def sample(self, rng: np.random.RandomState, share: float = 1.0) -> NDArray[np.intp]:
        """Rows to fit members on: those with weight; at most 10,000 times the share of them.

        A sample includes the first rows of each known class.
        """
        rows = np.arange(self.n_samples) if self.weights is None else np.flatnonzero(self.weights)
        most = int(share * MOST_ROWS)
        if rows.size <= most:
            return rows
        chosen = np.sort(rng.choice(rows, most, replace=False))
        return chosen if self.known is None else np.union1d(chosen, _some_of_each(rows, self.known[rows], most))

    def coordinates(self, view: int, index: NDArray[np.intp]) -> Coordinates:
        """Coordinates of some rows in one view, computed once for the same rows."""
        if view in self.decompositions and np.array_equal(self.decompositions[view][0], index):
            return self.decompositions[view][1]
        rows = self.sources[view].take(index)
        weights = None if self.weights is None else as_rows(rows).here(self.weights[index])
        rank = min(self.max_rank, _SPARSE_RANK) if sp.issparse(rows) else self.max_rank
        rng = np.random.RandomState(0)  # fixed: the number of clusters and the fit use the same coordinates
        coordinates = coordinates_of(as_rows(rows), weights, variance=None, max_rank=rank, rng=rng)
        self.decompositions[view] = index, coordinates
        return coordinates


def _some_of_each(rows: NDArray[np.intp], known: NDArray[np.int32], most: int) -> NDArray[np.intp]:
    """At most this many rows with known labels, equally many of each class."""
    n_classes = int(known.max()) + 1
    return np.concatenate([rows[known == number][: most // n_classes] for number in range(n_classes)])


def _fitted_preparations(
    X: Any, views: str | list[Any], sample_weight: ArrayLike | None, n_samples: int | None, columns: Any
) -> tuple[list[Any], Any, Described | None]:
    """The fitted preparation of each view, the coded rows that views of the library share, and their columns."""
    preparations: list[Any] = []
    base: Preparation | None = None
    coded, looked_at = None, None
    wanted = [views] if isinstance(views, str) else list(views)
    while wanted:
        view, wanted = wanted[0], wanted[1:]
        if not isinstance(view, str):
            weighted = has_fit_parameter(view, "sample_weight")
            preparations.append(clone(view).fit(X, **({"sample_weight": sample_weight} if weighted else {})))
        elif base is None:
            base = Preparation(view, columns)
            coded, looked_at = base.fit_encode(X, sample_weight, n_samples)
            preparations.append(base)
            wanted = base.description_.views[1:] if view == "auto" else wanted
        else:
            preparations.append(base.beside(view, coded, sample_weight))
    return preparations, coded, looked_at
