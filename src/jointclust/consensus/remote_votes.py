"""The vote on all rows outside memory."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np

from jointclust.consensus.agreement import Agreement, most_voted
from jointclust.consensus.overrides import override_numbers, override_votes
from jointclust.consensus.projection import n_values
from jointclust.consensus.remote import RemoteRows
from jointclust.consensus.training import TrainingVotes, VotesElsewhere, VotesNotKept
from jointclust.consensus.tree import Tree, leaves_of
from jointclust.numerics.partitions import looked_up
from jointclust.rows import Swept, blocks, outliving
from jointclust.rows.arrays import is_device_array, namespace, to_host
from jointclust.types import Array, Float


def vote_on_all(
    agreement: Agreement, remote: RemoteRows, reject_below: float, tree_of_sample: Callable[[Agreement], Tree]
) -> dict[str, Any]:
    """Label all rows in one pass, after one for their groups: fitted attributes, and the clusters' order by size.

    Where there is no room for the codes of the rows, their leaves of the tree are kept.
    """
    n_known, n_clusters = agreement.n_known, agreement.n_clusters
    if remote.groups is not None:
        votes = _votes_of_groups(agreement, remote)
        agreement = replace(agreement, overrides=override_votes(n_known, n_clusters, votes))
    tables = [*agreement.votes, *([] if agreement.overrides is None else [agreement.overrides])]
    most = max(map(len, tables))
    dtype = next(name for name in ("uint8", "int16", "int32") if most <= np.iinfo(name).max)
    kept = remote.has_room_for(len(tables), np.dtype(dtype))
    tree = None if kept else tree_of_sample(agreement)

    def visit(x: Any, w: Any, known: Any, index: Any, _: Any) -> Swept:
        codes, scores = agreement.codes(agreement.sources(agreement.reachable(x)), scored=True)
        xp = namespace(codes)
        w, known, index = (_beside(codes, values) for values in (w, known, index))
        if known is not None or index is not None:
            numbers = override_numbers(known, index, n_known)
            codes = xp.concat([codes, xp.astype(numbers, codes.dtype)[:, None]], axis=1)
        votes = agreement.soft_labels(codes)
        labels, own = most_voted(votes), xp.max(votes, axis=1)
        confidence = agreement.scale.confidence(votes, scores)
        if known is not None:
            confidence = xp.where(known >= 0, xp.ones_like(confidence), confidence)
        sums = [blocks.cluster_sizes(labels, n_clusters, w), xp.sum(own if w is None else own * w)]
        published = blocks.kept(agreement.labels(votes, scores, reject_below), known)
        rows = [published, blocks.float32(confidence), scores]
        own = xp.astype(codes, getattr(xp, dtype)) if tree is None else leaves_of(agreement, tree, to_host(codes))
        return Swept(rows=[*rows, own], sums=sums)

    swept = remote.sweep(visit, n_values(remote.rows))
    labels, confidence, scores, last = swept.rows
    sizes, total = swept.sums
    order = np.append(np.arange(n_known), n_known + np.argsort(-sizes[n_known:], kind="stable"))
    if not np.array_equal(order, np.arange(n_clusters)):
        # A rejected row, at -1, stays so.
        labels = looked_up(np.append(-1, np.argsort(order)).astype(np.int32), labels + 1)
        agreement, tree = agreement.reordered(order), None if tree is None else tree.reordered(order)
    training: TrainingVotes = VotesElsewhere(last, confidence)
    if tree is not None:
        training = VotesNotKept(remote.n_samples, confidence, last)
    return {
        "_tree": tree,
        "_agreement": agreement,
        "_training": training.with_arrays(outliving),
        "labels_": outliving(labels),
        "outlier_scores_": outliving(scores),
        "objective_": float(total / sizes.sum()),
        "order": order,
    }


def _votes_of_groups(agreement: Agreement, remote: RemoteRows) -> Float:
    """The mean votes for the rows of each group, in a pass of its own."""
    n_groups = 0 if remote.groups is None else remote.groups.n_groups

    def visit(x: Any, _: Any, __: Any, index: Any, shares: Any) -> Swept:
        votes = agreement.soft_labels(agreement.codes(agreement.sources(agreement.reachable(x)))[0])
        index, shares = _beside(votes, index), _beside(votes, shares)
        return Swept(sums=[blocks.cluster_sums(votes, index, n_groups, shares, None)])

    return remote.sweep(visit, n_values(remote.rows)).sums[0]


def _beside(votes: Array, values: Array | None) -> Array | None:
    """Values of a block of rows where the votes for it are."""
    return values if values is None or is_device_array(votes) else to_host(values)
