"""The clusters of a fit compared with those that refits find on other rows."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from jointclust.numerics.partitions import adjusted_rand, renumbered
from jointclust.types import Float, Labels

# A function of rows to fit and rows to label, by their numbers: the labels of the latter.
Refit = Callable[[NDArray[np.intp], NDArray[np.intp]], Labels]


@dataclass(frozen=True, eq=False)
class Repeats:
    """The clusters that refits on halves of the rows give to the other rows.

    Attributes
    ----------
    labels : array of shape (n_rows,)
        Clusters of the fit.
    refits : array of shape (n_repeats, n_rows)
        Clusters of the refits, each by the number of the cluster that it stands for; -1 for rows that a refit saw.
    n_clusters : int
        The number of clusters.
    """

    labels: Labels
    refits: NDArray[np.int32]
    n_clusters: int

    @classmethod
    def of(cls, labels: Labels, n_clusters: int, refit: Refit, n_repeats: int, rng: np.random.RandomState) -> Repeats:
        """Fit again on halves of the rows; an optimal assignment says which cluster is which."""
        labels, refits = labels.astype(np.int32), np.full((n_repeats, labels.size), -1, np.int32)
        for own, seen in zip(refits, halves(labels.size, n_repeats, rng), strict=True):
            rest = np.flatnonzero(~seen)
            again = refit(np.flatnonzero(seen), rest)
            most = max(n_clusters, int(again.max()) + 1)
            own[rest] = renumbered(again, labels[rest], most)
        return cls(labels, refits, n_clusters)

    @property
    def unseen(self) -> NDArray[np.bool_]:
        """Whether a refit did not see a row."""
        return self.refits >= 0

    @property
    def same(self) -> NDArray[np.bool_]:
        """Whether a refit puts a row that it did not see into its cluster."""
        return self.refits == self.labels

    def reproducibility(self) -> float:
        """The mean adjusted Rand index of the fit and a refit on the rows that it did not see; 0 where it is less."""
        pairs = zip(self.refits, self.unseen, strict=True)
        return max(0.0, float(np.mean([adjusted_rand(self.labels[rest], own[rest]) for own, rest in pairs])))

    def shares(self) -> Float:
        """For each refit and cluster, the share of the unseen rows that are put into it again; NaN if there is none."""
        index = self.labels + self.n_clusters * np.arange(len(self.refits))[:, None]
        size = self.n_clusters * len(self.refits)
        sums = [np.bincount(index[self.unseen & which], minlength=size) for which in (self.same, self.unseen)]
        same, unseen = (one.reshape(-1, self.n_clusters) for one in sums)
        return np.where(unseen > 0, same / np.maximum(unseen, 1), np.nan)

    def of_clusters(self) -> Float:
        """The mean, over the refits, of the rows that a cluster and its match share over those that either has.

        This is the Jaccard index, on the rows that the refit did not see; a cluster without rows has 0.
        """
        owns = [(self.labels[rest], own[rest]) for own, rest in zip(self.refits, self.unseen, strict=True)]
        return np.mean([_jaccard(*one, self.n_clusters) for one in owns], axis=0)


def _jaccard(labels: Labels, again: Labels, n_clusters: int) -> Float:
    """The index of each cluster with that of its number in another partition."""
    both, one, other = (
        np.bincount(part, minlength=n_clusters)[:n_clusters] for part in (labels[labels == again], labels, again)
    )
    return both / np.maximum(one + other - both, 1)


def halves(n_rows: int, n_repeats: int, rng: np.random.RandomState) -> Iterator[NDArray[np.bool_]]:
    """Halves of the rows that are as different as can be: of two, the second has the rows that the first has not."""
    place = rng.permutation(n_rows)
    for repeat in range(n_repeats):
        yield (place - repeat * n_rows // n_repeats) % n_rows < n_rows // 2
