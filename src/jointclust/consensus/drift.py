"""Tests whether new rows are distributed as earlier ones."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.special import ndtr
from scipy.stats import chi2, hypergeom, kstwobign

from jointclust.types import Float


class Shift(NamedTuple):
    """How far two distributions are apart, 0 to 1, and the probability of so much by chance."""

    distance: float
    p_value: float


NONE = Shift(0.0, 1.0)


def shift_of_numbers(before: Float, now: Float, strata: tuple[NDArray, NDArray]) -> Shift:
    """The tests of Kolmogorov and of Wilcoxon inside strata; a stratum that grows or shrinks is no shift.

    Kolmogorov's is ``sup_t |T(t)| / sqrt(E)`` with ``T(t) = sum_h n_h (G_h(t) - t)``. Stratum h has n_h new and m_h old
    rows; ``G_h(t)`` is the share of its new rows that are among the lowest share t of all its rows. With
    ``E = sum_h n_h m_h / (n_h + m_h)``, T is a Brownian bridge; with one stratum this is the test of two samples. The
    distance is ``sup |T| / E``. Wilcoxon's test adds up the ranks of the new rows (van Elteren, 1960), which is best
    where all values shift. The probability is twice the smaller of the two.
    """
    values = np.concatenate([before, now])
    stratum = np.concatenate(strata)
    is_new = np.repeat([False, True], [before.size, now.size])
    present = ~np.isnan(values)
    values, stratum, is_new = values[present], stratum[present], is_new[present]
    order = np.lexsort((values, stratum))
    values, stratum, is_new = values[order], stratum[order], is_new[order]
    starts, sizes, new_sizes = _sizes(stratum, is_new)
    effective = float(np.sum(new_sizes * (sizes - new_sizes) / sizes))
    if effective <= 0:
        return NONE
    # A row has the rank of the last row that is equal to it, in its stratum.
    ends = np.flatnonzero(np.append((np.diff(values) != 0) | (np.diff(stratum) != 0), True))
    tie = np.searchsorted(ends, np.arange(values.size))
    last, first = ends[tie], np.append(0, ends[:-1] + 1)[tie]
    place = np.searchsorted(starts, np.arange(values.size), side="right") - 1
    rank = (last - starts[place] + 1) / sizes[place]
    steps = is_new - (new_sizes / sizes)[place]
    by_rank = np.argsort(rank, kind="stable")
    total, ranks = np.cumsum(steps[by_rank]), rank[by_rank]
    most = float(np.abs(total[np.append(np.diff(ranks) > 0, True)]).max())
    middle = rank - (last - first) / (2 * sizes[place])
    p_values = kstwobign.sf(most / np.sqrt(effective)), _p_of_ranks(middle, is_new, starts, sizes, new_sizes)
    return Shift(most / effective, min(1.0, 2.0 * float(min(p_values))))


def _p_of_ranks(rank: Float, is_new: NDArray[np.bool_], starts: NDArray[np.intp], sizes: Float, n_new: Float) -> float:
    """The probability of a sum of ranks so far from its mean, where new rows are drawn at random in each stratum."""
    means = np.add.reduceat(rank, starts) / sizes
    squares = np.maximum(np.add.reduceat(rank**2, starts) - sizes * means**2, 0.0)
    variance = float(np.sum(n_new * (sizes - n_new) / sizes * squares / np.maximum(sizes - 1, 1.0)))
    excess = float(rank[is_new].sum() - n_new @ means)
    return 2.0 * float(ndtr(-abs(excess) / np.sqrt(variance))) if variance > 0 else 1.0


def shift_of_levels(before: NDArray, now: NDArray, n_levels: int, strata: tuple[NDArray, NDArray]) -> Shift:
    """The test of Cochran, Mantel and Haenszel: ``T' V^+ T``, which follows a chi-squared law.

    ``T_l = sum_h (n_hl - n_h N_hl / N_h)`` for level l, n of the new rows and N of all in stratum h; V is its
    covariance where strata are given. The distance is half the sum of ``|T| / E``, with E as for numbers.
    """
    n_strata = int(max(part.max(initial=0) for part in strata)) + 1
    old, new = (
        np.bincount(stratum[codes >= 0] * n_levels + codes[codes >= 0], minlength=n_strata * n_levels).reshape(
            n_strata, n_levels
        )
        for codes, stratum in zip((before, now), strata, strict=True)
    )
    both = old + new
    n, total = new.sum(axis=1), both.sum(axis=1)
    held = (n > 0) & (n < total)
    if not held.any():
        return NONE
    n, both, new, total = (one[held].astype(np.float64) for one in (n, both, new, total))
    shares = both / total[:, None]
    excess = (new - n[:, None] * shares).sum(axis=0)
    factor = n * (total - n) / np.maximum(total - 1, 1.0)
    covariance = np.diag(factor @ shares) - (shares * factor[:, None]).T @ shares
    statistic = float(excess @ np.linalg.pinv(covariance, hermitian=True) @ excess)
    freedom = int(np.count_nonzero(both.sum(axis=0))) - 1
    effective = float(np.sum(n * (total - n) / total))
    if freedom < 1:
        return NONE
    return Shift(float(np.abs(excess).sum()) / (2 * effective), float(chi2.sf(statistic, freedom)))


def rise(before: NDArray[np.bool_], now: NDArray[np.bool_]) -> Shift:
    """By how much a share of the rows is larger, and Fisher's exact probability of so large a one by chance."""
    more = float(now.mean() - before.mean())
    total, marked = before.size + now.size, int(before.sum() + now.sum())
    return Shift(max(more, 0.0), float(hypergeom.sf(int(now.sum()) - 1, total, marked, now.size)))


def fall(before: Float, now: Float) -> Shift:
    """By how much a mean is smaller, and the probability of so much by chance, by Welch's normal approximation."""
    less = float(before.mean() - now.mean())
    spread = np.sqrt(before.var() / before.size + now.var() / now.size)
    return Shift(max(less, 0.0), float(ndtr(-less / spread)) if spread > 0 else float(less <= 0))


def corrected(p_values: Float) -> Float:
    """Holm's correction: the probability that any of so many tests shows as much by chance."""
    order = np.argsort(p_values)
    factors = np.arange(p_values.size, 0, -1)
    adjusted = np.empty_like(p_values)
    adjusted[order] = np.minimum(np.maximum.accumulate(p_values[order] * factors), 1.0)
    return adjusted


def _sizes(stratum: NDArray, is_new: NDArray[np.bool_]) -> tuple[NDArray[np.intp], Float, Float]:
    """Where each stratum starts in sorted rows, its size, and how many of its rows are new."""
    if stratum.size == 0:
        return np.zeros(1, np.intp), np.ones(1), np.zeros(1)
    starts = np.flatnonzero(np.append(True, np.diff(stratum) != 0))
    sizes = np.diff(np.append(starts, stratum.size)).astype(np.float64)
    return starts, sizes, np.add.reduceat(is_new.astype(np.float64), starts)
