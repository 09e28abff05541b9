"""Searches for the best candidate without labels."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import KW_ONLY, dataclass
from numbers import Integral
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.base import MetaEstimatorMixin, clone
from sklearn.utils import check_random_state
from sklearn.utils.metaestimators import available_if
from sklearn.utils.validation import check_is_fitted

from jointclust._sklearn import CallbackSupportMixin, HasMethods, Interval, StrOptions, fit_context
from jointclust.estimators.base import Limits, LooksAtPairs, bring_here
from jointclust.estimators.fitting import fit_member, training_labels
from jointclust.estimators.tasks import stage_reporter
from jointclust.exceptions import collected, tell
from jointclust.judge.number import FEWEST_ROWS
from jointclust.number.estimate import number_of_clusters
from jointclust.numerics.partitions import adjusted_rand
from jointclust.rows import as_plain, each_row, host_block, is_elsewhere, threads
from jointclust.selection import criteria
from jointclust.selection.candidates import Candidate, finer, fit_all, unfitted_candidates
from jointclust.selection.references import reference_labels, reference_members
from jointclust.selection.stability import check_halves, half_stability
from jointclust.subspace.coordinates import Coordinates
from jointclust.types import Labels


@dataclass(eq=False, repr=False)
class LabelFreeSearch(CallbackSupportMixin, MetaEstimatorMixin, LooksAtPairs):
    """Chooses among estimators and parameters without labels.

    The default criterion is *agreement*: the mean adjusted Rand index of a candidate's labels with those of the other
    candidates and of 16 reference partitions (LDA k-means and neighbour graphs). Methods err in different ways, so
    clusters that many methods find are more likely to exist. A collapsed candidate agrees with no other.

    Agreement does not compare different numbers of clusters. Where the grid has several, :func:`number_of_clusters`
    chooses among them first, and only candidates with that number are fitted; the others have the score NaN. The other
    criteria compare numbers directly. In both cases the search warns where the data have no clusters.

    Callbacks, for example ``search.set_callbacks(sklearn.callback.ProgressBar())``, are called after every fit.

    Parameters
    ----------
    estimator : estimator, or list of (estimator, grid) pairs
        A clusterer with ``predict``, ours or scikit-learn's, or a pipeline that ends with one.
    param_grid : dict or list of dicts, default=None
        Lists of values by parameter name, as in scikit-learn's ``GridSearchCV``; not with a list of pairs.
        ``{"trade_off": "two-level"}`` is the DEC paper's search for the trade-off: 1, 6, ..., 26, then steps of 0.25
        up to 1 from the best of these. It passes over 2 to 5; :func:`trade_off_path` does not.
    criterion : {"agreement", "stability", "silhouette", "calinski_harabasz", "bic", "gap"} or callable, \
            default="agreement"
        "stability" is the agreement of fits on two halves of the rows; "silhouette" and "calinski_harabasz" use
        ridge-whitened rows, the same space for all; "bic" is that of Gaussians with one covariance; "gap" compares
        the within-cluster scatter with that of the same method on Gaussian rows of the same covariance. A callable
        takes the fitted estimator, the rows and the labels, and returns a number, greater being better.
    n_resamples : int, default=5
        Pairs of halves for "stability", draws of Gaussian rows for "gap".
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
    number_ : ClusterNumber or None
        The result of :func:`number_of_clusters`, where the candidates differ in their number.

    Examples
    --------
    >>> import jointclust as jc
    >>> X, y = jc.datasets.mixture(n_samples=500, n_features=50, n_clusters=3, random_state=0)
    >>> dec = jc.DiscriminativeEmbeddedClustering()
    >>> grid = {"n_clusters": [2, 3, 4, 5, 6], "trade_off": [1.5, 3, 18]}
    >>> search = jc.LabelFreeSearch(dec, grid, random_state=0).fit(X)
    >>> search.best_params_["n_clusters"]
    3
    """

    _limits: ClassVar[Limits] = {
        "estimator": [HasMethods(["fit"]), list],
        "param_grid": [dict, list, None],
        "criterion": [
            StrOptions({"agreement", "stability", "silhouette", "calinski_harabasz", "bic", "gap"}),
            callable,
        ],
        "n_resamples": [Interval(Integral, 1, None, closed="left")],
    }

    estimator: Any
    param_grid: dict[str, Any] | list[dict[str, Any]] | None = None
    _: KW_ONLY
    criterion: str | Callable[[Any, Any, Labels], float] = "agreement"
    n_resamples: int = 5
    random_state: int | np.random.RandomState | None = None
    n_jobs: int | None = None

    # -- fit ----------------------------------------------------------------------------------------------------

    @fit_context(prefer_skip_nested_validation=False)
    def fit(
        self,
        X: ArrayLike | Coordinates,
        y: object = None,
        sample_weight: ArrayLike | None = None,
        known_labels: ArrayLike | None = None,
        groups: ArrayLike | None = None,
    ) -> Self:
        """Fit all candidates and choose one.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n_samples, n_features), or Coordinates
            The data, or its coordinates from :func:`jointclust.decompose`. Of more than 10,000 rows on a device, in a
            file or with Dask, candidates are fitted to a sample, with a warning.
        y : ignored
            There are no labels.
        sample_weight : array-like of shape (n_samples,), optional
            Weights of the rows, for the candidates that take them, and for the criteria: "calinski_harabasz", "bic" and
            "gap" are weighted, the others use the rows that have a weight.
        known_labels, groups : array-like of shape (n_samples,), optional
            Options of the candidates' fits; the criterion does not use them. A candidate that does not take them fails,
            with the reason in ``results_``.

        Returns
        -------
        self : object
            The fitted search.
        """
        given = {"known_labels": known_labels, "groups": groups}
        options = {name: values for name, values in given.items() if values is not None}
        if options and is_elsewhere(X):
            raise TypeError(
                f"{' and '.join(options)} in a search are for rows in memory: search in a sample of the rows, and fit "
                "best_estimator_ to all of them."
            )
        rng = check_random_state(self.random_state)
        coordinates = self._coordinates_of(X, sample_weight, rng, min_samples=4)
        data, tried = coordinates.rows.X, list(unfitted_candidates(self.estimator, self.param_grid))
        wanted = self._candidates_to_fit(tried, coordinates)
        root = self._init_callback_context(max_subtasks=None)
        root.call_on_fit_task_begin(estimator=self)
        report = stage_reporter(self, root, "candidate", len(wanted))
        fit_all(wanted, data, coordinates, rng, self.n_jobs, report, options)
        check_any(wanted)
        seed = int(rng.randint(np.iinfo(np.int32).max))
        references: list[Labels] = []
        if self.criterion == "agreement":
            members = reference_members(number_of(wanted), data, coordinates)
            report = stage_reporter(self, root, "reference", len(members))
            references = reference_labels(members, data, coordinates, rng, self.n_jobs, report)
        self._score(wanted, references, data, coordinates, seed)
        if fine := finer(best_candidate(wanted)):
            report = stage_reporter(self, root, "candidate", len(fine))
            fit_all(fine, data, coordinates, rng, self.n_jobs, report, options)
            tried, wanted = tried + fine, wanted + fine
            self._score(wanted, references, data, coordinates, seed)
        _warn_of_ties(wanted)
        self._publish(tried, best_candidate(wanted))
        if not isinstance(X, Coordinates) and is_elsewhere(X):
            self.labels_ = self.predict(X)  # for all rows, not only for the sample
            bring_here(self)
        root.call_on_fit_task_end(estimator=self)
        return self

    def _candidates_to_fit(self, tried: list[Candidate], coordinates: Coordinates) -> list[Candidate]:
        """All candidates, or for agreement those with one number of clusters; warns where there is no structure."""
        n_rows = coordinates.n_present
        numbers = sorted({candidate.n_clusters for candidate in tried if candidate.n_clusters is not None})
        if numbers and self.criterion == "stability":
            check_halves(numbers[0], n_rows)
        self.number_ = None
        if len(numbers) < 2 or (self.criterion != "agreement" and n_rows < FEWEST_ROWS):
            return tried
        self.number_ = number_of_clusters(coordinates, n_clusters=numbers)
        self.number_.warn()
        if self.criterion != "agreement":
            return tried
        number = self.number_.n_clusters
        for candidate in tried:
            if candidate.n_clusters not in (None, number):
                candidate.messages.append(f"Not fitted: {self.number_.verdict}.")
        return [candidate for candidate in tried if candidate.n_clusters in (None, number)]

    def _score(
        self, tried: list[Candidate], references: list[Labels], X: Any, coordinates: Coordinates, seed: int
    ) -> None:
        """Compute the criterion of each candidate; minus infinity where it fails, with the reason."""
        if self.criterion == "agreement":
            agreements(tried, references, coordinates)
            return
        score = self._criterion(X, coordinates, seed)
        if self.criterion == "stability":
            _refuse_one_cluster(tried)
        missing = [candidate for candidate in tried if np.isnan(candidate.score)]

        def one(index: int) -> None:
            candidate = missing[index]
            try:
                candidate.score = float(score(candidate))
            except Exception as error:  # recorded, like the failure of a fit
                candidate.messages.append(f"{type(error).__name__}: {error}")
                candidate.score = -np.inf

        with collected():
            threads.each(one, len(missing), self.n_jobs)
        check_any(tried)

    def _criterion(self, X: Any, coordinates: Coordinates, seed: int) -> Callable[[Candidate], float]:
        """The criterion as a function of a fitted candidate."""
        if callable(self.criterion):
            own = self.criterion
            return lambda candidate: own(candidate.estimator, X, candidate.labels)  # type: ignore[arg-type]
        if self.criterion == "gap":
            rng = np.random.RandomState(seed)
            draws = [criteria.structureless(coordinates, rng) for _ in range(self.n_resamples)]
            return lambda candidate: gap_of(candidate, coordinates, draws, seed)
        by_name: dict[str, Callable[[Any], float]] = {
            "stability": lambda candidate: half_stability(
                candidate.estimator, X, self.n_resamples, np.random.RandomState(seed), coordinates.weights
            ),
            "silhouette": lambda one: criteria.silhouette(coordinates, one.labels, np.random.RandomState(0)),
            "calinski_harabasz": lambda one: criteria.calinski_harabasz(coordinates, one.labels),
            "bic": lambda one: criteria.classification_bic(coordinates, one.labels),
        }
        return by_name[self.criterion]

    def _publish(self, tried: list[Candidate], best: Candidate) -> None:
        scores = [candidate.score for candidate in tried]
        self.results_ = {
            "estimator": [type(candidate.estimator).__name__ for candidate in tried],
            "params": [candidate.params for candidate in tried],
            "score": scores,
            self.criterion if isinstance(self.criterion, str) else "score": scores,
            "seconds": [candidate.seconds for candidate in tried],
            "warnings": ["; ".join(candidate.messages) for candidate in tried],
        }
        self.best_index_, self.best_score_ = tried.index(best), best.score
        self.best_estimator_, self.best_params_ = best.estimator, best.params
        self.labels_ = best.labels  # type: ignore[assignment]

    # -- use ----------------------------------------------------------------------------------------------------

    def pivot(self, rows: str, columns: str) -> Any:
        """The scores as a table of two parameters, such as numbers of clusters and of components.

        Parameters
        ----------
        rows, columns : str
            Parameters of the grid.

        Returns
        -------
        table : pandas.DataFrame
            The best score for each pair of values, over all other parameters; NaN where no candidate was fitted, and
            minus infinity where all failed. :class:`jointclust.plots.ScoresDisplay` draws it.
        """
        check_is_fitted(self)
        try:
            import pandas
        except ImportError as error:
            raise ImportError("pivot returns a data frame: pip install pandas.") from error
        results: dict[str, Any] = dict(self.results_)
        known = list(dict.fromkeys(name for params in results["params"] for name in params))
        for name in (rows, columns):
            if name not in known:
                raise ValueError(f"{name!r} is no parameter of the grid; these are: {', '.join(known) or 'none'}.")
        if rows == columns:
            raise ValueError(f"rows and columns are both {rows!r}: give two parameters.")
        params, scores = results["params"], results["score"]
        tried = [one | {"score": score} for one, score in zip(params, scores, strict=True) if {rows, columns} <= {*one}]
        table = pandas.DataFrame(tried)
        index, header = (list(dict.fromkeys(table[name])) for name in (rows, columns))
        best = table.groupby([rows, columns], sort=False, dropna=False)["score"].max().unstack(columns)
        return best.reindex(index=index, columns=header)

    def _plain(self, X: ArrayLike) -> Any:
        """Checked rows without column names, as the candidates were fitted; rows elsewhere stay as they are."""
        check_is_fitted(self)
        return X if is_elsewhere(X) else self._validated(X, reset=False)

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
        chosen = self.best_estimator_
        if is_elsewhere(X):  # the chosen candidate was fitted to rows in memory
            rows = as_plain(X)
            return each_row(lambda x: chosen.predict(host_block(x)).astype(np.int32), rows, (), np.int32, rows.shape[1])
        return chosen.predict(self._plain(X))

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
        return self.best_estimator_.transform(self._plain(X))

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
        return self.best_estimator_.predict_proba(self._plain(X))


def check_any(tried: list[Candidate]) -> None:
    """Raise where all candidates failed, with the reason of each."""
    if all(candidate.score == -np.inf and candidate.messages for candidate in tried):
        reasons = "; ".join(f"{candidate}: {candidate.messages[-1]}" for candidate in tried)
        raise ValueError(f"No candidate could be fitted. {reasons}")


def _refuse_one_cluster(tried: list[Candidate]) -> None:
    """Exclude candidates with one cluster, which every half reproduces."""
    for candidate in tried:
        if candidate.n_clusters == 1 and np.isnan(candidate.score):
            candidate.score = -np.inf
            candidate.messages.append("n_clusters=1 is stable by definition: stability does not compare it with others")


def _warn_of_ties(tried: list[Candidate]) -> None:
    """Warn where other candidates with different labels have the same score as the best one."""
    best = best_candidate(tried)
    others = [
        one
        for one in tried
        if one is not best and one.score >= best.score - 1e-9 and one.labels is not None
        if best.labels is not None and adjusted_rand(one.labels, best.labels) < 1
    ]
    if others and np.isfinite(best.score):
        tell(
            f"{len(others) + 1} candidates with different labels have the best score ({best.score:.4g}): {best} is "
            f"taken because it comes first; the next is {others[0]}. Choose another criterion to tell them apart.",
            UserWarning,
        )


def best_candidate(tried: list[Candidate]) -> Candidate:
    """The first candidate with the largest score."""
    return max(tried, key=lambda candidate: candidate.score)


def number_of(tried: list[Candidate]) -> int:
    """The number of clusters of the fitted candidates, or the largest number of labels where none has the parameter."""
    given = [candidate.n_clusters for candidate in tried if candidate.labels is not None]
    sizes = (int(candidate.labels.max()) + 1 for candidate in tried if candidate.labels is not None)
    return next((number for number in given if number is not None), None) or max(sizes)


def agreements(tried: list[Candidate], references: list[Labels], coordinates: Coordinates) -> None:
    """Score each fitted candidate by its mean agreement with the other ones and with the references."""
    present = coordinates.present
    own = [(candidate, candidate.labels[present]) for candidate in tried if candidate.labels is not None]
    others = [labels[present] for labels in references]
    for candidate, labels in own:
        candidate.score = criteria.agreement(labels, others + [labels for one, labels in own if one is not candidate])


def gap_of(candidate: Candidate, coordinates: Coordinates, draws: list[Coordinates], seed: int) -> float:
    """The gap criterion: the same estimator labels the structureless draws."""
    labelled = []
    for draw in draws:
        rows: Any = draw.rows
        fitted = fit_member(clone(candidate.estimator), rows.X, draw, None, seed)
        labelled.append((draw, np.unique(training_labels(fitted, rows.X), return_inverse=True)[1].astype(np.int32)))
    return criteria.gap(coordinates, candidate.labels, labelled)  # type: ignore[arg-type]
