"""The most informative rows to label."""

from __future__ import annotations

from numbers import Integral

import numpy as np
from numpy.typing import NDArray

from jointclust.consensus.agreement import Agreement
from jointclust.consensus.partitions import Partitions
from jointclust.consensus.training import TrainingVotes, VotesInMemory
from jointclust.types import Float

# Rows among which some are chosen.
_MOST_ROWS = 3_000
# Weight of a row on which all members agree; doubts add to it.
_LEAST_DOUBT = 0.1


def rows_to_label(
    agreement: Agreement, training: TrainingVotes, n_samples: int, n: int, rng: np.random.RandomState
) -> NDArray[np.intp]:
    """Rows that are spread over the data, where the members disagree; best first."""
    if isinstance(n, bool) or not isinstance(n, Integral) or n < 1:
        raise ValueError(f"n={n!r} must be a whole number of rows, 1 or more.")
    rows = _candidates(agreement, training, n_samples, max(_MOST_ROWS, 2 * int(n)), rng)
    codes, sizes = training.codes_at(rows), agreement.sizes
    known = agreement.has_known_class(codes)
    if n > np.sum(~known):
        raise ValueError(f"n={n} exceeds the number of rows whose label is not known ({np.sum(~known)}): lower it.")
    doubts = 1.0 - agreement.soft_labels(codes).max(axis=1)
    partitions = Partitions(codes[:, : len(sizes)], sizes, None, agreement.shares)
    return rows[_most_informative(partitions, np.where(known, 0.0, _LEAST_DOUBT + doubts), known, int(n))]


def _candidates(
    agreement: Agreement, training: TrainingVotes, n_samples: int, most: int, rng: np.random.RandomState
) -> NDArray[np.intp]:
    """All rows. A sample if there are many; in memory it includes rows with known labels."""
    if n_samples <= most:
        return np.arange(n_samples)
    chosen = rng.choice(n_samples, most, replace=False)
    if isinstance(training, VotesInMemory):
        known = np.flatnonzero(agreement.has_known_class(training.patterns.codes)[training.index])
        chosen = np.append(chosen, known[:most])
    return np.unique(chosen)


def _most_informative(partitions: Partitions, weights: Float, known: NDArray[np.bool_], n: int) -> list[int]:
    """Rows chosen one after the other, each for what it adds to the coverage.

    The gain of row i is ``sum_j w_j max(0, s_ij - c_j)`` with the share s of members that put i and j together, and c
    the largest share of j with a row that was chosen before or whose label is known.
    """
    stacked = partitions.stacked(np.repeat(np.sqrt(partitions.shares), partitions.sizes))
    alike = (stacked @ stacked.T).toarray()
    covered, free = alike[known].max(axis=0, initial=0.0), ~known
    chosen: list[int] = []
    for _ in range(n):
        gains = np.where(free, np.maximum(alike - covered, 0.0) @ weights, -1.0)
        chosen.append(int(np.argmax(gains)))
        free[chosen[-1]] = False
        covered = np.maximum(covered, alike[chosen[-1]])
    return chosen
