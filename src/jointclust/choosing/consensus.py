"""Consensus: fit many members, return the partition they agree on."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar, Self

import numpy as np
import scipy.sparse as sp
from numpy.typing import ArrayLike, NDArray
from sklearn.base import ClassNamePrefixFeaturesOutMixin, ClusterMixin, TransformerMixin, clone
from sklearn.metrics import adjusted_rand_score
from sklearn.utils import ClassifierTags, check_array, check_random_state
from sklearn.utils.validation import check_is_fitted, has_fit_parameter

from jointclust._sklearn import StrOptions, fit_context
from jointclust.choosing.members import automatic_members, fit_member, training_labels
from jointclust.estimators.base import Clusterer, LooksAtPairs, check_n_clusters, cluster_order
from jointclust.exceptions import CollapseWarning, collected, tell
from jointclust.numerics.kmeans import kmeans
from jointclust.numerics.linalg import signs_of
from jointclust.numerics.partitions import centers_of, cluster_sizes
from jointclust.rows import as_rows, blocks, in_memory, threads
from jointclust.subspace.coordinates import Coordinates
from jointclust.subspace.decomposition import check_weights, coordinates_of
from jointclust.types import Float, Labels
from jointclust.views.preparation import Preparation

_RESTARTS = 30


@dataclass(frozen=True, eq=False)
class View:
    """One way to look at the data: why, what prepares the rows (if anything does), and their coordinates."""

    name: str
    reason: str
    preparation: Any
    coordinates: Coordinates


class JointConsensus(ClassNamePrefixFeaturesOutMixin, TransformerMixin, ClusterMixin, LooksAtPairs):
    r"""The partition that many fits agree on: do not choose, average.

    .. math:: B = \tfrac{1}{\sqrt M} [L_1, \dots, L_M], \quad L_m = F_m (F_m'F_m)^{-1/2}, \quad
              B = U\, \mathrm{diag}(s)\, V'

    ======== =============================================================================
    symbol   meaning
    ======== =============================================================================
    F_m      one-hot labels of member m
    M        number of members
    U s      the embedding: leading singular vectors of B but the first, which is constant
    ======== =============================================================================

    ``BB'`` is the mean of the members' projections on their partitions, in which rows are near that most members keep
    together; it is never formed. k-means in the leading singular vectors (rows scaled to length one) proposes clusters.
    Then every member votes: a row's probability for a cluster is the mean, over the members, of the share of the
    cluster's rows that the row's own group holds in that member, made to sum to one; the label is the largest. New rows
    are voted on through the members' own ``predict``.

    Parameters
    ----------
    n_clusters : int, default=8
        Number of clusters.
    views : "auto", None or list of str or transformers, default="auto"
        What is done to the data before the members see them. "auto" describes them (:func:`describe`), codes categories
        and dates, fills gaps, and scales the rows as suits their kind; None takes rows of numbers as they are, and so
        do Coordinates; or names of views ("as is", "standardised", "rank-normal", "unit rows", "tf-idf", "topics",
        "log") and transformers, on each of which all members run.
    members : "auto" or list of estimators, default="auto"
        Clusterers with ``predict``; each is cloned, with a seed of its own where it has ``random_state=None``. "auto"
        is 31 of them over one decomposition: LDAKMeans at four shares of variance and two ridges, from k-means (twice)
        and from whitened starts; neighbour graphs of four sizes on the rows, and of three on the embedding of ODC.
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
        Cluster of each row, 0 being the largest; equal to ``predict`` of the training data.
    soft_labels_ : array of shape (n_samples, n_clusters)
        The members' votes; equal to ``predict_proba`` of the training data.
    confidence_ : array of shape (n_samples,)
        The votes for the row's own label, 0 to 1: small for rows on which members differ.
    agreement_ : float
        Mean adjusted Rand index over all pairs of members: near 0 when they find different things.
    agreement_matrix_ : array of shape (n_members, n_members)
        The adjusted Rand index of each pair.
    members_ : list of estimators
        The fitted members.
    views_ : list of dict
        ``name``, ``weight`` and ``reason`` of each view.
    description_ : Description or None
        What the data are, and why; None where they were taken as they are.
    cluster_centers_ : array of shape (n_clusters, n_components)
        Cluster means in the embedding.
    objective_ : float
        Share of the members' votes that went to the labels given, the mean of ``confidence_``.

    Examples
    --------
    >>> import jointclust as jc
    >>> X, y = jc.datasets.mixture(n_samples=300, n_features=50, n_clusters=4, random_state=0)
    >>> model = jc.JointConsensus(4, random_state=0).fit(X)
    >>> model.labels_.shape, bool(model.confidence_.min() > 0)
    ((300,), True)
    """

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        **{key: Clusterer._parameter_constraints[key] for key in ("n_clusters", "max_rank", "random_state", "n_jobs")},
        "members": [StrOptions({"auto"}), list, tuple],
        "views": [StrOptions({"auto"}), list, tuple, None],
    }

    def __init__(
        self,
        n_clusters: int = 8,
        *,
        views: str | list[Any] | None = "auto",
        members: str | list[Any] = "auto",
        max_rank: int = 500,
        random_state: int | np.random.RandomState | None = None,
        n_jobs: int | None = None,
    ):
        self.n_clusters = n_clusters
        self.views = views
        self.members = members
        self.max_rank = max_rank
        self.random_state = random_state
        self.n_jobs = n_jobs

    # -- fit ----------------------------------------------------------------------------------------------------

    @fit_context(prefer_skip_nested_validation=False)
    def fit(self, X: ArrayLike | Coordinates, y: object = None, sample_weight: ArrayLike | None = None) -> Self:
        """Fit the members and find what they agree on.

        Parameters
        ----------
        X : array, sparse matrix, data frame, list of str, AnnData, or Coordinates
            The data: numbers, with ``views`` also categories, booleans, dates, gaps and text; or the coordinates of
            rows from :func:`jointclust.decompose`.
        y : ignored
            There are no labels.
        sample_weight : array-like of shape (n_samples,), optional
            Weights of the rows, for the members that take them and for the consensus.

        Returns
        -------
        self : object
            The fitted estimator.
        """
        rng = check_random_state(self.random_state)
        return self._agree(self._look(X, sample_weight, rng), rng)

    def _look(self, X: Any, sample_weight: ArrayLike | None, rng: np.random.RandomState) -> list[View]:
        """The data in each view."""
        if self.views is None or isinstance(X, Coordinates):
            coordinates = self._coordinates_of(X, sample_weight, rng, max_rank=self.max_rank)
            return [View("as is", "the rows are taken as they are, as asked for", None, coordinates)]
        if len(self.views) == 0:
            raise ValueError('views is empty: give at least one, "auto", or None for rows as they are.')
        X = in_memory(X, type(self).__name__)
        wanted = [self.views] if isinstance(self.views, str) else self.views
        return [self._prepare(view, X, sample_weight, rng) for view in wanted]

    def _prepare(self, view: Any, X: Any, sample_weight: ArrayLike | None, rng: np.random.RandomState) -> View:
        """The data in one view, by its name or by a transformer."""
        preparation = Preparation(view) if isinstance(view, str) else clone(view)
        options = {"sample_weight": sample_weight} if has_fit_parameter(preparation, "sample_weight") else {}
        preparation.fit(X, **options)
        rows = check_array(
            preparation.transform(X), accept_sparse="csr", dtype=[np.float64, np.float32], ensure_min_samples=2
        )
        coordinates = coordinates_of(
            as_rows(rows), check_weights(sample_weight, rows), variance=None, max_rank=self.max_rank, rng=rng
        )
        if isinstance(preparation, Preparation):
            _tell_left_out(preparation)
            return View(preparation.view_, preparation.reason_, preparation, coordinates)
        return View(type(preparation).__name__, "given", preparation, coordinates)

    def _agree(self, views: list[View], rng: np.random.RandomState) -> Self:
        """Fit the members on each view and find what they agree on."""
        weights = views[0].coordinates.weights
        check_n_clusters(self.n_clusters, views[0].coordinates.n_samples, weights)
        unfitted = [(member, view) for view in views for member in self._members(view.coordinates)]
        seeds = rng.randint(np.iinfo(np.int32).max, size=len(unfitted) + 1)

        def fitted(index: int) -> Any:
            member, view = unfitted[index]
            return fit_member(member, view.coordinates.rows.X, view.coordinates, weights, int(seeds[index]))

        # A member that errs is outvoted; agreement_ says how they differ.
        with collected(), threads.suited_to(max(view.coordinates.rank for view in views), self.n_jobs):
            self.members_ = threads.each(fitted, len(unfitted), self.n_jobs)
        self._publish_views(views, [views.index(view) for _, view in unfitted])
        rows = [view.coordinates.rows.X for _, view in unfitted]
        votes = [training_labels(member, seen) for member, seen in zip(self.members_, rows, strict=True)]
        self._publish(np.column_stack(votes), weights, np.random.RandomState(seeds[-1]))
        self._warn(all(view.coordinates.is_constant for view in views))
        return self

    def _publish_views(self, views: list[View], view_of_member: list[int]) -> None:
        self._preparations = [view.preparation for view in views]
        self._view_of_member = view_of_member
        self.views_ = [{"name": view.name, "weight": 1 / len(views), "reason": view.reason} for view in views]
        first = views[0].preparation
        self.description_ = getattr(first, "description_", None)
        if first is not None:
            for name in ("n_features_in_", "feature_names_in_"):
                self.__dict__.pop(name, None)
                if hasattr(first, name):
                    setattr(self, name, getattr(first, name))

    def _members(self, coordinates: Coordinates) -> list[Any]:
        if isinstance(self.members, str):
            return list(automatic_members(self.n_clusters, coordinates.rows.X, coordinates))
        if len(self.members) == 0:
            raise ValueError('members is empty: give at least one estimator, or "auto".')
        for member in self.members:
            if not (hasattr(member, "fit") and hasattr(member, "predict")):
                raise TypeError(f"members must be clusterers with fit and predict; got {member!r}.")
        return [clone(member) for member in self.members]

    def _publish(self, votes: NDArray, weights: Float | None, rng: np.random.RandomState) -> None:
        groups = [np.unique(column, return_inverse=True) for column in votes.T]
        self._group_names = [names for names, _ in groups]
        numbered = [group.ravel() for _, group in groups]
        scales = group_scales(numbered, [names.size for names in self._group_names], weights)
        stacked = stacked_partitions(numbered, scales)
        directions = leading_directions(stacked, max(self.n_clusters - 1, 1), weights)
        ends = np.cumsum([scale.size for scale in scales])[:-1]
        # What belonging to a group adds to a row of the embedding, for each member.
        self._additions = np.split(np.concatenate(scales)[:, None] * directions, ends)
        Y = blocks.unit(np.asarray(stacked @ directions))
        proposal = kmeans(Y, self.n_clusters, rng, weights, n_restarts=_RESTARTS).labels
        shares = [
            group_shares(group, proposal, names.size, self.n_clusters, weights)
            for group, names in zip(numbered, self._group_names, strict=True)
        ]
        voted = mean_votes(numbered, shares).argmax(axis=1).astype(np.int32)
        sizes = cluster_sizes(voted, self.n_clusters, weights)
        order = cluster_order(sizes, centers_of(Y, voted, self.n_clusters, weights))
        self._shares = [share[:, order] for share in shares]
        self.soft_labels_ = mean_votes(numbered, self._shares)
        self.labels_ = self.soft_labels_.argmax(axis=1).astype(np.int32)
        self.confidence_ = self.soft_labels_[np.arange(len(Y)), self.labels_]
        self.objective_ = float(np.average(self.confidence_, weights=weights))
        self.cluster_centers_ = centers_of(Y, self.labels_, self.n_clusters, weights)
        present = slice(None) if weights is None else weights > 0
        first, second = np.triu_indices(len(numbered), 1)
        pairs = [
            adjusted_rand_score(numbered[a][present], numbered[b][present]) for a, b in zip(first, second, strict=True)
        ]
        self.agreement_matrix_ = np.eye(len(numbered))
        self.agreement_matrix_[first, second] = self.agreement_matrix_[second, first] = pairs
        self.agreement_ = float(np.mean(pairs)) if pairs else 1.0

    def _warn(self, is_constant: bool) -> None:
        found = np.unique(self.labels_).size
        if is_constant:
            tell("All rows of X are equal (up to rounding): there is nothing to cluster.", CollapseWarning)
        elif found < self.n_clusters:
            tell(
                f"The members agree on {found} clusters instead of n_clusters={self.n_clusters}. Lower n_clusters.",
                CollapseWarning,
            )

    # -- use ----------------------------------------------------------------------------------------------------

    def prepared(self, X: Any) -> list[Any]:
        """Rows as the members see them, one matrix for each view.

        Parameters
        ----------
        X : array, sparse matrix, data frame, list of str or AnnData
            Data like those of fit.

        Returns
        -------
        rows : list of arrays or sparse matrices
            One for each of ``views_``.
        """
        check_is_fitted(self)
        return [
            self._validated(X, reset=False) if preparation is None else preparation.transform(X)
            for preparation in self._preparations
        ]

    def __setstate__(self, state: dict[str, Any]) -> None:
        """Models of 0.1 took rows as they are."""
        before: dict[str, Any] = {"views": None}
        if "members_" in state:
            before |= {"_preparations": [None], "_view_of_member": [0] * len(state["members_"]), "description_": None}
        super().__setstate__({**before, **state})

    def _groups(self, X: ArrayLike) -> list[NDArray]:
        seen = self.prepared(X)
        parts = zip(self._group_names, self.members_, self._view_of_member, strict=True)
        found = [np.searchsorted(names, member.predict(seen[view])) for names, member, view in parts]
        return [group.clip(max=names.size - 1) for names, group in zip(self._group_names, found, strict=True)]

    def predict_proba(self, X: ArrayLike) -> Float:
        """The members' votes.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n_samples, n_features)
            New rows.

        Returns
        -------
        probabilities : array of shape (n_samples, n_clusters)
            Not negative, each row summing to 1.
        """
        return mean_votes(self._groups(X), self._shares)

    def predict(self, X: ArrayLike) -> Labels:
        """The cluster with most votes.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n_samples, n_features)
            New rows.

        Returns
        -------
        labels : array of shape (n_samples,)
            Cluster of each row.
        """
        return self.predict_proba(X).argmax(axis=1).astype(np.int32)

    def transform(self, X: ArrayLike) -> Float:
        """The embedding whose k-means proposed the clusters.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n_samples, n_features)
            New rows.

        Returns
        -------
        Y : array of shape (n_samples, n_components)
            Rows of length one.
        """
        groups = self._groups(X)
        Y = np.zeros((len(groups[0]), self.cluster_centers_.shape[1]))
        for group, additions in zip(groups, self._additions, strict=True):
            Y += additions[group]
        return blocks.unit(Y)

    @property
    def _n_features_out(self) -> int:
        return self.cluster_centers_.shape[1]

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


def group_scales(groups: list[NDArray], sizes: list[int], weights: Float | None) -> list[Float]:
    """What an entry of ``B`` is: one over the root of the group's size and of the number of members."""
    masses = [np.bincount(group, weights=weights, minlength=size) for group, size in zip(groups, sizes, strict=True)]
    return [1.0 / np.sqrt(np.where(mass > 0, mass, 1.0) * len(groups)) for mass in masses]


