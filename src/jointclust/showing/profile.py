"""What sets each cluster apart, and its typical and untypical rows."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from jointclust.numerics.partitions import centers_of
from jointclust.rows.arrays import is_sparse
from jointclust.rows.blocks import stretches
from jointclust.types import Float, Labels, Sparse

_BLOCK = 8192
_PROTOTYPES = 4
# Values that are computed with at a time.
_CELLS = 2**20
# Effect of a feature that does not vary inside the clusters at all.
_LARGEST = 99.0


@dataclass(frozen=True, eq=False)
class Profile:
    """One row per cluster: its size, means of the features inside and outside, and the rows at its center and far off.

    Effects are Cohen's d: the difference of the means over the pooled standard deviation, at most 99.
    """

    sizes: NDArray[np.intp]
    means: Float
    rest: Float
    effects: Float
    nearest: list[NDArray[np.intp]]
    farthest: list[NDArray[np.intp]]


class Sums(NamedTuple):
    """Numbers of values, sums and sums of squares of each feature by group, of values less a shift."""

    counts: Float
    sums: Float
    squares: Float

    def total(self) -> Sums:
        """Those of all rows."""
        return Sums(*(one.sum(axis=0) for one in self))

    def of_groups(self, member: NDArray[np.bool_]) -> Sums:
        """The sums of groups of groups; ``member`` says which group is in which."""
        return Sums(*(member.astype(np.float64) @ one for one in self))


class Contrast(NamedTuple):
    """Means of each group and of all rows outside of it, and the effects."""

    means: Float
    rest: Float
    effects: Float


def profile(X: NDArray | Sparse, Y: NDArray[Any], labels: Labels, member: NDArray[np.bool_] | None = None) -> Profile:
    """Sums by label, from one pass over the rows; of groups of labels, where groups are given."""
    sizes = np.bincount(labels, minlength=0 if member is None else member.shape[1])
    sums, shift = sums_by_group(X, labels, sizes.size)
    if member is None:
        prototypes = [_ends(rows) for rows in by_distance(Y, labels)]
    else:
        prototypes, sizes = [prototypes_in(Y, own[labels]) for own in member], member @ sizes
    nearest, farthest = (list(ends) for ends in zip(*prototypes, strict=True)) if prototypes else ([], [])
    return Profile(sizes, *contrast(sums, shift, member), nearest, farthest)


def contrast(sums: Sums, shift: Float, member: NDArray[np.bool_] | None = None) -> Contrast:
    """What sets groups of rows, or groups of these, apart from all other rows; few columns at a time."""
    n_groups = len(sums.counts if member is None else member)
    found = Contrast(*(np.empty((n_groups, shift.size)) for _ in Contrast._fields))
    for some in stretches(shift.size, max(1, _CELLS // max(1, n_groups))):
        part = Sums(*(one[:, some] for one in sums))
        own = _contrast(part if member is None else part.of_groups(member), part.total(), shift[some])
        for whole, columns in zip(found, own, strict=True):
            whole[:, some] = columns
    return found


def _contrast(sums: Sums, total: Sums, shift: Float) -> Contrast:
    counts = sums.counts
    means, variances = _moments(sums)
    others = total.counts - counts
    rest, rest_variances = _moments(Sums(others, total.sums - sums.sums, total.squares - sums.squares))
    degrees = np.maximum(counts + others - 2, 1)
    pooled = np.sqrt((np.maximum(counts - 1, 0) * variances + np.maximum(others - 1, 0) * rest_variances) / degrees)
    # Differences as small as rounding are zero; those of features without spread are as large as can be shown.
    difference = means - rest
    difference[np.abs(difference) <= 1e-9 * (np.abs(means) + np.abs(rest)) + 1e-12 * np.abs(shift)] = 0.0
    with np.errstate(divide="ignore", invalid="ignore"):
        effects = np.clip(np.where(difference == 0, 0.0, difference / pooled), -_LARGEST, _LARGEST)
    effects[(counts == 0) | (others == 0)] = 0.0
    # Means that are zero up to rounding are zero.
    least = 1e-12 * (np.abs(shift) + pooled)
    means, rest = (np.where(np.abs(one + shift) <= least, 0.0, one + shift) for one in (means, rest))
    return Contrast(means, rest, effects)


def sums_by_group(X: NDArray | Sparse, labels: Labels, n_groups: int) -> tuple[Sums, Float]:
    """The sums of each group, empty cells counting nowhere, and the shift.

    That is a value near the mean of each feature, without which squares of large values lose their spread.
    """
    shift = np.zeros(X.shape[1])
    if not sp.issparse(X):
        first = np.asarray(X[:_BLOCK], dtype=np.float64)
        shift = np.nansum(first, axis=0) / np.maximum(np.count_nonzero(~np.isnan(first), axis=0), 1)
    counts = np.zeros((n_groups, X.shape[1]))
    sums, squares = counts.copy(), counts.copy()
    for rows in stretches(X.shape[0], _BLOCK):
        own = labels[rows]
        member = sp.csr_array((np.ones(own.size), (own, np.arange(own.size))), shape=(n_groups, own.size))
        if is_sparse(X):
            block: Any = X[rows].astype(np.float64)
            counts += np.asarray(member.sum(axis=1)).reshape(-1, 1)
            sums += (member @ block).toarray()
            squares += (member @ block.multiply(block)).toarray()
            continue
        for some in stretches(X.shape[1], max(1, _CELLS // max(1, own.size))):
            block = X[rows, some].astype(np.float64)
            known = ~np.isnan(block)
            block = np.where(known, block - shift[some], 0.0)
            counts[:, some] += member @ known.astype(np.float64)
            sums[:, some] += member @ block
            squares[:, some] += member @ block**2
    return Sums(counts, sums, squares), shift


def _moments(sums: Sums) -> tuple[Float, Float]:
    size = np.maximum(sums.counts, 1)
    means = sums.sums / size
    return means, np.maximum(sums.squares - size * means**2, 0.0) / np.maximum(sums.counts - 1, 1)


def prototypes_in(Y: NDArray[Any], inside: NDArray[np.bool_]) -> tuple[NDArray[np.intp], NDArray[np.intp]]:
    """The rows of a group that are nearest to its center, and the farthest ones."""
    rows = np.flatnonzero(inside)
    return _ends(rows[by_distance(Y[rows], np.zeros(rows.size, np.int32))[0]] if rows.size else rows)


def _ends(rows: NDArray[np.intp]) -> tuple[NDArray[np.intp], NDArray[np.intp]]:
    return rows[:_PROTOTYPES], rows[_PROTOTYPES:][::-1][:_PROTOTYPES]


def by_distance(Y: NDArray[Any], labels: Labels) -> list[NDArray[np.intp]]:
    """The rows of each cluster, those nearest to its center first."""
    sizes = np.bincount(labels)
    distances = np.linalg.norm(Y - centers_of(Y, labels, sizes.size, None)[labels], axis=1)
    return np.split(np.lexsort((distances, labels)), np.cumsum(sizes)[:-1])
