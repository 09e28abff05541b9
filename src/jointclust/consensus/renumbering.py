"""A fitted consensus with the numbers of another model."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from jointclust.consensus.agreement import most_voted
from jointclust.consensus.fitting import FittedConsensus
from jointclust.consensus.kept_rows import KeptRows
from jointclust.consensus.matching import Before, Change
from jointclust.consensus.trust import renumbered as renumbered_trust
from jointclust.numerics.partitions import looked_up, placed
from jointclust.rows import computed
from jointclust.rows.arrays import to_host


def numbered_like(before: Before, fitted: FittedConsensus) -> tuple[FittedConsensus, list[Change]]:
    """The same clusters, those that an earlier model has by its numbers, and what has changed since.

    Rejected rows are counted in their clusters: which cluster is which does not depend on the limit of confidence.
    """
    labels = to_host(computed(fitted.labels_, "labels_"))
    if (labels < 0).any():
        votes = to_host(computed(fitted._training.soft_labels(fitted._agreement), "soft_labels_"))
        labels = np.where(labels < 0, most_voted(votes), labels)
    matching = before.match(labels, lambda rows: fitted._agreement.judge(rows)[:, 0].astype(np.int32))
    # Clusters without rows, if there are any, come last.
    n_clusters = fitted._agreement.n_clusters
    free = matching.n_numbers + np.arange(n_clusters - matching.numbers.size)
    numbers = np.append(matching.numbers, free).astype(np.intp)
    return renumbered(fitted, numbers, matching.n_numbers + free.size), matching.changes


def renumbered(fitted: FittedConsensus, numbers: NDArray[np.intp], n_clusters: int) -> FittedConsensus:
    """The same clusters by other numbers, some of which may stay free; rejected rows keep -1."""
    return replace(
        fitted,
        _agreement=fitted._agreement.renumbered(numbers, n_clusters),
        labels_=looked_up(np.append(-1, numbers).astype(np.int32), fitted.labels_ + 1),
        cluster_centers_=placed(fitted.cluster_centers_.T, numbers, n_clusters, 0.0).T,
        _judged=None if fitted._judged is None else fitted._judged.renumbered(numbers, n_clusters),
        _trust=renumbered_trust(fitted._trust, numbers, n_clusters),
        _tree=None if fitted._tree is None else fitted._tree.renumbered(numbers),
    )


def remembering(
    before: Before, fitted: FittedConsensus, changes: list[Change], kept: KeptRows | None
) -> KeptRows | None:
    """Kept rows with the numbers that their clusters had before they merged, if any did."""
    if kept is None:
        return None
    rows = kept.rows
    (labels, numbers), known = before.recall(rows), fitted._agreement.judge(rows)[:, 0].astype(np.int32)
    numbers = np.where(labels == known, numbers, known)
    for change in (one for one in changes if one["kind"] == "merged"):
        part = np.isin(labels, change["before"]) & (known == change["clusters"][0])
        numbers[part] = labels[part]
    numbers = np.where(np.isin(numbers, np.unique(known)), known, numbers)
    return kept if (numbers == known).all() else replace(kept, numbers=numbers)
