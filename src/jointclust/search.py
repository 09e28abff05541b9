"""Choosing among candidates without labels."""

from __future__ import annotations

import threading
import time
import warnings
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from numbers import Integral
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.base import BaseEstimator, MetaEstimatorMixin, clone
from sklearn.metrics import adjusted_rand_score
from sklearn.model_selection import ParameterGrid
from sklearn.utils import check_array, check_random_state
from sklearn.utils._param_validation import HasMethods, Interval, StrOptions
from sklearn.utils.metaestimators import available_if
from sklearn.utils.validation import check_is_fitted, validate_data

from jointclust import criteria, threads
from jointclust.base import Clusterer
from jointclust.consensus import automatic_members, fit_member, training_labels
from jointclust.coordinates import Coordinates, coordinates_of
from jointclust.path import DEFAULT_TRADE_OFFS
from jointclust.rows import as_rows
from jointclust.types import Labels

# DEC's trade-off on the paper's two levels: coarse over all of it, then fine around the best.
TRADE_OFF_COARSE = DEFAULT_TRADE_OFFS


def trade_off_fine(best: float) -> tuple[float, ...]:
    """The paper's second level: trade-offs between the neighbours of the best one of the first.

    Examples
    --------
    >>> from jointclust.search import trade_off_fine
    >>> trade_off_fine(2.0)
    (1.5, 1.625, 1.75, 1.875, 2.0, 2.25, 2.5, 2.75, 3.0)
    """
    finite = [value for value in TRADE_OFF_COARSE if np.isfinite(value)]
    index = int(np.argmin([abs(value - min(best, finite[-1])) for value in finite]))
    low, middle, high = finite[max(index - 1, 0)], finite[index], finite[min(index + 1, len(finite) - 1)]
    return tuple(float(value) for value in np.unique(np.r_[np.linspace(low, middle, 5), np.linspace(middle, high, 5)]))


@dataclass(frozen=True, eq=False)
class Candidate:
    """One estimator with parameters, fitted, or the reason why it could not be."""

    estimator: Any
    params: dict[str, Any]
    labels: Labels | None
    seconds: float
    messages: list[str]


