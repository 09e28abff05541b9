"""Methods compared over data sets by their ranks (Demsar 2006, "Statistical comparisons of classifiers")."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NamedTuple, Self

import numpy as np
from numpy.typing import ArrayLike
from scipy import stats

from jointclust.showing.plots._curves import Display
from jointclust.showing.style import PALETTE
from jointclust.types import Float

if TYPE_CHECKING:
    from matplotlib.axes import Axes


class MeanRanks(NamedTuple):
    """The mean rank of each method, in the order of the columns, and how many data sets it is a mean over."""

    ranks: Float
    n_datasets: int


class Friedman(NamedTuple):
    """Friedman's chi-square and Iman and Davenport's F, each with its p-value."""

    chi_square: float
    p_value: float
    f: float
    f_p_value: float


@dataclass(frozen=True)
class Ranking:
    """Methods by mean rank, best first, and which of them cannot be told apart.

    Attributes
    ----------
    methods : tuple of str
        Names, best first.
    mean_ranks : tuple of float
        Their mean ranks; 1 is a method that is best on every data set.
    n_datasets : int
        Data sets on which every method has a score; the others are left out.
    statistic : float
        Friedman's chi-square, corrected for ties.
    p_value : float
        Its p-value; where it is large, differences between single methods mean nothing.
    critical_difference : float
        Nemenyi's, in ranks.
    groups : tuple of tuples of str
        Maximal sets of neighbouring methods whose ranks differ by less.
    """

    methods: tuple[str, ...]
    mean_ranks: tuple[float, ...]
    n_datasets: int
    statistic: float
    p_value: float
    critical_difference: float
    groups: tuple[tuple[str, ...], ...]


def mean_ranks(scores: ArrayLike) -> MeanRanks:
    """Mean rank of every method over the data sets: 1 for the best score, the mean of their ranks for equal ones.

    Examples
    --------
    >>> mean_ranks([[0.9, 0.8, 0.7], [0.6, 0.6, 0.5], [0.9, 0.8, float("nan")]])
    MeanRanks(ranks=array([1.25, 1.75, 3.  ]), n_datasets=2)
    """
    ranks = _ranks(scores)
    return MeanRanks(ranks.mean(axis=0), len(ranks))


def friedman(scores: ArrayLike) -> Friedman:
    r"""Friedman's test that all methods rank alike, and Iman and Davenport's less conservative form of it.

    With :math:`r_{ij}` the rank of method j on data set i, :math:`R_j` its mean, and midranks for ties,

    .. math:: \chi^2 = (k - 1) \frac{n^2 \sum_j (R_j - \frac{k+1}{2})^2}{\sum_{ij} (r_{ij} - \frac{k+1}{2})^2}, \qquad
              F = \frac{(n - 1) \chi^2}{n (k - 1) - \chi^2},

    on k - 1 degrees of freedom, and on k - 1 and (k - 1)(n - 1).

    Parameters
    ----------
    scores : DataFrame or array-like of shape (n_datasets, n_methods)
        Greater is better. A data set with a missing score (NaN) is left out.

    Returns
    -------
    chi_square, p_value : float
        Friedman's; as ``scipy.stats.friedmanchisquare``, which wants three methods.
    f, f_p_value : float
        Iman and Davenport's; infinite where all data sets agree.

    Examples
    --------
    >>> test = friedman([[3, 2, 1], [3, 2, 1], [3, 1, 2], [2, 3, 1]])
    >>> round(test.chi_square, 2), round(test.f, 2)
    (4.5, 3.86)
    """
    ranks = _ranks(scores)
    n, k = ranks.shape
    ranks -= (k + 1) / 2
    spread = float((ranks**2).sum())
    if spread == 0:  # every method the same everywhere
        return Friedman(0.0, 1.0, 0.0, 1.0)
    chi_square = min((k - 1) * float((ranks.sum(axis=0) ** 2).sum()) / spread, n * (k - 1))
    left = n * (k - 1) - chi_square
    f = (n - 1) * chi_square / left if left > 1e-12 * n * k else np.inf
    p_values = stats.chi2.sf(chi_square, k - 1), stats.f.sf(f, k - 1, (k - 1) * (n - 1))
    return Friedman(chi_square, float(p_values[0]), f, float(p_values[1]))


def critical_difference(n_methods: int, n_datasets: int, alpha: float = 0.05) -> float:
    r"""Nemenyi's critical difference: mean ranks that differ by less cannot be told apart.

    .. math:: \mathrm{CD} = q_\alpha \sqrt{\frac{k (k + 1)}{6 n}}

    for k methods on n data sets, where :math:`q_\alpha` is the quantile of the studentized range divided by
    :math:`\sqrt 2`.

    Parameters
    ----------
    n_methods, n_datasets : int
        At least 2 each.
    alpha : float, default=0.05
        Probability that any two of several equal methods differ by more.

    Returns
    -------
    cd : float
        In ranks.

    Examples
    --------
    >>> round(critical_difference(4, 14), 2)
    1.25
    """
    if n_methods < 2 or n_datasets < 2:
        raise ValueError(
            f"A critical difference needs 2 methods and data sets; got n_methods={n_methods}, n_datasets={n_datasets}."
        )
    if not 0 < alpha < 1:
        raise ValueError(f"alpha is a probability between 0 and 1; got {alpha}.")
    q = stats.studentized_range.ppf(1 - alpha, n_methods, np.inf) / np.sqrt(2)
    return float(q * np.sqrt(n_methods * (n_methods + 1) / (6 * n_datasets)))


def groups(ranks: ArrayLike, cd: float) -> list[tuple[int, ...]]:
    """Maximal sets, of two or more, of neighbouring methods whose ranks differ by less than ``cd``, best first.

    Examples
    --------
    >>> groups([3.5, 1.0, 2.0, 2.5], cd=1.2)
    [(1, 2), (2, 3), (3, 0)]
    """
    values = np.asarray(ranks, dtype=float)
    order = np.argsort(values, kind="stable")
    ends = np.searchsorted(values[order], values[order] + cd)
    joined, reached = [], 0
    for start, end in enumerate(ends):
        if end > max(reached, start + 1):
            joined.append(tuple(int(index) for index in order[start:end]))
            reached = end
    return joined


def rank(scores: ArrayLike, alpha: float = 0.05) -> Ranking:
    """Rank methods over data sets.

    Parameters
    ----------
    scores : DataFrame or array-like of shape (n_datasets, n_methods)
        Greater is better. A data set with a missing score (NaN) is left out. The methods are called as the columns are.
    alpha : float, default=0.05
        Level of the critical difference.

    Returns
    -------
    ranking : Ranking
        Best first.

    Examples
    --------
    >>> import pandas as pd
    >>> scores = pd.DataFrame({"k-means": [0.5, 0.6, 0.7, 0.4], "DEC": [0.8, 0.7, 0.9, 0.6]})
    >>> ranking = rank(scores)
    >>> ranking.methods, ranking.mean_ranks
    (('DEC', 'k-means'), (1.0, 2.0))
    """
    ranks, n_datasets = mean_ranks(scores)
    statistic, p_value, *_ = friedman(scores)
    names = _names(scores, ranks.size)
    if len(set(names)) < len(names):
        raise ValueError(f"Every method needs a name of its own; got {names}.")
    order = np.argsort(ranks, kind="stable")
    methods, means = tuple(names[index] for index in order), tuple(ranks[order].tolist())
    cd = critical_difference(ranks.size, n_datasets, alpha)
    alike = tuple(tuple(names[index] for index in group) for group in groups(ranks, cd))
    return Ranking(methods, means, n_datasets, statistic, p_value, cd, alike)


def _names(scores: object, n_methods: int) -> list[str]:
    return [str(name) for name in getattr(scores, "columns", [f"method {index}" for index in range(n_methods)])]


def _ranks(scores: ArrayLike) -> Float:
    """Ranks within each data set that has all scores, 1 for the greatest."""
    values = np.asarray(scores, dtype=float)
    if values.ndim != 2 or values.shape[1] < 2:
        raise ValueError(f"scores must be data sets x methods, with at least 2 methods; got shape {values.shape}.")
    missing = np.isnan(values)
    whole = values[~missing.any(axis=1)]
    if len(whole) < 2:
        worst = _names(scores, values.shape[1])[int(missing.sum(axis=0).argmax())]
        most = f"; {worst} lacks most scores: leave it out, or run it" if missing.any() else ""
        raise ValueError(
            f"Ranks need at least 2 data sets on which every method has a score; of {len(values)}, {len(whole)} have "
            f"all{most}."
        )
    return np.asarray(stats.rankdata(-whole, axis=1), dtype=float)


class CriticalDifferenceDisplay(Display):
    """Mean ranks on a line, the best at the left; bars join methods that cannot be told apart.

    Parameters
    ----------
    ranking : Ranking
        As from :func:`rank`.

    Examples
    --------
    >>> scores = [[0.9, 0.8, 0.7], [0.6, 0.7, 0.5], [0.9, 0.8, 0.6], [0.8, 0.5, 0.4]]
    >>> display = CriticalDifferenceDisplay.from_scores(scores)
    >>> display.ax_.get_xlabel()
    'mean rank over 4 data sets, the best at the left (Friedman p = 0.039)'
    """

    def __init__(self, ranking: Ranking):
        self.ranking = ranking

    @classmethod
    def from_scores(cls, scores: ArrayLike, *, alpha: float = 0.05, ax: Axes | None = None, **options: Any) -> Self:
        """Rank methods and draw them.

        Parameters
        ----------
        scores : DataFrame or array-like of shape (n_datasets, n_methods)
            Greater is better. A data set with a missing score (NaN) is left out.
        alpha : float, default=0.05
            Level of the critical difference.
        ax : matplotlib axes, default=None
            Where to draw.
        **options
            Passed on to ``plot``, for the bars.

        Returns
        -------
        display : CriticalDifferenceDisplay
            Drawn.
        """
        return cls(rank(scores, alpha)).plot(ax, **options)

    def plot(self, ax: Axes | None = None, **options: Any) -> Self:
        """Draw on ``ax``, or on new axes; options go to ``plot``, for the bars."""
        ranking = self.ranking
        k = len(ranking.methods)
        where = dict(zip(ranking.methods, ranking.mean_ranks, strict=True))
        bars = _stacked([(where[group[0]], where[group[-1]]) for group in ranking.groups])
        top = 1 + 0.6 * (1 + max((level for *_, level in bars), default=-1))  # where the names begin, in lines
        lines = top + (k + 1) // 2
        width = 4.4 + 0.1 * k + 0.16 * max(map(len, ranking.methods))
        ax = self._prepare(ax, figsize=(width, 0.27 * (lines + 4)))
        style = {"color": PALETTE[0], "linewidth": 4, "solid_capstyle": "butt", "clip_on": False, **options}
        for low, high, level in bars:
            ax.plot([low - 0.01 * k, high + 0.01 * k], [0.7 + 0.6 * level] * 2, **style)
        self._name(ax, top)
        cd = ranking.critical_difference
        ax.plot([1, 1, 1, 1 + cd, 1 + cd, 1 + cd], [-2, -2.4, -2.2, -2.2, -2, -2.4], color="0.2", clip_on=False)
        ax.text(1 + cd / 2, -2.6, f"CD = {cd:.2f}", ha="center", va="bottom")
        ax.spines["top"].set_position(("data", 0))
        ax.spines[["left", "right", "bottom"]].set_visible(False)
        ax.xaxis.tick_top()
        ax.xaxis.set_label_position("bottom")
        ax.set(xlim=(1, k), xticks=range(1, k + 1, 1 if k <= 10 else 2), ylim=(lines, -3.6), yticks=[])
        ax.set_xlabel(
            f"mean rank over {ranking.n_datasets} data sets, the best at the left (Friedman p = {ranking.p_value:.2g})"
        )
        return self

    def _name(self, ax: Axes, top: float) -> None:
        """The better half at the left, from the top down; the rest at the right, from the bottom up: no lines cross."""
        k = len(self.ranking.methods)
        margin = 0.04 * (k - 1)
        for place, (name, mean) in enumerate(zip(self.ranking.methods, self.ranking.mean_ranks, strict=True)):
            left = place < (k + 1) // 2
            y = top + 0.5 + (place if left else k - 1 - place)
            end, side, sign = (1 - margin, "right", -1) if left else (k + margin, "left", 1)
            ax.plot([mean, mean, end], [0, y, y], color="0.2", linewidth=0.9, clip_on=False, solid_joinstyle="miter")
            ax.text(end + sign * margin / 3, y, f"{name} ({mean:.2f})", ha=side, va="center", parse_math=False)


def _stacked(spans: list[tuple[float, float]]) -> list[tuple[float, float, int]]:
    """Each span on the first level where it touches no other."""
    ends: list[float] = []
    placed = []
    for low, high in spans:
        level = next((i for i, end in enumerate(ends) if end < low), len(ends))
        ends[level:] = [high, *ends[level + 1 :]]
        placed.append((low, high, level))
    return placed
