"""Data in each view of a consensus."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any, Self

import numpy as np
import scipy.sparse as sp
from numpy.typing import ArrayLike, NDArray
from sklearn.base import clone
from sklearn.utils.validation import has_fit_parameter

from jointclust.consensus.kept_rows import KeptRows
from jointclust.consensus.projection import ProjectedRows, ViewProjection, are_beyond, n_values, within_limits
from jointclust.consensus.remote import RemoteRows
from jointclust.estimators.base import TakesRows
from jointclust.numerics.groups import Groups
from jointclust.rows import as_rows, checked_numbers, host_block, refuse_annotated
from jointclust.rows.arrays import is_device_array, rows_at
from jointclust.subspace.coordinates import Coordinates
from jointclust.subspace.decomposition import check_weights, coordinates_of
from jointclust.types import Float, Matrix
from jointclust.views.blocks import (
    BlockView,
    DescribedBlocks,
    about_block,
    as_fitted,
    by_block,
    check_lengths,
    checked_blocks,
    described_blocks,
)
from jointclust.views.columns import IN_SINGLE, check_sizes
from jointclust.views.kinds import Described, Description
from jointclust.views.preparation import VIEWS, Coded, Preparation

# Rows that the members are fitted on, and rows that are prepared at a time.
MOST_ROWS, _ROWS_PER_CLUSTER, _BLOCK = 10_000, 20, 8_192
# Values up to which scaled rows are kept, of as many rows as members may see; more are scaled block by block.
_KEPT_VALUES = 2**24
# Of rows that are asked for block by block, which is seldom done twice, this part.
_OF_BLOCKS = 8
# Directions of sparse rows: later ones are words of few documents.
_SPARSE_RANK = 100


def most_rows(n_clusters: int, share: float = 1.0) -> int:
    """The most rows that members are fitted to, or a share of them: 10,000, or 20 for each cluster."""
    return int(share * max(MOST_ROWS, _ROWS_PER_CLUSTER * n_clusters))


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
        rows = self._validated(X, reset=reset)
        if reset and rows.shape[0]:
            ends = [rows.min(axis=0), rows.max(axis=0)]
            ends = [end.toarray().ravel() for end in ends] if sp.issparse(rows) else ends
            check_sizes(ends[0], ends[1], getattr(self, "feature_names_in_", range(rows.shape[1])), IN_SINGLE)
        return rows

    def coded(self, X: Any) -> Coded:
        """The same, as other preparations give rows: none of these is without a value."""
        return Coded(self.encode(X), None)


def check_views(views: str | list[Any] | dict[str, Any] | None) -> None:
    """Check that each list holds names of views or transformers; "auto" is valid only alone."""
    if isinstance(views, dict):
        for own in views.values():
            check_views(own)
        return
    if not isinstance(views, list | tuple | str | None):
        raise TypeError(f'views has to be "auto", None or a list of views, for each block; got {views!r}.')
    if views is not None and len(views) == 0:
        raise ValueError('views is empty: give at least one, "auto", or None for rows as they are.')
    for view in [] if views in (None, "auto") else [views] if isinstance(views, str) else views:
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
    is_empty: NDArray[np.bool_] | None = None  # which of them had no value before gaps were filled, if any had none

    def project(self, projection: ViewProjection, index: NDArray[np.intp] | slice) -> ProjectedRows:
        """Some of the rows, in ascending order, under the projection of the view."""
        n_rows = self.rows.shape[0]
        n_wanted = len(range(n_rows)[index]) if isinstance(index, slice) else index.size
        if self.projected is not None and n_wanted == n_rows:
            return self.projected
        is_beyond = None if self.scaler is None else are_beyond(rows_at(self.rows, index))
        return ProjectedRows(projection, self.take(index), is_beyond)

    def take(self, index: NDArray[np.intp] | slice) -> Matrix:
        """Some of the rows in the view."""
        if self.scaler is None:
            return rows_at(self.rows, index)
        most = _KEPT_VALUES // (_OF_BLOCKS if isinstance(index, slice) else 1)
        is_small = self.rows.shape[0] <= 2 * MOST_ROWS and self.rows.shape[0] * self.rows.shape[1] <= most
        if is_small or "_scaled" in vars(self):
            return rows_at(self._scaled, index)
        return self.scaler.transform(within_limits(rows_at(self.rows, index)))

    def block(self, rows: slice) -> ViewRows:
        """Some of the rows, of which each is needed once: those that are scaled are not kept."""
        return ViewRows(rows_at(self.rows, rows), self.scaler, is_empty=self.are_empty(rows))

    def are_empty(self, index: NDArray[np.intp] | slice) -> NDArray[np.bool_] | None:
        """Which of some rows had no value."""
        return None if self.is_empty is None else self.is_empty[index]

    @cached_property
    def _scaled(self) -> Matrix:
        return self.scaler.transform(within_limits(self.rows))


def are_numeric(preparations: list[Any]) -> bool:
    """Whether all views take rows of numbers, which they can scale on a device."""
    return all(isinstance(one, Preparation) and one.encoder_ is None for one in preparations)


def rows_in_views(preparations: list[Any], X: Any, coded: Coded | None = None) -> list[ViewRows]:
    """New data in each view; the rows are coded once for all views, those of each block for its own."""
    own, given = by_block(preparations), checked_blocks(X)
    if own is not None:
        return _blocks_in_views(own, given, X)
    if given is not None:
        raise TypeError(
            f"X is a dict of blocks ({', '.join(map(repr, given))}), and the model was fitted to one table."
        )
    rows = []
    for preparation in preparations:
        if isinstance(preparation, Preparation | RowsAsGiven):
            coded = preparation.coded(X) if coded is None else coded
            scaler = getattr(preparation, "scaler_", None)
            rows.append(ViewRows(_indexable(coded.rows), scaler, is_empty=coded.is_empty))
        else:
            rows.append(ViewRows(_indexable(preparation.transform(X)), None))
    return rows


def _blocks_in_views(preparations: dict[str, list[Any]], given: dict[str, Any] | None, X: object) -> list[ViewRows]:
    """Each block in its views."""
    names = list(preparations)
    if given is None:
        advice = f"pass a dict with these, as to fit; got {type(X).__name__}."
        raise TypeError(f"The model was fitted to the blocks {', '.join(map(repr, names))}: {advice}")
    of_blocks: dict[str, list[ViewRows]] = {}
    for name, block in as_fitted(given, names).items():
        with about_block(name):
            of_blocks[name] = rows_in_views(preparations[name], block)
    return [source for sources in of_blocks.values() for source in sources]


def without_value(sources: list[ViewRows]) -> NDArray[np.bool_] | None:
    """Which rows have no value in any of these views, so that their labels are guesses; None if there are none."""
    known = [source.is_empty for source in sources if source.is_empty is not None]
    is_empty = np.logical_and.reduce(known) if len(known) == len(sources) else np.zeros(1, dtype=bool)
    return is_empty if is_empty.any() else None


def _indexable(rows: Any) -> Matrix:
    if is_device_array(rows):
        return rows
    return checked_numbers(rows, dtype=[np.float64, np.float32])


def blocks_of(n_samples: int) -> Iterator[slice]:
    """Consecutive blocks of rows."""
    for start in range(0, n_samples, _BLOCK):
        yield slice(start, min(start + _BLOCK, n_samples))


@dataclass(frozen=True, eq=False)
class RowsInViews(RemoteRows):
    """All rows, in memory and coded, by their numbers.

    Attributes
    ----------
    sources : list of ViewRows
        The rows in each view.
    """

    sources: list[ViewRows] = field(default_factory=list)

    @property
    def width(self) -> int:
        return n_values(self.sources[0].rows)

    def preparing(self, sources: Callable[[Any], list[Any]]) -> Callable[[Any], list[Any]]:
        """The function from numbers of consecutive rows to the rows in each view."""
        return lambda numbers: [one.block(slice(int(numbers[0, 0]), int(numbers[-1, 0]) + 1)) for one in self.sources]


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
    looked_at : Described, DescribedBlocks or None
        The columns that the data were described from, if they were.
    kept : KeptRows or None
        The rows that the model will keep.
    fingerprint : str or None
        What tells all rows from others.
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
    looked_at: Described | DescribedBlocks | None = None
    kept: KeptRows | None = None
    fingerprint: str | None = None

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
        views: str | list[Any] | dict[str, Any] | None,
        sample_weight: ArrayLike | None,
        max_rank: int,
        sample_of: RemoteRows | None = None,
        columns: Any = "related",
    ) -> ViewedData:
        """Data in the views that suit them ("auto"), as they are (None), or in views by name or transformer.

        If the data are a sample, ``sample_of`` are all rows. ``columns`` are those of tables to use. Of a
        dict of blocks each has views of its own; ``views`` and ``columns`` may be dicts that name those of each.
        """
        blocks = checked_blocks(X)
        if blocks is not None:
            return cls._of_blocks(blocks, views, sample_weight, max_rank, columns)
        if isinstance(views, dict) or isinstance(columns, dict):
            which = "views" if isinstance(views, dict) else "columns"
            raise ValueError(f"{which} is a dict, which names those of each block, and X is one table: give a list.")
        looked_at = None
        if views is None:
            if sample_of is not None and sample_of.has_gaps:
                raise ValueError("X has missing cells, which views=None does not fill: fill them, or use other views.")
            preparation = RowsAsGiven()
            rows = ViewRows(preparation.encode(X, reset=True), None)
            preparations, sources = [preparation], [rows]
        else:
            preparations, coded, looked_at = _fitted_preparations(X, views, sample_weight, sample_of, columns)
            sources = rows_in_views(preparations, X, coded)
        if sources[0].rows.shape[0] < 2:
            raise ValueError("n_samples=1: a minimum of 2 is required.")
        weights = check_weights(sample_weight, sources[0].rows)
        return cls(preparations, sources, weights, max_rank, looked_at=looked_at)

    @classmethod
    def _of_blocks(
        cls, blocks: dict[str, Any], views: Any, sample_weight: ArrayLike | None, max_rank: int, columns: Any
    ) -> ViewedData:
        """Blocks side by side, each in its views."""
        views, columns = (_of_each(given, blocks, name) for given, name in ((views, "views"), (columns, "columns")))
        of_blocks: dict[str, ViewedData] = {}
        for name, block in blocks.items():
            with about_block(name):
                of_blocks[name] = cls.of(block, views[name], sample_weight, max_rank, columns=columns[name])
        check_lengths({name: one.n_samples for name, one in of_blocks.items()})
        looked_at = {name: one.looked_at for name, one in of_blocks.items() if isinstance(one.looked_at, Described)}
        return cls(
            [BlockView(name, preparation) for name, one in of_blocks.items() for preparation in one.preparations],
            [source for one in of_blocks.values() for source in one.sources],
            next(iter(of_blocks.values())).weights,
            max_rank,
            looked_at=described_blocks(looked_at) if len(looked_at) == len(of_blocks) else None,
        )

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
        # Scaled here: the last digit may differ there, and what is learned would differ with it.
        scaled = [remote.beside(source.take(slice(None))) for source in self.sources]
        sources = zip(scaled, self.sources, strict=True)
        return replace(self, sources=[ViewRows(rows, None, is_empty=one.is_empty) for rows, one in sources])

    @property
    def workers_of(self) -> Any:
        """All rows, if they are elsewhere: Dask workers that hold them fit members, too."""
        return None if self.remote is None else self.remote.rows

    def in_memory(self) -> ViewedData:
        """The same data in memory, where they lie on a device: what looks at few rows gives one answer everywhere."""
        if not is_device_array(self.sources[0].rows):
            return self
        sources = [replace(one, rows=host_block(one.rows), projected=None) for one in self.sources]
        return replace(self, sources=sources, decompositions={})

    def __len__(self) -> int:
        return len(self.preparations)

    @property
    def n_samples(self) -> int:
        return self.sources[0].rows.shape[0]

    @property
    def description(self) -> Description | None:
        """What the data are, if they were described."""
        if isinstance(self.looked_at, DescribedBlocks):
            return self.looked_at.description
        return getattr(self.preparations[0], "description_", None)

    @property
    def widths(self) -> list[int]:
        """The number of columns of each view."""
        return [source.rows.shape[1] for source in self.sources]

    @property
    def blocks(self) -> NDArray[np.intp]:
        """The number of the block of each view."""
        names = [getattr(one, "block", "") for one in self.preparations]
        return np.array([list(dict.fromkeys(names)).index(name) for name in names])

    @property
    def names(self) -> list[str]:
        """Names of the views."""
        return [getattr(one, "view_", type(one).__name__) for one in self.preparations]

    @property
    def reasons(self) -> list[str]:
        """Why each view is there."""
        return [getattr(one, "reason_", "given") + self.origin for one in self.preparations]

    def sample(self, rng: np.random.RandomState, most: int | None = None) -> NDArray[np.intp]:
        """Rows to fit members on: those with weight, so many at the most, 10,000 if it is not said.

        A sample includes the first rows of each known class.
        """
        most = MOST_ROWS if most is None else most
        rows = np.arange(self.n_samples) if self.weights is None else np.flatnonzero(self.weights)
        if rows.size <= most:
            return rows
        chosen = np.sort(rng.choice(rows, most, replace=False))
        return chosen if self.known is None else np.union1d(chosen, _some_of_each(rows, self.known[rows], most))

    def learned_from(self, sample: NDArray[np.intp]) -> ViewedData:
        """The data as a sample of rows that all get votes; the data themselves if they are all rows with weight."""
        n_present = self.n_samples if self.weights is None else np.count_nonzero(self.weights)
        if self.remote is not None or n_present <= MOST_ROWS or sample.size >= n_present:
            return self
        weights = None if self.weights is None else self.weights[sample]
        known = None if self.known is None else self.known[sample]
        sources = [
            ViewRows(rows_at(one.rows, sample), one.scaler, is_empty=one.are_empty(sample)) for one in self.sources
        ]
        sampled = {
            view: (np.arange(sample.size), coordinates)
            for view, (index, coordinates) in self.decompositions.items()
            if np.array_equal(index, sample)
        }
        numbers = np.arange(self.n_samples)[:, None]
        whole = RowsInViews(numbers, self.weights, self.known, self.groups, sources=self.sources)
        return ViewedData(self.preparations, sources, weights, self.max_rank, "", sampled, whole, known)

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


def _of_each(given: Any, blocks: dict[str, Any], parameter: str) -> dict[str, Any]:
    """A parameter of each block: by name, or the same for all."""
    if isinstance(given, dict):
        unknown = [name for name in given if name not in blocks]
        if unknown:
            there = ", ".join(map(repr, blocks))
            raise ValueError(f"{parameter} names the block {unknown[0]!r}, which X lacks: its blocks are {there}.")
        usual = "auto" if parameter == "views" else "related"
        return {name: given.get(name, usual) for name in blocks}
    if parameter == "columns" and not isinstance(given, str):
        example = {next(iter(blocks)): list(given)}
        raise ValueError(f"columns is a list, and X has blocks: say of which block these are, columns={example!r}.")
    return dict.fromkeys(blocks, given)


def _some_of_each(rows: NDArray[np.intp], known: NDArray[np.int32], most: int) -> NDArray[np.intp]:
    """At most this many rows with known labels, equally many of each class."""
    n_classes = int(known.max()) + 1
    return np.concatenate([rows[known == number][: most // n_classes] for number in range(n_classes)])


def _fitted_preparations(
    X: Any, views: str | list[Any], sample_weight: ArrayLike | None, sample_of: RemoteRows | None, columns: Any
) -> tuple[list[Any], Coded | None, Described | None]:
    """The fitted preparation of each view, the coded rows that views of the library share, and their columns."""
    preparations: list[Any] = []
    base: Preparation | None = None
    coded: Coded | None = None
    looked_at = None
    wanted = [views] if isinstance(views, str) else list(views)
    while wanted:
        view, wanted = wanted[0], wanted[1:]
        if not isinstance(view, str):
            weighted = has_fit_parameter(view, "sample_weight")
            preparations.append(clone(view).fit(X, **({"sample_weight": sample_weight} if weighted else {})))
        elif base is None or coded is None:
            base = Preparation(view, columns)
            n_samples, gaps = (None, False) if sample_of is None else (sample_of.n_samples, sample_of.has_gaps)
            coded, looked_at = base.fit_encode(X, sample_weight, n_samples, others_have_gaps=gaps)
            preparations.append(base)
            wanted = base.description_.views[1:] if view == "auto" else wanted
        else:
            preparations.append(base.beside(view, coded.rows, sample_weight))
    return preparations, coded, looked_at