class LabelFreeSearch(MetaEstimatorMixin, BaseEstimator):
    """Chooses among estimators and parameters with no labels.

    By default the candidate is taken that *agrees* most: whose labels have the largest mean adjusted Rand index with
    those of the other candidates and of the members of :class:`JointConsensus`. Methods that err do so in different
    ways, so what many find is more likely there. A collapsed candidate agrees with nobody.

    All candidates need the same number of clusters: labels of different numbers of clusters cannot be compared this
    way.

    Parameters
    ----------
    estimator : estimator, or list of (estimator, grid) pairs
        A clusterer with ``predict``, ours or scikit-learn's, or a pipeline that ends with one.
    param_grid : dict or list of dicts, default=None
        Lists of values by parameter name, as in scikit-learn's ``GridSearchCV``; not with a list of pairs.
    criterion : {"agreement", "stability", "silhouette", "calinski_harabasz", "bic"} or callable, default="agreement"
        "stability" is the agreement of fits on two halves of the rows; "silhouette" and "calinski_harabasz" are taken
        in ridge-whitened rows, the same space for all; "bic" is that of Gaussians with one covariance. A callable takes
        the fitted estimator, the rows and the labels, and returns a number, greater being better.
    n_resamples : int, default=5
        Pairs of halves for "stability".
    random_state : int, RandomState or None, default=None
        Seed; an int makes the result repeatable.
    n_jobs : int, default=None
        Threads over which the candidates are spread. The result does not depend on it.

    Attributes
    ----------
    best_estimator_ : estimator
        The chosen candidate, fitted.
    best_params_ : dict
        Its parameters, those of the grid.
    best_score_ : float
        Its criterion.
    results_ : dict of lists
        One row per candidate, ready for ``pandas.DataFrame``: estimator, params, score, the same under the criterion's
        name, seconds, warnings (or why it failed).
    labels_ : array of shape (n_samples,)
        Labels of the chosen candidate.

    Examples
    --------
    >>> import jointclust as jc
    >>> X, y = jc.datasets.mixture(n_samples=300, n_features=50, n_clusters=4, random_state=0)
    >>> dec = jc.DiscriminativeEmbeddedClustering(4)
    >>> search = jc.LabelFreeSearch(dec, {"trade_off": [0, 1.5, 3, 18]}, random_state=0).fit(X)
    >>> search.predict(X).shape
    (300,)
    """

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        "estimator": [HasMethods(["fit"]), list],
        "param_grid": [dict, list, None],
        "criterion": [StrOptions({"agreement", "stability", "silhouette", "calinski_harabasz", "bic"}), callable],
        "n_resamples": [Interval(Integral, 1, None, closed="left")],
        "random_state": ["random_state"],
        "n_jobs": Clusterer._parameter_constraints["n_jobs"],
    }

    def __init__(
        self,
        estimator: Any,
        param_grid: dict[str, Any] | list[dict[str, Any]] | None = None,
        *,
        criterion: str | Callable[[Any, Any, Labels], float] = "agreement",
        n_resamples: int = 5,
        random_state: int | np.random.RandomState | None = None,
        n_jobs: int | None = None,
    ):
        self.estimator = estimator
        self.param_grid = param_grid
        self.criterion = criterion
        self.n_resamples = n_resamples
        self.random_state = random_state
        self.n_jobs = n_jobs

    # -- fit ----------------------------------------------------------------------------------------------------

    def fit(self, X: ArrayLike, y: object = None) -> Self:
        """Fit all candidates and choose one.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n_samples, n_features)
            The data.
        y : ignored
            There are no labels.

        Returns
        -------
        self : object
            The fitted search.
        """
        self._validate_params()
        rng = check_random_state(self.random_state)
        data = validate_data(self, X, accept_sparse="csr", dtype=[np.float64, np.float32], ensure_min_samples=4)
        coordinates = coordinates_of(as_rows(data), None, variance=None, max_rank=500, rng=rng)
        unfitted = list(candidates(self.estimator, self.param_grid))
        if self.criterion == "agreement":
            check_same_number(unfitted)
        tried = fit_all(unfitted, data, coordinates, rng, self.n_jobs)
        if all(candidate.labels is None for candidate in tried):
            reasons = "; ".join(sorted({candidate.messages[-1] for candidate in tried}))
            raise ValueError(f"No candidate could be fitted. {reasons}")
        name = self.criterion if isinstance(self.criterion, str) else "score"
        scores = self._scores(tried, data, coordinates, rng)
        best = int(np.argmax(scores))
        self.results_ = {
            "estimator": [type(candidate.estimator).__name__ for candidate in tried],
            "params": [candidate.params for candidate in tried],
            "score": scores,
            name: scores,
            "seconds": [candidate.seconds for candidate in tried],
            "warnings": ["; ".join(candidate.messages) for candidate in tried],
        }
        self.best_index_, self.best_score_ = best, scores[best]
        self.best_estimator_, self.best_params_ = tried[best].estimator, tried[best].params
        self.labels_ = tried[best].labels
        return self

    def _scores(
        self, tried: list[Candidate], X: Any, coordinates: Coordinates, rng: np.random.RandomState
    ) -> list[float]:
        """The criterion of each candidate; minus infinity where there is none."""
        if self.criterion == "agreement":
            return agreements(tried, X, coordinates, rng, self.n_jobs)
        if self.criterion == "stability":
            seed = int(rng.randint(np.iinfo(np.int32).max))

            def score(candidate: Candidate) -> float:
                return half_stability(candidate.estimator, X, self.n_resamples, np.random.RandomState(seed))
        elif self.criterion == "silhouette":

            def score(candidate: Candidate) -> float:
                return criteria.silhouette(coordinates, candidate.labels, np.random.RandomState(0))  # type: ignore[arg-type]
        elif callable(self.criterion):
            own = self.criterion

            def score(candidate: Candidate) -> float:
                return float(own(candidate.estimator, X, candidate.labels))  # type: ignore[arg-type]
        else:
            function = (
                criteria.calinski_harabasz if self.criterion == "calinski_harabasz" else criteria.classification_bic
            )

            def score(candidate: Candidate) -> float:
                return function(coordinates, candidate.labels)  # type: ignore[arg-type]

        def finite(index: int) -> float:
            return -np.inf if tried[index].labels is None else score(tried[index])

        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            return threads.each(finite, len(tried), self.n_jobs)

    # -- use ----------------------------------------------------------------------------------------------------

    def predict(self, X: ArrayLike) -> Labels:
        """Labels from the chosen candidate.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n_samples, n_features)
            New rows.

        Returns
        -------
        labels : array of shape (n_samples,)
            Cluster of each row.
        """
        check_is_fitted(self)
        return self.best_estimator_.predict(X)

    @available_if(lambda self: hasattr(self.best_estimator_, "transform"))
    def transform(self, X: ArrayLike) -> NDArray:
        """Embedding from the chosen candidate.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n_samples, n_features)
            New rows.

        Returns
        -------
        Y : array
            The embedding.
        """
        check_is_fitted(self)
        return self.best_estimator_.transform(X)

    @available_if(lambda self: hasattr(self.best_estimator_, "predict_proba"))
    def predict_proba(self, X: ArrayLike) -> NDArray:
        """Soft labels from the chosen candidate.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n_samples, n_features)
            New rows.

        Returns
        -------
        probabilities : array of shape (n_samples, n_clusters)
            The soft labels.
        """
        check_is_fitted(self)
        return self.best_estimator_.predict_proba(X)


