"""What is settled of rows beside the members' votes: known classes, and groups of rows that have one label."""

from __future__ import annotations

from dataclasses import replace
from typing import Any, cast

import numpy as np
from numpy.typing import NDArray

from jointclust.consensus.confidence import confidence, trust
from jointclust.consensus.known_labels import Examples, rules_of
from jointclust.consensus.partitions import Partitions
from jointclust.consensus.projection import n_values
from jointclust.consensus.remote import Whole
from jointclust.consensus.views import Sights
from jointclust.consensus.voting import Voting, most_voted
from jointclust.estimators.known import n_known
from jointclust.numerics.partitions import looked_up
from jointclust.rows import Swept, blocks, n_present
from jointclust.rows.arrays import is_device_array, namespace, to_host
from jointclust.types import Array, Float, Labels


class Settling(Voting):
    """A consensus that settles the votes of rows of which more is known than what the members say."""

    objective_: float

    def _settle(self, groups: NDArray, sights: Sights) -> list[NDArray[np.int32]]:
        """Settle votes; the column that says which rows have which of them, none where there are none."""
        self.__dict__.pop("_settled", None)
        known, together = sights.known, sights.together
        if known is None and together is None:
            return []
        votes = None if together is None else together.means(self._said(groups))
        self._settled = _settled_votes(n_known(self), self.n_clusters, votes)
        index = None if together is None else together.index
        return [np.asarray(_settled_column(known, index, n_known(self)), np.int32)]

    def _with_rules(self, said: Partitions, sights: Sights) -> Partitions:
        """The members, and beside them linear rules learned from the known labels, one on each view that has a say."""
        known = cast(Labels, sights.known)
        index = None if sights.together is None else to_host(sights.together.index)
        examples, views = Examples.of(known, sights.weights, index), sorted(set(self._view_of_member))
        seen = [(one.lens, to_host(one.leading)) for one in self._seen(sights.sources, examples.rows).values()]
        rules, shares = rules_of(examples, said, seen)
        if not rules:
            return said
        labels = to_host(self._asked(sights.sources, rules, views, scored=False)[0])
        found = [np.unique(column, return_inverse=True) for column in labels.T]
        self.members_ += rules
        self._view_of_member += views
        self._group_names += [names for names, _ in found]
        return replace(
            said,
            groups=np.column_stack([said.groups, *(group.ravel() for _, group in found)]).astype(np.int32),
            sizes=[*said.sizes, *(names.size for names, _ in found)],
            shares=np.append(said.shares, shares) / (1 + sum(shares)),
        )

    def _publish_whole(self, whole: Whole) -> None:
        """Vote on all rows, of which a sample was fitted, in one pass: what is known of each is where the rows are."""
        if whole.together is not None:
            self._settled = _settled_votes(n_known(self), self.n_clusters, self._group_votes(whole))
        tables = [*self._votes, *([self._settled] if "_settled" in vars(self) else [])]
        most = max(map(len, tables))
        model, dtype = self._bare(), next(one for one in ("uint8", "int16", "int32") if most <= np.iinfo(one).max)
        lens = self._lenses[self._view_of_member[0]]
        n_rows = whole.n_samples if whole.weights is None else n_present(whole.weights)
        self._trust = model._trust = trust(n_rows, 1 if lens is None else lens.mean.size, self.n_clusters)
        kept = whole.has_room_for(len(tables), np.dtype(dtype))
        n_classes = n_known(self)

        def visit(x: Any, w: Any, known: Any, index: Any, _: Any) -> Swept:
            groups, votes, scores = model._told(model._at_hand(x))
            xp = namespace(votes)
            w, known, index = (_beside(votes, one) for one in (w, known, index))
            if known is not None or index is not None:
                column = _settled_column(known, index, n_classes)
                groups = namespace(groups).concat([groups, xp.astype(column, groups.dtype)[:, None]], axis=1)
                votes = model._said(groups)
            labels = most_voted(votes)
            own, sure = xp.max(votes, axis=1), confidence(votes, scores, model._trust, model._usual)
            sums = [blocks.cluster_sizes(labels, model.n_clusters, w), xp.sum(own if w is None else own * w)]
            given = blocks.kept(model._rejected(labels, votes, scores), known)
            sure = sure if known is None else xp.where(known >= 0, xp.ones_like(sure), sure)
            rows = [given, blocks.float32(sure), scores]
            return Swept(rows=[*rows, xp.astype(groups, getattr(xp, dtype))] if kept else rows, sums=sums)

        found = whole.sweep(visit, n_values(whole.rows))
        self.labels_, self._confidence, self.outlier_scores_, *groups = found.rows
        del self._pattern
        if kept:
            self._groups = groups[0]
        sizes, total = found.sums
        self.objective_ = float(total / sizes.sum())
        self._renumber(np.append(np.arange(n_classes), n_classes + np.argsort(-sizes[n_classes:], kind="stable")))
        self._bring_here()

    def _group_votes(self, whole: Whole) -> Float:
        """The mean votes for the rows of each group, in a pass of its own."""
        model, n_groups = self._bare(), 0 if whole.together is None else whole.together.n_groups

        def visit(x: Any, _: Any, __: Any, index: Any, shares: Any) -> Swept:
            votes = model._told(model._at_hand(x), scored=False)[1]
            index, shares = _beside(votes, index), _beside(votes, shares)
            return Swept(sums=[blocks.cluster_sums(votes, index, n_groups, shares, None)])

        return whole.sweep(visit, n_values(whole.rows)).sums[0]

    def _renumber(self, order: NDArray[np.intp]) -> None:
        """Clusters in another order."""
        if np.array_equal(order, np.arange(order.size)):
            return
        # A row that is rejected, at -1, stays so.
        self.labels_ = looked_up(np.append(-1, np.argsort(order)).astype(np.int32), self.labels_ + 1)
        self._votes = [table[:, order] for table in self._votes]
        self.cluster_centers_ = self.cluster_centers_[order]
        if "_settled" in vars(self):
            self._settled = self._settled[:, order]


def _settled_votes(n_known: int, n_clusters: int, votes_of_groups: Float | None) -> Float:
    """The votes that are settled: a row for none, then those of the known classes, then those of the groups."""
    known = np.eye(n_known, n_clusters)
    return np.vstack([np.zeros((1, n_clusters)), known, *([] if votes_of_groups is None else [votes_of_groups])])


def _settled_column(known: Any, index: Any, n_known: int) -> Array:
    """Which of the settled votes a row has: of its known class, or else of its group, or 0 for none."""
    if index is None:
        return known + 1
    if known is None:
        return 1 + n_known + index
    return namespace(known).where(known >= 0, known + 1, 1 + n_known + index)


def _beside(votes: Array, values: Array | None) -> Array | None:
    """Values of a block of rows where the votes for it are."""
    return values if values is None or is_device_array(votes) else to_host(values)
