"""Estimates the number of clusters by the agreement of different clustering methods."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.utils import check_random_state

from jointclust.consensus.remote import RemoteRows
from jointclust.consensus.views import MOST_ROWS, ViewedData
from jointclust.exceptions import CollapseWarning, tell
from jointclust.number.agreement_curve import AgreementCurve, Subsample
from jointclust.number.unimodality import FEWEST_ROWS, SeparatedClusters, separated_clusters
from jointclust.rows import is_elsewhere, loaded, threads
from jointclust.subspace.coordinates import Coordinates
from jointclust.types import Float

__all__ = ["ClusterNumber", "number_of_clusters"]

# Subsamples, share of the rows in each, most rows in each.
_REPEATS, _SHARE, _MOST_SAMPLED = 10, 0.8, 1_500
# Gaussian samples; required excess of the agreement over theirs, in standard deviations, and as a share of the rest.
_GAUSSIANS, _DEVIATIONS, _EXCESS = 8, 2.0, 0.25
# Rank of a randomised decomposition.
_RANK = 500
# Directions of a view: share of its variance, most of them.
_VARIANCE, _DIRECTIONS = 0.95, 200
# Fewest rows of a subsample per cluster, and the number of clusters that the default range always includes.
_ROWS_PER_CLUSTER, _FEW_CLUSTERS = 8, 12
# Agreement of splits of the rows on separated clusters above which some exist, and above which their number is sure.
_SOME, _SURE = 0.5, 0.85
# Agreement of the methods, in some view, above which their number has priority over that of separated clusters.
_AGREED = 0.75
# Numbers within this factor of each other are the same answer; suggestions differ by more than the second factor.
_SAME, _APART, _SUGGESTIONS = 1.1, 1.3, 5
_DOUBTFUL = 0.5
# Another candidate has an agreement within this distance; or this many repeats give it.
_CLOSE, _SEVERAL = 0.1, 2

Numbers = tuple[int, int] | Sequence[int]
# Called with the number of evaluated numbers of clusters, and of those known to follow.
Report = Callable[[int, int], None]


def silent(done: int, total: int) -> None:
    """Report nothing."""


@dataclass(frozen=True, eq=False)
class ClusterNumber:
    """The number of clusters in the data, its confidence, and the evidence.

    Attributes
    ----------
    n_clusters : int
        The number; 1 when no structure was found and no range was given.
    table : dict of lists
        One row per number of clusters that was evaluated, ready for ``pandas.DataFrame``: n_clusters, agreement (mean
        over the repeats), repeats (list of the agreement in each).
    suggestions : list of int
        Numbers at which the agreement has a peak, best first, and then others of most agreement, at most five; the
        second is the number that several repeats give instead, if any.
    scores : dict of int to float
        The agreement by number of clusters.
    confidence : float
        Share of the repeats that give ``n_clusters`` (up to a tenth of it), or of those that show clusters if fewer do.
    has_structure : bool
        Whether there are any clusters.
    n_repeats : int
        Ten, each on 80% of the rows; three, on halves, where the number is that of separated clusters.
    """

    n_clusters: int
    table: dict[str, list[Any]]
    suggestions: list[int]
    scores: dict[int, float]
    confidence: float
    has_structure: bool
    n_repeats: int = 0

    @property
    def verdict(self) -> str:
        """The result as a sentence."""
        others = [number for number in self.suggestions if number != self.n_clusters]
        sure = f" (in {round(self.confidence * self.n_repeats)} of {self.n_repeats} repeats)" if self.n_repeats else ""
        if self.n_clusters == 1:
            return f"no cluster structure found{sure}" + (f"; {others[0]} clusters fit best" if others else "")
        close = [number for number in others if self.scores[number] > self.scores[self.n_clusters] - _CLOSE]
        other = f"; {close[0]} is the other candidate" if close else ""
        doubt = "" if self.has_structure else "; no cluster structure found, so any number is arbitrary"
        return f"{self.n_clusters} clusters{sure}{other}{doubt}"

    def warn(self) -> None:
        """Warn when there is no structure, or when the number is uncertain."""
        if not self.has_structure:
            tell(
                "No cluster structure found: different clustering methods agree no more than on rows without clusters, "
                "and no two groups of rows have a region of lower density between them. Either there are no clusters, "
                "so that any partition is arbitrary; or they overlap, or have too few rows. If you know that there are "
                "clusters, give n_clusters.",
                CollapseWarning,
            )
        elif self.confidence < _DOUBTFUL:
            tell(
                f"The number of clusters is uncertain: {self.verdict}. Compare the scores of "
                f"{', '.join(map(str, self.suggestions))}, or give n_clusters.",
                UserWarning,
            )

    def plot(self, ax: Any = None) -> Any:
        """Draw the curve: the agreement by number of clusters, its mean and its range over the repeats.

        Where all rows are equal there is no curve.

        Parameters
        ----------
        ax : matplotlib axes, optional
            Where to draw; new ones by default.

        Returns
        -------
        ax : matplotlib axes
            With the curve.
        """
        import matplotlib.pyplot as plt

        if ax is None:
            ax = plt.subplots(figsize=(6, 3.8), layout="constrained")[1]
        if "repeats" in self.table:
            numbers, spread = self.table["n_clusters"], np.array(self.table["repeats"])
            ax.fill_between(numbers, spread.min(axis=1), spread.max(axis=1), color="#0072B2", alpha=0.15, linewidth=0)
            ax.plot(numbers, self.table["agreement"], "o-", color="#0072B2", markersize=4)
        ax.axvline(self.n_clusters, color="#D55E00", linewidth=1)
        ax.set(xscale="log", xlabel="number of clusters", ylabel="agreement", title=self.verdict)
        ticks = sorted({*self.table.get("n_clusters", [1])[:: max(1, len(self.scores) - 1)], *self.suggestions})
        ax.set_xticks(ticks, labels=map(str, ticks))
        ax.minorticks_off()
        return ax


def number_of_clusters(
    X: ArrayLike | Coordinates,
    *,
    n_clusters: Numbers | None = None,
    random_state: int | np.random.RandomState | None = None,
) -> ClusterNumber:
    r"""The number of clusters at which different clustering methods agree most, if there are clusters at all.

    .. math:: \max_k \; f(k) - \tfrac1{20} \left( 2 \min(10 (1 - f(k)), 1) - 1 \right) \log k, \quad
              f(k) = \min \left( \tfrac{a(k)}{0.975}, 1 \right), \quad
              a(k) = \mathrm{mean}_v \, \tfrac12 \left( \mathrm{ARI}(G_v, W_v) + \mathrm{ARI}(G_v, L_v) \right)

    ======== =============================================================================
    symbol   meaning
    ======== =============================================================================
    G_v(k)   spectral clustering of the neighbour graph in view v, k clusters
    W_v(k)   Ward's tree in view v, cut into k clusters
    L_v(k)   LDA k-means in view v, k clusters
    ARI      adjusted Rand index, in which a cluster counts as the root of its size
    ======== =============================================================================

    The graph shares only the rows with the other methods, so clusters that both find are likely to exist. Of numbers
    with about the same agreement the smaller one is taken; where all methods agree, the larger. The curve is the mean
    over ten subsamples, 80% of the rows each, on a coarse grid that is refined about its peaks.

    There is structure where the agreement is far above that on Gaussian rows of the same variances, or where different
    splits of the rows into halves find the same separated clusters: one half forms them, and of the other half fewer
    rows lie about the middle between two of them than a unimodal density allows. The number of separated clusters is
    taken where three splits agree on them, if it is larger than that of the curve, or if the methods hardly agree:
    directions of large variance without clusters mislead the methods.

    The answer is a function of the data: it depends neither on chance nor on the order of the rows. The repeats show
    how it would vary with other rows.

    Parameters
    ----------
    X : array, sparse matrix, data frame, list of str, AnnData, or Coordinates
        The data, as :class:`JointConsensus` takes them, in the views that it chooses; or the coordinates of rows from
        :func:`jointclust.decompose`, in one view. At least 32 rows; of more than 10,000 a sample is used.
    n_clusters : (int, int) or list of int, default=None
        The range to search, ends included, or the numbers to choose among; None is from 1 to a tenth of the rows (12
        at least, 187 at most).
    random_state : int, RandomState or None, default=None
        Seed of the sample of more than 10,000 rows; None always draws the same one.

    Returns
    -------
    result : ClusterNumber
        ``n_clusters``, ``suggestions`` best first, ``scores``, ``confidence``, ``has_structure``, the ``verdict`` as a
        sentence, a ``table`` with the evidence, and ``plot()``.

    Examples
    --------
    >>> import numpy as np
    >>> import jointclust as jc
    >>> X, y = jc.datasets.mixture(n_samples=500, n_features=50, n_clusters=5, random_state=1)
    >>> jc.number_of_clusters(X, n_clusters=(2, 12)).n_clusters
    5
    >>> noise = np.random.RandomState(0).standard_normal((200, 20))
    >>> jc.number_of_clusters(noise).has_structure
    False
    """
    return count_in_data(X, n_clusters, check_random_state(0 if random_state is None else random_state))


def count_in_data(
    X: ArrayLike | Coordinates,
    among: Numbers | None,
    rng: np.random.RandomState,
    report: Report = silent,
    columns: Any = "related",
) -> ClusterNumber:
    """The number of clusters of data of any kind, or of coordinates; ``columns`` are those of a table to use."""
    if isinstance(X, Coordinates):
        if X.rows.is_remote or X.rows.device is not None:
            raise TypeError("number_of_clusters takes coordinates of rows in memory: pass the rows themselves.")
        return count(ViewedData.of_coordinates(X), X.present, among, report)
    X = loaded(X)
    if is_elsewhere(X):
        X = RemoteRows.of(X, None).sample(MOST_ROWS, rng)[0]
    viewed = ViewedData.of(X, "auto", None, _RANK, columns=columns)
    return count(viewed, viewed.sample(rng), among, report)


def count(
    viewed: ViewedData, sample: NDArray[np.intp], among: Numbers | None, report: Report = silent
) -> ClusterNumber:
    """The number of clusters of a sample of the rows."""
    if sample.size < FEWEST_ROWS:
        raise ValueError(
            f"{sample.size} rows are too few to choose the number of clusters: the parts that form and test them need "
            f"{FEWEST_ROWS}. Give n_clusters."
        )
    allowed = candidates(among, sample.size)
    coordinates = [viewed.coordinates(number, sample) for number in range(len(viewed))]
    varied = [one for one in coordinates if not one.is_constant]
    if not varied or allowed == [1]:
        return ClusterNumber(allowed[0], {}, allowed[:1], {}, float(allowed[0] == 1), False)
    views = [leading_directions(one) for one in varied]
    order = canonical_order(views[0])
    views = [Z[order] for Z in views]
    with threads.suited_to(views[0].shape[1]):
        # A fixed seed: the answer is a function of the data, and the repeats show how it varies with the rows.
        rng, n = np.random.RandomState(0), len(order)
        samples = [np.sort(rng.choice(n, sample_size(n), replace=False)) for _ in range(_REPEATS)]
        repeats = [[Subsample(Z[rows], seed) for Z in views] for seed, rows in enumerate(samples)]
        curve = AgreementCurve(repeats, np.array([number for number in allowed if number > 1]), report).explore()
        best = int(curve.numbers[curve.criterion.argmax()])
        excess = excess_over_gaussian(curve.values[best], views, best, rng)
        separated = separated_clusters(varied[0], varied[0].present[order], rng, best)
        some = separated.n_clusters > 1 and separated.agreement > _SOME
        sure = some and separated.agreement > _SURE and separated.n_clusters in allowed
        curve.evaluate([separated.n_clusters] if sure else [])
    structured = 1.0 if some else float(np.mean(excess > 0))
    return choose(curve, separated if sure else None, structured, one_allowed=allowed[0] == 1)


def leading_directions(coordinates: Coordinates) -> Float:
    """The rows that have weight, in their leading directions."""
    kept = coordinates.keep(_VARIANCE)
    return kept.leading(min(kept.rank, _DIRECTIONS))[coordinates.present].astype(np.float64)


def canonical_order(Z: Float) -> NDArray[np.intp]:
    """An order of the rows that does not depend on the given one: by length, then by coordinates, up to rounding."""
    length = np.einsum("ij,ij->i", Z, Z)
    unit = 1e-9 * max(float(length.max()), np.finfo(float).tiny)
    return np.lexsort([*np.round(Z[:, :3].T / np.sqrt(unit)), np.round(length / unit)])


def sample_size(n: int) -> int:
    """Rows of a subsample."""
    return min(int(_SHARE * n), _MOST_SAMPLED)


def excess_over_gaussian(agreement: Float, views: list[Float], number: int, rng: np.random.RandomState) -> Float:
    """Agreement in each repeat less the limit for Gaussian rows, in the view in which it is largest."""
    limits = []
    for Z in views:
        spread, drawn = Z.std(axis=0), []
        for seed in range(_GAUSSIANS):
            rows = rng.standard_normal((sample_size(len(Z)), spread.size)) * spread
            drawn.append(Subsample(rows, seed).decompose_graph(number).agreement(number))
        mean = float(np.mean(drawn))
        limits.append(mean + max(_DEVIATIONS * float(np.std(drawn, ddof=1)), _EXCESS * (1.0 - mean)))
    excess = agreement - limits
    return excess[:, excess.mean(axis=0).argmax()]


def choose(
    curve: AgreementCurve, separated: SeparatedClusters | None, structured: float, *, one_allowed: bool
) -> ClusterNumber:
    """The best number on a curve, the suggestions after it, and the share of the repeats that give it.

    The number of separated clusters is first where it is about the same or larger, or where the methods hardly agree.
    ``structured`` is the share of the repeats that show structure.
    """
    numbers, agreement = curve.numbers, curve.agreement
    suggestions: list[int] = []
    for index in [*curve.peaks(), *np.argsort(-curve.criterion, kind="stable")]:
        number = int(numbers[index])
        if all(max(number / other, other / number) > _APART for other in suggestions):
            suggestions.append(number)
    best = numbers[curve.criteria.argmax(axis=0)]
    if separated is not None:
        n_separated, first = separated.n_clusters, suggestions[0]
        hardly = curve.values[first].mean(axis=0).max() < _AGREED
        if n_separated > first or same(n_separated, first) or hardly:
            best = max(best, np.array(separated.numbers), key=lambda repeats: share(repeats, n_separated))
            suggestions = [n_separated, *(number for number in suggestions if not same(number, n_separated))]
    different = [int(number) for number in best if not same(number, suggestions[0])]
    rival = max(different, key=different.count, default=0)
    if different.count(rival) >= _SEVERAL:
        suggestions = [suggestions[0], rival, *(number for number in suggestions[1:] if number != rival)]
    has_structure, confidence = structured >= _DOUBTFUL, share(best, suggestions[0])
    if one_allowed:
        confidence = min(confidence, structured) if has_structure else 1.0 - structured
        suggestions = suggestions if has_structure else [1, *suggestions]
    table = {
        "n_clusters": numbers.tolist(),
        "agreement": agreement.mean(axis=1).tolist(),
        "repeats": agreement.tolist(),
    }
    scores = dict(zip(table["n_clusters"], table["agreement"], strict=True))
    return ClusterNumber(
        suggestions[0], table, suggestions[:_SUGGESTIONS], scores, confidence, has_structure, best.size
    )


def same(one: int, other: int) -> bool:
    """Whether two numbers are the same answer."""
    return max(one / other, other / one) <= _SAME


def share(repeats: NDArray, answer: int) -> float:
    """Share of the repeats that give an answer."""
    return float(np.mean([same(number, answer) for number in repeats]))


def candidates(among: Numbers | None, n_rows: int) -> list[int]:
    """The numbers of clusters to choose among: the ends of a range, or each of a list."""
    if among is None:
        return list(range(1, max(sample_size(n_rows) // _ROWS_PER_CLUSTER, _FEW_CLUSTERS) + 1))
    if isinstance(among, str) or not isinstance(among, Iterable):
        raise TypeError(f"n_clusters={among!r} is no range: give (fewest, most), such as (2, 8), or a list of numbers.")
    numbers = list(among)
    if any(not isinstance(number, int | np.integer) for number in numbers):
        raise TypeError(f"n_clusters={among!r} must hold whole numbers: give a range, (2, 8), or a list, [2, 4, 8].")
    numbers = [int(number) for number in numbers]
    if not numbers:
        raise ValueError("n_clusters is an empty list: give the numbers to choose among, or a range such as (2, 8).")
    if isinstance(among, tuple):
        if len(numbers) != 2 or numbers[0] > numbers[1]:
            raise ValueError(f"n_clusters={among} is no range: give (fewest, most), such as (2, 8).")
        numbers = list(range(numbers[0], numbers[1] + 1))
    if not (min(numbers) >= 1 and max(numbers) <= n_rows):
        raise ValueError(f"n_clusters={among} must lie between 1 and the number of rows ({n_rows}).")
    return sorted(set(numbers))
