"""What a fitted consensus says of rows: the members' votes, how sure they are, and an embedding."""

from __future__ import annotations

import copy
from collections.abc import Callable, Iterable, Iterator
from typing import Any, Self, TypeVar

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.base import ClassNamePrefixFeaturesOutMixin, ClusterMixin, TransformerMixin
from sklearn.utils.validation import check_is_fitted, validate_data

from jointclust.consensus.confidence import confidence
from jointclust.consensus.projection import Lens, Member, Seen, n_values
from jointclust.consensus.questions import Asking
from jointclust.consensus.views import Source, are_numeric, blocks_of, sources_of
from jointclust.estimators.base import LooksAtPairs
from jointclust.rows import blocks, each_row, host_block, is_elsewhere, joined, loaded, threads
from jointclust.rows.arrays import is_device_array, like, namespace, to_host, whole_numbers
from jointclust.types import Array, Float, Labels

_T = TypeVar("_T")
# What is known of each row is saved up to this many; of more only the labels are.
_SAVED_ROWS = 50_000
_PER_ROW = ("_patterns", "_pattern", "_masses", "outlier_scores_", "_groups", "_confidence")


class Voting(Asking, ClassNamePrefixFeaturesOutMixin, TransformerMixin, ClusterMixin, LooksAtPairs):
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
    # The same of rows elsewhere than in memory, each row's own, and how sure their labels are.
    _groups: NDArray
    _confidence: NDArray
    _usual: float
    _trust: float
    _origin: Float
    _directions: Float
    _additions: list[Float]

    def _refusal(self, kind: str) -> str | None:
        """Why rows of a kind ("device", "file" or "dask") cannot be used: all can."""
        return None

    @property
    def soft_labels_(self) -> Float:
        """The members' votes for each training row."""
        check_is_fitted(self)
        if "soft_labels_" in vars(self):  # a model of 0.1
            return vars(self)["soft_labels_"]
        if "_pattern" not in vars(self) and "_groups" not in vars(self):
            raise AttributeError(
                f"The votes for each of the {self.labels_.shape[0]:,} training rows were not kept with the model: "
                "predict_proba(X) and confidence(X) tell them again."
            )
        return self._of_each_row(self._bare()._said, (self.n_clusters,), np.float64)

    @property
    def probabilities_(self) -> Float:
        """``soft_labels_`` by the name that BERTopic asks its clusterer for."""
        return self.soft_labels_

    def groups_of_members(self) -> NDArray[np.int32]:
        """The group of each training row in each member; none where the model does not know it any more.

        Returns
        -------
        groups : array of shape (n_samples, n_members)
            Numbers from 0.
        """
        check_is_fitted(self)
        n_members = len(self.members_)
        if "_groups" in vars(self):
            return self._groups[:, :n_members]
        if "_pattern" not in vars(self):
            return np.empty((len(self.labels_), 0), np.int32)
        return self._patterns[self._pattern, :n_members]

    @property
    def confidence_(self) -> Float:
        """How likely each training row's label is right."""
        check_is_fitted(self)
        for name in ("_confidence", "confidence_"):  # of rows elsewhere, and of a model of 0.1
            if name in vars(self):
                return vars(self)[name]
        found = confidence(self.soft_labels_, self.outlier_scores_, self._trust, self._usual)
        return np.where(self._has_known_class(self._patterns)[self._pattern], 1.0, found)

    def __getstate__(self) -> dict[str, Any]:
        """What is known of each row is not saved of very many."""
        if "labels_" not in vars(self) or self.labels_.shape[0] <= _SAVED_ROWS:
            return dict(super().__getstate__())  # the very dict of the model otherwise
        if "_patterns" in vars(self):
            self._layered()  # new rows have layers still
        return {name: value for name, value in super().__getstate__().items() if name not in _PER_ROW}

    def _bare(self) -> Self:
        """A copy without what is known of the training rows, to be sent to other rows."""
        model = copy.copy(self)
        for name in ("labels_", *_PER_ROW):
            model.__dict__.pop(name, None)
        return model

    def __setstate__(self, state: dict[str, Any]) -> None:
        """Models of 0.1 took rows as they are, and kept the votes of the training rows."""
        before: dict[str, Any] = {"views": None, "reject_below": 0.0, "effort": "normal"}
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

    def _seen(self, sources: list[Source], rows: NDArray[np.intp] | slice) -> dict[int, Seen]:
        """Rows through the lens of each view that has a say."""
        used = sorted(set(self._view_of_member))
        return {number: Seen(self._lenses[number], sources[number].take(rows)) for number in used}

    def _asked(self, sources: list[Source], members: list[Any], views: list[int], scored: bool) -> tuple[Any, Any]:
        """What members of some views say of each row, and how far it is from others in each view, where wanted."""
        scored &= None not in self._lenses  # models of 0.1 have none
        rows = sources[0].rows

        def ask(block: slice) -> tuple[list[NDArray], list[NDArray]]:
            seen = self._seen(sources, block)
            labels = [_labels(member, seen[view]) for member, view in zip(members, views, strict=True)]
            return labels, [one.distance / float(one.lens.reach) for one in seen.values()] if scored else []

        said, scores = zip(*_of_each(ask, rows), strict=True)
        none = np.empty((0, 1), np.float32)
        return _beside(said) if members else none, blocks.float32(_beside(scores)) if scored else none

    def _told(self, X: Any, *, scored: bool = True) -> tuple[NDArray, Float, Float]:
        """The groups of new rows, the votes for them, and their outlier scores where they are wanted."""
        said, scores = self._asked(self._sources(X), self.members_, self._view_of_member, scored)
        groups = self._grouped(said)
        votes = self._said(groups)
        return groups, votes, namespace(scores).max(scores, axis=1)

    def _at_hand(self, block: Any) -> Any:
        """A block of rows where it can be voted on: on the device that it lies on, or in memory."""
        own = all(isinstance(member, Member) for member in self.members_)
        return block if own and are_numeric(self._preparations) else host_block(block)

    def _everywhere(self, method: str, X: Any, *arguments: object, tail: tuple[int, ...] = (), dtype: type) -> Any:
        """What a method says of rows in memory, for rows wherever they are; with Dask when it is asked for."""
        check_is_fitted(self)
        X = loaded(X)
        if not is_elsewhere(X):
            return getattr(self, method)(X, *arguments)
        if hasattr(self, "n_features_in_"):
            named = getattr(X, "_meta", X) if hasattr(X, "columns") else X
            validate_data(self, named, skip_check_array=True, reset=False)
        return each_row(_Method(self._bare(), method, arguments), X, tail, dtype, n_values(X))

    def _grouped(self, said: NDArray) -> NDArray:
        """The group of each row in each member, from what these said."""
        xp = namespace(said)
        columns = [said[:, number] for number in range(said.shape[1])]
        found = [
            xp.clip(xp.searchsorted(like(names, column), column + 0), 0, names.size - 1)  # on a device, of a copy
            for names, column in zip(self._group_names, columns, strict=True)
        ]
        return xp.stack(found, axis=1)

    def _side_by_side(self, sources: list[Source], index: NDArray[np.intp] | None = None) -> Any:
        """Rows in the leading directions of all views that have a say, each view of the same size."""

        def see(block: slice) -> Float:
            seen = self._seen(sources, block if index is None else index[block])
            parts = [one.leading / float(one.lens.scale) for one in seen.values()]
            return namespace(parts[0]).concat(parts, axis=1)

        rows = sources[0].rows
        return joined(list(_of_each(see, rows if index is None or is_device_array(rows) else index)))

    def _rejected(self, labels: Labels, votes: Float, scores: Float) -> Labels:
        """Labels, -1 for rows of too little confidence."""
        if self.reject_below == 0:
            return labels
        unsure = confidence(votes, scores, self._trust, self._usual) < self.reject_below
        xp = namespace(labels)
        return xp.where(unsure, -xp.ones_like(labels), labels)

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
        return self._everywhere("_probabilities", X, tail=(self.n_clusters,), dtype=np.float64)

    def _probabilities(self, X: Any) -> Float:
        return self._told(X, scored=False)[1]

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
            self._checked(n_clusters)  # which makes the layers where they are not made yet
            return self._everywhere("_layer", X, n_clusters, dtype=np.int32)
        return self._everywhere("_labelled", X, dtype=np.int32)

    def _layer(self, X: Any, n_clusters: int) -> Labels:
        return self._cut(to_host(self._told(X, scored=False)[0]), n_clusters)

    def _labelled(self, X: Any) -> Labels:
        _, votes, scores = self._told(X, scored=self.reject_below > 0)
        return self._rejected(most_voted(votes), votes, scores)

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
        both = self._everywhere("_labelled_surely", X, tail=(2,), dtype=np.float64)
        return whole_numbers(both[:, 0]), both[:, 1]

    def _labelled_surely(self, X: Any) -> Float:
        """Labels and confidence, side by side."""
        _, votes, scores = self._told(X)
        labels = most_voted(votes)
        if None in self._lenses:  # a model of 0.1
            return np.column_stack([labels, votes.max(axis=1)])
        sure = confidence(votes, scores, self._trust, self._usual)
        return namespace(sure).stack([blocks.float64(self._rejected(labels, votes, scores)), sure], axis=1)

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
        return self._everywhere("_embedded", X, tail=(self._n_features_out,), dtype=np.float64)

    def _embedded(self, X: Any) -> Float:
        if "_additions" in vars(self):  # a model of 0.1
            groups = self._told(X, scored=False)[0]
            return blocks.unit(sum(table[group] for table, group in zip(self._additions, groups.T, strict=True)))
        rows = self._side_by_side(self._sources(X))
        return (rows - like(self._origin, rows)) @ like(self._directions, rows)

    @property
    def _n_features_out(self) -> int:
        return self.cluster_centers_.shape[1]