def stacked_partitions(groups: list[NDArray], scales: list[Float]) -> sp.csr_array:
    """``B``: the members' one-hot labels, scaled, side by side; one entry per row and member."""
    n, n_members = len(groups[0]), len(groups)
    offsets = np.cumsum([0] + [scale.size for scale in scales])
    columns = np.column_stack([group + offset for group, offset in zip(groups, offsets[:-1], strict=True)])
    entries = np.column_stack([scale[group] for group, scale in zip(groups, scales, strict=True)])
    start = np.arange(0, n * n_members + 1, n_members)
    return sp.csr_array((entries.ravel(), columns.ravel(), start), shape=(n, int(offsets[-1])))


def leading_directions(stacked: sp.csr_array, q: int, weights: Float | None) -> Float:
    """The right singular vectors V after the first, whose left one is constant; ``BV = U s``."""
    scaled = stacked if weights is None else sp.csr_array(sp.diags_array(np.sqrt(weights)) @ stacked)
    gram = (scaled.T @ scaled).toarray()
    # The constant vector has the singular value 1. It need not be the only one: take it out by hand.
    constant = stacked.sum(axis=0) if weights is None else weights @ stacked
    constant = np.asarray(constant).ravel() / np.linalg.norm(constant)
    vectors = np.linalg.eigh(gram - np.outer(constant, constant))[1][:, ::-1][:, :q]
    return vectors * signs_of(np.asarray(stacked @ vectors))


def mean_votes(groups: list[NDArray], shares: list[Float]) -> Float:
    """Mean over the members of how a row's group votes."""
    total = np.zeros((len(groups[0]), shares[0].shape[1]))
    for group, share in zip(groups, shares, strict=True):
        total += share[group]
    return total / len(groups)


def group_shares(group: NDArray, labels: Labels, n_groups: int, n_clusters: int, weights: Float | None) -> Float:
    """How a group votes: the shares of the clusters' rows that it holds, made to sum to one."""
    found = np.bincount(group * n_clusters + labels, weights=weights, minlength=n_groups * n_clusters)
    table = np.asarray(found, dtype=np.float64).reshape(n_groups, n_clusters)
    # Relative to the cluster's size: else small clusters lose their rows to large ones.
    sizes = table.sum(axis=0)
    table = table / np.where(sizes > 0, sizes, 1.0)
    total = table.sum(axis=1, keepdims=True)
    return np.where(total > 0, table / np.where(total > 0, total, 1.0), 1.0 / n_clusters)
