"""What the members of a consensus agree on, as a function of rows."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field, replace
from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray

from jointclust.consensus.classifiers import Member
from jointclust.consensus.confidence import Confidence
from jointclust.consensus.embedding import DiscriminantMap
from jointclust.consensus.partitions import mean_votes
from jointclust.consensus.projection import ProjectedRows, ViewProjection
from jointclust.consensus.views import ViewRows, are_numeric, blocks_of, rows_in_views, without_value
from jointclust.numerics.partitions import placed
from jointclust.rows import blocks, host_block, joined, threads
from jointclust.rows.arrays import is_device_array, like, namespace, whole_numbers
from jointclust.types import Array, Float, Labels

_T = TypeVar("_T")
# Rows whose codes are held at a time.
PART = 2**16


@dataclass(frozen=True, eq=False)
class Panel:
    """The members of all views.

    Attributes
    ----------
    projections : list of ViewProjection
        One for each view.
    members : list
        The members: our own (:class:`Member`) or estimators with ``predict``.
    views : list of int
        The view of each member.
    """

    projections: list[ViewProjection]
    members: list[Any]
    views: list[int]

    @property
    def used_views(self) -> list[int]:
        """The views that have members."""
        return sorted(set(self.views))

    def some(self, wanted: NDArray[np.bool_]) -> Panel:
        """Some of the members."""
        chosen = np.flatnonzero(wanted)
        return replace(self, members=[self.members[i] for i in chosen], views=[self.views[i] for i in chosen])

    def joined_by(self, members: list[Any], views: list[int]) -> Panel:
        """These members and others."""
        return replace(self, members=[*self.members, *members], views=[*self.views, *views])

    def project(self, sources: list[ViewRows], rows: NDArray[np.intp] | slice) -> dict[int, ProjectedRows]:
        """Some rows under the projection of each used view."""
        return {view: sources[view].project(self.projections[view], rows) for view in self.used_views}

    def label(self, sources: list[ViewRows], *, scored: bool, labelled: bool = True) -> tuple[Any, Any]:
        """The members' labels of each row, side by side, and the outlier scores of the row in each used view.

        Either is empty if it is not wanted. Rows without any value have no scores: NaN.
        """
        members = list(zip(self.members, self.views, strict=True)) if labelled else []

        def of_block(block: slice) -> tuple[list[NDArray], list[NDArray]]:
            labels, scores = dict[int, NDArray](), list[NDArray]()
            for view in self.used_views:  # each takes as much room as the rows
                rows = sources[view].project(self.projections[view], block)
                labels |= {place: _labels(one, rows) for place, (one, own) in enumerate(members) if own == view}
                if scored:
                    scores.append(rows.distance / float(self.projections[view].reach))
            return [labels[place] for place in range(len(members))], scores

        labels, scores = zip(*_by_blocks(of_block, sources[0].rows), strict=True)
        none = np.empty((0, 1), np.float32)
        labels = _side_by_side(labels) if labelled else none
        if not scored:
            return labels, none
        scores, is_empty = _limited(_side_by_side(scores)), without_value([sources[view] for view in self.used_views])
        if is_empty is None:
            return labels, scores
        return labels, scores + like(np.where(is_empty, np.nan, 0.0)[:, None], scores)

    def leading(
        self,
        sources: list[ViewRows],
        index: NDArray[np.intp] | None = None,
        function: Callable[[Float], Float] = lambda rows: rows,
    ) -> Any:
        """A function of rows in the leading directions of all used views, each view scaled to the same size."""

        def of_block(block: slice) -> Float:
            projected = self.project(sources, block if index is None else index[block])
            parts = [one.leading / float(one.projection.scale) for one in projected.values()]
            return function(namespace(parts[0]).concat(parts, axis=1))

        rows = sources[0].rows
        return joined(list(_by_blocks(of_block, rows if index is None or is_device_array(rows) else index)))


@dataclass(frozen=True, eq=False)
class Agreement:
    """A fitted consensus without its training rows: what it computes for any rows.

    Attributes
    ----------
    preparations : list of transformers
        What prepares rows for each view.
    panel : Panel
        The members that vote.
    names : list of arrays
        The labels that each member gives; their positions are the codes of its clusters.
    votes : list of arrays of shape (n_codes, n_clusters)
        How the clusters of each member vote.
    shares : array of shape (n_members,)
        Weights of the members, summing to 1.
    n_known : int
        The number of known classes, which are the first clusters.
    overrides : array of shape (n_overrides, n_clusters) or None
        Votes that replace those of the members for rows with a known label or in a group.
    scale : ConfidenceRule, or ConfidenceScale in a model of 0.2
        What makes confidence of votes and outlier scores.
    embedding : DiscriminantMap
        The directions in which the clusters differ.
    known_overrides : array of shape (n_overrides,) or None
        Whether they are those of a known class; None in a model of 0.2, where these are the first ones.
    """

    preparations: list[Any]
    panel: Panel
    names: list[NDArray]
    votes: list[Float]
    shares: Float
    n_known: int
    overrides: Float | None
    scale: Confidence
    embedding: DiscriminantMap
    known_overrides: NDArray[np.bool_] | None = field(default=None, kw_only=True)

    @property
    def n_clusters(self) -> int:
        return self.votes[0].shape[1]

    @property
    def sizes(self) -> list[int]:
        """Number of clusters of each member."""
        return [len(table) for table in self.votes]

    def sources(self, X: Any) -> list[ViewRows]:
        """New data in each view."""
        return rows_in_views(self.preparations, X)

    def reachable(self, block: Any) -> Any:
        """A block of rows where the members can label it: on its device, or in memory."""
        own = all(isinstance(member, Member) for member in self.panel.members)
        return block if own and are_numeric(self.preparations) else host_block(block)

    def codes(self, sources: list[ViewRows], *, scored: bool = False) -> tuple[NDArray, Float]:
        """The code of each row's cluster in each member, and the row's outlier score."""
        labels, scores = self.panel.label(sources, scored=scored)
        xp = namespace(labels)
        columns = [labels[:, number] + 0 for number in range(labels.shape[1])]  # contiguous, for devices
        codes = [
            xp.clip(xp.searchsorted(like(names, column), column), 0, names.size - 1)
            for names, column in zip(self.names, columns, strict=True)
        ]
        return xp.stack(codes, axis=1), namespace(scores).max(scores, axis=1)

    def soft_labels(self, codes: NDArray) -> Float:
        """The votes for rows with these codes; a column after those of the members numbers the override."""
        votes, n_members = mean_votes(codes, self.votes, self.shares), len(self.votes)
        if codes.shape[1] == n_members or self.overrides is None:
            return votes
        xp, which = namespace(votes), codes[:, n_members]
        return xp.where(which[:, None] > 0, xp.take(like(self.overrides, votes), which, axis=0), votes)

    def has_known_class(self, codes: NDArray) -> NDArray[np.bool_]:
        """Whether the class of rows with these codes is known, from the number of the override."""
        override = codes[:, len(self.votes) :].max(axis=1, initial=0)
        if self.known_overrides is None:
            return (override > 0) & (override <= self.n_known)
        return self.known_overrides[override]

    def groups(self, codes: NDArray) -> NDArray | None:
        """The override that each row has by its group, -1 for rows without one; None if there are no groups."""
        override = codes[:, len(self.votes) :].max(axis=1, initial=0)
        return np.where(override > self.n_known, override, -1) if override.max(initial=0) > self.n_known else None

    def labels(self, votes: Float, scores: Float, reject_below: float) -> Labels:
        """The cluster with most votes; -1 for rows of less confidence than the limit."""
        labels = most_voted(votes)
        if reject_below == 0:
            return labels
        xp = namespace(labels)
        return xp.where(self.scale.confidence(votes, scores) < reject_below, -xp.ones_like(labels), labels)

    def judge(self, X: Any, reject_below: float = 0.0) -> Float:
        """Labels of rows, confidence, and whether they are unlike any of their cluster, side by side."""
        return self.judge_rows(self.sources(X), reject_below)

    def judge_rows(self, sources: list[ViewRows], reject_below: float = 0.0) -> Float:
        """The same of rows in each view."""
        return in_parts(lambda part: self._judged(part, reject_below), sources)

    def _judged(self, sources: list[ViewRows], reject_below: float) -> Float:
        codes, scores = self.codes(sources, scored=True)
        votes = self.soft_labels(codes)
        labels, confidence = self.labels(votes, scores, reject_below), self.scale.confidence(votes, scores)
        far = self.scale.is_far(most_voted(votes), scores)
        columns = [blocks.float64(labels), blocks.float64(confidence), blocks.float64(far)]
        return namespace(confidence).stack(columns, axis=1)

    def embed(self, sources: list[ViewRows]) -> Float:
        """Rows in the directions in which the clusters differ."""
        return self.panel.leading(sources, function=self.embedding)

    @property
    def n_held(self) -> int:
        """The number of clusters that any member votes for; the others are gone, and have only a number."""
        return int(np.any([table.any(axis=0) for table in self.votes], axis=0).sum())

    def renumbered(self, numbers: NDArray[np.intp], n_clusters: int) -> Agreement:
        """The same clusters by other numbers, of which some may stay free."""
        overrides = None if self.overrides is None else placed(self.overrides, numbers, n_clusters, 0.0)
        votes = [placed(table, numbers, n_clusters, 0.0) for table in self.votes]
        return replace(self, votes=votes, overrides=overrides, scale=self.scale.renumbered(numbers, n_clusters))


def in_parts(function: Callable[[list[ViewRows]], Any], sources: list[ViewRows]) -> Any:
    """A function of rows in each view, part by part where they are many: their codes take more room than the rows."""
    rows = sources[0].rows
    if is_device_array(rows) or rows.shape[0] <= PART:
        return function(sources)
    starts = range(0, rows.shape[0], PART)
    return joined([function([one.block(slice(start, start + PART)) for one in sources]) for start in starts])


def most_voted(votes: Float) -> Labels:
    """The cluster with most votes."""
    return whole_numbers(namespace(votes).argmax(votes, axis=1))


def _limited(scores: Array) -> Array:
    """Outlier scores in single precision, as large as it allows."""
    return blocks.float32(namespace(scores).clip(scores, None, 1e38))


def _side_by_side(columns_of_blocks: Iterable[list[NDArray]]) -> Array:
    """The columns of consecutive blocks as one matrix."""
    return joined([namespace(columns[0]).stack(columns, axis=1) for columns in columns_of_blocks])


def _by_blocks(function: Callable[[slice], _T], rows: Any) -> Iterator[_T]:
    """A function of consecutive blocks of rows, in threads if there are several; one block on a device."""
    spans = [slice(0, rows.shape[0])] if is_device_array(rows) else list(blocks_of(rows.shape[0]))
    if len(spans) <= 1:
        yield function(spans[0] if spans else slice(0, 0))
        return
    with threads.single():
        for _, result in threads.in_order(function, spans):
            yield result


def _labels(member: Any, projected: ProjectedRows) -> NDArray:
    """Labels by one of our members from the projected rows, or by an estimator from the rows of its view."""
    if isinstance(member, Member):
        return member.label(projected)
    return np.asarray(member.predict(projected.rows))
