"""The vote on all rows, of which a sample was learned from."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np

from jointclust import progress
from jointclust.consensus.agreement import Agreement, most_voted
from jointclust.consensus.overrides import override_numbers, overrides_of
from jointclust.consensus.remote import RemoteRows
from jointclust.consensus.training import TrainingVotes, VotesElsewhere, VotesNotKept
from jointclust.consensus.tree import Tree, leaves_of
from jointclust.numerics.partitions import looked_up
from jointclust.rows import Swept, blocks, outliving
from jointclust.rows.arrays import is_device_array, like, namespace, to_host
from jointclust.types import Array, Float


def vote_on_all(
    agreement: Agreement, remote: RemoteRows, reject_below: float, tree_of_sample: Callable[[Agreement], Tree]
) -> dict[str, Any]:
    """Label all rows in one pass, after one for their groups: fitted attributes, and the clusters' order by size.

    Where there is no room for the codes of the rows, their leaves of the tree are kept.
    """
    n_known, n_clusters, groups = agreement.n_known, agreement.n_clusters, remote.groups
    if groups is not None:
        votes = _means_of_groups(agreement, remote, lambda codes, _: agreement.soft_labels(codes))
        overrides, is_known = overrides_of(n_known, n_clusters, remote.known, groups.index, votes)
        agreement = replace(agreement, overrides=overrides, known_overrides=is_known)
    tables = [*agreement.votes, *([] if agreement.overrides is None else [agreement.overrides])]
    most = max(map(len, tables))
    dtype = next(name for name in ("uint8", "int16", "int32") if most <= np.iinfo(name).max)
    kept = remote.has_room_for(len(tables), np.dtype(dtype))
    tree = None if kept and groups is None else tree_of_sample(agreement)
    if tree is not None and groups is not None:
        tree = _with_leaves_of_groups(tree, agreement, remote)
    prepared = _preparing(agreement, remote)

    seen: list[int] = []

    def visit(x: Any, w: Any, known: Any, index: Any, _: Any) -> Swept:
        codes, scores = agreement.codes(prepared(x), scored=True)
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
        own = (
            xp.astype(codes, getattr(xp, dtype)) if kept or tree is None else leaves_of(agreement, tree, to_host(codes))
        )
        seen.append(codes.shape[0])
        progress.advance("rows", sum(seen), remote.n_samples)
        return Swept(rows=[*rows, own], sums=sums)

    swept = remote.sweep(visit)
    labels, confidence, scores, last = swept.rows
    sizes, total = swept.sums
    order = np.append(np.arange(n_known), n_known + np.argsort(-sizes[n_known:], kind="stable"))
    if not np.array_equal(order, np.arange(n_clusters)):
        numbers = np.argsort(order)
        # A rejected row, at -1, stays so.
        labels = looked_up(np.append(-1, numbers).astype(np.int32), labels + 1)
        agreement = agreement.renumbered(numbers, n_clusters)
        tree = None if tree is None else tree.renumbered(numbers)
    training: TrainingVotes = VotesElsewhere(last, confidence)
    if not kept:
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


def _with_leaves_of_groups(tree: Tree, agreement: Agreement, remote: RemoteRows) -> Tree:
    """The tree with a leaf for each group: the one that most of its rows are in."""

    def leaves(codes: Any, index: Any) -> Array:
        own = np.column_stack((to_host(codes), to_host(override_numbers(None, index, agreement.n_known))))
        return blocks.float64(like(np.eye(tree.n_leaves)[leaves_of(agreement, tree, own)], codes))

    of_groups = _means_of_groups(agreement, remote, leaves).argmax(axis=1)
    return replace(tree, leaf_of_override=np.append(np.full(1 + agreement.n_known, -1), of_groups).astype(np.int32))


def _means_of_groups(agreement: Agreement, remote: RemoteRows, function: Callable[[Any, Any], Array]) -> Float:
    """The means of a function of the rows' codes and groups over the rows of each group, in a pass of its own."""
    n_groups, prepared = 0 if remote.groups is None else remote.groups.n_groups, _preparing(agreement, remote)

    def visit(x: Any, _: Any, __: Any, index: Any, shares: Any) -> Swept:
        codes = agreement.codes(prepared(x))[0]
        index, shares = _beside(codes, index), _beside(codes, shares)
        return Swept(sums=[blocks.cluster_sums(function(codes, index), index, n_groups, shares, None)])

    return remote.sweep(visit).sums[0]


def _preparing(agreement: Agreement, remote: RemoteRows) -> Callable[[Any], list[Any]]:
    """The function from a block of rows to the block in each view."""
    return remote.preparing(lambda block: agreement.sources(agreement.reachable(block)))


def _beside(votes: Array, values: Array | None) -> Array | None:
    """Values of a block of rows where the votes for it are."""
    return values if values is None or is_device_array(votes) else to_host(values)
