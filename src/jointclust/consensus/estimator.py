"""Consensus: fit many members, return the partition they agree on."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from itertools import count
from numbers import Real
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.base import clone
from sklearn.utils import ClassifierTags, check_random_state

from jointclust._sklearn import CallbackSupportMixin, Interval, StrOptions, fit_context
from jointclust.consensus.confidence import trust, usual_score
from jointclust.consensus.embedding import discriminant_directions
from jointclust.consensus.members import (
    EFFORTS,
    N_AUTOMATIC,
    Effort,
    automatic_members,
    fit_member,
    members_on,
    n_members_on,
    training_labels,
)
from jointclust.consensus.overrides import Settling
from jointclust.consensus.partitions import Partitions
from jointclust.consensus.projection import Lens, n_landmarks
from jointclust.consensus.remote import Whole
from jointclust.consensus.views import MOST_ROWS, Sights, check_views
from jointclust.consensus.voting import most_voted
from jointclust.estimators.base import Clusterer, check_n_clusters
from jointclust.estimators.known import check_place, known_beside
from jointclust.exceptions import CollapseWarning, collected, tell
from jointclust.numerics.partitions import centers_of, keep
from jointclust.rows import as_rows, blocks, is_elsewhere, loaded, threads
from jointclust.rows.arrays import is_on_gpu, to_host
from jointclust.subspace.coordinates import Coordinates
from jointclust.views.preparation import Preparation

# A view that agrees with the others less than this share of the most agreeing one sees something else: it has no say.
_LEAST_AGREEMENT = 0.3
# On several views: votes over the root of the clusters' sizes, and rows of uneven length (see Partitions). Rows as they
# are have 1 for both, as in 0.1.
_FAIRNESS, _EVENNESS = 0.5, 0.75


class JointConsensus(CallbackSupportMixin, Settling):
    r"""The partition that many fits on several views of the data agree on: do not choose, average.

    .. math:: B = [\sqrt{w_1} L_1, \dots, \sqrt{w_M} L_M], \quad L_m = F_m (F_m'F_m)^{-1/2}, \quad
              B = U\, \mathrm{diag}(s)\, V'

    ======== =============================================================================
    symbol   meaning
    ======== =============================================================================
    F_m      one-hot labels of member m
    w_m      its weight: each view that has a say has the same, spread over its members
    M        number of members
    U s      leading singular vectors of B but the first, which is constant
    ======== =============================================================================

    ``BB'`` is the mean of the members' projections on their partitions, in which rows are near that most members keep
    together; it is never formed. k-means in the leading singular vectors (rows of nearly one length) proposes clusters.
    Then every member votes: a row's probability for a cluster is the mean, over the members, of the share of the
    cluster's rows that the row's own group holds in that member, made to sum to one; the label is the largest. New rows
    are voted on through the members' own ``predict``.

    On each view there are ten members: LDA k-means and spectral clustering of the neighbour graph, with as many
    clusters as asked for and with 1.5, 2 and 3 times as many. A finer partition says which rows are surely together.

    Labels that are known of some rows spread from these over ``BB'``: a row gets the label that most rows in its groups
    have, in the mean over the members. A linear rule for each view, learned from the known rows, joins the members: it
    has more weight the more rows are known, and the better it tells known rows that it has not seen. Then all vote as
    ever. Where there are more clusters than known classes, k-means proposes the others.

    Of more than 10,000 rows a sample of that size is fitted, and all rows are voted on. Of rows that are not in memory
    the views and the votes are learned from that sample, too, and all rows are voted on in one pass, where they are.

    Parameters
    ----------
    n_clusters : int, default=8
        Number of clusters.
    views : "auto", None or list of str or transformers, default="auto"
        What is done to the data before the members see them. "auto" describes them (:func:`describe`), codes categories
        and dates, fills gaps, and looks at the rows in the views that suit their kind; a view that agrees with none of
        the others has no say. None takes rows of numbers as they are, and so do Coordinates; or names of views ("as
        is", "standardised", "rank-normal", "unit rows", "tf-idf", "topics", "log") and transformers.
    members : "auto" or list of estimators, default="auto"
        Clusterers with ``predict``, which run on every view; each is cloned, with a seed of its own where it has
        ``random_state=None``. "auto" is the ten above; on rows as they are it is 31, over one decomposition: LDAKMeans
        at four shares of variance and two ridges, from k-means (twice) and from whitened starts; neighbour graphs of
        four sizes on the rows, and of three on the embedding of ODC.
    effort : {"quick", "normal", "thorough"}, default="normal"
        How much the automatic members on views cost. "quick" fits six on each view, from one start each and to 3,000
        rows at the most; "thorough" fits each of the ten three times, from other seeds, to 20,000 rows, for three
        times the cost.
    reject_below : float, default=0.0
        Rows of less ``confidence_`` than this have the label -1, in ``labels_`` and in ``predict``.
    max_rank : int, default=500
        Rank of the randomised decomposition that takes the place of the exact one for sparse X and for
        ``min(n_samples, n_features) > 4000``.
    random_state : int, RandomState or None, default=None
        Seed; an int makes the result repeatable.
    n_jobs : int, default=None
        Threads over which the members are spread. The result does not depend on it.

    Attributes
    ----------
    labels_ : array of shape (n_samples,)
        Cluster of each row, 0 being the largest; equal to ``predict`` of the training data, but of rows whose label is
        known or that belong together. This and what else there is for each row is where the rows are: on their device,
        with Dask, or in memory.
    classes_ : array of shape (n_classes,)
        The known classes, which are clusters 0, 1, ...; only with ``known_labels``.
    soft_labels_ : array of shape (n_samples, n_clusters)
        The members' votes; equal to ``predict_proba`` of the training data.
    confidence_ : array of shape (n_samples,)
        How likely the row's label is right, 0 to 1: made from the votes so that, on real data, of rows with confidence
        0.8 about 80% belong to the class that their cluster stands for; near 0 for rows unlike any other.
    outlier_scores_ : array of shape (n_samples,)
        Distance to the fifth-nearest landmark, in units of its median, in the view where that is largest: large for
        rows unlike any other.
    agreement_ : float
        Mean adjusted Rand index over the pairs of members that have the number of clusters asked for: near 0 when they
        find different things.
    agreement_matrix_ : array of shape (n_members, n_members)
        The adjusted Rand index of each pair.
    layers_ : list of dict
        Nested partitions, coarse to fine, made when first asked for: ``n_clusters``, ``labels``, and ``agreement``,
        the mean adjusted Rand index with the members, by their weights. Coarser ones join the clusters of ``labels_``,
        finer ones split them, up to four times as many, where the members agree on a split; none rejects rows.
    members_ : list
        The fitted members, each with ``predict`` for rows of its view (:meth:`prepared`).
    views_ : list of dict
        ``name``, ``weight`` and ``reason`` of each view.
    description_ : Description or None
        What the data are, and why; None where they were taken as they are.
    cluster_centers_ : array of shape (n_clusters, n_components)
        Cluster means in the embedding.
    objective_ : float
        Share of the members' votes that went to the labels given.

    Examples
    --------
    >>> import jointclust as jc
    >>> wine = jc.datasets.load("wine")
    >>> model = jc.JointConsensus(3, random_state=0).fit(wine.data)
    >>> round(jc.metrics.clustering_accuracy(wine.target, model.labels_), 1)
    1.0
    >>> [view["name"] for view in model.views_]
    ['standardised', 'rank-normal', 'as is']
    """

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        **{key: Clusterer._parameter_constraints[key] for key in ("n_clusters", "max_rank", "random_state", "n_jobs")},
        "members": [StrOptions({"auto"}), list, tuple],
        "views": [StrOptions({"auto"}), list, tuple, None],
        "effort": [StrOptions(set(EFFORTS))],
        "reject_below": [Interval(Real, 0, 1, closed="both")],
    }

    def __init__(
        self,
        n_clusters: int = 8,
        *,
        views: str | list[Any] | None = "auto",
        members: str | list[Any] = "auto",
        effort: str = "normal",
        reject_below: float = 0.0,
        max_rank: int = 500,
        random_state: int | np.random.RandomState | None = None,
        n_jobs: int | None = None,
    ):
        self.n_clusters = n_clusters
        self.views = views
        self.members = members
        self.effort = effort
        self.reject_below = reject_below
        self.max_rank = max_rank
        self.random_state = random_state
        self.n_jobs = n_jobs

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
        """Fit the members and find what they agree on.

        Parameters
        ----------
        X : array, sparse matrix, data frame, list of str, AnnData, or Coordinates
            The data: numbers, with ``views`` also categories, booleans, dates, gaps and text; in memory, in a file
            (memory map, HDF5, Zarr), on a device (torch, CuPy) or with Dask (arrays, data frames); or the coordinates
            of rows from :func:`jointclust.decompose`.
        y : ignored
            There are no labels.
        sample_weight : array-like of shape (n_samples,), optional
            Weights of the rows, for the members that take them and for the consensus.
        known_labels : array-like of shape (n_samples,), optional
            Labels that are known of some rows, of any type; -1, None or NaN is an unknown one. A row keeps its label,
            whatever ``predict`` says of it; class ``classes_[i]`` is cluster i, and further clusters follow.
        groups : array-like of shape (n_samples,), optional
            Rows of a group get one label, by the sum of their votes; None or NaN is a row by itself. A known label of
            one row is that of its group. The rows have to lie in memory, or on a device.

        Returns
        -------
        self : object
            The fitted estimator.
        """
        self.__dict__.pop("number_", None)  # of the rows that the number was chosen on
        rng = check_random_state(self.random_state)
        return self._agree(self._look(X, sample_weight, rng, known_labels, groups), rng)

    def _look(
        self,
        X: Any,
        sample_weight: ArrayLike | None,
        rng: np.random.RandomState,
        known_labels: ArrayLike | None = None,
        groups: ArrayLike | None = None,
    ) -> Sights:
        """The data in each view, and what is known of their rows; of rows that are not in memory a sample."""
        X = loaded(X)
        check_place(groups, X)
        if not is_elsewhere(X):
            sights = self._viewed(X, sample_weight, rng)
            rows = as_rows(sights.sources[0].rows)
            labels, together = known_beside(self, known_labels, groups, rows, sights.weights)
            return replace(sights, known=None if labels is None else to_host(labels), together=together)
        whole = Whole.of(X, sample_weight)
        known, together = known_beside(self, known_labels, groups, as_rows(whole.rows), whole.weights)
        whole = replace(whole, known=known, together=together)
        some, weights, labels = whole.sample(int(self._effort.share * MOST_ROWS), rng)
        sights = replace(self._viewed(some, weights, rng, whole.n_samples).out_of(whole), known=labels)
        return sights.beside(whole) if isinstance(self.members, str) else sights

    def _viewed(
        self, X: Any, sample_weight: ArrayLike | None, rng: np.random.RandomState, n_samples: int | None = None
    ) -> Sights:
        """Rows in memory in each view; ``n_samples`` where they are a sample."""
        if self.views is None or isinstance(X, Coordinates):
            coordinates = self._coordinates_of(X, sample_weight, rng, max_rank=self.max_rank)
            return Sights.of_rows(coordinates, self.max_rank)
        if len(self.views) == 0:
            raise ValueError('views is empty: give at least one, "auto", or None for rows as they are.')
        check_views(self.views)
        sights = Sights.of(X, self.views, sample_weight, self.max_rank, n_samples)
        for preparation in sights.preparations[:1]:
            if isinstance(preparation, Preparation):
                _tell_left_out(preparation)
        return sights

    @fit_context(prefer_skip_nested_validation=False)
    def _agree(self, sights: Sights, rng: np.random.RandomState) -> Self:
        """Fit the members on each view and find what they agree on."""
        check_n_clusters(self.n_clusters, sights.n_samples, sights.weights)
        own = isinstance(self.members, str) and sights.given is None
        if not own and self.effort != "normal":
            raise ValueError(
                f"effort={self.effort!r} is for the automatic members on views: leave it at 'normal' with members of "
                "your own, views=None or Coordinates."
            )
        sample = sights.sample(rng, self._effort.share) if own else np.arange(sights.n_samples)
        report, done = self._reporter(self._n_members(own, len(sights), sample.size))
        self._lenses: list[Lens | None] = []
        self.members_: list[Any] = []
        self._view_of_member: list[int] = []
        columns: list[NDArray] = []
        is_constant = True
        for number in range(len(sights)):
            coordinates = sights.coordinates(number, sample)
            is_constant &= coordinates.is_constant
            if own:
                members = self._fit_own(coordinates, rng, report, sights.whole)
            else:
                members, labels = self._fit_given(coordinates, rng, report)
                columns += labels
            self.members_ += members
            self._view_of_member += [number] * len(members)
        self._publish_description(sights)
        self._publish(columns, sights, np.random.RandomState(self._seed))
        self._publish_embedding(sights, sample)
        self._warn(is_constant)
        if sights.whole is not None:
            self._publish_whole(sights.whole)
        done()
        return self

    @property
    def _effort(self) -> Effort:
        return EFFORTS[self.effort]

    def _n_members(self, own: bool, n_views: int, n_rows: int) -> int:
        """How many members there will be."""
        if own:
            return n_views * n_members_on(self.n_clusters, n_landmarks(n_rows, self.n_clusters), self._effort)
        return n_views * (N_AUTOMATIC if isinstance(self.members, str) else len(self.members))

    def _reporter(self, n_members: int) -> tuple[Callable[[], None], Callable[[], None]]:
        """What tells the callbacks that a member is done, and that all are."""
        context = self._init_callback_context(max_subtasks=n_members, sequential_subtasks=False)
        context.call_on_fit_task_begin(estimator=self)
        ids = count()

        def report() -> None:
            task = context.subcontext("member", task_id=next(ids))
            task.call_on_fit_task_begin(estimator=self)
            task.call_on_fit_task_end(estimator=self)

        def done() -> None:
            context.call_on_fit_task_end(estimator=self)

        return report, done

    def _fit_own(
        self, coordinates: Coordinates, rng: np.random.RandomState, report: Callable[[], None], whole: Whole | None
    ) -> list[Any]:
        """Our own members on one view, seen through its lens; what they say of all rows is asked later."""
        lens, mass = Lens.through(coordinates, self.n_clusters, rng)
        self._lenses.append(lens)
        self._seed = int(rng.randint(np.iinfo(np.int32).max))
        Z, weights = lens.see(coordinates.rows.X).leading, coordinates.weights
        if whole is not None:
            Z, weights = whole.beside(Z), whole.beside(weights)
        with collected(), threads.suited_to(Z.shape[1], self.n_jobs):
            return list(members_on(lens, mass, Z, weights, self.n_clusters, self._effort, rng, self.n_jobs, report))

    def _fit_given(
        self, coordinates: Coordinates, rng: np.random.RandomState, report: Callable[[], None]
    ) -> tuple[list[Any], list[NDArray]]:
        """Estimators on one view, and their labels."""
        members, rows, weights = self._members(coordinates), coordinates.rows.X, coordinates.weights
        seeds = rng.randint(np.iinfo(np.int32).max, size=len(members) + 1)

        def fitted(index: int) -> Any:
            member = fit_member(members[index], rows, coordinates, weights, int(seeds[index]))
            report()
            return member

        # A member that errs is outvoted; agreement_ says how they differ.
        with collected(), threads.suited_to(coordinates.rank, self.n_jobs):
            found = threads.each(fitted, len(members), self.n_jobs)
        self._lenses.append(Lens.through(coordinates, self.n_clusters, rng)[0])
        self._seed = int(seeds[-1])
        return found, [training_labels(member, rows) for member in found]

    def _members(self, coordinates: Coordinates) -> list[Any]:
        if isinstance(self.members, str):
            return list(automatic_members(self.n_clusters, coordinates.rows.X, coordinates))
        if len(self.members) == 0:
            raise ValueError('members is empty: give at least one estimator, or "auto".')
        for member in self.members:
            if not (hasattr(member, "fit") and hasattr(member, "predict")):
                raise TypeError(f"members must be clusterers with fit and predict; got {member!r}.")
        return [clone(member) for member in self.members]

    def _publish_description(self, sights: Sights) -> None:
        self._preparations = sights.preparations
        first = sights.preparations[0]
        self.description_ = getattr(first, "description_", None)
        if first is not None:
            for name in ("n_features_in_", "feature_names_in_"):
                self.__dict__.pop(name, None)
                if hasattr(first, name):
                    setattr(self, name, getattr(first, name))

    def _publish(self, columns: list[NDArray], sights: Sights, rng: np.random.RandomState) -> None:
        """Weigh the views, and let the members of those that have a say agree."""
        for name in ("_groups", "_confidence"):  # of an earlier fit, to rows elsewhere
            self.__dict__.pop(name, None)
        asked = [] if columns else self.members_
        said, far = self._asked(sights.sources, asked, self._view_of_member[: len(asked)], scored=True)
        columns, far = columns or list(to_host(said).T), to_host(far)
        found = [np.unique(column, return_inverse=True) for column in columns]
        self._group_names = [names for names, _ in found]
        groups = np.column_stack([group.ravel() for _, group in found]).astype(np.int32)
        partitions = Partitions.of(groups, [names.size for names in self._group_names], sights.weights)
        if sights.given is None:
            device = None if sights.whole is None or not is_on_gpu(sights.whole.rows) else sights.whole.rows
            partitions = replace(partitions, fairness=_FAIRNESS, evenness=_EVENNESS, device=device)
        partitions = self._weigh(partitions, sights, rng)
        self.outlier_scores_ = far[:, sorted(set(self._view_of_member))].max(axis=1)
        if sights.known is not None:
            partitions = self._with_rules(partitions, sights)
        _, self._votes = partitions.agreed(self.n_clusters, rng, sights.known, sights.together)
        self._member_weights = partitions.shares
        # Rows with the same groups have the same votes: these are kept once.
        groups = np.column_stack([partitions.groups, *self._settle(partitions.groups, sights)])
        self._patterns, index = np.unique(groups, axis=0, return_inverse=True)
        self._pattern = index.ravel().astype(np.int32)
        masses = np.bincount(self._pattern, weights=sights.weights)
        self._masses, self._tree = masses / masses.sum(), None
        soft, weights = self.soft_labels_, sights.weights
        n_rows = len(soft) if weights is None else int(np.count_nonzero(weights))
        lens = self._lenses[self._view_of_member[0]]
        self._trust = trust(n_rows, 1 if lens is None else lens.mean.size, self.n_clusters)
        self._usual = usual_score(self.outlier_scores_ if weights is None else self.outlier_scores_[weights > 0])
        self.labels_ = keep(self._rejected(most_voted(soft), soft, self.outlier_scores_), sights.known)
        self.objective_ = float(np.average(soft.max(axis=1), weights=weights))
        self.agreement_matrix_ = partitions.agreement()
        # A finer partition differs from the others by design.
        alike = np.array([size <= self.n_clusters for size in partitions.sizes])
        alike |= alike.sum() < 2
        pairs = self.agreement_matrix_[np.ix_(alike, alike)][np.triu_indices(alike.sum(), 1)]
        self.agreement_ = float(pairs.mean()) if pairs.size else 1.0

    def _weigh(self, said: Partitions, sights: Sights, rng: np.random.RandomState) -> Partitions:
        """The members of the views that agree with others; what a view has to say is spread over its members."""
        view = np.array(self._view_of_member)
        agreement = np.ones(len(sights))
        if self.views == "auto" and len(sights) > 2:
            each = [said.some(view == number).agreed(self.n_clusters, rng)[0] for number in range(len(sights))]
            sizes = [self.n_clusters] * len(sights)
            between = Partitions.of(np.column_stack(each), sizes, sights.weights).agreement()
            agreement = (between.sum(axis=1) - 1) / (len(sights) - 1)
        kept = agreement >= min(_LEAST_AGREEMENT * agreement.max(), agreement.max())  # which may be negative
        weights = kept / kept.sum()
        told = "agreement with the other views {:.2f}" if len(sights) > 2 and self.views == "auto" else ""
        self.views_: list[dict[str, Any]] = [
            {"name": name, "weight": float(weight), "reason": "; ".join(filter(None, (reason, told.format(agrees))))}
            for name, weight, reason, agrees in zip(sights.names, weights, sights.reasons, agreement, strict=True)
        ]
        has_say = kept[view]
        self.members_ = [member for member, wanted in zip(self.members_, has_say, strict=True) if wanted]
        self._group_names = [names for names, wanted in zip(self._group_names, has_say, strict=True) if wanted]
        self._view_of_member = view[has_say].tolist()
        shares = (weights / np.bincount(view, minlength=len(sights)))[view][has_say]
        return said.some(has_say, shares)

    def _publish_embedding(self, sights: Sights, sample: NDArray[np.intp]) -> None:
        """Directions in which the clusters differ, over the views that have a say, and the clusters' centers there."""
        T = self._side_by_side(sights.sources, sample)
        weights = None if sights.weights is None else as_rows(T).here(sights.weights[sample])
        labels = as_rows(T).here(most_voted(self.soft_labels_)[sample])
        self._origin, self._directions = discriminant_directions(T, labels, self.n_clusters, weights)
        Y = blocks.project(T, self._directions, self._origin)
        self.cluster_centers_ = centers_of(Y, labels, self.n_clusters, weights)

    def _warn(self, is_constant: bool) -> None:
        found = np.unique(self.soft_labels_.argmax(axis=1)).size
        if is_constant:
            tell("All rows of X are equal (up to rounding): there is nothing to cluster.", CollapseWarning)
        elif found < self.n_clusters:
            tell(
                f"The members agree on {found} clusters instead of n_clusters={self.n_clusters}. Lower n_clusters.",
                CollapseWarning,
            )

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = isinstance(self.members, str)
        tags.input_tags.allow_nan = tags.input_tags.string = self.views is not None
        # scikit-learn's checks ask for it of everything that has predict_proba, and then expect two columns or four.
        tags.classifier_tags = ClassifierTags(multi_class=self.n_clusters > 2)
        return tags


def _tell_left_out(preparation: Preparation) -> None:
    """Columns that name rows, hold long text beside others or nothing at all are no features, and that is said."""
    found = preparation.description_
    if found.kind == "documents":
        return
    unused = [column for column in found.columns if column.kind in ("id", "text") or column.missing == 1]
    if unused:
        listed = ", ".join(repr(column.name) for column in unused[:5])
        more = f" and {len(unused) - 5} more" if len(unused) > 5 else ""
        tell(f"{listed}{more} left out: ids, long text or empty (description_ says why).", UserWarning)
