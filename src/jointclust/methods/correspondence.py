"""Joint dimension reduction and clustering of categories, as R's clustrd has it."""

from __future__ import annotations

from abc import abstractmethod
from dataclasses import dataclass, fields
from numbers import Integral, Real
from typing import Any, ClassVar

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.utils.validation import check_is_fitted, validate_data

from jointclust._sklearn import Interval, StrOptions
from jointclust.estimators.base import RESTARTS, Limits
from jointclust.estimators.joint import JointClusterer, JointRun
from jointclust.methods.categories import Coding, learned
from jointclust.methods.discriminative import _Discriminative
from jointclust.numerics.graph import distinct_rows
from jointclust.numerics.kmeans import fewer_restarts, lloyd
from jointclust.numerics.partitions import centers_of, cluster_sizes, squared_distances, weighted_norm, within_norm
from jointclust.rows import Rows, as_rows, tidied
from jointclust.subspace.alternating import Method, State
from jointclust.subspace.coordinates import Clusters, Coordinates
from jointclust.subspace.decomposition import check_rows, check_weights, coordinates_of
from jointclust.types import Float, Labels
from jointclust.views.columns import check_columns, is_table, names_of

# Rows times clusters up to which single rows are moved.
_MOST_MOVED = 2**16
# Centers that are put elsewhere, one at a time, before a run rests.
_SWAPS = 30


@dataclass
class _ReducedKMeans(_Discriminative):
    """Reduced k-means; where it rests, it goes on as long as moving one set of equal rows raises the objective.

    Rows of categories are few points with many rows each, where nearest centers rest far from the best clusters.
    """

    def step(self, start: Clusters, previous: State | None) -> State:
        state, here = super().step(start, previous), self.coordinates
        many = here.n_samples * state.clusters.n_clusters > _MOST_MOVED
        if many or here.known is not None or here.groups is not None or not self.rests(start, previous, state):
            return state
        Y, clusters = here.embed(state.projection), state.clusters
        first, which = distinct_rows(here.rows.X)
        mass = np.bincount(which, here.weights, minlength=first.size).astype(np.float64)
        moved = single_moves(Y[first].astype(np.float64), clusters.labels[first], clusters.n_clusters, mass)
        state = self._state(clusters, moved[which], state.projection)
        return state if state.clusters is not clusters else self._swapped(state, first, mass)

    def _swapped(self, state: State, first: NDArray[np.intp], mass: Float) -> State:
        """A better state that k-means finds when one center is put on another row (Fränti), if it does so soon."""
        here, labels, n_clusters = self.coordinates, state.clusters.labels, state.clusters.n_clusters
        T, weights, places = here.leading(here.rank), here.weights, np.cumsum(mass)
        centers = centers_of(T, labels, n_clusters, weights)
        for _ in range(_SWAPS):
            other = centers.copy()
            place = np.searchsorted(places, self.rng.uniform(high=places[-1]), side="right")
            other[self.rng.randint(n_clusters)] = T[first[place]]
            clusters = state.clusters.relabelled(lloyd(T, other, weights).labels)
            projection = self.project(clusters)
            swapped = State(clusters, projection, self.objective(clusters, projection))
            if swapped.objective > state.objective * (1 + 1e-9):
                return swapped
        return state


def single_moves(Y: Float, labels: Labels, n_clusters: int, mass: Float) -> Labels:
    """Move one point at a time, the one that lowers the within-cluster scatter most (Hartigan), until none does.

    Every point is then nearest to its own center, too.
    """
    labels, points = labels.copy(), np.arange(len(Y))
    least = 1e-9 * float(mass @ np.sum(Y**2, axis=1)) / len(Y)
    for _ in range(4 * len(Y)):
        sizes = cluster_sizes(labels, n_clusters, mass)
        distances = squared_distances(Y, centers_of(Y, labels, n_clusters, mass))
        rest = sizes[labels] - mass
        alone = rest <= 1e-9 * sizes[labels]  # in its cluster, which is then at no distance
        leaving = np.where(alone, 0.0, mass * sizes[labels] / np.where(alone, 1.0, rest)) * distances[points, labels]
        joining = mass[:, None] * sizes / (sizes + mass[:, None]) * distances
        joining[points, labels] = np.inf
        gains = leaving - joining.min(axis=1)
        best = int(gains.argmax())
        if gains[best] <= least:
            break
        labels[best] = joining[best].argmin()
    return labels


