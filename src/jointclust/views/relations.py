r"""Which columns of a table depend on each other: a permutation test in closed form.

.. math:: S_{AB} = \mathrm{tr}(K_A K_B), \qquad K_A = \sum_{j \in A} C_j C_j' / s_j

where C_j codes column j (normal scores of numbers with their squares, scaled levels of categories) and s_j makes all
columns count alike. Clusters are what makes columns depend on each other: a column that is independent of all others
tells nothing of clusters that more than one column shows.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.sparse.csgraph import connected_components
from scipy.special import gammaincc, ndtri
from scipy.stats import rankdata

from jointclust.types import Float

# Fewest rows of a test. Levels of a category that are told apart: the most frequent ones.
FEWEST_ROWS, _MOST_LEVELS = 20, 30
# Rows times the squared number of coded columns: what the products of all codes may cost.
_MOST_PRODUCTS = 1e10
# In standard deviations: dependence on the others together that counts (one in 330 by chance), a strong link.
_RELATED, _STRONG = 2.75, 5.0
# Chance of any wrong link between two columns.
_CHANCE = 0.01
# A column is a copy of another that explains at least this share of it.
_COPY = 0.9
# Spread of squares below which they are a function of the scores.
_TOLERANCE = 1e-3


class Coded(NamedTuple):
    """A column as centred numbers, zero in gaps; and where it has a value."""

    values: Float
    present: NDArray[np.bool_]


def coded_numbers(values: Float) -> Coded:
    """Normal scores and the part of their squares that is not linear in them, each of mean square 1."""
    present = ~np.isnan(values)
    ranks = rankdata(values[present])
    scores = ndtri((ranks - 0.5) / max(ranks.size, 1))
    columns = list[Float]()
    for column in (scores, scores**2):
        rest = column - column.mean() if column.size else column
        for other in columns:
            rest = rest - other * (other @ rest) / rest.size
        spread = float(np.sqrt(np.mean(rest**2))) if rest.size else 0.0
        if spread > _TOLERANCE:
            columns.append(rest / spread)
    return _spread_over(columns, present)


def coded_levels(codes: NDArray[np.intp]) -> Coded:
    """Levels of a category, centred and divided by the roots of their shares; rare ones are one level. -1 is a gap."""
    present = codes >= 0
    sizes = np.bincount(codes[present], minlength=1)
    # Ties are broken by the order of the levels, so that the order of the rows does not matter.
    by_size = np.argsort(-sizes, kind="stable")[: (sizes > 0).sum()]
    place = np.full(sizes.size, _MOST_LEVELS - 1)
    place[by_size[:_MOST_LEVELS]] = np.arange(min(by_size.size, _MOST_LEVELS))
    pooled = place[codes[present]]
    shares = np.bincount(pooled) / max(pooled.size, 1)
    if shares.size < 2:
        return _spread_over([], present)
    table = (np.eye(shares.size) - shares) / np.sqrt(shares)
    return _spread_over(list(table[pooled].T), present)


def _spread_over(columns: list[Float], present: NDArray[np.bool_]) -> Coded:
    """Columns with zeros in gaps, scaled so that the squared length does not depend on the number of gaps."""
    values = np.zeros((present.size, len(columns)))
    if columns:
        values[present] = np.column_stack(columns) * np.sqrt(present.size / present.sum())
    return Coded(values, present)


@dataclass(frozen=True, eq=False)
class Relations:
    """How columns depend on each other.

    Attributes
    ----------
    related : array of shape (n_columns,)
        Dependence on the other columns, in standard deviations of its value for a column of shuffled rows: on those
        together that clearly depend on each other, or on a single one if that is strong; NaN without values.
    pairs : array of shape (n_columns, n_columns)
        The same for each pair of columns.
    nearest : array of int
        The column on which each depends most.
    groups : list of lists of int
        Columns that depend on each other and on no others, the main group first; none has fewer than two columns.
    """

    related: Float
    pairs: Float
    nearest: NDArray[np.intp]
    groups: list[list[int]]

    def group_of(self, column: int) -> int | None:
        """The number of the group that has a column."""
        return next((number for number, group in enumerate(self.groups) if column in group), None)


def relations_of(columns: Sequence[Coded]) -> Relations:
    """Relations of coded columns of the same rows."""
    sums = _Sums.of(columns)
    pairs = sums.pairs()
    tested = sums.traces > 0
    everything = np.flatnonzero(tested)
    strongest = pairs.max(axis=1, initial=-np.inf)
    first = sums.of_each(everything)
    core = np.flatnonzero((first > _STRONG) | (strongest > _STRONG + 1))
    together = sums.of_each(core) if core.size > 1 else first
    is_related = tested & ((together > _RELATED) | (strongest > _STRONG))
    # A strong link counts by itself; a weaker one may be the largest of many by chance.
    related = np.where(strongest > _STRONG, np.maximum(together, strongest), together)
    return Relations(
        np.where(tested, related, np.nan), pairs, pairs.argmax(axis=1), sums.groups(np.flatnonzero(is_related), pairs)
    )


@dataclass(frozen=True, eq=False)
class _Sums:
    """What the test needs to know of each column and pair, columns counting alike.

    Attributes
    ----------
    n_rows : int
        Number of rows.
    traces : array of shape (n_columns,)
        ``tr K_j``.
    products : array of shape (n_columns, n_columns)
        ``tr K_i K_j``.
    diagonals : array of shape (n_columns, n_columns)
        Sums over the rows of the products of the diagonals of K_i and K_j.
    copies : array of shape (n_columns, n_columns)
        Share of column j that column i explains.
    """

    n_rows: int
    traces: Float
    products: Float
    diagonals: Float
    copies: Float

    @classmethod
    def of(cls, columns: Sequence[Coded]) -> _Sums:
        """Sums over the rows, or over evenly spaced rows if there are many columns."""
        widths = np.array([column.values.shape[1] for column in columns])
        most = int(max(FEWEST_ROWS, _MOST_PRODUCTS / max(widths.sum(), 1) ** 2))
        step = -(-len(columns[0].present) // most)
        columns = [Coded(values[::step], present[::step]) for values, present in columns]
        n_rows = len(columns[0].present)
        present = np.column_stack([column.present for column in columns]).astype(np.float64)
        both = present.T @ present
        number = np.diag(both)
        # Two columns with gaps in the same rows are no more alike for that.
        overlap = np.outer(number, number) / (n_rows * np.maximum(both, 1.0))
        products = _block_sums(np.hstack([column.values for column in columns]), widths) * overlap
        lengths = np.column_stack([np.einsum("ij,ij->i", values, values) for values, _ in columns])
        traces, own = lengths.sum(axis=0), np.diag(products)
        varies = own - traces**2 / max(n_rows - 1, 1)
        scale = np.where(varies > 1e-9 * np.maximum(own, 1e-300), 1.0 / np.sqrt(np.maximum(varies, 1e-300)), 0.0)
        copies = products / np.maximum(own, 1e-300)
        return cls(
            n_rows,
            traces * scale,
            products * np.outer(scale, scale),
            lengths.T @ lengths * np.outer(scale, scale),
            copies,
        )

    def pairs(self) -> Float:
        """The test of each pair of columns."""
        moments = _Moments(self.traces, np.diag(self.products), np.diag(self.diagonals))
        pairs = _deviations(self.products, moments.column(), moments, self.n_rows)
        np.fill_diagonal(pairs, -np.inf)
        return pairs

    def of_each(self, others: NDArray[np.intp]) -> Float:
        """The test of each column against the others of a set."""
        is_other = np.zeros(self.traces.size)
        is_other[others] = 1.0
        own = is_other * np.diag(self.products)
        products, diagonals = self.products @ is_other, self.diagonals @ is_other
        # Moments of the set without the column itself.
        rest = _Moments(
            self.traces @ is_other - is_other * self.traces,
            is_other @ products - is_other * (2 * products - np.diag(self.products)),
            is_other @ diagonals - is_other * (2 * diagonals - np.diag(self.diagonals)),
        )
        one = _Moments(self.traces, np.diag(self.products), np.diag(self.diagonals))
        return _deviations(products - own, one, rest, self.n_rows)

    def between(self, left: list[int], right: list[int]) -> float:
        """The test of two sets of columns."""
        total = self.products[np.ix_(left, right)].sum()
        return float(_deviations(total, self._moments(left), self._moments(right), self.n_rows))

    def _moments(self, columns: list[int]) -> _Moments:
        block = np.ix_(columns, columns)
        parts = self.traces[columns].sum(), self.products[block].sum(), self.diagonals[block].sum()
        return _Moments(*(np.asarray(part) for part in parts))

    def groups(self, columns: NDArray[np.intp], pairs: Float) -> list[list[int]]:
        """Related columns that strong links, or many weak ones, join; the main group first.

        The main group has the most columns that are no copies of each other.
        """
        if columns.size == 0:
            return []
        limit = -ndtri(_CHANCE / max(1, columns.size * (columns.size - 1) / 2))
        number, which = connected_components(pairs[np.ix_(columns, columns)] > limit, directed=False)
        groups = [columns[which == group].tolist() for group in range(number)]
        while (link := self._link(groups)) is not None:
            i, j = link
            groups[j] = sorted(groups[j] + groups.pop(i))
        size = {tuple(group): (self._n_distinct(group), len(group), -group[0]) for group in groups}
        return sorted((group for group in groups if len(group) > 1), key=lambda group: size[tuple(group)], reverse=True)

    def _link(self, groups: list[list[int]]) -> tuple[int, int] | None:
        """Two groups to join, the later first, as one depends on the other or on all others; None if there are none."""
        if len(groups) < 2:
            return None
        links = {(i, j): self.between(groups[i], groups[j]) for i in range(len(groups)) for j in range(i)}
        best = max(links, key=lambda link: links[link])
        if links[best] > _RELATED:
            return best
        for i, group in enumerate(groups):
            rest = [column for other in groups if other is not group for column in other]
            if len(groups) > 2 and self.between(group, rest) > _RELATED:
                return max((link for link in links if i in link), key=lambda link: links[link])
        return None

    def _n_distinct(self, group: list[int]) -> int:
        """The number of columns of a group that are no copy of one before them."""
        distinct = list[int]()
        for column in sorted(group, key=lambda column: (-self.copies[group, column].sum(), column)):
            if all(self.copies[other, column] < _COPY and self.copies[column, other] < _COPY for other in distinct):
                distinct.append(column)
        return len(distinct)


class _Moments(NamedTuple):
    """Of one matrix or many: the trace, the trace of the square, the sum of the squared diagonal."""

    trace: Float
    square: Float
    diagonal: Float

    def column(self) -> _Moments:
        """The same as a column, to be paired with all others."""
        return _Moments(*(part[:, None] for part in self))


def _deviations(total: Float, left: _Moments, right: _Moments, n: int) -> Float:
    """Standard normal deviates of ``tr(K P L P')`` over all permutations P (mean, variance: Kazi-Aoual et al. 1995)."""

    def parts(one: _Moments) -> tuple[Float, Float]:
        squared = one.trace**2
        return (n - 1) * one.square - squared, n * (n + 1) * one.diagonal - (n - 1) * (squared + 2 * one.square)

    (a, b), (c, d) = parts(left), parts(right)
    mean = left.trace * right.trace / (n - 1)
    variance = 2 * a * c / ((n - 1.0) ** 2 * (n + 1) * (n - 2)) + b * d / ((n + 1.0) * n * (n - 1) * (n - 2) * (n - 3))
    usable = (mean > 0) & (variance > 1e-12 * mean**2)
    mean, variance = np.where(usable, mean, 1.0), np.where(usable, variance, 1.0)
    # Sums of squares are skewed: a gamma distribution of this mean and variance, far out in plain deviations.
    chance = gammaincc(mean**2 / variance, np.maximum(total, 0.0) * mean / variance)
    plain = (total - mean) / np.sqrt(variance)
    return np.where(usable, np.where(chance > 1e-290, -ndtri(np.maximum(chance, 1e-290)), plain), -np.inf)


def _block_sums(values: Float, widths: NDArray[np.intp]) -> Float:
    """Sums of the squared products of the columns of each block with those of each other."""
    squared = (values.T @ values) ** 2
    block = np.repeat(np.eye(len(widths)), widths, axis=0)
    return block.T @ squared @ block