def fit_all(
    unfitted: list[tuple[Any, dict[str, Any]]],
    X: Any,
    coordinates: Coordinates,
    rng: np.random.RandomState,
    n_jobs: int | None,
) -> list[Candidate]:
    """Fit every candidate on the shared coordinates; what it warns of, or why it fails, is written down."""
    seeds = rng.randint(np.iinfo(np.int32).max, size=len(unfitted))
    messages: dict[int, list[str]] = {}

    def one(index: int) -> Candidate:
        estimator, params = unfitted[index]
        heard = messages[threading.get_ident()] = []
        began = time.perf_counter()
        try:
            estimator = fit_member(estimator, X, coordinates, None, int(seeds[index]))
            labels: Labels | None = np.unique(training_labels(estimator, X), return_inverse=True)[1].astype(np.int32)
        except Exception as error:  # one that fails is recorded; the others go on
            labels = None
            heard.append(f"{type(error).__name__}: {error}")
        return Candidate(estimator, params, labels, time.perf_counter() - began, heard)

    def listen(message: Warning | str, *_: Any, **__: Any) -> None:
        heard = messages.setdefault(threading.get_ident(), [])
        if str(message) not in heard:
            heard.append(str(message))

    with warnings.catch_warnings(), threads.suited_to(coordinates.rank, n_jobs):
        warnings.simplefilter("always")
        warnings.showwarning = listen
        return threads.each(one, len(unfitted), n_jobs)


def candidates(estimator: Any, param_grid: Any) -> Iterator[tuple[Any, dict[str, Any]]]:
    """Unfitted estimators with their parameters."""
    pairs = estimator if isinstance(estimator, list) else [(estimator, {} if param_grid is None else param_grid)]
    if isinstance(estimator, list) and param_grid is not None:
        raise ValueError("param_grid goes with one estimator: give a list of (estimator, grid) pairs without it.")
    if not pairs:
        raise ValueError("There are no candidates: the list of (estimator, grid) pairs is empty.")
    for pair in pairs:
        if not (isinstance(pair, tuple) and len(pair) == 2):
            raise TypeError(f"A list of estimators holds (estimator, grid) pairs; got {pair!r}.")
        base, grid = pair
        valid = base.get_params()
        for one in [grid] if isinstance(grid, dict) else grid:
            for name, values in one.items():
                if name not in valid:
                    raise ValueError(
                        f"{type(base).__name__} has no parameter {name!r}; it has {', '.join(sorted(valid))}."
                    )
                if len(values) == 0:
                    raise ValueError(f"The grid has no values for {name!r}: give at least one.")
        if len(ParameterGrid(grid)) == 0:
            raise ValueError("There are no candidates: the grid is empty.")
        for params in ParameterGrid(grid):
            yield clone(base).set_params(**clone(params, safe=False)), params


def check_same_number(unfitted: list[tuple[Any, dict[str, Any]]]) -> None:
    """Labels of different numbers of clusters do not compare."""
    numbers = sorted({number for estimator, _ in unfitted if (number := number_of_clusters(estimator)) is not None})
    if len(numbers) > 1:
        raise ValueError(
            f"The candidates have different numbers of clusters ({', '.join(map(str, numbers))}), which "
            "criterion='agreement' cannot compare: search each number by itself, or choose another criterion."
        )