@dataclass
class _Guarded(Method):
    """Directions that suit the labels, and k-means in them, in turn: a run rests where k-means lowers the objective.

    k-means has an objective of its own, which is not quite that of these methods.
    """

    coordinates: Coordinates
    n_components: int

    @abstractmethod
    def objective(self, clusters: Clusters, projection: Float, *_: NDArray) -> float: ...

    def step(self, start: Clusters, previous: State | None) -> State:
        clusters, here = (start if previous is None else previous.clusters), self.coordinates
        projection = self.project(clusters)
        Y = here.seen_together(projection)
        centers = centers_of(Y, clusters.labels, clusters.n_clusters, here.weights)
        clusters = clusters.relabelled(lloyd(Y, centers, here.weights, known=here.known).labels)
        state = State(clusters, projection, self.objective(clusters, projection))
        return state if previous is None or state.objective >= previous.objective else previous


@dataclass
class _Homogeneity(_Guarded):
    """MCA k-means: scores S of the rows with the least distance from their categories and from their clusters.

    With the coded rows T in coordinates and the normalised centred labels N, S holds the leading left singular vectors
    of ``A = [sqrt(a q / n) T, sqrt(1 - a) N]``. ``A'A`` is made of sums over clusters alone.
    """

    n_columns: int
    share: float

    def spectrum(self, clusters: Clusters) -> tuple[Float, Float]:
        """Leading eigenpairs of ``A'A``."""
        mass, sizes = self.coordinates.mass, clusters.sizes
        left, right = np.sqrt(self.share * self.n_columns / mass), np.sqrt(1 - self.share)
        cross, root = left * right * clusters.between_factor, np.sqrt(sizes)
        corner = right**2 * (np.diag((sizes > 0).astype(float)) - np.outer(root, root) / mass)
        matrix = np.block([[np.diag(left**2 * self.coordinates.eigenvalues), cross.T], [cross, corner]])
        values, vectors = np.linalg.eigh(matrix)
        return np.maximum(values[::-1][: self.n_components], 0.0), vectors[:, ::-1][:, : self.n_components]

    def project(self, clusters: Clusters) -> Float:
        """A row in the middle of its categories, which are in the middle of the scores S of their rows."""
        values, vectors = self.spectrum(clusters)
        mass, rank = self.coordinates.mass, self.coordinates.rank
        return vectors[:rank] * np.sqrt(values / (self.share * self.n_columns * mass))

    def objective(self, clusters: Clusters, projection: Float, *_: NDArray) -> float:
        return float(self.spectrum(clusters)[0].sum())


@dataclass
class _Association(_Guarded):
    """i-FCB: directions of most association between clusters and levels, ``|F'XB|^2 / n^2``."""

    def project(self, clusters: Clusters) -> Float:
        rows = np.linalg.svd(clusters.sums, full_matrices=False)[2]
        if len(rows) < self.n_components:  # beyond c directions there is no association left: take variance
            rows = np.linalg.qr(np.vstack([rows, np.eye(self.coordinates.rank)]).T)[0].T
        return rows[: self.n_components].T

    def objective(self, clusters: Clusters, projection: Float, *_: NDArray) -> float:
        return float(np.sum((clusters.sums @ projection) ** 2)) / self.coordinates.mass**2


