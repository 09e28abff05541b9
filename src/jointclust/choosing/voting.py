"""What a fitted consensus says of rows: the members' votes, how sure they are, and an embedding."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.base import ClassNamePrefixFeaturesOutMixin, ClusterMixin, TransformerMixin
from sklearn.utils.validation import check_is_fitted

from jointclust.choosing.confidence import confidence
from jointclust.choosing.layers import Layered
from jointclust.choosing.lens import CenterLabels, LandmarkLabels, Lens, Seen
from jointclust.choosing.sights import Source, blocks_of, sources_of
from jointclust.choosing.votes import mean_votes
from jointclust.estimators.base import LooksAtPairs
from jointclust.rows import blocks
from jointclust.types import Float, Labels

# What is known of each row is saved up to this many; of more only the labels are.
_SAVED_ROWS = 50_000


class Voting(Layered, ClassNamePrefixFeaturesOutMixin, TransformerMixin, ClusterMixin, LooksAtPairs):
    """A consensus once its members are fitted: what it knows of the training rows, and what it says of others."""

    n_clusters: int
    reject_below: float
    labels_: Labels
    members_: list[Any]
    outlier_scores_: Float
    cluster_centers_: Float
    # Of each view: what prepares rows, and the lens that members look through (none in models of 0.1).
    _preparations: list[Any]
    _lenses: list[Lens | None]
    # Of each member: its view, its weight, what it calls its groups, and how these vote.
    _view_of_member: list[int]
    _member_weights: Float
    _group_names: list[NDArray]
    _votes: list[Float]
    # The different groups of training rows, and which of these each row has.
    _patterns: NDArray[np.int32]
    _pattern: NDArray[np.int32]
    _usual: float
    _trust: float
    _origin: Float
    _directions: Float
    _additions: list[Float]

    @property
    def soft_labels_(self) -> Float:
        """The members' votes for each training row."""
        check_is_fitted(self)
        if "soft_labels_" in vars(self):  # a model of 0.1
            return vars(self)["soft_labels_"]
        if "_patterns" not in vars(self):
            raise AttributeError(
                f"What is known of each of the {len(self.labels_):,} training rows was not saved with the model, but "
                "for labels_: predict_proba(X) and confidence(X) tell it again."
            )
        return mean_votes(self._patterns, self._votes, self._member_weights)[self._pattern]

    def groups_of_members(self) -> NDArray[np.int32]:
        """The group of each training row in each member; none where the model does not know it any more.

        Returns
        -------
        groups : array of shape (n_samples, n_members)
            Numbers from 0.
        """
        check_is_fitted(self)
        return (
            self._patterns[self._pattern] if "_patterns" in vars(self) else np.empty((len(self.labels_), 0), np.int32)
        )

    @property
    def confidence_(self) -> Float:
        """How likely each training row's label is right."""
        check_is_fitted(self)
        if "confidence_" in vars(self):  # a model of 0.1
            return vars(self)["confidence_"]
        return confidence(self.soft_labels_, self.outlier_scores_, self._trust, self._usual)

    def __getstate__(self) -> dict[str, Any]:
        """What is known of each row is not saved of very many."""
        if "_patterns" in vars(self) and len(self.labels_) > _SAVED_ROWS:
            self._layered()  # new rows have layers still
        state = dict(super().__getstate__())  # the very dict of the model otherwise
        if len(state.get("labels_", ())) > _SAVED_ROWS:
            for name in ("_patterns", "_pattern", "_masses", "outlier_scores_"):
                state.pop(name, None)
        return state

    def __setstate__(self, state: dict[str, Any]) -> None:
        """Models of 0.1 took rows as they are, and kept the votes of the training rows."""
        before: dict[str, Any] = {"views": None, "reject_below": 0.0}
        if "_shares" in state:
            n_members = len(state["members_"])
            before |= {
                "_preparations": [None],
                "_view_of_member": [0] * n_members,
                "_member_weights": np.full(n_members, 1.0 / n_members),
                "_votes": state["_shares"],
                "_lenses": [None],
                "_usual": 1.0,
                "_trust": 0.0,
                "outlier_scores_": np.zeros(len(state["labels_"]), np.float32),
                "views_": [{"name": "as is", "weight": 1.0, "reason": "the rows are taken as they are"}],
                "description_": None,
            }
        super().__setstate__({**before, **state})

    @property
    def preparations(self) -> list[Any]:
        """What prepares rows for each view; None where they are taken as they are."""
        check_is_fitted(self)
        return self._preparations

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
        return [source.take(slice(None)) for source in self._sources(X)]

    def _sources(self, X: Any) -> list[Source]:
        check_is_fitted(self)
        if self._preparations == [None]:
            return [Source(self._validated(X, reset=False), None)]
        return sources_of(self._preparations, X)

    def _seen(self, sources: list[Source], index: NDArray[np.intp] | None = None) -> Iterator[dict[int, Seen]]:
        """Rows through the lens of each view that has a say, some rows after others."""
        used = sorted(set(self._view_of_member))
        for block in blocks_of(sources[0].rows.shape[0] if index is None else index.size):
            rows = block if index is None else index[block]
            yield {number: Seen(self._lenses[number], sources[number].take(rows)) for number in used}

    def _asked(self, sources: list[Source], *, voted: bool = True, scored: bool = True) -> tuple[NDArray, Float]:
        """What each member says of each row, and how far the row is from others in each view, as far as wanted."""
        said: list[NDArray] = [np.empty((0, len(self.members_)), dtype=np.intp)]
        scores: list[NDArray] = [np.empty((0, len(set(self._view_of_member))))]
        scored &= None not in self._lenses  # models of 0.1 have none
        for seen in self._seen(sources):
            if voted:
                parts = zip(self.members_, self._view_of_member, strict=True)
                said.append(np.column_stack([_labels(member, seen[view]) for member, view in parts]))
            if scored:
                scores.append(np.column_stack([one.distance / one.lens.reach for one in seen.values()]))
        return np.vstack(said if len(said) == 1 else said[1:]), np.concatenate(scores).astype(np.float32)

    def _voted(self, X: Any, *, scored: bool = False) -> tuple[Float, Float]:
        """The votes for new rows, and their outlier scores where they are wanted."""
        said, scores = self._asked(self._sources(X), scored=scored)
        return mean_votes(self._grouped(said), self._votes, self._member_weights), scores.max(axis=1)

    def _grouped(self, said: NDArray) -> NDArray:
        """The group of each row in each member, from what these said."""
        parts = zip(self._group_names, said.T, strict=True)
        return np.column_stack([np.searchsorted(names, column).clip(max=names.size - 1) for names, column in parts])

    def _side_by_side(self, seen: dict[int, Seen]) -> Float:
        """Rows in the leading directions of all views that have a say, each view of the same size."""
        return np.hstack([one.leading / one.lens.scale for one in seen.values()])

    def _rejected(self, labels: Labels, votes: Float, scores: Float) -> Labels:
        """Labels, -1 for rows of too little confidence."""
        if self.reject_below == 0:
            return labels
        return np.where(confidence(votes, scores, self._trust, self._usual) < self.reject_below, -1, labels).astype(
            np.int32
        )

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
        return self._voted(X)[0]

    def predict(self, X: ArrayLike, n_clusters: int | None = None) -> Labels:
        """The cluster with most votes; -1 for rows of less confidence than ``reject_below``.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n_samples, n_features)
            New rows.
        n_clusters : int, optional
            Of the layer to take the clusters from (see :meth:`cut`), in which no row is rejected.

        Returns
        -------
        labels : array of shape (n_samples,)
            Cluster of each row.
        """
        if n_clusters is not None:
            return self._cut(self._grouped(self._asked(self._sources(X), scored=False)[0]), n_clusters)
        votes, scores = self._voted(X, scored=self.reject_below > 0)
        return self._rejected(votes.argmax(axis=1).astype(np.int32), votes, scores)

    def predict_with_confidence(self, X: ArrayLike) -> tuple[Labels, Float]:
        """:meth:`predict` and :meth:`confidence` at the cost of one of them.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n_samples, n_features)
            New rows.

        Returns
        -------
        labels : array of shape (n_samples,)
            Cluster of each row.
        confidence : array of shape (n_samples,)
            From 0 to 1.
        """
        votes, scores = self._voted(X, scored=True)
        labels = votes.argmax(axis=1).astype(np.int32)
        if scores.size == 0:  # a model of 0.1
            return labels, votes.max(axis=1)
        return self._rejected(labels, votes, scores), confidence(votes, scores, self._trust, self._usual)

    def confidence(self, X: ArrayLike) -> Float:
        """How likely the labels of rows are right: see ``confidence_``.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n_samples, n_features)
            New rows.

        Returns
        -------
        confidence : array of shape (n_samples,)
            From 0 to 1.
        """
        return self.predict_with_confidence(X)[1]

    def transform(self, X: ArrayLike) -> Float:
        """Rows in the directions in which the clusters differ most, for the spread within them, over all views.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n_samples, n_features)
            New rows.

        Returns
        -------
        Y : array of shape (n_samples, n_components)
            ``n_clusters - 1`` columns, two at least; the spread within clusters is about 1 in each.
        """
        if "_additions" in vars(self):  # a model of 0.1
            groups = self._grouped(self._asked(self._sources(X), scored=False)[0])
            return blocks.unit(sum(table[group] for table, group in zip(self._additions, groups.T, strict=True)))
        parts = [self._side_by_side(seen) for seen in self._seen(self._sources(X))]
        return (np.vstack(parts) - self._origin) @ self._directions

    @property
    def _n_features_out(self) -> int:
        return self.cluster_centers_.shape[1]


def _labels(member: Any, seen: Seen) -> NDArray:
    """What a member says of rows: our own look through the lens, others at the rows of the view."""
    if isinstance(member, CenterLabels | LandmarkLabels):
        return member.of(seen)
    return np.asarray(member.predict(seen.rows))
