"""Data in each of some views, prepared when asked for: a sample, or some rows after others."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import ArrayLike, NDArray
from sklearn.base import clone
from sklearn.utils import check_array
from sklearn.utils.validation import has_fit_parameter

from jointclust.consensus.remote import Whole
from jointclust.numerics.groups import Groups
from jointclust.rows import as_rows, tidied
from jointclust.rows.arrays import is_device_array, rows_at
from jointclust.subspace.coordinates import Coordinates
from jointclust.subspace.decomposition import check_weights, coordinates_of
from jointclust.types import Float, Matrix
from jointclust.views.preparation import VIEWS, Preparation

# Rows that the members of several views are fitted on, and rows that are prepared at a time.
MOST_ROWS, _BLOCK = 10_000, 8_192
# Directions of sparse rows: more are words that few documents have.
_SPARSE_RANK = 100


def check_views(views: str | list[Any]) -> None:
    """Names of views or transformers; "auto" stands alone."""
    for view in [] if isinstance(views, str) else views:
        if view == "auto":
            raise ValueError('views=["auto", ...]: "auto" stands alone; name the views that you want beside others.')
        if isinstance(view, str) and view not in VIEWS:
            raise ValueError(f"views holds {view!r}, which is no view: choose from {', '.join(VIEWS)}.")
        if not isinstance(view, str) and not (hasattr(view, "fit") and hasattr(view, "transform")):
            raise TypeError(f"views must hold names of views, or transformers with fit and transform; got {view!r}.")


@dataclass(frozen=True, eq=False)
class Source:
    """Rows before the last step of a view, and that step; None where there is nothing left to do."""

    rows: Matrix
    scaler: Any

    def take(self, index: NDArray[np.intp] | slice) -> Matrix:
        """Some of the rows, in the view."""
        rows = rows_at(self.rows, index)
        return rows if self.scaler is None else self.scaler.transform(rows)


def are_numeric(preparations: list[Any]) -> bool:
    """Whether all views are of rows of numbers, which the views change where they are."""
    return all(isinstance(one, Preparation) and one.encoder_ is None for one in preparations)


def sources_of(preparations: list[Any], X: Any, coded: Any = None) -> list[Source]:
    """Rows of new data in each view; what all views begin with, the coded rows, is done once."""
    found = []
    for preparation in preparations:
        if isinstance(preparation, Preparation):
            coded = preparation.encode(X) if coded is None else coded
            found.append(Source(_indexable(coded), preparation.scaler_))
        else:
            found.append(Source(_indexable(preparation.transform(X)), None))
    return found


def _indexable(rows: Any) -> Matrix:
    if is_device_array(rows):
        return rows
    return check_array(tidied(rows), accept_sparse="csr", dtype=[np.float64, np.float32])


def blocks_of(n_samples: int) -> Iterator[slice]:
    """Some rows after others."""
    for start in range(0, n_samples, _BLOCK):
        yield slice(start, min(start + _BLOCK, n_samples))


@dataclass(frozen=True, eq=False)
class Sights:
    """Training data in each view.

    Attributes
    ----------
    names, reasons : list of str
        Of the views.
    preparations : list of transformers or None
        What prepares the rows; None where they are taken as they are.
    sources : list of Source
        The rows.
    weights : array of shape (n_samples,) or None
        Of the rows.
    given : Coordinates or None
        Of rows that are taken as they are.
    kept : dict of int to (array, Coordinates)
        By view, rows whose coordinates are kept for who asks next, and these.
    whole : Whole or None
        The rows, elsewhere than in memory, that the others are a sample of.
    known : array of shape (n_samples,) or None
        Known labels, -1 for none.
    together : Groups or None
        Rows that belong together.
    """

    names: list[str]
    reasons: list[str]
    preparations: list[Any]
    sources: list[Source]
    weights: Float | None
    max_rank: int
    given: Coordinates | None = None
    kept: dict[int, tuple[NDArray[np.intp], Coordinates]] = field(default_factory=dict)
    whole: Whole | None = None
    known: NDArray[np.int32] | None = None
    together: Groups | None = None

    @classmethod
    def of_rows(cls, coordinates: Coordinates, max_rank: int) -> Sights:
        """Rows as they are."""
        reason = "the rows are taken as they are, as asked for"
        source = Source(coordinates.rows.X, None)
        return cls(["as is"], [reason], [None], [source], coordinates.weights, max_rank, coordinates)

    @classmethod
    def of(
        cls,
        X: Any,
        views: str | list[Any],
        sample_weight: ArrayLike | None,
        max_rank: int,
        n_samples: int | None = None,
    ) -> Sights:
        """Data in the views that suit them ("auto"), or in views given by name or as transformers.

        Where the data are a sample, ``n_samples`` is the number of all rows.
        """
        preparations: list[Any] = []
        base: Preparation | None = None
        coded: Any = None
        wanted = [views] if isinstance(views, str) else views
        while wanted:
            view, wanted = wanted[0], wanted[1:]
            if not isinstance(view, str):
                preparations.append(_fitted(clone(view), X, sample_weight))
            elif base is None:
                base = Preparation(view)
                coded = base.fit_encode(X, sample_weight, n_samples)
                preparations.append(base)
                wanted = base.description_.views[1:] if view == "auto" else wanted
            else:
                preparations.append(base.beside(view, coded, sample_weight))
        sources = sources_of(preparations, X, coded)
        if sources[0].rows.shape[0] < 2:
            raise ValueError("n_samples=1: a minimum of 2 is required.")
        return cls(
            [getattr(one, "view_", type(one).__name__) for one in preparations],
            [getattr(one, "reason_", "given") for one in preparations],
            preparations,
            sources,
            check_weights(sample_weight, sources[0].rows),
            max_rank,
        )

    def out_of(self, whole: Whole) -> Sights:
        """The same as those of a sample, and that is said."""
        if whole.n_samples == self.n_samples:
            return replace(self, whole=whole)
        learned = f"learned from a sample of {self.n_samples:,} of {whole.n_samples:,} rows"
        return replace(self, whole=whole, reasons=[f"{reason}; {learned}" for reason in self.reasons])

    def beside(self, whole: Whole) -> Sights:
        """The same where all rows are, if that is a device: what is done with a sample of them is done there, too."""
        if not (is_device_array(whole.rows) and are_numeric(self.preparations)):
            return self
        rows = whole.beside(self.sources[0].rows)  # which all views of numbers have in common
        return replace(self, sources=[Source(rows, source.scaler) for source in self.sources])

    def __len__(self) -> int:
        return len(self.names)

    @property
    def n_samples(self) -> int:
        return self.sources[0].rows.shape[0]

    def sample(self, rng: np.random.RandomState, share: float = 1.0) -> NDArray[np.intp]:
        """Rows to fit members on: those that have weight, a sample of them (of 10,000 times the share) where many.

        Of those whose label is known the first ones of each class are among them.
        """
        rows = np.arange(self.n_samples) if self.weights is None else np.flatnonzero(self.weights)
        most = int(share * MOST_ROWS)
        if rows.size <= most:
            return rows
        chosen = np.sort(rng.choice(rows, most, replace=False))
        return chosen if self.known is None else np.union1d(chosen, _some_of_each(rows, self.known[rows], most))

    def keep(self, number: int, index: NDArray[np.intp]) -> Coordinates:
        """Coordinates of some rows in one view, kept for who asks next."""
        self.kept[number] = index, self.coordinates(number, index)
        return self.kept[number][1]

    def coordinates(self, number: int, index: NDArray[np.intp]) -> Coordinates:
        """Coordinates of some rows in one view."""
        if self.given is not None:
            return self.given
        if number in self.kept and np.array_equal(self.kept[number][0], index):
            return self.kept[number][1]
        rows = self.sources[number].take(index)
        weights = None if self.weights is None else as_rows(rows).here(self.weights[index])
        rank = min(self.max_rank, _SPARSE_RANK) if sp.issparse(rows) else self.max_rank
        rng = np.random.RandomState(0)  # whoever asks gets the same
        return coordinates_of(as_rows(rows), weights, variance=None, max_rank=rank, rng=rng)


def _some_of_each(rows: NDArray[np.intp], known: NDArray[np.int32], most: int) -> NDArray[np.intp]:
    """So many of the rows with known labels, the same number of each class where there are more."""
    n_classes = int(known.max()) + 1
    return np.concatenate([rows[known == number][: most // n_classes] for number in range(n_classes)])


def _fitted(preparation: Any, X: Any, sample_weight: ArrayLike | None) -> Any:
    options = {"sample_weight": sample_weight} if has_fit_parameter(preparation, "sample_weight") else {}
    return preparation.fit(X, **options)