@dataclass(eq=False, repr=False, kw_only=True)
class CorrespondenceClustering(JointClusterer):
    r"""Clusters of rows of categories, and the dimensions that show them with the categories.

    .. math:: \max_{B'B = I,\, F} \; \lVert (F'F)^{-1/2} F' X B \rVert_F^2, \qquad
              x_{il} = \frac{1[\text{row } i \text{ has level } l] - p_l}{\sqrt{q\, p_l}}

    ======== =================================================================================
    symbol   meaning
    ======== =================================================================================
    x_il     the coded table: one column for each level l of the q columns, p_l its share
    F        one-hot ``labels_``
    B        orthonormal directions, ``components_.T``
    XB       rows, each in the middle of its categories: ``transform(X)``
    ======== =================================================================================

    This is cluster correspondence analysis ("clusca"): correspondence analysis of the table of clusters by levels and
    k-means in turn, which is reduced k-means of X. The other methods of R's clustrd are

    - "mca", MCA k-means: scores of the rows near to their categories and to their clusters,
      :math:`\min \alpha \sum_j \lVert S - Z_j W_j \rVert^2 + (1 - \alpha) \lVert S - FG \rVert^2` over scores with
      S'S = I, dummies :math:`Z_j` of column j, and quantifications :math:`W_j`. The objective is the sum of the leading
      eigenvalues of :math:`\alpha \sum_j P_j + (1 - \alpha) P_F`, projections on dummies and clusters, which is
      largest where this loss is least. Labels are those of k-means among rows in the middle of their categories, which
      new rows have too, in place of k-means among S; a run rests where they would lower the objective.
    - "i-fcb", iterative factor clustering: :math:`\max \lVert F'XB \rVert_F^2 / n^2`, Goodman and Kruskal's
      association of levels and clusters in the dimensions of B, by nonsymmetric correspondence analysis; labels by
      k-means in them, likewise.
    - "mixed": numbers keep their values, of mean 0 and spread 1, beside levels coded as above without q: reduced
      k-means of both.

    Parameters
    ----------
    n_clusters, n_components
    method : {"clusca", "mca", "i-fcb", "mixed"}, default="clusca"
        What is optimised.
    n_bins : int, default=4
        Numbers are cut at quantiles into so many intervals, unless they have as few values; not with "mixed".
    columns : dict of str to str, default=None
        Kind of columns by name (or number, where they have no names), "category" or "number", where it does not follow
        from the type: codes 1 to 20 of a category are numbers by their type.
    alpha : float, default=0.5
        Of "mca": the weight of categories against clusters, above 0; 1 is multiple correspondence analysis, then
        k-means.
    max_rank
    init : {"pca", "k-means++", "random"} or array of labels, default="pca"
        k-means in the leading dimensions of multiple correspondence analysis, in all of them, in a random subspace; or
        labels 0..n_clusters-1 to start from.
    n_init : int, default=20
        Runs, the best of which is kept; rows of categories have many optima. With ``init="pca"`` they start in turn
        from the leading dimensions, from a random subspace and from a random partition.
    max_iter, tol, random_state, n_jobs

    Attributes
    ----------
    labels_, classes_
    components_ : array of shape (n_components, n_levels)
        Directions in the coded table.
    category_points_ : array of shape (n_levels, n_components)
        Points of the levels: a row is in the middle of its levels' points. Of numbers ("mixed"), their loadings.
    level_names_ : list of str
        What they are points of.
    cluster_centers_ : array of shape (n_clusters, n_components)
        Cluster means in the embedding.
    mean_ : array of shape (n_levels,)
        Mean coded row, zero up to rounding.
    column_names_, levels_, shares_, cuts_, numbers_
        Columns; by column, levels with their shares, where numbers are cut, and mean and spread of numbers that stay.
    objective_ : float
        The objective above.
    objective_history_, n_iter_, converged_, variance_share_, within_share_, rank_, variance_kept_, exact_, n_passes_

    See Also
    --------
    JointConsensus : Takes tables of any kind, with gaps.

    References
    ----------
    M. van de Velden, A. Iodice D'Enza and F. Palumbo, "Cluster correspondence analysis", Psychometrika 82, 2017.
    H. Hwang, W. R. Dillon and Y. Takane, "An extension of multiple correspondence analysis for identifying
    heterogeneous subgroups of respondents", Psychometrika 71, 2006.
    A. Iodice D'Enza and F. Palumbo, "Iterative factor clustering of binary data", Computational Statistics 28, 2013.

    Examples
    --------
    >>> import pandas as pd, jointclust as jc
    >>> drinks, times = ["tea", "tea", "coffee"], ["late", "late", "early"]
    >>> table = pd.DataFrame({"drink": drinks * 5, "time": times * 5})
    >>> model = jc.CorrespondenceClustering(2, random_state=0).fit(table)
    >>> model.level_names_
    ['drink = coffee', 'drink = tea', 'time = early', 'time = late']
    >>> model.category_points_.shape, model.predict(table[:2]).tolist() == model.labels_[:2].tolist()
    ((4, 1), True)
    """

    variance = None  # not a parameter: a coded table has no directions to be rid of
    _limits: ClassVar[Limits] = {
        "method": [StrOptions({"clusca", "mca", "i-fcb", "mixed"})],
        "n_bins": [Interval(Integral, 2, None, closed="left")],
        "columns": [dict, None],
        "alpha": [Interval(Real, 0, 1, closed="right")],
    }

    method: str = "clusca"
    n_bins: int = 4
    columns: dict[str, str] | None = None
    alpha: float = 0.5
    init: str | ArrayLike = "pca"
    n_init: int = 20

    @property
    def _orthonormal(self) -> bool:  # type: ignore[override]
        return self.method != "mca"

    @property
    def _accepts_sparse(self) -> bool:  # type: ignore[override]
        return False

    def _refusal(self, kind: str) -> str | None:
        return "it looks at the levels of a table. Use rows in memory, a sample of them, say, and predict the rest."

    def takes_coordinates(self, coordinates: Coordinates) -> bool:
        return False

    # -- the table ----------------------------------------------------------------------------------------------

    def _validated(self, X: Any, *, reset: bool = True, ensure_min_samples: int = 1, **options: Any) -> Any:
        """The table as its library has it; columns are counted, and their names noted or compared."""
        check_rows(X)
        self._refuse(X)
        if is_table(X) and not isinstance(X, np.ndarray):
            names_of(X)
            check_columns(self, X, reset=reset)
            if X.shape[0] < ensure_min_samples or X.shape[1] == 0:
                raise ValueError(
                    f"X has {X.shape[0]} sample(s) and {X.shape[1]} feature(s), while a minimum of "
                    f"{ensure_min_samples} and 1 is required."
                )
            return X
        X = np.array(X, dtype=object) if isinstance(X, list | tuple) else X
        return validate_data(
            self, tidied(X), dtype=None, ensure_all_finite=False, reset=reset, ensure_min_samples=ensure_min_samples
        )

    def _coordinates_of(
        self, X: Any, sample_weight: ArrayLike | None, rng: np.random.RandomState, **options: Any
    ) -> Coordinates:
        if isinstance(X, Coordinates):
            raise TypeError("CorrespondenceClustering codes the table itself: pass the rows.")
        table = self._validated(X, ensure_min_samples=2)
        weights = check_weights(sample_weight, table)
        own, names = np.ones(table.shape[0]) if weights is None else weights, column_names(table)
        kinds = {str(name): kind for name, kind in (self.columns or {}).items()}
        coding = learned(table, names, own, kinds, self.n_bins, keep_numbers=self.method == "mixed")
        for one in fields(coding):
            setattr(self, one.name, getattr(coding, one.name))
        return coordinates_of(coded_rows(self, table), weights, max_rank=self.max_rank, rng=rng)

    def _check(self, X: Any, method: str) -> Rows:
        check_is_fitted(self)
        return coded_rows(self, self._validated(X, reset=False))

    # -- fit and use --------------------------------------------------------------------------------------------

    def _method(self, coordinates: Coordinates, n_components: int, rng: np.random.RandomState) -> Method:
        if self.method == "mca":
            n_columns = max(len(self.__dict__.get("levels_", ())), 1)
            return _Homogeneity(coordinates, n_components, n_columns, self.alpha)
        if self.method == "i-fcb":
            return _Association(coordinates, n_components)
        restarts = fewer_restarts(RESTARTS, self.n_clusters)
        return _ReducedKMeans(coordinates, n_components, 1.0, "comparison", restarts, self.tol, rng)

    def _start_restarts(self) -> int:
        return 1 if isinstance(self.init, str) and self.init == "pca" else RESTARTS  # runs had better start apart

    def _collapse_remedy(self) -> str:
        return "Lower n_components or n_clusters."

    def _publish(self, coordinates: Coordinates, method: Method, run: JointRun) -> NDArray:
        Y = super()._publish(coordinates, method, run)
        coding = Coding.of(self)
        self.level_names_ = coding.level_names
        self.category_points_ = self.components_.T * point_scales(coding, divisor(self, coding))[:, None]
        return Y

    def score(self, X: Any, y: object = None, sample_weight: ArrayLike | None = None) -> float:
        """Objective of X with the fitted directions and clusters; with "mca" that of the predicted labels.

        Parameters
        ----------
        X : table of shape (n_samples, n_features)
            Rows.
        y : ignored
            There are no labels.
        sample_weight : array-like of shape (n_samples,), optional
            Weights of the rows.

        Returns
        -------
        score : float
            The objective.
        """
        if self.method != "mca":
            return super().score(X, y, sample_weight)
        rows = self._check(X, "score")
        here = coordinates_of(rows, check_weights(sample_weight, rows.X), rng=np.random.RandomState(0))
        steps = self._method(here, len(self.components_), np.random.RandomState(0))
        clusters = here.clusters(self._predict(rows), self.n_clusters)
        return steps.objective(clusters, self.components_.T, rows.X, self.cluster_centers_)

    def _score(self, Y: NDArray, labels: Labels, weights: Float | None) -> float:
        if self.method != "i-fcb":
            return weighted_norm(Y, weights) - within_norm(Y, labels, self.cluster_centers_, weights)
        sizes = cluster_sizes(labels, self.n_clusters, weights)
        sums = centers_of(Y, labels, self.n_clusters, weights) * sizes[:, None]
        return float(np.sum(sums**2)) / sizes.sum() ** 2


def column_names(table: Any) -> list[str]:
    """Names of the columns; their numbers, where they have none."""
    return [str(name) for name in (names_of(table) if is_table(table) else range(table.shape[1]))]


def coded_rows(model: CorrespondenceClustering, table: Any) -> Rows:
    """The table in the coding that was published, float32 where it has such numbers."""
    coding = Coding.of(model)
    rows = coding.coded(table) / np.sqrt(divisor(model, coding))
    return as_rows(rows.astype(np.float32) if getattr(table, "dtype", None) == np.float32 else rows)


def divisor(model: CorrespondenceClustering, coding: Coding) -> int:
    """What squared codes are divided by: q, unless numbers stand beside them."""
    return 1 if model.method == "mixed" else max(coding.n_columns, 1)


def point_scales(coding: Coding, n_columns: int) -> Float:
    """Factors from directions to points of levels; 1 for numbers."""
    scales = [
        [1.0] if name in coding.numbers_ else np.sqrt(n_columns / coding.shares_[name])
        for name in coding.column_names_
        if name in coding.numbers_ or name in coding.levels_
    ]
    return np.concatenate(scales) if scales else np.ones(1)
