"""Consensus: fit many members, return the partition they agree on."""

from __future__ import annotations

from typing import Any, ClassVar, Self

import numpy as np
import scipy.sparse as sp
from numpy.typing import ArrayLike, NDArray
from sklearn.base import ClassNamePrefixFeaturesOutMixin, ClusterMixin, TransformerMixin, clone
from sklearn.metrics import adjusted_rand_score
from sklearn.utils import ClassifierTags, check_random_state
from sklearn.utils.validation import check_is_fitted

from jointclust._sklearn import StrOptions, fit_context
from jointclust.choosing.members import automatic_members, fit_member, training_labels
from jointclust.estimators.base import Clusterer, LooksAtPairs, check_n_clusters, cluster_order
from jointclust.exceptions import CollapseWarning, collected, tell
from jointclust.numerics.kmeans import kmeans
from jointclust.numerics.linalg import signs_of
from jointclust.numerics.partitions import centers_of, cluster_sizes
from jointclust.rows import blocks, threads
from jointclust.subspace.coordinates import Coordinates
from jointclust.types import Float, Labels

_RESTARTS = 30


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
    }

    def __init__(
        self,
        n_clusters: int = 8,
        *,
        members: str | list[Any] = "auto",
        max_rank: int = 500,
        random_state: int | np.random.RandomState | None = None,
        n_jobs: int | None = None,
    ):
        self.n_clusters = n_clusters
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
        X : array-like or sparse matrix of shape (n_samples, n_features), or Coordinates
            The data, or its coordinates from :func:`jointclust.decompose`.
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
        coordinates = self._coordinates_of(X, sample_weight, rng, max_rank=self.max_rank)
        data, weights = coordinates.rows.X, coordinates.weights
        check_n_clusters(self.n_clusters, coordinates.n_samples, weights)
        members = self._members(data, coordinates)
        seeds = rng.randint(np.iinfo(np.int32).max, size=len(members) + 1)

        def fitted(index: int) -> Any:
            return fit_member(members[index], data, coordinates, weights, int(seeds[index]))

        # A member that errs is outvoted; agreement_ says how they differ.
        with collected(), threads.suited_to(coordinates.rank, self.n_jobs):
            self.members_ = threads.each(fitted, len(members), self.n_jobs)
        votes = np.column_stack([training_labels(member, data) for member in self.members_])
        self._publish(votes, weights, np.random.RandomState(seeds[-1]))
        self._warn(coordinates)
        return self

    def _members(self, X: Any, coordinates: Coordinates) -> list[Any]:
        if isinstance(self.members, str):
            return list(automatic_members(self.n_clusters, X, coordinates))
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

    def _warn(self, coordinates: Coordinates) -> None:
        found = np.unique(self.labels_).size
        if coordinates.is_constant:
            tell("All rows of X are equal (up to rounding): there is nothing to cluster.", CollapseWarning)
        elif found < self.n_clusters:
            tell(
                f"The members agree on {found} clusters instead of n_clusters={self.n_clusters}. Lower n_clusters.",
                CollapseWarning,
            )

    # -- use ----------------------------------------------------------------------------------------------------

    def _groups(self, X: ArrayLike) -> list[NDArray]:
        check_is_fitted(self)
        data = self._validated(X, reset=False)
        found = [
            np.searchsorted(names, member.predict(data))
            for names, member in zip(self._group_names, self.members_, strict=True)
        ]
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
        # scikit-learn's checks ask for it of everything that has predict_proba, and then expect two columns or four.
        tags.classifier_tags = ClassifierTags(multi_class=self.n_clusters > 2)
        return tags


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