def number_of_clusters(estimator: Any) -> int | None:
    """The parameter n_clusters of an estimator, of the last step of a pipeline, or of a mixture."""
    params = estimator.get_params()
    names = [name for name in params if name.split("__")[-1] == "n_clusters"]
    if names:
        return params[max(names, key=len)]
    return (
        params.get("n_components")
        if hasattr(estimator, "weight_concentration_prior") or "reg_covar" in params
        else None
    )


def agreements(
    tried: list[Candidate], X: Any, coordinates: Coordinates, rng: np.random.RandomState, n_jobs: int | None
) -> list[float]:
    """Mean agreement of each candidate with the other ones and with the members of the consensus."""
    numbers = [number_of_clusters(candidate.estimator) for candidate in tried if candidate.labels is not None]
    n_clusters = next((number for number in numbers if number is not None), None)
    if n_clusters is None:
        n_clusters = int(max(candidate.labels.max() for candidate in tried if candidate.labels is not None)) + 1
    members = list(automatic_members(n_clusters, X, coordinates))
    seeds = rng.randint(np.iinfo(np.int32).max, size=len(members))

    def labels(index: int) -> Labels:
        fitted = fit_member(members[index], X, coordinates, None, int(seeds[index]))
        return training_labels(fitted, X)

    with warnings.catch_warnings(), threads.suited_to(coordinates.rank, n_jobs):
        warnings.simplefilter("ignore")
        references = threads.each(labels, len(members), n_jobs)
    found = [candidate.labels for candidate in tried]
    scores = []
    for index, own in enumerate(found):
        others = [other for j, other in enumerate(found) if j != index and other is not None]
        scores.append(-np.inf if own is None else criteria.agreement(own, references + others))
    return scores


def half_stability(estimator: Any, X: Any, n_pairs: int, rng: np.random.RandomState) -> float:
    """Mean adjusted Rand index, on all rows, of fits on two halves of them.

    Prediction strength (Tibshirani and Walther, 2005), corrected for chance and for the number of clusters.
    """
    n = X.shape[0]
    scores = []
    for _ in range(n_pairs):
        order = rng.permutation(n)
        halves = [clone(estimator).fit(X[rows]).predict(X) for rows in (order[: n // 2], order[n // 2 :])]
        scores.append(adjusted_rand_score(*halves))
    return float(np.mean(scores))


def bootstrap_stability(
    estimator: Any, X: ArrayLike, *, n_resamples: int = 20, random_state: int | np.random.RandomState | None = None
) -> NDArray:
    """How stable each cluster is: mean Jaccard index with its best match over bootstrap resamples (Hennig, 2007).

    Parameters
    ----------
    estimator : estimator
        A clusterer with ``predict``; fitted ones keep their clusters, others are fitted first.
    X : array-like or sparse matrix of shape (n_samples, n_features)
        The data.
    n_resamples : int, default=20
        Resamples.
    random_state : int, RandomState or None, default=None
        Seed of the resampling.

    Returns
    -------
    stability : array of shape (n_clusters,)
        0 to 1 for each cluster; clusters below 0.6 should not be trusted, those above 0.85 are highly stable.

    Examples
    --------
    >>> import jointclust as jc
    >>> X, y = jc.datasets.mixture(n_samples=300, n_features=20, n_clusters=3, n_nuisance=2, random_state=0)
    >>> bool(jc.bootstrap_stability(jc.LDAKMeans(3, random_state=0), X, n_resamples=5, random_state=0).min() > 0.9)
    True
    """
    rng = check_random_state(random_state)
    data = check_array(X, accept_sparse="csr", dtype=[np.float64, np.float32], ensure_min_samples=4)
    fitted = estimator if hasattr(estimator, "labels_") else clone(estimator).fit(data)
    labels = np.asarray(fitted.predict(data)).astype(np.int32)
    n_clusters = int(labels.max()) + 1
    total = np.zeros(n_clusters)
    for _ in range(n_resamples):
        rows = np.unique(rng.randint(data.shape[0], size=data.shape[0]))
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            other = np.asarray(clone(estimator).fit(data[rows]).predict(data[rows])).astype(np.int32)
        total += criteria.jaccard_per_cluster(labels[rows], other - other.min(), n_clusters)
    return total / n_resamples