def most_voted(votes: Float) -> Labels:
    """The cluster with most votes."""
    return whole_numbers(namespace(votes).argmax(votes, axis=1))


def _beside(found: Iterable[list[NDArray]]) -> Array:
    """Columns of some rows after others, put together."""
    return joined([namespace(columns[0]).stack(columns, axis=1) for columns in found])


def _of_each(function: Callable[[slice], _T], rows: Any) -> Iterator[_T]:
    """What a function says of some rows after others, by threads where these are many; at once on a device."""
    found = [slice(0, rows.shape[0])] if is_device_array(rows) else list(blocks_of(rows.shape[0]))
    if len(found) <= 1:
        yield function(found[0] if found else slice(0, 0))
        return
    with threads.single():
        for _, told in threads.in_order(function, found):
            yield told


class _Method:
    """A method of a fitted consensus, to be sent to blocks of rows."""

    def __init__(self, model: Voting, name: str, arguments: tuple[object, ...]):
        self.model, self.name, self.arguments = model, name, arguments

    def __call__(self, block: Any) -> NDArray:
        return getattr(self.model, self.name)(self.model._at_hand(block), *self.arguments)


def _labels(member: Any, seen: Seen) -> NDArray:
    """What a member says of rows: our own look through the lens, others at the rows of the view."""
    if isinstance(member, Member):
        return member.of(seen)
    return np.asarray(member.predict(seen.rows))
